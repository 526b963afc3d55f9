"""Complex refractive indices eta + i k of named metals and other conductors."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np

from ..scene import Spectrum, constant, points
from ..scene.spectrum import LAMBDA_MAX, LAMBDA_MIN

MIRROR = "none"  # reflects everything


@cache
def _tables() -> dict[str, np.ndarray]:
    with np.load(Path(__file__).parents[1] / "data" / "metals.npz") as file:
        return {name: file[name] for name in file.files if name != "source"}


def names() -> list[str]:
    """The names that ``metal`` knows: chemical symbols such as "Au", and "none", a perfect mirror."""
    return [MIRROR, *_tables()]


def metal(name: str) -> tuple[Spectrum, Spectrum]:
    """(eta, k) of a named conductor, at its published wavelengths (data/metals.npz names the source).

    A table that ends inside 360 to 830 nm keeps its last value up to there. KeyError for an unknown name.
    """
    if name == MIRROR:
        return constant(0.0), constant(1.0)
    table = _tables()[name]
    if table[0, 0] > LAMBDA_MIN:
        table = np.vstack([[LAMBDA_MIN, *table[0, 1:]], table])
    if table[-1, 0] < LAMBDA_MAX:
        table = np.vstack([table, [LAMBDA_MAX, *table[-1, 1:]]])
    return points(table[:, 0], table[:, 1]), points(table[:, 0], table[:, 2])
