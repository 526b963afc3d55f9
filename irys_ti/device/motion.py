"""Parameters that say where things are: poses, vertices, spheres, the camera, lights. Their slots and their table.

The device sums derivatives by an infinitesimal translation, by a rotation about the present origin (a torque) and by
the logarithm of the scale; ``pull`` turns them into derivatives by the parameters as they are stored.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from irys_ti.errors import SceneError
from irys_ti.graph import Param
from irys_ti.kernels import layout
from irys_ti.kernels.light import LIGHTS
from irys_ti.scene import Camera, Curves, Instance, Light, Mesh, Scene, Shape, Sphere, Splats, Texture, origin_of
from irys_ti.scene.curves import controls_adjoint
from irys_ti.scene.pose import left_jacobian, pose_matrix

from .slots import choose_versions

INF = float("inf")
ANY = Param("scalar", 0.0, -INF, INF, doc="a length, or radians")
POSITIVE = Param("scalar", 1.0, 1e-9, INF, doc="a factor, or a length")
STRETCHED = ("specular_roughness_anisotropy", "coat_roughness_anisotropy")
ANGLE = Param("scalar", 45.0, 1e-3, 179.0, doc="degrees")

# name -> (declaration, place in the mover's record)
POSE = {
    "translation": (ANY, layout.MOVER_TRANSLATION),
    "rotation": (ANY, layout.MOVER_ROTATION),
    "scale": (POSITIVE, layout.MOVER_SCALE),
}
MESH = {**POSE, "vertices": (ANY, layout.MOVER_VERTICES)}
CURVES = {**POSE, "points": (ANY, layout.MOVER_VERTICES), "radii": (POSITIVE, layout.MOVER_RADIUS)}
SPHERE = {**POSE, "center": (ANY, layout.MOVER_CENTER), "radius": (POSITIVE, layout.MOVER_RADIUS)}
BY_KIND = {Mesh: MESH, Sphere: SPHERE, Curves: CURVES}
CAMERA = {
    "position": (ANY, layout.MOVER_TRANSLATION),
    "rotation": (ANY, layout.MOVER_ROTATION),
    "fov": (ANGLE, layout.MOVER_SCALE),
    "principal_point": (ANY, layout.MOVER_CENTER),
}
# What moves of a light without a shape, by kind; an area light's pose is its shape's, the sun's place a parameter of
# the sky, and an environment's turning moves its picture (envmap's ``rotation``).
STANDING = {
    "point": {"translation": POSE["translation"]},
    "spot": {"translation": POSE["translation"], "rotation": POSE["rotation"]},
    "ies": {"translation": POSE["translation"], "rotation": POSE["rotation"]},  # refused: why_not
    "directional": {"rotation": POSE["rotation"]},
}
HARD = 0.01  # degrees between a spot's beam and its cutoff below which its rim counts as an edge


@dataclass
class Numbers:
    """A geometry parameter's numbers: the host's array, and the device's accumulators behind its gradient.

    data: as many zeros as there are accumulators. pull(d_data) -> derivative by the host array.
    """

    host: np.ndarray
    data: np.ndarray
    pull: Callable


class MotionSlot:
    """One parameter of a mover; the same face as device/slots.Slot.

    path: "ball.translation". owner: the Shape, Instance, Camera or Light. mover: number of its record.
    """

    note = ""

    def __init__(self, path: str, owner, name: str, param: Param, field: int, mover: int, scene: Scene):
        self.path, self.owner, self.name, self.param = path, owner, name, param
        self.field, self.mover, self._scene = field, mover, scene

    @property
    def value(self) -> np.ndarray:
        """The host's value."""
        if isinstance(self.owner, Camera) and self.name == "position":
            return np.array(self.owner.to_world, np.float64)[:3, 3]
        return np.asarray(getattr(self.owner, self.name), np.float64)

    @property
    def encoded(self) -> Numbers:
        host, size = np.array(self.value, np.float64), self.value.size
        if isinstance(self.owner, Curves) and self.name in ("points", "radii"):  # of all pieces
            size = (12 if self.name == "points" else 4) * len(self.owner.pieces()["bits"])
        return Numbers(host, np.zeros(size), self._pull)

    @property
    def why_no_gradient(self) -> str:
        return why_not(self._scene, self.owner, self.name)

    def _pull(self, d: np.ndarray) -> np.ndarray:
        owner = self.owner
        if self.name == "rotation":
            return left_jacobian(owner.rotation).T @ d
        if self.name == "scale":
            return (d / owner.scale).reshape(())
        if self.name == "fov":  # the device knows tan(fov_x / 2), a multiple of tan(fov / 2)
            tan = np.tan(np.deg2rad(owner.fov_x()) / 2)
            half = np.deg2rad(owner.fov) / 2
            return (d * tan / np.tan(half) / np.cos(half) ** 2 * np.deg2rad(0.5)).reshape(())
        if isinstance(owner, Curves) and self.name == "points":
            return controls_adjoint(owner, d.reshape(-1, 4, 3)) @ self._linear()
        if isinstance(owner, Curves) and self.name == "radii":
            return controls_adjoint(owner, d.reshape(-1, 4, 1), owner.radii)[:, 0] * owner.scale
        if self.name in ("vertices", "center"):  # stored before the pose
            return (d.reshape(-1, 3) @ self._linear()).reshape(self.value.shape)
        if self.name == "radius":
            return (d * owner.scale).reshape(())
        return d.reshape(self.value.shape)

    def _linear(self) -> np.ndarray:
        return pose_matrix(self.owner, np.zeros(3))[:3, :3] if not isinstance(self.owner, Camera) else np.eye(3)

    def assign(self, array, file: str) -> None:
        """Set the host's value, checked."""
        old, new = self.value, np.array(array, np.float64)
        if new.shape != old.shape and new.size == old.size == 1:
            new = new.reshape(old.shape)
        where = f"{file}: {self.path}"
        if new.shape != old.shape:
            raise SceneError(where, f"shape {new.shape} given", f"this parameter has shape {old.shape}")
        if not np.isfinite(new).all():
            raise SceneError(where, "the value is not finite (NaN or infinity)", "give finite numbers")
        if new.size and (new.min() < self.param.low or new.max() > self.param.high):
            raise SceneError(where, f"{new.min():.6g} is out of range", f"values lie in [{self.param.low:g}, {self.param.high:g}]")
        if np.array_equal(new, old):
            return
        if isinstance(self.owner, Camera) and self.name == "position":
            m = np.array(self.owner.to_world, np.float64)
            m[:3, 3] = new
            self.owner.to_world = m
        elif self.name == "principal_point":
            self.owner.principal_point = tuple(float(x) for x in new)
        else:
            setattr(self.owner, self.name, float(new) if new.shape == () else new)


