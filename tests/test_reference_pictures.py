"""Pictures and derivative images of another renderer (Mitsuba 3.9.1), on the scene files it read.

Mitsuba divides by 106.750259 where the integral of the CIE's ybar is 106.856895 nm, so its pictures are 1.001
times ours; a sky of radiance 1 shows it there as (1.2061, .9492, .9100) for our (1.2051, .9482, .9090).
"""

import numpy as np
import pytest
from scipy.ndimage import gaussian_filter

import irys_ti as it
from tests.helpers.statistics import mean_and_error, sample, share_of_pixels

MITSUBA = 106.856895 / 106.750259
SCENES = ["cornell", "gold_ball", "occluder", "glass", "fog"]


def open_scene(data, name):
    """A scene and what the other renderer made of it."""
    return it.load(data / "reference" / f"{name}.xml"), np.load(data / "reference" / f"{name}.npz")


@pytest.mark.parametrize("tier", ["f32", pytest.param("f64", marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", SCENES)
def test_pictures(name, tier, data, request):
    request.getfixturevalue(tier)
    scene, reference = open_scene(data, name)
    images = MITSUBA * sample(lambda seed: it.render(scene, 32, seed))
    means, error = mean_and_error(images.mean((1, 2)))
    expected = reference["image"].mean((0, 1))
    assert (error < 2e-3 * expected).all(), "too noisy to tell half a percent"
    assert np.abs(means / expected - 1).max() < 0.005
    assert share_of_pixels(images, reference["image"], reference["stderr"]) >= 0.9975
    # Controls: 2 % too bright fails the means, shifted by one pixel fails the pixels.
    assert np.abs(1.02 * means / expected - 1).min() > 0.005
    assert share_of_pixels(np.roll(images, 1, 2), reference["image"], reference["stderr"]) < 0.9975


def weights():
    """Ones, the three channels alone, and smooth noise."""
    ones = np.ones((64, 64, 3))
    noise = 10 * gaussian_filter(np.random.default_rng(0).standard_normal((64, 64, 3)), (6, 6, 0))
    return [ones, *(ones * np.eye(3)[c] for c in range(3)), noise]


@pytest.mark.parametrize(
    ("name", "derivative", "path", "along", "spp"),
    [
        ("cornell", "red_scale", "red.reflectance", "value", 16),
        pytest.param("gold_ball", "alpha", "metal.alpha", "one", 64, marks=pytest.mark.slow),
        ("fog", "sigma_scale", "sphere_0_interior.sigma_t", [1.2, 0.8], 16),
        ("fog", "albedo", "sphere_0_interior.albedo", [1.0, 0.9], 16),
    ],
)
def test_derivatives(name, derivative, path, along, spp, data, f32):
    scene, reference = open_scene(data, name)
    d_image = reference[f"d__{derivative}"] / MITSUBA
    direction = it.parameters(scene)[path] if along == "value" else 1.0 if along == "one" else np.array(along)
    for weight in weights():
        x = sample(lambda seed: (it.backward(scene, weight, spp, seed, [path])[path] * direction).sum())  # noqa: B023
        mean, error = mean_and_error(x)
        scale = np.abs(weight * d_image).sum()
        assert error < 0.01 * scale, "too noisy to tell"
        assert abs(mean - (weight * d_image).sum()) < 0.02 * scale


@pytest.mark.slow
def test_frosted_glass_by_its_index(data, f32):
    """The rough ball's half of the picture; the smooth ball's index, which moves in the reference too, makes up 1 % of it."""
    scene, reference = open_scene(data, "glass")
    d_image, half = reference["d__ior"] / MITSUBA, np.zeros((64, 64, 1))
    half[:, 32:] = 1
    for weight in (weights()[0] * half, weights()[4] * half):
        x = sample(lambda seed: it.backward(scene, weight, 512, seed, ["frost.int_ior"])["frost.int_ior"])  # noqa: B023
        mean, error = mean_and_error(x)
        scale = np.abs(weight * d_image).sum()
        assert error < 0.02 * scale, "too noisy to tell"
        assert abs(mean - (weight * d_image).sum()) < 0.06 * scale  # without the step at the horizon 0.09
