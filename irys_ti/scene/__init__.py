"""The host side of a scene: dataclasses of NumPy arrays, no Taichi."""

from .camera import Camera, Film
from .curves import Curves
from .material import Light, Material
from .medium import Medium
from .phase import PhaseTable
from .scene import Integrator, Scene
from .shapes import Instance, Mesh, Primitives, Shape, Sphere, cube, origin_of, posed, rectangle
from .sparse import SparseGrid
from .spectrum import Spectrum, Texture, Value, constant, points, rgb
from .splats import Splats, relight

__all__ = [
    "Camera", "Curves", "Film", "Instance", "Integrator", "Light", "Material", "Medium", "Mesh", "PhaseTable", "Primitives", "Scene",
    "Shape", "SparseGrid", "Spectrum", "Sphere", "Splats", "Texture", "Value", "constant", "cube", "origin_of", "points", "posed",
    "rectangle", "relight", "rgb",
]
