"""OpenPBR settings for tests: named materials, the published presets, and integrals over directions."""

from __future__ import annotations

from pathlib import Path

import defusedxml.ElementTree as ElementTree
import numpy as np

from irys_ti.kernels import bsdf
from irys_ti.kernels.bsdf.openpbr_params import PARAMS
from tests.bsdf.cases import Model, full, model

# What an RGB colour is at the four wavelengths of the tests: blue, green, between, red.
BANDS = np.array([[0, 0, 1], [0, 1, 0], [0.5, 0.5, 0], [1, 0, 0]], float)

MATERIALS = {
    "default": {},
    "rough plastic": {"specular_roughness": 0.7, "base_diffuse_roughness": 0.8},
    "brushed metal": {
        "base_metalness": 1.0, "base_color": 0.7, "specular_color": 0.8,
        "specular_roughness": 0.4, "specular_roughness_anisotropy": 0.8,
    },
    "glass": {"transmission_weight": 1.0, "specular_roughness": 0.0},
    "frosted glass": {"transmission_weight": 1.0, "specular_roughness": 0.5, "transmission_color": 0.8},
    "prism": {
        "transmission_weight": 1.0, "specular_roughness": 0.2, "specular_ior": 1.7,
        "transmission_dispersion_scale": 1.0,
    },
    "car paint": {"base_color": 0.3, "coat_weight": 1.0, "coat_roughness": 0.1},
    "rough coat on metal": {
        "base_metalness": 0.7, "coat_weight": 0.6, "coat_roughness": 0.6, "coat_color": 0.7,
        "coat_roughness_anisotropy": 0.5, "coat_darkening": 0.4,
    },
    "velvet": {"base_color": 0.1, "fuzz_weight": 0.9, "fuzz_roughness": 0.3, "base_diffuse_roughness": 1.0},
    "soap film": {
        "transmission_weight": 1.0, "specular_ior": 1.0, "specular_roughness": 0.1, "thin_film_weight": 1.0,
        "geometry_thin_walled": 1.0,
    },
    "film on metal": {"base_metalness": 1.0, "thin_film_weight": 0.8, "thin_film_ior": 1.8},
    "paper": {
        "subsurface_weight": 0.8, "subsurface_scatter_anisotropy": 0.3, "geometry_thin_walled": 1.0,
        "base_diffuse_roughness": 0.5, "geometry_opacity": 0.7,
    },
    "embossed metal": {
        "base_metalness": 1.0, "specular_roughness": 0.4, "specular_roughness_anisotropy": 0.7,
        "geometry_normal_x": 0.35, "geometry_normal_y": -0.2, "geometry_normal_z": 0.9, "geometry_tangent_x": 0.6,
        "geometry_tangent_y": 0.5,
    },
    "pebbled glass": {
        "transmission_weight": 1.0, "specular_roughness": 0.3, "geometry_normal_x": -0.3, "geometry_normal_y": 0.3,
    },
    "skin": {"subsurface_weight": 1.0, "specular_roughness": 0.4, "specular_weight": 0.8},
}  # fmt: skip


def spectrum(rgb) -> np.ndarray:
    return BANDS @ np.asarray(rgb, float)


def preset(path: Path) -> dict:
    """The values of an .mtlx file's first open_pbr_surface; colours at the tests' wavelengths."""
    node = ElementTree.parse(path).getroot().find("open_pbr_surface")
    out = {}
    for item in node.findall("input"):
        name, text = item.get("name"), item.get("value")
        if name in PARAMS:
            kind = item.get("type")
            out[name] = (
                float(text == "true") if kind == "boolean"
                else spectrum([float(x) for x in text.split(",")]) if kind == "color3"
                else float(text)
            )  # fmt: skip
    return out


def version(values: dict) -> tuple[Model, dict]:
    """(the smallest version that renders these values, all of its parameters)."""
    plain = {k: float(v) if np.ndim(v) == 0 else v for k, v in values.items()}
    ((name, _),) = bsdf.versions("openpbr", [(plain, ())])
    m = model(name)
    return m, complete(m, values)


def complete(m: Model, values: dict) -> dict:
    """All parameters of a model: values, then defaults."""
    out = {}
    for k, q in m.params.items():
        v = values.get(k, q.default)
        out[k] = full(q, v) if np.ndim(v) == 0 else np.asarray(v, float)
    return out


def strata(n: int, rng) -> np.ndarray:
    """About n uniforms (n, 3), stratified in all three dimensions."""
    k = int(round(n ** (1 / 3)))
    cells = np.stack(np.meshgrid(*[np.arange(k)] * 3, indexing="ij"), -1).reshape(-1, 3)
    return (cells + rng.random(cells.shape)) / k


def albedo(m: Model, p: dict, wi: np.ndarray, n: int, rng) -> tuple[np.ndarray, np.ndarray]:
    """(mean, standard error) per wavelength of all light that leaves, refraction's radiance factor undone.

    By samples: smooth and delta lobes together, the error's estimate ignoring that strata help.
    """
    wo, delta = m.draw(p, wi, strata(n, rng))
    value, density = m.run([m.eval, m.pdf], p, wi, wo)
    weight = np.where((density > 0)[:, None], value / np.where(density > 0, density, 1.0)[:, None], 0.0)
    for band in range(4):
        weight[:, band] *= (m.index(p, wo[:, 2], band) / m.index(p, wi[2], band)) ** 2
    if delta.any():
        value, chance = m.run([m.eval_delta, m.pdf_delta], p, wi, wo[delta])
        weight[delta] = value / chance[:, None]
    return weight.mean(0), weight.std(0) / np.sqrt(len(wo))

