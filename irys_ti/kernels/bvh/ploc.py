"""Bottom-up clustering of boxes into a binary tree (PLOC), in NumPy.

Meister and Bittner, "Parallel locally-ordered clustering for bounding volume hierarchy construction",
TVCG 2018: boxes lie in Morton order; each cluster looks ``RADIUS`` places to either side for the one with
which it makes the smallest box; pairs that choose each other merge; repeat. The last few clusters get their
tree from the top by the surface area heuristic. The host does it on every
backend: nothing is compiled, and the tree is the same for any number of threads.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .top import split

RADIUS = 8
# Clusters handled at a time, so that their boxes and temporaries stay in a core's cache.
CHUNK = 8192
# Rounds that choose by size: more than 30 million boxes need. A bound on the depth of odd trees.
LAST_ROUND = 48
# When so few clusters are left the tree above them is split from the top instead (top.py), which finds better
# splits: 25 to 45 percent fewer node visits at half a million triangles, for 20 ms.
TOP = 2048
# Of splats more are: large and small ones lie among each other, which neighbours along a curve do not sort out (a seventh
# fewer visits at 90,000, for half a second).
TOP_LANED = 16384


@dataclass
class BinaryTree:
    """n leaves numbered 0 to n - 1 as the boxes were given, then n - 1 inner nodes, children first.

    box: (6, 2n - 1) float32, lower then upper corner, in a unit of the builder's own. left, right: (2n - 1,)
    children, -1 for leaves. rounds: (first, last) ranges of inner nodes whose children lie before ``first``;
    the root is the last node.
    """

    n: int
    box: np.ndarray
    left: np.ndarray
    right: np.ndarray
    rounds: list

    def half_area(self, nodes: np.ndarray) -> np.ndarray:
        """Half the surface area of some nodes' boxes."""
        x, y, z = (self.box[3 + axis, nodes] - self.box[axis, nodes] for axis in range(3))
        return x * y + (x + y) * z


def cluster(boxes: np.ndarray, rounds_by_size: int = LAST_ROUND, top: int = TOP) -> BinaryTree:
    """Binary tree over n >= 1 boxes (6, n).

    rounds_by_size: after so many rounds neighbours along the Morton curve merge whatever their size. top: when
    so few clusters are left the rest is split from the top. (0, 1) gives the smallest depth.
    """
    n = boxes.shape[1]
    low = boxes[:3].min(axis=1, keepdims=True)
    unit = max(float((boxes[3:].max(axis=1, keepdims=True) - low).max()), np.finfo(np.float32).tiny)
    box = np.empty((6, 2 * n - 1), np.float32)
    for half in (slice(0, 3), slice(3, 6)):
        box[half, :n] = (boxes[half] - low) / unit
    left = np.full(2 * n - 1, -1, np.int32)
    right = np.full(2 * n - 1, -1, np.int32)

    ids = morton_order(box[:, :n])
    current = np.ascontiguousarray(box[:, ids])
    rounds, made = [], n
    while ids.size > top:
        at = np.arange(ids.size, dtype=np.int32)
        partner = None
        if len(rounds) < rounds_by_size:
            partner = nearest(current)
            mutual = partner[partner] == at
        if partner is None or np.count_nonzero(mutual) < ids.size // 16:
            partner = at ^ 1
            mutual = partner < ids.size
        first = np.flatnonzero(mutual & (partner > at))
        second = partner[first]
        last = made + first.size
        left[made:last], right[made:last] = ids[first], ids[second]
        for axis in range(3):
            lo, hi = current[axis], current[3 + axis]
            lo[first] = box[axis, made:last] = np.minimum(lo[first], lo[second])
            hi[first] = box[3 + axis, made:last] = np.maximum(hi[first], hi[second])
        ids[first] = np.arange(made, last, dtype=np.int32)
        keep = np.flatnonzero(~mutual | (partner > at))
        current, ids = np.take(current, keep, axis=1), ids[keep]
        rounds.append((made, last))
        made = last
    tree = BinaryTree(n, box, left, right, rounds)
    if ids.size > 1:
        add_top(tree, ids, made)
    return tree


