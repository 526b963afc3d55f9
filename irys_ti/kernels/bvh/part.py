"""One tree of an acceleration structure: primitives, topology, and the boxes of its leaves (NumPy)."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

import numpy as np

from irys_ti.errors import SceneError
from irys_ti.kernels.geometry import GEOMETRIES

from .collapse import MESH, collapse, empty_tree, halve, node_boxes
from .layout import INSTANCE, LANE_REALS, LANES
from .ploc import LAST_ROUND, TOP, TOP_LANED, cluster

# Rows of a pass over large arrays, so that what it makes stays in a core's cache.
CHUNK = 1 << 13
NOWHERE = 1e15  # its square is finite


@dataclass
class PrimSet:
    """Primitives of the world or of one group, in its own space.

    tri_vertices: (n, 3, 3) corners. tri_prims: (n,) their numbers in the scene. other_bounds: (m, 6) boxes of
    primitives of other kinds, lower then upper corner. other_prims, other_kinds: (m,) numbers and kinds.
    other_lanes: (m, LANE_REALS) what leaves hold of kinds that are LANED; None: zeros, which meet every ray.
    """

    tri_vertices: np.ndarray = field(default_factory=lambda: np.zeros((0, 3, 3)))
    tri_prims: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int32))
    other_bounds: np.ndarray = field(default_factory=lambda: np.zeros((0, 6)))
    other_prims: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int32))
    other_kinds: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int32))
    other_lanes: np.ndarray | None = None


class Part:
    """A tree over a PrimSet, and over instances where it is the world's.

    ``node_base`` and ``block_base`` say where its nodes and blocks begin among those of all parts.
    """

    def __init__(self, prims: PrimSet, instance_boxes: np.ndarray, width: int, stack: int, real):
        """stack: entries of the traversal's stack that the tree may need."""
        self.width, self.real = width, real
        self.node_base = self.block_base = 0
        corners = self._corners(prims.tri_vertices)
        self.n_tris, self.n_others = len(corners), len(prims.other_prims)
        self.numbers = np.concatenate([prims.tri_prims, prims.other_prims]).astype(np.int32)
        self.other_boxes = np.concatenate([outward(prims.other_bounds, real), instance_boxes], axis=1)
        boxes = np.concatenate([triangle_boxes(corners), self.other_boxes], axis=1)
        check_finite(boxes)
        n = boxes.shape[1]
        kinds = np.full(n, INSTANCE, np.int8)
        kinds[: self.n_tris] = MESH
        kinds[self.n_tris : self.n_tris + self.n_others] = prims.other_kinds
        number = np.maximum(np.arange(n) - self.n_tris - self.n_others, 0)
        self.tree = self._tree(boxes, kinds, number, stack)
        self.leaf_boxes = np.empty((6, self.tree.n_leaves), real)
        self.n_nodes, self.n_blocks = len(self.tree.refs), len(self.tree.table)

    def _tree(self, boxes, kinds, number, stack):
        if boxes.shape[1] == 0:
            return empty_tree(self.width)
        laned = laned_kinds()
        most = TOP_LANED if 2 * np.isin(kinds, laned).sum() > kinds.size else TOP
        # Rare: an odd scene makes a deep tree. The last try has about log2(n) levels.
        for rounds, top in ((LAST_ROUND, most), (12, TOP), (0, 1)):
            tree = collapse(cluster(boxes, rounds, top), kinds, number, self.width, laned)
            if tree.stack_need <= stack:
                break
        return tree

    def _corners(self, vertices) -> np.ndarray:
        return np.asarray(vertices, self.real).reshape(-1, 3, 3)

    def block_prims(self) -> np.ndarray:
        """(n_blocks, lanes) int32 numbers of the primitives in the scene, -1 in unused lanes."""
        table = self.tree.table
        return np.where(table >= 0, self.numbers[table], -1) if self.numbers.size else table

    def place_triangles(self, vertices, blocks: np.ndarray) -> None:
        """Write corners (n, 3, 3) into this part's rows of blocks (n_blocks, block reals), and box its leaves."""
        corners = self._corners(vertices)
        if len(corners) != self.n_tris:
            raise SceneError("refit", f"got {len(corners)} triangles for {self.n_tris}", "build again instead")
        lanes = LANES[self.width]
        n = int(self.tree.leaf_block[self.tree.n_tri_leaves])
        boxes = np.empty((n, 6), self.real)
        flat = corners.reshape(-1, 9)

        def place(first: int, last: int) -> None:
            lane_major = flat[self.tree.table[first:last]]  # (blocks, lanes, 9)
            rows = blocks[first:last, : 9 * lanes].reshape(-1, 9, lanes)
            rows[:] = lane_major.transpose(0, 2, 1)
            a, b, c = rows[:, :3], rows[:, 3:6], rows[:, 6:]
            boxes[first:last, :3] = halve(np.minimum, np.minimum(np.minimum(a, b), c))
            boxes[first:last, 3:] = halve(np.maximum, np.maximum(np.maximum(a, b), c))

        in_chunks(place, n)
        check_finite(boxes)
        if n:
            starts = self.tree.leaf_block[: self.tree.n_tri_leaves]
            low, high = boxes[:, :3].T, boxes[:, 3:].T
            if n > starts.size:  # leaves of several blocks
                low, high = np.minimum.reduceat(low, starts, axis=1), np.maximum.reduceat(high, starts, axis=1)
            self.leaf_boxes[:3, : starts.size], self.leaf_boxes[3:, : starts.size] = low, high

    def place_others(self, bounds=None, instance_boxes=None) -> None:
        """Box the leaves of other kinds; None keeps what was."""
        if bounds is not None:
            boxes = outward(bounds, self.real)
            if boxes.shape[1] != self.n_others:
                problem = f"got bounds of {boxes.shape[1]} primitives for {self.n_others}"
                raise SceneError("refit", problem, "build again instead")
            self.other_boxes[:, : self.n_others] = boxes
        if instance_boxes is not None:
            self.other_boxes[:, self.n_others :] = instance_boxes
        check_finite(self.other_boxes)
        if self.tree.other_leaf.size:
            at = self.tree.n_tri_leaves
            boxes = self.other_boxes[:, self.tree.other_leaf - self.n_tris]
            self.leaf_boxes[:3, at:] = np.minimum.reduceat(boxes[:3], self.tree.other_start, axis=1)
            self.leaf_boxes[3:, at:] = np.maximum.reduceat(boxes[3:], self.tree.other_start, axis=1)

    def place_lanes(self, lanes, blocks: np.ndarray) -> None:
        """Write (n_others, LANE_REALS) numbers into this part's rows of blocks; only wide trees test lanes."""
        n_lanes = LANES[self.width]
        if lanes is None or n_lanes == 1:
            return
        first = int(self.tree.leaf_block[self.tree.n_tri_leaves])
        table = self.tree.table[first:] - self.n_tris
        found = np.asarray(lanes, self.real)[np.maximum(table, 0)]
        found[table < 0] = np.r_[np.full(3, NOWHERE), 1, 0, 0, 1, 0, 1]  # a lane that is not used: far away and small
        blocks[first:].reshape(len(table), LANE_REALS, n_lanes)[:] = found.transpose(0, 2, 1)

    def node_boxes(self) -> np.ndarray:
        """(n_nodes, 6, width) boxes of every node's children."""
        return node_boxes(self.tree, self.leaf_boxes)


