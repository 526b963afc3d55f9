"""A robot in a scene: one control for all its joints, one instance for each of its bodies."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np

from irys_ti.controls import Control
from irys_ti.errors import SceneError
from irys_ti.scene import Instance, Material, Scene, Spectrum
from irys_ti.scene.pose import left_jacobian

from . import model as reader


def load(path: str | Path, id: str | None = None, *, joints: dict[str, float] | None = None, subdivide: int = 0) -> Robot:
    """A robot from an MJCF (.xml) or URDF (.urdf) file, standing as ``joints`` ({name: radians or metres}) says.

    id: first part of its parameters' paths, by default the file's name. subdivide: how often every triangle is cut
    into four. Needs the package mujoco (extra ``robot``). Raises SceneError for a file that it cannot read, a joint
    that is neither a hinge nor a slide, and a name that is no joint.
    """
    return Robot(reader.read(path), id or Path(path).stem, str(path), joints or {}, subdivide)


class Robot(Control):
    """Joints of a mujoco model; their numbers are the parameters "<id>.<joint>".

    Each body that is seen is an instance "<id>_<body>", which moves by its translation and rotation: moving a joint
    touches transforms, not meshes. ``model`` and ``data`` are mujoco's own.
    """

    def __init__(self, model, id: str, file: str, start: dict[str, float], subdivide: int = 0):
        self.model, self.file, self.subdivide = model, file, int(subdivide)
        self._mujoco = reader.mujoco(file)
        self.data = self._mujoco.MjData(model)
        self.joints = reader.joints(model, file)
        if not self.joints:
            raise SceneError(file, "it has no joints", "a thing that does not move is a mesh: load it as one")
        if unknown := sorted(set(start) - set(self.joints)):
            raise SceneError(file, f"there is no joint '{unknown[0]}'", f"it has {', '.join(self.joints)}")
        zero = {n: float(model.qpos0[model.jnt_qposadr[j]]) for n, j in self.joints.items()}
        limits = {n: self._limits(j) for n, j in self.joints.items()}
        super().__init__(id, zero | {n: float(x) for n, x in start.items()}, limits)
        self.geoms = reader.visible(model, file)
        self.bodies = sorted({int(model.geom_bodyid[i]) for i in self.geoms})
        self._pose()
        self._start = {b: (self.data.xpos[b].copy(), self._rotation(b)) for b in self.bodies}

    def _limits(self, j: int) -> tuple[float, float]:
        return tuple(self.model.jnt_range[j]) if self.model.jnt_limited[j] else (-math.inf, math.inf)

    # -- where the bodies are ----------------------------------------------------------------------------------------

    def part(self, body: int) -> str:
        """Id of the instance of a body."""
        return _name(f"{self.id}_{self.model.body(body).name or body}")

    def _rotation(self, body: int) -> np.ndarray:
        return self.data.xmat[body].reshape(3, 3).copy()

    def _pose(self) -> None:
        """Forward kinematics at the present joint values."""
        for name, j in self.joints.items():
            self.data.qpos[self.model.jnt_qposadr[j]] = self.values[name]
        self._mujoco.mj_kinematics(self.model, self.data)
        self._mujoco.mj_comPos(self.model, self.data)  # Jacobians need it

    def _turn(self, body: int) -> np.ndarray:
        """(3,) axis times angle by which a body has turned since the start."""
        m = self._rotation(body) @ self._start[body][1].T
        quaternion, vector = np.zeros(4), np.zeros(3)
        self._mujoco.mju_mat2Quat(quaternion, m.reshape(-1))
        self._mujoco.mju_quat2Vel(vector, quaternion, 1.0)
        return vector

    def _jacobian(self, body: int) -> tuple[np.ndarray, np.ndarray]:
        """(3, joints) velocity of a body's origin, and of its rotation vector, for each joint."""
        linear, angular = np.zeros((3, self.model.nv)), np.zeros((3, self.model.nv))
        self._mujoco.mj_jac(self.model, self.data, linear, angular, self.data.xpos[body], body)
        columns = [int(self.model.jnt_dofadr[j]) for j in self.joints.values()]
        return linear[:, columns], np.linalg.solve(left_jacobian(self._turn(body)), angular[:, columns])

    # -- Control ------------------------------------------------------------------------------------------------------

    def steered(self) -> list[str]:
        """The paths of every part's translation and rotation."""
        return [f"{self.part(b)}.{name}" for b in self.bodies for name in ("translation", "rotation")]

    def outputs(self) -> dict[str, np.ndarray]:
        """Translation and rotation of every part since the start."""
        self._pose()
        out = {}
        for b in self.bodies:
            out[f"{self.part(b)}.translation"] = self.data.xpos[b] - self._start[b][0]
            out[f"{self.part(b)}.rotation"] = self._turn(b)
        return out

    def push(self, tangents: dict[str, float]) -> dict[str, np.ndarray]:
        """Forward mode: how parts move when joints do."""
        self._pose()
        along, out = np.array([float(tangents.get(n, 0.0)) for n in self.joints]), {}
        for b in self.bodies:
            linear, turning = self._jacobian(b)
            out[f"{self.part(b)}.translation"], out[f"{self.part(b)}.rotation"] = linear @ along, turning @ along
        return out

    def pull(self, gradients: dict[str, np.ndarray]) -> dict[str, float]:
        """Reverse mode: every part's force and torque, through its Jacobian, onto the joints."""
        self._pose()
        terms: list[np.ndarray] = []
        for b in self.bodies:
            linear, turning = self._jacobian(b)
            terms.append(linear * np.asarray(gradients[f"{self.part(b)}.translation"])[:, None])
            terms.append(turning * np.asarray(gradients[f"{self.part(b)}.rotation"])[:, None])
        rows = np.concatenate(terms)
        return {name: math.fsum(rows[:, k]) for k, name in enumerate(self.joints)}

    # -- into a scene --------------------------------------------------------------------------------------------------

    def add_to(self, scene: Scene, material: str | None = None) -> list[Instance]:
        """Add bodies, their colours as diffuse materials (or all of one ``material``) and the joints' parameters."""
        added = []
        for b in self.bodies:
            group = self.part(b)
            for i in self.geoms:
                if int(self.model.geom_bodyid[i]) == b:
                    mesh = reader.geom_mesh(self.model, i, self.file, self.subdivide)
                    mesh.id, mesh.group = f"{group}_{i}", group
                    mesh.material = material or self._material(scene, i)
                    scene.shapes.append(mesh)
            at = np.eye(4)
            at[:3, 3], at[:3, :3] = self._start[b]
            added.append(Instance(group=group, to_world=at, id=group))
        scene.instances += added
        scene.controls.append(self)
        self.apply(scene)
        return added

    def _material(self, scene: Scene, geom: int) -> str:
        """Id of a diffuse material of a geom's colour, added where the scene has none yet."""
        number = int(self.model.geom_matid[geom])
        rgba = self.model.mat_rgba[number] if number >= 0 else self.model.geom_rgba[geom]
        name = (self.model.mat(number).name if number >= 0 else "") or "rgb_" + "".join(f"{round(255 * x):02x}" for x in rgba[:3])
        id = _name(f"{self.id}_{name}")
        if id not in {m.id for m in scene.materials}:
            colour = Spectrum(kind="rgb", values=np.clip(np.asarray(rgba[:3], np.float64), 0.0, 1.0))
            scene.materials.append(Material(id, "diffuse", {"reflectance": colour}, two_sided=True))
        return id


def _name(text: str) -> str:
    """An id: parameter paths are split at dots."""
    return text.replace(".", "_")
