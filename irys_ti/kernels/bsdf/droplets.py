"""Haze, fog and clouds: light scattered by water droplets of one size, a fit of Mie's theory for 0.1 to 50 micrometres.

A mixture of Henyey and Greenstein's function and Draine's, whose four numbers are functions of the diameter (Jendersie and
d'Eon 2023, "An approximate Mie scattering function for fog and cloud rendering"). Draine's is drawn by Henyey and
Greenstein's of the same g: their ratio is below 3.
"""

from __future__ import annotations

import math

from irys_ti.graph import Param, constant, cos, dot, exp, log, safe_sqrt, select, sin, tan
from irys_ti.kernels.bsdf.hg import around, cosine
from irys_ti.kernels.bsdf.sample import Sample

PARAMS = {
    "albedo": Param("reflectance", 0.999, 0.0, 1.0, doc="fraction of light that is scattered"),
    "diameter": Param("scalar", 20.0, 0.1, 50.0, doc="of the droplets, in micrometres"),
}
TRANSMISSIVE = True
RECIPROCAL = False  # it is, but without the cosine that the test divides out


def fit(p):
    """(g of the one, g of the other, Draine's alpha, its share); three ranges of diameters, each with formulas of its own."""
    d = p.diameter
    parts = [coarse(select(5.0 <= d, d, 5.0)), middling(_within(d, 1.5, 5.0)), fine(_within(d, 0.1, 1.5))]
    return [select(5.0 <= d, a, select(1.5 <= d, b, c)) for a, b, c in zip(*parts, strict=True)]


def _within(x, low, high):
    """x where low <= x < high, else somewhere there, so that the formulas that are not chosen stay finite."""
    return select(x < high, select(low <= x, x, low), 0.5 * (low + high))


def coarse(d):
    """5 to 50 micrometres."""
    g_peak = exp(-0.0990567 / (d - 1.67154))
    g_body = exp(-2.20679 / (d + 3.91029) - 0.428934)
    return g_peak, g_body, exp(3.62489 - 8.29288 / (d + 5.52825)), exp(-0.599085 / (d - 0.641583) - 0.665888)


def middling(d):
    """1.5 to 5 micrometres."""
    x = log(d)
    g_body = 0.500411 - 0.081287 / (1.27551 - 2.0 * x + tan(x))
    share = 0.026914 * (x - cos(5.68947 * (log(x) - 0.0292149))) + 0.376475
    return 0.0604931 * log(x) + 0.940256, g_body, 7.30354 * x + 6.31675, share


def fine(d):
    """0.1 to 1.5 micrometres."""
    x = log(d)
    turn = 1.19692 * cos((x - 0.238604) * (x + 1.00667) / (0.507522 - 0.15677 * x)) + 1.37932 * x + 0.0625835
    share = 0.146209 * cos(3.38707 * x + 2.11193) + 0.316072 + 0.0778917 * x
    return 0.862 - 0.143 * x * x, 0.379685 * cos(turn) + 0.344213, constant(250.0), share


def lobe(g, wi, wo):
    """Henyey and Greenstein's density; wi points back, so that forward is -wi."""
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
