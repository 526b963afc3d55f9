"""Shapes: arrays in world space (or in a group's space), with the ids of what they are made of."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from .pose import is_posed, pose_matrix, rotation_matrix
from .transform import points_to


@dataclass
class Shape:
    """What every shape has.

    id: its name in parameter paths. material: id of a Material. light: an area Light, or None.
    flip_normals: turn the surface's outward side around. group: name of the shape group it belongs to,
    None for the world; a group is seen through instances only. interior, exterior: ids of the media behind the surface
    and before it; an exterior without an interior encloses nothing at all, a hole in what surrounds it.
    translation (3,), rotation (3,) (axis times radians) and scale move it from where its arrays place it, about its
    ``origin`` (scene/pose.py); ``origin`` None: the centre of its bounding box, a sphere's centre.
    """

    id: str = ""
    material: str = ""
    light: object | None = None
    flip_normals: bool = False
    group: str | None = None
    interior: str | None = None
    exterior: str | None = None
    translation: np.ndarray = field(default_factory=lambda: np.zeros(3))
    rotation: np.ndarray = field(default_factory=lambda: np.zeros(3))
    scale: float = 1.0
    origin: np.ndarray | None = None


@dataclass
class Mesh(Shape):
    """Triangles.

    vertices: (n, 3). faces: (m, 3) int, counter-clockwise seen from outside. normals: (n, 3) or None (flat).
    uvs: (n, 2) or None.
    """

    vertices: np.ndarray = field(default_factory=lambda: np.zeros((0, 3)))
    faces: np.ndarray = field(default_factory=lambda: np.zeros((0, 3), np.int32))
    normals: np.ndarray | None = None
    uvs: np.ndarray | None = None
    kind: str = "mesh"


@dataclass
class Sphere(Shape):
    """center: (3,). radius: > 0."""

    center: np.ndarray = field(default_factory=lambda: np.zeros(3))
    radius: float = 1.0
    kind: str = "sphere"


@dataclass
class Instance:
    """A copy of a group of shapes. to_world: (4, 4) from the group's space.

    translation, rotation, scale: as a shape's, about the place that ``to_world`` gives the group's origin.
    """

    group: str
    to_world: np.ndarray = field(default_factory=lambda: np.eye(4))
    id: str = ""
    translation: np.ndarray = field(default_factory=lambda: np.zeros(3))
    rotation: np.ndarray = field(default_factory=lambda: np.zeros(3))
    scale: float = 1.0

    def placed(self) -> np.ndarray:
        """(4, 4) from the group's space to where the instance stands now."""
        m = np.asarray(self.to_world, np.float64)
        return pose_matrix(self, m[:3, 3]) @ m if is_posed(self) else m


@dataclass
class Primitives(Shape):
    """Shapes of a kind registered in GEOMETRIES (from outside the package too): one record per primitive.

    kind: its name there. fields: {name: (n, ...) array} as the kind's FIELDS says.
    """

    kind: str = ""
    fields: dict = field(default_factory=dict)


def origin_of(shape: Shape) -> np.ndarray:
    """(3,) point that the shape turns about, before its translation."""
    if shape.origin is not None:
        return np.asarray(shape.origin, np.float64)
    if isinstance(shape, Sphere):
        return np.asarray(shape.center, np.float64)
    corners = getattr(shape, "vertices", getattr(shape, "points", ()))  # of a mesh, of curves
    if len(corners):
        v = np.asarray(corners, np.float64)
        return (v.min(0) + v.max(0)) / 2
    return np.zeros(3)


def posed(shape: Shape) -> Shape:
    """The shape with its pose worked into its arrays; the shape itself where it stands as loaded."""
    if not (isinstance(shape, (Mesh, Sphere)) or hasattr(shape, "placed")) or not is_posed(shape):
        return shape
    m = pose_matrix(shape, origin_of(shape))
    plain = {"translation": np.zeros(3), "rotation": np.zeros(3), "scale": 1.0}
    if hasattr(shape, "placed"):
        return shape.placed(m, plain)
    if isinstance(shape, Sphere):
        return replace(shape, center=points_to(m, shape.center[None])[0], radius=shape.radius * shape.scale, **plain)
    normals = None if shape.normals is None else np.asarray(shape.normals) @ rotation_matrix(shape.rotation).T
    return replace(shape, vertices=points_to(m, np.asarray(shape.vertices, np.float64)), normals=normals, **plain)


def rectangle(to_world: np.ndarray, **common) -> Mesh:
    """The square [-1, 1]^2 in z = 0, facing +z, as two triangles with uvs in [0, 1]^2."""
    xy = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]], np.float64)
    return _placed(np.c_[xy, np.zeros(4)], [[0, 1, 2], [2, 3, 0]], (xy + 1) / 2, to_world, common)


# Faces of the cube: the corner at uv (0, 0), the directions in which u and v grow; as in Mitsuba 3.
_CUBE_FACES = (
    ((-1, -1, -1), (0, 0, 1), (1, 0, 0)),
    ((1, 1, 1), (-1, 0, 0), (0, 0, -1)),
    ((1, -1, 1), (0, 1, 0), (0, 0, -1)),
    ((-1, -1, 1), (0, 1, 0), (1, 0, 0)),
    ((-1, -1, -1), (0, 1, 0), (0, 0, 1)),
    ((-1, 1, -1), (0, -1, 0), (1, 0, 0)),
)


def cube(to_world: np.ndarray, **common) -> Mesh:
    """The box [-1, 1]^3 as 12 triangles; 24 vertices, so that every face has its own uvs."""
    corner, along_u, along_v = np.array(_CUBE_FACES, np.float64).transpose(1, 0, 2)[:, :, None]
    uv = np.array([[0, 0], [0, 1], [1, 1], [1, 0]], np.float64)
    vertices = corner + 2 * (uv[:, :1] * along_u + uv[:, 1:] * along_v)
    faces = [[4 * i + a, 4 * i + b, 4 * i + c] for i in range(6) for a, b, c in ((0, 1, 2), (2, 3, 0))]
    return _placed(vertices.reshape(-1, 3), faces, np.tile(uv, (6, 1)), to_world, common)


def _placed(vertices, faces, uvs, to_world, common) -> Mesh:
    faces = np.array(faces, np.int32)
    if np.linalg.det(to_world[:3, :3]) < 0:  # a mirrored copy keeps its outward side
        faces = faces[:, ::-1].copy()
    common.setdefault("origin", np.array(to_world[:3, 3], np.float64))
    return Mesh(vertices=points_to(to_world, vertices), faces=faces, uvs=uvs, **common)
