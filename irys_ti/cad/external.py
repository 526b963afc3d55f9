"""The seam to real CAD: any function of dimensions that gives a mesh, with a derivative of its own."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from irys_ti.errors import SceneError

from .part import Part
from .solid import Dimension


class External(Part):
    """A mesh made elsewhere. docs/cad.md shows one on build123d.

    build(values) -> (vertices (n, 3), faces (m, 3)); its faces must not change with the values. vjp(values, d_vertices)
    -> {name: float}: derivatives of sum(d_vertices * vertices) by every dimension. jvp(values, tangents) ->
    (n, 3), optional: forward mode.
    """

    def __init__(self, id: str, dimensions: dict[str, Dimension], build: Callable, vjp: Callable, jvp: Callable | None = None):
        super().__init__(id, {n: d.value for n, d in dimensions.items()}, {n: (d.low, d.high) for n, d in dimensions.items()})
        self.build, self._vjp, self._jvp = build, vjp, jvp
        self._made: tuple | None = None
        vertices, faces = build(dict(self.values))
        self.faces = np.array(faces, np.int32)
        self._made = dict(self.values), np.array(vertices, np.float64)

    def vertices(self) -> np.ndarray:
        """(n, 3) at the present dimensions. Raises SceneError where the topology is another one than at first."""
        if self._made[0] != self.values:
            vertices, faces = self.build(dict(self.values))
            vertices = np.array(vertices, np.float64)
            if vertices.shape != self._made[1].shape or not np.array_equal(faces, self.faces):
                raise SceneError(
                    f"solid '{self.id}'", "its topology changed with its dimensions",
                    "keep the tessellation fixed, or narrow the dimensions' ranges",
                )  # fmt: skip
            self._made = dict(self.values), vertices
        return self._made[1].copy()

    def push(self, tangents: dict[str, float]) -> dict[str, np.ndarray]:
        """Forward mode, by the function that was given for it."""
        if self._jvp is None:
            raise SceneError(f"solid '{self.id}'", "it has no forward mode", "give External a jvp")
        full = {name: float(tangents.get(name, 0.0)) for name in self.values}
        return {self.path: np.asarray(self._jvp(dict(self.values), full), np.float64)}

    def pull(self, gradients: dict[str, np.ndarray]) -> dict[str, float]:
        """Reverse mode, by the function that was given for it."""
        found = self._vjp(dict(self.values), np.asarray(gradients[self.path], np.float64))
        if missing := sorted(set(self.values) - set(found)):
            raise SceneError(f"solid '{self.id}'", f"its vjp gave nothing for '{missing[0]}'", "return every dimension")
        return {name: float(found[name]) for name in self.values}
