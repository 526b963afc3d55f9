"""Thin films by Airy summation at each wavelength, on dielectrics and on metals.

The film changes a bare surface of complex amplitude rho (per polarisation, film absent) into one that reflects

    R = 1 - (1 - |rho|^2) (1 - a^2)^2 / ((1 - a^2)^2 + a^2 q (1 + |rho|^2) + 2 a Re(rho z)),
    q = 2 (1 - cos phi),    z = -(1 + a^2) (1 - cos phi) + i (1 - a^2) sin phi,

with a the amplitude of the film's upper side and phi = 4 pi n d cos(theta) / lambda the phase of one passage
down and up. It is the Airy sum with r12 = (rho - a) / (1 - a rho), the composition of Fresnel amplitudes: a film
of thickness 0 or of the outside's index leaves the surface as it was, and |rho| = 1 stays 1, exactly. So a metal
that is known by its reflectance alone (F82) can have a film; its phase is that of a metal of index i K.
"""

from __future__ import annotations

import math

from irys_ti.graph import Expr, cos, safe_sqrt, sin
from irys_ti.kernels.bsdf.openpbr_fresnel import Interface, amplitudes, outer_cosine

# Extinction of the metal whose phase is taken: common metals lie between 2 and 7 in visible light.
K = 3.0
TINY = 1e-12


def film(p, i: Interface, cosine: Expr):
    """What all surfaces under the film share, for a cosine in air: (cosine outside, (a_s, a_p), cos phi, sin phi)."""
    mu = outer_cosine(i, cosine)
    n = p.thin_film_ior
    inside = safe_sqrt(1.0 - (1.0 - cosine * cosine) / (n * n))
    relative = n if i.outside is None else n / i.outside
    s0, s1 = mu, relative * inside
    p0, p1 = relative * mu, inside
    a_s = (s0 - s1) / (s0 + s1 + TINY)
    a_p = (p0 - p1) / (p0 + p1 + TINY)
    phase = (p.thin_film_thickness * n * inside) * (4000.0 * math.pi / p.lambdas)
    return mu, (a_s, a_p), cos(phase), sin(phase)


def on_dielectric(i: Interface, f) -> Expr:
    """Reflectance of the dielectric under the film."""
    mu, a, c, s = f
    r_s, r_p = amplitudes(i, mu)
    return 0.5 * (_airy(a[0], r_s * r_s, r_s, None, c, s) + _airy(a[1], r_p * r_p, r_p, None, c, s))


def on_metal(bare: Expr, f) -> Expr:
    """Reflectance of a metal of reflectance ``bare`` under the film."""
    mu, a, c, s = f
    m2 = mu * mu
    k2 = K * K + 1.0 - m2
    size = safe_sqrt(bare)
    cross = 2.0 * mu * safe_sqrt(k2)
    # (mu - i k) / (mu + i k) and (K^2 mu + i k) / (K^2 mu - i k), with k^2 = K^2 + sin^2.
    scale_s, scale_p = size / (m2 + k2), size / (K**4 * m2 + k2)
    s_part = _airy(a[0], bare, scale_s * (m2 - k2), -(scale_s * cross), c, s)
    p_part = _airy(a[1], bare, scale_p * (K**4 * m2 - k2), scale_p * (K * K * cross), c, s)
    return 0.5 * (s_part + p_part)


def _airy(a: Expr, square: Expr, real: Expr, imaginary: Expr | None, c: Expr, s: Expr) -> Expr:
    """R above, for square = |rho|^2 and rho = real + i imaginary."""
    a2, half = a * a, 1.0 - c
    clear = 1.0 - a2
    x = real * ((1.0 + a2) * half)
    if imaginary is not None:
        x = x + imaginary * (clear * s)
    clear2 = clear * clear
    whole = clear2 + 2.0 * (a2 * half * (1.0 + square) - a * x)
    return 1.0 - (1.0 - square) * clear2 / (whole + TINY)
