"""From a binary tree to the wide tree that is traversed: leaves, wide nodes, and their boxes (NumPy)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .layout import COUNT_BITS, FAR, INSTANCE, KIND_BITS, LANES, LEAF_OTHERS, LEAF_TRIANGLES, START_SHIFT
from .ploc import BinaryTree

MESH = 0
MIXED = -1


@dataclass
class WideTree:
    """The topology of one tree over n primitives; boxes are filled by ``node_boxes``.

    order: (n,) primitives (as the builder counts them) in leaf order. leaf_start: (n_leaves,) where each leaf
    begins in ``order``; leaf_block its first block, within this tree. n_blocks. refs: (n_nodes, width)
    references with blocks and nodes counted within this tree; empty children have ``used`` False.
    child_leaf: (n_nodes, width) number of the leaf, -1 for others. levels: (first, last) node ranges from the
    root down. stack_need: entries that a traversal may have to keep.
    """

    order: np.ndarray
    leaf_start: np.ndarray
    leaf_block: np.ndarray
    n_blocks: int
    refs: np.ndarray
    used: np.ndarray
    child_leaf: np.ndarray
    levels: list
    stack_need: int


def collapse(tree: BinaryTree, kinds: np.ndarray, instance: np.ndarray, width: int) -> WideTree:
    """Make subtrees of one kind that are small enough leaves, and join the nodes above them.

    kinds: (n,) geometry kind of each primitive. instance: (n,) number of the instance where kind is INSTANCE.
    """
    count, kind = subtree_counts(tree, kinds)
    limit = np.where(kind == MESH, LEAF_TRIANGLES[width], LEAF_OTHERS[width])
    limit[kind == INSTANCE] = 1
    is_leaf = (kind != MIXED) & (count <= limit)
    place = leaf_places(tree, count)
    order = np.empty(tree.n, np.int64)
    order[place[: tree.n]] = np.arange(tree.n)

    children, child_node, levels, stack_need = wide_children(tree, is_leaf, width)
    used = children >= 0
    at_leaf = used & (child_node < 0)
    leaves = children[at_leaf]
    by_place = np.argsort(place[leaves])
    leaf_number = np.empty(leaves.size, np.int64)
    leaf_number[by_place] = np.arange(leaves.size)
    leaves = leaves[by_place]

    lanes = LANES[width]
    n_blocks_each = -(-count[leaves] // lanes)
    n_blocks_each[kind[leaves] == INSTANCE] = 0  # their records lie in blocks of their own
    ends = np.cumsum(n_blocks_each)
    leaf_block = ends - n_blocks_each
    start = leaf_block.copy()
    lone = kind[leaves] == INSTANCE
    start[lone] = instance[order[place[leaves[lone]]]]
    code = start << START_SHIFT | np.maximum(n_blocks_each - 1, 0) << KIND_BITS | kind[leaves]
    assert n_blocks_each.max(initial=0) <= 1 << COUNT_BITS

    refs = child_node
    child_leaf = np.full(children.shape, -1, np.int64)
    child_leaf[at_leaf] = leaf_number
    refs[at_leaf] = ~code[leaf_number]
    refs = np.where(used, refs, refs[:, :1])
    return WideTree(
        order, place[leaves], leaf_block, int(ends[-1]) if ends.size else 0, refs, used, child_leaf, levels, stack_need
    )


def subtree_counts(tree: BinaryTree, kinds: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """For every node the number of primitives below it, and their kind or MIXED."""
    count = np.ones(tree.left.size, np.int64)
    kind = np.empty(tree.left.size, np.int64)
    kind[: tree.n] = kinds
    for first, last in tree.rounds:
        left, right = tree.left[first:last], tree.right[first:last]
        count[first:last] = count[left] + count[right]
        kind[first:last] = np.where(kind[left] == kind[right], kind[left], MIXED)
    return count, kind


def leaf_places(tree: BinaryTree, count: np.ndarray) -> np.ndarray:
    """For every node the place of its first primitive in depth-first order."""
    place = np.zeros(tree.left.size, np.int64)
    for first, last in reversed(tree.rounds):
        left = tree.left[first:last]
        place[left] = place[first:last]
        place[tree.right[first:last]] = place[first:last] + count[left]
    return place


def wide_children(tree: BinaryTree, is_leaf: np.ndarray, width: int):
    """Open the child with the largest box until a node has ``width`` children, level by level from the root.

    Returns children (n_nodes, width) as binary nodes, -1 where unused, leaves of the wide tree included;
    child_node (n_nodes, width) the wide node's number, -1 for leaves; levels; the stack's need.
    """
    area = tree.half_area()
    area[is_leaf] = -1.0
    root = tree.left.size - 1
    frontier = np.array([root])
    before = np.zeros(1, np.int64)  # stack entries that wait while this node is visited
    all_children, all_nodes, levels = [], [], []
    made, stack_need = 0, 1
    while frontier.size:
        m = frontier.size
        children = np.full((m, width), -1, np.int64)
        if is_leaf[root]:
            children[:, 0] = root
        else:
            children[:, 0], children[:, 1] = tree.left[frontier], tree.right[frontier]
        for used in range(2, width):
            sizes = np.where(children[:, :used] >= 0, area[children[:, :used]], -1.0)
            pick = np.argmax(sizes, axis=1)
            rows = np.flatnonzero(sizes[np.arange(m), pick] >= 0.0)
            opened = children[rows, pick[rows]]
            children[rows, pick[rows]] = tree.left[opened]
            children[rows, used] = tree.right[opened]
        inner = (children >= 0) & ~is_leaf[children]
        nodes = np.full((m, width), -1, np.int64)
        nodes[inner] = made + m + np.arange(np.count_nonzero(inner))
        waiting = before + np.count_nonzero(children >= 0, axis=1)
        stack_need = max(stack_need, int(waiting.max()))
        before = np.repeat(waiting - 1, np.count_nonzero(inner, axis=1))
        levels.append((made, made + m))
        made += m
        all_children.append(children)
        all_nodes.append(nodes)
        frontier = children[inner]
    return np.concatenate(all_children), np.concatenate(all_nodes), levels, stack_need


def node_boxes(tree: WideTree, boxes: np.ndarray) -> np.ndarray:
    """Children's boxes of every node, (n_nodes, 6, width), from the primitives' (6, n): a refit.

    Unused children get a box that no ray meets.
    """
    n_nodes, width = tree.refs.shape
    out = np.empty((n_nodes, 6, width), boxes.dtype)
    out[:, :3], out[:, 3:] = FAR, -FAR
    if not tree.leaf_start.size:
        return out
    ordered = np.take(boxes, tree.order, axis=1)
    leaf = np.concatenate(
        [
            np.minimum.reduceat(ordered[:3], tree.leaf_start, axis=1),
            np.maximum.reduceat(ordered[3:], tree.leaf_start, axis=1),
        ]
    )
    node, lane = np.nonzero(tree.child_leaf >= 0)
    out[node, :, lane] = leaf[:, tree.child_leaf[node, lane]].T
    for first, last in reversed(tree.levels):
        node, lane = np.nonzero(tree.used[first:last] & (tree.child_leaf[first:last] < 0))
        below = out[tree.refs[first + node, lane]]
        out[first + node, :3, lane] = below[:, :3].min(axis=2)
        out[first + node, 3:, lane] = below[:, 3:].max(axis=2)
    node, lane = np.nonzero(~tree.used)
    out[node, 3:, lane] = FAR
    return out
