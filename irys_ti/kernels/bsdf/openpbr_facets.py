"""GGX microfacets as OpenPBR layers them: lobes, and the map between lobes that keeps energy exact.

The visible normals of a GGX surface are a uniform point of a spherical cap, pushed through the surface's
stretch (Dupuy and Benyoub 2023); a cosine-distributed direction is a uniform point of the unit disk. Cap and
disk map to each other keeping areas, so every lobe here is the unit disk in another dress: a direction wo has,
in each lobe, a disk point q. Light split between layers and lobes by weights that are functions of q, and sum
to 1 at every q, is conserved exactly when it is integrated over wo, lobe by lobe: for any Fresnel term, thin
film, roughness and anisotropy, with no table. ``docs/design/openpbr.md`` has the argument and its price.

Vectors are tuples of three graph values, each a scalar or a spectrum.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from irys_ti.graph import Expr, safe_sqrt, select, sqrt, vec3
from irys_ti.kernels.bsdf import ggx

# Roughness 0 is a lobe of this alpha: narrower than a pixel, wide enough for single precision.
SMOOTHEST = 1e-3
TINY = 1e-12


class Facets(NamedTuple):
    """A GGX surface seen from wi (above it). stretched: wi in the frame where the surface is a hemisphere."""

    wi: Expr
    alpha: tuple
    slope: Expr
    stretched: tuple


class Disk(NamedTuple):
    """A point of the unit disk and its squared distance from the centre."""

    x: Expr
    y: Expr
    r2: Expr


class Mirror(NamedTuple):
    """Reflection towards one wo. value: D G2 / (4 cos_i), the cosine of wo included. cos_i: wi on the half vector."""

    h: tuple
    cos_i: Expr
    density: Expr
    value: Expr


class Visible(NamedTuple):
    """A visible normal h. cos_i: wi on it. lost: share of what it mirrors that meets the microsurface again,
    1 - G2 / G1."""

    h: tuple
    cos_i: Expr
    lost: Expr


def alphas(r4: Expr, anisotropy: Expr) -> tuple:
    """(alpha_t, alpha_b) for a fourth power of the roughness, as specified, SMOOTHEST added in quadrature."""
    b = 1.0 - anisotropy
    t2 = r4 * (2.0 / (1.0 + b * b))
    floor = SMOOTHEST * SMOOTHEST
    return sqrt(t2 + floor), sqrt(t2 * (b * b) + floor)


def inner(a, b) -> Expr:
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def facets(wi: Expr, alpha: tuple) -> Facets:
    slope = ggx.slope(wi, alpha)
    return Facets(wi, alpha, slope, (wi.x * alpha[0] / slope, wi.y * alpha[1] / slope, wi.z / slope))


def spread(w, alpha: tuple) -> Expr:
    """(alpha_x w_x)^2 + (alpha_y w_y)^2 of a unit vector: slope^2 - w_z^2."""
    if alpha[0] is alpha[1]:
        return alpha[0] * alpha[0] * (1.0 - w[2] * w[2])
    x, y = w[0] * alpha[0], w[1] * alpha[1]
    return x * x + y * y


def density(h, alpha: tuple) -> Expr:
    """``ggx.ndf`` of a tuple."""
    x, y = h[0] / alpha[0], h[1] / alpha[1]
    q = x * x + y * y + h[2] * h[2]
    return 1.0 / ((alpha[0] * alpha[1]) * math.pi * (q * q))


def mirror(f: Facets, wo: Expr) -> Mirror:
    """The reflection lobe at wo above the surface."""
    v = f.wi + wo
    cos_i = 0.5 * sqrt(inner(v, v) + TINY * TINY)  # |wi + wo| = 2 cos(wi, h)
    scale = 0.5 / cos_i
    h = (v.x * scale, v.y * scale, v.z * scale)
    d = density(h, f.alpha)
    value = d * wo.z * (0.5 / (wo.z * f.slope + f.wi.z * ggx.slope(wo, f.alpha)))
    return Mirror(h, cos_i, d, value)


def disk_of_cosine(wo: Expr) -> Disk:
    """q of the cosine lobe: wo's footprint, turned about: a normal that leans to wi goes with a wo that leans away."""
    return Disk(-wo.x, -wo.y, wo.x * wo.x + wo.y * wo.y)


def disk_of_normal(f: Facets, h, cos_i: Expr) -> Disk:
    """q of the visible normal h (cos_i: wi on it), the inverse of ``visible``."""
    m = (h[0] / f.alpha[0], h[1] / f.alpha[1], h[2])
    k = 2.0 * cos_i / (f.slope * inner(m, m))
    cap = tuple(k * a - b for a, b in zip(m, f.stretched, strict=True))
    wide = 1.0 + f.stretched[2]
    scale = 1.0 / safe_sqrt(wide * (1.0 + cap[2]) + TINY)
    return Disk(cap[0] * scale, cap[1] * scale, (1.0 - cap[2]) / wide)


def disk_of_facing(f: Facets) -> Disk:
    """q of the visible normal whose cap point is wi itself: it leans to wi."""
    x, y, z = f.stretched
    wide = 1.0 + z
    return Disk(x / wide, y / wide, (1.0 - z) / wide)


def visible(f: Facets, q: Disk) -> Visible:
    """The visible normal at the disk point q."""
    x, y, z = f.stretched
    wide = 1.0 + z
    depth = q.r2 * wide
    scale = safe_sqrt(wide * (2.0 - depth))
    m = (x + q.x * scale, y + q.y * scale, wide - depth)
    v = (m[0] * f.alpha[0], m[1] * f.alpha[1], m[2])
    inverse = 1.0 / sqrt(inner(v, v) + TINY * TINY)
    h = tuple(c * inverse for c in v)
    cos_i = inner(f.wi, h)
    r = mirrored(f.wi, h, cos_i)
    # G2 / G1 = r_z (wi_z + S_i) / (r_z S_i + wi_z S_r), and S_r - r_z = spread / (S_r + r_z).
    wide = spread(r, f.alpha)
    slope_r = sqrt(wide + r[2] * r[2])
    lost = f.wi.z * wide / ((slope_r + r[2]) * (r[2] * f.slope + f.wi.z * slope_r))
    return Visible(h, cos_i, select(r[2] > 0.0, lost, 1.0))


def mirrored(w: Expr, h, cosine: Expr) -> tuple:
    """w mirrored at the normal h."""
    k = 2.0 * cosine
    return tuple(k * a - b for a, b in zip(h, w, strict=True))


def sample_mirror(f: Facets, u: Expr) -> Expr:
    """A reflected direction with density ``pdf_mirror``; below the surface where it fails."""
    return ggx.sample_reflection(f.wi, f.alpha, u)


def pdf_mirror(f: Facets, m: Mirror) -> Expr:
    return ggx.pdf_reflection(f.wi, m.density, f.alpha)


def pick(condition: Expr, a: Disk, b: Disk) -> Disk:
    return Disk(*(select(condition, x, y) for x, y in zip(a, b, strict=True)))


def below(w: Expr) -> Expr:
    """w mirrored in the surface."""
    return vec3(w.x, w.y, -w.z)
