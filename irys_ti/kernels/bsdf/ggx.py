"""The GGX microfacet distribution, as graphs: density, masking, and sampling of visible normals.

Directions are local with z > 0; ``alpha`` is a pair (alpha_x, alpha_y). Masking is written through
slope(w) = sqrt((alpha_x w_x)^2 + (alpha_y w_y)^2 + w_z^2), with G1 = 2 w_z / (w_z + slope), and the two
cosines of the microfacet formula are divided out by hand, so that grazing directions stay finite.
Sources: Walter et al. 2007; Heitz 2014 (masking), 2018 (visible normals); Dupuy and Benyoub 2023
(spherical caps); Eto and Tokuyoshi 2023 (bounded caps for reflection).
"""

from __future__ import annotations

import math

from irys_ti.graph import Expr, minimum, normalize, safe_sqrt, select, sqrt, stop_gradient, vec3
from irys_ti.kernels.bsdf.warp import polar

# Height of a microfacet's normal below which the derivative of ``upright`` is spread.
HORIZON = 0.02


def upright(z: Expr) -> Expr:
    """1, for the height z > 0 of a microfacet's normal; its derivative is that of a step which is 0 for z < 0.

    GGX has facets down to the horizon (D = alpha^2 / pi there), so the directions that a rough interface refracts to end in a
    step, which moves with the index of refraction. Its derivative is a delta function of z; in its place stands a straight
    line over 0 < z < HORIZON with the same integral and a mean of z = 0, so that what is smooth in z has the same mean, up to
    terms of order HORIZON^2 (docs/design/horizon.md).
    """
    line = select((z > 0.0) & (z < HORIZON), (4.0 - z * (6.0 / HORIZON)) / HORIZON, 0.0)
    return 1.0 + (z - stop_gradient(z)) * stop_gradient(line)


def ndf(h: Expr, alpha: tuple) -> Expr:
    """D(h), per solid angle; integral of D cos over the hemisphere is 1."""
    ax, ay = alpha
    x, y = h.x / ax, h.y / ay
    q = x * x + y * y + h.z * h.z
    return 1.0 / ((ax * ay) * math.pi * (q * q))


def slope(w: Expr, alpha: tuple) -> Expr:
    """sqrt((alpha_x w_x)^2 + (alpha_y w_y)^2 + w_z^2); Smith's Lambda is (slope / w_z - 1) / 2."""
    x, y = w.x * alpha[0], w.y * alpha[1]
    return sqrt(x * x + y * y + w.z * w.z)


def visibility_correlated(wi: Expr, wo: Expr, alpha: tuple) -> Expr:
    """G2 / (4 cos_i cos_o) with height-correlated Smith masking-shadowing: G2 = 1 / (1 + Lambda_i + Lambda_o)."""
    return 0.5 / (wo.z * slope(wi, alpha) + wi.z * slope(wo, alpha))


def visibility_separable(wi: Expr, wo: Expr, alpha: tuple) -> Expr:
    """G2 / (4 cos_i cos_o) with separable Smith masking-shadowing: G2 = G1(wi) G1(wo)."""
    return 1.0 / ((wi.z + slope(wi, alpha)) * (wo.z + slope(wo, alpha)))


def visibility(wi: Expr, wo: Expr, alpha: tuple, separable: Expr) -> Expr:
    """The separable term where the flag is set, else the correlated one."""
    return select(
        separable > 0.5, visibility_separable(wi, wo, alpha), visibility_correlated(wi, wo, alpha)
    )


def _stretched(wi: Expr, alpha: tuple) -> Expr:
    return normalize(vec3(wi.x * alpha[0], wi.y * alpha[1], wi.z))


def _cap_normal(wi: Expr, alpha: tuple, bound: Expr, u: Expr) -> Expr:
    """The microfacet normal whose mirror direction is uniform, on the stretched sphere, above height -bound."""
    z = (1.0 - u.y) * (1.0 + bound) - bound
    cap = polar(z, safe_sqrt(1.0 - z * z), u.x) + _stretched(wi, alpha)
    return normalize(vec3(cap.x * alpha[0], cap.y * alpha[1], cap.z))


def sample_visible(wi: Expr, alpha: tuple, u: Expr) -> Expr:
    """A visible normal, by u.x and u.y; its density is ``pdf_visible``."""
    return _cap_normal(wi, alpha, _stretched(wi, alpha).z, u)


def pdf_visible(wi: Expr, density: Expr, alpha: tuple) -> Expr:
    """Density of ``sample_visible`` over cos(wi, h): G1(wi) D(h) / cos_i, for density = D(h)."""
    return 2.0 * density / (wi.z + slope(wi, alpha))


def _reflection_bound(wi: Expr, alpha: tuple) -> Expr:
    """How far the cap of normals that can reflect above the surface reaches (Eto and Tokuyoshi, equation 5)."""
    a = minimum(minimum(alpha[0], alpha[1]), 1.0)
    s = 1.0 + safe_sqrt(wi.x * wi.x + wi.y * wi.y)
    s2, a2 = s * s, a * a
    return (1.0 - a2) * s2 / (s2 + a2 * (wi.z * wi.z))


def sample_reflection(wi: Expr, alpha: tuple, u: Expr) -> Expr:
    """A mirror direction by bounded visible normals; few fall below the surface, and those count as absorbed."""
    h = _cap_normal(wi, alpha, _reflection_bound(wi, alpha) * _stretched(wi, alpha).z, u)
    return reflect(wi, h)


def pdf_reflection(wi: Expr, density: Expr, alpha: tuple) -> Expr:
    """Density of ``sample_reflection``, for density = D(half vector)."""
    return 0.5 * density / (_reflection_bound(wi, alpha) * wi.z + slope(wi, alpha))


def reflect(w: Expr, h: Expr) -> Expr:
    """w mirrored at the normal h."""
    return h * (2.0 * (w.x * h.x + w.y * h.y + w.z * h.z)) - w
