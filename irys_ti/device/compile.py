"""A scene's pools: laid out once, then kept up to date in place. Nothing here recompiles a kernel."""

from __future__ import annotations

import weakref

import numpy as np

from irys_ti import controls, runtime
from irys_ti.errors import SceneError
from irys_ti.io.validate import validate
from irys_ti.kernels import layout
from irys_ti.kernels.bsdf import BSDFS
from irys_ti.kernels.config import D_OPACITY, D_SHAPE, EMISSIVE, PRIMAL, REVERSE, SPLATS, Config
from irys_ti.kernels.geometry import GEOMETRIES, splats
from irys_ti.kernels.light import LIGHTS
from irys_ti.kernels.medium import MEDIA
from irys_ti.kernels.write import write
from irys_ti.scene import Medium, Scene, Splats
from irys_ti.spectral.cie import d65, response
from irys_ti.spectral.hero import density
from irys_ti.spectral.primaries import rgb_bands

from .geometry import Geometry
from .lights import LightTable
from .media import MediaTable
from .motion import Movers
from .scratch import Scratch
from .slots import Slot, StructureChanged, choose_versions, collect, find, owners, require_gradient

MAX_CHANNELS = 32
FILTERS = {"box": 0, "tent": 1, "gaussian": 2}
_compiled: weakref.WeakKeyDictionary = weakref.WeakKeyDictionary()


def compiled(scene: Scene) -> DeviceScene:
    """The device copy of a scene, made on first use and brought up to date on every later one."""
    runtime.ensure()
    device = _compiled.get(scene)
    if device is None or device.reals is None or not device.update():
        device = DeviceScene(scene)
        _compiled[scene] = device
    return device


class Pool:
    """A host array that grows piece by piece and knows where each piece went."""

    def __init__(self):
        self.pieces: list[np.ndarray] = []
        self.size = 0

    def add(self, values) -> int:
        """Append numbers; returns their offset."""
        values = np.asarray(values).reshape(-1)
        offset = self.size
        self.pieces.append(values)
        self.size += values.size
        return offset

    def array(self, dtype) -> np.ndarray:
        """Everything, as one array."""
        return np.concatenate([p.astype(dtype) for p in self.pieces]) if self.pieces else np.zeros(0, dtype)


