"""Checks of a whole scene, whether a file or Python built it: ids, references, arrays, ranges."""

from __future__ import annotations

import numpy as np

from ..errors import SceneError
from ..scene import (
    Camera,
    Curves,
    Instance,
    Light,
    Material,
    Medium,
    Mesh,
    PhaseTable,
    Primitives,
    Scene,
    Shape,
    Spectrum,
    Sphere,
    Splats,
    Texture,
)
from ..scene.sparse import BLOCK, SparseGrid
from . import curve_checks, meshes, splat_checks
from .suggest import nearest

FILTERS = ("box", "tent", "gaussian")
PHASES = ("isotropic", "hg", "droplets", "table")
MAX_MEDIA = 254
FOV_AXES = ("x", "y", "smaller", "larger", "diagonal")


def validate(scene: Scene) -> None:
    """Raise SceneError, naming the file and the object, for what cannot be rendered.

    What a material's or light's kind allows is checked against its PARAMS where the scene is compiled.
    """
    _camera(scene.camera, f"{scene.file}: camera")
    if scene.integrator.max_depth < 1 or scene.integrator.rr_depth < 1:
        depths = f"max_depth {scene.integrator.max_depth}, rr_depth {scene.integrator.rr_depth}"
        raise SceneError(f"{scene.file}: integrator", depths, "both must be 1 or more")
    _ids(scene)
    materials = {m.id: m.kind for m in scene.materials}
    for material in scene.materials:
        _values(material, f"{scene.file}: material {material.id!r}")
    for light in scene.lights:
        _light(light, f"{scene.file}: light {light.id!r}")
    for medium in scene.media:
        _medium(medium, f"{scene.file}: medium {medium.id!r}")
    _media_of(scene)
    for shape in scene.shapes:
        _shape(shape, materials, f"{scene.file}: shape {shape.id!r}")
    groups = {s.group for s in scene.shapes if s.group is not None}
    _crossings(scene)
    for instance in scene.instances:
        _instance(instance, groups, f"{scene.file}: instance {instance.id!r}")


def _crossings(scene: Scene) -> None:
    """Pairs of parts that cross must name two different meshes that stand in the scene themselves."""
    shapes = {s.id: s for s in scene.shapes}
    for pair in scene.crossings:
        where = f"{scene.file}: crossings: {pair!r}"
        if len(pair) != 2 or pair[0] == pair[1]:
            raise SceneError(where, "is no pair of two shapes", "name two ids")
        for id in pair:
            if id not in shapes:
                raise SceneError(where, f"there is no shape {id!r}", "name ids of shapes")
            if not isinstance(shapes[id], Mesh) or shapes[id].group is not None:
                raise SceneError(where, f"{id!r} is not a mesh of the scene itself", "only those can be declared to cross")


def _ids(scene: Scene) -> None:
    """Ids of shapes, materials, media and lights must be there and differ."""
    seen: dict[str, str] = {}
    objects = [("shape", s) for s in scene.shapes] + [("material", m) for m in scene.materials]
    objects += [("medium", m) for m in scene.media]
    for kind, thing in objects + [("light", light) for light in scene.lights]:
        if not isinstance(thing.id, str) or not thing.id:
            raise SceneError(scene.file, f"a {kind} has no id", "give it one: parameter paths start with it")
        if "." in thing.id:
            raise SceneError(scene.file, f"the id {thing.id!r} has a dot", "parameter paths are split at dots")
        if thing.id in seen:
            problem = f"the id {thing.id!r} of a {kind} is that of a {seen[thing.id]} too"
            raise SceneError(scene.file, problem, "give each its own")
        seen[thing.id] = kind


