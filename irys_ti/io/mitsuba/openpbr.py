"""Mitsuba's plastic, roughplastic and principled as OpenPBR. docs/materials.md has the table and its reasons."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ...scene import Spectrum, Texture, constant
from ...spectral import glass
from .props import Props
from .textures import reflectance, scalar

SHEEN = 1 / 3  # fuzz_weight of sheen 1: about the same light at the edge


def plastic(props: Props) -> dict:
    """A smooth dielectric over a diffuse base."""
    eta = _ior(props, "int_ior", "polypropylene") / _ior(props, "ext_ior", "air")
    color = reflectance(props, "diffuse_reflectance", constant(0.5))
    if props.boolean("nonlinear", False):
        inside = _internal_reflectance(eta)
        color = _applied(color, lambda x: x * (1 - inside) / (1 - x * inside))
    return {
        "base_color": color, "specular_ior": eta, "specular_roughness": 0.0,
        "specular_color": reflectance(props, "specular_reflectance", None),
    }  # fmt: skip


def roughplastic(props: Props) -> dict:
    """The same with a rough surface; Beckmann's and Phong's facets become GGX of the same alpha."""
    distribution = props.string("distribution", "beckmann", ("beckmann", "ggx"))
    if distribution != "ggx":
        _note(props, f"distribution: {distribution} is rendered as ggx")
    props.boolean("sample_visible", True)
    return {**plastic(props), "specular_roughness": _applied(scalar(props, "alpha", 0.1, 0.0, 1.0), np.sqrt)}


def principled(props: Props) -> dict:
    """Disney's material."""
    out = {"base_color": reflectance(props, "base_color", constant(0.5))}
    unit = {"low": 0.0, "high": 1.0}
    out["base_metalness"] = scalar(props, "metallic", 0.0, **unit)
    out |= _roughness(props, scalar(props, "roughness", 0.5, **unit), scalar(props, "anisotropic", 0.0, **unit))
    if props.has("eta"):
        if props.has("specular"):
            raise props.node.error("has both eta and specular", "keep one")
        out["specular_ior"] = props.float("eta", low=1.0)
    else:
        root = np.sqrt(0.08 * props.float("specular", 0.5, 0.0, 1.0))
        out["specular_ior"] = float(2 / (1 - root) - 1)
    tint = _tint(out["base_color"])
    out |= _specular_tint(props, tint) | _sheen(props, tint)
    coat = scalar(props, "clearcoat", 0.0, **unit)
    gloss = scalar(props, "clearcoat_gloss", 0.0, **unit)
    if isinstance(coat, Texture) or coat:
        # A quarter of a coat of index 1.5, by its own definition; it does not darken what is below.
        rough = _applied(gloss, lambda g: np.sqrt(0.1 + (0.001 - 0.1) * g))
        out |= {"coat_weight": _applied(coat, lambda x: 0.25 * x), "coat_roughness": rough, "coat_ior": 1.5, "coat_darkening": 0.0}
    through = scalar(props, "spec_trans", 0.0, **unit)
    if isinstance(through, Texture) or through:
        out |= {"transmission_weight": through, "transmission_color": _applied(out["base_color"], np.sqrt)}
    flat = scalar(props, "flatness", 0.0, **unit)
    if isinstance(flat, Texture) or flat:
        _note(props, "flatness: dropped; the base scatters as EON diffuse")
    for name in ("diffuse_reflectance_sampling_rate", "specular_sampling_rate", "clearcoat_sampling_rate", "main_specular_sampling_rate"):
        props.float(name, 1.0)
    return out


MAPPED = {"plastic": plastic, "roughplastic": roughplastic, "principled": principled}


def _roughness(props: Props, rough, anisotropic) -> dict:
    """alpha_x = r^2 / aspect, alpha_y = r^2 aspect, aspect^2 = 1 - 0.9 anisotropic, in OpenPBR's terms."""
    if isinstance(anisotropic, Texture):
        _note(props, "anisotropic: dropped; only a number is read")
        anisotropic = 0.0
    b = 1 - 0.9 * anisotropic  # alpha_y / alpha_x
    wider = ((1 / b + b) / 2) ** 0.25
    return {
        "specular_roughness": _applied(rough, lambda r: np.minimum(r * wider, 1.0)),
        "specular_roughness_anisotropy": float(0.9 * anisotropic),
    }


def _tint(color) -> np.ndarray | None:
    """The base colour's hue, brightest channel 1; None where it is no plain colour."""
    if not isinstance(color, Spectrum) or color.kind == "points":
        return None
    values = np.broadcast_to(color.values, 3)
    return values / values.max() if values.max() > 0 else np.ones(3)


def _specular_tint(props: Props, tint) -> dict:
    amount = props.float("spec_tint", 0.0, 0.0, 1.0)
    if not amount:
        return {}
    if tint is None:
        _note(props, "spec_tint: dropped; only a plain rgb base_color tints")
        return {}
    _note(props, "spec_tint: tints the edge too, where principled's reflection turns white")
    return {"specular_color": Spectrum("rgb", 1 + amount * (tint - 1))}


def _sheen(props: Props, tint) -> dict:
    weight, amount = scalar(props, "sheen", 0.0, low=0.0, high=1.0), props.float("sheen_tint", 0.0, 0.0, 1.0)
    if not isinstance(weight, Texture) and not weight:
        return {}
    out = {"fuzz_weight": _applied(weight, lambda x: SHEEN * x)}
    _note(props, "sheen: becomes fuzz of a third of its weight, a lobe of another shape")
    if amount and tint is None:
        _note(props, "sheen_tint: dropped; only a plain rgb base_color tints")
    elif amount:
        out["fuzz_color"] = Spectrum("rgb", 1 + amount * (tint - 1))
    return out


def _applied(value, f):
    """f of a number, of a spectrum's values or of texels."""
    if isinstance(value, Spectrum):
        return replace(value, values=f(value.values))
    if isinstance(value, Texture):
        return replace(value, pixels=f(value.pixels))
    return float(f(value))


def _ior(props: Props, name: str, default: str) -> float:
    if not props.has(name):
        props.known.append(name)
        return glass.INDICES[default]
    if props.named[name].tag == "string":
        return glass.INDICES[props.string(name, choices=glass.INDICES)]
    return props.float(name, low=0.0, strict=True)


def _internal_reflectance(eta: float) -> float:
    """Mean Fresnel reflectance of diffuse light from inside, by quadrature."""
    mu = (np.arange(20000) + 0.5) / 20000  # cosine inside
    sin2 = (1 - mu * mu) * eta * eta
    cos_t = np.sqrt(np.maximum(1 - sin2, 0))
    s, p = (eta * mu - cos_t) / (eta * mu + cos_t), (mu - eta * cos_t) / (mu + eta * cos_t)
    return float(np.mean(2 * mu * np.where(sin2 < 1, (s * s + p * p) / 2, 1.0)))


def _note(props: Props, text: str) -> None:
    props.context.scene.notes.append(f"{props.node.where}: {text}")
