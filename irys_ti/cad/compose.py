"""Solids from solids: moved by a graph of dimensions, and several as one."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace

import numpy as np

from irys_ti.errors import SceneError

from .solid import Dimension, Patch, Solid


def moved(solid: Solid, id: str, move: Callable, dimensions: dict[str, Dimension] | None = None) -> Solid:
    """A solid placed elsewhere. move(d, x, y, z) -> (x, y, z): graph values, with old and new dimensions in d."""
    added = dict(dimensions or {})
    if both := sorted(set(added) & set(solid.dimensions)):
        raise SceneError(f"solid '{id}'", f"dimension '{both[0]}' is there already", "give the new one another name")

    def placed(point):
        return lambda d, a: move(d, *point(d, a))

    patches = [Patch(placed(p.point), p.attributes) for p in solid.patches]
    return Solid(id, _present(solid) | added, patches, solid.faces, solid.valid)


def assembly(id: str, parts: dict[str, Solid], joined: dict[str, str] | None = None) -> Solid:
    """Several solids as one mesh. parts: {name: solid}; their dimensions become "<name>_<dimension>".

    joined: {"<name>_<dimension>": "<name>_<dimension>"}, dimensions that are another one under a second name (a bore
    that fits its shaft). Solids may touch or overlap; nothing is cut.
    """
    joined = dict(joined or {})
    dimensions, patches, faces, first, checks = {}, [], [], 0, []
    for name, solid in parts.items():
        names = {old: joined.get(f"{name}_{old}", f"{name}_{old}") for old in solid.dimensions}
        dimensions |= {n: d for old, d in _present(solid).items() if (n := names[old]) == f"{name}_{old}"}
        patches += [Patch(_renamed(p.point, names), p.attributes) for p in solid.patches]
        faces.append(solid.faces + first)
        checks.append((solid.valid, names))
        first += sum(p.n for p in solid.patches)
    for new, old in joined.items():
        if old not in dimensions:
            raise SceneError(f"solid '{id}'", f"'{new}' is joined to '{old}', which is no dimension", "check the names")

    def valid(values: dict) -> str:
        reasons = (check({old: values[new] for old, new in names.items()}) for check, names in checks)
        return next((reason for reason in reasons if reason), "")

    return Solid(id, dimensions, patches, np.concatenate(faces) if faces else np.zeros((0, 3)), valid)


def _present(solid: Solid) -> dict[str, Dimension]:
    return {n: Dimension(solid.values[n], d.low, d.high) for n, d in solid.dimensions.items()}


def _renamed(point: Callable, names: dict[str, str]) -> Callable:
    return lambda d, a: point(SimpleNamespace(**{old: getattr(d, new) for old, new in names.items()}), a)
