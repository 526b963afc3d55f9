"""Replay: pass 1 meets every path again bit for bit, and no bit of a result depends on how it was cut up."""

import numpy as np
import pytest

import irys_ti as it
from irys_ti import runtime
from irys_ti.api import collect, wanted
from irys_ti.check.differences import gradients, weight_image
from irys_ti.device import replay as replay_module
from irys_ti.device.compile import compiled
from irys_ti.device.replay import Replay
from irys_ti.process import Process
from irys_ti.selftest import proofs
from irys_ti.selftest.scenes import room
from irys_ti.spectral.cie import response

SPP, SEED = 8, 5


@pytest.fixture(params=["f32", "f64", pytest.param("vulkan", marks=pytest.mark.vulkan)])
def tier(request):
    """Both tiers on the CPU, and Vulkan where it is asked for."""
    runtime.init(*(("vulkan", "f32") if request.param == "vulkan" else ("cpu", request.param)))


@pytest.fixture(scope="module")
def scene():
    """Rough metal, glass, coloured walls, a lamp, a sky and roulette, 16x16 pixels."""
    return room(16)


def replayed(scene, weight=None, radiance_first=False, groups=1, params=None, **how):
    """Bits of the gradient by every parameter, and the Replay that made them."""
    device = compiled(scene)
    device.set_channels(response())
    weight = weight_image(scene) if weight is None else weight
    paths = wanted(scene, params)
    n = device.want(paths)
    device.scale_deposits(2.0 / SPP)
    run = Replay(device, SPP, SEED, groups, n, **how)
    if radiance_first:
        run.radiance()
    grads = collect(device, paths, *run.deposit(weight), (run.equal, run.traced))
    return np.concatenate([grads[p].reshape(-1) for p in paths]), run


def test_every_path_is_met_again(tier, scene):
    _, (equal, lanes) = gradients(scene, None, weight_image(scene), 16, [1, 2])
    assert equal == lanes == 2 * 16 * 256


def test_another_seed_in_pass_1_is_noticed(tier, scene):
    _, (equal, lanes) = gradients(scene, None, weight_image(scene), 16, [1], replay_seed=2)
    assert equal <= lanes // 1000


@pytest.mark.slow
@pytest.mark.parametrize("name", ["cornell", "gold_ball", "glass", "occluder"])
def test_65536_lanes_of_the_acceptance_scenes(tier, name, data):
    scene = it.load(data / "reference" / f"{name}.xml")
    _, replay_count = gradients(scene, None, weight_image(scene), 16, [1])
    assert replay_count == (65536, 65536)


@pytest.mark.parametrize(
    "how",
    [
        {}, {"max_lanes": 1000}, {"max_lanes": 300}, {"max_lanes": 100}, {"replicas": 1}, {"replicas": 7},
        {"radiance_first": True}, {"radiance_first": True, "max_lanes": 300},
    ],
    ids=str,
)  # fmt: skip
def test_bits_do_not_depend_on_the_cutting(tier, scene, how):
    want, _ = replayed(scene)
    got, run = replayed(scene, **how)
    np.testing.assert_array_equal(got, want)
    assert run.equal == run.traced == SPP * 256
    assert np.all(want != 0)


def test_groups_have_gradients_of_their_own(f32, scene):
    """Dealing the samples to groups changes the samples; each group's sum is the whole's, tile or no tile."""
    want, _ = replayed(scene, groups=4)
    got, _ = replayed(scene, groups=4, max_lanes=300)
    np.testing.assert_array_equal(got, want)
    assert np.any(want != replayed(scene)[0])


def test_pass_0_may_run_again(f32, scene, monkeypatch):
    """Above the memory budget nothing is kept between the passes; the bits are the same."""
    weight, seeds = np.zeros((16, 16, 3)), (3, 4)
    kept = it.gradient(scene, it.L2(weight), 4, seeds)
    monkeypatch.setattr(replay_module, "KEEP_PATHS", 0)
    again = it.gradient(scene, it.L2(weight), 4, seeds)
    assert kept[0] == again[0] and kept[1].replayed == again[1].replayed == (2048, 2048)
    for path in kept[1]:
        np.testing.assert_array_equal(kept[1][path], again[1][path])


@pytest.mark.parametrize("kept", [False, True])
def test_a_mask_splits_a_gradient(f32, scene, kept):
    """Masked paths and the others make the whole, and only paths under the mask are counted."""
    rng = np.random.default_rng(0)
    mask = rng.random((256, SPP)) < 0.3
    whole, _ = replayed(scene)
    inside, run = replayed(scene, mask=mask, radiance_first=kept)
    outside, rest = replayed(scene, mask=~mask, radiance_first=kept, max_lanes=300)
    assert run.equal == run.traced == mask.sum() and rest.equal == rest.traced == (~mask).sum()
    np.testing.assert_allclose(inside + outside, whole, rtol=1e-14, atol=1e-14 * np.abs(whole).max())
    assert np.abs(inside - 0.3 * whole).max() > 0
    wrong, run = replayed(scene, mask=mask, replay_seed=SEED + 1)
    assert run.traced == mask.sum() and run.equal < 10
    with pytest.raises(ValueError, match="mask has shape"):
        replayed(scene, mask=mask[:5])


def test_decisions(tier, scene):
    """A table of hashes: the same however it is cut, another where the scene or the seed is."""

    def decided(seed, **how):
        device = compiled(scene)
        device.want(wanted(scene, None))
        return Replay(device, SPP, seed, **how).decisions()

    table = decided(1)
    assert table.shape == (256, SPP) and table.dtype == np.uint32
    np.testing.assert_array_equal(table, decided(1, max_lanes=300))
    assert (table != decided(2)).mean() > 0.5
    ball = scene.shapes[5]
    before = ball.radius
    try:
        ball.radius = 0.41
        changed = (table != decided(1)).mean()
    finally:
        ball.radius = before
    assert 0.01 < changed < 0.5
    np.testing.assert_array_equal(table, decided(1))


def test_a_crop_has_the_bits_of_the_full_film(tier):
    ok, text, _ = proofs.crop(True)
    assert ok, text


@pytest.mark.parametrize("precision", ["f32", "f64"])
def test_one_thread_and_two(precision):
    prints = []
    for threads in (1, 2):
        process = Process(("cpu", precision, threads), f"process of {threads} threads")
        prints.append(process.call("irys_ti.selftest.proofs:fingerprint"))
        process.close()
    assert prints[0] == prints[1]
