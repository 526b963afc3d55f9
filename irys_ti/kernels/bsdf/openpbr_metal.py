"""OpenPBR's metal: the F82-tint reflectance (Kutz, Hasan and Edmondson 2021) and its multiple scattering."""

from __future__ import annotations

from typing import NamedTuple

from irys_ti.graph import Expr, maximum, power, select, sqrt
from irys_ti.kernels.bsdf.openpbr_fits import FITS

EDGE = 1.0 / 7.0


class Metal(NamedTuple):
    """normal: reflectance at normal incidence. dip: size of the correction near the edge. weight: overall factor."""

    normal: Expr
    dip: Expr
    weight: Expr


def metal(p) -> Metal:
    normal = p.base_weight * p.base_color
    edge = normal + (1.0 - normal) * (1.0 - EDGE) ** 5
    dip = edge * (1.0 - p.specular_color) * (1.0 / (EDGE * (1.0 - EDGE) ** 6))
    # Of a metal, weights above 1 would make light; at 1 the derivative is that from below.
    return Metal(normal, dip, select(p.specular_weight > 1.0, 1.0, p.specular_weight))


def reflectance(m: Metal, mu: Expr) -> Expr:
    """At the cosine mu. The correction may pull Schlick's curve below 0 for dark metals: there it is 0."""
    rest = 1.0 - mu
    fifth = power(rest, 5)
    curve = m.normal + (1.0 - m.normal) * fifth - m.dip * (mu * rest * fifth)
    return m.weight * maximum(curve, 0.0)


def average(m: Metal) -> Expr:
    """Twice the integral of reflectance(mu) mu, the clamp apart."""
    return m.weight * maximum(m.normal + (1.0 - m.normal) * (1.0 / 21.0) - m.dip * (1.0 / 126.0), 0.0)


def lost(alpha: tuple) -> Expr:
    """Share of light that a GGX mirror sends back into its microsurface, averaged over directions (fitted)."""
    c = FITS["ggx_average"]
    a2 = alpha[0] * alpha[1]
    a = sqrt(a2)
    return a2 * (c[0] + c[1] * a) / (1.0 + a * (c[2] + c[3] * a))


def later_bounces(m: Metal, lost_share: Expr) -> Expr:
    """What of light that met the microsurface once, and met it again, gets out: F (1 - l) / (1 - F l), F on average."""
    f = average(m)
    return f * (1.0 - lost_share) / (1.0 - f * lost_share)
