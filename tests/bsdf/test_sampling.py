"""Every BSDF's sampler: chi-squared against its density, and the estimates that eval / pdf gives."""

import numpy as np
import pytest

from tests.bsdf.cases import DELTA, NAMES, SMOOTH, incident, model, seed_of
from tests.helpers import chi2

N = 200_000
CASES = [
    (name, i, j)
    for name in SMOOTH
    for i in range(len(model(name).settings()))
    for j in range(len(incident(model(name))))
]


def drawn(name, i, j, n=N):
    m = model(name)
    p, wi = m.settings()[i], incident(m)[j]
    u = np.random.default_rng(seed_of(name) + 100 * i + j).random((n, 3))
    wo, delta = m.draw(p, wi, u)
    return m, p, wi, wo, delta


@pytest.mark.parametrize("name,i,j", CASES)
def test_chi2(name, i, j):
    m, p, wi, wo, delta = drawn(name, i, j)
    # Of a mix with delta lobes, the smooth samples alone: by their own, exact share.
    smooth = 1.0
    if delta.any():
        smooth -= m.run([m.pdf_delta], p, wi, np.unique(np.round(wo[delta], 12), axis=0))[0].sum()
    chi2.check(
        wo[~delta], lambda w: m.run([m.pdf], p, wi, w)[0] / smooth, chi2.sidak(len(CASES)), f"{name} {i} {j}"
    )


@pytest.mark.parametrize("bias", ["narrow", "skew"])
def test_chi2_rejects_a_biased_sampler(bias):
    """The control: uniforms that are 2 % off must be found out."""
    m = model("diffuse")
    p, wi = m.settings()[0], incident(m)[0]
    u = np.random.default_rng(5).random((N if bias == "narrow" else 4 * N, 3))
    u[:, 0] = u[:, 0] * 0.98 if bias == "narrow" else u[:, 0] ** (1.0 / 1.02)
    wo, _ = m.draw(p, wi, u)
    with pytest.raises(AssertionError, match="chi2"):
        chi2.check(wo, lambda w: m.run([m.pdf], p, wi, w)[0], chi2.sidak(len(CASES)), "control " + bias)


def test_chi2_rejects_a_density_off_by_2_percent():
    m = model("diffuse")
    p, wi = m.settings()[0], incident(m)[0]
    wo, _ = m.draw(p, wi, np.random.default_rng(5).random((N, 3)))
    for factor in (0.98, 1.02):
        with pytest.raises(AssertionError, match="chi2|integrates"):
            chi2.check(wo, lambda w: factor * m.run([m.pdf], p, wi, w)[0], chi2.sidak(len(CASES)), "control pdf")  # noqa: B023


@pytest.mark.parametrize("name,i,j", CASES)
def test_weights_estimate_the_integral(name, i, j):
    """The mean of eval / pdf over samples is the integral of eval; where eval > 0, pdf > 0."""
    m, p, wi, wo, delta = drawn(name, i, j, 50_000)
    value, pdf = m.run([m.eval, m.pdf], p, wi, wo)
    assert (pdf >= 0).all() and np.isfinite(value).all() and np.isfinite(pdf).all()
    weight = np.where(((pdf > 0) & ~delta)[:, None], value / np.where(pdf > 0, pdf, 1.0)[:, None], 0.0)
    np.testing.assert_allclose(weight * pdf[:, None], np.where(delta[:, None], 0.0, value), rtol=1e-12, atol=0)
    rng = np.random.default_rng(1)
    everywhere = rng.standard_normal((20_000, 3))
    everywhere /= np.linalg.norm(everywhere, axis=1, keepdims=True)
    value, pdf = m.run([m.eval, m.pdf], p, wi, everywhere)
    assert (value >= 0).all()
    assert (pdf[(value > 0).any(1)] > 0).all(), "eval > 0 where pdf = 0: light that is never sampled"
    for band in (0, 3):
        integral = chi2.integrate_cells(lambda w: m.run([m.eval], p, wi, w)[0][:, band]).sum()  # noqa: B023
        x = weight[:, band]
        error = x.std() / np.sqrt(len(x)) + 1e-5
        assert abs(x.mean() - integral) < 5 * error, f"mean weight {x.mean()} +- {error}, integral {integral}"


@pytest.mark.parametrize("name", DELTA)
def test_delta_probabilities(name):
    """Delta lobes are chosen as often as pdf_delta says; each has a floor."""
    m = model(name)
    rng = np.random.default_rng(seed_of(name))
    for p in m.settings():
        for wi in incident(m):
            n = 20_000
            wo, delta = m.draw(p, wi, rng.random((n, 3)))
            kinds, count = np.unique(np.round(wo[delta], 9), axis=0, return_counts=True)
            (pmf,) = m.run([m.pdf_delta], p, wi, kinds)
            assert (pmf > 0).all() and (pmf <= 1).all()
            error = np.sqrt(pmf * (1 - pmf) / n) + 1e-9
            assert (np.abs(count / n - pmf) < 5 * error).all(), (p, wi, kinds, count / n, pmf)
            np.testing.assert_allclose(np.linalg.norm(wo, axis=1), 1.0, atol=1e-12)


@pytest.mark.parametrize("name", NAMES)
def test_samples_are_unit_and_finite_at_the_corners(name):
    """Uniforms at 0 and just below 1, every wi from normal to exactly grazing."""
    m = model(name)
    edge = [0.0, 2.0**-24, 0.5, 1.0 - 2.0**-24]
    u = np.array([[a, b, c] for a in edge for b in edge for c in edge])
    for p in m.settings() + [{k: q.low if not q.shape else np.full(4, q.low) for k, q in m.params.items()}]:
        for z in (1.0, 0.3, 1e-4, 1e-8, 0.0, -1e-8, -0.3, -1.0):
            r = np.sqrt(1 - z * z)
            wi = np.array([r, 0.0, z])
            wo, _ = m.draw(p, wi, u)
            assert np.isfinite(wo).all(), (p, wi)
            np.testing.assert_allclose(np.linalg.norm(wo, axis=1), 1.0, atol=1e-9)


