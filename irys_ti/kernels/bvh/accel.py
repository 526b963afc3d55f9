"""The acceleration structure of a scene: build, refit, and its device arrays. Host code, NumPy only."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from irys_ti import runtime
from irys_ti.errors import SceneError

from .collapse import MESH, WideTree, collapse, node_boxes
from .layout import (
    BLOCK_REALS,
    INSTANCE,
    INSTANCE_INTS,
    INSTANCE_REALS,
    KIND_BITS,
    LANES,
    MAX_BLOCKS,
    NODE_REALS,
    NOTHING,
    STACK,
    START_SHIFT,
    blocks_for_instances,
)
from .ploc import cluster


def default_width() -> int:
    """Children per node that suit the running backend: 8 on the CPU, 2 on GPUs."""
    return 2 if runtime.is_gpu() else 8


@dataclass
class PrimSet:
    """Primitives of the world or of one group, in its own space.

    tri_vertices: (n, 3, 3) corners. tri_prims: (n,) their numbers in the scene. other_bounds: (m, 6) boxes of
    primitives of other kinds, lower then upper corner. other_prims, other_kinds: (m,) numbers and kinds.
    """

    tri_vertices: np.ndarray = field(default_factory=lambda: np.zeros((0, 3, 3)))
    tri_prims: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int32))
    other_bounds: np.ndarray = field(default_factory=lambda: np.zeros((0, 6)))
    other_prims: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int32))
    other_kinds: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int32))


@dataclass
class Part:
    """One tree within the accel: the world's or a group's, and where its nodes and blocks begin."""

    prims: PrimSet
    tree: WideTree
    boxes: np.ndarray  # (6, n) of its primitives, triangles first
    node_base: int = 0
    block_base: int = 0


class Accel:
    """Trees over a scene.

    nodes, node_refs, blocks, block_prims: flat arrays as bvh/layout.py says, in the tier's precision. width:
    children per node. kinds: bit k set where geometry kind k (not the mesh) or INSTANCE occurs; pass both as
    template arguments. ``device()`` gives the arrays on the device; ``refit`` and ``move_instances`` keep both
    copies right.
    """

    def __init__(self, world: PrimSet, groups: list, instances: list, width: int):
        self.width = width
        self.real = runtime.real_dtype()
        self._arrays = None
        self._group_of = np.array([group for group, _ in instances], np.int64)
        self._to_world = np.array([affine(to_world) for _, to_world in instances]).reshape(-1, 3, 4)
        for i, group in enumerate(self._group_of):
            if not 0 <= group < len(groups):
                raise SceneError(f"instance {i}", f"names group {group} of {len(groups)}", "use a group that exists")

        self._groups = [self._part(group, []) for group in groups]
        self._world = self._part(world, range(len(instances)))
        self._place_parts(len(instances))
        self.kinds = self._kinds()
        self.nodes = np.zeros(self._n_nodes * NODE_REALS[width], self.real)
        self.node_refs = np.concatenate([self._refs(part) for part in self._parts])
        self.blocks = np.zeros(self._n_blocks * BLOCK_REALS[width], self.real)
        self.block_prims = np.full(self._n_blocks * LANES[width], -1, np.int32)
        for part in self._parts:
            self._fill_nodes(part)
            self._fill_blocks(part)
        roots = np.array([part.node_base for part in self._groups], np.int32)
        self.block_prims[: INSTANCE_INTS * len(instances) : INSTANCE_INTS] = roots[self._group_of]
        self._fill_instances()

    @property
    def stack_need(self) -> int:
        """Most entries that a traversal's stack may hold, in the world and in a group together."""
        return self._world.tree.stack_need + max((part.tree.stack_need for part in self._groups), default=0)

    # Building.

    def _part(self, prims: PrimSet, instances) -> Part:
        corners = np.asarray(prims.tri_vertices, self.real).reshape(-1, 3, 3)
        boxes = np.concatenate(
            [triangle_boxes(corners), self._other_boxes(prims), self._instance_boxes(instances)], axis=1
        )
        if not np.isfinite(boxes).all():
            raise SceneError("geometry", "has corners or bounds that are not finite", "remove NaN and infinity")
        n_tris, n_others = len(corners), len(prims.other_prims)
        kinds = np.full(boxes.shape[1], INSTANCE, np.int64)
        kinds[:n_tris] = MESH
        kinds[n_tris : n_tris + n_others] = prims.other_kinds
        number = np.maximum(np.arange(boxes.shape[1]) - n_tris - n_others, 0)
        return Part(prims, self._tree(boxes, kinds, number), boxes)

    def _tree(self, boxes, kinds, number) -> WideTree:
        if boxes.shape[1] == 0:
            return empty_tree(self.width)
        tree = collapse(cluster(boxes), kinds, number, self.width)
        # Rare: an odd scene made a deep tree. The shallowest there is has about log2(n) levels.
        if tree.stack_need > STACK[self.width] // 2:
            tree = collapse(cluster(boxes, balanced=True), kinds, number, self.width)
        return tree

    def _place_parts(self, n_instances: int) -> None:
        self._parts = [self._world, *self._groups]
        node, block = 0, blocks_for_instances(n_instances, self.width)
        for part in self._parts:
            part.node_base, part.block_base = node, block
            node += len(part.tree.refs)
            block += part.tree.n_blocks
        self._n_nodes, self._n_blocks = node, max(1, block)
        if block > MAX_BLOCKS:
            raise SceneError("scene", f"needs {block} blocks of primitives, more than {MAX_BLOCKS}", "use fewer")

    def _kinds(self) -> int:
        mask = (1 << INSTANCE) if len(self._group_of) else 0
        for part in self._parts:
            for kind in np.unique(part.prims.other_kinds):
                mask |= 1 << int(kind)
        return mask

    def _refs(self, part: Part) -> np.ndarray:
        refs = part.tree.refs.copy()
        kind = ~refs & ((1 << KIND_BITS) - 1)
        refs[refs >= 0] += part.node_base
        refs[(part.tree.refs < 0) & (kind != INSTANCE)] -= part.block_base << START_SHIFT
        return refs.astype(np.int32).reshape(-1)

    # Filling; a refit does the same again.

    def _other_boxes(self, prims: PrimSet) -> np.ndarray:
        """Boxes given in f64, rounded outward."""
        exact = np.asarray(prims.other_bounds, np.float64).reshape(-1, 6).T
        boxes = exact.astype(self.real)
        boxes[:3] = np.nextafter(boxes[:3], self.real(-np.inf))
        boxes[3:] = np.nextafter(boxes[3:], self.real(np.inf))
        return boxes

    def _instance_boxes(self, instances) -> np.ndarray:
        """World boxes (6, n): hulls of the transformed boxes just below each group's root."""
        out = np.zeros((6, len(instances)), self.real)
        for i in instances:
            part, m = self._groups[self._group_of[i]], self._to_world[i]
            if part.boxes.shape[1] == 0:
                continue
            if not hasattr(part, "root_boxes"):
                part.root_boxes = node_boxes(part.tree, part.boxes)[0][:, part.tree.used[0]]
            box = part.root_boxes.astype(np.float64)
            centre, half = (box[3:] + box[:3]) / 2, (box[3:] - box[:3]) / 2
            centre = m[:, :3] @ centre + m[:, 3:]
            half = np.abs(m[:, :3]) @ half
            low, high = (centre - half).min(axis=1), (centre + half).max(axis=1)
            # The ray is transformed in the tier's precision: leave room for that rounding.
            slack = 8 * np.finfo(self.real).eps * (np.abs(low) + np.abs(high) + np.abs(m[:, 3]))
            out[:3, i], out[3:, i] = low - slack, high + slack
        return out

    def _fill_nodes(self, part: Part) -> None:
        boxes = node_boxes(part.tree, part.boxes)
        n, stride = len(boxes), NODE_REALS[self.width]
        rows = self.nodes[part.node_base * stride : (part.node_base + n) * stride].reshape(n, stride)
        rows[:, : 6 * self.width] = boxes.reshape(n, -1)

    def _fill_blocks(self, part: Part) -> None:
        tree, lanes, stride = part.tree, LANES[self.width], BLOCK_REALS[self.width]
        if not tree.order.size:
            return
        n_tris = len(part.prims.tri_prims)
        n_each = np.diff(np.append(tree.leaf_start, tree.order.size))
        within = np.arange(tree.order.size) - np.repeat(tree.leaf_start, n_each)
        block = part.block_base + np.repeat(tree.leaf_block, n_each) + within // lanes
        lane = within % lanes
        numbers = np.concatenate([part.prims.tri_prims, part.prims.other_prims]).astype(np.int32)
        stored = tree.order < len(numbers)  # instances have no block
        self.block_prims[block[stored] * lanes + lane[stored]] = numbers[tree.order[stored]]

        is_tri = tree.order < n_tris
        corners = np.asarray(part.prims.tri_vertices, self.real).reshape(-1, 9)[tree.order[is_tri]]
        at = block[is_tri] * stride + lane[is_tri]
        for i in range(9):
            self.blocks[at + i * lanes] = corners[:, i]

    def _fill_instances(self) -> None:
        n = len(self._to_world)
        records = np.zeros((n, INSTANCE_REALS))
        for i, m in enumerate(self._to_world):
            inverse = np.linalg.inv(m[:, :3])
            records[i, :12] = np.c_[inverse, -inverse @ m[:, 3]].reshape(-1)
            records[i, 12:24] = m.reshape(-1)
        self.blocks[: n * INSTANCE_REALS] = records.reshape(-1)

    # Changing.

    def refit(self, world_vertices=None, world_bounds=None, group_vertices=None, group_bounds=None) -> None:
        """Take new positions with the same topology.

        world_vertices: (n, 3, 3) corners of the world's triangles; world_bounds: (m, 6) of its other
        primitives. group_vertices, group_bounds: {group number: array} likewise. What is None stays.
        """
        group_vertices, group_bounds = group_vertices or {}, group_bounds or {}
        for g in sorted({*group_vertices, *group_bounds}):
            self._refit_part(self._groups[g], group_vertices.get(g), group_bounds.get(g), [])
        if world_vertices is not None or world_bounds is not None or group_vertices or group_bounds:
            self._refit_part(self._world, world_vertices, world_bounds, range(len(self._to_world)))
        self._upload()

    def move_instances(self, numbers, to_world) -> None:
        """Give instances new transforms ((n, 4, 4) or (n, 3, 4)); only the world's nodes change."""
        self._to_world[np.asarray(numbers)] = [affine(m) for m in to_world]
        self._fill_instances()
        self._refit_part(self._world, None, None, range(len(self._to_world)))
        self._upload()

    def _refit_part(self, part: Part, vertices, bounds, instances) -> None:
        n_tris, n_others = len(part.prims.tri_prims), len(part.prims.other_prims)
        if vertices is not None:
            corners = np.asarray(vertices, self.real).reshape(-1, 3, 3)
            if len(corners) != n_tris:
                raise SceneError("refit", f"got {len(corners)} triangles for {n_tris}", "build again instead")
            part.prims.tri_vertices = corners
            part.boxes[:, :n_tris] = triangle_boxes(corners)
        if bounds is not None:
            part.prims.other_bounds = np.asarray(bounds, np.float64).reshape(-1, 6)
            if len(part.prims.other_bounds) != n_others:
                raise SceneError("refit", f"got other boxes than the {n_others} there are", "build again instead")
            part.boxes[:, n_tris : n_tris + n_others] = self._other_boxes(part.prims)
        if len(instances):
            part.boxes[:, n_tris + n_others :] = self._instance_boxes(instances)
        if not np.isfinite(part.boxes).all():
            raise SceneError("geometry", "has corners or bounds that are not finite", "remove NaN and infinity")
        if hasattr(part, "root_boxes"):
            del part.root_boxes
        self._fill_nodes(part)
        if vertices is not None:
            self._fill_blocks(part)

    # The device's copy.

    def device(self) -> tuple:
        """(nodes, node_refs, blocks, block_prims) as Taichi arrays, made at the first call."""
        if self._arrays is None:
            host = (self.nodes, self.node_refs, self.blocks, self.block_prims)
            self._arrays = tuple(runtime.array(values) for values in host)
            runtime.own(self)
        return self._arrays

    def _upload(self) -> None:
        if self._arrays is not None:
            self._arrays[0].from_numpy(self.nodes)
            self._arrays[2].from_numpy(self.blocks)

    def release(self) -> None:
        """Drop the device's copy; ``device()`` makes a new one."""
        self._arrays = None


