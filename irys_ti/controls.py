"""Controls: numbers that steer parameters of a scene, as a part's dimensions or a robot's joint angles do.

A control stands in ``scene.controls``. Its numbers are parameters "<id>.<name>" like all others: assigning one moves
what it steers, and its gradient is pulled back from the gradients of what it steers.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from irys_ti.errors import SceneError
from irys_ti.graph import Param
from irys_ti.scene import Scene


class Control:
    """Numbers that steer parameters of a scene. A kind of control defines ``outputs``, ``push`` and ``pull``.

    id: first part of its parameters' paths. values: {name: float}. ranges: {name: (low, high)}.
    """

    def __init__(self, id: str, values: dict[str, float], ranges: dict[str, tuple[float, float]]):
        self.id, self.ranges = id, {n: (float(a), float(b)) for n, (a, b) in ranges.items()}
        self.values: dict[str, float] = {}
        for name, x in values.items():
            self.check(name, x, f"control '{id}'")
            self.values[name] = float(x)

    def outputs(self) -> dict[str, np.ndarray]:
        """{path: array} of every parameter it steers, at the present values."""
        raise NotImplementedError

    def steered(self) -> list[str]:
        """The paths of ``outputs``; kinds that know them need not work the arrays out."""
        return list(self.outputs())

    def push(self, tangents: dict[str, float]) -> dict[str, np.ndarray]:
        """Forward mode: tangents of the steered parameters along tangents of some of its numbers."""
        raise NotImplementedError

    def pull(self, gradients: dict[str, np.ndarray]) -> dict[str, float]:
        """Reverse mode: derivatives by all its numbers, from those by the steered parameters."""
        raise NotImplementedError

    def __reduce__(self):
        """Another process (the reference tier) gets it as it stands now, with its derivatives."""
        jacobian = {name: self.push({name: 1.0}) for name in self.values}
        return Frozen, (self.id, dict(self.values), self.ranges, self.outputs(), jacobian)

    def check(self, name: str, x, where: str) -> None:
        """Refuse a number that is not finite or out of its range."""
        if np.size(x) != 1:
            raise SceneError(f"{where}.{name}", f"shape {np.shape(x)} given", "give one number")
        low, high = self.ranges[name]
        if not low <= float(x) <= high:  # NaN too
            raise SceneError(f"{where}.{name}", f"{float(x):g} is out of range", f"values lie in [{low:g}, {high:g}]")

    def apply(self, scene: Scene) -> None:
        """Give the scene's objects what the present values say."""
        things = {t.id: t for t in [*scene.shapes, *scene.instances] if t.id}
        for path, array in self.outputs().items():
            owner, _, name = path.rpartition(".")
            if owner not in things:
                raise SceneError(
                    f"{scene.file}: control '{self.id}'", f"it steers '{path}', but no shape or instance is called '{owner}'",
                    "add what it steers to the scene (control.add_to(scene))",
                )  # fmt: skip
            old = np.asarray(getattr(things[owner], name))
            if old.shape != array.shape:
                raise SceneError(
                    f"{scene.file}: control '{self.id}'", f"'{path}' has shape {old.shape} there, {array.shape} here",
                    "a control moves things; it does not change how many there are",
                )  # fmt: skip
            setattr(things[owner], name, array)


class Frozen(Control):
    """A control at one set of values: what it puts out there, and its Jacobian, {name: {path: array}}."""

    def __init__(self, id: str, values: dict, ranges: dict, outputs: dict, jacobian: dict):
        super().__init__(id, values, ranges)
        self._at, self._outputs, self._jacobian = dict(values), outputs, jacobian

    def outputs(self) -> dict[str, np.ndarray]:
        if self.values != self._at:
            raise SceneError(f"control '{self.id}'", "this copy of it cannot be moved", "move the original")
        return self._outputs

    def push(self, tangents: dict[str, float]) -> dict[str, np.ndarray]:
        return {p: sum(x * self._jacobian[n][p] for n, x in tangents.items()) + 0.0 * y for p, y in self._outputs.items()}

    def pull(self, gradients: dict[str, np.ndarray]) -> dict[str, float]:
        return {n: _sum(gradients, moves) for n, moves in self._jacobian.items()}


def _sum(gradients: dict, moves: dict) -> float:
    return math.fsum(np.concatenate([np.ravel(gradients[p] * y) for p, y in moves.items()]))


@dataclass(frozen=True)
class Number:
    """A control's number as other slots show theirs."""

    host: np.ndarray


@dataclass
class ControlSlot:
    """One number of a control; the same face as device/slots.Slot."""

    control: Control
    name: str
    scene: Scene

    @property
    def path(self) -> str:
        return f"{self.control.id}.{self.name}"

    @property
    def value(self) -> np.ndarray:
        """The present number, as an array of shape ()."""
        return np.array(self.control.values[self.name], np.float64)

    @property
    def encoded(self) -> Number:
        return Number(self.value)

    @property
    def param(self) -> Param:
        """Its declaration: a scalar with a range."""
        low, high = self.control.ranges[self.name]
        return Param("scalar", float(self.value), low, high)

    @property
    def steered(self) -> list[str]:
        """The paths it moves."""
        return self.control.steered()

    def assign(self, array, file: str) -> None:
        """Set the number, checked, and move what it steers."""
        self.control.check(self.name, array, f"{file}: {self.control.id}")
        old = self.control.values[self.name]
        self.control.values[self.name] = float(np.asarray(array).reshape(()))
        try:
            self.control.apply(self.scene)
        except SceneError:
            self.control.values[self.name] = old
            raise


def plain_paths(scene: Scene, paths) -> list[str]:
    """Paths with every control's number replaced by what it steers, each once."""
    steering = slots(scene)
    steered = (steering[p].steered if p in steering else [p] for p in paths)
    return list(dict.fromkeys(p for group in steered for p in group))


def pull(scene: Scene, paths, each: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Derivatives by the controls' numbers among ``paths``: {path: (groups,)}, from {path: (groups, ...)} of the rest."""
    steering, out = slots(scene), {}
    for control in {id(s.control): s.control for p in paths if (s := steering.get(p))}.values():
        steered = control.steered()
        found = [control.pull({p: each[p][i] for p in steered}) for i in range(len(each[steered[0]]))]
        out |= {f"{control.id}.{name}": np.array([f[name] for f in found]) for name in control.values}
    return out


def slots(scene: Scene) -> dict[str, ControlSlot]:
    """Path -> slot of every number of the scene's controls."""
    found = [ControlSlot(c, name, scene) for c in scene.controls for name in c.values]
    out = {s.path: s for s in found}
    if len(out) != len(found):
        raise SceneError(f"{scene.file}: controls", "two numbers have the same path", "give the controls different ids")
    return out
