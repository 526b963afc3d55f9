"""Lines in which parts cross: found anew whenever something moves, for the pairs that a scene declares (NumPy).

Where two surfaces pass through each other, the picture changes from one to the other along their common line, which no
mesh has as an edge. The line's point moves so that it stays on both planes; along itself it may move as it likes.
"""

from __future__ import annotations

import numpy as np

from irys_ti.kernels import layout

PARALLEL = 1e-9  # sine of the angle of two planes below which they have no common line
MOST_CELLS = 1 << 20  # of the grid that finds near triangles, that large ones may touch


class Crossings:
    """Segments of all declared pairs: records (n, EDGE_STRIDE), ends (n, 2, 3) in the world, movers (n, 2)."""

    def __init__(self, geometry, pairs, shapes_at: int):
        records, ends, movers = [], [], []
        number = {shape.id: i for i, shape in enumerate(geometry.shapes)}
        for a, b in pairs:
            i, j = number[a], number[b]
            one, other = geometry.placed[i], geometry.placed[j]
            faces_a, faces_b, segment = crossing_segments(_corners(one), _corners(other))
            r = np.full((len(segment), layout.EDGE_STRIDE), -1, np.int64)
            r[:, layout.EDGE_KIND] = layout.EDGE_CROSSING
            r[:, layout.EDGE_SHAPE], r[:, layout.EDGE_A] = (shapes_at + k * layout.SHAPE_STRIDE for k in (i, j))
            r[:, layout.EDGE_PRIM], r[:, layout.EDGE_B] = geometry.first[i] + faces_a, geometry.first[j] + faces_b
            records.append(r)
            ends.append(segment)
            movers.append(np.tile([i, j], (len(segment), 1)))
        self.records = np.concatenate([np.zeros((0, layout.EDGE_STRIDE), np.int64), *records])
        self.ends = np.concatenate([np.zeros((0, 2, 3)), *ends])
        self.movers = np.concatenate([np.zeros((0, 2), int), *movers])

    def seen_from(self, camera, moving: np.ndarray) -> np.ndarray:
        """(n,) weights: apparent length, 0 where neither part moves."""
        middle = self.ends.mean(1) - camera.placed()[:3, 3]
        distance2 = np.maximum((middle**2).sum(1), 1e-30)
        weight = np.linalg.norm(np.cross(self.ends[:, 1] - self.ends[:, 0], middle), axis=1) / distance2
        return weight * moving[self.movers].any(1)


def _corners(mesh) -> np.ndarray:
    """(faces, 3, 3) of a mesh as it stands."""
    return np.asarray(mesh.vertices, np.float64)[np.asarray(mesh.faces, np.int64)]


