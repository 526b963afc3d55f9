"""Parameter slots: where each parameter of a scene lies on the host and on the device."""

from __future__ import annotations

import difflib
from dataclasses import dataclass

import numpy as np

from irys_ti.errors import MissingGradientError, SceneError
from irys_ti.graph import Param
from irys_ti.kernels.bsdf import BSDFS, versions
from irys_ti.kernels.bsdf import find as bsdf_of
from irys_ti.kernels.geometry import GEOMETRIES
from irys_ti.kernels.light import LIGHTS
from irys_ti.kernels.medium import MEDIA
from irys_ti.scene import Light, Material, Medium, PhaseTable, Scene, Spectrum, Splats, Texture

from .closed import closed_materials
from .encode import Encoded, encode, host_array, with_array


@dataclass
class Slot:
    """One parameter.

    path: "metal.alpha". owner: the Material, Light, Splats or Medium whose ``values`` hold it. name: its name there.
    param: its declaration. index: number of its value record. offset: where its numbers start in the pool.
    """

    path: str
    owner: Material | Light | Splats | Medium
    name: str
    param: Param
    index: int
    encoded: Encoded
    offset: int = 0

    @property
    def value(self):
        """The host's value, the default where the scene gives none."""
        return self.owner.values.get(self.name, self.param.default)

    @property
    def why_no_gradient(self) -> str:
        """Why there is no derivative by this parameter; empty where there is one."""
        if not self.param.differentiable:
            return self.param.why_not or "it is an option, not a quantity"
        if isinstance(self.owner, Splats):
            return why_no_splat_gradient(self.owner, self.name)
        if isinstance(self.owner, Medium):
            own = {"g": "hg", "diameter": "droplets", "phase_values": "table"}.get(self.name, self.owner.phase)
            return "" if own == self.owner.phase else f"its phase function is {self.owner.phase} and has none"
        module = BSDFS.get(self.owner.kind) if isinstance(self.owner, Material) else None
        ask = getattr(module, "why_no_gradient", None)
        return ask(self.name, self.owner.values) if ask else ""

    @property
    def note(self) -> str:
        """What the derivative by this parameter leaves out; empty where it is whole."""
        module = LIGHTS.get(self.owner.kind) if isinstance(self.owner, Light) else None
        return getattr(module, "NOTES", {}).get(self.name, "")

    @property
    def unbounded(self) -> bool:
        return self.param.kind == "spectrum"

    def assign(self, array, file: str) -> None:
        """Set the host's value to other numbers of the same shape, checked."""
        old = host_array(self.value)
        new = np.asarray(array, np.float64)
        if new.shape != old.shape and new.size == old.size == 1:
            new = new.reshape(old.shape)
        if new.shape != old.shape:
            raise SceneError(f"{file}: {self.path}", f"shape {new.shape} given", f"this parameter has shape {old.shape}")
        value = with_array(self.value, new.copy())
        check_value(value, self.param, f"{file}: {self.path}")
        self.owner.values[self.name] = value

    def refresh(self) -> bool:
        """Encode the host's value again; True where it changed."""
        host = host_array(self.value)
        old = self.encoded
        if host.shape == old.host.shape and np.array_equal(host, old.host):
            return False
        self.encoded = encode(self.value, self.unbounded)
        self.encoded.host = self.encoded.host.copy()
        if self.encoded.data.size != old.data.size or self.encoded.kind != old.kind:
            raise StructureChanged
        return True


class StructureChanged(Exception):
    """A value takes another number of device numbers than before: the pools are laid out again."""


def check_value(value, param: Param, where: str) -> None:
    """Refuse a value that is not finite or outside its range."""
    array = host_array(value)
    if isinstance(value, Texture) and (array.ndim != 3 or array.shape[2] not in (1, 3) or 0 in array.shape):
        raise SceneError(where, f"a texture of shape {array.shape}", "pixels must be (height, width, 1 or 3)")
    if isinstance(value, Spectrum) and param.kind in ("scalar", "flag"):
        raise SceneError(where, "a spectrum where a number belongs", "give one number")
    if not np.isfinite(array).all():
        raise SceneError(where, "the value is not finite (NaN or infinity)", "give finite numbers")
    if array.min() < param.low or array.max() > param.high:
        bad = array.min() if array.min() < param.low else array.max()
        word = "negative" if bad < 0 <= param.low else "out of range"
        raise SceneError(where, f"{bad:.6g} is {word}", f"values lie in [{param.low:g}, {param.high:g}]")
    if isinstance(value, PhaseTable) and not (np.atleast_2d(array).max(1) > 0).all():
        raise SceneError(where, "a row of zeros scatters nowhere", "give at least one number above 0")
    if isinstance(value, Spectrum) and value.kind == "points":
        w = value.wavelengths
        if w is None or w.shape != value.values.shape or not np.isfinite(w).all() or (np.diff(w) <= 0).any():
            raise SceneError(where, "the wavelengths do not increase", "give one increasing wavelength (nm) per value")


