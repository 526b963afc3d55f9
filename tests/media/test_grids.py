"""Grids of densities: against homogeneous media, against sums along rays, against finite differences; a grid recovered."""

import numpy as np
import pytest
from scipy.ndimage import gaussian_filter

import irys_ti as it
from irys_ti.check.differences import weight_image
from irys_ti.device.grids import cells, majorants
from irys_ti.errors import SceneError
from irys_ti.scene import constant
from tests.helpers.media import blob, smoke
from tests.helpers.scenes import FLAT, camera
from tests.helpers.statistics import assert_z, mean_and_error, sample, z_scores

PATHS = ["fog.albedo", "fog.g", "fog.sigma_t", "fog.scale"]


def test_majorants_hold():
    """No interpolated density is above its cell's majorant, and some come near."""
    rng = np.random.default_rng(1)
    density = rng.uniform(0, 1, (9, 5, 13)) ** 4
    count = cells(density.shape)
    found = majorants(density, count)
    q = rng.uniform(0, 1, (20000, 3))
    low, part = np.floor(q * density.shape - 0.5).astype(int), q * density.shape - 0.5
    part -= low
    value = np.zeros(len(q))
    for corner in np.ndindex(2, 2, 2):
        at = tuple(np.clip(low[:, k] + corner[k], 0, density.shape[k] - 1) for k in range(3))
        value += density[at] * np.prod([part[:, k] if corner[k] else 1 - part[:, k] for k in range(3)], axis=0)
    bound = found[tuple(np.minimum((q[:, k] * count[k]).astype(int), count[k] - 1) for k in range(3))]
    assert (value <= bound + 1e-12).all() and (value / bound).max() > 0.9


def test_a_constant_grid_is_the_homogeneous_medium(f32):
    u = weight_image(smoke())
    pictures, grads = {}, {}
    for name, density in (("homogeneous", None), ("grid", np.ones((16, 16, 16)))):
        scene = smoke(density)
        paths = [*PATHS, "fog.density" if name == "grid" else "spare_grid.density"]
        pictures[name] = sample(lambda seed: it.render(scene, 64, seed).mean((0, 1)), range(8))  # noqa: B023
        found = [it.backward(scene, u, 32, seed, paths) for seed in range(8)]
        assert all(g.replayed == (32 * 256, 32 * 256) for g in found)
        grads[name] = np.array([np.r_[[np.sum(g[p]) for p in PATHS]] for g in found])
        if name == "grid":  # every voxel's density scales the extinction as ``scale`` does
            assert np.allclose([g["fog.density"].sum() for g in found], grads[name][:, 3], rtol=1e-4)
    for x in (pictures, grads):
        assert_z(x["grid"], *mean_and_error(x["homogeneous"]))
        assert (np.abs(z_scores(1.2 * x["grid"], *mean_and_error(x["homogeneous"]))) > 4).any()


def test_absorption_along_rays(f32):
    """Light behind an absorbing grid, seen along the axis: exp of minus the sum of its densities."""
    density = np.arange(1.0, 9.0)[:, None, None] * np.ones((8, 4, 4))
    scene = smoke(density, 8, sigma_t=0.4, albedo=0.0, scale=1.0)
    scene.shapes, scene.lights[1].values["intensity"] = scene.shapes[1:], constant(0.0)
    scene.camera = camera([0, 0.8, 5], [0, 0.8, 0], 0.5, 8)
    expected = np.exp(-0.4 * 4.5 * 1.4)
    x = sample(lambda seed: (it.render(scene, 64, seed).mean((0, 1)) * FLAT).mean() / 0.3, range(8))
    assert_z(x, expected, precise=0.01)
    grads = [it.backward(scene, np.tile(FLAT / 3 / 64 / 0.3, (8, 8, 1)), 256, seed, ["fog.density"])["fog.density"] for seed in range(8)]
    slices = np.array(grads).sum((2, 3))
    assert_z(slices, -expected * 0.4 * 1.4 / 8, precise=0.1)


