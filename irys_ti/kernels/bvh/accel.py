"""The acceleration structure of a scene: build, refit, and its device arrays. Host code, NumPy only."""

from __future__ import annotations

import numpy as np

from irys_ti import runtime
from irys_ti.errors import SceneError
from irys_ti.kernels.write import write

from .layout import (
    BLOCK_REALS,
    INSTANCE,
    INSTANCE_INTS,
    INSTANCE_REALS,
    KIND_BITS,
    LANES,
    MAX_BLOCKS,
    NODE_REALS,
    STACK,
    START_SHIFT,
    blocks_for_instances,
)
from .part import Part, PrimSet


def default_width() -> int:
    """Children per node that suit the running backend: 8 on the CPU, 2 on GPUs."""
    return 2 if runtime.is_gpu() else 8


def build(tri_vertices, tri_prims, other_bounds, other_prims, other_kinds, width: int | None = None) -> Accel:
    """A scene without instances; arguments as in PrimSet, width as in ``build_scene``."""
    prims = PrimSet(tri_vertices, np.asarray(tri_prims), other_bounds, np.asarray(other_prims), np.asarray(other_kinds))
    return build_scene(prims, [], [], width)


def build_scene(world: PrimSet, groups: list, instances: list, width: int | None = None) -> Accel:
    """A scene with instances.

    groups: PrimSets, each in a space of its own. instances: (group number, to_world (4, 4) or (3, 4)); an
    instance's number is its place in this list. Groups hold no instances. width: 2 or 8, None for what suits
    the backend. Raises SceneError for values that are not finite or transforms that cannot be inverted.
    """
    return Accel(world, list(groups), list(instances), default_width() if width is None else width)


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
        self.kinds = (1 << INSTANCE) if instances else 0
        for kind in np.unique(np.concatenate([prims.other_kinds for prims in (world, *groups)])):
            self.kinds |= 1 << int(kind)

        no_instances = np.zeros((6, 0), self.real)
        self._groups = [Part(prims, no_instances, width, STACK[width] // 2, self.real) for prims in groups]
        for part, prims in zip(self._groups, groups, strict=True):
            part.rows = np.zeros((part.n_blocks, BLOCK_REALS[width]), self.real)
            part.place_triangles(prims.tri_vertices, part.rows)
            part.place_others()
            part.place_lanes(prims.other_lanes, part.rows)
        self._roots: dict[int, np.ndarray] = {}
        room = STACK[width] - max((part.tree.stack_need for part in self._groups), default=0)
        self._world = Part(world, self._instance_boxes(), width, room, self.real)
        self._lay_out(len(instances))
        for part in self._groups:
            self._rows(part)[:] = part.rows
            del part.rows
            self._fill_nodes(part)
        self._world.place_triangles(world.tri_vertices, self._rows(self._world))
        self._world.place_others()
        self._world.place_lanes(world.other_lanes, self._rows(self._world))
        self._fill_nodes(self._world)
        self._fill_instances()

    @property
    def stack_need(self) -> int:
        """Most entries that a traversal's stack may hold, in the world and in a group together."""
        return self._world.tree.stack_need + max((part.tree.stack_need for part in self._groups), default=0)

    # Building.

    def _lay_out(self, n_instances: int) -> None:
        """Give every part its place; fill what no refit changes."""
        parts = [self._world, *self._groups]
        node, block = 0, blocks_for_instances(n_instances, self.width)
        for part in parts:
            part.node_base, part.block_base = node, block
            node, block = node + part.n_nodes, block + part.n_blocks
        if block > MAX_BLOCKS:
            raise SceneError("scene", f"needs {block} blocks of primitives, more than {MAX_BLOCKS}", "use fewer")
        n_blocks, lanes = max(1, block), LANES[self.width]
        self.nodes = np.zeros(node * NODE_REALS[self.width], self.real)
        self.blocks = np.zeros(n_blocks * BLOCK_REALS[self.width], self.real)
        self.block_prims = np.full(n_blocks * lanes, -1, np.int32)
        self.node_refs = np.concatenate([placed_refs(part) for part in parts])
        for part in parts:
            self.block_prims[part.block_base * lanes :][: part.n_blocks * lanes] = part.block_prims().reshape(-1)
        roots = np.array([part.node_base for part in self._groups], np.int32)
        self.block_prims[: INSTANCE_INTS * n_instances : INSTANCE_INTS] = roots[self._group_of]

    def _rows(self, part: Part) -> np.ndarray:
        """A part's blocks, (n_blocks, block reals)."""
        rows = self.blocks.reshape(-1, BLOCK_REALS[self.width])
        return rows[part.block_base : part.block_base + part.n_blocks]

    def _fill_nodes(self, part: Part) -> None:
        rows = self.nodes.reshape(-1, NODE_REALS[self.width])[part.node_base : part.node_base + part.n_nodes]
        rows[:, : 6 * self.width] = part.node_boxes().reshape(part.n_nodes, -1)

    def _instance_boxes(self) -> np.ndarray:
        """World boxes (6, n_instances): hulls of the transformed boxes just below each group's root."""
        out = np.zeros((6, len(self._to_world)), self.real)
        for group, part in enumerate(self._groups):
            if not part.tree.n_leaves:
                continue
            box = self._boxes_at_root(group)
            centre, half = (box[3:] + box[:3]) / 2, (box[3:] - box[:3]) / 2
            mine = np.flatnonzero(self._group_of == group)
            m = self._to_world[mine]
            centre = m[:, :, :3] @ centre + m[:, :, 3:]
            half = np.abs(m[:, :, :3]) @ half
            low, high = (centre - half).min(axis=2).T, (centre + half).max(axis=2).T
            # The ray is transformed in the tier's precision: leave room for that rounding.
            slack = 8 * np.finfo(self.real).eps * (np.abs(low) + np.abs(high) + np.abs(m[:, :, 3].T))
            out[:3, mine], out[3:, mine] = low - slack, high + slack
        return out

    def _boxes_at_root(self, group: int) -> np.ndarray:
        """(6, n) boxes just below a group's root, worked out again after a refit alone: moves are many."""
        if group not in self._roots:
            part = self._groups[group]
            self._roots[group] = part.node_boxes()[0][:, part.tree.used[0]].astype(np.float64)
        return self._roots[group]

    def _fill_instances(self) -> None:
        n, m = len(self._to_world), self._to_world
        inverse = np.linalg.inv(m[:, :, :3])
        records = np.zeros((n, INSTANCE_REALS))
        records[:, :12] = np.concatenate([inverse, -inverse @ m[:, :, 3:]], axis=2).reshape(n, 12)
        records[:, 12:24] = m.reshape(n, 12)
        self.blocks[: n * INSTANCE_REALS] = records.reshape(-1)

    # Changing.

    def refit(
        self, world_vertices=None, world_bounds=None, group_vertices=None, group_bounds=None, world_lanes=None, group_lanes=None
    ) -> None:
        """Take new positions with the same topology.

        world_vertices: (n, 3, 3) corners of the world's triangles; world_bounds: (m, 6) of its other
        primitives; world_lanes: (m, LANE_REALS) numbers of theirs (PrimSet). group_vertices, group_bounds, group_lanes:
        {group number: array} likewise. What is None stays.
        Raises SceneError for another number of primitives or values that are not finite.
        """
        group_vertices, group_bounds, group_lanes = group_vertices or {}, group_bounds or {}, group_lanes or {}
        changed = sorted({*group_vertices, *group_bounds})
        for g in changed:
            self._roots.pop(g, None)
            self._refit_part(self._groups[g], group_vertices.get(g), group_bounds.get(g))
            self._groups[g].place_lanes(group_lanes.get(g), self._rows(self._groups[g]))
        boxes = self._instance_boxes() if changed else None
        self._refit_part(self._world, world_vertices, world_bounds, boxes)
        self._world.place_lanes(world_lanes, self._rows(self._world))
        self._upload()

    def move_instances(self, numbers, to_world) -> None:
        """Give instances new transforms ((n, 4, 4) or (n, 3, 4)); only the world's nodes change."""
        self._to_world[np.asarray(numbers)] = [affine(m) for m in to_world]
        self._fill_instances()
        self._refit_part(self._world, instance_boxes=self._instance_boxes())
        if self._arrays is not None:
            first, last = (k * NODE_REALS[self.width] for k in (self._world.node_base, self._world.node_base + self._world.n_nodes))
            self._send(0, self.nodes, first, last)
            self._send(2, self.blocks, 0, len(self._to_world) * INSTANCE_REALS)

    def _refit_part(self, part: Part, vertices=None, bounds=None, instance_boxes=None) -> None:
        if vertices is not None:
            part.place_triangles(vertices, self._rows(part))
        if bounds is not None or instance_boxes is not None:
            part.place_others(bounds, instance_boxes)
        self._fill_nodes(part)

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

    def _send(self, which: int, host: np.ndarray, first: int, last: int) -> None:
        write(self._arrays[which], first, runtime.array(host[first:last]), last - first)

    def release(self) -> None:
        """Drop the device's copy; ``device()`` makes a new one."""
        self._arrays = None


def placed_refs(part: Part) -> np.ndarray:
    """References of a part's nodes with its bases added, flat int32."""
    refs = part.tree.refs.copy()
    kind = ~refs & ((1 << KIND_BITS) - 1)
    refs[part.tree.refs >= 0] += part.node_base
    refs[(part.tree.refs < 0) & (kind != INSTANCE)] -= part.block_base << START_SHIFT
    return refs.astype(np.int32).reshape(-1)


def affine(to_world) -> np.ndarray:
    """(3, 4) f64 of a transform that can be inverted."""
    m = np.asarray(to_world, np.float64)[:3, :4]
    if not np.isfinite(m).all() or np.linalg.det(m[:, :3]) == 0.0:
        raise SceneError("instance", "has a to_world that cannot be inverted", "use finite values and no zero scale")
    return m
