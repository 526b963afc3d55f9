"""z-tests with stated seeds: every helper here must reject a biased sampler (tests/test_helpers.py)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy import stats

SEEDS = range(100, 116)


def sample(estimate: Callable, seeds=SEEDS) -> np.ndarray:
    """(n, ...) independent estimates, one a seed."""
    return np.array([estimate(seed) for seed in seeds], np.float64)


def mean_and_error(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean over the first axis and its standard error."""
    return x.mean(0), x.std(0, ddof=1) / np.sqrt(len(x))


def z_scores(x: np.ndarray, expected, error=0.0) -> np.ndarray:
    """z of the mean of independent estimates against an expected value with an error bar, as normal deviates.

    The estimates' own variance is estimated, so the ratio follows Student's t; it is mapped to the normal.
    """
    mean, own = mean_and_error(x)
    both = np.sqrt(own**2 + np.asarray(error) ** 2)
    t = (mean - expected) / np.where(both > 0, both, 1.0)
    dof = (len(x) - 1) * (both / np.where(own > 0, own, 1.0)) ** 4  # Welch and Satterthwaite
    p = stats.t.sf(np.abs(t), np.maximum(dof, 1.0))
    return np.where((both == 0) & (mean != expected), np.inf, np.sign(t) * stats.norm.isf(np.maximum(p, 1e-300)))


def assert_z(x: np.ndarray, expected, error=0.0, level: float = 4.0, precise: float | None = None) -> None:
    """The mean agrees with what is expected: every |z| below ``level``.

    precise: the standard error must also be at most this share of the expected value, so that noise cannot
    pass for agreement.
    """
    z = np.atleast_1d(z_scores(x, expected, error))
    mean, own = mean_and_error(x)
    assert np.all(np.abs(z) < level), f"mean {mean} expected {expected} standard error {own} z {z}"
    if precise is not None:
        assert np.all(own <= precise * np.abs(expected)), f"too noisy to tell: {own} of {expected}"


def share_of_pixels(x: np.ndarray, expected: np.ndarray, error: np.ndarray, significance: float = 0.01) -> float:
    """Share of pixel channels that pass a z-test whose family has this significance (Sidak)."""
    z = z_scores(x, expected, error)
    limit = stats.norm.isf((1.0 - (1.0 - significance) ** (1.0 / z.size)) / 2.0)
    return float((np.abs(z) <= limit).mean())
