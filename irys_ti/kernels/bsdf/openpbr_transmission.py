"""OpenPBR's translucent base: rough refraction at each wavelength, and the thin sheet that has no inside."""

from __future__ import annotations

from typing import NamedTuple

from irys_ti.graph import Expr, maximum, power, safe_sqrt, select, sqrt
from irys_ti.kernels.bsdf.openpbr_facets import (
    SMOOTHEST,
    TINY,
    Facets,
    Visible,
    density,
    facets,
    inner,
    spread,
)


class Refraction(NamedTuple):
    """Refraction towards one wo. pdf: density of wo when visible normals refract. kept: share that is not shadowed."""

    h: tuple
    cos_i: Expr
    pdf: Expr
    kept: Expr


def refraction(f: Facets, eta: Expr, wo: Expr) -> Refraction:
    """wo below the surface; eta: index there over index at wi (scalar or spectrum)."""
    v = tuple(a + eta * b for a, b in zip(f.wi, wo, strict=True))
    length2 = inner(v, v) + TINY
    scale = select(v[2] < 0.0, -1.0, 1.0) / sqrt(length2)
    h = tuple(c * scale for c in v)
    cos_i, cos_o = inner(f.wi, h), inner(wo, h)
    visible = 2.0 * density(h, f.alpha) / (f.wi.z + f.slope)
    pdf = visible * (eta * eta) * (cos_i * -cos_o) / length2
    depth = -wo.z
    kept = 2.0 * depth / (depth + sqrt(spread(wo, f.alpha) + depth * depth))
    return Refraction(h, cos_i, select((cos_i > 0.0) & (cos_o < 0.0), pdf, 0.0), kept)


def refracted(w: Expr, h: tuple, cos_i: Expr, eta: Expr) -> tuple:
    """w refracted at the normal h; along the surface of h under total reflection."""
    cos_t = safe_sqrt(1.0 - (1.0 - cos_i * cos_i) / (eta * eta))
    k = cos_i / eta - cos_t
    return tuple(a * k - b / eta for a, b in zip(h, w, strict=True))


def lost_refracted(f: Facets, v: Visible, eta: Expr) -> Expr:
    """Share of what the visible normal refracts that is shadowed: (S - d) / (S + d), at depth d."""
    t = refracted(f.wi, v.h, v.cos_i, eta)
    wide = spread(t, f.alpha)
    sum_ = sqrt(wide + t[2] * t[2]) - t[2]
    return select(t[2] < 0.0, wide / (sum_ * sum_), 1.0)


def sheet_facets(f: Facets, eta: Expr) -> Facets:
    """Facets whose mirrored lobe, seen from the other side, is what a thin rough sheet lets through.

    Each of two independent sides bends a ray by (eta - 1) times its slope, a mirror by 2: alpha shrinks by
    (eta - 1) / sqrt(2).
    """
    k = 0.5 * (eta - 1.0) * (eta - 1.0)
    return facets(f.wi, tuple(sqrt(a * a * k + SMOOTHEST * SMOOTHEST) for a in f.alpha))


def sheet(p, reflected: Expr, cosine: Expr, eta: Expr) -> tuple[Expr, Expr]:
    """(reflectance, transmittance) of a thin sheet: all passages between its sides, each tinted.

    reflected: reflectance of one side. transmission_color is the transmittance of one passage along the normal.
    """
    inner_cosine = sqrt(maximum(1.0 - (1.0 - cosine * cosine) / (eta * eta), 1e-2))
    t = power(p.transmission_color, 1.0 / inner_cosine)
    once = 1.0 - reflected
    back = reflected * t
    passed = once * once * t / maximum(1.0 - back * back, 1e-6)
    return reflected + passed * back, passed


def tint(p) -> Expr:
    """Tint of one crossing: transmission_color, or where it is meant at a depth and no medium is there, its root.

    Two crossings then tint as a passage of transmission_depth would.
    """
    return select(p.transmission_depth > 0.0, safe_sqrt(p.transmission_color), p.transmission_color)
