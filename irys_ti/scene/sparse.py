"""Grids of densities of which only the blocks that hold something are kept."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

BLOCK = 8  # voxels along the side of a block


@dataclass(eq=False)
class SparseGrid:
    """Blocks of 8^3 voxels of a grid, elsewhere 0: ``density`` of a Medium, in place of an array.

    size: (nz, ny, nx) voxels. blocks: (n, 8, 8, 8) densities. corners: (n, 3) whole numbers, each block's place (z, y, x) in
    blocks. Voxels of a block beyond the grid's end count for nothing. Every voxel of a block that is kept has a derivative, also
    where it is 0; what is not kept stays empty.
    """

    size: tuple
    blocks: np.ndarray
    corners: np.ndarray

    def __post_init__(self):
        self.size = tuple(int(n) for n in self.size)
        self.blocks = np.array(self.blocks, np.float64)
        self.corners = np.array(self.corners, np.int64).reshape(-1, 3)

    @classmethod
    def of(cls, density, keep=None) -> SparseGrid:
        """From an array (nz, ny, nx): blocks with a voxel that is not 0, and those with one where ``keep``, such an array, is true."""
        density = np.asarray(density, np.float64)
        used = density != 0 if keep is None else (density != 0) | np.asarray(keep, bool)
        filled = _cut(used).any((1, 2, 3))
        return cls(density.shape, _cut(density)[filled], np.argwhere(np.ones(_count(density.shape), bool))[filled])

    def table(self) -> np.ndarray:
        """(z, y, x) number of the block at each place, -1 where none is kept."""
        out = np.full(_count(self.size), -1, np.int64)
        out[tuple(self.corners.T)] = np.arange(len(self.corners))
        return out

    def dense(self) -> np.ndarray:
        """The whole array (nz, ny, nx)."""
        out = np.zeros([BLOCK * n for n in _count(self.size)])
        for block, (z, y, x) in zip(self.blocks, BLOCK * self.corners):
            out[z : z + BLOCK, y : y + BLOCK, x : x + BLOCK] = block
        return out[tuple(slice(n) for n in self.size)]

    def part_of(self, array) -> np.ndarray:
        """The kept blocks' part, (n, 8, 8, 8), of an array (nz, ny, nx)."""
        whole = _cut(np.asarray(array)).reshape(*_count(self.size), BLOCK, BLOCK, BLOCK)
        return whole[tuple(self.corners.T)]


def _count(size) -> tuple:
    """Blocks along each axis."""
    return tuple(-(-n // BLOCK) for n in size)


def _cut(array: np.ndarray) -> np.ndarray:
    """All blocks (n, 8, 8, 8) of an array, padded by 0."""
    count = _count(array.shape)
    padded = np.pad(array, [(0, BLOCK * n - m) for n, m in zip(count, array.shape)])
    split = padded.reshape([k for n in count for k in (n, BLOCK)])
    return split.transpose(0, 2, 4, 1, 3, 5).reshape(-1, BLOCK, BLOCK, BLOCK)
