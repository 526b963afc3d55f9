"""Spectra given by points, put on a uniform grid that a kernel reads with one division."""

from __future__ import annotations

import numpy as np

from ..scene import Spectrum
from ..scene.spectrum import LAMBDA_MAX, LAMBDA_MIN

MAX_ENTRIES = 512
_SAME = 1e-6  # nm: wavelengths nearer than this are one


def to_grid(spectrum: Spectrum) -> tuple[float, float, np.ndarray, np.ndarray]:
    """Resample a "points" (or "constant") spectrum: ``(lambda0, step, values, weights)``.

    The grid is lambda0 + i * step (nm), linear between its entries and zero outside them, with
    ``values = weights @ spectrum.values``, weights (n_grid, n_points), n_grid >= 2; so the derivative by
    the points is ``weights.T @ d_values``. Exact where all points lie on a common spacing with at most
    MAX_ENTRIES entries; otherwise the step is 1 nm or just below, over what the points share with 360 to
    830 nm, both ends exact. Fewer than two points, or points that miss the range, are zero everywhere.
    With ``extend`` the grid spans 360 to 830 nm, and points count beyond it.
    """
    if spectrum.kind == "constant":
        weights = np.ones((2, 1))
        return LAMBDA_MIN, LAMBDA_MAX - LAMBDA_MIN, weights @ spectrum.values, weights
    if spectrum.kind != "points":
        raise ValueError(f"a spectrum of kind {spectrum.kind!r} has no grid")
    w = spectrum.wavelengths
    if spectrum.extend and (w[0] > LAMBDA_MIN or w[-1] < LAMBDA_MAX):
        ends = np.r_[LAMBDA_MIN, w[(w > LAMBDA_MIN) & (w < LAMBDA_MAX)], LAMBDA_MAX]
        low, step, values, weights = to_grid(Spectrum("points", np.zeros(len(ends)), ends))
        grid = low + step * np.arange(len(values))
        weights = interpolation(w, grid) if len(w) > 1 else np.ones((len(grid), 1))
        return low, step, weights @ spectrum.values, weights
    low, high = max(w[0], LAMBDA_MIN), min(w[-1], LAMBDA_MAX)
    if len(w) < 2 or high <= low:
        weights = np.zeros((2, len(w)))
        return LAMBDA_MIN, LAMBDA_MAX - LAMBDA_MIN, weights @ spectrum.values, weights
    step = common_step(w)
    if step is not None:
        low, n = float(w[0]), round((w[-1] - w[0]) / step) + 1
        step = (w[-1] - w[0]) / (n - 1)
    else:
        n = int(np.ceil(high - low)) + 1
        step = (high - low) / (n - 1)
    weights = interpolation(w, low + step * np.arange(n))
    return float(low), float(step), weights @ spectrum.values, weights


def common_step(w: np.ndarray) -> float | None:
    """The largest step (nm) of which all distances of the points are multiples; None if it is too small."""
    step = 0.0
    smallest = (w[-1] - w[0]) / (MAX_ENTRIES - 1)
    for gap in np.diff(w):
        a, b = max(step, gap), min(step, gap)
        while b > _SAME:  # Euclid on real numbers; a remainder just under b is a rounded zero
            remainder = a % b
            a, b = b, (0.0 if b - remainder <= _SAME else remainder)
        step = a
        if step < smallest * (1 - 1e-9):
            return None
    return float(step)


def interpolation(w: np.ndarray, at: np.ndarray) -> np.ndarray:
    """(len(at), len(w)) weights of linear interpolation between increasing points w; clamped at the ends."""
    at = np.clip(at, w[0], w[-1])
    right = np.clip(np.searchsorted(w, at, side="right"), 1, len(w) - 1)
    t = (at - w[right - 1]) / (w[right] - w[right - 1])
    t[np.abs(t) < 1e-12], t[np.abs(t - 1) < 1e-12] = 0.0, 1.0
    weights = np.zeros((len(at), len(w)))
    rows = np.arange(len(at))
    weights[rows, right - 1] = 1 - t
    weights[rows, right] += t
    return weights
