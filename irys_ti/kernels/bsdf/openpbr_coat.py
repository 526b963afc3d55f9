"""What OpenPBR's coat does to the base below it: absorbing, darkening and roughening it."""

from __future__ import annotations

from irys_ti.graph import Expr, maximum, minimum, safe_sqrt, select, sqrt
from irys_ti.kernels.bsdf.openpbr_fits import FITS
from irys_ti.kernels.bsdf.openpbr_fresnel import Interface


def path(p, z: Expr) -> Expr:
    """Half the length of a passage through the coat, for a height z in air: the power of coat_color that it takes.

    The cosine inside is kept off 0 for coats thinner than air.
    """
    n2 = p.coat_ior * p.coat_ior
    return 0.5 / sqrt(maximum(1.0 - (1.0 - z * z) / n2, 1e-2))


def internal_reflection(e: Expr) -> Expr:
    """K_r, what a smooth coat sends back of diffuse light from below, by e = (n - 1) / (n + 1) (fitted)."""

    def polynomial(c, x):
        out = c[-1] * x
        for k in reversed(c[:-1]):
            out = (out + k) * x
        return out

    c = FITS["internal"]
    return minimum(select(e < 0.0, polynomial(c["thinner"], -e), polynomial(c["denser"], e)), 1.0)


def darkening(p, coat: Interface, mirror: Expr, base_albedo: Expr, base_mirror: Expr) -> Expr:
    """lerp(1, (1 - K) / (1 - E_b K), C coat_darkening), K = lerp(K_s, K_r, r_b).

    mirror: K_s, the coat's reflectance at wi. base_albedo: E_b, the base's at normal incidence. base_mirror: the
    part of it that a dielectric base reflects.
    """
    r = p.specular_roughness
    shiny = p.base_metalness + (1.0 - p.base_metalness) * base_mirror
    rough = 1.0 - (1.0 - r) * shiny
    k = mirror + rough * (internal_reflection(coat.e) - mirror)
    full = (1.0 - k) / (1.0 - base_albedo * k + 1e-7)
    return 1.0 + p.coat_weight * p.coat_darkening * (full - 1.0)


def roughened(p) -> Expr:
    """The fourth power of the base's roughness under the coat."""
    r2, c2 = p.specular_roughness * p.specular_roughness, p.coat_roughness * p.coat_roughness
    r4 = minimum(r2 * r2 + 2.0 * (c2 * c2), 1.0)
    r = p.specular_roughness + p.coat_weight * (safe_sqrt(safe_sqrt(r4)) - p.specular_roughness)
    r = r * r
    return r * r
