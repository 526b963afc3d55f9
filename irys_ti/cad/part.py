"""Part: a control that steers the vertices of one mesh."""

from __future__ import annotations

import numpy as np

from irys_ti.controls import Control
from irys_ti.scene import Mesh, Scene


class Part(Control):
    """A mesh of fixed ``faces`` ((m, 3)) whose vertices follow the dimensions; its kinds define ``vertices``."""

    faces: np.ndarray

    def vertices(self) -> np.ndarray:
        """(n, 3) float64, at the present dimensions."""
        raise NotImplementedError

    @property
    def path(self) -> str:
        """The parameter it steers."""
        return f"{self.id}.vertices"

    def steered(self) -> list[str]:
        """Its vertices' path."""
        return [self.path]

    def outputs(self) -> dict[str, np.ndarray]:
        """The mesh's vertices."""
        return {self.path: self.vertices()}

    def mesh(self, material: str = "") -> Mesh:
        """The mesh at the present dimensions, flat shaded: its edges are real."""
        return Mesh(id=self.id, material=material, vertices=self.vertices(), faces=self.faces.copy())

    def add_to(self, scene: Scene, material: str) -> Mesh:
        """Add the mesh to a scene and its dimensions to the scene's parameters; returns the mesh."""
        mesh = self.mesh(material)
        scene.shapes.append(mesh)
        scene.controls.append(self)
        return mesh
