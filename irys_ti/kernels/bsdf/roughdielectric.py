"""A rough interface of two dielectrics: GGX reflection and refraction (Walter et al. 2007), either side.

Masking in refraction is always the separable Smith term, since the two directions see opposite sides of
the microsurface; the flag chooses the term in reflection.
"""

from __future__ import annotations

from types import SimpleNamespace

from irys_ti.graph import Param, constant, dot, normalize, select, stop_gradient, vec3
from irys_ti.kernels.bsdf import fresnel, ggx
from irys_ti.kernels.bsdf.interface import reflection_probability, relative_eta, upward
from irys_ti.kernels.bsdf.sample import Sample

PARAMS = {
    "alpha": Param("scalar", 0.1, 1e-3, 1.0, doc="GGX roughness (slope scale, not its square root)"),
    "int_ior": Param("scalar", 1.5046, 1.0, 5.0, doc="index of refraction below the surface"),
    "ext_ior": Param("scalar", 1.000277, 1.0, 5.0, doc="index of refraction above the surface"),
    "specular_reflectance": Param("reflectance", 1.0, 0.0, 1.0, doc="a factor on the reflection"),
    "specular_transmittance": Param("reflectance", 1.0, 0.0, 1.0, doc="a factor on the refraction"),
    "separable": Param("flag", 0.0, 0.0, 1.0, doc="1: separable Smith masking; 0: height-correlated"),
}
TRANSMISSIVE = True

# Between matched media the refraction lobe would shrink to a delta: the ratio of indices keeps this far from 1.
CONTRAST = 1e-3


def eval(p, wi, wo):
    f = _interaction(p, wi, wo)
    reflected = p.specular_reflectance * (
        f.fresnel * f.density * f.wo.z * ggx.visibility(f.wi, f.wo, f.alpha, p.separable)
    )
    # G2 / (cos_i cos_o) = 4 visibility; the two cosines belong to the half vector's Jacobian.
    down = vec3(f.wo.x, f.wo.y, -f.wo.z)
    masking = 4.0 * ggx.visibility_separable(f.wi, down, f.alpha)
    transmitted = p.specular_transmittance * (
        (1.0 - f.fresnel) * f.density * masking * (f.cos_i * f.cos_o * f.wo.z) / f.length2 * ggx.upright(f.height)
    )
    return select(f.reflects, reflected, select(f.transmits, transmitted, 0.0))


def pdf(p, wi, wo):
    f = _interaction(p, wi, wo)
    visible = ggx.pdf_visible(f.wi, f.density, f.alpha)
    chance = reflection_probability(f.fresnel, fresnel.refracted_cosine_squared(f.cos_i, f.eta))
    # Jacobians from half vector to wo, times cos(wi, h): 1 / (4 cos) and eta^2 |wo.h| / |wi + eta wo|^2.
    reflected = chance * visible * 0.25
    transmitted = (1.0 - chance) * visible * (f.eta * f.eta * f.cos_i * -f.cos_o) / f.length2
    return select(f.reflects, reflected, select(f.transmits, transmitted, 0.0))


def sample(p, wi, u):
    eta, alpha = _eta(p, wi), (p.alpha, p.alpha)
    above = upward(wi, wi.z)
    h = ggx.sample_visible(above, alpha, u)
    cos_i = dot(above, h)
    cos2_t = fresnel.refracted_cosine_squared(cos_i, eta)
    reflects = u.z < reflection_probability(fresnel.dielectric(cos_i, eta), cos2_t)
    reflected = ggx.reflect(above, h)
    refracted = h * (cos_i / eta - fresnel.refracted_cosine(cos_i, eta)) - above / eta
    valid = select(reflects, reflected.z, -refracted.z) > 0.0
    # Light that the microsurface would scatter again is absorbed: a horizontal wo has value 0.
    wo = select(valid, select(reflects, reflected, refracted), constant((1.0, 0.0, 0.0)))
    return Sample(upward(wo, wi.z))


def _eta(p, wi):
    """The ratio of indices, off 1 by CONTRAST at least, with the derivative that it has without the limit."""
    eta = relative_eta(p, wi)
    limited = select(eta < 1.0, 1.0 - CONTRAST, 1.0 + CONTRAST)
    return eta + stop_gradient(select(abs(eta - 1.0) < CONTRAST, limited - eta, 0.0))


def _interaction(p, wi, wo) -> SimpleNamespace:
    """Half vector and what depends on it, in the frame where wi is above the surface."""
    f = SimpleNamespace(alpha=(p.alpha, p.alpha), eta=_eta(p, wi), wi=upward(wi, wi.z), wo=upward(wo, wi.z))
    above = f.wo.z > 0.0
    sum_ = f.wi + f.wo * select(above, 1.0, f.eta)
    f.length2 = dot(sum_, sum_)
    h = normalize(sum_)
    h = h * select(h.z < 0.0, -1.0, 1.0)
    f.height = h.z
    f.cos_i, f.cos_o = dot(f.wi, h), dot(f.wo, h)
    f.density, f.fresnel = ggx.ndf(h, f.alpha), fresnel.dielectric(abs(f.cos_i), f.eta)
    f.reflects = (f.wi.z > 0.0) & above
    f.transmits = (f.wi.z > 0.0) & (f.wo.z < 0.0) & (f.cos_i > 0.0) & (f.cos_o < 0.0)
    return f
