"""OpenPBR: the specification's white furnaces, and no light out of nothing."""

import numpy as np
import pytest

from irys_ti.kernels.bsdf.openpbr_params import NORM, PARAMS
from tests.bsdf.cases import direction, model
from tests.bsdf.openpbr_cases import MATERIALS, albedo, complete, version

ANGLES = {"normal": 1.0, "45 degrees": np.cos(np.pi / 4), "80 degrees": np.cos(np.deg2rad(80))}

# "White furnace testing" of OpenPBR 1.1: bases that lose nothing, and what may be on top of each.
BASES = {
    "metal": {"base_metalness": 1.0, "base_color": 1.0},
    "diffuse": {"base_color": 1.0},
    "rough diffuse": {"base_color": 1.0, "base_diffuse_roughness": 1.0},
    "subsurface": {"subsurface_weight": 1.0, "subsurface_color": 1.0},
    "translucent": {"transmission_weight": 1.0},
    "dispersive": {"transmission_weight": 1.0, "transmission_dispersion_scale": 1.0, "specular_ior": 1.8},
    "sheet": {"transmission_weight": 1.0, "geometry_thin_walled": 1.0},
    "paper": {
        "subsurface_weight": 0.7, "subsurface_color": 1.0, "base_color": 1.0, "geometry_thin_walled": 1.0,
        "base_diffuse_roughness": 0.7, "subsurface_scatter_anisotropy": 0.4,
    },
    "mix": {
        "base_metalness": 0.3, "base_color": 1.0, "transmission_weight": 0.4, "subsurface_weight": 0.5,
        "subsurface_color": 1.0, "base_diffuse_roughness": 0.5,
    },
}  # fmt: skip
ON_TOP = {
    "nothing": {},
    "anisotropy": {"specular_roughness_anisotropy": 0.9},
    "coat": {"coat_weight": 1.0, "coat_roughness": 0.3},
    "half a coat": {
        "coat_weight": 0.5, "coat_roughness": 0.9, "coat_roughness_anisotropy": 0.7, "coat_ior": 1.3,
        "coat_darkening": 0.5,
    },
    "fuzz": {"fuzz_weight": 0.8},
    "film": {"thin_film_weight": 1.0, "thin_film_ior": 2.2, "thin_film_thickness": 0.8},
    "opacity": {"geometry_opacity": 0.4},
    "all": {
        "coat_weight": 0.7, "coat_roughness": 0.5, "fuzz_weight": 0.4, "thin_film_weight": 0.6,
        "specular_roughness_anisotropy": 0.5, "geometry_opacity": 0.9,
    },
}  # fmt: skip


def check(values, n, worst_error):
    """The furnace is 1 by z-test at normal incidence, 45 and 80 degrees, from inside too where there is one."""
    m, p = version(values)
    rng = np.random.default_rng(0)
    for name, z in ANGLES.items():
        for wi in [direction(z)] + ([direction(-z)] if m.transmissive else []):
            mean, error = albedo(m, p, wi, n, rng)
            assert (np.abs(mean - 1.0) < 4.5 * error + 1e-4).all(), (name, wi[2], mean, error)
            assert (error < worst_error).all(), (name, wi[2], error)


@pytest.mark.parametrize("top", ON_TOP)
@pytest.mark.parametrize("base", BASES)
def test_lossless(base, top):
    """Every base under every layer, smooth and rough."""
    for roughness in (0.05, 0.5, 1.0):
        check(BASES[base] | ON_TOP[top] | {"specular_roughness": roughness}, 27_000, 0.03)


@pytest.mark.parametrize("base", BASES)
def test_lossless_at_roughness_zero(base):
    """Lobes of the least alpha: their densities are too narrow for chi-squared, not for this."""
    check(BASES[base] | {"specular_roughness": 0.0, "coat_weight": 0.5}, 27_000, 0.02)


@pytest.mark.parametrize("base", ["metal", "rough diffuse", "translucent", "mix"])
@pytest.mark.parametrize("top", ["nothing", "all"])
def test_lossless_within_half_a_percent(base, top):
    """The same, by enough samples to tell 0.5 %."""
    check(BASES[base] | ON_TOP[top] | {"specular_roughness": 0.5}, 200_000, 0.005)


def test_furnace_sees_a_loss():
    """The control: a base_color of 0.98 is found out."""
    m, p = version({"base_color": 0.98})
    mean, error = albedo(m, p, direction(1.0), 64_000, np.random.default_rng(0))
    assert (mean < 0.99).all() and (error < 2e-3).all()


@pytest.mark.parametrize("walls", [0.0, 1.0])
def test_no_setting_makes_light(walls):
    """60 random settings, colours white or random: never more than 1."""
    m, rng = model("openpbr"), np.random.default_rng(5)
    for i in range(60):
        values = {"geometry_thin_walled": walls}
        for k, q in PARAMS.items():
            low, high = NORM.get(k, (q.low, q.high))
            if q.kind == "flag" or rng.random() < 0.3:
                continue
            t = rng.choice([0.0, 1.0, rng.random()], size=q.shape) if i % 2 else rng.random(q.shape)
            values[k] = low + t * (high - low)
            if q.shape and i % 3 == 0:
                values[k] = np.ones(4)
        values = {k: v if np.ndim(v) else float(v) for k, v in values.items()}
        p = complete(m, values)
        wi = direction(rng.choice([1.0, 0.7, 0.3, 0.1, 0.03]) * rng.choice([1, -1]), 6.0 * rng.random())
        mean, error = albedo(m, p, wi, 4096, rng)
        assert (mean < 1.0 + 5 * error + 1e-3).all(), (values, wi, mean, error)


@pytest.mark.parametrize("name", MATERIALS)
def test_materials_lose_light_only(name):
    rng = np.random.default_rng(3)
    m, p = version(MATERIALS[name])
    for z in (1.0, 0.5, 0.1, 0.02, -0.8, -0.1):
        mean, error = albedo(m, p, direction(z), 8000, rng)
        assert (mean >= 0.0).all() and (mean < 1.0 + 5 * error + 1e-3).all(), (z, mean, error)
