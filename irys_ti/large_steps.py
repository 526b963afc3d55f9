"""A mesh's vertices by gradient descent in large steps (Nicolet, Jacobson and Jakob 2021).

A picture's derivative by vertices is rough: steps along it crumple the mesh. So Adam moves u = (I + lambda L) v instead, L
the mesh's combinatorial Laplacian: its gradient is (I + lambda L)^-T dv, and v follows by another solve, so that a step of
v is one of dv smoothed twice. One second moment for all of u, since a moment for each number would undo the smoothing.

Vertices at the same place are one unknown, whatever their texture coordinates. A rim is smoothed along itself: its
vertices are not drawn inwards by the faces behind it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from .api import parameters
from .device.edges import weld
from .errors import SceneError
from .scene import Mesh, Scene

try:
    from scipy import sparse
    from scipy.sparse.linalg import splu
except ModuleNotFoundError:
    raise SceneError("LargeSteps", "its solves need the package scipy, which is not installed", "pip install 'irys_ti[shape]'") from None

BORDERS = ("along", "fixed", "free")


@dataclass
class Report:
    """What one step did. moved: the largest step of a vertex. inverted: numbers of the faces that it turned over or left
    without area, none where it could be shortened until there were none. share: of the step that was taken.
    remeshed: whether the mesh was made anew after it.
    """

    moved: float
    inverted: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int64))
    share: float = 1.0
    remeshed: bool = False


def laplacian(faces: np.ndarray, n: int, borders: str = "along") -> tuple[sparse.csr_matrix, np.ndarray]:
    """The combinatorial Laplacian (n, n) of welded faces, and which vertices lie on a rim.

    borders: "free" treats a rim like everything else; "along" lets its vertices have rim neighbours alone.
    """
    faces = np.asarray(faces, np.int64)
    faces = faces[(faces != np.roll(faces, 1, 1)).all(1)]  # what welding left without area has no edges
    ends = np.sort(np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]]), 1)
    ends, count = np.unique(ends, axis=0, return_counts=True)
    rim = np.zeros(n, bool)
    rim[ends[count == 1].reshape(-1)] = True
    a, b = np.r_[ends[:, 0], ends[:, 1]], np.r_[ends[:, 1], ends[:, 0]]
    weight = np.ones(len(a))
    if borders != "free":
        weight = np.where(rim[a] & np.tile(count != 1, 2), 0.0, 1.0)
    adjacency = sparse.csr_matrix((weight, (a, b)), (n, n))
    return sparse.diags(np.asarray(adjacency.sum(1)).reshape(-1)) - adjacency, rim


class LargeSteps:
    """Moves the vertices of one mesh of a scene.

    mesh: its id. rate: length of a step, in the scene's units; it may be lowered between steps. smoothness: lambda; 0 is
    Adam on the vertices themselves. borders: "along" (default), "fixed" (rims stay where they are) or "free". remesh: a
    function (vertices, faces) -> (vertices, faces), called after every ``every`` steps. shorten: times that a step may be
    halved to keep it from turning faces over. beta1, beta2: Adam's. ``path`` is the parameter to ask a gradient for.

        shape = it.LargeSteps(scene, "blob", rate=0.02)
        for k in range(100):
            loss, grads = it.gradient(scene, it.L2(target), 8, (2 * k, 2 * k + 1), [shape.path])
            report = shape.step(grads[shape.path])

    Raises SceneError where there is no such mesh, or where it has normals of its own, which would not follow.
    """

    def __init__(
        self, scene: Scene, mesh: str, rate: float = 0.01, smoothness: float = 20.0, borders: str = "along",
        remesh: Callable | None = None, every: int = 0, shorten: int = 4, beta1: float = 0.9, beta2: float = 0.9,
    ):  # fmt: skip
        if borders not in BORDERS:
            raise ValueError(f"borders {borders!r} is not one of {', '.join(BORDERS)}")
        if smoothness < 0 or rate <= 0:
            raise ValueError(f"smoothness {smoothness} must be at least 0 and rate {rate} above 0")
        self.scene, self.id, self.path = scene, mesh, f"{mesh}.vertices"
        self.rate, self.smoothness, self.borders, self.shorten = rate, smoothness, borders, shorten
        self.remesh, self.every, self.beta1, self.beta2 = remesh, every, beta1, beta2
        self.steps, self.inverted = 0, 0  # inverted: faces turned over in all steps so far
        self._factor()

    @property
    def shape(self) -> Mesh:
        """The mesh as it is now."""
        found = [s for s in self.scene.shapes if s.id == self.id and isinstance(s, Mesh)]
        if not found:
            near = ", ".join(s.id for s in self.scene.shapes if isinstance(s, Mesh))
            raise SceneError(f"{self.scene.file}: shape '{self.id}'", "there is no mesh of that name", f"use one of {near}")
        if found[0].normals is not None:
            where = f"{self.scene.file}: shape '{self.id}'"
            raise SceneError(where, "its normals are data of their own and would not follow", "set the mesh's normals to None")
        return found[0]

    def _factor(self) -> None:
        """Weld, factorize (I + lambda L), and forget the moments."""
        vertices, faces = np.asarray(self.shape.vertices, np.float64), np.asarray(self.shape.faces, np.int64)
        first, self._same = np.unique(weld(vertices), return_inverse=True)
        self._same, self._faces = self._same.reshape(-1), faces
        n = len(first)
        matrix, rim = laplacian(self._same[faces], n, self.borders)
        self._held = rim if self.borders == "fixed" else np.zeros(n, bool)
        matrix = sparse.eye(n) + self.smoothness * sparse.diags((~self._held).astype(float)) @ matrix
        self._matrix, self._solver = matrix.tocsr(), splu(matrix.tocsc())
        self._mean, self._square, self._count = np.zeros((n, 3)), 0.0, 0
        self._first = first

    def smoothed(self, d_vertices: np.ndarray) -> np.ndarray:
        """The gradient (welded vertices, 3) by u, from that by the mesh's vertices."""
        g = np.zeros((len(self._first), 3))
        np.add.at(g, self._same, np.asarray(d_vertices, np.float64))
        g = self._solver.solve(g, trans="T")
        g[self._held] = 0.0
        return g

    def step(self, d_vertices: np.ndarray) -> Report:
        """One step against the gradient by ``path``; the scene's mesh is moved in place."""
        params = parameters(self.scene)
        old = params[self.path]
        if np.shape(d_vertices) != old.shape:
            raise ValueError(f"d_vertices has shape {np.shape(d_vertices)}, the mesh has {old.shape}")
        if not np.isfinite(d_vertices).all():
            raise ValueError("d_vertices holds NaN or infinity")
        g = self.smoothed(d_vertices)
        self._count += 1
        self._mean = self.beta1 * self._mean + (1 - self.beta1) * g
        self._square = self.beta2 * self._square + (1 - self.beta2) * np.square(g).max()
        mean = self._mean / (1 - self.beta1**self._count)
        root = np.sqrt(self._square / (1 - self.beta2**self._count))
        way = self._solver.solve(-self.rate * mean / root if root > 0 else np.zeros_like(mean))
        way[self._held] = 0.0
        way, share = way[self._same], 1.0
        turned = inverted(old, old + way, self._faces)
        for _ in range(self.shorten):
            if not len(turned):
                break
            share *= 0.5
            turned = inverted(old, old + share * way, self._faces)
        new = old + share * way
        params[self.path] = new
        self.steps, self.inverted = self.steps + 1, self.inverted + len(turned)
        report = Report(float(np.linalg.norm(new - old, axis=1).max(initial=0.0)), turned, share)
        if self.remesh is not None and self.every and self.steps % self.every == 0:
            self._remesh(new)
            report.remeshed = True
        return report

    def _remesh(self, vertices: np.ndarray) -> None:
        """Put what the hook makes of the mesh in its place; begins anew with factors and moments."""
        vertices, faces = self.remesh(vertices.copy(), self._faces.copy())
        vertices, faces = np.asarray(vertices, np.float64), np.asarray(faces)
        where = f"{self.scene.file}: shape '{self.id}', remeshed"
        if vertices.ndim != 2 or vertices.shape[1] != 3 or faces.ndim != 2 or faces.shape[1] != 3 or not len(faces):
            raise SceneError(where, f"shapes {vertices.shape} and {faces.shape}", "return vertices (n, 3) and faces (m, 3)")
        old, shapes = self.shape, self.scene.shapes
        at = next(i for i, shape in enumerate(shapes) if shape is old)
        shapes[at] = replace(old, vertices=vertices, faces=faces.astype(np.asarray(old.faces).dtype), uvs=None)
        self._factor()


def inverted(before: np.ndarray, after: np.ndarray, faces: np.ndarray) -> np.ndarray:
    """Numbers of the faces that point the other way ``after``, or have no area left."""

    def normals(v):
        a, b, c = (np.asarray(v, np.float64)[faces[:, k]] for k in range(3))
        return np.cross(b - a, c - a)

    n, m = normals(before), normals(after)
    size = np.linalg.norm(n, axis=1)
    return np.flatnonzero((size > 0) & ((n * m).sum(1) <= 1e-6 * size**2))
