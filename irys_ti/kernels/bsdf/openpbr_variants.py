"""Smaller versions of OpenPBR, by the lobes that a material uses.

A version is a BSDF like any other, named ``openpbr[coat,opaque]``: parameters of lobes that it lacks are
constants, so that constant folding removes them, and are missing from its PARAMS. Values are the same as the
whole model's, to rounding; only the chances of lobes differ, since a lobe that is not there needs no floor.
"""

from __future__ import annotations

from functools import cache
from types import SimpleNamespace

import numpy as np

from irys_ti.graph import constant, select
from irys_ti.kernels.bsdf.openpbr_params import NORM, PARAMS

# Lobe -> the parameter that switches it, the value at which it is off, and the parameters that it alone uses.
SWITCHES = {
    "rough_diffuse": ("base_diffuse_roughness", 0.0, ()),
    "anisotropy": ("specular_roughness_anisotropy", 0.0, ()),
    "dispersion": ("transmission_dispersion_scale", 0.0, ("transmission_dispersion_abbe_number",)),
    "subsurface": (
        "subsurface_weight", 0.0,
        ("subsurface_color", "subsurface_radius", "subsurface_radius_scale", "subsurface_scatter_anisotropy"),
    ),
    "coat": ("coat_weight", 0.0, ("coat_color", "coat_roughness", "coat_ior", "coat_darkening")),
    "coat_anisotropy": ("coat_roughness_anisotropy", 0.0, ()),
    "fuzz": ("fuzz_weight", 0.0, ("fuzz_color", "fuzz_roughness")),
    "thin_film": ("thin_film_weight", 0.0, ("thin_film_thickness", "thin_film_ior")),
    "opacity": ("geometry_opacity", 1.0, ()),
    "normal": ("geometry_normal_x", 0.0, ("geometry_normal_y", "geometry_normal_z")),
    "tangent": ("geometry_tangent_y", 0.0, ("geometry_tangent_x",)),
}  # fmt: skip
TRANSLUCENT = (
    "transmission_color", "transmission_depth", "transmission_scatter", "transmission_scatter_anisotropy",
)  # fmt: skip
# "metal", "opaque" and "translucent" are the parts of the base; at least one is there. A flag that is the same
# for all of a version's materials is a constant too: "thin_walled" 1, "any_walls" either, neither 0.
BASE = ("metal", "opaque", "translucent")
# "random_walk": subsurface scattering as a medium below the dielectric interface, in place of its diffuse limit; "interior":
# what is transmitted meets a medium. Both need an inside, and versions that differ in them are not merged.
MEDIA = ("random_walk", "interior")
LOBES = (*BASE, *MEDIA, *SWITCHES, "thin_walled", "any_walls")
SUBSURFACE = ("subsurface_weight", *SWITCHES["subsurface"][2])
NEEDS = {"rough_diffuse": "opaque", "subsurface": "opaque", "dispersion": "translucent", "coat_anisotropy": "coat"}


