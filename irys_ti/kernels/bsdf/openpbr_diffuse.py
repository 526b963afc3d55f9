"""OpenPBR's diffuse lobe: energy-preserving Oren-Nayar, EON (Portsmouth, Kutz and Hill 2025).

    f = rho / pi A (1 + sigma s / t) + rho_ms / pi A sigma (c1 - G(mu_i)) (c1 - G(mu_o)) / (c1 - c2)

with A = 1 / (1 + c1 sigma): the second term, written so that sigma = 0 needs no care, gives back what the first
one loses, coloured by further bounces.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from irys_ti.graph import Expr, arccos, maximum, minimum, safe_sqrt, select

C1 = 0.5 - 2.0 / (3.0 * math.pi)
C2 = 2.0 / 3.0 - 28.0 / (15.0 * math.pi)


class Eon(NamedTuple):
    """The lobe seen from wi. scale: A. missing: share of light that one bounce at wi loses."""

    wi: Expr
    sigma: Expr
    scale: Expr
    missing: Expr


def eon(wi: Expr, sigma: Expr) -> Eon:
    scale = 1.0 / (1.0 + C1 * sigma)
    return Eon(wi, sigma, scale, scale * sigma * (C1 - _loss(wi.z)))


def bounces(e: Eon, rho: Expr) -> Expr:
    """rho_ms: albedo of the compensating term."""
    kept = 1.0 - e.scale * e.sigma * (C1 - C2)
    return rho * rho * kept / (1.0 - rho * (1.0 - kept))


def albedo(e: Eon, rho: Expr, rho_ms: Expr) -> Expr:
    """Directional albedo at wi."""
    return rho * (1.0 - e.missing) + rho_ms * e.missing


def shape(e: Eon, wo: Expr) -> tuple[Expr, Expr]:
    """pi f by rho, and pi f by rho_ms."""
    s = e.wi.x * wo.x + e.wi.y * wo.y
    t = select(s > 0.0, maximum(maximum(e.wi.z, wo.z), 1e-6), 1.0)
    single = e.scale * (1.0 + e.sigma * (s / t))
    return single, e.missing * (C1 - _loss(wo.z)) * (1.0 / (C1 - C2))


def _loss(mu: Expr) -> Expr:
    """G(mu) / pi, of the albedo A (1 + sigma G / pi) of one bounce."""
    s = safe_sqrt(1.0 - mu * mu)
    wedge = mu * (1.0 + s + s * s) / (1.0 + s)  # (1 - sin^3) / cos, finite at grazing angles
    return (s * (arccos(minimum(mu, 1.0)) - s * mu) + (2.0 / 3.0) * s * (wedge - 1.0)) * (1.0 / math.pi)
