"""Flat outlines with holes: their corners as graphs, their triangles, and the walls and rings between loops."""

from __future__ import annotations

import math
from collections.abc import Callable
from types import SimpleNamespace

import numpy as np

from irys_ti.errors import SceneError

from .solid import Dimension, Patch


def circle(segments: int) -> dict[str, np.ndarray]:
    """Corners of a regular polygon of the unit circle's area, anticlockwise, as attributes u and v."""
    if segments < 3:
        raise SceneError("cad", f"{segments} segments around", "use at least 3")
    t = 2.0 * math.pi * np.arange(segments) / segments
    # The polygon (n / 2) r^2 sin(2 pi / n) has area pi for this r.
    r = math.sqrt(2.0 * math.pi / (segments * math.sin(2.0 * math.pi / segments)))
    return {"u": r * np.cos(t), "v": r * np.sin(t)}


class Loop:
    """A closed line in the plane: patches of corners (point(d, a) -> (x, y)), anticlockwise."""

    def __init__(self, point: Callable, attributes: dict):
        self.patches = [Patch(point, {n: np.asarray(x, np.float64) for n, x in attributes.items()})]

    @classmethod
    def of_corners(cls, corners: Callable, dimensions: dict[str, Dimension]) -> Loop:
        """From corners(d) -> [(x, y), ...], each a graph of its own."""
        count = len(corners(SimpleNamespace(**{n: d.value for n, d in dimensions.items()})))

        def point(d, a, k):
            x, y = corners(d)[k]
            return x + 0.0 * a.one, y + 0.0 * a.one

        out = cls.__new__(cls)
        out.patches = [Patch(lambda d, a, k=k: point(d, a, k), {"one": np.ones(1)}) for k in range(count)]
        return out

    @property
    def n(self) -> int:
        """Number of corners."""
        return sum(p.n for p in self.patches)

    def corners(self, values: dict[str, float]) -> np.ndarray:
        """(n, 2) at these dimensions: the points' formulas, on numbers."""
        d, rows = SimpleNamespace(**values), []
        for p in self.patches:
            x, y = p.point(d, SimpleNamespace(**p.attributes))
            rows.append(np.stack(np.broadcast_arrays(x, y, np.zeros(p.n)), -1)[:, :2])
        return np.concatenate(rows)


def triangulate(id: str, loops: list[Loop], values: dict[str, float]) -> np.ndarray:
    """(m, 3) anticlockwise triangles of an outline (the first loop) less its holes. Needs mapbox_earcut."""
    try:
        import mapbox_earcut
    except ImportError:
        raise SceneError(
            f"solid '{id}'", "flat parts are cut into triangles by the package mapbox_earcut, which is not installed",
            "pip install 'irys_ti[cad]'",
        ) from None  # fmt: skip
    corners = [loop.corners(values) for loop in loops]
    for i, c in enumerate(corners):
        if _area(c) <= 0:
            raise SceneError(f"solid '{id}'", f"loop {i} of its outline runs clockwise or has no area", "list its corners anticlockwise")
    if reason := _crossing(corners):
        raise SceneError(f"solid '{id}'", reason, "move them apart")
    ends = np.cumsum([len(c) for c in corners]).astype(np.uint32)
    points = np.concatenate(corners)
    flat = np.asarray(mapbox_earcut.triangulate_float64(points, ends), np.int32).reshape(-1, 3)
    turned = _signed(points, flat) < 0
    flat[turned] = flat[turned][:, ::-1]
    fixed = {frozenset((int(end - n + k), int(end - n + (k + 1) % n))) for end, n in zip(ends, map(len, corners)) for k in range(n)}
    return fattened(points, flat, fixed)


def fattened(points: np.ndarray, flat: np.ndarray, fixed: set) -> np.ndarray:
    """The constrained Delaunay triangulation, by flipping edges (Lawson 1977) other than those in ``fixed``.

    Its triangles are as fat as they can be, so that they stay upright when loops move: thin ones turn over at once.
    """
    triangles = [tuple(int(i) for i in t) for t in flat]
    owners: dict[frozenset, set[int]] = {}
    for n, t in enumerate(triangles):
        for k in range(3):
            owners.setdefault(frozenset((t[k], t[(k + 1) % 3])), set()).add(n)
    waiting = [e for e in owners if e not in fixed]
    while waiting:
        edge = waiting.pop()
        if len(owners.get(edge, ())) != 2:
            continue
        first, second = owners[edge]
        a, b, c = _turned_to(triangles[first], edge)  # a, b: the edge as ``first`` runs along it
        d = next(i for i in triangles[second] if i not in edge)
        if not _in_circle(points[a], points[b], points[c], points[d]):
            continue
        del owners[edge]
        for n, t in ((first, (c, a, d)), (second, (c, d, b))):
            for k in range(3):  # forget the old triangle's edges, note the new one's
                old = frozenset((triangles[n][k], triangles[n][(k + 1) % 3]))
                if old in owners:
                    owners[old].discard(n)
            triangles[n] = t
        for n in (first, second):
            for k in range(3):
                side = frozenset((triangles[n][k], triangles[n][(k + 1) % 3]))
                owners.setdefault(side, set()).add(n)
                if side not in fixed and side != frozenset((c, d)):
                    waiting.append(side)
    return np.array(triangles, np.int32)


