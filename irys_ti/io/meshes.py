"""Triangle meshes from OBJ, PLY, STL and glTF files, checked before anything uses them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from ..errors import SceneError
from ..scene import Mesh
from ..scene import transform as tf
from .openpbr import Imported


@dataclass
class Look:
    """What a file says of a part's surface, in the terms that all formats share.

    color: (3,) linear sRGB. image: (h, w, 3) linear sRGB that multiplies it, or None. roughness: the
    square root of alpha. emission: (3,) linear sRGB radiance.
    """

    name: str = ""
    color: np.ndarray = field(default_factory=lambda: np.full(3, 0.5))
    image: np.ndarray | None = None
    metallic: float = 0.0
    roughness: float = 1.0
    emission: np.ndarray = field(default_factory=lambda: np.zeros(3))
    two_sided: bool = True


@dataclass
class Part:
    """A mesh of a file, with its name and its look (None where the file says nothing).

    surface: glTF's whole material, as OpenPBR; parts of one material share it.
    """

    mesh: Mesh
    name: str = ""
    look: Look | None = None
    surface: Imported | None = None


def read(path: Path) -> list[Part]:
    """The parts of a mesh file, in its world space; normals are None where the file has none.

    uvs have v = 0 at the bottom of the image. Raises SceneError for a file that cannot be read, an empty
    mesh, a face that names a vertex which is not there, or a vertex that is not finite.
    """
    kind = path.suffix.lower().removeprefix(".")
    try:
        if kind == "obj":
            from . import obj

            parts = obj.read(path)
        else:
            parts = {"ply": _ply, "stl": _stl}.get(kind, _gltf)(path)
    except SceneError:
        raise
    except Exception as error:  # noqa: BLE001 - whatever the reader of a broken file runs into
        problem = f"cannot be read as {kind.upper()} ({type(error).__name__}: {str(error)[:120]})"
        raise SceneError(str(path), problem, "export it again") from None
    parts = [part for part in parts if len(part.mesh.faces)]
    if not parts:
        raise SceneError(str(path), "the mesh is empty", "export it with its faces")
    for part in parts:
        check(part.mesh, f"{path}: {part.name}" if part.name else str(path))
    return parts


def check(mesh: Mesh, where: str) -> None:
    """Arrays of a mesh must fit each other and be finite; SceneError otherwise."""
    n = len(mesh.vertices)
    if not len(mesh.faces) or not n:
        raise SceneError(where, "the mesh is empty", "give it at least one triangle")
    for name, array, columns in (("vertices", mesh.vertices, 3), ("normals", mesh.normals, 3), ("uvs", mesh.uvs, 2)):
        if array is None:
            continue
        if array.shape != (n, columns):
            raise SceneError(where, f"{name} has shape {array.shape}", f"it must be ({n}, {columns})")
        bad = ~np.isfinite(array).all(1)
        if bad.any():
            raise SceneError(where, f"{name}[{np.flatnonzero(bad)[0]}] is not finite", "repair the mesh")
    if mesh.faces.ndim != 2 or mesh.faces.shape[1] != 3 or mesh.faces.dtype.kind not in "iu":
        raise SceneError(where, f"faces has shape {mesh.faces.shape}", "it must be (m, 3) whole numbers")
    bad = (mesh.faces < 0) | (mesh.faces >= n)
    if bad.any():
        face = int(np.flatnonzero(bad.any(1))[0])
        index = int(mesh.faces[face][bad[face]][0])
        raise SceneError(where, f"faces[{face}] names vertex {index}", f"there are vertices 0 to {n - 1}")


def merged(parts: list[Part], path: Path) -> Mesh:
    """All parts as one mesh; an attribute that only some parts have is dropped where it can be (normals,
    which are made again) and refused where it cannot (uvs)."""
    meshes = [part.mesh for part in parts]
    if len(meshes) == 1:
        return meshes[0]
    has_uvs = [m.uvs is not None for m in meshes]
    if any(has_uvs) and not all(has_uvs):
        raise SceneError(str(path), "only some parts have texture coordinates", "give them to all parts or to none")
    offsets = np.cumsum([0, *(len(m.vertices) for m in meshes[:-1])])
    return Mesh(
        vertices=np.concatenate([m.vertices for m in meshes]),
        faces=np.concatenate([m.faces + k for m, k in zip(meshes, offsets, strict=True)]).astype(np.int32),
        normals=None if any(m.normals is None for m in meshes) else np.concatenate([m.normals for m in meshes]),
        uvs=np.concatenate([m.uvs for m in meshes]) if all(has_uvs) else None,
    )


def smooth_normals(mesh: Mesh) -> np.ndarray:
    """(n, 3) unit vertex normals: face normals weighted by the angle at the vertex (Thürmer and Wüthrich 1998).

    Zero where all faces of a vertex are degenerate.
    """
    corners = mesh.vertices[mesh.faces]
    normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    normal = _normalised(normal)
    out = np.zeros_like(mesh.vertices)
    for i in range(3):
        a = _normalised(corners[:, (i + 1) % 3] - corners[:, i])
        b = _normalised(corners[:, (i + 2) % 3] - corners[:, i])
        angle = 2 * np.arctan2(np.linalg.norm(a - b, axis=1), np.linalg.norm(a + b, axis=1))
        for axis in range(3):
            out[:, axis] += np.bincount(mesh.faces[:, i], angle * normal[:, axis], len(out))
    return _normalised(out)


def wound_by_normals(mesh: Mesh) -> Mesh:
    """The mesh with every triangle wound as its vertex normals say: files often disagree with themselves."""
    if mesh.normals is None:
        return mesh
    corners = mesh.vertices[mesh.faces]
    face_normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    against = (face_normal * mesh.normals[mesh.faces].sum(1)).sum(1) < 0
    if not against.any():
        return mesh
    faces = mesh.faces.copy()
    faces[against] = faces[against][:, ::-1]
    return replace(mesh, faces=faces)


def placed(mesh: Mesh, to_world: np.ndarray) -> Mesh:
    """The mesh moved by a (4, 4) transform; a mirrored one keeps its outward side."""
    if np.array_equal(to_world, np.eye(4)):
        return mesh
    faces = mesh.faces
    if np.linalg.det(to_world[:3, :3]) < 0:
        faces = np.ascontiguousarray(faces[:, ::-1])
    normals = mesh.normals
    if normals is not None:
        normals = _normalised(tf.normals_to(to_world, normals))
    return replace(mesh, vertices=tf.points_to(to_world, mesh.vertices), faces=faces, normals=normals)


def _normalised(v: np.ndarray) -> np.ndarray:
    length = np.linalg.norm(v, axis=1, keepdims=True)
    return np.divide(v, length, out=np.zeros_like(v), where=length > 0)


def _mesh(vertices, faces, normals=None, uvs=None) -> Mesh:
    """float64 and int32 arrays; quadrilaterals are halved."""
    faces = np.asarray(faces)
    if faces.ndim == 2 and faces.shape[1] > 3:
        fan = [faces[:, [0, i, i + 1]] for i in range(1, faces.shape[1] - 1)]
        faces = np.stack(fan, 1).reshape(-1, 3)
    return Mesh(
        vertices=np.array(vertices, np.float64).reshape(-1, 3),
        faces=faces.astype(np.int32).reshape(-1, 3),
        normals=None if normals is None else _normalised(np.array(normals, np.float64)),
        uvs=None if uvs is None else np.array(uvs, np.float64)[:, :2],
    )


def _ply(path: Path) -> list[Part]:
    from trimesh.exchange.ply import load_ply

    with path.open("rb") as file:
        data = load_ply(file, fix_texture=False)
    if data.get("vertices") is None or data.get("faces") is None:
        return []
    vertices, faces, normals = data["vertices"], np.asarray(data["faces"]), data.get("vertex_normals")
    raw = data["metadata"]["_ply_raw"]
    uvs, corners = _ply_uvs(raw["vertex"]["data"]), _ply_corner_uvs(raw["face"]["data"])
    if uvs is None and corners is not None and corners.size == 2 * faces.size:
        # One vertex for each different pair of a vertex and a uv. trimesh does this too, but leaves normals behind.
        key = np.c_[faces.reshape(-1), corners.reshape(-1, 2)]
        _, first, inverse = np.unique(key, axis=0, return_index=True, return_inverse=True)
        old, uvs = faces.reshape(-1)[first], corners.reshape(-1, 2)[first]
        vertices, faces = np.asarray(vertices)[old], inverse.reshape(faces.shape)
        normals = None if normals is None else np.asarray(normals)[old]
    return [Part(_mesh(vertices, faces, normals, uvs))]


def _ply_uvs(vertex) -> np.ndarray | None:
    """(n, 2) texture coordinates of the vertices, under whichever names a file gives them."""
    for names in (("u", "v"), ("s", "t"), ("texture_u", "texture_v")):
        try:
            return np.column_stack([np.asarray(vertex[name], np.float64).reshape(-1) for name in names])
        except (ValueError, KeyError):
            continue
    return None


def _ply_corner_uvs(face) -> np.ndarray | None:
    """(m, 6) texture coordinates of the faces' corners, where the file has those."""
    try:
        found = face["texcoord"]
        return np.asarray(found["f1"] if getattr(found, "dtype", None) is not None and found.dtype.names else found, np.float64)
    except (ValueError, KeyError, IndexError, TypeError):
        return None


