"""Lambertian reflection, one-sided: light above the surface scatters evenly above it."""

from __future__ import annotations

import math

from irys_ti.graph import Param, select
from irys_ti.kernels.bsdf.sample import Sample
from irys_ti.kernels.bsdf.warp import cosine_hemisphere

PARAMS = {
    "reflectance": Param("reflectance", 0.5, 0.0, 1.0, doc="fraction of light that is reflected"),
}


def eval(p, wi, wo):
    return select((wi.z > 0.0) & (wo.z > 0.0), p.reflectance * (wo.z * (1.0 / math.pi)), 0.0)


def pdf(p, wi, wo):
    return select((wi.z > 0.0) & (wo.z > 0.0), wo.z * (1.0 / math.pi), 0.0)


def sample(p, wi, u):
    return Sample(cosine_hemisphere(u))
