"""Grids of densities from files: Mitsuba's .vol, NumPy's .npy, and OpenVDB's .vdb where the module openvdb is installed.

A .vol file holds "VOL", a version (3), then little-endian: an i32 for the encoding (1: f32), three i32 numbers of voxels
along x, y, z, an i32 number of channels, six f32 of a bounding box (low x, y, z, high x, y, z), and the values, x fastest.
"""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np

from ..errors import SceneError
from ..scene.sparse import BLOCK, SparseGrid

_HEAD = struct.Struct("<3sBiiiii6f")
MOST = 1 << 30  # voxels


def read_volume(path: str | Path, grid: str = "density", sparse: bool = False) -> tuple[np.ndarray | SparseGrid, np.ndarray]:
    """(densities (nz, ny, nx) float64, to_world (4, 4) from the cube [0, 1]^3): what it.Medium of kind "grid" takes.

    sparse: densities as a SparseGrid, blocks that are 0 left out; of a .vdb the whole grid is never in memory.

    to_world is where the file says the grid stands, the unit cube where it does not say. grid: of a .vdb, the name of the
    grid that is read. Raises SceneError for what is no such file, is cut short or holds NaN or infinity.
    """
    path = Path(path)
    read = READERS.get(path.suffix.lower())
    if read is None:
        raise SceneError(str(path), "is not a file of volumes", f"use one of {', '.join(READERS)}")
    if not path.is_file():
        raise SceneError(str(path), "there is no such file", "check the path")
    values, box = read(path, grid, True) if sparse and read is _vdb else read(path, grid)
    if sparse and isinstance(values, np.ndarray) and values.ndim == 3 and 0 not in values.shape:
        values = SparseGrid.of(values)
    if isinstance(values, SparseGrid):
        if not np.isfinite(values.blocks).all():
            raise SceneError(str(path), f"{int((~np.isfinite(values.blocks)).sum())} voxels are not finite", "repair the grid")
        return values, _placed(box)
    if values.ndim != 3 or 0 in values.shape:
        raise SceneError(str(path), f"holds an array of shape {values.shape}", "a grid is (nz, ny, nx), one number a voxel")
    if not np.isfinite(values).all():
        raise SceneError(str(path), f"{int((~np.isfinite(values)).sum())} voxels are not finite", "repair the grid")
    return np.ascontiguousarray(values, np.float64), _placed(box)


def write_volume(path: str | Path, density, low=(0.0, 0.0, 0.0), high=(1.0, 1.0, 1.0)) -> None:
    """Write densities (nz, ny, nx) as a .vol file with this bounding box."""
    density = np.asarray(density, "<f4")
    if density.ndim != 3:
        raise SceneError(str(path), f"a grid of shape {density.shape}", "give (nz, ny, nx)")
    nz, ny, nx = density.shape
    Path(path).write_bytes(_HEAD.pack(b"VOL", 3, 1, nx, ny, nz, 1, *low, *high) + density.tobytes())


def _placed(box) -> np.ndarray:
    m = np.eye(4)
    low, high = np.asarray(box[:3], np.float64), np.asarray(box[3:], np.float64)
    if np.isfinite(low).all() and np.isfinite(high).all() and (high > low).all():
        m[:3, :3], m[:3, 3] = np.diag(high - low), low
    return m


def _vol(path: Path, grid: str):
    data = path.read_bytes()
    if len(data) < _HEAD.size or data[:3] != b"VOL":
        raise SceneError(str(path), "is not a .vol file", 'such a file begins with "VOL"')
    _, version, encoding, nx, ny, nz, channels, *box = _HEAD.unpack_from(data)
    if version != 3 or encoding != 1:
        raise SceneError(str(path), f"version {version}, encoding {encoding}", "only version 3 of f32 values is read")
    if channels != 1:
        raise SceneError(str(path), f"has {channels} channels", "a density has one; give colours as sigma_t and albedo")
    if min(nx, ny, nz) < 1 or nx * ny * nz > MOST:
        raise SceneError(str(path), f"{nx} x {ny} x {nz} voxels", "each number must be at least 1")
    n = nx * ny * nz
    if len(data) < _HEAD.size + 4 * n:
        raise SceneError(str(path), f"holds {(len(data) - _HEAD.size) // 4} of {n} voxels", "the file is cut short")
    return np.frombuffer(data, "<f4", n, _HEAD.size).reshape(nz, ny, nx), box


def _npy(path: Path, grid: str):
    try:
        return np.asarray(np.load(path, allow_pickle=False), np.float64), [0, 0, 0, 1, 1, 1]
    except (ValueError, OSError, EOFError, TypeError) as error:
        raise SceneError(str(path), f"NumPy cannot read it: {str(error).splitlines()[0]}", "write it by numpy.save") from None


def _vdb(path: Path, grid: str, sparse: bool = False):
    try:
        import openvdb
    except ImportError:
        mend = "install OpenVDB's Python module (Debian: python3-openvdb), or convert it to .vol or .npy"
        raise SceneError(str(path), "the module openvdb is not installed", mend) from None
    try:
        found = openvdb.read(str(path), grid)
    except Exception as error:
        raise SceneError(str(path), f"OpenVDB cannot read its grid {grid!r}: {str(error).splitlines()[0]}") from None
    (x0, y0, z0), (x1, y1, z1) = found.evalActiveVoxelBoundingBox()
    # A voxel's number is where its centre is.
    ends = [found.transform.indexToWorld(tuple(v)) for v in ((x0 - 0.5, y0 - 0.5, z0 - 0.5), (x1 + 0.5, y1 + 0.5, z1 + 0.5))]
    size = x1 - x0 + 1, y1 - y0 + 1, z1 - z0 + 1
    if sparse:
        return _blocks(found, (x0, y0, z0), size), [*ends[0], *ends[1]]
    values = np.zeros(size)
    found.copyToArray(values, ijk=(x0, y0, z0))
    return values.transpose(2, 1, 0), [*ends[0], *ends[1]]


def _blocks(found, first: tuple, size: tuple) -> SparseGrid:
    """The blocks of an OpenVDB grid that are not 0, each copied by itself."""
    blocks, corners, block = [], [], np.zeros((BLOCK,) * 3)
    for corner in np.ndindex(*(-(-n // BLOCK) for n in size)):
        found.copyToArray(block, ijk=tuple(int(a + BLOCK * c) for a, c in zip(first, corner)))
        inside = block[tuple(slice(n - BLOCK * c) for n, c in zip(size, corner))]
        if inside.any():
            blocks.append(np.pad(inside, [(0, BLOCK - n) for n in inside.shape]).transpose(2, 1, 0))
            corners.append(corner[::-1])
    return SparseGrid(size[::-1], np.array(blocks).reshape(-1, BLOCK, BLOCK, BLOCK), corners)


READERS = {".vol": _vol, ".npy": _npy, ".vdb": _vdb}