def why_not(scene: Scene, owner, name: str) -> str:
    """Why a geometry parameter has no derivative in this scene: the whole list of reasons."""
    if isinstance(owner, Shape):
        if owner.group is not None:
            return "it stands in a group, which is seen through instances: move an instance instead"
        if not isinstance(owner, (Curves, Mesh, Sphere)):
            return f"shapes of kind '{owner.kind}' have no silhouette yet"
        if name == "vertices" and owner.normals is not None:
            return "its normals are data of their own and would not follow: set the mesh's normals to None"
        if name == "rotation" and isinstance(owner, Sphere):
            return "a turned sphere is the same sphere; move its center"
    if isinstance(owner, Camera) and name != "position":
        for light in scene.lights:
            if light.kind in ("envmap", "sky"):
                return f"the picture of '{light.id}' behind everything would slide, which has no derivative yet"
    if any(isinstance(s, Splats) for s in scene.shapes):
        return "splats hide what is behind them by chance, which moves without a derivative yet; ask for the splats' own"
    worn = {m.id: m.kind for m in scene.materials}
    for shape in scene.shapes:
        if isinstance(shape, Curves) and shape.style != "round":
            return f"the curves '{shape.id}' are ribbons, which turn to whoever looks: give them the style 'round'"
        if isinstance(shape, Curves) and shape.group is not None:
            return f"the curves '{shape.id}' stand in a group, and through instances their outlines have no derivative yet"
        if not isinstance(shape, Curves) and worn.get(shape.material) == "hair":
            return f"the fibres that '{shape.id}' is made of lie along its texture, whose direction has no derivative yet"
    if scene.media and (scene.medium or any(s.interior or s.exterior for s in scene.shapes)):
        return "light is scattered and dimmed on the way between things, which has no derivative by where they are yet"
    for light in scene.lights:
        if light.kind == "ies":
            return f"the light '{light.id}' shines by a measured table, which has no derivative by direction yet"
        if light.kind == "spot" and _width(light) < HARD:
            return f"the spot '{light.id}' has a hard rim, an edge that is not sampled: let beam_width end before cutoff_angle"
    versions = choose_versions(scene)
    used = {s.material for s in scene.shapes}
    for material in scene.materials:
        if material.id not in used:
            continue
        if hasattr(versions[id(material)][1], "interior"):
            return (
                f"light is scattered or dimmed inside of material '{material.id}', which has no derivative by place yet; "
                "at subsurface_radius 0 (the diffuse limit) or transmission_depth 0 it is not"
            )
        if getattr(versions[id(material)][1], "HAS_DELTA", False):
            return f"material '{material.id}' is a smooth mirror or glass: where it sends a path has no derivative yet"
        if any(isinstance(v, Texture) for v in material.values.values()):
            return f"material '{material.id}' has a texture: how it slides over a moving surface has no derivative yet"
        if any(np.any(material.values.get(k, 0.0) != 0.0) for k in STRETCHED):
            return f"material '{material.id}' has stretched highlights, whose direction has no derivative yet"
    return ""


