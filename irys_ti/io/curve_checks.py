"""Checks of curves, wherever they come from: one clear line for what cannot be rendered."""

from __future__ import annotations

import numpy as np

from ..errors import SceneError
from ..scene import Curves
from ..scene.curves import BASES, STYLES, least_points
from .suggest import nearest


def check(shape: Curves, where: str) -> None:
    """Raise SceneError, naming the first strand or point that is at fault."""
    for name, known in (("basis", BASES), ("style", STYLES)):
        if getattr(shape, name) not in known:
            raise SceneError(where, f"{name} {getattr(shape, name)!r}", nearest(str(getattr(shape, name)), known))
    points, radii, offsets = (np.asarray(a) for a in (shape.points, shape.radii, shape.offsets))
    if points.ndim != 2 or points.shape[1] != 3:
        raise SceneError(where, f"points have shape {points.shape}", "give (n, 3)")
    if len(points) == 0 or offsets.size < 2:
        raise SceneError(where, "the curves are empty", "give at least one strand")
    if radii.shape != (len(points),):
        raise SceneError(where, f"radii have shape {radii.shape}", f"give one number, or {len(points)}")
    if offsets.ndim != 1 or offsets.dtype.kind not in "iu" or offsets[0] != 0 or offsets[-1] != len(points):
        raise SceneError(where, "offsets do not cover the points", f"whole numbers from 0 to {len(points)}")
    size, least = np.diff(offsets), least_points(shape.basis)
    if (size < least).any():
        i = int(np.argmax(size < least))
        problem = f"strand {i} has {size[i]} point{'s' if size[i] != 1 else ''}"
        raise SceneError(where, problem, f"basis {shape.basis!r} needs at least {least}")
    if shape.basis == "bezier" and ((size - 1) % 3 != 0).any():
        i = int(np.argmax((size - 1) % 3 != 0))
        raise SceneError(where, f"strand {i} has {size[i]} points", "basis 'bezier' needs 3 k + 1")
    for name, array, bad, problem, mend in (
        ("point", points, ~np.isfinite(points).all(1), "is not finite", "repair or remove it"),
        ("radius", radii, ~np.isfinite(radii), "is not finite", "repair it"),
        ("radius", radii, radii < 0, "is negative", "radii are above 0"),
        ("radius", radii, radii == 0, "is zero", "radii are above 0; taper to a small one"),
    ):
        if bad.any():
            i = int(np.argmax(bad))
            strand = int(np.searchsorted(offsets, i, side="right")) - 1
            raise SceneError(where, f"the {name} at point {i} (strand {strand}) {problem} ({array[i]})", mend)
    if shape.light is not None:
        raise SceneError(where, "curves cannot be an area light", "use a mesh or a sphere")
    if shape.interior is not None or shape.exterior is not None:
        raise SceneError(where, "curves do not bound a medium", "remove its interior and exterior")
    if shape.flip_normals:
        raise SceneError(where, "flip_normals on curves", "they are met from outside only: leave it out")


def check_material(kind: str, where: str) -> None:
    """Refuse what would need the inside of a curve."""
    if kind in ("dielectric", "roughdielectric"):
        raise SceneError(where, f"curves of kind {kind!r}", "curves have no inside: use hair, or a mesh")
