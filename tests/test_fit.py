"""The fit loop: what it finds, what it refuses, what it keeps, and that it can be stopped and resumed."""

import csv
import time

import numpy as np
import pytest

import irys_ti as it
from irys_ti.fitting import FitInterrupted
from irys_ti.optim.adam import Adam
from irys_ti.optim.schedule import TailAverage, rate, samples
from irys_ti.scene import points
from tests.helpers.scenes import camera, gold_ball

PAINT = np.array([0.2, 0.7, 0.4])
PATH = "paint.reflectance"


def painted_ball(paint=(0.5, 0.5, 0.5), sky=1.0, n=12) -> it.Scene:
    """A diffuse ball under an even sky: the smallest scene with colour in it."""
    return it.Scene(
        camera=camera([0, 0, 4], [0, 0, 0], 34, n),
        materials=[it.Material("paint", "diffuse", {"reflectance": points([450, 550, 650], paint, extend=True)})],
        shapes=[it.Sphere(id="ball", material="paint", center=np.zeros(3), radius=1.0)],
        lights=[it.Light("sky", "constant", {"radiance": sky})],
        integrator=it.Integrator(2),
    )


@pytest.fixture(scope="module")
def target():
    from irys_ti import runtime

    runtime.init("cpu", "f32")
    return it.render(painted_ball(PAINT), 256, seed=77)


# -- what it finds -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("loss", ["l2", "relative_l2", "log_l2", "l1"])
def test_every_loss_finds_the_paint(loss, target, f32):
    found = it.fit(painted_ball(), target, [PATH], 40, spp=16, loss=loss)
    # The noisy losses are biased (their documentation says so), all the same they come near.
    assert np.abs(found.values[PATH] - PAINT).max() < (0.01 if "l2" == loss[-2:] and "log" not in loss else 0.04)
    assert len(found.losses) == 40 and found.skipped == 0 and np.isfinite(found.losses).all()
    assert (found.stderr[PATH] > 0).all()


def test_the_scene_keeps_what_was_found(target, f32):
    scene = painted_ball()
    found = it.fit(scene, target, PATH, 5, spp=4)
    np.testing.assert_array_equal(it.parameters(scene)[PATH], found.values[PATH])
    np.testing.assert_array_equal(found.history[PATH][0], [0.5, 0.5, 0.5])
    assert found.images["start"].shape == found.images["fitted"].shape == target.shape


def test_a_light_without_an_upper_bound(f32):
    """From a tenth of the radiance, or ten times, in units of its own size."""
    target = it.render(painted_ball(PAINT, 2.0), 64, seed=5)
    for start in (0.2, 20.0):
        found = it.fit(painted_ball(PAINT, start), target, "sky.radiance", 100, spp=4)
        assert float(found.values["sky.radiance"]) == pytest.approx(2.0, rel=0.01)


def test_bounds_hold(target, f32):
    """A target that is brighter than the bounds allow leaves the values at the bound, never beyond."""
    found = it.fit(painted_ball(), 2 * target, PATH, 30, spp=4, bounds={PATH: (0.1, 0.6)})
    assert found.history[PATH].min() >= 0.1 and found.history[PATH].max() <= 0.6
    np.testing.assert_allclose(found.values[PATH][1], 0.6)
    found = it.fit(painted_ball(), 9 * target, PATH, 30, spp=4, lr=0.2)
    assert found.values[PATH].max() == 1.0


def test_own_loss_function_needs_no_target(f32):
    """The mean of the picture is brought to 0.5 by a function of the image."""

    def loss(image):
        off = image.mean() - 0.5
        return off**2, np.full(image.shape, 2 * off / image.size)

    scene = painted_ball()
    it.fit(scene, params=PATH, steps=40, loss=loss)
    assert it.render(scene, 256, seed=8).mean() == pytest.approx(0.5, abs=0.01)


def test_views_and_lights_add_up(f32):
    """Gradients of several views are the sum of each view's, found by moving the one camera in place."""
    views = [camera([0, 0, 4], [0, 0, 0], 34, 12), camera([3, 1, 3], [0, 0, 0], 30, 12)]
    weights = np.random.default_rng(0).random((2, 12, 12, 3))
    scene, total = painted_ball(), 0.0
    for view, weight in zip(views, weights, strict=True):
        scene.camera = view
        total = total + it.backward(scene, weight, 8, 3, [PATH])[PATH]
    apart = []
    for view, weight in zip(views, weights, strict=True):
        other = painted_ball()
        other.camera = view
        apart.append(it.backward(other, weight, 8, 3, [PATH])[PATH])
    np.testing.assert_array_equal(total, sum(apart))
    assert (np.abs(apart[0] - apart[1]) > 1e-3).all()

    # The image is linear in the radiances, so that radiance times derivative, over all lights, is the image.
    scene = gold_ball()
    p = it.parameters(scene)
    lights = ["lamp.radiance", "sky.radiance"]
    total, grads = it.gradient(scene, lambda image: (image.sum(), np.ones_like(image)), 8, params=lights)
    parts = [float((grads[path] * p[path]).sum()) for path in lights]
    assert min(parts) > 0.05 * sum(parts)
    assert sum(parts) == pytest.approx(total, rel=1e-4)


