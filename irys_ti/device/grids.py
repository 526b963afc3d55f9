"""Where a grid of densities stands, and the greatest density in each cell of a coarser grid over it."""

from __future__ import annotations

import numpy as np

from irys_ti.scene.sparse import BLOCK, SparseGrid

VOXELS = 4  # along the side of a cell
MOST_CELLS = 64  # along an axis
EVEN = 1.25  # a grid whose greatest density is at most so many times the mean of its cells' is one cell


def cells(shape: tuple) -> tuple[int, int, int]:
    """(z, y, x) number of cells over a grid of that shape."""
    return tuple(min(MOST_CELLS, -(-n // VOXELS)) for n in shape)


def _voxels_of(size: int, n: int) -> tuple[np.ndarray, np.ndarray]:
    """First and last voxel that interpolation reads in each of n cells along an axis."""
    edges = np.arange(n + 1) * (size / n)
    low = np.clip(np.floor(edges[:-1] - 0.5).astype(int), 0, size - 1)
    return low, np.clip(np.floor(edges[1:] - 0.5).astype(int) + 1, 0, size - 1)


def majorants(density: np.ndarray, count: tuple) -> np.ndarray:
    """Greatest density that interpolation can give in each cell, (z, y, x)."""
    out = np.asarray(density, np.float64)
    for axis, n in enumerate(count):
        size = out.shape[axis]
        low, high = _voxels_of(size, n)
        moved = np.moveaxis(out, axis, 0)
        out = np.moveaxis(np.stack([moved[a : b + 1].max(0) for a, b in zip(low, high)]), 0, axis)
    return out


def sparse_majorants(blocks: np.ndarray, corners: np.ndarray, size: tuple, count: tuple) -> np.ndarray:
    """The same of a grid of which only blocks are kept, without the rest of it."""
    out, ends = np.zeros(count), [_voxels_of(m, n) for m, n in zip(size, count)]
    for block, corner in zip(blocks, BLOCK * np.asarray(corners)):
        cut = [slice(0, min(BLOCK, m - a)) for m, a in zip(size, corner)]
        found, reached = block[tuple(cut)], []
        for axis, (low, high) in enumerate(ends):
            first, last = corner[axis], corner[axis] + found.shape[axis] - 1
            which = np.flatnonzero((high >= first) & (low <= last))
            moved = np.moveaxis(found, axis, 0)
            parts = [moved[max(low[c] - first, 0) : high[c] - first + 1].max(0) for c in which]
            found = np.moveaxis(np.stack(parts), 0, axis)
            reached.append(slice(which[0], which[-1] + 1))
        np.maximum(out[tuple(reached)], found, out=out[tuple(reached)])
    return out


def place(density, to_world: np.ndarray) -> tuple[np.ndarray, tuple]:
    """What the pool holds of a grid, an array or a SparseGrid (kernels/layout.py), and its cells along x, y, z."""
    if isinstance(density, SparseGrid):
        found = sparse_majorants(density.blocks, density.corners, density.size, cells(density.size))
    else:
        found = majorants(density, cells(density.shape))
    if found.max() <= EVEN * found.mean():
        found = found.max().reshape(1, 1, 1)
    matrix = np.linalg.inv(to_world)[:3].reshape(-1)
    diagonal = float(np.linalg.norm(to_world[:3, :3] @ np.ones(3)))
    return np.r_[matrix, diagonal, found.reshape(-1)], found.shape[::-1]
