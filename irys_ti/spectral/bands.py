"""Film channels other than RGB: bands of wavelength."""

from __future__ import annotations

import numpy as np

from .cie import wavelengths


def band_responses(bands) -> np.ndarray:
    """(n, 95) responses per nm whose integral is 1: the mean radiance of each band.

    bands: [(low, high), ...] nm within 360 to 830. The edges are linear over the 5 nm cells they fall in, as the
    film keeps its responses; each band has area exactly 1.
    """
    nodes = wavelengths()
    out = []
    for low, high in bands:
        if not (nodes[0] <= low < high <= nodes[-1]):
            raise ValueError(f"band ({low}, {high}) nm is not an interval within 360 to 830")
        # Node weights of the box's projection: each node's hat function integrated over the band.
        fine = np.linspace(low, high, 2001)
        hats = np.maximum(0.0, 1.0 - np.abs((fine[:, None] - nodes[None]) / 5.0))
        values = np.trapezoid(hats, fine, axis=0) / 5.0
        out.append(values / np.trapezoid(values, nodes))
    return np.array(out)
