"""A phase function from a table over the cosine of the scattering angle, linear in between; of media alone.

The table stands in the pool (kernels/phase_table.py); the graphs here see the one cell that a direction lies in: the table's
two values at its ends, per wavelength, and the two that directions are drawn by. Cells are found by the kernel, and
derivatives by the two values go back to the table from there.
"""

from __future__ import annotations

import math

from irys_ti.graph import Param, clamp, component, cos, dot, mean, safe_sqrt, sin
from irys_ti.kernels.bsdf.hg import around
from irys_ti.kernels.bsdf.sample import Sample

_MOST = float("inf")
PARAMS = {
    "albedo": Param("reflectance", 0.75, 0.0, 1.0, doc="fraction of light that is scattered"),
    "value_low": Param("spectrum", 0.25 / math.pi, 0.0, _MOST, doc="density where the cell begins"),
    "value_high": Param("spectrum", 0.25 / math.pi, 0.0, _MOST, doc="and where it ends"),
    "chance_low": Param("spectrum", 0.25 / math.pi, 0.0, _MOST, doc="what directions are drawn by, where it begins"),
    "chance_high": Param("spectrum", 0.25 / math.pi, 0.0, _MOST, doc="and where it ends"),
    "start": Param("scalar", -1.0, -1.0, 1.0, doc="cosine where the cell begins"),
    "width": Param("scalar", 2.0, 0.0, 2.0, doc="of the cell"),
}
SLOTS = ("albedo", "phase_values")  # the medium's parameters behind these: what is looked up, and the table
CELL = 6  # so many of PARAMS, the last ones, come from the table
TRANSMISSIVE = True
RECIPROCAL = False  # it is, but without the cosine that the test divides out


def part(p, wi, wo):
    """Where in the cell the cosine is; wi points back, so that forward is -wi."""
    return clamp((-dot(wi, wo) - p.start) / p.width, 0.0, 1.0)


def eval(p, wi, wo):
    t = part(p, wi, wo)
    return p.albedo * ((1.0 - t) * p.value_low + t * p.value_high)


def pdf(p, wi, wo):
    t = part(p, wi, wo)
    return (1.0 - t) * mean(p.chance_low) + t * mean(p.chance_high)


def sample(p, wi, u):
    """Within a cell that is chosen already: u.x goes from 0 to 1 in it, by the first wavelength's chances."""
    low, high = component(p.chance_low, 0), component(p.chance_high, 0)
    t = u.x * (low + high) / (low + safe_sqrt(low * low + u.x * (high - low) * (high + low)))
    z = clamp(p.start + p.width * t, -1.0, 1.0)
    r, phi = safe_sqrt(1.0 - z * z), 2.0 * math.pi * u.y
    return Sample(around(wi, r * cos(phi), r * sin(phi), z))
