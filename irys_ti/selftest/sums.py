"""The exact sums by themselves: numbers added on the device against Python's integers."""

import math
from fractions import Fraction

import numpy as np

from .. import runtime
from ..device.sums import exact_totals
from ..kernels.accumulate import FAULTS, NOT_FINITE, TOO_LARGE, WORDS, add_exact
from ..runtime import ti


@ti.kernel
def add_numbers(
    acc: ti.types.ndarray(ndim=1),
    numbers: ti.types.ndarray(ndim=1),
    order: ti.types.ndarray(ndim=1),
    first: int,
    last: int,
    n_accumulators: int,
    n_replicas: int,
):
    """Add numbers[order[first:last]] to their accumulators, ``i % n_accumulators``, spread over the replicas."""
    for lane in range(first, last):
        i = order[lane]
        replica = lane % n_replicas
        add_exact(acc, replica * n_accumulators + i % n_accumulators, numbers[i])


def add(numbers, n_accumulators: int = 1, n_replicas: int = 1, order=None, n_launches: int = 1) -> np.ndarray:
    """The accumulators' words after adding the numbers in that order, in so many launches."""
    numbers = np.asarray(numbers, runtime.real_dtype())
    order = np.arange(len(numbers)) if order is None else order
    acc = runtime.zeros(FAULTS + n_replicas * n_accumulators * WORDS, np.uint32)
    device_numbers, device_order = runtime.array(numbers), runtime.array(order, np.int32)
    ends = np.linspace(0, len(numbers), n_launches + 1).astype(int)
    for first, last in zip(ends, ends[1:]):
        add_numbers(acc, device_numbers, device_order, int(first), int(last), n_accumulators, n_replicas)
    return acc.to_numpy()


def integers(words: np.ndarray, n_accumulators: int) -> list[int]:
    """What each accumulator holds over all replicas, by Python's integers."""
    rows = words[FAULTS:].reshape(-1, n_accumulators, WORDS).tolist()
    out = [0] * n_accumulators
    for replica in rows:
        for i, (a, b, c, d, e, f) in enumerate(replica):
            out[i] += (a - d) + ((b - e) << 32) + ((c - f) << 64)
    return out


def expected(numbers, n_accumulators: int = 1) -> list[int]:
    """The sums of the numbers, each rounded to the nearest integer, halves away from zero."""
    out = [0] * n_accumulators
    for i, x in enumerate(np.asarray(numbers, runtime.real_dtype()).tolist()):
        m = math.floor(Fraction(abs(x)) + Fraction(1, 2))
        out[i % n_accumulators] += m if x > 0 else -m
    return out


def totals(words: np.ndarray, n_accumulators: int, n_replicas: int) -> np.ndarray:
    """What the host makes of the words."""
    return exact_totals(words[FAULTS:], n_replicas, n_accumulators, 1)[0]


def faults(numbers) -> tuple[int, int]:
    """How many of the numbers were refused as too large, and as not finite."""
    words = add(numbers)
    return int(words[TOO_LARGE]), int(words[NOT_FINITE])


def random_numbers(n: int, seed: int = 0) -> np.ndarray:
    """Numbers of both signs over all magnitudes that an accumulator takes, halves and zeros among them."""
    rng = np.random.default_rng(seed)
    x = rng.standard_normal(n) * 2.0 ** rng.uniform(-4, 52, n)
    x[:: max(1, n // 50)] = rng.integers(-100, 100, len(x[:: max(1, n // 50)])) + 0.5
    x[1 :: max(1, n // 20)] = 0.0
    return x