class DeviceScene:
    """The pools of one scene: ``reals``, ``ints`` and the tree's arrays, with a host mirror of what can change.

    The head of each pool (header, camera, tables, values) is rewritten in place when the scene's numbers
    change; the geometry behind it stays.
    """

    def __init__(self, scene: Scene):
        validate(scene)
        self.scene = weakref.ref(scene)
        self.slots: list[Slot] = collect(scene)
        self.movers = Movers(scene)
        self.by_path = {s.path: s for s in (*self.slots, *self.movers.slots)}
        self.versions = choose_versions(scene)
        self.geometry = Geometry(scene)
        self.geometry.build()
        self.lights = LightTable(scene, self.geometry)
        self.media = MediaTable(scene, self.geometry)
        self.channels = response()
        self.wanted: tuple[str, ...] = ()
        self.scratch = Scratch()
        self.edges = None  # the candidates for outlines, found when a gradient first needs them
        self._lay_out(scene)
        runtime.own(self)

    # -- layout ----------------------------------------------------------------------------------------

    def _number_slots(self, scene: Scene) -> dict[int, int]:
        """Number the value records, a material's used parameters first, in its version's order.

        Returns id(owner) -> its first record.
        """
        first, n = {}, 0
        for owner, registry in owners(scene):
            declared = registry[owner.kind].PARAMS
            used = declared
            if registry is BSDFS or registry is MEDIA:  # a medium's phase function is its material
                module = self.versions[id(owner)][1]
                used = getattr(module, "SLOTS", module.PARAMS)
            first[id(owner)] = n
            for name in [*used, *(k for k in declared if k not in used)]:
                self.by_path[f"{owner.id}.{name}"].index = n
                n += 1
        return first

    def _lay_out(self, scene: Scene) -> None:
        first = self._number_slots(scene)
        reals, ints = Pool(), Pool()
        h = np.zeros(layout.HEADER_SIZE, np.int64)
        ints.add(h)
        h[layout.H_CAMERA] = reals.add(np.zeros(layout.CAMERA_STRIDE))
        h[layout.H_SPHERE] = reals.add(self.geometry.sphere())
        cdf, pdf = density()
        h[layout.H_LAMBDA] = reals.add(np.r_[cdf, pdf])
        h[layout.H_D65] = reals.add(d65())
        h[layout.H_RESPONSE] = reals.add(np.zeros(MAX_CHANNELS * layout.N_LAMBDA))
        if self.geometry.splats or scene.media:
            h[layout.H_BANDS] = reals.add(rgb_bands())

        records = np.zeros((max(1, len(self.slots)), layout.VALUE_STRIDE), np.int64)
        metas = np.zeros((max(1, len(self.slots)), layout.META_STRIDE))
        meta0 = reals.add(metas)
        for slot in self.slots:
            e = slot.encoded
            slot.offset = reals.add(e.data)
            meta = metas[slot.index]
            meta[layout.META_LAMBDA], meta[layout.META_INV_STEP] = e.lambda0, e.inv_step
            if e.to_uv is not None:
                meta[layout.META_UV :] = e.to_uv[:2].reshape(-1)
            records[slot.index, :7] = (
                e.kind, slot.offset, e.n, -1, meta0 + slot.index * layout.META_STRIDE, e.height, e.flags,
            )
        self.values_at = h[layout.H_VALUES] = ints.add(records)
        self.metas_at = meta0

        owners_of_materials = [*scene.materials, *self.geometry.splats, *scene.media]
        materials = np.zeros((max(1, len(owners_of_materials)), layout.MATERIAL_STRIDE), np.int64)
        self.bsdf_names = sorted({name for name, _ in self.versions.values()})
        for i, m in enumerate(owners_of_materials):
            name, module = self.versions[id(m)]
            through = getattr(module, "TRANSMISSIVE", False)
            flags = layout.TWO_SIDED if getattr(m, "two_sided", False) and not through else 0
            flags |= layout.SMOOTH if getattr(module, "HAS_SMOOTH", True) else 0
            flags |= layout.TRANSMISSIVE if through else 0
            flags |= layout.NULL if name == "null" else 0
            values = self.by_path[f"{m.id}.albedo"].index if isinstance(m, Splats) else first[id(m)]
            n = len(module.PARAMS) - getattr(module, "CELL", 0)  # the rest is found in tables
            materials[i] = self.bsdf_names.index(name), values, n, flags
        self.materials_at = h[layout.H_MATERIALS] = ints.add(materials)

        self.media.lay_out(h, reals, ints, first, len(scene.materials) + len(self.geometry.splats), self)
        self.lights.lay_out(h, reals, ints, first)
        self.movers.lay_out(h, reals, ints)
        self.head_reals, self.head_ints = reals.size, ints.size
        self.geometry.lay_out(h, reals, ints, self.lights, first)
        h[layout.H_FLOORED] = int(bool(self.geometry.floored))
        h[layout.H_ENVIRONMENT] = self.lights.environment
        h[layout.H_RANDOM_LIGHTS] = int(any(LIGHTS[x.kind].CLASS != "delta" for x in self.lights.lights))

        self.mirror_reals = reals.array(np.float64)
        self.mirror_ints = ints.array(np.int64)
        self._write_camera(scene)
        self._write_channels(self.channels)
        self.lights.write(self)
        self.media.write(self)
        self.movers.write(self.mirror_reals, self.mirror_ints, 1.0)
        self.reals = runtime.array(self.mirror_reals)
        self.ints = runtime.array(self.mirror_ints, np.int32)
        self.uploaded = self.mirror_reals[: self.head_reals].copy(), self.mirror_ints[: self.head_ints].copy()

    def release(self) -> None:
        """Drop the device arrays (before Taichi restarts)."""
        self.reals = self.ints = None
        self.scratch.clear()
        self.geometry.release()
        if self.edges is not None:
            self.edges.release()

    # -- bringing it up to date --------------------------------------------------------------------------

    def update(self) -> bool:
        """Write what changed on the host; False where the layout itself no longer fits."""
        scene = self.scene()
        if self.geometry.changed(scene) or self.lights.changed(scene) or self.movers.changed(scene):
            return False
        if self.media.changed(scene):
            return False
        if [id(s.owner) for s in self.slots] != [id(o) for o, r in owners(scene) for _ in r[o.kind].PARAMS]:
            return False
        try:
            changed = [s for s in self.slots if s.refresh()]
        except StructureChanged:
            return False
        for slot in changed:
            data = slot.encoded.data
            self.mirror_reals[slot.offset : slot.offset + data.size] = data
        moved = self.geometry.follow(scene)
        for i in moved:
            numbers = self.geometry.numbers(i)
            at = self.geometry.reals_of[i]
            self.mirror_reals[at : at + numbers.size] = numbers
            write(self.reals, at, runtime.array(numbers), numbers.size)
        if moved or not np.array_equal(self._sphere(), self.geometry.sphere()):
            at = self.mirror_ints[layout.H_SPHERE]
            self.mirror_reals[at : at + 4] = self.geometry.sphere()
        if changed or moved or self.lights.moved():
            self.lights.write(self)
            self._follow_versions(self.wanted)
            self._follow_splats(changed)
        self._write_camera(scene)
        if self.media.used:
            self.media.write(self)
        self.upload_head()
        return True

    def _follow_splats(self, changed: list[Slot]) -> None:
        """Bring the records of changed splat sets, and the tree where splats moved, up to date."""
        names: dict = {}
        for slot in changed:
            if isinstance(slot.owner, Splats) and slot.name != "albedo":
                names.setdefault(id(slot.owner), set()).add(slot.name)
        for shape in self.geometry.splats:
            if id(shape) in names:
                self._write_splats(shape)
        if any(found - {"opacity"} for found in names.values()):
            self.geometry.refit()

    def _write_splats(self, shape: Splats) -> None:
        at, records = self.geometry.splats_changed(shape)
        self.mirror_reals[at : at + records.size] = records
        write(self.reals, at, runtime.array(records), records.size)

    def _floor_splats(self, paths) -> None:
        """Sample sets whose derivatives are asked for by opacities off 0 and 1, so that every chance is drawn."""
        chances = {"opacity", "position", "scale", "rotation"}
        for shape in self.geometry.splats:
            asked = any(f"{shape.id}.{name}" in paths for name in chances)
            floor = asked and bool(((shape.opacity < splats.LOW) | (shape.opacity > splats.HIGH)).any())
            if floor or id(shape) in self.geometry.floored:
                (self.geometry.floored.add if floor else self.geometry.floored.discard)(id(shape))
                self._write_splats(shape)
        self.mirror_ints[layout.H_FLOORED] = int(bool(self.geometry.floored))

    def _sphere(self) -> np.ndarray:
        at = self.mirror_ints[layout.H_SPHERE]
        return self.mirror_reals[at : at + 4]

    def _follow_versions(self, wanted: tuple[str, ...]) -> None:
        """Lay the pools out again where materials now use other versions of their BSDFs."""
        scene = self.scene()
        found = choose_versions(scene, wanted)
        if {k: v[0] for k, v in found.items()} != {k: v[0] for k, v in self.versions.items()}:
            self.versions = found
            self._lay_out(scene)

    def upload_head(self) -> None:
        """Send the heads of the pools to the device where they differ from what is there."""
        for name, size, i in (("reals", self.head_reals, 0), ("ints", self.head_ints, 1)):
            now = getattr(self, f"mirror_{name}")[:size]
            then = self.uploaded[i]
            if np.array_equal(now, then):
                continue
            differs = np.flatnonzero(now != then)
            # A power of two of them, so that there are few sizes of arrays to keep.
            n = min(size, 1 << int(differs[-1] - differs[0]).bit_length())
            a = min(int(differs[0]), size - n)
            part = self.scratch.lend(now[a : a + n], np.int32 if i else None)
            write(getattr(self, name), a, part, n)
            self.scratch.give_back(part)
            then[a : a + n] = now[a : a + n]

    def _write_camera(self, scene: Scene) -> None:
        camera, film = scene.camera, scene.camera.film
        h = self.mirror_ints
        tan = np.tan(np.deg2rad(camera.fov_x()) / 2)
        m = camera.placed()
        values = np.r_[
            m[:3].reshape(-1), tan, film.height / film.width, camera.principal_point, camera.near_clip
        ]
        at = h[layout.H_CAMERA]
        self.mirror_reals[at : at + layout.CAMERA_STRIDE] = values
        h[layout.H_FILM : layout.H_FILM + 6] = film.width, film.height, *film.window
        h[layout.H_FILTER] = FILTERS[film.filter]
        h[layout.H_MAX_DEPTH] = scene.integrator.max_depth
        h[layout.H_RR_DEPTH] = scene.integrator.rr_depth

    def _write_channels(self, channels: np.ndarray) -> None:
        if len(channels) > MAX_CHANNELS:
            raise ValueError(f"{len(channels)} bands asked for; at most {MAX_CHANNELS} fit one render")
        at = self.mirror_ints[layout.H_RESPONSE]
        self.mirror_reals[at : at + channels.size] = channels.reshape(-1)
        self.mirror_ints[layout.H_CHANNELS] = len(channels)

    def set_channels(self, channels: np.ndarray) -> None:
        """Give the film these responses, (c, 95) per nm."""
        self.channels = channels
        self._write_channels(channels)
        self.upload_head()

    # -- gradients ----------------------------------------------------------------------------------------

    def parameters(self) -> dict:
        """Path -> slot of every parameter, the controls' numbers included."""
        scene = self.scene()
        return {**self.by_path, **controls.slots(scene)} if scene.controls else self.by_path

    def want(self, paths: list[str]) -> int:
        """Ask for gradients of these parameters, or of what they steer; returns the number of accumulators."""
        paths = controls.plain_paths(self.scene(), paths)
        self._follow_versions(tuple(paths))
        at, n = self.values_at, 0
        records = self.mirror_ints[at : at + len(self.slots) * layout.VALUE_STRIDE].reshape(-1, layout.VALUE_STRIDE)
        records[:, layout.VALUE_GRAD] = -1
        wanted = set()
        self.first: dict[str, int] = {}  # path -> its first accumulator
        for path in paths:
            slot = self.by_path[path]
            self.first[path] = n
            n += slot.encoded.data.size
            if isinstance(slot, Slot):
                records[slot.index, layout.VALUE_GRAD] = self.first[path]
                wanted.add(id(slot.owner))
        self.movers.want({p: at for p, at in self.first.items() if not isinstance(self.by_path[p], Slot)})
        for i, m in enumerate([*self.scene().materials, *self.geometry.splats, *self.media.media]):
            at = self.materials_at + i * layout.MATERIAL_STRIDE + layout.MATERIAL_FLAGS
            flag = layout.WANTED if id(m) in wanted else 0
            self.mirror_ints[at] = (self.mirror_ints[at] & ~layout.WANTED) | flag
        self.lights.want(self, paths)
        self._floor_splats(paths)
        self.wanted = tuple(paths)
        self.media.want(self, paths)
        self.upload_head()
        return n

    def scale_deposits(self, bound: float) -> None:
        """Choose the units of the wanted gradients for the largest |d_image| (design decision D5)."""
        self.units = {path: self.unit(self.by_path[path], bound) for path in self.wanted}
        for path, unit in self.units.items():
            slot = self.by_path[path]
            if isinstance(slot, Slot):
                self.mirror_reals[self.metas_at + slot.index * layout.META_STRIDE] = unit
        self.movers.write(self.mirror_reals, self.mirror_ints, self._unit_of_motion(bound))
        self.upload_head()

    def unit(self, slot: Slot, bound: float) -> float:
        """Units per 1 of a slot's deposits: a power of two, from declared bounds and max|d_image| alone.

        A deposit as large as the bound makes 2^31 units, so that nearly all touch the low word alone; it may be 2^25
        times larger before it saturates, and 2^31 times smaller before it is lost. The reference tier, whose deposits
        have more digits, keeps 2^36.
        """
        if not isinstance(slot, Slot):
            return self._unit_of_motion(bound)
        scale = bound * (1.0 if slot.owner.kind in LIGHTS else self.lights.brightness)
        if isinstance(slot.owner, Splats) and slot.name in ("position", "scale"):
            scale /= float(slot.owner.scale.min())
        if isinstance(slot.owner, Medium):
            scale *= max(1.0, 2.0 * self.geometry.radius)
        digits = 31 if runtime.real_dtype() is np.float32 else 36
        return 2.0 ** float(np.clip(digits - np.ceil(np.log2(max(scale, 1e-30))), -80, 100))

    def units_of(self, n: int) -> np.ndarray:
        """Units per 1 of each of the n accumulators."""
        units = np.ones(n)
        for path, first in self.first.items():
            units[first : first + self.by_path[path].encoded.data.size] = self.units[path]
        return units

    def _unit_of_motion(self, bound: float) -> float:
        """The same for all that moves: brightness over the scene's size, with room for 2^34 times as much.

        Derivatives by place grow as vertices come near each other, and so does a point light's brightness.
        """
        scale = bound * self.lights.brightness * max(1.0, 1.0 / self.geometry.radius)
        return 2.0 ** float(np.clip(22 - np.ceil(np.log2(max(scale, 1e-30))), -80, 100))

    # -- kernels ------------------------------------------------------------------------------------------

    def config(self, mode: str, rays: bool = False) -> Config:
        """What the path kernel has to be compiled for."""
        scene = self.scene()
        lights, shapes = list(LIGHTS), list(GEOMETRIES)
        shining = {o.kind for o, registry in owners(scene) if registry is LIGHTS}
        solid = {s.kind for s in scene.shapes}
        return Config(
            mode=mode,
            bsdfs=tuple((i, n) for i, n in enumerate(self.bsdf_names) if n != "null"),
            lights=tuple((i, n) for i, n in enumerate(lights) if n in shining),
            geometries=tuple((i, n) for i, n in enumerate(shapes) if n in solid),
            kinds=self.geometry.accel.kinds,
            values=tuple(sorted({s.encoded.kind for s in self.slots} | {layout.CONSTANT})),
            width=self.geometry.width,
            bsdf_rows=max([1, *(len(module.PARAMS) for _, module in self.versions.values())]),
            light_rows=max([1, *(len(LIGHTS[n].PARAMS) for n in shining)]),
            splats=self._splat_bits(mode),
            media=self.media.bits(mode, self),
            motion=mode == REVERSE and bool(self.movers.wanted),
            rays=rays,
            riding=int(mode != PRIMAL and self.lights.riding),
        )

    def _splat_bits(self, mode: str) -> int:
        """Config.splats for a mode."""
        bits = SPLATS if self.geometry.splats else 0
        for shape in self.geometry.splats:
            bits |= EMISSIVE if shape.sh is not None else 0
            if mode != PRIMAL:
                bits |= D_OPACITY if f"{shape.id}.opacity" in self.wanted else 0
                moved = (f"{shape.id}.{name}" for name in ("position", "scale", "rotation"))
                bits |= D_SHAPE if any(path in self.wanted for path in moved) else 0
        return bits


def check_paths(device: DeviceScene, paths) -> list[Slot]:
    """Slots of parameter paths, refusing unknown ones and those without a gradient."""
    scene = device.scene()
    found = [find(device.parameters(), p, scene.file) for p in paths]
    for path in controls.plain_paths(scene, paths):
        require_gradient(find(device.by_path, path, scene.file), scene)
    if len(set(paths)) != len(paths):
        raise SceneError(f"{scene.file}: parameters", "a path is named twice", "name each once")
    return found