def add_top(tree: BinaryTree, roots: np.ndarray, made: int) -> None:
    """Complete the tree above subtrees ``roots``, from node ``made`` on."""
    count = np.ones(tree.left.size, np.int64)
    for first, last in tree.rounds:
        count[first:last] = count[tree.left[first:last]] + count[tree.right[first:last]]
    begin = made
    for pairs in split(tree.box[:, roots], count[roots]):
        # A pair names its children: subtrees by their place in roots, then the pairs before it.
        ids = np.array([[roots[x] if x < roots.size else begin + x - roots.size for x in pair] for pair in pairs])
        first, made = made, made + len(pairs)
        tree.left[first:made], tree.right[first:made] = ids.T
        tree.box[:3, first:made] = np.minimum(tree.box[:3, ids[:, 0]], tree.box[:3, ids[:, 1]])
        tree.box[3:, first:made] = np.maximum(tree.box[3:, ids[:, 0]], tree.box[3:, ids[:, 1]])
        tree.rounds.append((first, made))


def morton_order(box: np.ndarray) -> np.ndarray:
    """Order (n,) int32 of n boxes in the unit cube along a Morton curve through their centres; ties keep theirs."""
    n = box.shape[1]
    index_bits = max(1, int(n - 1).bit_length())
    bits = min(16, (64 - index_bits) // 3)
    spread = spread_table(bits)
    # The code and the box's number sorted as one key: faster than an argsort, and no ties are left.
    keys = np.arange(n, dtype=np.uint64)
    for axis in range(3):
        centre = box[axis] + box[3 + axis]
        cell = np.minimum(centre * np.float32(1 << (bits - 1)), np.float32((1 << bits) - 1)).astype(np.int32)
        keys |= spread[cell] << np.uint64(axis + index_bits)
    keys.sort()
    return (keys & np.uint64((1 << index_bits) - 1)).astype(np.int32)


def spread_table(bits: int) -> np.ndarray:
    """Every number below 2^bits with two zero bits put after each of its bits."""
    x = np.arange(1 << bits, dtype=np.uint64)
    out = np.zeros_like(x)
    for bit in range(bits):
        out |= ((x >> np.uint64(bit)) & np.uint64(1)) << np.uint64(3 * bit)
    return out


def nearest(box: np.ndarray) -> np.ndarray:
    """For each of m boxes (6, m) the place of the one within RADIUS that makes the smallest union, (m,) int32.

    Areas are compared to 15 bits. Among equal ones the pair with the smallest (place xor place) wins, for both
    of its members alike: so pairs (0, 1), (2, 3) merge in regular grids and among copies of one box, where
    any other rule lets chains of clusters wait for each other.
    """
    m = box.shape[1]
    out = np.empty(m, np.int32)
    ties = tie_patterns(CHUNK + 2 * RADIUS)

    def search(first: int, last: int) -> None:
        a, b = max(0, first - RADIUS), min(m, last + RADIUS)
        part, size = box[:, a:b], b - a
        best = np.full(size, np.iinfo(np.int32).max, np.int32)
        e = np.empty((3, size), np.float32)
        tmp = np.empty(size, np.float32)
        key = np.empty(size, np.int32)
        for s in range(1, min(RADIUS, size - 1) + 1):
            k = size - s
            t = tmp[:k]
            for axis in range(3):
                np.minimum(part[axis, :k], part[axis, s:], out=t)
                np.maximum(part[3 + axis, :k], part[3 + axis, s:], out=e[axis, :k])
                e[axis, :k] -= t
            x, y, z = e[:, :k]
            np.multiply(x, y, out=t)
            x += y
            x *= z
            t += x
            bits = t.view(np.int32)
            bits &= ~0xFF
            bits |= ties[s][a % 16 : a % 16 + k]
            np.minimum(best[:k], bits, out=best[:k])
            np.bitwise_or(bits, 8, out=key[:k])
            np.minimum(best[s:], key[:k], out=best[s:])
        code = best[first - a : last - a] & 15
        step = (code & 7) + 1
        out[first:last] = np.arange(first, last, dtype=np.int32) + np.where(code < 8, step, -step)

    for first in range(0, m, CHUNK):
        search(first, min(m, first + CHUNK))
    return out


def tie_patterns(size: int) -> list:
    """For each shift s: the low byte of a pair's key by the place i of its first member, as int32.

    Bits 4 to 7: (i xor (i + s)), at most 15. Bits 0 to 3: s - 1, plus 8 when seen from the second member.
    """
    i = np.arange(size + 16, dtype=np.int32)
    return [None] + [(np.minimum(i ^ (i + s), 15) << 4 | (s - 1)).astype(np.int32) for s in range(1, RADIUS + 1)]
