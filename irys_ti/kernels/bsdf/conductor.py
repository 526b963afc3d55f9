"""A smooth metal: mirror reflection by the conductor Fresnel equations, one-sided."""

from __future__ import annotations

from irys_ti.graph import Param, select, vec3
from irys_ti.kernels.bsdf import fresnel
from irys_ti.kernels.bsdf.sample import Sample

PARAMS = {
    "eta": Param("spectrum", 0.2, 0.0, 10.0, doc="real part of the index of refraction"),
    "k": Param("spectrum", 3.9, 0.0, 20.0, doc="imaginary part of the index (extinction)"),
    "specular_reflectance": Param("reflectance", 1.0, 0.0, 1.0, doc="a factor on the reflection"),
}
HAS_DELTA = True
HAS_SMOOTH = False


def eval_delta(p, wi, wo):
    value = p.specular_reflectance * fresnel.conductor(abs(wi.z), p.eta, p.k)
    return select((wi.z > 0.0) & (wo.z > 0.0), value, 0.0)


def pdf_delta(p, wi, wo):
    return select((wi.z > 0.0) & (wo.z > 0.0), 1.0, 0.0)


def sample(p, wi, u):
    return Sample(vec3(-wi.x, -wi.y, wi.z), True)
