"""Where a grid of densities stands, and the greatest density in each cell of a coarser grid over it."""

from __future__ import annotations

import numpy as np

VOXELS = 4  # along the side of a cell
MOST_CELLS = 64  # along an axis
EVEN = 1.25  # a grid whose greatest density is at most so many times the mean of its cells' is one cell


def cells(shape: tuple) -> tuple[int, int, int]:
    """(z, y, x) number of cells over a grid of that shape."""
    return tuple(min(MOST_CELLS, -(-n // VOXELS)) for n in shape)


def majorants(density: np.ndarray, count: tuple) -> np.ndarray:
    """Greatest density that interpolation can give in each cell, (z, y, x)."""
    out = np.asarray(density, np.float64)
    for axis, n in enumerate(count):
        size = out.shape[axis]
        edges = np.arange(n + 1) * (size / n)
        low = np.clip(np.floor(edges[:-1] - 0.5).astype(int), 0, size - 1)
        high = np.clip(np.floor(edges[1:] - 0.5).astype(int) + 1, 0, size - 1)
        moved = np.moveaxis(out, axis, 0)
        out = np.moveaxis(np.stack([moved[a : b + 1].max(0) for a, b in zip(low, high)]), 0, axis)
    return out


def place(density: np.ndarray, to_world: np.ndarray) -> tuple[np.ndarray, tuple]:
    """What the pool holds of a grid (kernels/layout.py), and its cells along x, y, z."""
    found = majorants(density, cells(density.shape))
    if found.max() <= EVEN * found.mean():
        found = found.max().reshape(1, 1, 1)
    matrix = np.linalg.inv(to_world)[:3].reshape(-1)
    diagonal = float(np.linalg.norm(to_world[:3, :3] @ np.ones(3)))
    return np.r_[matrix, diagonal, found.reshape(-1)], found.shape[::-1]
