"""<bsdf> elements: one function for each plugin, from its properties to a Material's values."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ...scene import Material, Spectrum, constant
from ...spectral import glass, metals
from ..openpbr import FrameMap, frame_values
from ..suggest import nearest
from . import openpbr
from .props import Props
from .textures import bitmap, reflectance, scalar, value
from .xml import Node

OPAQUE = ("diffuse", "conductor", "roughconductor", *openpbr.MAPPED)


def material(node: Node, context, id: str) -> Material:
    """The Material of a <bsdf>, under the given id."""
    props = Props(node, context)
    if node.type == "twosided":
        inner = props.one("bsdf")
        if inner is None:
            raise node.error("holds no <bsdf>", "put one inside")
        props.finish()
        if _innermost(inner).type not in OPAQUE:
            raise inner.error("lets light through, so it cannot be two-sided", "use it without the twosided element")
        result = material(inner, context, id)
        if result.values.get("transmission_weight", 0.0) != 0.0:
            raise inner.error("lets light through, so it cannot be two-sided", "use it without the twosided element")
        result.two_sided = result.kind != "openpbr"  # which has no dark side
        return result
    if node.type in ("normalmap", "bumpmap"):
        return _mapped(props, context, id)
    plugin = BSDFS.get(node.type)
    if plugin is None:
        raise node.error(f"unknown bsdf {node.type!r}", nearest(node.type, [*BSDFS, "twosided", "normalmap"]))
    values = plugin(props)
    props.finish()
    kind = "openpbr" if node.type in openpbr.MAPPED else node.type
    return Material(id, kind, {k: v for k, v in values.items() if v is not None})


def _innermost(node: Node) -> Node:
    """The bsdf inside a normal or bump map."""
    while node.type in ("normalmap", "bumpmap"):
        inside = [c for c in node.children if c.tag == "bsdf"]
        if not inside:
            break
        node = inside[0]
    return node


def _mapped(props: Props, context, id: str) -> Material:
    """normalmap: the components of a normal, where the bsdf inside is OpenPBR here or plain diffuse."""
    node, inner = props.node, props.one("bsdf")
    if inner is None:
        raise node.error("holds no <bsdf>", "put one inside")
    result = material(inner, context, id)
    if result.kind == "diffuse":  # the same surface, as OpenPBR
        reflectance_ = result.values.get("reflectance", constant(0.5))
        result = Material(id, "openpbr", {"base_color": reflectance_, "specular_weight": 0.0})
    name = "normalmap" if node.type == "normalmap" else next(iter(props.named.keys() - {"scale"}), "")
    texture = props.take(name, "texture") or props.one("texture")
    if texture is None:
        raise node.error("holds no <texture>", f'put the map inside, as <texture name="{node.type}" ...>')
    props.float("scale", 1.0)
    props.finish()
    if node.type == "bumpmap":
        context.scene.notes.append(f"{node.where}: bumpmap is dropped; bake it to a normal map")
    elif result.kind != "openpbr":
        context.scene.notes.append(f"{node.where}: normalmap is dropped; {result.kind} has none, principled does")
    else:
        image = bitmap(texture, context)
        if not image.raw:
            context.scene.notes.append(f"{node.where}: the normal map's texture lacks raw=true and is read as a colour")
        if image.pixels.shape[2] != 3:
            raise texture.error("a normal map has three channels", "give an RGB image")
        result.values |= frame_values("geometry_normal", FrameMap(image.texture))
    return result


def _diffuse(props: Props) -> dict:
    return {"reflectance": reflectance(props, "reflectance", constant(0.5))}


def _null(props: Props) -> dict:
    return {}


def _conductor(props: Props) -> dict:
    return {**_index(props), "specular_reflectance": reflectance(props, "specular_reflectance", None)}


def _roughconductor(props: Props) -> dict:
    return {**_conductor(props), **_roughness(props)}


def _dielectric(props: Props) -> dict:
    return {
        "int_ior": _ior(props, "int_ior", "bk7"),
        "ext_ior": _ior(props, "ext_ior", "air"),
        "specular_reflectance": reflectance(props, "specular_reflectance", None),
        "specular_transmittance": reflectance(props, "specular_transmittance", None),
    }


def _roughdielectric(props: Props) -> dict:
    return {**_dielectric(props), **_roughness(props)}


def _hair(props: Props) -> dict:
    """Pigments (Mitsuba's defaults) or sigma_a; lengths in fibre radii, as Mitsuba's own code has them."""
    out = {}
    if props.has("sigma_a"):
        if props.has("eumelanin") or props.has("pheomelanin"):
            raise props.node.error("has both sigma_a and pigments", "keep one")
        out["sigma_a"] = value(props, "sigma_a")
        scale = props.float("scale", 1.0, low=0.0)
        if scale != 1.0:
            out["sigma_a"] = replace(out["sigma_a"], values=out["sigma_a"].values * scale)
    else:
        out["eumelanin"] = props.float("eumelanin", 1.3, low=0.0)
        out["pheomelanin"] = props.float("pheomelanin", 0.2, low=0.0)
    for name, theirs in (("beta_m", "longitudinal_roughness"), ("beta_n", "azimuthal_roughness")):
        out[name] = max(props.float(theirs, 0.3, 0.0, 1.0), 0.02)  # the least that the model takes
    out["tilt"] = props.float("scale_tilt", 2.0, -20.0, 20.0)
    out["ior"] = _ior(props, "int_ior", "keratin") / _ior(props, "ext_ior", "air")
    return out


BSDFS = {
    "diffuse": _diffuse,
    "hair": _hair,
    "conductor": _conductor,
    "roughconductor": _roughconductor,
    "dielectric": _dielectric,
    "roughdielectric": _roughdielectric,
    "null": _null,
    **openpbr.MAPPED,
}


def _roughness(props: Props) -> dict:
    """GGX alone, of one roughness; Mitsuba's masking term is the separable one."""
    distribution = props.string("distribution", "beckmann")
    if distribution != "ggx":
        shown = f"distribution {distribution!r}" + ("" if distribution != "beckmann" else " (Mitsuba's default)")
        raise props.node.error(f"{shown} is not supported", 'write <string name="distribution" value="ggx"/>')
    props.boolean("sample_visible", True)  # how Mitsuba samples; the picture is the same
    if props.has("alpha_u") or props.has("alpha_v"):
        if props.has("alpha"):
            raise props.node.error("has both alpha and alpha_u, alpha_v", "keep alpha")
        u, v = (scalar(props, name, low=0.0, high=1.0) for name in ("alpha_u", "alpha_v"))
        if not np.isscalar(u) or not np.isscalar(v) or u != v:
            raise props.node.error("alpha_u and alpha_v differ", "anisotropic roughness is not supported: use alpha")
        return {"alpha": u, "separable": 1.0}
    return {"alpha": scalar(props, "alpha", 0.1, 0.0, 1.0), "separable": 1.0}


def _index(props: Props) -> dict:
    """eta and k of a conductor: by name or as spectra."""
    if props.has("material") and (props.has("eta") or props.has("k")):
        raise props.node.error("has both material and eta, k", "keep one")
    if props.has("eta") or props.has("k"):
        return {name: _index_spectrum(props, name) for name in ("eta", "k")}
    name = props.string("material", metals.MIRROR)
    try:
        eta, k = metals.metal(name)
    except KeyError:
        raise props.node.error(f"unknown material {name!r}", nearest(name, metals.names())) from None
    return {"eta": eta, "k": k}


def _index_spectrum(props: Props, name: str) -> Spectrum:
    node = props.named.get(name)
    result = value(props, name)
    if not isinstance(result, Spectrum) or result.kind == "rgb":
        raise node.error("an index of refraction is not a colour", 'use <spectrum> or <string name="material">')
    return result


def _ior(props: Props, name: str, default: str) -> float:
    """An index of refraction: a number or a name."""
    if not props.has(name):
        props.known.append(name)
        return glass.INDICES[default]
    if props.named[name].tag == "string":
        return glass.INDICES[props.string(name, choices=glass.INDICES)]
    return props.float(name, low=0.0, strict=True)