def laned_kinds() -> list[int]:
    """Numbers of the kinds whose leaves hold numbers of theirs."""
    return [number for number, module in enumerate(GEOMETRIES.values()) if hasattr(module, "may_meet")]


def triangle_boxes(corners: np.ndarray) -> np.ndarray:
    """(6, n) boxes of (n, 3, 3) corners."""
    out = np.empty((6, len(corners)), corners.dtype)

    def box(first: int, last: int) -> None:
        part = corners[first:last]
        for axis in range(3):
            a, b, c = part[:, 0, axis], part[:, 1, axis], part[:, 2, axis]
            np.minimum(np.minimum(a, b), c, out=out[axis, first:last])
            np.maximum(np.maximum(a, b), c, out=out[3 + axis, first:last])

    in_chunks(box, len(corners))
    return out


def outward(bounds, real) -> np.ndarray:
    """(6, m) boxes from (m, 6), rounded outward to the tier's precision."""
    exact = np.asarray(bounds, np.float64).reshape(-1, 6).T
    boxes = exact.astype(real)
    boxes[:3] = np.nextafter(boxes[:3], real(-np.inf))
    boxes[3:] = np.nextafter(boxes[3:], real(np.inf))
    return boxes


def check_finite(boxes: np.ndarray) -> None:
    """Raise SceneError for NaN or infinity."""
    # The sum of all is finite only if all are; it overflows for none but absurd sizes.
    if not np.isfinite(boxes.sum(dtype=np.float64)):
        raise SceneError("geometry", "has corners or bounds that are not finite", "remove NaN and infinity")


def in_chunks(work, n: int) -> None:
    """Call ``work(first, last)`` over chunks of range(n), on two threads where n is large."""
    if n <= 8 * CHUNK:
        for first in range(0, n, CHUNK):
            work(first, min(n, first + CHUNK))
        return
    with ThreadPoolExecutor(2) as pool:
        for done in [pool.submit(work, first, min(n, first + CHUNK)) for first in range(0, n, CHUNK)]:
            done.result()
