"""Derivatives of media: against finite differences, forward against reverse mode, tier against tier, pass against pass."""

import numpy as np
import pytest

import irys_ti as it
from irys_ti import tiers
from irys_ti.check.differences import weight_image
from irys_ti.device.compile import compiled
from irys_ti.device.replay import Replay
from irys_ti.spectral.cie import response
from tests.helpers.media import FOG, foggy_room
from tests.helpers.statistics import assert_z, sample, z_scores

STEPS = {"albedo": 0.02, "g": 0.05, "sigma_t": 0.1, "scale": 0.06, "emission": 0.05}


def test_finite_differences(f64):
    """Reverse mode against central differences of the rendered loss, each from seeds of its own; a spectrum along a
    direction that is not its own. The control: a quarter more fails, but for g, whose differences are noisy.
    """
    scene = foggy_room()
    u, p = weight_image(scene), it.parameters(scene)
    start = {path: p[path] for path in FOG}
    along = {path: np.linspace(1.0, 0.4, x.size).reshape(x.shape) for path, x in start.items()}

    def differences(seed):
        out = []
        for path in FOG:
            h, ends = STEPS[path.split(".")[1]], []
            for sign in (1, -1):
                p[path] = start[path] + sign * h * along[path]
                ends.append(float((u * it.render(scene, 64, seed)).sum()))
            p[path] = start[path]
            out.append((ends[0] - ends[1]) / (2 * h))
        return out

    def reverse(seed):
        g = it.backward(scene, u, 64, seed, FOG)
        assert g.replayed == (64 * 256, 64 * 256)
        return [float((g[path] * along[path]).sum()) for path in FOG]

    fd, found = sample(differences, range(16)), sample(reverse, range(50, 66))
    error = fd.std(0, ddof=1) / 4
    assert_z(found, fd.mean(0), error)
    assert (found.std(0, ddof=1) / 4 < 0.1 * np.abs(fd.mean(0))).all(), "too noisy to tell"
    assert (np.abs(z_scores(1.25 * found, fd.mean(0), error))[[0, 2, 3, 4]] > 4).all()


@pytest.mark.parametrize("tier", ["f64", "f32"])
def test_forward_mode_is_the_transpose_of_reverse_mode(tier, request):
    request.getfixturevalue(tier)
    scene = foggy_room()
    u, p, rng = weight_image(scene), it.parameters(scene), np.random.default_rng(3)
    v = {path: rng.standard_normal(p[path].shape) for path in FOG}
    reverse = it.backward(scene, u, 8, 5, FOG)
    tolerance = 1e-9 if tier == "f64" else 3e-4
    left = float((it.forward(scene, v, 8, 5) * u).sum())
    right = sum(float((v[path] * reverse[path]).sum()) for path in FOG)
    assert left == pytest.approx(right, rel=tolerance, abs=tolerance * sum(np.abs(v[x] * reverse[x]).sum() for x in FOG))
    assert left != pytest.approx(1.001 * right, rel=tolerance)


def test_the_tiers_agree(f32):
    found = tiers.compare(foggy_room(), FOG, 16, 2, weight_image(foggy_room()))
    for path, row in found.parameters.items():
        assert row.size > 0 and row.difference < 5e-4, (path, row.difference)
    assert found.different <= 4 and found.replayed == (found.lanes, found.lanes)


def gradient_bits(scene, paths=FOG, **how):
    device = compiled(scene)
    device.set_channels(response())
    n = device.want(paths)
    device.scale_deposits(2.0 / 8)
    run = Replay(device, 8, 5, 1, n, **how)
    return np.concatenate(run.deposit(weight_image(scene))[0]), run


def test_the_same_bits_in_any_launch(f32):
    """However samples are cut into launches; and another seed in pass 1 is noticed."""
    scene = foggy_room()
    whole, run = gradient_bits(scene)
    parts, _ = gradient_bits(scene, max_lanes=300)
    assert np.array_equal(whole, parts) and run.equal == run.traced
    assert np.array_equal(it.render(scene, 4), it.render(scene, 4))
    other, run = gradient_bits(scene, replay_seed=6)
    assert run.equal < 0.05 * run.traced and not np.array_equal(other, whole)


def test_longer_paths_take_no_more_memory(f32):
    """A path keeps as much for its replay at 1,000 scatterings as at 10, and all of them are met again."""
    scene, sizes = foggy_room(8, sigma_t=30.0, albedo=1.0), []
    for depth in (5, 10, 1000):  # the second keeps what writing another depth takes
        scene.integrator.max_depth = depth
        _, run = gradient_bits(scene)
        assert run.equal == run.traced
        sizes.append(sum(a.shape[0] for free in compiled(scene).scratch.free.values() for a in free))
    assert sizes[1] == sizes[2]