# -- what it refuses ----------------------------------------------------------------------------------------


def test_bad_requests_are_refused_before_anything_is_traced(target, f32, tmp_path, monkeypatch):
    def traced(*_, **__):
        raise AssertionError("a path was traced")

    monkeypatch.setattr("irys_ti.device.launch.trace_paths", traced)
    it.write_image(tmp_path / "small.png", np.zeros((6, 9, 3)))
    holed = target.copy()
    holed[0, 0] = np.nan
    cases = [
        (lambda: it.fit(painted_ball(), tmp_path / "small.png", PATH), ["small.png", "9x6", "12x12"]),
        (lambda: it.fit(painted_ball(), np.zeros((12, 13, 3)), PATH), ["13x12", "12x12", "film"]),
        (lambda: it.fit(painted_ball(), holed, PATH), ["target", "NaN"]),
        (lambda: it.fit(painted_ball(), tmp_path / "none.exr", PATH), ["none.exr", "no such"]),
        (lambda: it.fit(painted_ball(), target, ["paint.reflectanse"]), ["paint.reflectanse", "paint.reflectance"]),
        (lambda: it.fit(painted_ball(), target, []), ["no parameters", PATH]),
        (lambda: it.fit(painted_ball(), target, PATH, loss="l3"), ["l3", "log_l2"]),
        (lambda: it.fit(painted_ball(), None, PATH), ["l2", "target"]),
        (lambda: it.fit(painted_ball(), target, PATH, steps=0), ["steps", "1"]),
        (lambda: it.fit(painted_ball(), target, PATH, spp=(0, 4)), ["spp", "1"]),
        (lambda: it.fit(painted_ball(), target, PATH, lr={"x.y": 1}), ["x.y", PATH]),
        (lambda: it.fit(painted_ball(), target, PATH, bounds={PATH: (0.5, 1.5)}), ["1.5", "[0.0, 1.0]"]),
        (lambda: it.fit(gold_ball(12), target, "metal.separable"), ["metal.separable", "gradient"]),
    ]
    for call, words in cases:
        with pytest.raises(ValueError) as caught:
            call()
        text = str(caught.value)
        assert "\n" not in text and all(w in text for w in words), text


def test_a_learning_rate_of_zero_changes_nothing(target, f32):
    start = np.array([0.0, 1.0, 0.1 + 0.2])
    scene = painted_ball(start)
    before = it.render(scene, 4)
    found = it.fit(scene, target, PATH, 6, spp=2, lr=0)
    np.testing.assert_array_equal(found.values[PATH], start)
    np.testing.assert_array_equal(found.history[PATH], [start] * 6)
    np.testing.assert_array_equal(it.render(scene, 4), before)


def test_nan_never_enters_the_parameters(target, f32, monkeypatch):
    """Neither from a loss that breaks nor from gradients that are faulty."""
    scene = painted_ball()
    with pytest.raises(it.SceneError, match="NaN"):
        it.fit(scene, target, PATH, 5, loss=lambda image: (np.nan, np.full(image.shape, np.nan)))
    np.testing.assert_array_equal(it.parameters(scene)[PATH], [0.5, 0.5, 0.5])

    right, calls = it.gradient, []

    def sometimes(*args, **options):
        calls.append(1)
        if len(calls) in (1, 4):
            raise ArithmeticError("7 gradient deposits were too large")
        loss, grads = right(*args, **options)
        if len(calls) == 6:
            grads[PATH][1] = np.nan
        return loss, grads

    monkeypatch.setattr("irys_ti.api.gradient", sometimes)
    found = it.fit(scene, target, PATH, 8, spp=2)
    assert found.skipped == 2 and np.isnan(found.losses[0]) and np.isfinite(found.history[PATH]).all()
    np.testing.assert_array_equal(found.history[PATH][3], found.history[PATH][4])
    assert found.history[PATH][6][1] == found.history[PATH][5][1] != found.history[PATH][7][1]

    monkeypatch.setattr("irys_ti.api.gradient", lambda *_, **__: sometimes(calls.clear()))
    with pytest.raises(ArithmeticError, match="in a row"):
        it.fit(scene, target, PATH, 8, spp=2)


# -- what it keeps ------------------------------------------------------------------------------------------