def _width(spot: Light) -> float:
    """Degrees over which a spot fades."""
    declared = LIGHTS["spot"].PARAMS
    cutoff, beam = (float(spot.values.get(n, declared[n].default)) for n in ("cutoff_angle", "beam_width"))
    return cutoff - beam


class Movers:
    """The table of movers and the slots of one scene."""

    def __init__(self, scene: Scene):
        self.slots: list[MotionSlot] = []
        self.shapes, self.instances = list(scene.shapes), list(scene.instances)
        self.camera = len(self.shapes) + len(self.instances)  # the camera's number; the lights' follow, area lights first
        lights = [s.light for s in self.shapes if s.light is not None] + list(scene.lights)
        self.things = [*self.shapes, *self.instances, scene.camera, *lights]
        ids = {s.id for s in self.shapes} | {m.id for m in scene.materials} | {x.id for x in scene.lights}
        ids |= {m.id for m in scene.media}
        for number, thing in enumerate(self.things):
            if isinstance(thing, Camera):
                names, prefix = CAMERA, "camera"
            elif isinstance(thing, Instance):
                names, prefix = POSE, thing.id if thing.id and thing.id not in ids else ""
            elif isinstance(thing, Light):
                names, prefix = STANDING.get(thing.kind, {}), thing.id
            else:
                names = next((n for kind, n in BY_KIND.items() if isinstance(thing, kind)), {})
                prefix = thing.id
            for name, (param, field) in names.items() if prefix else ():
                self.slots.append(MotionSlot(f"{prefix}.{name}", thing, name, param, field, number, scene))
        self.wanted: dict[str, int] = {}  # path -> first accumulator

    def changed(self, scene: Scene) -> bool:
        """Whether other objects stand in the scene now; the camera may be replaced."""
        if self.things[self.camera] is not scene.camera:
            for slot in self.slots:
                if slot.owner is self.things[self.camera]:
                    slot.owner = scene.camera
            self.things[self.camera] = scene.camera
        return False

    def lay_out(self, h, reals, ints) -> None:
        """Reserve the table, in the heads of the pools."""
        n = len(self.things)
        self.records = np.full((n, layout.MOVER_STRIDE), -1, np.int64)
        self.reals_at = reals.add(np.zeros((n, layout.MOVER_DATA)))
        self.records[:, layout.MOVER_REALS] = self.reals_at + layout.MOVER_DATA * np.arange(n)
        self.records[:, layout.MOVER_WANTED] = 0
        self.ints_at = h[layout.H_MOVERS] = ints.add(self.records)
        h[layout.H_N_SHAPES], h[layout.H_N_INSTANCES] = len(self.shapes), len(self.instances)

    def want(self, wanted: dict[str, int]) -> None:
        """Ask for these gradients: {path: its first accumulator}."""
        self.wanted = wanted
        fields = [layout.MOVER_TRANSLATION, layout.MOVER_ROTATION, layout.MOVER_SCALE]
        fields += [layout.MOVER_VERTICES, layout.MOVER_CENTER, layout.MOVER_RADIUS]
        self.records[:, fields] = -1
        for slot in self.slots:
            if slot.path in wanted:
                self.records[slot.mover, slot.field] = wanted[slot.path]
        self.records[:, layout.MOVER_WANTED] = (self.records[:, fields] >= 0).any(1)

    def write(self, mirror_reals: np.ndarray, mirror_ints: np.ndarray, unit: float) -> None:
        """Put the table into the pools' mirrors, with the present origins."""
        mirror_ints[self.ints_at : self.ints_at + self.records.size] = self.records.reshape(-1)
        data = np.zeros((len(self.things), layout.MOVER_DATA))
        for i in np.flatnonzero(self.records[:, layout.MOVER_WANTED]):
            data[i, :3] = self.origin(i)
        data[:, layout.MOVER_UNIT] = unit
        mirror_reals[self.reals_at : self.reals_at + data.size] = data.reshape(-1)

    def origin(self, i: int) -> np.ndarray:
        """Where the point about which a mover turns is now."""
        thing = self.things[i]
        if isinstance(thing, Camera):
            return np.asarray(thing.to_world, np.float64)[:3, 3]
        if isinstance(thing, Light):
            return thing.placed()[:3, 3]
        start = np.asarray(thing.to_world, np.float64)[:3, 3] if isinstance(thing, Instance) else origin_of(thing)
        return start + np.asarray(thing.translation, np.float64)

    def moving(self) -> np.ndarray:
        """(things,) bool: movers with a wanted parameter."""
        return self.records[:, layout.MOVER_WANTED] > 0

    @property
    def surfaces_move(self) -> bool:
        """Whether anything but lights has a wanted parameter: a shape, an instance, the camera."""
        return bool(self.moving()[: self.camera + 1].any())
