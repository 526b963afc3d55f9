"""A mesh file alone as a scene: a camera that frames it, a constant light, materials mapped simply."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from ..errors import SceneError
from ..scene import Camera, Light, Material, Scene, Texture, constant, rgb
from ..scene import transform as tf
from . import meshes

FOV = 40.0


def load(path: str | Path, **parameters) -> Scene:
    """The Scene of an OBJ, PLY, STL or glTF file, +y up, seen from the front, right and above.

    glTF's materials become OpenPBR (gltf.py), and ``scene.notes`` name what was dropped. Of the others, a metal
    (metallic of one half or more) becomes a mirror-tinted rough conductor, anything else diffuse, textured by its
    base colour alone. What glows makes an area light.
    """
    path = Path(path)
    if parameters:
        raise SceneError(str(path), f"has no parameter {next(iter(parameters))!r}", "only scene files have some")
    if path.suffix.lower() == ".ply" and splats_inside(path):
        from .splats import load as load_splats

        return load_splats(path)
    scene = Scene(file=str(path))
    taken: set[str] = set()
    known: dict[tuple | int | None, str] = {}
    for part in meshes.read(path):
        mesh = meshes.wound_by_normals(part.mesh)
        mesh.id = _fresh(part.name or path.stem, taken)
        if part.surface is not None:
            key = id(part.surface)
            if key not in known:
                known[key] = part.surface.material.id = _fresh(part.surface.material.id, taken)
                scene.materials.append(part.surface.material)
                scene.notes += [f"{known[key]}: {note}" for note in part.surface.notes]
            part.surface.light(mesh)
            _require_uvs(part.surface.material, mesh, scene)
            scene.shapes.append(mesh)
            continue
        key = None if part.look is None else _signature(part.look)
        if key not in known:
            name = "default" if part.look is None else (part.look.name or f"{mesh.id}_bsdf")
            known[key] = _fresh(name, taken)
            scene.materials.append(_material(part.look, known[key], mesh))
        mesh.material = known[key]
        if part.look is not None and part.look.emission.any():
            mesh.light = Light(mesh.id, "area", {"radiance": rgb(*part.look.emission, illuminant=True)})
        scene.shapes.append(mesh)
    scene.lights.append(Light(_fresh("sky", taken), "constant", {"radiance": rgb(1, 1, 1, illuminant=True)}))
    scene.camera = frame(np.concatenate([s.vertices for s in scene.shapes]))
    return scene


def splats_inside(path: Path) -> bool:
    """Whether a .ply holds splats rather than a mesh."""
    from .splats.ply import is_splats

    with open(path, "rb") as file:
        return is_splats(file.read(1 << 16))


def _require_uvs(material: Material, mesh, scene: Scene) -> None:
    """Say where a texture meets a mesh without coordinates: it is looked up at their default there."""
    textured = [name for name, value in material.values.items() if isinstance(value, Texture)]
    if textured and mesh.uvs is None:
        scene.notes.append(f"{mesh.id}: no texture coordinates for {', '.join(textured)} of {material.id}")


def frame(points: np.ndarray) -> Camera:
    """A camera that sees all the points."""
    low, high = points.min(0), points.max(0)
    center, radius = (low + high) / 2, max(np.linalg.norm(high - low) / 2, 1e-6)
    distance = 1.05 * radius / np.sin(np.deg2rad(FOV / 2))
    towards = np.array([0.5, 0.4, 1.0])
    origin = center + distance * towards / np.linalg.norm(towards)
    return Camera(tf.look_at(origin, center, [0, 1, 0]), fov=FOV, near_clip=min(1e-2, 1e-3 * distance))


def _fresh(name: str, taken: set[str]) -> str:
    """The name, made into an id that no other thing has; parameter paths are split at dots."""
    name = name.replace(".", "_") or "part"
    id, i = name, 2
    while id in taken:
        id, i = f"{name}_{i}", i + 1
    taken.add(id)
    return id


def _signature(look: meshes.Look) -> tuple:
    return (
        look.name, look.color.tobytes(), id(look.image) if look.image is not None else 0, look.metallic,
        look.roughness, look.two_sided,
    )  # fmt: skip


def _material(look: meshes.Look | None, id: str, mesh) -> Material:
    if look is None:
        return Material(id, "diffuse", {"reflectance": constant(0.5)}, two_sided=True)
    if look.image is not None and mesh.uvs is not None:
        color = Texture(np.clip(look.image * look.color, 0, 1).astype(np.float32), source=look.name)
    else:
        color = rgb(*np.clip(look.color, 0, 1))
    if look.metallic < 0.5:
        return Material(id, "diffuse", {"reflectance": color}, two_sided=look.two_sided)
    values = {"eta": constant(0.0), "k": constant(1.0), "specular_reflectance": color}
    alpha = look.roughness**2  # glTF's roughness is the square root of GGX's alpha
    if alpha < 1e-3:
        return Material(id, "conductor", values, two_sided=look.two_sided)
    return Material(id, "roughconductor", {**values, "alpha": alpha}, two_sided=look.two_sided)
