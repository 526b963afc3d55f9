"""Fog and clouds: light scattered by water droplets of one diameter, a fit of Mie's theory for 5 to 50 micrometres.

A mixture of Henyey and Greenstein's function and Draine's, whose four numbers are functions of the diameter (Jendersie and
d'Eon 2023, "An approximate Mie scattering function for fog and cloud rendering"). Draine's is drawn by Henyey and
Greenstein's of the same g: their ratio is below 2.
"""

from __future__ import annotations

import math

from irys_ti.graph import Param, cos, dot, exp, safe_sqrt, select, sin
from irys_ti.kernels.bsdf.hg import around, cosine
from irys_ti.kernels.bsdf.sample import Sample

PARAMS = {
    "albedo": Param("reflectance", 0.999, 0.0, 1.0, doc="fraction of light that is scattered"),
    "diameter": Param("scalar", 20.0, 5.0, 50.0, doc="of the droplets, in micrometres"),
}
TRANSMISSIVE = True
RECIPROCAL = False  # it is, but without the cosine that the test divides out


def fit(p):
    """(g of the one, g of the other, Draine's alpha, its share)."""
    d = p.diameter
    g_peak = exp(-0.0990567 / (d - 1.67154))
    g_body = exp(-2.20679 / (d + 3.91029) - 0.428934)
    return g_peak, g_body, exp(3.62489 - 8.29288 / (d + 5.52825)), exp(-0.599085 / (d - 0.641583) - 0.665888)


def lobe(g, wi, wo):
    """Henyey and Greenstein's density for g > 0; wi points back, so that forward is -wi."""
    ahead = wi + wo
    base = (1.0 - g) * (1.0 - g) + g * dot(ahead, ahead)
    return (1.0 - g * g) * (0.25 / math.pi) / (base * safe_sqrt(base))


def eval(p, wi, wo):
    g_peak, g_body, alpha, share = fit(p)
    u = dot(wi, wo)
    draine = lobe(g_body, wi, wo) * (1.0 + alpha * u * u) / (1.0 + alpha * (1.0 + 2.0 * g_body * g_body) / 3.0)
    return p.albedo * ((1.0 - share) * lobe(g_peak, wi, wo) + share * draine)


def pdf(p, wi, wo):
    g_peak, g_body, _, share = fit(p)
    return (1.0 - share) * lobe(g_peak, wi, wo) + share * lobe(g_body, wi, wo)


def sample(p, wi, u):
    g_peak, g_body, _, share = fit(p)
    z = cosine(select(u.z < share, g_body, g_peak), u.x)
    r, phi = safe_sqrt(1.0 - z * z), 2.0 * math.pi * u.y
    return Sample(around(wi, r * cos(phi), r * sin(phi), z))
