"""f32 against f64 on the same seeds: equal decisions, gradients to rounding, and a comparison that can fail."""

import numpy as np
import pytest

import irys_ti as it
from irys_ti import reference, runtime, tiers
from irys_ti.check.differences import weight_image
from irys_ti.selftest.scenes import room


@pytest.fixture(scope="module")
def scene():
    return room(24)


def show(found):
    rows = [f"{p}: {d.difference:.1e}, effect {d.effect:.2g}" for p, d in found.parameters.items()]
    return f"{found.different} of {found.lanes} differ; " + "; ".join(rows)


def test_room(f32, scene):
    found = tiers.compare(scene, spp=64, d_image=weight_image(scene))
    assert found.ok, show(found)
    assert found.lanes == 64 * 576 and found.different <= 1 and found.replayed == (found.lanes, found.lanes)
    used = [d.difference for d in found.parameters.values() if d.size > 0]
    assert len(used) == len(found.parameters) and 0 < max(used) < 2e-5


@pytest.mark.parametrize("name", ["cornell", "gold_ball", "glass", "occluder"])
def test_acceptance_scenes(f32, data, name):
    # Of the frosted ball's IOR 65,536 paths know little: one beside the critical angle can be a tenth of the sum.
    spp = 64 if name == "glass" else 16
    scene = it.load(data / "reference" / f"{name}.xml")
    found = tiers.compare(scene, spp=spp, d_image=weight_image(scene))
    assert found.ok, show(found)
    assert found.lanes == 4096 * spp and found.different <= found.lanes / 10000


def test_paths_are_told_apart(f32, scene):
    """Where the tiers do trace other paths, the comparison leaves those out, counts them and fails."""
    fast = tiers.decisions(scene, 16, 2)
    exact = reference.decisions(scene, 16, 2)
    assert (fast != exact).sum() <= 1
    assert (tiers.decisions(scene, 16, 3) != exact).mean() > 0.5


def test_a_wrong_tier_fails(f32, scene, monkeypatch):
    right = reference.deposits

    def off_by_one_in_a_thousand(*args):
        grads = right(*args)
        grads["metal.alpha"] = 1.001 * grads["metal.alpha"]
        return grads

    monkeypatch.setattr(reference, "deposits", off_by_one_in_a_thousand)
    found = tiers.compare(scene, ["metal.alpha", "warm.reflectance"], 32)
    assert not found.ok and not found.parameters["metal.alpha"].ok and found.parameters["warm.reflectance"].ok
    assert found.parameters["metal.alpha"].difference == pytest.approx(1e-3, rel=0.01)


def test_other_decisions_fail(f32, scene, monkeypatch):
    """A tier that takes another path in 1 of 100 is not ok, and what that does is held against the noise."""
    right, rng = reference.decisions, np.random.default_rng(0)

    def wandering(*args):
        table = right(*args)
        return np.where(rng.random(table.shape) < 0.01, table ^ np.uint32(1), table)

    monkeypatch.setattr(reference, "decisions", wandering)
    found = tiers.compare(scene, ["warm.reflectance"], 8)
    assert not found.ok and found.different > 20
    assert found.parameters["warm.reflectance"].effect < 1e-3  # they were the same paths after all


@pytest.mark.vulkan
def test_vulkan():
    runtime.init("vulkan", "f32")
    scene = room(16)
    found = tiers.compare(scene, spp=8, d_image=weight_image(scene))
    assert found.ok, show(found)
    assert max(d.difference for d in found.parameters.values()) < 5e-5
