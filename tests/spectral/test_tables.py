"""Uniform grids, metals and glasses."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from irys_ti.scene import constant, points, rgb
from irys_ti.spectral import glass, metals
from irys_ti.spectral.grid import MAX_ENTRIES, to_grid


def read(lambda0, step, values, at):
    """What a kernel reads from a grid."""
    nodes = lambda0 + step * np.arange(len(values))
    return np.interp(at, nodes, values, left=0, right=0)


@pytest.mark.parametrize(
    ("wavelengths", "step", "n"),
    [
        (np.arange(400, 701, 4), 4, 76),
        ([400, 550, 700], 150, 3),
        ([400, 500, 600, 700], 100, 4),
        ([400, 410, 700], 10, 31),
        ([100, 200, 900], 100, 9),
        ([400.5, 401.75, 450.5], 1.25, 41),
        (400 + np.arange(31) * (300 / 30 + 1e-9), 10, 31),
    ],
)
def test_exact_on_a_common_spacing(wavelengths, step, n):
    w = np.asarray(wavelengths, np.float64)
    v = np.random.default_rng(0).random(len(w))
    lambda0, grid_step, values, weights = to_grid(points(w, v))
    assert len(values) == n and grid_step == pytest.approx(step) and lambda0 == w[0]
    np.testing.assert_allclose(values, weights @ v, rtol=1e-14)
    at = np.linspace(w[0], w[-1], 4001)
    np.testing.assert_allclose(read(lambda0, grid_step, values, at), np.interp(at, w, v), atol=1e-9)
    np.testing.assert_allclose(read(lambda0, grid_step, values, [w[0] - 0.1, w[-1] + 0.1]), 0)


def test_without_a_common_spacing_one_nanometre():
    w = np.array([298.757050, 431.2, 500.123456, 777.7, 885.601])
    v = np.array([1.0, 3.0, 2.0, 5.0, 0.5])
    lambda0, step, values, weights = to_grid(points(w, v))
    assert lambda0 == 360 and 0.9 < step <= 1 and len(values) <= MAX_ENTRIES
    at = np.linspace(360, 830, 5000)
    kink = np.abs(np.diff(np.diff(v) / np.diff(w))).max()
    assert np.abs(read(lambda0, step, values, at) - np.interp(at, w, v)).max() <= kink * step
    np.testing.assert_allclose(weights.sum(1), 1, rtol=1e-12)


@pytest.mark.parametrize(("wavelengths", "values"), [([550], [2.0]), ([100, 200], [1, 1]), ([900, 1000], [1, 1])])
def test_what_cannot_be_seen_is_zero(wavelengths, values):
    _, step, grid, weights = to_grid(points(wavelengths, values))
    assert weights.shape == (len(grid), len(values)) and len(grid) >= 2 and step > 0
    assert not grid.any() and not weights.any()


def test_constants_and_colours():
    lambda0, step, grid, weights = to_grid(constant(0.7))
    np.testing.assert_allclose(read(lambda0, step, grid, [360, 500, 830]), 0.7)
    np.testing.assert_allclose(weights, 1)
    with pytest.raises(ValueError, match="rgb"):
        to_grid(rgb(1, 0, 0))


@settings(max_examples=60, deadline=None)
@given(st.lists(st.floats(200, 1000), min_size=2, max_size=20, unique=True), st.randoms())
def test_any_points(wavelengths, random):
    w = np.sort(wavelengths)
    w = w[np.concatenate([[True], np.diff(w) > 1e-3])]
    if len(w) < 2:
        return
    v = np.array([random.random() for _ in w])
    lambda0, step, grid, weights = to_grid(points(w, v))
    assert 2 <= len(grid) <= MAX_ENTRIES and step > 0 and np.isfinite(grid).all()
    np.testing.assert_allclose(grid, weights @ v, atol=1e-12)
    assert grid.max() <= v.max() + 1e-9
    inside = (w >= 360) & (w <= 830)
    if inside.any() and len(w) > 2:  # at most one step from a kink
        slope = np.abs(np.diff(v) / np.diff(w)).max()
        got = read(lambda0, step, grid, np.clip(w[inside], lambda0, lambda0 + step * (len(grid) - 1)))
        assert np.abs(got - v[inside]).max() <= 2 * slope * step + 1e-6


def test_gold_as_published():
    """Rows of the published table; the red wins: normal reflectance rises from 0.4 in the blue to 0.95."""
    eta, k = metals.metal("Au")
    row = np.searchsorted(eta.wavelengths, 399.95) - 1
    assert eta.wavelengths[row] == pytest.approx(399.948975) and eta.values[row] == pytest.approx(1.658)
    n = np.interp([450, 700], eta.wavelengths, eta.values)
    kappa = np.interp([450, 700], k.wavelengths, k.values)
    reflectance = ((n - 1) ** 2 + kappa**2) / ((n + 1) ** 2 + kappa**2)
    np.testing.assert_allclose(reflectance, [0.39, 0.97], atol=0.02)


def test_every_metal_covers_the_range():
    assert {"Au", "Ag", "Al", "Cu", "Cr", "none", "W", "a-C"} <= set(metals.names())
    for name in metals.names():
        for spectrum in metals.metal(name):
            assert np.isfinite(spectrum.values).all() and (spectrum.values >= 0).all()
            if spectrum.kind == "points":
                assert spectrum.wavelengths[0] <= 360 and spectrum.wavelengths[-1] >= 830
                assert (np.diff(spectrum.wavelengths) > 0).all()


def test_a_mirror_and_an_unknown_metal():
    eta, k = metals.metal("none")
    assert (eta.values[0], k.values[0]) == (0, 1)
    with pytest.raises(KeyError):
        metals.metal("Unobtainium")


def test_glasses():
    assert glass.INDICES["bk7"] == 1.5046 and glass.INDICES["vacuum"] == 1
    assert all(1 <= n < 3 for n in glass.INDICES.values())


@pytest.mark.parametrize("wavelengths", [[450, 550, 650], [300, 400, 700], [500], [100, 200], [400, 553.3, 900]])
def test_extended_points_keep_their_ends(wavelengths):
    values = np.random.default_rng(1).random(len(wavelengths))
    lambda0, step, grid, weights = to_grid(points(wavelengths, values, extend=True))
    at = np.linspace(360, 830, 3001)
    assert np.abs(read(lambda0, step, grid, at) - np.interp(at, wavelengths, values)).max() < 1e-2 * (step <= 1) + 1e-12
    np.testing.assert_allclose(weights @ values, grid)
    np.testing.assert_allclose(weights.sum(1), 1, rtol=1e-12)
