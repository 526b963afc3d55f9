"""A BSDF from outside the package, as docs/adding_a_bsdf.md shows it: forward text only."""

import math

from irys_ti.graph import Param, select
from irys_ti.kernels.bsdf import Sample
from irys_ti.kernels.bsdf.warp import cosine_hemisphere

PARAMS = {
    "reflectance": Param("reflectance", 0.6, 0.0, 1.0, doc="colour of the cloth"),
    "fuzz": Param("scalar", 1.0, 0.0, 8.0, doc="how much brighter it is at grazing angles"),
}


def eval(p, wi, wo):
    rim = (1.0 + p.fuzz * (1.0 - wi.z) * (1.0 - wo.z)) / (1.0 + p.fuzz)
    value = p.reflectance * (rim * wo.z / math.pi)
    return select((wi.z > 0.0) & (wo.z > 0.0), value, 0.0)


def pdf(p, wi, wo):
    return select((wi.z > 0.0) & (wo.z > 0.0), wo.z / math.pi, 0.0)


def sample(p, wi, u):
    return Sample(cosine_hemisphere(u))
