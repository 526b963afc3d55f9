"""Pictures and single-scattering derivatives of one, two and 64 overlapping splats against quadrature."""

import numpy as np
import pytest

import irys_ti as it
from tests.helpers import splat_oracle as oracle
from tests.helpers.statistics import assert_z, mean_and_error, sample, z_scores

CASES = {1: {"sky": 0.5}, 2: {"sky": 0.5}, 64: {"sky": 0.0}}
RULE = {"rays": 8, "steps": 64, "directions": 48}
# Moving many splats wants smaller steps along a ray: by all scales of 64 splats the derivative is -2.98 with 64 steps, -3.163
# with 128, -3.169 with 256 and -3.172 with 400.
FINE = {1: RULE, 2: {**RULE, "steps": 128}, 64: {**RULE, "steps": 400}}
NAMES = ("opacity", "albedo", "position", "scale", "rotation")
# A weight that slopes, so that moving a splat across the film tells.
WEIGHT = (np.array([0.5, 1, 1.5, 2])[:, None] + np.array([0, 0.4, 0.8, 1.2]))[:, :, None] * np.ones(3)
STEP = 1e-3


def along(case, name: str) -> np.ndarray:
    """The direction of a derivative: one in which the parts do not cancel."""
    x = getattr(case, name)
    if name == "opacity":  # the nearest splat's, or every other one's
        return (np.arange(len(x)) % 2 == 0) * (1.0 if len(x) > 2 else case.position[:, 2] == case.position[:, 2].max())
    if name == "position":
        return np.ones_like(x) * [1.0, 0.3, 0.0]
    return np.ones_like(x) if name != "rotation" else np.random.default_rng(5).normal(size=x.shape)


def expected_derivative(case, name: str, rule: dict = RULE) -> float:
    """By central differences of the quadrature."""
    v = along(case, name)
    high, low = (oracle.image(case.moved(name, v, s * STEP), **rule) for s in (1, -1))
    return float(((high - low) * WEIGHT).sum() / (2 * STEP))


def derivatives(case, spp: int, seeds, names=NAMES) -> dict[str, np.ndarray]:
    """Estimates along the same directions, one a seed."""
    scene = oracle.scene_of(case)
    found = [it.backward(scene, WEIGHT, spp=spp, seed=s, params=[f"s.{n}" for n in names]) for s in seeds]
    assert all(g.replayed[0] == g.replayed[1] > 0 for g in found)
    return {n: np.array([(g[f"s.{n}"] * along(case, n)).sum() for g in found]) for n in names}


@pytest.mark.slow
def test_the_rule_is_fine_enough():
    """The quadrature moves less than a fifth of what is tested when all its steps are made smaller."""
    for n, lights in CASES.items():
        case = oracle.random_case(n, **lights)
        finer = {"rays": 10, "steps": 90, "directions": 80} if n < 64 else {"rays": 10, "steps": 90}
        rough, fine = oracle.image(case, **RULE), oracle.image(case, **finer)
        np.testing.assert_allclose(rough, fine, rtol=4e-4)


@pytest.mark.parametrize("n", CASES)
def test_picture(f32, n):
    case = oracle.random_case(n, **CASES[n])
    scene, exact = oracle.scene_of(case), oracle.image(case, **RULE)
    sums = sample(lambda seed: it.render(scene, 4096 if n < 64 else 2048, seed).sum())
    assert_z(sums, exact.sum(), precise=2e-3)
    biased = oracle.image(case.moved("albedo", np.ones((n, 3)), 0.02), **RULE).sum()
    assert np.abs(z_scores(sums, biased)) > 4  # albedos off by 0.02 are noticed


@pytest.mark.parametrize("n", [1, pytest.param(2, marks=pytest.mark.slow), 64])
def test_derivatives(f32, n):
    case = oracle.random_case(n, **CASES[n])
    found = derivatives(case, 2048 if n < 64 else 1024, range(8))
    for name, estimates in found.items():
        exact = expected_derivative(case, name)
        assert_z(estimates, exact)
        if name in ("opacity", "albedo"):
            assert mean_and_error(estimates)[1] < 0.06 * abs(exact)
    assert np.abs(z_scores(found["albedo"], 1.15 * expected_derivative(case, "albedo"))) > 4


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("n", CASES)
def test_derivatives_precisely(f32, n, name):
    """A standard error of 0.2 % of the derivative, of colours and opacities; 1 % of positions, scales and rotations."""
    case = oracle.random_case(n, **CASES[n])
    exact = expected_derivative(case, name, FINE[n])
    bound = 2e-3 if name in ("opacity", "albedo") else 1e-2
    estimates = derivatives(case, 16384, range(8), [name])[name]
    while mean_and_error(estimates)[1] > bound * abs(exact) and len(estimates) < 1024:
        seeds = range(len(estimates), 2 * len(estimates))
        estimates = np.concatenate([estimates, derivatives(case, 16384, seeds, [name])[name]])
    if name != "rotation" or n < 64:  # all rotations of 64 splats together nearly cancel
        assert mean_and_error(estimates)[1] <= bound * abs(exact)
    print(n, name, "of", exact, "error", mean_and_error(estimates)[1], "z", z_scores(estimates, exact), "seeds", len(estimates))
    assert_z(estimates, exact)
    if name in ("opacity", "albedo"):
        assert np.abs(z_scores(estimates, 1.02 * exact)) > 4  # 2 % off is noticed


@pytest.mark.parametrize("opacity", [0.0, pytest.param(1e-4, marks=pytest.mark.slow), 1.0])
def test_ends_of_opacity(f32, opacity):
    """A splat that is not there yet, and one that hides all behind it, have finite and unbiased derivatives."""
    case = oracle.random_case(2, sky=0.5)
    case.opacity = np.array([opacity, 0.6])
    v = np.array([1.0, 0.0])
    h = 1e-3 * (1.0 if opacity < 0.5 else -1.0)
    at = [oracle.image(case.moved("opacity", v, k * h), **RULE) for k in range(3)]
    exact = ((-1.5 * at[0] + 2 * at[1] - 0.5 * at[2]) * WEIGHT).sum() / h
    scene = oracle.scene_of(case)
    spp = 8192 if opacity == 0.0 else 2048  # a splat that is not there yet is met by chance alone
    found = [it.backward(scene, WEIGHT, spp=spp, seed=s, params=["s.opacity", "s.albedo"]) for s in range(8)]
    assert all(np.isfinite(g[p]).all() for g in found for p in g)
    estimates = np.array([g["s.opacity"][0] for g in found])
    assert_z(estimates, exact)
    assert mean_and_error(estimates)[1] < 0.1 * abs(exact)
    # Sampling by other opacities leaves the other derivatives, and pictures, what they are.
    plain = np.array([it.backward(scene, WEIGHT, spp=2048, seed=s, params=["s.albedo"])["s.albedo"] for s in range(8)])
    floored = np.array([g["s.albedo"] for g in found])
    assert_z(floored.sum((1, 2)), plain.mean(0).sum(), mean_and_error(plain.sum((1, 2)))[1])
    assert_z(sample(lambda s: it.render(scene, 2048, s).sum(), range(8)), at[0].sum(), precise=2e-3)