def test_finite_differences(f64):
    """Scattering smoke: by densities along a random direction, empty voxels included, and by what all share."""
    density = blob()
    assert (density == 0).sum() > 100
    scene = smoke(density)
    u, p, rng = weight_image(scene), it.parameters(scene), np.random.default_rng(2)
    along = rng.uniform(0, 1, density.shape)
    empty = np.where(density == 0, along, 0.0)

    def differences(seed):
        out = []
        for way, h in ((along, 0.05), (empty, 0.05)):
            ends = []
            for k in (0, 1, 2):
                p["fog.density"] = density + k * h * way
                ends.append(float((u * it.render(scene, 64, seed)).sum()))
            out.append((4 * ends[1] - 3 * ends[0] - ends[2]) / (2 * h))
        p["fog.density"] = density
        return out

    def reverse(seed):
        g = it.backward(scene, u, 256, seed, ["fog.density"])
        assert g.replayed == (256 * 256, 256 * 256)
        return [float((g["fog.density"] * way).sum()) for way in (along, empty)]

    fd, found = sample(differences, range(16)), sample(reverse, range(50, 66))
    mean, error = mean_and_error(fd)
    assert_z(found, mean, error)
    assert (np.abs(z_scores(1.8 * found, mean, error)) > 4).all()


@pytest.mark.parametrize(
    ("density", "word"),
    [
        (np.full((2, 2, 2), np.nan), "8 voxels are not finite"),
        (np.ones((4, 4)), "is not a grid"),
        (-np.ones((2, 2, 2)), "is negative"),
        (np.ones((0, 2, 2)), "is not a grid"),
    ],
)
def test_bad_grids(density, word, f32):
    with pytest.raises(SceneError, match=word) as error:
        it.render(smoke(density), 1)
    assert "\n" not in str(error.value)


def test_a_grid_recovered(f32):
    """An absorbing cloud of 16^3 voxels from pictures of twelve sides against a white sky, starting from an even grid.

    Steps are blurred by a voxel, as the cloud has no finer details (examples/smoke.py).
    """
    truth, n, steps = blob(16), 32, 72
    scene = smoke(truth, n, sigma_t=2.0, albedo=0.0)
    scene.shapes, scene.lights[1].values["intensity"] = scene.shapes[1:], constant(0.0)
    z = 1 - (np.arange(12) + 0.5) / 6
    turn = 2.39996 * np.arange(12)
    eyes = 4 * np.c_[np.sqrt(1 - z**2) * np.cos(turn), z, np.sqrt(1 - z**2) * np.sin(turn)] + [0, 0.8, 0]
    cameras, targets = [camera(list(eye), [0, 0.8, 0], 28, n) for eye in eyes], []
    for c in cameras:
        scene.camera = c
        targets.append(it.render(scene, 512, 9))
    p, x = it.parameters(scene), np.full(truth.shape, 0.3)
    m, v, found = np.zeros_like(x), 0.0, 0.0

    def error(x):
        return np.linalg.norm(x - truth) / np.linalg.norm(truth)

    start = error(x)
    for step in range(steps):
        scene.camera, k = cameras[5 * step % 12], step + 1
        p["fog.density"] = x
        rest = it.render(scene, 96, 1000 + step).astype(np.float64) - targets[5 * step % 12]
        g = it.gradient(scene, lambda image, rest=rest: (0.0, rest), 8, (2 * step, 2 * step + 1), ["fog.density"])[1]["fog.density"]
        g = gaussian_filter(g, 1.2, mode="constant")
        m, v = 0.9 * m + 0.1 * g, 0.95 * v + 0.05 * np.mean(g**2)
        rate = 0.1 * (1 - step / steps) ** 1.5
        x = np.maximum(x - rate * m / (1 - 0.9**k) / np.sqrt(v / (1 - 0.95**k)), 0.0)
        if 6 * step >= 5 * steps:
            found = found + 6 * x / steps  # noise averages out
        if k % 10 == 0:
            print(k, error(x))
    assert start > 0.7 and error(found) < 0.1, error(found)