def _medium(medium: Medium, where: str) -> None:
    if medium.phase not in PHASES:
        raise SceneError(where, f"phase {medium.phase!r}", nearest(str(medium.phase), PHASES))
    if isinstance(medium.priority, bool) or not isinstance(medium.priority, int) or abs(medium.priority) > 1 << 20:
        raise SceneError(where, f"priority {medium.priority!r}", "give a whole number")
    _matrix(medium.to_world, where)
    _values(medium, where)
    if medium.kind == "grid" and "density" not in medium.values:
        raise SceneError(where, "has no density", "give an array (nz, ny, nx) as its value 'density'")
    for name, value in medium.values.items():
        if isinstance(value, Texture):
            raise SceneError(f"{where}, {name}", "is a texture", "a medium has no surface: give a number or a Spectrum")
        if isinstance(value, PhaseTable) != (name == "phase_values"):
            raise SceneError(f"{where}, {name}", f"is a {type(value).__name__}", "phase_values, and it alone, is a PhaseTable")
    if medium.phase == "table" and "phase_values" not in medium.values:
        raise SceneError(where, "has no phase_values", "give its phase function as a PhaseTable")


def _phase_table(table: PhaseTable, where: str) -> None:
    """Shapes and order of a phase function's table; its numbers are checked as every parameter's."""
    c, w = table.cosines, table.wavelengths
    if c.ndim != 1 or len(c) < 2 or not (np.diff(c) > 0).all() or abs(c[0] + 1) > 1e-6 or abs(c[-1] - 1) > 1e-6:
        raise SceneError(where, "cosines do not go from -1 to 1", "give two or more, increasing")
    shape = c.shape if w is None else (*np.shape(w), len(c))
    if table.values.shape != shape:
        raise SceneError(where, f"values of shape {table.values.shape}", f"{shape} goes with these cosines and wavelengths")
    if w is not None and (w.ndim != 1 or len(w) == 0 or not np.isfinite(w).all() or (np.diff(w) <= 0).any()):
        raise SceneError(where, "the wavelengths do not increase", "give them in nm, one for each row")


def _media_of(scene: Scene) -> None:
    """Media that shapes and the scene name."""
    ids = {m.id for m in scene.media}
    if len(ids) > MAX_MEDIA:
        raise SceneError(scene.file, f"{len(ids)} media", f"at most {MAX_MEDIA} fit one scene")
    named = [(f"shape {s.id!r}", side, getattr(s, side)) for s in scene.shapes for side in ("interior", "exterior")]
    for who, side, id in [*named, ("scene", "medium", scene.medium)]:
        if id is not None and id not in ids:
            raise SceneError(f"{scene.file}: {who}, {side}", f"there is no medium {id!r}", nearest(str(id), ids))


def _camera(camera: Camera, where: str) -> None:
    _matrix(camera.to_world, where)
    linear = np.asarray(camera.to_world)[:3, :3]
    if not np.allclose(linear @ linear.T, np.eye(3), atol=1e-4) or np.linalg.det(linear) < 0:
        raise SceneError(where, "to_world scales or mirrors", "use scene.transform.look_at")
    if camera.fov_axis not in FOV_AXES:
        raise SceneError(where, f"fov_axis {camera.fov_axis!r}", nearest(str(camera.fov_axis), FOV_AXES))
    if not 0 < camera.fov < 180:
        raise SceneError(where, f"fov is {camera.fov}", "it must be between 0 and 180 degrees")
    if not np.isfinite(camera.principal_point).all():
        raise SceneError(where, f"principal_point is {camera.principal_point}", "give two finite numbers")
    if not 0 < camera.near_clip < np.inf:
        raise SceneError(where, f"near_clip is {camera.near_clip}", "it must be above 0")
    film = camera.film
    if film.width < 1 or film.height < 1:
        raise SceneError(where, f"the film has {film.width}x{film.height} pixels", "it needs at least one")
    x, y, w, h = film.window
    if min(x, y) < 0 or min(w, h) < 1 or x + w > film.width or y + h > film.height:
        problem = f"the crop {film.crop} leaves the film of {film.width}x{film.height}"
        raise SceneError(where, problem, "give (x, y, width, height) inside it")
    if film.filter not in FILTERS:
        raise SceneError(where, f"filter {film.filter!r}", nearest(str(film.filter), FILTERS))


