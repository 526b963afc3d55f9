"""What smooth and rough dielectrics share: sides, the ratio of indices, and the choice of lobe."""

from __future__ import annotations

from irys_ti.graph import Expr, clamp, select, vec3

# No lobe is chosen with a smaller probability, so that one of weight 0 still gets its derivative.
FLOOR = 0.01


def upward(w: Expr, side: Expr) -> Expr:
    """w as seen by a wi above the surface: mirrored in z where wi (height ``side``) is below."""
    return vec3(w.x, w.y, select(side < 0.0, -w.z, w.z))


def relative_eta(p, wi: Expr) -> Expr:
    """n_transmitted / n_incident for a wi on either side; z points out of the interior."""
    return select(wi.z < 0.0, p.ext_ior, p.int_ior) / select(wi.z < 0.0, p.int_ior, p.ext_ior)


def reflection_probability(reflectance: Expr, cos2_t: Expr) -> Expr:
    """Chance to choose reflection: the Fresnel reflectance, kept off 0 and 1; 1 under total reflection."""
    return select(cos2_t > 0.0, clamp(reflectance, FLOOR, 1.0 - FLOOR), 1.0)
