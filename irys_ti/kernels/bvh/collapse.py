"""From a binary tree to the wide tree that is traversed: leaves, wide nodes, and their boxes (NumPy)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .layout import FAR, INSTANCE, KIND_BITS, LANES, LEAF_LANED, LEAF_OTHERS, LEAF_TRIANGLES, NOTHING, START_SHIFT
from .ploc import BinaryTree

MESH = 0
MIXED = -1


@dataclass
class WideTree:
    """The topology of one tree over n primitives; boxes are filled by ``node_boxes``.

    n_leaves, n_tri_leaves: leaves of triangles come first. leaf_block: (n_leaves + 1,) first block of each leaf,
    counted within this tree; leaves of instances have none. table: (n_blocks, lanes) which primitive, as the
    builder counts them, each lane of a block holds; unused lanes repeat a triangle, or are -1 for other kinds.
    other_leaf: (n_others,) primitives of the other leaves in leaf order, other_start: where each leaf begins there.
    refs: (n_nodes, width) references, blocks and nodes counted within this tree. child_leaf: (n_nodes, width)
    number of the leaf, -1 for nodes. used: (n_nodes, width) False for children that are not there. levels:
    (first, last) node ranges from the root down. stack_need: entries that a traversal may have to keep.
    """

    n_leaves: int
    n_tri_leaves: int
    leaf_block: np.ndarray
    table: np.ndarray
    other_leaf: np.ndarray
    other_start: np.ndarray
    refs: np.ndarray
    child_leaf: np.ndarray
    used: np.ndarray
    levels: list
    stack_need: int


def empty_tree(width: int) -> WideTree:
    """A root with no children."""
    nothing, unused = np.zeros(0, np.int64), np.full((1, width), -1, np.int64)
    table = np.zeros((0, LANES[width]), np.int32)
    refs = np.full((1, width), ~NOTHING, np.int64)
    return WideTree(0, 0, np.zeros(1, np.int64), table, nothing, nothing, refs, unused, unused >= 0, [(0, 1)], 1)


def collapse(tree: BinaryTree, kinds: np.ndarray, instance: np.ndarray, width: int, laned=()) -> WideTree:
    """Make subtrees of one kind that are small enough leaves, and join the nodes above them.

    kinds: (n,) geometry kind of each primitive. instance: (n,) number of the instance where kind is INSTANCE.
    laned: kinds whose leaves are tested all lanes at a time.
    """
    count, kind = subtree_counts(tree, kinds)
    limit = np.full(1 << KIND_BITS, LEAF_OTHERS[width])
    limit[list(laned)] = LEAF_LANED[width]
    limit[MESH], limit[INSTANCE] = LEAF_TRIANGLES[width], 1
    is_leaf = (kind != MIXED) & (count <= limit[kind])
    children, child_node, levels, stack_need = wide_children(tree, is_leaf, width)
    used = children >= 0
    at_leaf = used & (child_node < 0)

    place = leaf_places(tree, count)
    order = np.empty(tree.n, np.int32)
    order[place[: tree.n]] = np.arange(tree.n, dtype=np.int32)
    leaves = children[at_leaf]
    sorted_leaves = np.lexsort((place[leaves], kind[leaves] != MESH))
    leaf_number = np.empty(leaves.size, np.int64)
    leaf_number[sorted_leaves] = np.arange(leaves.size)
    leaves = leaves[sorted_leaves]
    start, size, kind = place[leaves], count[leaves], kind[leaves].astype(np.int64)
    n_tri_leaves = int(np.count_nonzero(kind == MESH))

    n_blocks = -(-size // LANES[width])
    n_blocks[kind == INSTANCE] = 0
    leaf_block = np.concatenate([[0], np.cumsum(n_blocks, dtype=np.int64)])
    first = leaf_block[:-1].copy()
    lone = kind == INSTANCE
    first[lone] = instance[order[start[lone]]]
    code = first << START_SHIFT | np.maximum(n_blocks - 1, 0) << KIND_BITS | kind

    refs = child_node
    refs[at_leaf] = ~code[leaf_number]
    refs = np.where(used, refs, refs[:, :1])
    child_leaf = np.full(children.shape, -1, np.int64)
    child_leaf[at_leaf] = leaf_number
    table = lane_table(order, start, size, leaf_block, kind == MESH, LANES[width])
    other_size = size[n_tri_leaves:]
    other_start = np.cumsum(other_size) - other_size
    other_leaf = order[np.repeat(start[n_tri_leaves:] - other_start, other_size) + np.arange(other_size.sum())]
    return WideTree(
        n_leaves=leaves.size,
        n_tri_leaves=n_tri_leaves,
        leaf_block=leaf_block,
        table=table,
        other_leaf=other_leaf,
        other_start=other_start,
        refs=refs,
        child_leaf=child_leaf,
        used=used,
        levels=levels,
        stack_need=stack_need,
    )


def lane_table(order, start, size, leaf_block, repeats, lanes: int) -> np.ndarray:
    """WideTree.table: leaves' primitives dealt to the lanes of their blocks."""
    of_leaf = np.repeat(np.arange(start.size, dtype=np.int32), np.diff(leaf_block))
    before = ((np.arange(of_leaf.size) - leaf_block[of_leaf]) * lanes).astype(np.int32)
    within = before[:, None] + np.arange(lanes, dtype=np.int32)
    last = (size[of_leaf] - 1).astype(np.int32)[:, None]
    table = order[start[of_leaf].astype(np.int32)[:, None] + np.minimum(within, last)]
    table[(within > last) & ~repeats[of_leaf][:, None]] = -1
    return table