def _matrix(m, where: str) -> None:
    m = np.asarray(m)
    if m.shape != (4, 4) or not np.isfinite(m).all():
        raise SceneError(where, "to_world is not a finite 4x4 matrix", "use scene.transform")
    size = np.abs(m[:3, :3]).max()
    if size == 0 or abs(np.linalg.det(m[:3, :3] / size)) < 1e-12 or not np.allclose(m[3], [0, 0, 0, 1]):
        raise SceneError(where, "to_world is singular or projective", "its last row is 0 0 0 1, no scale is 0")


def _light(light: Light, where: str) -> None:
    _matrix(light.to_world, where)
    _values(light, where)
    if light.kind == "ies":
        _photometry(light, where)


def _photometry(light: Light, where: str) -> None:
    table = light.values.get("candela")
    if light.angles is None or len(light.angles) != 2 or not isinstance(table, Texture):
        raise SceneError(where, "has no table of candela over angles", "make it by it.ies_light(file)")
    vertical, horizontal = (np.asarray(a) for a in light.angles)
    if table.pixels.shape != (vertical.size, horizontal.size, 1):
        problem = f"candela of shape {table.pixels.shape} over {vertical.size} by {horizontal.size} angles"
        raise SceneError(where, problem, "one for each pair, in one channel")
    for a in (vertical, horizontal):
        if a.ndim != 1 or not np.isfinite(a).all() or (np.diff(a) <= 0).any():
            raise SceneError(where, "angles do not increase", "list each once, in order, in degrees")
    if horizontal[0] != 0 or horizontal[-1] not in (0, 90, 180, 360):
        raise SceneError(where, f"horizontal angles up to {horizontal[-1]:g}", "they go from 0 to 0, 90, 180 or 360")


def _shape(shape: Shape, materials: dict[str, str], where: str) -> None:
    if isinstance(shape, Splats):
        splat_checks.check(shape, where)
    elif shape.material not in materials:
        raise SceneError(where, f"there is no material {shape.material!r}", nearest(str(shape.material), materials))
    if shape.light is not None:
        if shape.group is not None:
            raise SceneError(where, "a light cannot stand in a group", "move it into the world")
        if not isinstance(shape.light, Light) or shape.light.kind != "area":
            raise SceneError(where, "its light is not an area light", 'use Light(id, "area", {"radiance": ...})')
        if shape.light.id != shape.id:
            raise SceneError(where, f"its light has the id {shape.light.id!r}", "it has its shape's id")
        _light(shape.light, where)
    if isinstance(shape, Mesh):
        meshes.check(shape, where)
    elif isinstance(shape, Curves):
        curve_checks.check(shape, where)
        curve_checks.check_material(materials[shape.material], where)
    elif isinstance(shape, Sphere):
        if np.shape(shape.center) != (3,) or not np.isfinite(shape.center).all():
            raise SceneError(where, f"center is {shape.center}", "give three finite numbers")
        if not 0 < shape.radius < np.inf:
            raise SceneError(where, f"radius is {shape.radius}", "it must be above 0")
    elif isinstance(shape, Primitives):
        for name, array in shape.fields.items():
            if not np.isfinite(array).all():
                raise SceneError(where, f"{name} is not finite", "repair the array")


def _instance(instance: Instance, groups: set[str], where: str) -> None:
    if instance.group not in groups:
        raise SceneError(where, f"there is no group {instance.group!r}", nearest(str(instance.group), groups))
    _matrix(instance.to_world, where)


def _values(owner: Material | Light | Medium, where: str) -> None:
    for name, value in owner.values.items():
        at = f"{where}, {name}"
        if name == "density" and isinstance(owner, Medium):
            _density(value, at)
        elif isinstance(value, PhaseTable) and isinstance(owner, Medium):
            _phase_table(value, at)
        elif isinstance(value, Spectrum):
            _spectrum(value, at)
        elif isinstance(value, Texture):
            _texture(value, at)
        elif not isinstance(value, (int, float, np.number)) or not np.isfinite(value):
            raise SceneError(at, f"is {value!r}", "give a finite number, a Spectrum or a Texture")


