"""Checks of splat sets, wherever they come from: one clear line for what cannot be rendered."""

from __future__ import annotations

import os

import numpy as np

from ..errors import SceneError
from ..scene import Splats
from ..scene.splats import ARRAYS, PHASES
from .suggest import nearest

# Bytes that a splat takes while it is rendered: arrays, their copies in f64 and on the device, records, its part of
# the tree and what building that needs (measured, rounded up). Harmonics come on top.
BYTES, BYTES_PER_HARMONIC = 1500, 40


def check(shape: Splats, where: str) -> None:
    """Raise SceneError, naming the first splat that is at fault."""
    n = len(shape)
    if n == 0:
        raise SceneError(where, "holds no splats", "remove it, or give it at least one")
    for name, row in ARRAYS.items():
        array = np.asarray(getattr(shape, name))
        if array.shape != (n, *row):
            raise SceneError(where, f"{name} has shape {array.shape}", f"{n} positions need {(n, *row)}")
        _first(where, name, array, ~np.isfinite(array), "is not finite", "repair or remove that splat")
    _first(where, "scale", shape.scale, shape.scale <= 0, "is not above 0", "scales are standard deviations, not logs")
    for name in ("opacity", "albedo"):
        array = getattr(shape, name)
        _first(where, name, array, array < 0, "is negative", "it lies in [0, 1]")
        _first(where, name, array, array > 1, "is above 1", "it lies in [0, 1]")
    _first(where, "rotation", shape.rotation, ~shape.rotation.any(1), "is zero", "give a quaternion w, x, y, z")
    if shape.phase not in PHASES:
        raise SceneError(where, f"phase {shape.phase!r}", nearest(str(shape.phase), PHASES))
    if shape.light is not None:
        raise SceneError(where, "splats cannot be an area light", "give them harmonics (sh) to make them emit")
    if shape.sh is not None:
        sh = np.asarray(shape.sh)
        if sh.ndim != 3 or sh.shape[0] != n or sh.shape[1] not in (1, 4, 9, 16) or sh.shape[2] != 3:
            raise SceneError(where, f"sh has shape {sh.shape}", f"give ({n}, 1, 4, 9 or 16, 3)")
        _first(where, "sh", sh, ~np.isfinite(sh), "is not finite", "repair or remove that splat")
    require_memory(n, 0 if shape.sh is None else np.shape(shape.sh)[1], where)


def _first(where: str, name: str, array: np.ndarray, bad: np.ndarray, problem: str, mend: str) -> None:
    if bad.any():
        i = int(np.flatnonzero(bad.reshape(len(array), -1).any(1))[0])
        raise SceneError(where, f"{name} of splat {i} {problem} ({np.array2string(array[i], precision=4)})", mend)


def require_memory(n: int, n_harmonics: int, where: str) -> None:
    """Refuse more splats than this machine's free memory holds."""
    need, free = n * (BYTES + 3 * n_harmonics * BYTES_PER_HARMONIC), free_memory()
    if need > free:
        problem = f"{n:,} splats need about {need / 2**30:.1f} GiB, and {free / 2**30:.1f} GiB are free"
        raise SceneError(where, problem, "thin them out, or use a machine with more memory")


def free_memory() -> float:
    """Bytes of memory that are free; infinite where the system does not say."""
    limits = [float("inf")]
    try:
        with open("/proc/meminfo", encoding="ascii") as file:
            limits += [1024.0 * int(line.split()[1]) for line in file if line.startswith("MemAvailable")]
    except OSError:
        if hasattr(os, "sysconf") and "SC_AVPHYS_PAGES" in os.sysconf_names:
            limits.append(float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_AVPHYS_PAGES")))
    return min(limits)
