"""Phase functions that are given as tables."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass
class PhaseTable:
    """A phase function as numbers over the cosine of the scattering angle, linear in between: ``phase_values`` of a Medium.

    cosines: (n,) from -1 (back) to 1 (forward), increasing. values: (n,), or (m, n) with wavelengths (m,) in nm, increasing,
    linear between them and beyond the ends as there. Their unit does not matter: each row is normalised over the sphere.
    """

    cosines: np.ndarray
    values: np.ndarray
    wavelengths: np.ndarray | None = None

    def __post_init__(self):
        self.cosines, self.values = np.array(self.cosines, np.float64), np.array(self.values, np.float64)
        if self.wavelengths is not None:
            self.wavelengths = np.array(self.wavelengths, np.float64)