def test_files(target, f32, tmp_path):
    found = it.fit(painted_ball(), target, [PATH, "sky.radiance"], 7, spp=2, out=tmp_path / "made", every=3)
    made = {p.name for p in (tmp_path / "made").iterdir()}
    pictures = {f"iter_{i:03d}.png" for i in (0, 3, 6)}
    assert made == {"loss.csv", "loss.png", "target.png", "comparison.png", "state.npz", *pictures}
    assert it.read_image(tmp_path / "made" / "iter_003.png").shape == target.shape
    shown = np.clip(target / np.quantile(target, 0.95), 0, 1)  # pictures are as dark as their lights demand
    np.testing.assert_allclose(it.read_image(tmp_path / "made" / "target.png"), shown, atol=0.01)
    rows = list(csv.reader((tmp_path / "made" / "loss.csv").open()))
    assert rows[0] == ["step", "loss", "seconds", *(f"{PATH}[{i}]" for i in range(3)), "sky.radiance"]
    assert len(rows) == 8 and [float(x) for x in rows[1][3:]] == [0.5, 0.5, 0.5, 1.0]
    np.testing.assert_allclose([float(r[1]) for r in rows[1:]], found.losses, rtol=1e-8)
    np.testing.assert_allclose([float(r[4]) for r in rows[1:]], found.history[PATH][:, 1], rtol=1e-8)


def stop_after(n):
    def callback(step):
        if step.step == n - 1:
            raise KeyboardInterrupt

    return callback


@pytest.mark.parametrize("ramp", [4, (2, 8)])
def test_stopped_and_resumed_is_the_same_to_the_bit(ramp, target, f32, tmp_path):
    run = {"params": [PATH, "sky.radiance"], "steps": 12, "spp": ramp, "every": 5}
    whole = it.fit(painted_ball(), target, out=tmp_path / "whole", **run)
    with pytest.raises(FitInterrupted, match="7 of 12") as caught:
        it.fit(painted_ball(), target, out=tmp_path / "cut", callback=stop_after(7), **run)
    assert str(tmp_path / "cut") in str(caught.value) and len(caught.value.result.losses) == 7
    assert len((tmp_path / "cut" / "loss.csv").read_text().splitlines()) == 8
    with pytest.raises(FitInterrupted, match="9 of 12"):
        it.fit(painted_ball(), target, out=tmp_path / "cut", callback=stop_after(9), **run)
    scene = painted_ball()
    rest = it.fit(scene, target, out=tmp_path / "cut", **run)
    again = it.fit(scene, target, out=tmp_path / "cut", **run)  # finished: nothing is left to do
    for path in run["params"]:
        for other in (rest, again):
            np.testing.assert_array_equal(whole.values[path], other.values[path])
            np.testing.assert_array_equal(whole.history[path], other.history[path])
            np.testing.assert_array_equal(whole.stderr[path], other.stderr[path])
    np.testing.assert_array_equal(whole.losses, rest.losses)
    for name in ("start", "fitted"):
        np.testing.assert_array_equal(whole.images[name], rest.images[name])


def test_another_fit_in_the_folder_is_not_overwritten(target, f32, tmp_path):
    it.fit(painted_ball(), target, PATH, 2, spp=2, out=tmp_path)
    for change, word in (
        ({"spp": 4}, "spp"),
        ({"seed": 9}, "seed"),
        ({"lr": 0.1}, "rates"),
        ({"target": target + 1}, "target"),
        ({"scene": painted_ball(sky=2.0)}, "scene"),
        ({"scene": painted_ball((0.1, 0.5, 0.5))}, "start values"),
    ):
        with pytest.raises(it.SceneError, match=word) as caught:
            it.fit(**{"scene": painted_ball(), "target": target, "params": PATH, "steps": 2, "spp": 2, "out": tmp_path} | change)
        assert "--fresh" in str(caught.value)
    longer = it.fit(painted_ball(), target, PATH, 4, spp=2, out=tmp_path)  # more steps go on
    assert len(longer.losses) == 4
    afresh = it.fit(painted_ball((0.1, 0.5, 0.5)), target, PATH, 2, spp=2, out=tmp_path, resume=False)
    assert len(afresh.losses) == 2
    (tmp_path / "state.npz").write_bytes(b"broken")
    with pytest.raises(it.SceneError, match="broken"):
        it.fit(painted_ball(), target, PATH, 2, spp=2, out=tmp_path)


def test_a_callback_sees_every_step_and_can_end_the_fit(target, f32):
    seen = []
    found = it.fit(painted_ball(), target, PATH, 50, spp=2, callback=lambda s: seen.append(s) or s.step == 3)
    assert [s.step for s in seen] == [0, 1, 2, 3] and len(found.losses) == 4
    np.testing.assert_array_equal(seen[0].values[PATH], [0.5, 0.5, 0.5])
    assert seen[2].image.shape == target.shape and seen[3].loss == found.losses[3]