def lobes_of(values: dict, wanted=(), closed: bool = False) -> frozenset:
    """The lobes that a material needs.

    values: parameter -> value; defaults fill the rest. A number switches a lobe off; a texture never does.
    wanted: names of parameters whose gradient is asked for; their lobes are kept. closed: whether what wears it has an
    inside.
    """

    def fixed(name, at):
        value = values.get(name, PARAMS[name].default)
        return name not in wanted and isinstance(value, (int, float, np.number)) and float(value) == at

    def used(name, off, own):
        return not fixed(name, off) or any(k in wanted for k in own)

    lobes = {k for k, switch in SWITCHES.items() if used(*switch)}
    if not fixed("geometry_normal_y", 0.0):
        lobes.add("normal")
    metal_only = fixed("base_metalness", 1.0)
    if not fixed("base_metalness", 0.0):
        lobes.add("metal")
    translucent = used("transmission_weight", 0.0, TRANSLUCENT) or "dispersion" in lobes
    opaque = not fixed("transmission_weight", 1.0) or any(
        k in wanted for k in ("base_diffuse_roughness", "subsurface_weight", *SWITCHES["subsurface"][2])
    )
    if not metal_only or "specular_ior" in wanted:
        lobes |= ({"translucent"} if translucent else set()) | ({"opaque"} if opaque else set())
    if "coat_anisotropy" in lobes and "coat_roughness_anisotropy" in wanted:
        lobes.add("coat")
    flag = values.get("geometry_thin_walled", 0.0)
    if not isinstance(flag, (int, float, np.number)):
        lobes.add("any_walls")
    elif flag > 0.5:
        lobes.add("thin_walled")
    if closed and not lobes & {"any_walls", "thin_walled"} and not metal_only:
        if scatters_inside(values) or ("subsurface" in lobes and "translucent" not in lobes and can_walk(values)):
            lobes = (lobes - {"translucent", "dispersion", "subsurface"}) | {"random_walk"}
            if fixed("subsurface_weight", 1.0) and not any(k in wanted for k in ("base_weight", "base_color")):
                lobes -= {"opaque"}
        elif "translucent" in lobes and not fixed("transmission_depth", 0.0):
            lobes.add("interior")
    return frozenset(k for k in lobes if NEEDS.get(k, k) in lobes)


def can_walk(values: dict) -> bool:
    """Whether subsurface scattering of a solid has a length, and the dielectric base no other inside."""

    def at(name, number):
        value = values.get(name, PARAMS[name].default)
        return isinstance(value, (int, float, np.number)) and float(value) == number

    return at("transmission_weight", 0.0) and not at("subsurface_radius", 0.0)


def scatters_inside(values: dict) -> bool:
    """Whether a solid of these values is rendered by a random walk below its surface, where it has an inside."""
    weight = values.get("subsurface_weight", PARAMS["subsurface_weight"].default)
    return can_walk(values) and not (isinstance(weight, (int, float, np.number)) and float(weight) == 0.0)


def union(a: frozenset, b: frozenset) -> frozenset:
    """The lobes of a version that can render both."""
    if (a & frozenset(MEDIA)) != (b & frozenset(MEDIA)):
        raise ValueError("media below a surface are the same for all of a version's materials")
    both = a | b
    if ("thin_walled" in a) != ("thin_walled" in b):
        both = both | {"any_walls"}
    return both - {"thin_walled"} if "any_walls" in both else both


def fixed_values(lobes: frozenset) -> dict[str, float]:
    """The parameters that are constants in a version, and their values."""
    out = {}
    for lobe, (name, off, own) in SWITCHES.items():
        if lobe not in lobes:
            out |= {name: off} | {k: PARAMS[k].default for k in own}
    if "metal" not in lobes:
        out["base_metalness"] = 0.0
    if "translucent" not in lobes:
        out |= {"transmission_weight": 0.0} | {k: PARAMS[k].default for k in TRANSLUCENT}
    elif "opaque" not in lobes:
        out["transmission_weight"] = 1.0
    if "random_walk" in lobes:
        out = {k: v for k, v in out.items() if k not in SUBSURFACE}
        if "opaque" not in lobes:
            out["subsurface_weight"] = 1.0
    if lobes & {"translucent", "random_walk"} and not lobes & {"opaque", "metal"}:
        out |= {k: PARAMS[k].default for k in ("base_weight", "base_color")}
    if not lobes & {"opaque", "translucent", "random_walk"}:
        out |= {"base_metalness": 1.0, "specular_ior": PARAMS["specular_ior"].default}
    if "any_walls" not in lobes:
        out["geometry_thin_walled"] = float("thin_walled" in lobes)
    return out


def name_of(lobes: frozenset) -> str:
    return f"openpbr[{','.join(k for k in LOBES if k in lobes)}]"


