"""Unpolarised Fresnel reflectance of dielectrics and conductors, as graphs.

Born and Wolf, Principles of Optics, sections 1.5 and 14.2. All values and derivatives are finite on
the whole range, grazing angles, total internal reflection and matched media included.
"""

from __future__ import annotations

from irys_ti.graph import Expr, maximum, safe_sqrt, select

# Denominators vanish only where matched media meet at grazing incidence; there this is the reflectance 0.
TINY = 1e-12


def refracted_cosine(cos_i: Expr, eta: Expr) -> Expr:
    """Cosine of the refracted angle, 0 under total reflection. cos_i >= 0; eta = n_transmitted / n_incident."""
    return safe_sqrt(refracted_cosine_squared(cos_i, eta))


def refracted_cosine_squared(cos_i: Expr, eta: Expr) -> Expr:
    """Its square by Snell's law; not positive under total reflection."""
    return 1.0 - (1.0 - cos_i * cos_i) / (eta * eta)


def dielectric(cos_i: Expr, eta: Expr) -> Expr:
    """Reflectance of a smooth interface, 1 under total reflection. cos_i >= 0; eta = n_transmitted / n_incident."""
    cos_t = refracted_cosine(cos_i, eta)
    r_s = (cos_i - eta * cos_t) / maximum(cos_i + eta * cos_t, TINY)
    r_p = (eta * cos_i - cos_t) / maximum(eta * cos_i + cos_t, TINY)
    return 0.5 * (r_s * r_s + r_p * r_p)


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
