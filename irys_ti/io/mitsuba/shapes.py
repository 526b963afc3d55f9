"""<shape> elements: rectangles, cubes, spheres, mesh files, groups and their instances."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ...scene import Curves, Instance, Mesh, Shape, Sphere, Texture, cube, rectangle
from ...scene import transform as tf
from .. import curves, meshes
from ..suggest import nearest
from . import lights
from .props import Props
from .transforms import matrix
from .xml import Node


def add(node: Node, context, group: str | None = None) -> None:
    """Build a <shape> and put what it is into the context's scene."""
    if node.type in ("shapegroup", "instance") and group is not None:
        raise node.error(f"a {node.type} cannot stand inside a shapegroup", "put its shapes there")
    props = Props(node, context)
    if node.type == "shapegroup":
        _group(node, props, context)
    elif node.type == "instance":
        _instance(node, props, context)
    else:
        context.scene.shapes.append(_surface(node, props, context, group))


def _group(node: Node, props: Props, context) -> None:
    if not node.id:
        raise node.error("a shapegroup needs an id", "instances name it")
    members = props.nested("shape")
    props.finish()
    if not members:
        raise node.error("the shapegroup is empty", "put shapes inside")
    for member in members:
        add(member, context, node.id)


def _instance(node: Node, props: Props, context) -> None:
    target = props.one("shape")
    if target is None or target.type != "shapegroup":
        raise node.error("needs a reference to a shapegroup", 'add <ref id="..."/>')
    to_world = matrix(props)
    props.finish()
    context.scene.instances.append(Instance(target.id, to_world, context.name(node)))


def _surface(node: Node, props: Props, context, group: str | None) -> Shape:
    build = SHAPES.get(node.type)
    if build is None:
        raise node.error(f"unknown shape {node.type!r}", nearest(node.type, [*SHAPES, "shapegroup", "instance"]))
    id = context.name(node)
    emitter = props.one("emitter")
    common = {
        "id": id,
        "material": _material(node, props, context, id, emitter is not None),
        "flip_normals": props.boolean("flip_normals", False),
        "group": group,
    }
    if emitter is not None:
        if group is not None:
            raise emitter.error("a light cannot stand inside a shapegroup", "move it out")
        common["light"] = lights.area(emitter, context, id)
    for side in ("interior", "exterior"):
        inside = props.take(side, "medium")
        if inside is not None:
            common[side] = context.medium(inside, f"{id}_{side}")
    to_world = matrix(props)
    shape = build(node, props, to_world, common)
    props.finish()
    _check_uvs(node, shape, to_world, context)
    return shape


def _material(node: Node, props: Props, context, id: str, shines: bool) -> str:
    """The id of the shape's material."""
    inside = props.one("bsdf")
    return context.default_material(shines) if inside is None else context.material(inside, f"{id}_bsdf")


def _rectangle(node: Node, props: Props, to_world: np.ndarray, common: dict) -> Mesh:
    return rectangle(to_world, **common)


def _cube(node: Node, props: Props, to_world: np.ndarray, common: dict) -> Mesh:
    return cube(to_world, **common)


def _sphere(node: Node, props: Props, to_world: np.ndarray, common: dict) -> Sphere:
    linear = to_world[:3, :3]
    size = np.cbrt(abs(np.linalg.det(linear)))
    if not np.allclose(linear.T @ linear, size**2 * np.eye(3), rtol=1e-4, atol=1e-4 * size**2):
        raise node.error("to_world scales the sphere unevenly", "use one factor for all axes, or a mesh")
    if np.linalg.det(linear) < 0:  # as in Mitsuba, the mirror image of a sphere is turned inside out
        common["flip_normals"] = not common["flip_normals"]
    center = props.vector("center", np.zeros(3))
    radius = props.float("radius", 1.0, low=0.0, strict=True)
    return Sphere(center=tf.points_to(to_world, center[None])[0], radius=float(radius * size), **common)


def _file(node: Node, props: Props, to_world: np.ndarray, common: dict) -> Mesh:
    """obj, ply, stl: as Mitsuba does, normals that the file lacks are made unless face_normals is set, and
    OBJ's v runs downwards unless flip_tex_coords is false."""
    path = node.folder / props.string("filename")
    flat = props.boolean("face_normals", False)
    flip_v = props.boolean("flip_tex_coords", node.type == "obj")
    if not path.is_file():
        raise node.error(f"no such file: {path}", "filename is relative to the scene file")
    if path.suffix.lower() != f".{node.type}":
        raise node.error(
            f"{path.name} is not a .{node.type} file", 'name the shape type after the file, as in type="ply"'
        )
    mesh = meshes.merged(meshes.read(path), path)
    if mesh.uvs is not None and flip_v:
        mesh.uvs = np.c_[mesh.uvs[:, 0], 1 - mesh.uvs[:, 1]]
    mesh = replace(mesh, **common, origin=to_world[:3, 3].copy())
    if mesh.normals is not None and not flat:
        return meshes.placed(meshes.wound_by_normals(mesh), to_world)
    # The winding alone tells the outside, and Mitsuba lets a mirror image turn it in.
    mesh = replace(mesh, vertices=tf.points_to(to_world, mesh.vertices), normals=None)
    return mesh if flat else replace(mesh, normals=meshes.smooth_normals(mesh))


def _curves(node: Node, props: Props, to_world: np.ndarray, common: dict) -> Curves:
    """Tubes through a text file of control points; a scaled to_world scales the radii by the mean of its axes."""
    path = node.folder / props.string("filename")
    props.float("silhouette_sampling_weight", 1.0)  # of Mitsuba's own gradients
    if not path.is_file():
        raise node.error(f"no such file: {path}", "filename is relative to the scene file")
    shape = curves.read_curves(path, basis="bspline" if node.type == "bsplinecurve" else "linear")
    size = np.cbrt(abs(np.linalg.det(to_world[:3, :3])))
    points, radii = tf.points_to(to_world, shape.points), shape.radii * size
    return replace(shape, **common, points=points, radii=radii, origin=to_world[:3, 3].copy())


SHAPES = {
    "bsplinecurve": _curves,
    "linearcurve": _curves,
    "rectangle": _rectangle,
    "cube": _cube,
    "sphere": _sphere,
    "obj": _file,
    "ply": _file,
    "stl": _file,
}


def _check_uvs(node: Node, shape: Shape, to_world: np.ndarray, context) -> None:
    """A texture needs uv that mean what the file says."""
    material = context.materials[shape.material]
    if not any(isinstance(v, Texture) for v in material.values.values()):
        return
    if isinstance(shape, Mesh) and shape.uvs is None:
        raise node.error(f"has no texture coordinates for the texture of {material.id!r}", "add them, or use a colour")
    if isinstance(shape, Sphere):
        linear = to_world[:3, :3]
        if not np.allclose(linear, np.eye(3) * linear[0, 0], atol=1e-6 * abs(linear[0, 0])):
            raise node.error("a turned sphere cannot carry a texture", "use a mesh, or leave out the rotation")
