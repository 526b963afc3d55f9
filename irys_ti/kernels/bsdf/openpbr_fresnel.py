"""Fresnel reflectance of OpenPBR's dielectric interfaces, written in e = (n - 1) / (n + 1).

e is the reflected amplitude at normal incidence: specular_weight scales its square (OpenPBR 1.1, "modulated
ior"), -e belongs to the other side, and all values stay finite from e = -1 to e = 1. e^2 is kept beside e, so
that a specular_weight of 0 has the right derivative although e is a square root there.

Every cosine is meant in air: under a coat the ray is first refracted into the coat (the specification's cure
for spurious total reflection), and from inside it is first refracted out.
"""

from __future__ import annotations

from typing import NamedTuple

from irys_ti.graph import Expr, clamp, maximum, minimum, safe_sqrt, select, stop_gradient
from irys_ti.graph.expr import is_zero

# Reflectance at normal incidence is kept below LIMIT^2.
LIMIT = 0.999
TINY = 1e-7  # added to denominators that vanish at grazing angles of matched media

# Fraunhofer lines F, d, C in micrometres, for Abbe numbers.
LINE_F, LINE_D, LINE_C = 0.4861, 0.5876, 0.6563


class Interface(NamedTuple):
    """A dielectric interface. e, e2: amplitude at normal incidence and its square. outside: index of the medium
    that the air-side ray crosses first (None: air). eta: index below it all over that of air."""

    e: Expr
    e2: Expr
    outside: Expr | None
    eta: Expr


def amplitude(n: Expr) -> Expr:
    """e of a relative index n."""
    return (n - 1.0) / (n + 1.0)


def index(e: Expr) -> Expr:
    """The relative index of an amplitude e."""
    return (1.0 + e) / (1.0 - e)


def coat_interface(p) -> Interface:
    e = amplitude(p.coat_ior)
    return Interface(e, e * e, None, p.coat_ior)


def _modulated(p) -> tuple[Expr, Expr, Expr | None]:
    """(e, e^2, outside) of air or coat against the dielectric base, with specular_weight, at line d."""
    outside, eta = None, p.specular_ior
    if not is_zero(p.coat_weight):
        # eta_s = lerp(n_b / n_a, n_b / n_c, C), as if the outside had the index below.
        ratio = 1.0 + p.coat_weight * (1.0 / p.coat_ior - 1.0)
        outside, eta = 1.0 / ratio, eta * ratio
    e0 = amplitude(eta)
    e = clamp(safe_sqrt(p.specular_weight) * e0, -LIMIT, LIMIT)
    return e, minimum(p.specular_weight * (e0 * e0), LIMIT * LIMIT), outside


def base_interface(p) -> Interface:
    """Air or coat against the dielectric base, with dispersion where it is on."""
    e, e2, outside = _modulated(p)
    if not is_zero(p.transmission_dispersion_scale):
        e, e2 = dispersed(p, e, e2)
    eta = index(e)
    return Interface(e, e2, outside, eta if outside is None else eta * outside)


def undispersed_index(p) -> Expr:
    """Index of the base over air, at line d."""
    e, _, outside = _modulated(p)
    return index(e) if outside is None else index(e) * outside


def dispersed(p, e: Expr, e2: Expr) -> tuple[Expr, Expr]:
    """e and e^2 at each wavelength: Cauchy's formula through n at line d, with the Abbe number of the lines F, d, C."""
    inverse = 1e6 / (p.lambdas * p.lambdas)
    spread = (inverse - LINE_D**-2) * (1.0 / (LINE_F**-2 - LINE_C**-2))
    bend = 1.0 + spread * (p.transmission_dispersion_scale / p.transmission_dispersion_abbe_number)
    # n - 1 grows by the factor bend.
    scale = maximum(bend, 0.0) / (1.0 + e * (bend - 1.0))
    return clamp(e * scale, -LIMIT, LIMIT), minimum(e2 * (scale * scale), LIMIT * LIMIT)


def air_cosine_squared(cosine: Expr, eta: Expr) -> Expr:
    """The squared cosine in air of a ray inside; not positive under total reflection."""
    return 1.0 - (1.0 - cosine * cosine) * (eta * eta)


def outer_cosine(i: Interface, cosine: Expr) -> Expr:
    """A cosine in air, refracted into the medium outside of the interface."""
    if i.outside is None:
        return cosine
    return safe_sqrt(1.0 - (1.0 - cosine * cosine) / (i.outside * i.outside))


def reflectance(i: Interface, cosine: Expr) -> Expr:
    """Unpolarised reflectance for a cosine in air; 1 under total reflection.

    With a = 1 - e and G = sqrt((a mu)^2 + 4 e), the amplitudes are r_s = -4 e / (a mu + G)^2 and
    r_p = -r_s (mu G - a s^2) / (mu G + a s^2), s^2 = 1 - mu^2; total reflection makes G = 0.
    """
    mu = outer_cosine(i, cosine)
    a, g, q = _parts(i, mu)
    s = a * mu + g + TINY
    s = s * s
    return minimum(8.0 * i.e2 * (1.0 + q * q) / (s * s), 1.0)


def amplitudes(i: Interface, mu: Expr) -> tuple[Expr, Expr]:
    """(r_s, r_p) for a cosine in the medium outside."""
    a, g, q = _parts(i, mu)
    s = a * mu + g + TINY
    r_s = minimum(-4.0 * i.e / (s * s), 1.0)
    return r_s, -(r_s * q)


def _parts(i: Interface, mu: Expr) -> tuple[Expr, Expr, Expr]:
    a = 1.0 - i.e
    am = a * mu
    g = safe_sqrt(am * am + 4.0 * i.e)
    mg, rest = mu * g, a * (1.0 - mu * mu)
    return a, g, (mg - rest) / (mg + rest + TINY)


def off_one(eta: Expr, contrast: float) -> Expr:
    """eta kept ``contrast`` away from 1, derivative as without: between matched media refraction would be a delta."""
    limited = select(eta < 1.0, 1.0 - contrast, 1.0 + contrast)
    return eta + stop_gradient(select(abs(eta - 1.0) < contrast, limited - eta, 0.0))
