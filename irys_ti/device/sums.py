"""Exact totals of the accumulators: the same integers, whatever the number of replicas or launches."""

from __future__ import annotations

import numpy as np

from irys_ti.kernels.accumulate import WORDS


def exact_totals(words: np.ndarray, n_replicas: int, n: int, groups: int) -> list[np.ndarray]:
    """Totals (n,) float64 of each group; a group owns n_replicas / groups consecutive replicas.

    words: u32, (n_replicas, n, 6). The sums are carried in integers and rounded to f64 once, at the end.
    """
    parts = words.reshape(groups, n_replicas // groups, n, WORDS).astype(np.uint64).sum(1)
    return [signed(p[:, :3]) - signed(p[:, 3:]) if _small(p) else wide(p) for p in parts]


def _small(p: np.ndarray) -> bool:
    """Whether both magnitudes fit 53 bits, so that f64 holds them and their difference exactly."""
    return not p[:, 2].any() and not p[:, 5].any() and not (p[:, 1] >> 20).any() and not (p[:, 4] >> 20).any()


def signed(p: np.ndarray) -> np.ndarray:
    """Three words to f64; exact below 2^53."""
    return (p[:, 0] + (p[:, 1] << np.uint64(32))).astype(np.float64)


def wide(p: np.ndarray) -> np.ndarray:
    """Positive minus negative magnitude by Python's integers, rounded once."""
    out = np.empty(len(p))
    for i, (a, b, c, d, e, f) in enumerate(p.tolist()):
        out[i] = float((a - d) + ((b - e) << 32) + ((c - f) << 64))
    return out
