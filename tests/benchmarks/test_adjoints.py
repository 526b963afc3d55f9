"""The three adjoints that benchmarks/adjoint_cost.py compares: all right, and as dear as theory says."""

import numpy as np
import pytest

from benchmarks.adjoint_cost import ALBEDO, METHODS, Room

N, DEPTH = 1 << 13, 6


@pytest.mark.parametrize("method", METHODS)
def test_against_differences(f64, method):
    """Mean of 16 seeds against central differences of the same paths; the pooled z of six walls."""
    told = np.array([Room(N).gradient(method, DEPTH, seed) for seed in range(16)])
    seen, step = [], 1e-4
    for seed in range(16):
        row = []
        for wall in range(6):
            low, high = np.array(ALBEDO), np.array(ALBEDO)
            low[wall] -= step
            high[wall] += step
            row.append((Room(N, high).loss(DEPTH, seed) - Room(N, low).loss(DEPTH, seed)) / (2 * step))
        seen.append(row)
    seen = np.array(seen)
    if method != "radiative":  # the same paths: the same numbers
        np.testing.assert_allclose(told, seen, rtol=1e-5, atol=1e-7)
    z = (told - seen).mean(0) / ((told - seen).std(0, ddof=1) / 4 + 1e-6)
    assert (np.abs(z) < 4).all()
    assert (np.abs(told.mean(0) - seen.mean(0)) < 0.1 * seen.mean(0)).all()


def test_memory(f32):
    """The tape's memory grows with depth; the others' does not."""
    kept = {m: [] for m in METHODS}
    for method in METHODS:
        for depth in (2, 16):
            room = Room(256)
            room.gradient(method, depth, 1)
            kept[method].append(room.bytes)
    assert kept["replay"][0] == kept["replay"][1] == kept["radiative"][0] == kept["radiative"][1]
    assert kept["tape"][1] - kept["tape"][0] == 256 * 14 * 14 * 4
