"""Edges of a mesh that can be outlines (NumPy).

Vertices at the same place are one vertex here, whatever their texture coordinates, so that a seam is no edge. An edge
between two coplanar faces is none either. What remains, a crease or a rim, may be an outline; on a mesh with smooth
normals a crease is one only where one of its faces turns away.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from irys_ti.kernels import layout
from irys_ti.scene import Mesh

FLAT = 1e-6  # sine of the angle between two faces below which they are one plane
WELD = 1e-7  # of a mesh's size: vertices nearer than this are the same


@dataclass
class MeshEdges:
    """Edges of one mesh. ends: (n, 2) vertex numbers. face: (n,) one of its faces. opposite: (n, 4) third vertices of
    the faces that share it, -1 for none. smooth: (n,) bool, the shading normals agree across it."""

    ends: np.ndarray
    face: np.ndarray
    opposite: np.ndarray
    smooth: np.ndarray

    def __len__(self):
        return len(self.ends)


def weld(vertices: np.ndarray) -> np.ndarray:
    """(n,) number of the first vertex at each vertex's place."""
    v = np.asarray(vertices, np.float64)
    if not len(v):
        return np.zeros(0, np.int64)
    size = max(float(np.ptp(v, axis=0).max()), 1e-30)
    _, first, inverse = np.unique(np.round((v - v.min(0)) / (WELD * size)).astype(np.int64), axis=0, return_index=True, return_inverse=True)
    return first[inverse.reshape(-1)]


def find_edges(mesh: Mesh) -> MeshEdges:
    """The creases and rims of a mesh. Faces without area have no edges of their own."""
    v, faces = np.asarray(mesh.vertices, np.float64), np.asarray(mesh.faces, np.int64)
    same = weld(v)
    welded = same[faces] if len(faces) else np.zeros((0, 3), np.int64)
    corners = v[welded]
    normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    length = np.linalg.norm(normal, axis=1)
    longest = max(float(np.abs(corners - corners[:, :1]).max()), 1e-30) if len(faces) else 1.0
    solid = np.flatnonzero(length > 1e-14 * longest**2)
    normal = normal[solid] / length[solid, None]
    a = welded[solid].reshape(-1)
    b = np.roll(welded[solid], -1, 1).reshape(-1)
    c = np.roll(faces[solid], -2, 1).reshape(-1)
    side_a, side_b = faces[solid].reshape(-1), np.roll(faces[solid], -1, 1).reshape(-1)  # unwelded: they have normals
    side_face = np.repeat(np.arange(len(solid)), 3)
    low, high = np.minimum(a, b), np.maximum(a, b)
    order = np.lexsort((side_face, high, low))
    low, high = low[order], high[order]
    starts = np.flatnonzero(np.r_[True, (low[1:] != low[:-1]) | (high[1:] != high[:-1])]) if len(low) else np.zeros(0, int)
    count = np.diff(np.r_[starts, len(low)])
    n = len(starts)
    opposite = np.full((n, layout.MAX_FACES), -1, np.int64)
    sides = np.full((n, layout.MAX_FACES), -1, np.int64)
    for k in range(layout.MAX_FACES):
        has = count > k
        opposite[has, k] = c[order[starts[has] + k]]
        sides[has, k] = order[starts[has] + k]
    for i in np.flatnonzero(count > layout.MAX_FACES):
        at = order[starts[i] : starts[i] + count[i]]
        kept = _span(v[c[at]] - v[low[starts[i]]], v[high[starts[i]]] - v[low[starts[i]]])
        opposite[i] = -1
        opposite[i, : len(kept)] = c[at[kept]]
    first = sides[:, 0] if n else np.zeros(0, np.int64)
    pair = count == 2
    flat, smooth = np.zeros(n, bool), np.zeros(n, bool)
    if n:
        i, j = side_face[sides[pair, 0]], side_face[sides[pair, 1]]
        # Folded back onto itself is no plane: the third vertices must lie on different sides.
        flat[pair] = (np.linalg.norm(np.cross(normal[i], normal[j]), axis=1) < FLAT) & (
            _away(v, same, low[starts][pair], high[starts][pair], opposite[pair, 0], opposite[pair, 1])
        )
        if mesh.normals is not None:
            smooth[pair] = _same_normals(mesh, same, sides[pair], side_a, side_b)
    keep = ~flat
    return MeshEdges(
        np.c_[side_a[first], side_b[first]][keep].reshape(-1, 2), solid[side_face[first]][keep] if n else first,
        opposite[keep], smooth[keep],
    )  # fmt: skip


def _span(across: np.ndarray, along: np.ndarray) -> np.ndarray:
    """Four at most of the faces that share an edge, which lie on one side of a plane through it where all of them do.

    across: (n, 3) from the edge to each face's third vertex. along: (3,) the edge. Where the widest gap between the faces
    is half a turn or more, the two beside it; else steps round the edge, each as far as goes below half a turn: two of
    them are more than half a turn.
    """
    x = across[0] - along * (across[0] @ along) / max(along @ along, 1e-300)
    angle = np.arctan2(across @ np.cross(along, x) / max(np.linalg.norm(along), 1e-150), across @ x) % (2 * np.pi)
    order = np.argsort(angle, kind="stable")
    gap = np.diff(np.r_[angle[order], angle[order[0]] + 2 * np.pi])
    widest = int(gap.argmax())
    if gap[widest] >= np.pi:
        return np.array([order[widest], order[(widest + 1) % len(order)]])
    kept = [order[0]]
    for _ in range(layout.MAX_FACES - 1):
        turn = (angle - angle[kept[-1]]) % (2 * np.pi)
        kept.append(np.where(turn < np.pi, turn, -1.0).argmax())
    return np.array(kept)


def _away(v, same, a, b, c, d) -> np.ndarray:
    """Whether c and d lie on different sides of the line ab, in their common plane."""
    t = v[b] - v[a]
    p, q = v[same[c]] - v[a], v[same[d]] - v[a]
    t2 = np.maximum((t * t).sum(1, keepdims=True), 1e-300)
    p, q = p - t * ((p * t).sum(1, keepdims=True) / t2), q - t * ((q * t).sum(1, keepdims=True) / t2)
    return (p * q).sum(1) < 0


def _same_normals(mesh: Mesh, same, sides, side_a, side_b) -> np.ndarray:
    """Whether the shading normals at both ends are the same seen from either face."""
    n = np.asarray(mesh.normals, np.float64)
    out = np.ones(len(sides), bool)
    for corner in ("a", "b"):
        mine = side_a[sides[:, 0]] if corner == "a" else side_b[sides[:, 0]]
        other_a, other_b = side_a[sides[:, 1]], side_b[sides[:, 1]]
        other = np.where(same[other_a] == same[mine], other_a, other_b)
        out &= np.abs(n[mine] - n[other]).max(1) < 1e-6
    return out