@cache
def make(lobes: frozenset) -> SimpleNamespace:
    """The version with these lobes: what a BSDF module has, and ``lobes``."""
    from irys_ti.kernels.bsdf import openpbr, openpbr_interior

    fixed = fixed_values(lobes)

    def bound(fn):
        return lambda p, wi, x: fn(_over_medium(_complete(p, fixed), wi, lobes), wi, x)

    delta = "opacity" in lobes
    sees_through = delta or lobes & {"translucent", "random_walk"} or ("subsurface" in lobes and lobes & {"thin_walled", "any_walls"})
    version = SimpleNamespace(
        __doc__=f"OpenPBR with {', '.join(sorted(lobes))}.",
        lobes=lobes,
        PARAMS={k: q for k, q in PARAMS.items() if k not in fixed},
        NORM={k: v for k, v in NORM.items() if k not in fixed},
        HAS_DELTA=delta,
        TRANSMISSIVE=bool(sees_through),
        RECIPROCAL=False,
        NEEDS_LAMBDAS=bool(lobes & {"dispersion", "thin_film"}),
        **{k: bound(getattr(openpbr, k)) for k in ("eval", "eval_one", "pdf", "sample")},
    )
    version.interior_index = lambda p: openpbr.interior_index(_complete(p, fixed))
    if lobes & frozenset(MEDIA):
        inner = openpbr_interior.subsurface if "random_walk" in lobes else openpbr_interior.transmission
        version.interior = lambda p: inner(_complete(p, fixed))
    if delta:
        version.eval_delta, version.pdf_delta = bound(openpbr.eval_delta), bound(openpbr.pdf_delta)
    return version


def _complete(p, fixed: dict) -> SimpleNamespace:
    """All parameters: those of p, and the constants, spectra where p's are."""
    one = not any(x.shape for x in vars(p).values())
    rest = {k: constant((v,) * 4) if PARAMS[k].shape and not one else constant(v) for k, v in fixed.items()}
    return SimpleNamespace(**vars(p), **rest)


def _over_medium(p: SimpleNamespace, wi, lobes: frozenset) -> SimpleNamespace:
    """The parameters of the surface alone, above a medium that does the rest.

    Subsurface scattering is the translucent base with that medium below, and seen from there nothing else: light that got in
    by subsurface_weight gets out by the interface. What the medium absorbs does not tint the surface.
    """
    if "random_walk" in lobes:
        one = not p.base_color.shape
        inside, white = wi.z < 0.0, constant(1.0) if one else constant((1.0,) * 4)
        changed = {"subsurface_weight": constant(0.0), "transmission_color": white}
        changed["transmission_weight"] = p.subsurface_weight
        if "opaque" in lobes:
            changed["transmission_weight"] = select(inside, 1.0, p.subsurface_weight)
        if "metal" in lobes:
            changed["base_metalness"] = select(inside, 0.0, p.base_metalness)
        return SimpleNamespace(**(vars(p) | changed))
    if "interior" in lobes:
        color = select(p.transmission_depth > 0.0, 1.0, p.transmission_color)
        return SimpleNamespace(**(vars(p) | {"transmission_color": color, "transmission_depth": constant(0.0)}))
    return p


def variants(materials: list, limit: int = 4) -> list:
    """(name, version) for each material, at most ``limit`` different ones, but for those that can not be merged.

    materials: (values, wanted) pairs, or with closed as a third, as ``lobes_of`` takes them. Where there would be more versions, the two
    whose union adds least are merged, and so on: each version in a kernel costs its compile time.
    """
    needed = [lobes_of(*how) for how in materials]
    kept = sorted(set(needed), key=name_of)
    merged = {k: k for k in kept}
    while len(kept) > max(1, limit):
        pairs = [(a, b) for i, a in enumerate(kept) for b in kept[i + 1 :] if a & frozenset(MEDIA) == b & frozenset(MEDIA)]
        if not pairs:
            break
        a, b = min(pairs, key=lambda ab: (len(union(*ab)) - max(len(ab[0]), len(ab[1])), len(union(*ab))))
        both = union(a, b)
        merged = {k: both if v in (a, b) else v for k, v in merged.items()}
        kept = sorted(set(merged.values()), key=name_of)
    return [(name_of(merged[k]), make(merged[k])) for k in needed]
