"""Environment maps and spots: every texel's derivative, rotation, and a cone's closed forms."""

import numpy as np
import pytest

import irys_ti as it
from irys_ti.scene import Camera, Film, Light, Texture, constant, transform
from tests.helpers.scenes import FLAT
from tests.helpers.statistics import assert_z, sample
from tests.lights.scenes import floor


def noisy(h=6, w=8, channels=3):
    """A map with bright, dim and black texels."""
    rng = np.random.default_rng(3)
    pixels = rng.random((h, w, channels)) ** 3
    pixels[1, 2] = 5.0
    pixels[0, 0] = 0.0
    return pixels


def test_every_texel_has_its_derivative(f64):
    """The picture is linear in a map of one channel: gradient times texels is the picture, texel by texel the difference;
    a black one too. Under a rotation and a scale."""
    texture = Texture(noisy(channels=1))
    light = Light("sky", "envmap", {"radiance": texture, "scale": 0.7, "rotation": 40.0}, transform.rotate([1, 0, 0], 15))
    scene = floor(light)
    weight = np.random.default_rng(0).random((8, 8, 3)) / 192
    found = sample(lambda seed: it.backward(scene, weight, 256, seed, ["sky.radiance"])["sky.radiance"], range(12))
    assert found.shape[1:] == (6, 8, 1)
    p = it.parameters(scene)
    texels = p["sky.radiance"]
    picture = sample(lambda seed: (weight * it.render(scene, 256, seed)).sum(), range(12))
    assert_z((found * texels).sum((1, 2, 3)), picture.mean(), picture.std(ddof=1) / np.sqrt(12), precise=5e-3)
    for at in ((0, 0, 0), (1, 2, 0), (2, 6, 0)):
        ends = []
        for value in (texels[at] + 2.0, texels[at]):
            pixels = texels.copy()
            pixels[at] = value
            p["sky.radiance"] = pixels
            ends.append(sample(lambda seed: (weight * it.render(scene, 256, seed)).sum(), range(12)))
        p["sky.radiance"] = texels
        fd = (ends[0] - ends[1]) / 2.0
        assert_z(found[(slice(None), *at)], fd.mean(), fd.std(ddof=1) / np.sqrt(12))
        assert fd.mean() > 4 * fd.std(ddof=1) / np.sqrt(12), "the difference must be seen"
    below = found[:, -1]  # under the floor's horizon
    assert np.all(below == 0)


def background(pixels, rotation=0.0):
    """A map alone, as the camera sees it."""
    scene = floor(Light("sky", "envmap", {"radiance": Texture(pixels), "rotation": rotation}))
    scene.camera = Camera(transform.look_at([0, 1, 0], [0.3, 2.2, -1], [0, 1, 0]), 70, film=Film(16, 16))
    return scene


def test_rotation_turns_the_map_about_its_up_axis(f64):
    """A quarter turn from -z towards +x is two of eight columns."""
    plain, turned = background(np.roll(noisy(), 2, axis=1)), background(noisy(), 90.0)
    np.testing.assert_allclose(it.render(plain, 16), it.render(turned, 16), rtol=1e-6, atol=1e-9)
    still = it.render(background(noisy()), 16)
    assert np.abs(still - it.render(turned, 16)).max() > 0.1
    it.parameters(turned)["sky.rotation"] = 0.0
    np.testing.assert_array_equal(still, it.render(turned, 16))
    with pytest.raises(it.MissingGradientError, match="slides"):
        it.backward(turned, np.ones((16, 16, 3)), 1, params=["sky.rotation"])


def test_spot(f64):
    """Full inside its beam, linear in angle to its cutoff, over the distance squared; derivatives by all three numbers."""
    down = transform.translate(0, 2, 0) @ transform.rotate([1, 0, 0], 90)
    values = {"intensity": constant(3.0), "cutoff_angle": 30.0, "beam_width": 10.0}
    axis = it.render(floor(Light("spot", "spot", dict(values), down), fov=0.01), 256, 3)
    np.testing.assert_allclose(np.pi * axis.mean((0, 1)) * FLAT, 3.0 / 4, rtol=1e-2)
    for x in (0.2, 0.7, 1.3):  # the same seed, so the same wavelengths
        angle = np.rad2deg(np.arctan2(x, 2))
        share = np.clip((30 - angle) / 20, 0, 1) * np.cos(np.deg2rad(angle)) * 4 / (4 + x * x)
        scene = floor(Light("spot", "spot", dict(values), down), at=(x, 0.0), fov=0.01)
        np.testing.assert_allclose(it.render(scene, 256, 3), share * axis, rtol=2e-3, atol=1e-9)
    scene = floor(Light("spot", "spot", dict(values), down), at=(0.7, 0.0), fov=2.0)
    p, weight = it.parameters(scene), np.random.default_rng(0).random((8, 8, 3))
    g = it.backward(scene, weight, 4, 3, list(p)[1:])
    for name, h in (("intensity", 0.1), ("cutoff_angle", 0.01), ("beam_width", 0.01)):
        path, ends = f"spot.{name}", []
        start = float(p[path])
        for sign in (1, -1):
            p[path] = start + sign * h
            # The same groups as the gradient's: its samples are dealt to independent scrambles.
            ends.append(np.mean([float((weight * it.render(scene, 512, s)).sum()) for s in range(2)]))
        p[path] = start
        assert abs(g[path] / ((ends[0] - ends[1]) / (2 * h)) - 1) < 0.05, path