def _stl(path: Path) -> list[Part]:
    from trimesh.exchange.stl import load_stl

    with path.open("rb") as file:
        data = load_stl(file)
    solids = [data] if "vertices" in data else list(data.get("geometry", {}).values())
    return [Part(_mesh(solid["vertices"], solid["faces"])) for solid in solids]


def _gltf(path: Path) -> list[Part]:
    """Every mesh node of the file's scene, moved to world space."""
    import trimesh
    from trimesh.resolvers import FilePathResolver

    from . import gltf
    from .gltf_document import Document

    document = Document(path)
    file, kind = document.numbered()
    scene = trimesh.load_scene(file, file_type=kind, resolver=FilePathResolver(path), process=False)
    surfaces = gltf.surfaces(document)
    parts = []
    for node in scene.graph.nodes_geometry:
        to_world, name = scene.graph[node]
        geometry = scene.geometry[name]
        if not isinstance(geometry, trimesh.Trimesh):
            continue  # points and lines have no surface
        # trimesh makes normals on demand: only those that the file has are in the cache already.
        normals = geometry.vertex_normals if "vertex_normals" in geometry._cache.cache else None
        uvs = getattr(geometry.visual, "uv", None)
        mesh = _mesh(geometry.vertices, geometry.faces, normals, uvs)
        number = str(getattr(getattr(geometry.visual, "material", None), "name", None))
        surface = surfaces[int(number)] if number.isdecimal() and int(number) < len(surfaces) else None
        parts.append(Part(placed(mesh, np.asarray(to_world, np.float64)), str(node), surface=surface))
    return parts
