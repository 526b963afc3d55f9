"""A smooth interface of two dielectrics: mirror reflection and refraction, from either side."""

from __future__ import annotations

from irys_ti.graph import Param, select, vec3
from irys_ti.kernels.bsdf import fresnel
from irys_ti.kernels.bsdf.interface import reflection_probability, relative_eta
from irys_ti.kernels.bsdf.sample import Sample

NO_IOR = "it bends the refracted ray, and the estimator that follows a bending ray is not built yet; use a roughdielectric"
PARAMS = {
    "int_ior": Param("scalar", 1.5046, 1.0, 5.0, False, "index of refraction below the surface", NO_IOR),
    "ext_ior": Param("scalar", 1.000277, 1.0, 5.0, False, "index of refraction above the surface", NO_IOR),
    "specular_reflectance": Param("reflectance", 1.0, 0.0, 1.0, doc="a factor on the reflection"),
    "specular_transmittance": Param("reflectance", 1.0, 0.0, 1.0, doc="a factor on the refraction"),
}
HAS_DELTA = True
HAS_SMOOTH = False
TRANSMISSIVE = True


def eval_delta(p, wi, wo):
    eta = relative_eta(p, wi)
    reflected = fresnel.dielectric(abs(wi.z), eta)
    # Radiance is squeezed into a smaller solid angle in the denser medium, hence eta^2.
    transmitted = p.specular_transmittance * ((1.0 - reflected) / (eta * eta))
    return select(wi.z * wo.z > 0.0, p.specular_reflectance * reflected, transmitted)


def pdf_delta(p, wi, wo):
    chance = _chance(p, wi)
    return select(wi.z * wo.z > 0.0, chance, 1.0 - chance)


def sample(p, wi, u):
    eta = relative_eta(p, wi)
    cos_t = fresnel.refracted_cosine(abs(wi.z), eta)
    refracted = vec3(-wi.x / eta, -wi.y / eta, select(wi.z < 0.0, cos_t, -cos_t))
    return Sample(select(u.z < _chance(p, wi), vec3(-wi.x, -wi.y, wi.z), refracted), True)


def _chance(p, wi):
    cos_i, eta = abs(wi.z), relative_eta(p, wi)
    return reflection_probability(fresnel.dielectric(cos_i, eta), fresnel.refracted_cosine_squared(cos_i, eta))
