"""Solids: patches of vertices, each patch one graph of the dimensions, and faces over them."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from types import SimpleNamespace

import numpy as np

from irys_ti import graph as g
from irys_ti.errors import SceneError

from .part import Part

INF = float("inf")


@dataclass(frozen=True)
class Dimension:
    """A number of a solid: its value and the range in which the topology holds."""

    value: float
    low: float = -INF
    high: float = INF


@dataclass(frozen=True)
class Patch:
    """n vertices that one formula places.

    point(d, a) -> (x, y, z), graph values. d: the solid's dimensions by name; a: what differs from vertex to vertex
    (an angle, which end it is on), by name. attributes: {name: (n,) array}, at least one.
    """

    point: Callable
    attributes: dict[str, np.ndarray]

    @property
    def n(self) -> int:
        """Number of vertices."""
        return len(next(iter(self.attributes.values())))


class Solid(Part):
    """A mesh with dimensions. ``patches`` and ``faces`` ((m, 3), counter-clockwise from outside) never change.

    valid(values) -> "" or why the topology does not hold at these dimensions. Its dimensions become parameters
    "<id>.<dimension>" once it is in a scene (``add_to``).
    Raises SceneError for a dimension out of its range and for dimensions that are not valid together.
    """

    def __init__(
        self, id: str, dimensions: dict[str, Dimension], patches: list[Patch], faces, valid: Callable | None = None
    ):
        values = {n: d.value for n, d in dimensions.items()}
        super().__init__(id, values, {n: (d.low, d.high) for n, d in dimensions.items()})
        self.valid = valid or (lambda values: "")
        self.dimensions, self.patches = dict(dimensions), list(patches)
        self.faces = np.asarray(faces, np.int32).reshape(-1, 3)
        n = sum(p.n for p in patches)
        if len(self.faces) and not (0 <= self.faces.min() and self.faces.max() < n):
            raise SceneError(f"solid '{id}'", f"faces name vertices outside 0 to {n - 1}", "check the faces")

    # -- the graphs ----------------------------------------------------------------------------------------------

    @cached_property
    def _leaves(self) -> dict[str, g.Expr]:
        return {name: g.leaf(f"dimension {name}") for name in self.values}

    @cached_property
    def _graphs(self) -> list[tuple]:
        """For each patch: vertex, its tangent, its derivatives by every dimension, and attribute leaves."""
        wrt, out = list(self._leaves.values()), []
        directions = [g.leaf(f"tangent {name}") for name in self.values]
        upstream = g.leaf("upstream", (3,))
        for patch in self.patches:
            leaves = {name: g.leaf(f"attribute {name}") for name in patch.attributes}
            point = g.vec3(*patch.point(SimpleNamespace(**self._leaves), SimpleNamespace(**leaves)))
            out.append((point, g.jvp([point], wrt, directions)[0], g.vjp([point], [upstream], wrt), leaves))
        return out

    def _bound(self, i: int) -> dict:
        """Leaf -> numbers of one patch, at the present dimensions."""
        patch, leaves = self.patches[i], self._graphs[i][3]
        out = {leaf: np.float64(self.values[name]) for name, leaf in self._leaves.items()}
        return out | {leaf: np.asarray(patch.attributes[name], np.float64) for name, leaf in leaves.items()}

    def vertices(self) -> np.ndarray:
        """(n, 3) float64, at the present dimensions. Raises SceneError where they are not valid together."""
        if reason := self.valid(dict(self.values)):
            raise SceneError(f"solid '{self.id}'", reason, "keep the dimensions apart, or make the solid anew there")
        parts = [g.evaluate([graphs[0]], self._bound(i))[0] for i, graphs in enumerate(self._graphs)]
        return np.concatenate(parts)

    # -- Control -------------------------------------------------------------------------------------------------

    def push(self, tangents: dict[str, float]) -> dict[str, np.ndarray]:
        """Forward mode: how fast every vertex moves."""
        along = {g.leaf(f"tangent {name}"): np.float64(tangents.get(name, 0.0)) for name in self.values}
        parts = [g.evaluate([graphs[1]], self._bound(i) | along)[0] for i, graphs in enumerate(self._graphs)]
        return {self.path: np.concatenate(parts)}

    def _terms(self, d_vertices) -> dict[str, np.ndarray]:
        """(n, 3) terms whose sum is the derivative by each dimension.

        Reverse mode along each coordinate, then times d_vertices: so every product is rounded once, and the sum is as
        exact as forward mode's.
        """
        d_vertices, upstream = np.asarray(d_vertices, np.float64), g.leaf("upstream", (3,))
        out: dict[str, list] = {name: [] for name in self.values}
        first = 0
        for i, graphs in enumerate(self._graphs):
            n = self.patches[i].n
            found = g.evaluate(graphs[2], self._bound(i) | {upstream: np.eye(3)[:, None, :]})  # (3, n) each
            for name, x in zip(self.values, found):
                out[name].append(x.T * d_vertices[first : first + n])
            first += n
        return {name: np.concatenate(parts) for name, parts in out.items()}

    def shares(self, d_vertices) -> dict[str, np.ndarray]:
        """(n,) contribution of every vertex to the derivative by each dimension."""
        return {name: x.sum(1) for name, x in self._terms(d_vertices).items()}

    def pull(self, gradients: dict[str, np.ndarray]) -> dict[str, float]:
        """Reverse mode: the vertices' shares, summed without rounding in between."""
        return {name: math.fsum(x.ravel()) for name, x in self._terms(gradients[self.path]).items()}
