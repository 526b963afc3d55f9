"""Shapes to pools and trees."""

from __future__ import annotations

import numpy as np

from irys_ti.kernels import layout
from irys_ti.kernels.bvh import LANE_REALS, PrimSet, build_scene, default_width
from irys_ti.kernels.geometry import GEOMETRIES, pack, splats
from irys_ti.scene import Curves, Mesh, Primitives, Scene, Shape, Sphere, Splats, posed


class Geometry:
    """All shapes of a scene: their primitives' numbers, records and the tree over them."""

    def __init__(self, scene: Scene):
        self.width = default_width()
        self.shapes = list(scene.shapes)
        self.placed = [posed(s) for s in self.shapes]  # with their poses in their arrays
        self.instances = list(scene.instances)
        self.material_index = {m.id: i for i, m in enumerate(scene.materials)}
        self.splats = [s for s in self.shapes if isinstance(s, Splats)]
        self.floored: set[int] = set()  # ids of splat sets that are sampled by other opacities than their own
        self.counts = [_count(s) for s in self.shapes]
        self.first = np.r_[0, np.cumsum(self.counts)].astype(int)
        self.medium_index = {m.id: i for i, m in enumerate(scene.media)}
        self.insides: dict[str, int] = {}  # material -> what it puts behind its surface (device/media.py)
        self._identity, self._where = self._fingerprint(scene), self._places(scene)
        self._hulls = [_hull(self._world_boxes(s)) for s in self.placed]
        self.accel = None
        self.reals_of: list[int] = [0] * len(self.shapes)  # where each shape's numbers start in ``reals``
        self._bound(scene)

    def _bound(self, scene: Scene) -> None:
        """The scene's bounding sphere."""
        boxes = [hull for s, hull in zip(self.placed, self._hulls) if s.group is None]
        groups: dict[str, list] = {}
        for s, hull in zip(self.placed, self._hulls):
            if s.group is not None:
                groups.setdefault(s.group, []).append(hull)
        for inst in self.instances:
            boxes += [_moved(box, inst.placed()) for box in groups.get(inst.group, [])]
        boxes = [b for b in boxes if len(b)]
        if boxes:
            all_boxes = np.concatenate(boxes)
            low, high = all_boxes[:, :3].min(0), all_boxes[:, 3:].max(0)
        else:
            low, high = -np.ones(3), np.ones(3)
        self.center = (low + high) / 2
        self.radius = max(float(np.linalg.norm(high - low)) / 2, 1e-6)
        eye = np.asarray(scene.camera.to_world, np.float64)[:3, 3]
        self.radius = max(self.radius, 1e-3 * float(np.linalg.norm(eye - self.center)))

    def sphere(self) -> np.ndarray:
        """Centre and radius of the bounding sphere, (4,)."""
        return np.r_[self.center, self.radius]

    def changed(self, scene: Scene) -> bool:
        """Whether shapes, their topology or their materials were replaced since: the pools are laid out again."""
        return self._fingerprint(scene) != self._identity

    @staticmethod
    def _fingerprint(scene: Scene):
        shapes = tuple(
            (id(s), s.material, s.flip_normals, s.group, s.interior, s.exterior, *_structure(s)) for s in scene.shapes
        )
        placed = tuple((id(i), i.group) for i in scene.instances)
        return shapes, placed, tuple((m.id, m.kind, m.two_sided) for m in scene.materials)

    @staticmethod
    def _places(scene: Scene):
        """Where everything is: what ``follow`` compares."""
        return [_place(s) for s in scene.shapes], [i.placed().tobytes() for i in scene.instances]

    def follow(self, scene: Scene) -> list[int]:
        """Move shapes and instances to where they are on the host; returns the numbers of the shapes that moved."""
        shapes, instances = self._places(scene)
        moved = [i for i, (now, then) in enumerate(zip(shapes, self._where[0])) if now != then]
        turned = [i for i, (now, then) in enumerate(zip(instances, self._where[1])) if now != then]
        if moved or turned:
            self._where = shapes, instances
            for i in moved:
                self.placed[i] = posed(self.shapes[i])
                self._hulls[i] = _hull(self._world_boxes(self.placed[i]))
            self._bound(scene)
        if moved:
            self._refit({self.shapes[i].group for i in moved})
        if turned:
            self.accel.move_instances(turned, [self.instances[i].placed() for i in turned])
        return moved

    def _refit(self, names: set) -> None:
        """Give the tree the present corners and boxes of the world (None) and of these groups."""
        sets = {name: self._prim_set(name) for name in names}
        group = {self.groups.index(name): s for name, s in sets.items() if name is not None}
        world = sets.get(None)
        self.accel.refit(
            None if world is None else world.tri_vertices, None if world is None else world.other_bounds,
            {g: s.tri_vertices for g, s in group.items()}, {g: s.other_bounds for g, s in group.items()},
            None if world is None else world.other_lanes, {g: s.other_lanes for g, s in group.items()},
        )  # fmt: skip

    def areas(self, shape: Shape) -> tuple[int, np.ndarray]:
        """First primitive of a shape and the area of each."""
        i = next(k for k, s in enumerate(self.shapes) if s is shape)
        return int(self.first[i]), np.asarray(GEOMETRIES[shape.kind].area(_fields(self.placed[i])), np.float64)

    @staticmethod
    def _world_boxes(shape: Shape) -> np.ndarray:
        return np.asarray(GEOMETRIES[shape.kind].bounds(_fields(shape)), np.float64)

    def numbers(self, i: int) -> np.ndarray:
        """What the pool holds of a shape that moves: vertices and normals, or records."""
        s = self.placed[i]
        if not isinstance(s, Mesh):
            return _records(s, id(s) in self.floored)
        parts = [s.vertices] if s.normals is None else [s.vertices, s.normals]
        return np.concatenate([np.asarray(p, np.float64).reshape(-1) for p in parts])

    def lay_out(self, h, reals, ints, lights, first_value: dict) -> None:
        """Write shape records and arrays behind the pools' heads. first_value: id(splat set) -> its first value."""
        kinds = list(GEOMETRIES)
        self.records_at = {}  # id(splat set) -> where its records begin in reals
        records = np.zeros((max(1, len(self.shapes)), layout.SHAPE_STRIDE), np.int64)
        at = h[layout.H_SHAPES] = ints.add(records)
        prim_shape = np.repeat(np.arange(len(self.shapes)), self.counts)
        h[layout.H_PRIMS] = ints.add(prim_shape if len(prim_shape) else [0])
        light_of = {id(s): i for i, s in enumerate(lights.shapes)}
        for i, s in enumerate(self.shapes):
            r = records[i]
            r[layout.SHAPE_KIND] = kinds.index(s.kind)
            # Behind the scene's materials stand the phase functions of its splat sets, in order.
            is_set = isinstance(s, Splats)
            r[layout.SHAPE_MATERIAL] = (
                len(self.material_index) + self.splats.index(s) if is_set else self.material_index[s.material]
            )
            r[layout.SHAPE_LIGHT] = light_of.get(id(s), -1)
            if id(s) in light_of:
                lights.set_shape(light_of[id(s)], at + i * layout.SHAPE_STRIDE)
            r[layout.SHAPE_FLAGS] = layout.FLAG_FLIP if s.flip_normals else 0
            r[layout.SHAPE_FIRST_PRIM], r[layout.SHAPE_N_PRIMS] = self.first[i], self.counts[i]
            r[layout.SHAPE_INTERIOR] = self.inside_of(s)
            self.reals_of[i] = r[layout.SHAPE_REALS] = reals.add(self.numbers(i))
            if isinstance(s, Mesh):
                r[layout.SHAPE_FACES] = ints.add(s.faces)
                if s.normals is not None:
                    r[layout.SHAPE_FLAGS] |= layout.FLAG_NORMALS
                    r[layout.SHAPE_NORMALS] = r[layout.SHAPE_REALS] + s.vertices.size
                if s.uvs is not None:
                    r[layout.SHAPE_FLAGS] |= layout.FLAG_UVS
                    r[layout.SHAPE_UVS] = reals.add(s.uvs)
            if is_set:
                self.records_at[id(s)] = int(r[layout.SHAPE_REALS])
                r[layout.SHAPE_SPLAT_VALUES] = first_value[id(s)]
                if s.sh is not None:
                    r[layout.SHAPE_FLAGS] |= layout.FLAG_ENCODED if s.encoded else 0
                    r[layout.SHAPE_N_HARMONICS] = s.sh.shape[1]
                    r[layout.SHAPE_HARMONICS] = reals.add(s.sh)

    def inside_of(self, s: Shape) -> int:
        """What is behind a shape's surface: 0, 1 + a medium's number, or VACUUM."""
        if s.interior is not None:
            return 1 + self.medium_index[s.interior]
        return self.insides.get(s.material, layout.VACUUM if s.exterior is not None else 0)

    def splats_changed(self, shape: Splats) -> tuple[int, np.ndarray]:
        """Where a set's records begin in reals, and the records as its arrays now say."""
        return self.records_at[id(shape)], _records(shape, id(shape) in self.floored)

    def refit(self) -> None:
        """Fit the tree to where splats now are."""
        groups, world = {g: self._prim_set(name) for g, name in enumerate(self.groups)}, self._prim_set(None)
        self.accel.refit(
            world_bounds=world.other_bounds, group_bounds={g: s.other_bounds for g, s in groups.items()},
            world_lanes=world.other_lanes, group_lanes={g: s.other_lanes for g, s in groups.items()},
        )  # fmt: skip

    def build(self) -> None:
        """The tree over everything."""
        world = self._prim_set(None)
        self.groups = sorted({s.group for s in self.shapes if s.group is not None})
        groups = [self._prim_set(name) for name in self.groups]
        placed = [(self.groups.index(i.group), i.placed()) for i in self.instances]
        self.accel = build_scene(world, groups, placed, self.width)

    def _prim_set(self, group: str | None) -> PrimSet:
        kinds = list(GEOMETRIES)
        corners, tri_prims = [np.zeros((0, 3, 3))], [np.zeros(0, np.int32)]
        boxes, prims, other = [np.zeros((0, 6))], [np.zeros(0, np.int32)], [np.zeros(0, np.int32)]
        lanes = [np.zeros((0, LANE_REALS))]
        for i, s in enumerate(self.placed):
            if s.group != group:
                continue
            numbers = np.arange(self.first[i], self.first[i + 1], dtype=np.int32)
            if isinstance(s, Mesh):
                corners.append(np.asarray(s.vertices, np.float64)[np.asarray(s.faces)])
                tri_prims.append(numbers)
            else:
                boxes.append(self._world_boxes(s))
                module = GEOMETRIES[s.kind]
                laned = hasattr(module, "may_meet")
                lanes.append(module.lane_numbers(_fields(s)) if laned else np.zeros((len(numbers), LANE_REALS)))
                prims.append(numbers)
                other.append(np.full(len(numbers), kinds.index(s.kind), np.int32))
        return PrimSet(*map(np.concatenate, (corners, tri_prims, boxes, prims, other, lanes)))

    def release(self) -> None:
        """Drop the tree's device arrays."""
        if self.accel is not None:
            self.accel.release()


