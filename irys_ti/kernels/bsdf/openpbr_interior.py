"""What fills an OpenPBR material's inside: extinction, scattering and mean cosine, from the specification's parameters.

Subsurface: subsurface_radius times its scale is the mean free path, subsurface_color the share of the light that gets in
which comes out again, of a half-space seen from straight above under even light. From that follows the albedo of one
scattering, by van de Hulst's form, as the specification (and Kulla and Conty 2017) invert it,

    C = (1 - s) (1 - a s) / (1 + b s),    s^2 = (1 - albedo) / (1 - albedo g)

with a = 0.139, b = 1.17 under an index-matched boundary. What a boundary of index n sends back, a share F of diffuse light,
darkens: there a and b grow with F, fitted to random walks (docs/design/openpbr.md).

Transmission: transmission_color is what is left after transmission_depth, transmission_scatter over it the scattering.
Absorption that would be negative is 0 at that wavelength.
"""

from __future__ import annotations

from typing import NamedTuple

from irys_ti.graph import Expr, clamp, log, maximum, safe_sqrt, select, spectrum
from irys_ti.kernels.bsdf import openpbr_coat as coat
from irys_ti.kernels.bsdf import openpbr_fresnel as fresnel

MATCHED = (0.139, 1.17)
MOST = 0.99  # of the mean cosine
SHORTEST = 1e-9  # mean free path; 0 is the diffuse limit, without a walk
DARKEST = 1e-6  # transmission_color


class Interior(NamedTuple):
    """Extinction and scattering per unit of length, spectra, and the mean cosine of the phase function, a scalar."""

    extinction: Expr
    scattering: Expr
    g: Expr


def subsurface(p) -> Interior:
    g = clamp(p.subsurface_scatter_anisotropy, -MOST, MOST)
    albedo = single_albedo(p.subsurface_color, g, sent_back(fresnel.undispersed_index(p)))
    extinction = 1.0 / maximum(p.subsurface_radius * p.subsurface_radius_scale, SHORTEST)
    return Interior(spectrum(extinction), spectrum(extinction * albedo), g)


def single_albedo(color: Expr, g: Expr, back: Expr) -> Expr:
    """Albedo of one scattering, 0 at colour 0 and 1 at colour 1 to the last bit. back: F.

    s is the root of a s^2 - (1 + a + b C) s + 1 - C within [0, 1], in a form that does not cancel; 1 - s comes from C.
    """
    a, b = _form(back)
    half = 0.5 * (1.0 + a + b * color)
    s = (1.0 - color) / (half + safe_sqrt(half * half - a * (1.0 - color)))
    return (1.0 + s) * (color * (1.0 + b * s) / (1.0 - a * s)) / (1.0 - g * (s * s))


def observed_color(albedo: Expr, g: Expr, index: Expr) -> Expr:
    """The other way: the colour, subsurface_color, of a medium under an interface of this index of refraction."""
    a, b = _form(sent_back(index))
    s = safe_sqrt((1.0 - albedo) / (1.0 - albedo * g))
    return (1.0 - s) * (1.0 - a * s) / (1.0 + b * s)


def _form(back: Expr) -> tuple[Expr, Expr]:
    """a and b."""
    a = MATCHED[0] + 0.54 * back / (back + 0.12)
    return a, MATCHED[1] + (1.45 + 1.3 * back) * back / (1.0 - back)


def transmission(p) -> Interior:
    depth = select(p.transmission_depth > 0.0, p.transmission_depth, 1.0)
    scattering = p.transmission_scatter / depth
    extinction = maximum(-log(maximum(p.transmission_color, DARKEST)) / depth, scattering)
    g = clamp(p.transmission_scatter_anisotropy, -MOST, MOST)
    return Interior(spectrum(extinction), spectrum(scattering), g)


def sent_back(index: Expr) -> Expr:
    """F: share of diffuse light from inside that a smooth boundary reflects."""
    return coat.internal_reflection(fresnel.amplitude(index))