def subtree_counts(tree: BinaryTree, kinds: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """For every node the number of primitives below it, and their kind or MIXED."""
    count = np.ones(tree.left.size, np.int32)
    kind = np.empty(tree.left.size, np.int8)
    kind[: tree.n] = kinds
    for first, last in tree.rounds:
        left, right = tree.left[first:last], tree.right[first:last]
        count[first:last] = count[left] + count[right]
        kind[first:last] = np.where(kind[left] == kind[right], kind[left], MIXED)
    return count, kind


def leaf_places(tree: BinaryTree, count: np.ndarray) -> np.ndarray:
    """For every node the place of its first primitive in depth-first order."""
    place = np.zeros(tree.left.size, np.int32)
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
    area = np.full(tree.left.size, -1.0, np.float32)
    inner = np.flatnonzero(~is_leaf)
    area[inner] = tree.half_area(inner)
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


def node_boxes(tree: WideTree, leaf_boxes: np.ndarray) -> np.ndarray:
    """Children's boxes of every node, (n_nodes, 6, width), from the leaves' (6, n_leaves).

    Unused children get a box that no ray meets.
    """
    n_nodes, width = tree.refs.shape
    out = np.empty((n_nodes, 6, width), leaf_boxes.dtype)
    out[:, :3], out[:, 3:] = FAR, -FAR
    node, lane = np.nonzero(tree.child_leaf >= 0)
    out[node, :, lane] = leaf_boxes.T[tree.child_leaf[node, lane]]
    inner = tree.used & (tree.child_leaf < 0)
    for first, last in reversed(tree.levels):
        node, lane = np.nonzero(inner[first:last])
        below = out[tree.refs[first + node, lane]]
        out[first + node, :3, lane] = halve(np.minimum, below[:, :3])
        out[first + node, 3:, lane] = halve(np.maximum, below[:, 3:])
    node, lane = np.nonzero(~tree.used)
    out[node, 3:, lane] = FAR
    return out


def halve(pick, x: np.ndarray) -> np.ndarray:
    """Reduce the last axis, a power of two long, by halves: NumPy's own reduction is slow on short axes."""
    while x.shape[-1] > 1:
        half = x.shape[-1] // 2
        x = pick(x[..., :half], x[..., half:])
    return x[..., 0]