def owners(scene: Scene):
    """Every (owner, registry) with parameters, in the order of their value records."""
    for material in scene.materials:
        yield material, BSDFS
    for shape in scene.shapes:
        if shape.light is not None:
            yield shape.light, LIGHTS
    for light in scene.lights:
        yield light, LIGHTS
    for shape in scene.shapes:
        if isinstance(shape, Splats):
            yield shape, GEOMETRIES
    for medium in scene.media:
        yield medium, MEDIA


def choose_versions(scene: Scene, wanted: tuple[str, ...] = ()) -> dict[int, tuple]:
    """id(material) -> (name, module) of the BSDF that is compiled for it (kernels.bsdf.versions)."""
    out = {}
    for kind in {m.kind for m in scene.materials}:
        same = [m for m in scene.materials if m.kind == kind]
        asked = [tuple(p[len(m.id) + 1 :] for p in wanted if p.startswith(f"{m.id}.")) for m in same]
        if hasattr(BSDFS[kind], "is_inside"):
            closed = closed_materials(scene, wanted)
            found = versions(kind, [(m.values, names, m.id in closed) for m, names in zip(same, asked)])
        else:
            found = versions(kind, [(m.values, names) for m, names in zip(same, asked)])
        out |= {id(m): version for m, version in zip(same, found)}
    for shape in scene.shapes:
        if isinstance(shape, Splats):
            out[id(shape)] = shape.phase, BSDFS[shape.phase]
    for medium in scene.media:
        out[id(medium)] = medium.phase, bsdf_of(medium.phase)
    return out


def why_no_splat_gradient(shape: Splats, name: str) -> str:
    """Why a splat set's array has no derivative; empty where it has."""
    if name == "albedo" and shape.sh is not None:
        return "the set is emissive and does not scatter; it.relight makes scatterers of it"
    if name == "rotation" and shape.phase == "diffuse":
        return "the sheet's normal turns with it, which is not differentiated; use phase 'isotropic'"
    return ""


def collect(scene: Scene) -> list[Slot]:
    """All parameters of a scene; refuses unknown kinds and names and values out of range."""
    slots: list[Slot] = []
    for owner, registry in owners(scene):
        what = "bsdf" if registry is BSDFS else "light" if registry is LIGHTS else "medium" if registry is MEDIA else "splats"
        where = f"{scene.file}: {what} '{owner.id}'"
        if owner.kind not in registry:
            near = difflib.get_close_matches(owner.kind, registry, 1)
            raise SceneError(where, f"unknown kind '{owner.kind}'", f"use one of {', '.join(near or registry)}")
        declared = registry[owner.kind].PARAMS
        for name in owner.values:
            if name not in declared:
                near = difflib.get_close_matches(name, declared, 1)
                raise SceneError(where, f"unknown parameter '{name}'", f"did you mean {', '.join(near or declared)}?")
        for name, param in declared.items():
            value = owner.values.get(name, param.default)
            check_value(value, param, f"{where}.{name}")
            encoded = encode(value, param.kind == "spectrum")
            encoded.host = encoded.host.copy()
            slots.append(Slot(f"{owner.id}.{name}", owner, name, param, len(slots), encoded))
    return slots


def find(slots: dict[str, Slot], path: str, file: str) -> Slot:
    """The slot of a path; an unknown one names the nearest."""
    if path not in slots:
        near = difflib.get_close_matches(path, slots, 3)
        raise SceneError(
            f"{file}: parameter '{path}'", "there is none of that name",
            f"did you mean {', '.join(near)}?" if near else f"the scene has {', '.join(list(slots)[:8])}, ...",
        )
    return slots[path]


def why_none(slot, scene: Scene) -> str:
    """Why there is no derivative by a parameter, its scene considered; empty where there is one."""
    if not slot.why_no_gradient and isinstance(slot, Slot) and isinstance(slot.owner, Material):
        is_inside = getattr(BSDFS[slot.owner.kind], "is_inside", None)
        if is_inside and is_inside(slot.name, slot.owner.values) and slot.owner.id not in closed_materials(scene, (slot.path,)):
            return "it is of what fills closed shapes, and the shapes of this material are not, or stand among splats"
    return slot.why_no_gradient


def require_gradient(slot, scene: Scene) -> None:
    """Refuse a parameter without a derivative, rather than answer zero."""
    if why := why_none(slot, scene):
        raise MissingGradientError(f"{scene.file}: parameter '{slot.path}' has no gradient: {why}")