def _count(shape: Shape) -> int:
    if isinstance(shape, Mesh):
        return len(shape.faces)
    if isinstance(shape, Splats):
        return len(shape)
    return len(next(iter(_fields(shape).values())))


def _fields(shape: Shape, floored: bool = False) -> dict:
    """Arrays of a shape as its geometry kind names them."""
    if isinstance(shape, Mesh):
        return {"vertices": np.asarray(shape.vertices, np.float64), "faces": np.asarray(shape.faces)}
    if isinstance(shape, Splats):
        return splats.fields(shape.values, floored)
    if isinstance(shape, Curves):
        return shape.pieces()
    if isinstance(shape, Sphere):
        return {"center": np.asarray(shape.center, np.float64).reshape(1, 3), "radius": np.array([float(shape.radius)])}
    assert isinstance(shape, Primitives)
    return {k: np.asarray(v, np.float64) for k, v in shape.fields.items()}


def _records(shape: Shape, floored: bool = False) -> np.ndarray:
    """Records of a shape's primitives, one after the other."""
    return pack(GEOMETRIES[shape.kind], _fields(shape, floored))


def _structure(shape: Shape) -> tuple:
    """What cannot change in place."""
    if isinstance(shape, Mesh):
        return len(shape.vertices), id(shape.faces), id(shape.normals), id(shape.uvs)
    if isinstance(shape, Splats):  # their arrays are parameters
        return len(shape), shape.phase, id(shape.sh), shape.encoded
    if isinstance(shape, Curves):
        return len(shape.points), id(shape.offsets), shape.basis, shape.style
    return tuple(id(a) for a in shape.fields.values()) if isinstance(shape, Primitives) else ()


