"""Steps of Gauss and Newton: down a valley that Adam walks along, whatever cannot be told stays, a fit goes on."""

import numpy as np
import pytest

import irys_ti as it
from irys_ti.optim.adam import Adam
from irys_ti.optim.newton import Newton
from tests.test_fit import PATH, painted_ball

STEPS, TRUTH = 16, np.array([0.4, -0.3])
LENGTHS, LOW, HIGH = ({"a": v, "b": v} for v in (0.05, -np.inf, np.inf))


def pictures():
    """Two patterns that differ by a hundredth of what they share, and a loss that is quadratic in the picture."""
    rng = np.random.default_rng(3)
    shared, own = rng.standard_normal((8, 8, 3)), rng.standard_normal((2, 8, 8, 3))
    pattern = shared + 0.1 * own
    image = lambda v, _=0: float(v["a"]) * pattern[0] + float(v["b"]) * pattern[1]  # noqa: E731
    target = TRUTH[0] * pattern[0] + TRUTH[1] * pattern[1]
    return pattern, image, it.L2(target)


def walk(take):
    pattern, image, loss = pictures()
    values = {"a": np.array(0.0), "b": np.array(0.0)}
    for step in range(STEPS):
        d = loss.derivative(image(values))
        values = take(step, values, {"a": np.sum(d * pattern[0]), "b": np.sum(d * pattern[1])}, image, loss)
    return float(np.abs(np.array([values["a"], values["b"]]) - TRUTH).max())


def test_goes_down_a_valley():
    newton, adam = Newton(), Adam()

    def by_newton(step, values, grads, image, loss):
        if newton.due(step):
            newton.measure(image, values, LENGTHS, LOW, HIGH, loss.derivative)
        return newton.step(values, grads, LENGTHS, LOW, HIGH, step, STEPS)

    def by_adam(step, values, grads, image, loss):
        return adam.step(values, grads, LENGTHS, LOW, HIGH)

    assert walk(by_newton) < 0.02
    assert walk(by_adam) > 0.05


def test_what_no_picture_tells_of_stays():
    newton, (pattern, _, loss) = Newton(), pictures()
    values = {"a": np.array(0.1), "b": np.array(0.2), "c": np.array(0.7)}
    lengths = dict.fromkeys(values, 0.05)
    low, high = dict.fromkeys(values, -1.0), dict.fromkeys(values, 1.0)
    newton.measure(lambda v, _: float(v["a"]) * pattern[0], values, lengths, low, high, loss.derivative)
    moved = newton.step(values, {"a": 1.0, "b": np.nan, "c": 3.0}, lengths, low, high, 0, 10)
    assert moved["a"] != 0.1 and moved["b"] == 0.2 and moved["c"] == 0.7
    assert abs(moved["a"] - 0.1) <= 3 * 0.05 + 1e-12


def test_a_fit_goes_on_to_the_same_bits(f32, tmp_path):
    target = it.render(painted_ball((0.2, 0.7, 0.4)), 64, 99)

    def fit(folder, stop=None):
        scene = painted_ball((0.5, 0.5, 0.5))
        return it.fit(
            scene, target, [PATH], 8, method="newton", out=tmp_path / folder, every=1,
            callback=lambda s: stop is not None and s.step == stop,
        ).values[PATH]  # fmt: skip

    whole = fit("whole")
    fit("parts", stop=3)
    np.testing.assert_array_equal(fit("parts"), whole)
    assert np.abs(whole - [0.2, 0.7, 0.4]).max() < 0.03


def test_bad_arguments(f32):
    scene = painted_ball((0.5, 0.5, 0.5))
    target = np.zeros((12, 12, 3))
    with pytest.raises(ValueError, match="method 'bfgs' is not one of 'adam', 'newton'"):
        it.fit(scene, target, [PATH], method="bfgs")
