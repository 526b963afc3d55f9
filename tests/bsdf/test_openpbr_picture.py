"""OpenPBR in a picture: the gradient by every parameter against differences of whole renders, and f32 against f64."""

import numpy as np
import pytest

import irys_ti as it
from irys_ti import tiers
from irys_ti.kernels.bsdf.openpbr import OF_INTERIOR
from irys_ti.kernels.bsdf.openpbr_params import PARAMS
from irys_ti.scene import rgb
from tests.helpers.scenes import gold_ball

SIZE, SPP, SEEDS = 16, 64, 12
# Everything inside its range; a step for the differences, small beside what a lobe bends over.
MATERIAL = {
    "base_weight": 0.8, "base_color": rgb(0.6, 0.4, 0.3), "base_metalness": 0.3, "base_diffuse_roughness": 0.4,
    "specular_weight": 0.8, "specular_color": rgb(0.8, 0.9, 0.7), "specular_roughness": 0.6,
    "specular_roughness_anisotropy": 0.3, "specular_ior": 1.6, "transmission_weight": 0.4,
    "transmission_color": rgb(0.7, 0.8, 0.9), "transmission_dispersion_scale": 0.5, "subsurface_weight": 0.4,
    "subsurface_color": rgb(0.5, 0.6, 0.3), "coat_weight": 0.5, "coat_color": rgb(0.8, 0.7, 0.9), "coat_roughness": 0.5,
    "coat_roughness_anisotropy": 0.3, "coat_ior": 1.5, "coat_darkening": 0.6, "fuzz_weight": 0.3,
    "fuzz_color": rgb(0.6, 0.5, 0.8), "fuzz_roughness": 0.5, "thin_film_weight": 0.5, "thin_film_thickness": 0.4,
    "thin_film_ior": 1.4, "geometry_opacity": 0.8, "geometry_normal_x": 0.15, "geometry_normal_y": -0.1,
    "geometry_normal_z": 0.9,
    "geometry_tangent_x": 0.8, "geometry_tangent_y": 0.4,
}  # fmt: skip
STEPS = {"specular_ior": 0.05, "coat_ior": 0.05, "thin_film_ior": 0.05, "transmission_dispersion_abbe_number": 4.0}


def scene() -> it.Scene:
    out = gold_ball(SIZE)
    out.materials[1] = it.Material("metal", "openpbr", dict(MATERIAL))
    out.integrator.max_depth = 5
    return out


def weights() -> np.ndarray:
    y, x = np.mgrid[0:SIZE, 0:SIZE] / SIZE
    return np.stack([1 + x, 1.5 - y, 0.5 + x * y], -1)


@pytest.mark.slow
def test_every_parameter_in_a_picture(f32):
    """z-tests at Sidak's level: replay by all parameters at once, differences with common random numbers."""
    s, w = scene(), weights()
    params = it.parameters(s)
    paths = [p for p in params.differentiable() if p.startswith("metal.")]
    assert len(paths) == sum(q.differentiable for q in PARAMS.values()) - len(OF_INTERIOR)  # it has no medium inside
    found = [it.backward(s, w, SPP, 100 + k, paths) for k in range(SEEDS)]
    bad = []
    for path in paths:
        name, x = path.split(".")[1], params[path]
        h = STEPS.get(name, 0.02)
        sides = []
        for sign in (1, -1):
            params[path] = x + sign * h
            sides.append([float((it.render(s, SPP, 500 + k) * w).sum()) for k in range(SEEDS)])
        params[path] = x
        quotient = (np.array(sides[0]) - np.array(sides[1])) / (2 * h)
        got = np.array([g[path].sum() for g in found])
        error = np.hypot(quotient.std(ddof=1), got.std(ddof=1)) / np.sqrt(SEEDS)
        z = (got.mean() - quotient.mean()) / error
        print(f"{name:38} replay {got.mean():10.4f} differences {quotient.mean():10.4f} +- {error:.4f}  z {z:+.2f}")
        # A silent zero would pass a z-test that noise blunts: something must be seen, and some bits be non-zero.
        if abs(z) > 4.5 or (got == 0.0).all():
            bad.append((name, got.mean(), quotient.mean(), error))
    assert not bad, bad


@pytest.mark.slow
def test_both_tiers_agree(f32):
    """Every parameter's gradient in f32 against f64, over the paths that decide alike: 3.5e-4."""
    s = scene()
    paths = [p for p in it.parameters(s).differentiable() if p.startswith("metal.")]
    found = tiers.compare(s, paths, 256, d_image=weights())
    for path, d in found.parameters.items():
        print(f"{path:38} {d.difference:.1e} over paths alike; effect of the others {d.effect:.2g}, noise / size {d.noise / d.size:.2g}")
    print(f"{found.different} of {found.lanes} paths decide differently")
    assert found.ok