def _place(shape: Shape) -> tuple:
    """What can: arrays by identity, numbers by value."""
    if not isinstance(shape, (Mesh, Sphere, Curves)):
        return ()
    own = (id(shape.vertices),) if isinstance(shape, Mesh) else ()
    own += (id(shape.points), id(shape.radii)) if isinstance(shape, Curves) else ()
    own += (*map(float, shape.center), float(shape.radius)) if isinstance(shape, Sphere) else ()
    origin = None if shape.origin is None else (*map(float, shape.origin),)
    return (*own, *map(float, shape.translation), *map(float, shape.rotation), float(shape.scale), origin)


def _hull(boxes: np.ndarray) -> np.ndarray:
    """One box around all, (1, 6), or none."""
    return np.r_[boxes[:, :3].min(0), boxes[:, 3:].max(0)][None] if len(boxes) else boxes


def _moved(boxes: np.ndarray, m: np.ndarray) -> np.ndarray:
    """Boxes around transformed boxes."""
    center, half = (boxes[:, :3] + boxes[:, 3:]) / 2, (boxes[:, 3:] - boxes[:, :3]) / 2
    center = center @ m[:3, :3].T + m[:3, 3]
    half = half @ np.abs(m[:3, :3]).T
    return np.c_[center - half, center + half]
