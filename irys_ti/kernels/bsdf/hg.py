"""Henyey and Greenstein's phase function ("Diffuse radiation in the galaxy", 1941), its anisotropy per wavelength.

A phase function has no cosine: ``eval`` is albedo times the density over the sphere. Directions are drawn from the
mean of the four wavelengths' densities, so that no wavelength's weight outgrows four.
"""

from __future__ import annotations

import math

from irys_ti.graph import Param, absolute, component, cos, dot, mean, safe_sqrt, select, sin, vec3
from irys_ti.kernels.bsdf.sample import Sample

MOST = 0.99
PARAMS = {
    "albedo": Param("reflectance", 0.75, 0.0, 1.0, doc="fraction of light that is scattered"),
    "g": Param("spectrum", 0.0, -MOST, MOST, doc="mean cosine: 0 scatters evenly, above 0 mostly forward"),
}
TRANSMISSIVE = True
RECIPROCAL = False  # it is, but without the cosine that the test divides out


def density(p, wi, wo):
    """Per wavelength, over the sphere. wi points back along the light's way, so that forward is -wi."""
    # 1 + g^2 + 2 g cos, as squares that do not cancel at the peak.
    ahead, back = wi + wo, wi - wo
    size = absolute(p.g)
    base = (1.0 - size) * (1.0 - size) + size * select(0.0 < p.g, dot(ahead, ahead), dot(back, back))
    return (1.0 - p.g * p.g) * (0.25 / math.pi) / (base * safe_sqrt(base))


def eval(p, wi, wo):
    return p.albedo * density(p, wi, wo)


def pdf(p, wi, wo):
    return mean(density(p, wi, wo))


def sample(p, wi, u):
    """u.z chooses the wavelength."""
    g = component(p.g, 3)
    for k in (2, 1, 0):
        g = select(u.z < 0.25 * (k + 1), component(p.g, k), g)
    z = cosine(g, u.x)
    r = safe_sqrt(1.0 - z * z)
    phi = 2.0 * math.pi * u.y
    x, y = r * cos(phi), r * sin(phi)
    return Sample(around(wi, x, y, z))


def cosine(g, u):
    """Of the scattering angle, by inversion: ((1 + g^2) - ((1 - g^2) / (1 + g s))^2) / (2 g) without the division by g."""
    s = 2.0 * u - 1.0
    q = 1.0 + g * s
    return (2.0 * s * (1.0 + g * g) + g * ((1.0 + g * g) * s * s + 3.0 - g * g)) / (2.0 * q * q)


def around(wi, x, y, z):
    """The direction at cosine z to -wi."""
    sign = select(wi.z < 0.0, -1.0, 1.0)
    a = -1.0 / (sign + wi.z)
    b = wi.x * wi.y * a
    s = vec3(1.0 + sign * wi.x * wi.x * a, sign * b, -sign * wi.x)
    t = vec3(b, sign + wi.y * wi.y * a, -wi.y)
    return s * x + t * y - wi * z
