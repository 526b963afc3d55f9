"""Unpolarised Fresnel reflectance of dielectrics and conductors, as graphs.

Born and Wolf, Principles of Optics, sections 1.5 and 14.2. All values and derivatives are finite on
the whole range, grazing angles, total internal reflection and matched media included.
"""

from __future__ import annotations

import math

from irys_ti.graph import Expr, maximum, safe_sqrt, select, stop_gradient

# Denominators vanish only where matched media meet at grazing incidence; there this is the reflectance 0.
TINY = 1e-12
# Squared cosine of refraction, 2 degrees from total reflection, below which the derivative is evened out.
LIMIT = 1e-3


def refracted_cosine(cos_i: Expr, eta: Expr) -> Expr:
    """Cosine of the refracted angle, 0 under total reflection. cos_i >= 0; eta = n_transmitted / n_incident."""
    return safe_sqrt(refracted_cosine_squared(cos_i, eta))


def refracted_cosine_squared(cos_i: Expr, eta: Expr) -> Expr:
    """Its square by Snell's law; not positive under total reflection."""
    return 1.0 - (1.0 - cos_i * cos_i) / (eta * eta)


def dielectric(cos_i: Expr, eta: Expr) -> Expr:
    """Reflectance of a smooth interface, 1 under total reflection. cos_i >= 0; eta = n_transmitted / n_incident."""
    cos_t = evened_cosine(refracted_cosine_squared(cos_i, eta))
    r_s = (cos_i - eta * cos_t) / maximum(cos_i + eta * cos_t, TINY)
    r_p = (eta * cos_i - cos_t) / maximum(eta * cos_i + cos_t, TINY)
    return 0.5 * (r_s * r_s + r_p * r_p)


def evened_cosine(square: Expr) -> Expr:
    """The root of ``square``, with a derivative that stays bounded.

    At the critical angle the true one is infinite: the few paths there would make up most of a gradient's noise
    and, in f32, its error. Below LIMIT a straight line replaces 1 / sqrt(square). It has the same integral, so
    the mean over directions is the same, up to terms of order LIMIT^1.5.
    """
    line = (3.0 - 2.0 * (square / LIMIT)) / math.sqrt(LIMIT)
    inverse = select(square < LIMIT, select(square > 0.0, line, 0.0), 1.0 / safe_sqrt(square))
    return stop_gradient(safe_sqrt(square)) + (square - stop_gradient(square)) * (0.5 * stop_gradient(inverse))


def conductor(cos_i: Expr, eta: Expr, k: Expr) -> Expr:
    """Reflectance of a metal of index eta + i k (spectra, relative to the outside) at cos_i >= 0 (scalar)."""
    cos2 = cos_i * cos_i
    sin2 = 1.0 - cos2
    # (a + i b)^2 = (eta + i k)^2 - sin^2, with a, b >= 0 and a b = eta k. The larger of a and b comes from
    # a sum, the smaller from their product: nothing cancels, and k = 0 keeps its derivative.
    real, cross = eta * eta - k * k - sin2, eta * k
    modulus = safe_sqrt(real * real + 4.0 * (cross * cross))
    larger = safe_sqrt(0.5 * (modulus + abs(real)))
    a = select(real > 0.0, larger, cross / maximum(larger, TINY))
    s_plus, s_minus = modulus + cos2, 2.0 * (a * cos_i)
    r_s = (s_plus - s_minus) / maximum(s_plus + s_minus, TINY)
    p_plus, p_minus = modulus * cos2 + sin2 * sin2, s_minus * sin2
    r_p = r_s * ((p_plus - p_minus) / maximum(p_plus + p_minus, TINY))
    return 0.5 * (r_s + r_p)
