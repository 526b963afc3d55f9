"""OpenPBR Surface 1.1, whole. ``docs/design/openpbr.md`` says what is exact and what is approximate.

``openpbr_variants`` makes smaller versions for materials that use fewer lobes: a parameter that is a constant
graph folds away here, and takes its lobe with it.
"""

from __future__ import annotations

from irys_ti.graph import clamp, select, spectrum, vec3
from irys_ti.kernels.bsdf import openpbr_frame as frames
from irys_ti.kernels.bsdf import openpbr_fresnel as fresnel
from irys_ti.kernels.bsdf import openpbr_sampling as sampling
from irys_ti.kernels.bsdf.interface import upward
from irys_ti.kernels.bsdf.openpbr_params import NORM, PARAMS  # noqa: F401
from irys_ti.kernels.bsdf.openpbr_surface import CONTRAST, Surface
from irys_ti.kernels.bsdf.openpbr_value import value
from irys_ti.kernels.bsdf.openpbr_variants import can_walk, scatters_inside, variants  # noqa: F401
from irys_ti.kernels.bsdf.sample import Sample

HAS_DELTA = True
TRANSMISSIVE = True
NEEDS_LAMBDAS = True
RECIPROCAL = False  # albedo scaling and the fuzz are not; the single lobes are


OF_SUBSURFACE = ("subsurface_radius", "subsurface_radius_scale", "subsurface_scatter_anisotropy")
OF_TRANSMISSION = ("transmission_depth", "transmission_scatter", "transmission_scatter_anisotropy")
OF_INTERIOR = (*OF_SUBSURFACE, *OF_TRANSMISSION)  # what needs an inside, but for a thin wall's anisotropy


def why_no_gradient(name: str, values: dict) -> str:
    """Why a parameter has no derivative in a material with these values; empty where it has one."""
    walls = values.get("geometry_thin_walled", 0.0)
    is_thick = isinstance(walls, (int, float)) and walls <= 0.5
    if name in OF_INTERIOR and not is_thick and name != "subsurface_scatter_anisotropy":
        return "a thin wall has no inside"
    if is_thick and name in OF_SUBSURFACE and not can_walk(values):
        return "below radius 0, or beside transmission, subsurface scattering is its diffuse limit, which has no length"
    if is_thick and name in OF_TRANSMISSION and isinstance(d := values.get("transmission_depth", 0.0), (int, float)) and d == 0.0:
        return "at transmission_depth 0 there is no medium inside"
    if is_thick and name.startswith("transmission_") and scatters_inside(values):
        return "light scatters below the surface (subsurface_weight); a little of both insides is not rendered"
    return ""


def is_inside(name: str, values: dict) -> bool:
    """Whether a parameter belongs to what fills a closed shape of this material, and has no effect on an open one."""
    walls = values.get("geometry_thin_walled", 0.0)
    return name in OF_INTERIOR and isinstance(walls, (int, float)) and walls <= 0.5


FLOOR = 0.01  # of the chance to pass straight through, and of that not to


def eval(p, wi, wo):
    return spectrum(eval_one(p, wi, wo))


def eval_one(p, wi, wo):
    """The value; at one wavelength where p's spectra and p.lambdas are scalars."""
    return p.geometry_opacity * _framed(p, wi, wo, value)


def pdf(p, wi, wo):
    density = _framed(p, wi, wo, sampling.pdf)
    return density if _solid(p) else (1.0 - _chance_to_pass(p)) * density


def sample(p, wi, u):
    if _solid(p):
        return Sample(_sampled(p, wi, u))
    chance = _chance_to_pass(p)
    passes = u.z < chance
    rest = clamp((u.z - chance) / (1.0 - chance), 0.0, 1.0)
    return Sample(select(passes, -wi, _sampled(p, wi, vec3(u.x, u.y, rest))), passes)


def _framed(p, wi, wo, of):
    """``of`` a pair of directions, in the frame that a normal map or a tangent turns."""
    if not frames.turned(p):
        return of(Surface(p, wi), upward(wo, wi.z))
    f = frames.frame(p, wi)
    wi, seen = frames.into(f, wi), frames.same_side(f, wo)
    return select(seen, of(Surface(p, wi), upward(frames.into(f, wo), wi.z)), 0.0)


def _sampled(p, wi, u):
    if not frames.turned(p):
        return upward(sampling.sample(Surface(p, wi), u), wi.z)
    f = frames.frame(p, wi)
    inner = frames.into(f, wi)
    return frames.back(f, upward(sampling.sample(Surface(p, inner), u), inner.z))


def eval_delta(p, wi, wo):
    """Light that meets no surface: the share that geometry_opacity leaves."""
    return select(wi.z * wo.z < 0.0, spectrum(1.0 - p.geometry_opacity), 0.0)


def pdf_delta(p, wi, wo):
    return select(wi.z * wo.z < 0.0, _chance_to_pass(p), 0.0)


def interior_index(p):
    """Index of the inside over that of air, a spectrum (1 for thin walls): eval's radiance factor is its square."""
    index = fresnel.off_one(fresnel.base_interface(p).eta, CONTRAST)
    return spectrum(select(p.geometry_thin_walled > 0.5, 1.0, index))


def _chance_to_pass(p):
    return clamp(1.0 - p.geometry_opacity, FLOOR, 1.0 - FLOOR)


def _solid(p) -> bool:
    return p.geometry_opacity.op == "const" and p.geometry_opacity.attr == 1.0
