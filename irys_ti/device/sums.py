"""Exact totals of the accumulators: the same integers, whatever the number of replicas or launches."""

from __future__ import annotations

import numpy as np

from irys_ti.kernels.accumulate import WORDS


def exact_totals(words: np.ndarray, n_replicas: int, n: int, groups: int) -> list[np.ndarray]:
    """Totals (n,) float64 of each group; a group owns n_replicas / groups consecutive replicas.

    words: u32, (n_replicas, n, 6). The sums are carried in integers and rounded to f64 once, at the end.
    """
    parts = words.reshape(groups, n_replicas // groups, n, WORDS)
    if parts.shape[1] == 1:
        return [_of_one(np.ascontiguousarray(p[0])) for p in parts]
    return [_of_many(p.astype(np.uint64).sum(0)) for p in parts]


def _of_one(p: np.ndarray) -> np.ndarray:
    """Totals of one replica, as textures have: its words read in pairs, which takes a third of the time."""
    pairs = p.view("<u8")  # low and middle; high and the negative's low; its middle and high
    low = np.uint64(0xFFFFFFFF)
    positive, negative = pairs[:, 0], (pairs[:, 1] >> np.uint64(32)) | (pairs[:, 2] << np.uint64(32))
    high = (pairs[:, 1] & low) | (pairs[:, 2] >> np.uint64(32))
    out = positive.astype(np.float64) - negative.astype(np.float64)
    large = np.flatnonzero(high | (positive >> np.uint64(52)) | (negative >> np.uint64(52)))
    out[large] = wide(p[large].astype(np.uint64))
    return out


def _of_many(p: np.ndarray) -> np.ndarray:
    """Totals of summed words, (n, 6) u64."""
    # Where both magnitudes fit 53 bits, f64 holds them and their difference exactly.
    large = np.flatnonzero(p[:, 2] | p[:, 5] | (p[:, 1] >> np.uint64(20)) | (p[:, 4] >> np.uint64(20)))
    out = signed(p[:, :3]) - signed(p[:, 3:])
    out[large] = wide(p[large])
    return out


def signed(p: np.ndarray) -> np.ndarray:
    """Three words to f64; exact below 2^53."""
    return (p[:, 0] + (p[:, 1] << np.uint64(32))).astype(np.float64)


def wide(p: np.ndarray) -> np.ndarray:
    """Positive minus negative magnitude by Python's integers, rounded once."""
    out = np.empty(len(p))
    for i, (a, b, c, d, e, f) in enumerate(p.tolist()):
        out[i] = float((a - d) + ((b - e) << 32) + ((c - f) << 64))
    return out