def crossing_segments(a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Where triangles a (n, 3, 3) and b (m, 3, 3) cross: numbers of both, (k,), and the common segments (k, 2, 3).

    Triangles that only touch, or lie in one plane, do not cross (Moller 1997, "A fast triangle-triangle intersection
    test": each is cut by the other's plane, and both cuts lie on one line).
    """
    i, j = _near(a, b)
    p, q = a[i], b[j]
    n_p, n_q = _normal(p), _normal(q)
    s_p = np.einsum("kvc,kc->kv", p - q[:, :1], n_q)  # p's corners above q's plane, and the other way
    s_q = np.einsum("kvc,kc->kv", q - p[:, :1], n_p)
    line = np.cross(n_p, n_q)
    slope = (line * line).sum(-1)
    meet = (slope > PARALLEL**2) & _both_sides(s_p) & _both_sides(s_q)
    i, j, line, slope = i[meet], j[meet], line[meet], slope[meet]
    cut_p, cut_q = _cut(p[meet], s_p[meet]), _cut(q[meet], s_q[meet])
    t_p, t_q = (np.sort(np.einsum("kec,kc->ke", cut, line), axis=1) for cut in (cut_p, cut_q))
    t = np.stack([np.maximum(t_p[:, 0], t_q[:, 0]), np.minimum(t_p[:, 1], t_q[:, 1])], 1)
    base, at = cut_p[:, 0], np.einsum("kc,kc->k", cut_p[:, 0], line)
    ends = base[:, None] + line[:, None] * ((t - at[:, None]) / slope[:, None])[..., None]
    some = t[:, 1] > t[:, 0]
    return i[some], j[some], ends[some]


def _near(a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Numbers of pairs whose boxes meet, each pair once: both sets are dealt to the cells of one grid and joined."""
    none = np.zeros(0, int), np.zeros(0, int)
    if not len(a) or not len(b):
        return none
    box_a, box_b = (a.min(1), a.max(1)), (b.min(1), b.max(1))
    low, high = (np.maximum(box_a[0].min(0), box_b[0].min(0)), np.minimum(box_a[1].max(0), box_b[1].max(0)))
    keep_a, keep_b = (np.flatnonzero(((x[0] <= high) & (x[1] >= low)).all(1)) for x in (box_a, box_b))
    if not len(keep_a) or not len(keep_b):
        return none
    extent = np.concatenate([(x[1] - x[0])[keep].max(1) for x, keep in ((box_a, keep_a), (box_b, keep_b))])
    size = max(2.0 * float(extent.mean()), 1e-300)
    while True:  # a few large triangles among many small ones must not fill memory
        cells = [_cells(x[0][keep], x[1][keep], low, high, size) for x, keep in ((box_a, keep_a), (box_b, keep_b))]
        if all(cell is not None for cell in cells):
            break
        size *= 2.0
    (of_a, key_a), (of_b, key_b) = cells
    order = np.argsort(key_b, kind="stable")
    first, last = (np.searchsorted(key_b[order], key_a, side) for side in ("left", "right"))
    count = last - first
    within = np.arange(count.sum()) - np.repeat(np.cumsum(count) - count, count)
    i, j = keep_a[np.repeat(of_a, count)], keep_b[of_b[order[np.repeat(first, count) + within]]]
    meet = ((box_a[0][i] <= box_b[1][j]) & (box_a[1][i] >= box_b[0][j])).all(1)
    pair = np.unique(i[meet] * len(b) + j[meet])
    return pair // len(b), pair % len(b)


def _cells(low: np.ndarray, high: np.ndarray, start: np.ndarray, end: np.ndarray, size: float):
    """(number, cell) of every cell between start and end that each box touches; None if they are too many."""
    first = np.floor((np.maximum(low, start) - start) / size).astype(np.int64)
    n = np.floor((np.minimum(high, end) - start) / size).astype(np.int64) - first + 1
    count = n.prod(1)
    if count.sum() > MOST_CELLS + 16 * len(low):
        return None
    of = np.repeat(np.arange(len(low)), count)
    k = np.arange(len(of)) - np.repeat(np.cumsum(count) - count, count)
    at = first[of] + np.stack([k % n[of, 0], k // n[of, 0] % n[of, 1], k // (n[of, 0] * n[of, 1])], 1)
    side = np.floor((end - start) / size).astype(np.int64) + 2
    return of, (at[:, 2] * side[1] + at[:, 1]) * side[0] + at[:, 0]


def _normal(p: np.ndarray) -> np.ndarray:
    n = np.cross(p[:, 1] - p[:, 0], p[:, 2] - p[:, 0])
    return n / np.maximum(np.linalg.norm(n, axis=1, keepdims=True), 1e-300)


def _both_sides(s: np.ndarray) -> np.ndarray:
    return (s.min(1) < 0) & (s.max(1) > 0)


def _cut(p: np.ndarray, s: np.ndarray) -> np.ndarray:
    """(k, 2, 3): where a triangle whose corners lie at heights s, of both signs, meets height 0."""
    # The corner that is alone on its side; its two edges are cut.
    positive = s > 0
    alone = np.where(positive.sum(1) == 1, positive.argmax(1), (~positive).argmax(1))
    k = np.arange(len(p))
    out = np.empty((len(p), 2, 3))
    for e, step in enumerate((1, 2)):
        other = (alone + step) % 3
        s0, s1 = s[k, alone], s[k, other]
        out[:, e] = p[k, alone] + (p[k, other] - p[k, alone]) * (s0 / (s0 - s1))[:, None]
    return out
