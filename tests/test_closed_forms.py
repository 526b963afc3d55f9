"""Pictures with an answer that can be derived by hand, and their derivatives (acceptance: closed forms)."""

import numpy as np
import pytest

import irys_ti as it
from tests.helpers.scenes import FLAT, disk_light, half_plane, inside_sphere, two_faces
from tests.helpers.statistics import assert_z, sample, z_scores


def flat_mean(scene, spp):
    """Mean radiance of a scene whose spectra are all flat."""
    return lambda seed: float((it.render(scene, spp, seed).mean((0, 1)) * FLAT).mean())


@pytest.mark.parametrize("tier", ["f64", "f32"])
@pytest.mark.parametrize(
    ("scene", "spp", "scale", "expected"),
    [
        # L = Le + a L: every point of the sphere sees the same L.
        pytest.param(inside_sphere(0.5, 0.5), 64, 1.0, 1.0, id="inside a diffuse sphere"),
        # Le (1 + a + ... + a^5)
        pytest.param(inside_sphere(0.5, 0.5, 6), 64, 1.0, 0.984375, id="inside a diffuse sphere, six terms"),
        # E = pi L R^2 / (R^2 + h^2), and the floor shows E / pi.
        pytest.param(disk_light(1.0, 2.0), 128, np.pi, 0.628319, id="coaxial disk"),
        # The sky is seen where the plane does not hide it: E = (pi / 2)(1 + u / sqrt(u^2 + z^2)).
        pytest.param(half_plane(0.5, 1.0), 256, np.pi, 2.27328, id="half-plane shadow"),
        pytest.param(two_faces(False), 64, 1.0, 0.199825, id="opposite faces of a cube"),
        pytest.param(two_faces(True), 64, 1.0, 0.200044, id="adjacent faces of a cube"),
    ],
)
def test_radiance(tier, scene, spp, scale, expected, request):
    request.getfixturevalue(tier)
    assert_z(scale * sample(flat_mean(scene, spp)), expected, precise=2e-3)


def test_a_biased_render_fails(f64):
    x = 1.02 * sample(flat_mean(disk_light(1.0, 2.0), 128)) * np.pi
    assert abs(z_scores(x, 0.628319)) > 10


def test_colour_of_a_constant_spectrum(f64):
    sky = it.Light("sky", "constant", {"radiance": 1.0})
    image = it.render(it.Scene(lights=[sky]), spp=256).mean((0, 1))
    assert np.allclose(image, [1.205, 0.948, 0.909], atol=1e-3)


@pytest.mark.parametrize(
    ("depth", "by_albedo", "by_radiance"),
    [
        # d/da Le / (1 - a) = Le / (1 - a)^2 and 1 / (1 - a) at a = Le = 1/2
        (300, 2.0, 2.0),
        # Le (1 + 2 a + ... + 5 a^4), and 1 + a + ... + a^5
        (6, 1.78125, 1.96875),
    ],
)
@pytest.mark.parametrize("tier", ["f64", "f32"])
def test_derivatives_inside_a_diffuse_sphere(tier, depth, by_albedo, by_radiance, request):
    request.getfixturevalue(tier)
    scene = inside_sphere(0.5, 0.5, depth)
    weight = np.broadcast_to(FLAT / 3 / 64, (8, 8, 3))
    found = [it.backward(scene, weight, 64, seed) for seed in range(16)]
    assert_z(np.array([g["wall.reflectance"] for g in found]), by_albedo, precise=5e-3)
    assert_z(np.array([g["ball.radiance"] for g in found]), by_radiance, precise=2e-3)
    # The standard error that comes with each gradient tells the spread of independent seeds.
    spread = np.std([g["wall.reflectance"] for g in found], ddof=1)
    stated = np.sqrt(np.mean([g.stderr["wall.reflectance"] ** 2 for g in found]))
    assert 0.5 < stated / spread < 2.0


def test_a_black_wall_has_a_derivative(f64):
    """At albedo 0 the second term's derivative remains: d/da Le (1 + a + ...) = Le, through a factor of zero."""
    scene = inside_sphere(0.0, 0.5, 20)
    weight = np.broadcast_to(FLAT / 3 / 64, (8, 8, 3))
    x = [it.backward(scene, weight, 64, seed, ["wall.reflectance"])["wall.reflectance"] for seed in range(16)]
    assert_z(np.array(x), 0.5, precise=1e-2)


def test_a_dark_light_has_a_derivative(f64):
    scene = inside_sphere(0.5, 0.0, 300)
    weight = np.broadcast_to(FLAT / 3 / 64, (8, 8, 3))
    x = [it.backward(scene, weight, 64, seed, ["ball.radiance"])["ball.radiance"] for seed in range(16)]
    assert_z(np.array(x), 2.0, precise=2e-3)