def test_fresh_and_fixed_seeds(target, f32):
    """Where nothing moves, fixed seeds repeat the loss to the bit and fresh ones do not."""
    fixed = it.fit(painted_ball(), target, PATH, 3, spp=2, lr=0, seeds="fixed").losses
    fresh = it.fit(painted_ball(), target, PATH, 3, spp=2, lr=0).losses
    assert len(set(fixed)) == 1 and len(set(fresh)) == 3


@pytest.mark.slow
def test_two_thousand_steps_keep_memory_and_time_flat(f32, tmp_path):
    target = it.render(painted_ball(PAINT, n=4), 64)
    memory = {}

    def callback(step):
        if step.step in (500, 1999):
            with open("/proc/self/statm") as file:
                memory[step.step] = int(file.read().split()[1]) * 4096

    began = time.perf_counter()
    it.fit(painted_ball(n=4), target, PATH, 2000, spp=1, out=tmp_path, every=500, callback=callback)
    print(f"{time.perf_counter() - began:.0f} s, {(memory[1999] - memory[500]) / 2**20:.2f} MiB more after 1,500 steps")
    assert memory[1999] - memory[500] < 4 * 2**20
    seconds = np.loadtxt(tmp_path / "loss.csv", delimiter=",", skiprows=1, usecols=2)
    early, late = np.quantile(seconds[100:600], 0.2), np.quantile(seconds[1500:], 0.2)
    assert late < 1.3 * early


# -- its parts ------------------------------------------------------------------------------------------------


def test_adam_on_a_noisy_quadratic():
    """Finds the minimum of an uneven quadratic from noisy gradients; a wrong sign does not."""
    rng = np.random.default_rng(1)
    curvature, best = np.array([1.0, 30.0, 900.0]), np.array([0.3, 0.8, 0.5])
    for sign in (1, -1):
        adam, x = Adam(), np.full(3, 0.5)
        for step in range(150):
            grad = sign * curvature * (x - best + 0.01 * rng.standard_normal(3))
            x = adam.step({"x": x}, {"x": grad}, {"x": 0.04 * rate(step, 150)}, {"x": 0.0}, {"x": 1.0})["x"]
        assert (np.abs(x - best).max() < 0.02) == (sign > 0)


def test_adam_keeps_still_what_has_no_gradient():
    adam, x = Adam(), np.array([0.5, 0.5, 0.5])
    for _ in range(20):
        grads = {"x": np.array([1.0, 0.0, np.nan])}
        x = adam.step({"x": x}, grads, {"x": 0.01}, {"x": 0.0}, {"x": 1.0})["x"]
    assert x[0] < 0.35 and x[1] == 0.5 and x[2] == 0.5


def test_adam_state_survives():
    one, two = Adam(), Adam()
    run = ({"a": 0.01}, {"a": 0.0}, {"a": 1.0})
    x = one.step({"a": np.array([0.5])}, {"a": np.array([0.3])}, *run)
    two.restore(one.state())
    for grad in (0.1, -0.2):
        y = one.step(x, {"a": np.array([grad])}, *run)
        np.testing.assert_array_equal(y["a"], two.step(x, {"a": np.array([grad])}, *run)["a"])
        x = y


def test_schedules():
    assert [samples((8, 32), i, 5) for i in range(5)] == [8, 11, 16, 23, 32] and samples(8, 3, 5) == 8
    rates = [rate(i, 60) for i in range(60)]
    assert rates[0] == 1 and all(a >= b for a, b in zip(rates, rates[1:], strict=False)) and 0 < rates[-1] < 0.5
    assert rate(0, 1) == 1 and samples((8, 32), 0, 1) == 8
    tail, xs = TailAverage(10), np.random.default_rng(0).random((10, 2))
    for i, x in enumerate(xs):
        tail.add(i, {"x": x})
    last = xs[tail.first :]
    np.testing.assert_allclose(tail.mean["x"], np.average(last, 0, 1 + np.arange(len(last))))
    assert 0 < tail.first < 9


def test_a_loss_on_coarser_pictures():
    """Its derivative is that of its value, at sizes that blocks do not divide; in blocks of one pixel it is L2."""
    rng = np.random.default_rng(0)
    target, image, step = (rng.random((7, 10, 3)) for _ in range(3))
    loss = it.Coarser(target, (1, 3, 16))
    slope = (loss.value(image + step, image + step) - loss.value(image - step, image - step)) / 2  # a parabola
    assert slope == pytest.approx((loss.derivative(image) * step).sum(), rel=1e-12)
    one, plain = it.Coarser(target, (1,)), it.L2(target)
    assert one.value(image, step) == pytest.approx(plain.value(image, step), rel=1e-12)
    assert np.allclose(one.derivative(image), plain.derivative(image), rtol=1e-12)
    with pytest.raises(it.SceneError, match="target"):
        loss.derivative(image[:5])