def _density(value, where: str) -> None:
    if isinstance(value, SparseGrid):
        _sparse(value, where)
        return
    array = np.asarray(value)
    if array.ndim != 3 or 0 in array.shape or not np.issubdtype(array.dtype, np.number):
        raise SceneError(where, f"is not a grid: shape {array.shape}", "give an array (nz, ny, nx)")
    if not np.isfinite(array).all():
        raise SceneError(where, f"{int((~np.isfinite(array)).sum())} voxels are not finite", "repair the grid")


def _sparse(grid: SparseGrid, where: str) -> None:
    n, count = len(grid.corners), -(-np.array(grid.size) // BLOCK)
    if len(grid.size) != 3 or min(grid.size) < 1:
        raise SceneError(where, f"a grid of size {grid.size}", "give (nz, ny, nx)")
    if n == 0 or grid.blocks.shape != (n, BLOCK, BLOCK, BLOCK):
        raise SceneError(where, f"{n} corners, blocks of shape {grid.blocks.shape}", "give one or more, (n, 8, 8, 8)")
    if (grid.corners < 0).any() or (grid.corners >= count).any() or len(np.unique(grid.corners, axis=0)) < n:
        raise SceneError(where, "a block lies outside of the grid, or where another is", "give each its own place, in blocks")
    if not np.isfinite(grid.blocks).all():
        raise SceneError(where, f"{int((~np.isfinite(grid.blocks)).sum())} voxels are not finite", "repair the grid")


def _spectrum(value: Spectrum, where: str) -> None:
    n = {"constant": 1, "rgb": 3, "points": len(value.values)}.get(value.kind)
    if n is None:
        raise SceneError(where, f"spectrum kind {value.kind!r}", nearest(value.kind, ("constant", "rgb", "points")))
    if value.values.shape != (n,) or n == 0:
        raise SceneError(
            where, f"a {value.kind} spectrum with values of shape {value.values.shape}", f"it has {n or 1}"
        )
    if not np.isfinite(value.values).all() or value.values.min() < 0:
        raise SceneError(where, f"values are {_shown(value.values)}", "they must be finite and 0 or more")
    if value.kind == "points":
        w = value.wavelengths
        if w.shape != value.values.shape or not np.isfinite(w).all() or (np.diff(w) <= 0).any():
            raise SceneError(where, f"wavelengths are {_shown(w)}", "one for each value, increasing, in nm")


def _texture(value: Texture, where: str) -> None:
    if value.pixels.ndim != 3 or value.pixels.shape[2] not in (1, 3) or 0 in value.pixels.shape:
        raise SceneError(where, f"pixels have shape {value.pixels.shape}", "it must be (h, w, 1) or (h, w, 3)")
    if not np.isfinite(value.pixels).all():
        raise SceneError(where, "pixels are not finite", "repair the image")
    if value.pixels.shape[2] == 3 and value.pixels.min() < 0:  # one channel: the parameter's own range decides
        raise SceneError(where, "pixels are negative", "repair the image")
    for name, allowed in (("filter", ("bilinear", "nearest")), ("wrap", ("repeat", "clamp", "mirror"))):
        if getattr(value, name) not in allowed:
            raise SceneError(where, f"{name} {getattr(value, name)!r}", nearest(str(getattr(value, name)), allowed))
    if np.shape(value.to_uv) != (3, 3) or not np.isfinite(value.to_uv).all():
        raise SceneError(where, "to_uv is not a finite 3x3 matrix", "use numpy.eye(3) for none")


def _shown(values: np.ndarray) -> str:
    return np.array2string(np.asarray(values), threshold=6, precision=4)
