"""Three spectra that mix to any colour: what a colour means where it must be linear (make_rgb_bands.py)."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np


@cache
def rgb_bands() -> np.ndarray:
    """(3, 95), at the nodes of ``cie.wavelengths``: none negative, their sum 1; under D65 red, green and blue."""
    with np.load(Path(__file__).parents[1] / "data" / "rgb_bands.npz") as file:
        values = file["bands"]
    values.flags.writeable = False
    return values
