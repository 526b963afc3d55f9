"""The tree above a few boxes, split from the top by the surface area heuristic (NumPy)."""

from __future__ import annotations

import numpy as np


def split(boxes: np.ndarray, count: np.ndarray) -> list:
    """Pairs that make a binary tree over m >= 2 boxes (6, m) with ``count`` (m,) primitives in each.

    Every set of boxes is sorted along each axis by its centres and cut where area times count, summed over
    both sides, is smallest (full sweep; Wald, "On fast construction of SAH-based bounding volume hierarchies",
    2007). Returns lists of (left, right), deepest first; a number below m is a box, m + i is the i-th pair of
    all lists.
    """
    sets = [np.arange(boxes.shape[1])]
    levels = []  # per level: for each of its sets the two sets it is cut into
    while sets:
        levels.append(cut_all(boxes, count, sets))
        sets = [side for pair in levels[-1] for side in pair if side.size > 1]
    out, below, number = [], [], boxes.shape[1]
    for pairs in reversed(levels):
        deeper = iter(below)  # numbers of the sets that the next level cuts
        out.append([tuple(int(side[0]) if side.size == 1 else next(deeper) for side in pair) for pair in pairs])
        below = range(number, number + len(pairs))
        number += len(pairs)
    return out


def cut_all(boxes: np.ndarray, count: np.ndarray, sets: list) -> list:
    """Both sides of every set; sets of one size are cut together, since most sets of a level are small."""
    out: list = [None] * len(sets)
    by_size: dict = {}
    for i, members in enumerate(sets):
        by_size.setdefault(members.size, []).append(i)
    for size, numbers in by_size.items():
        members = np.array([sets[i] for i in numbers])
        if size == 2:
            order, at = members, np.ones(len(numbers), np.int64)
        else:
            order, at = cut(boxes[:, members], count[members])
            order = np.take_along_axis(members, order, axis=1)
        for i, row, end in zip(numbers, order, at, strict=True):
            out[i] = row[:end], row[end:]
    return out


def cut(boxes: np.ndarray, count: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """For k sets of s boxes (6, k, s): their order (k, s) along the best axis, and how many (k,) go left."""
    k, s = count.shape
    total = count.sum(axis=1, keepdims=True)
    orders = np.argsort(boxes[:3] + boxes[3:], axis=2, kind="stable")
    cost = np.empty((k, 3, s - 1))
    for axis in range(3):
        ordered = np.take_along_axis(boxes, orders[axis][None], axis=2)
        n = np.take_along_axis(count, orders[axis], axis=1)
        n_left = np.cumsum(n[:, :-1], axis=1)
        areas = half_areas(ordered)
        left, right = areas[:, :-1] * n_left, half_areas(ordered[:, :, :0:-1])[:, ::-1] * (total - n_left)
        whole = np.maximum(areas[:, -1:], np.finfo(np.float32).tiny) * total
        # The last term settles ties, as among copies of one box, for sides of equal size.
        cost[:, axis] = (left + right) / whole + 1e-5 * np.abs(2 * n_left - total) / total
    axis, at = np.divmod(np.argmin(cost.reshape(k, -1), axis=1), s - 1)
    return orders[axis, np.arange(k)], at + 1


def half_areas(boxes: np.ndarray) -> np.ndarray:
    """Half the area of the box around the first, the first two, ... boxes (6, k, s) of each set."""
    x, y, z = np.maximum.accumulate(boxes[3:], axis=2) - np.minimum.accumulate(boxes[:3], axis=2)
    return x * y + (x + y) * z