def _turned_to(triangle: tuple, edge: frozenset) -> tuple:
    """The triangle's corners, the two of ``edge`` first."""
    k = next(k for k in range(3) if triangle[k] not in edge)
    return triangle[(k + 1) % 3], triangle[(k + 2) % 3], triangle[k]


def _in_circle(a, b, c, d) -> bool:
    """Whether d lies well inside the circle through the anticlockwise triangle a, b, c."""
    m = np.array([[*(p - d), (p - d) @ (p - d)] for p in (a, b, c)])
    size = np.abs(m[:, :2]).max()
    return float(np.linalg.det(m)) > 1e-12 * size**4


def cap(loops: list[Loop], flat: np.ndarray) -> Callable:
    """values -> why these triangles do not cover the outline any more, or ""."""

    def valid(values: dict[str, float]) -> str:
        corners = [loop.corners(values) for loop in loops]
        if reason := _crossing(corners):
            return reason
        turned = int((_signed(np.concatenate(corners), flat) <= 0).sum())
        return f"{turned} triangles of its flat sides turned over" if turned else ""

    return valid


def walls(loops: list[Loop], n: int) -> np.ndarray:
    """Triangles between every loop and its copy n vertices later; a hole's look into the hole."""
    faces, first = [], 0
    for i, loop in enumerate(loops):
        a = first + np.arange(loop.n)
        b = first + (np.arange(loop.n) + 1) % loop.n
        quads = np.concatenate([np.stack([a, b, b + n], 1), np.stack([a, b + n, a + n], 1)])
        faces.append(quads if i == 0 else quads[:, ::-1])
        first += loop.n
    return np.concatenate(faces).astype(np.int32)


def bridge(first: int, n: int, second: int, m: int) -> np.ndarray:
    """Triangles between two rings of n and m vertices, either of which may be one pole; the second lies further on."""
    a, b = first + np.arange(n), second + np.arange(m)
    k = max(n, m)
    a0, a1 = a[np.arange(k) % n], a[(np.arange(k) + 1) % n]
    b0, b1 = b[np.arange(k) % m], b[(np.arange(k) + 1) % m]
    parts = []
    if n > 1:
        parts.append(np.stack([a0, a1, b1], 1))
    if m > 1:
        parts.append(np.stack([a0, b1, b0], 1))
    return np.concatenate(parts).astype(np.int32)


def _area(c: np.ndarray) -> float:
    x, y = c.T
    return 0.5 * float(np.sum(x * np.roll(y, -1) - np.roll(x, -1) * y))


def _signed(points: np.ndarray, flat: np.ndarray) -> np.ndarray:
    a, b, c = (points[flat[:, i]] for i in range(3))
    return (b - a)[:, 0] * (c - a)[:, 1] - (b - a)[:, 1] * (c - a)[:, 0]


def _crossing(corners: list[np.ndarray]) -> str:
    """Which two loops cross or lie wrongly in each other, in words."""
    for i, hole in enumerate(corners[1:], 1):
        if not _inside(hole, corners[0]).all():
            return f"hole {i} reaches over the outline"
        for j, other in enumerate(corners[1:i], 1):
            if _inside(hole, other).any() or _inside(other, hole).any():
                return f"holes {j} and {i} meet"
    return ""


def _inside(points: np.ndarray, loop: np.ndarray) -> np.ndarray:
    """(n,) bool: which points lie inside a loop (crossings of a ray to the right)."""
    x, y = points[:, :1], points[:, 1:]
    (ax, ay), (bx, by) = loop.T, np.roll(loop, -1, 0).T
    spans = (ay > y) != (by > y)
    with np.errstate(divide="ignore", invalid="ignore"):
        at = ax + (y - ay) * (bx - ax) / (by - ay)
    return (spans & (x < at)).sum(1) % 2 == 1
