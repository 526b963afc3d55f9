"""Participating media: fog, smoke, milk; what fills a shape's inside, or the world."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from .phase import PhaseTable
from .spectrum import Value


@dataclass(eq=False)
class Medium:
    """A medium; shapes name it as their ``interior``, ``Scene.medium`` fills the world with one.

    kind: "homogeneous", or "grid" with densities. values: its parameters (defaults fill the rest): sigma_t, extinction per
    unit of length, times ``scale``; albedo, the fraction of it that scatters; g, the mean cosine of the phase function "hg"
    (Henyey and Greenstein); emission, radiance per unit of length. Of a grid also ``density``, (nz, ny, nx) factors on
    extinction and emission at the centres of voxels, linear between them and 0 outside, or a SparseGrid.
    phase: "isotropic", "hg", "droplets" of water, whose ``diameter`` in micrometres stands in place of g, or "table", given by
    ``phase_values``, a PhaseTable.
    priority: of media that overlap the one of highest priority is there, among equals the one
    entered last. to_world: (4, 4), of a grid, from the cube [0, 1]^3 along its x, y, z.
    """

    id: str
    kind: str = "homogeneous"
    values: dict[str, Value | np.ndarray | PhaseTable] = field(default_factory=dict)
    phase: str = "isotropic"
    priority: int = 0
    to_world: np.ndarray = field(default_factory=lambda: np.eye(4))
