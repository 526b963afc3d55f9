"""A rough metal: GGX microfacets with conductor Fresnel reflectance, one-sided, single scattering."""

from __future__ import annotations

from irys_ti.graph import Param, dot, normalize, select
from irys_ti.kernels.bsdf import fresnel, ggx
from irys_ti.kernels.bsdf.sample import Sample

PARAMS = {
    "eta": Param("spectrum", 0.2, 0.0, 10.0, doc="real part of the index of refraction"),
    "k": Param("spectrum", 3.9, 0.0, 20.0, doc="imaginary part of the index (extinction)"),
    "specular_reflectance": Param("reflectance", 1.0, 0.0, 1.0, doc="a factor on the reflection"),
    "alpha": Param("scalar", 0.1, 1e-3, 1.0, doc="GGX roughness (slope scale, not its square root)"),
    "separable": Param("flag", 0.0, 0.0, 1.0, doc="1: separable Smith masking; 0: height-correlated"),
}


def eval(p, wi, wo):
    h = normalize(wi + wo)
    alpha = (p.alpha, p.alpha)
    shape = ggx.ndf(h, alpha) * ggx.visibility(wi, wo, alpha, p.separable) * wo.z
    value = p.specular_reflectance * fresnel.conductor(abs(dot(wi, h)), p.eta, p.k) * shape
    return select((wi.z > 0.0) & (wo.z > 0.0), value, 0.0)


def pdf(p, wi, wo):
    alpha = (p.alpha, p.alpha)
    density = ggx.pdf_reflection(wi, ggx.ndf(normalize(wi + wo), alpha), alpha)
    return select((wi.z > 0.0) & (wo.z > 0.0), density, 0.0)


def sample(p, wi, u):
    return Sample(ggx.sample_reflection(wi, (p.alpha, p.alpha), u))
