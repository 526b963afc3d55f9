"""Mitsuba 3 XML scenes (also version 2): what is not understood is an error, never dropped in silence."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from ...errors import SceneError
from ...scene import Material, Scene, constant
from ..suggest import nearest
from . import bsdfs, lights, media, sensors, shapes
from .xml import Node, index_ids, read

_SCENE = ("integrator", "sensor", "bsdf", "emitter", "shape", "medium", "texture", "spectrum")


def load(path: str | Path, **parameters) -> Scene:
    """The Scene of a Mitsuba XML file; ``parameters`` are the values of its ``$names``.

    Elements without an id are named by type and place: the third sphere is "sphere_2", the material inside
    it "sphere_2_bsdf". An area light has its shape's id. Raises SceneError.
    """
    path = Path(path)
    root = read(path, parameters)
    try:
        return _Context(root, path).build(root)
    except RecursionError:
        raise SceneError(path.name, "its elements refer to each other in a circle", "remove a reference") from None


class _Context:
    """The scene under construction, and what elements refer to by id."""

    def __init__(self, root: Node, path: Path):
        self.file = path.name
        self.ids = index_ids(root)
        self.scene = Scene(file=str(path))
        self.materials: dict[str, Material] = {}
        self.places: dict[Node, str] = {}
        self._built: dict[Node, str] = {}
        self._media: dict[Node, str] = {}
        self.camera_medium: str | None = None  # what the file says that the camera is inside of
        self._number(root)

    def _number(self, root: Node) -> None:
        """Names of shapes and lights: their ids, else type and place among those of that type."""
        counts: dict[str, int] = {}

        def walk(node: Node) -> None:
            for child in node.children:
                inside_shape = child.tag == "emitter" and node.tag == "shape"
                if child.tag in ("shape", "emitter") and not inside_shape:
                    place = counts.get(child.type, 0)
                    counts[child.type] = place + 1
                    self.places[child] = child.id or self._free(f"{child.type}_{place}")
                walk(child)

        walk(root)

    def _free(self, id: str) -> str:
        while id in self.ids:
            id += "_"
        return id

    def name(self, node: Node) -> str:
        """The id of a shape or light."""
        return self.places[node]

    def target(self, ref: Node) -> Node:
        """The node that a <ref> names."""
        if not ref.id:
            raise ref.error("lacks the attribute 'id'", "name what it refers to")
        if ref.id not in self.ids:
            raise ref.error(f"no object has the id {ref.id!r}", nearest(ref.id, self.ids))
        return self.ids[ref.id]

    def material(self, node: Node, fallback: str) -> str:
        """Build a <bsdf> once; its id, or ``fallback`` where it has none."""
        if node not in self._built:
            id = node.id or (node.children and _inner_id(node)) or self._free(fallback)
            if id in self.materials:
                raise node.error(
                    f"material {id!r} exists already", "give the outer <bsdf> its own id and refer to that"
                )
            self.materials[id] = bsdfs.material(node, self, id)
            self._built[node] = id
        return self._built[node]

    def default_material(self, shines: bool) -> str:
        """What a shape without a <bsdf> is made of, as in Mitsuba: grey, or black if it is a light."""
        id = self._free("default_light" if shines else "default")
        self.materials.setdefault(id, Material(id, "diffuse", {"reflectance": constant(0.0 if shines else 0.5)}))
        return id

    def medium(self, node: Node, fallback: str) -> str:
        if node not in self._media:
            id = node.id or self._free(fallback)
            self.scene.media.append(media.medium(node, self, id))
            self._media[node] = id
        return self._media[node]

    def build(self, root: Node) -> Scene:
        scene = self.scene
        for node in root.children:
            if node.tag not in _SCENE:
                raise node.error("unknown element of a scene", nearest(node.tag, (*_SCENE, "default", "include")))
            if node.tag in ("bsdf", "texture", "spectrum") and not node.id:
                raise node.error("has no id, so nothing can use it", "give it an id, or remove it")
        by_tag = {tag: [c for c in root.children if c.tag == tag] for tag in _SCENE}
        for tag in ("integrator", "sensor"):
            if len(by_tag[tag]) > 1:
                raise by_tag[tag][1].error(f"a second <{tag}>", "keep one")
        if not by_tag["sensor"]:
            raise SceneError(self.file, "has no <sensor>", 'add <sensor type="perspective">')
        scene.camera, scene.spp, far_clip = sensors.camera(by_tag["sensor"][0], self)
        if by_tag["integrator"]:
            scene.integrator = sensors.integrator(by_tag["integrator"][0], self)
        else:
            scene.integrator.max_depth = sensors.UNLIMITED
        for node in by_tag["bsdf"]:
            self.material(node, node.id)
        for node in by_tag["shape"]:
            shapes.add(node, self)
        for node in by_tag["emitter"]:
            scene.lights.append(lights.light(node, self, self.name(node)))
        scene.materials = list(self.materials.values())
        if self.camera_medium not in {s.interior for s in scene.shapes}:
            scene.medium = self.camera_medium
        self._check_far_clip(by_tag["sensor"][0], far_clip)
        return scene

    def _check_far_clip(self, sensor: Node, far_clip: float | None) -> None:
        """Rays are not cut off at a distance here: say so where that would show."""
        points = [s.vertices for s in self.scene.shapes if s.kind == "mesh" and s.group is None]
        points += [s.center[None] - s.radius for s in self.scene.shapes if s.kind == "sphere" and s.group is None]
        if far_clip is None or not points:
            return
        to_world = self.scene.camera.to_world
        depth = (np.concatenate(points) - to_world[:3, 3]) @ to_world[:3, 2]
        if depth.max() > far_clip:
            problem = f"far_clip {far_clip:g} cuts the scene, which reaches {depth.max():g}"
            raise sensor.error(problem, "remove far_clip")


def _inner_id(node: Node) -> str:
    """The id of the <bsdf> inside a twosided one."""
    inner = [c.id for c in node.children if c.tag == "bsdf" and c.id]
    return inner[0] if node.type == "twosided" and inner else ""