def build(tri_vertices, tri_prims, other_bounds, other_prims, other_kinds, width: int | None = None) -> Accel:
    """A scene without instances; arguments as in PrimSet, width as in ``build_scene``."""
    world = PrimSet(tri_vertices, np.asarray(tri_prims), other_bounds, np.asarray(other_prims), np.asarray(other_kinds))
    return build_scene(world, [], [], width)


def build_scene(world: PrimSet, groups: list, instances: list, width: int | None = None) -> Accel:
    """A scene with instances.

    groups: PrimSets, each in a space of its own. instances: (group number, to_world (4, 4) or (3, 4)); an
    instance's number is its place in this list. Groups hold no instances. width: 2 or 8, None for what suits
    the backend. Raises SceneError for values that are not finite or transforms that cannot be inverted.
    """
    return Accel(world, list(groups), list(instances), default_width() if width is None else width)


def affine(to_world) -> np.ndarray:
    """(3, 4) f64 of a transform that can be inverted."""
    m = np.asarray(to_world, np.float64)[:3, :4]
    if not np.isfinite(m).all() or abs(np.linalg.det(m[:, :3])) == 0.0:
        raise SceneError("instance", "has a to_world that cannot be inverted", "use finite values and no zero scale")
    return m


def triangle_boxes(corners: np.ndarray) -> np.ndarray:
    """(6, n) boxes of (n, 3, 3) corners."""
    out = np.empty((6, len(corners)), corners.dtype)
    a, b, c = corners[:, 0].T, corners[:, 1].T, corners[:, 2].T
    np.minimum(np.minimum(a, b), c, out=out[:3])
    np.maximum(np.maximum(a, b), c, out=out[3:])
    return out


def empty_tree(width: int) -> WideTree:
    """A root without children."""
    nothing = np.zeros(0, np.int64)
    unused = np.full((1, width), -1, np.int64)
    return WideTree(nothing, nothing, nothing, 0, unused * 0 + ~NOTHING, unused >= 0, unused, [(0, 1)], 1)
