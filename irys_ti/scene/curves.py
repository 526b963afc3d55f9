"""Curves: hair, fur, threads; strands of cubic or straight spans with a radius."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from .shapes import Shape
from .transform import points_to

BASES = ("bspline", "catmull-rom", "bezier", "linear")
STYLES = ("round", "ribbon")
RIBBON, FIRST_END, LAST_END = 1, 2, 4  # bits of a piece, as kernels/geometry/curve.py reads them
TURN = 0.3  # radians that a piece may turn: the ray's meeting with it converges in a few steps
ASPECT = 48.0  # length of a piece over its diameter, above which its box holds mostly air
MOST_PIECES = 64  # of one span


@dataclass(eq=False)
class Curves(Shape):
    """m strands.

    points: (n, 3) control points, strand after strand, from root to tip. radii: (n,) above 0, or one number for all.
    offsets: (m + 1,) first point of each strand, then n; None: one strand. basis: "bspline" (uniform cubic: k points
    make k - 3 spans, and the curve ends short of the outer points), "catmull-rom" (through all points), "bezier"
    (3 k + 1 points), "linear". Radii follow the same curve. style: "round" tubes, or "ribbon": flat, turned to whoever
    looks, shaded as the tube.
    splits: pieces that each span is cut into, chosen when they are first needed and kept when the points move.
    """

    points: np.ndarray = field(default_factory=lambda: np.zeros((0, 3)))
    radii: np.ndarray | float = 0.01
    offsets: np.ndarray | None = None
    basis: str = "catmull-rom"
    style: str = "round"
    splits: np.ndarray | None = field(default=None, repr=False)
    kind: str = "curve"

    def __post_init__(self):
        self.points = np.asarray(self.points, np.float64)
        self.radii = np.asarray(self.radii, np.float64)
        n = len(self.points) if self.points.ndim else 0
        if self.radii.ndim == 0:
            self.radii = np.full(n, float(self.radii))
        self.offsets = np.asarray([0, n] if self.offsets is None else self.offsets)
        self._pieces: tuple = ((), {})

    def __len__(self) -> int:
        """Number of strands."""
        return len(self.offsets) - 1

    def pieces(self) -> dict:
        """Arrays of the pieces as kernels/geometry/curve.py's FIELDS name them."""
        key = (self.points, self.radii, self.offsets, self.basis, self.style)
        if len(self._pieces[0]) != len(key) or any(a is not b for a, b in zip(key, self._pieces[0])):
            self._pieces = key, self._cut()
        return self._pieces[1]

    def __getstate__(self) -> dict:
        """Copies cut their pieces themselves."""
        return {**self.__dict__, "_pieces": ((), {})}

    def placed(self, m: np.ndarray, plain: dict) -> Curves:
        """The same strands, in the same pieces, moved by a pose's matrix (4, 4)."""
        self.pieces()
        return replace(self, points=points_to(m, self.points), radii=self.radii * self.scale, **plain)

    def _cut(self) -> dict:
        bezier, strand, place = spans(self.points, self.radii, self.offsets, self.basis)
        count = np.bincount(strand, minlength=len(self))  # spans of each strand
        if self.splits is None or len(self.splits) != len(bezier):
            self.splits = how_many(bezier)
        k = self.splits
        of = np.repeat(np.arange(len(bezier)), k)
        which = np.arange(len(of)) - np.repeat(np.cumsum(k) - k, k)
        low, high = which / k[of], (which + 1) / k[of]
        cut = between(bezier[of], low, high)
        total = count[strand[of]]
        bits = np.where(self.style == "ribbon", RIBBON, 0) + np.zeros(len(of), np.int64)
        if self.style == "round":
            linear = self.basis == "linear"  # whose corners are closed by balls too
            bits[(linear & (which == 0)) | ((place[of] == 0) & (which == 0))] |= FIRST_END
            bits[(linear & (which == k[of] - 1)) | ((place[of] == total - 1) & (which == k[of] - 1))] |= LAST_END
        u = (place[of][:, None] + np.stack([low, high], 1)) / total[:, None]
        return {**{f"p{i}": cut[:, i] for i in range(4)}, "span": u, "reach": reach(cut), "bits": bits.astype(np.float64)}


def least_points(basis: str) -> int:
    """Points that a strand needs."""
    return {"bspline": 4, "bezier": 4}.get(basis, 2)


def spans(points, radii, offsets, basis: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Bezier control points (k, 4, 4) of all spans, x, y, z and radius; (k,) strand of each; (k,) its place there."""
    q = np.concatenate([points, np.asarray(radii, np.float64)[:, None]], 1)
    size = np.diff(offsets)
    n = {"bspline": size - 3, "bezier": (size - 1) // 3}.get(basis, size - 1)
    strand = np.repeat(np.arange(len(size)), n)
    place = np.arange(len(strand)) - np.repeat(np.cumsum(n) - n, n)
    first = np.asarray(offsets)[strand]
    if basis == "bezier":
        return q[(first + 3 * place)[:, None] + np.arange(4)], strand, place
    at = first + place
    if basis == "bspline":
        a, b, c, d = (q[at + i] for i in range(4))
        out = [(a + 4 * b + c) / 6, (2 * b + c) / 3, (b + 2 * c) / 3, (b + 4 * c + d) / 6]
        return np.stack(out, 1), strand, place
    b, c = q[at], q[at + 1]
    if basis == "linear":
        return np.stack([b, (2 * b + c) / 3, (b + 2 * c) / 3, c], 1), strand, place
    # Beyond the ends the strand goes on as it came.
    begins, ends = place == 0, place == n[strand] - 1
    a = np.where(begins[:, None], 2 * b - c, q[np.maximum(at - 1, 0)])
    d = np.where(ends[:, None], 2 * c - b, q[np.minimum(at + 2, len(q) - 1)])
    out = np.stack([b, b + (c - a) / 6, c - (d - b) / 6, c], 1)
    least = 0.25 * np.minimum(b[:, 3], c[:, 3])  # radii must not swing below 0
    out[:, :, 3] = np.maximum(out[:, :, 3], least[:, None])
    return out, strand, place


def controls_adjoint(shape: Curves, d_pieces: np.ndarray, radii: np.ndarray | None = None) -> np.ndarray:
    """(n, k) derivatives by the control points, from those by the points of all pieces (pieces, 4, k).

    radii: the numbers that the pieces were made of, where they are radii, which are kept from swinging below 0.
    """
    shape.pieces()
    k = shape.splits
    of = np.repeat(np.arange(len(k)), k)
    which = np.arange(len(of)) - np.repeat(np.cumsum(k) - k, k)
    cut = between(np.broadcast_to(np.eye(4), (len(of), 4, 4)), which / k[of], (which + 1) / k[of])
    d_span = np.zeros((len(k), 4, d_pieces.shape[2]))
    np.add.at(d_span, of, np.swapaxes(cut, 1, 2) @ d_pieces)
    points, weights = stencils(shape.offsets, shape.basis)
    out = np.zeros((len(shape.points), d_pieces.shape[2]))
    if radii is not None and shape.basis == "catmull-rom":
        b, c = radii[points[:, 1]], radii[points[:, 2]]
        made = np.einsum("sji,si->sj", weights, radii[points])
        held = made < 0.25 * np.minimum(b, c)[:, None]
        np.add.at(out, np.where(b < c, points[:, 1], points[:, 2]), 0.25 * (d_span * held[:, :, None]).sum(1))
        d_span = d_span * ~held[:, :, None]
    np.add.at(out, points, np.swapaxes(weights, 1, 2) @ d_span)
    return out


def stencils(offsets, basis: str) -> tuple[np.ndarray, np.ndarray]:
    """What ``spans`` does: numbers of the points behind each span (k, 4), and weights (k, 4, 4): span = weights @ points."""
    size = np.diff(offsets)
    n = {"bspline": size - 3, "bezier": (size - 1) // 3}.get(basis, size - 1)
    strand = np.repeat(np.arange(len(size)), n)
    place = np.arange(len(strand)) - np.repeat(np.cumsum(n) - n, n)
    first = np.asarray(offsets)[strand] + place * (3 if basis == "bezier" else 1)
    if basis == "bezier":
        w = np.eye(4)
    elif basis == "bspline":
        w = np.array([[1, 4, 1, 0], [0, 4, 2, 0], [0, 2, 4, 0], [0, 1, 4, 1]]) / 6
    elif basis == "linear":
        w = np.array([[0, 3, 0, 0], [0, 2, 1, 0], [0, 1, 2, 0], [0, 0, 3, 0]]) / 3
    else:
        w = np.array([[0, 6, 0, 0], [-1, 6, 1, 0], [0, 1, 6, -1], [0, 0, 6, 0]]) / 6
    w = np.repeat(w[None], len(strand), 0)
    if basis in ("linear", "catmull-rom"):  # the middle two of the four are the span's ends
        last = np.asarray(offsets)[strand + 1] - 1
        points = np.clip(first[:, None] + np.arange(-1, 3), np.asarray(offsets)[strand][:, None], last[:, None])
        if basis == "catmull-rom":
            w[place == 0, 1] = np.array([0, 4, 2, 0]) / 6
            w[place == n[strand] - 1, 2] = np.array([0, 2, 4, 0]) / 6
        return points, w
    return first[:, None] + np.arange(4), w


def how_many(bezier: np.ndarray) -> np.ndarray:
    """(k,) pieces into which to cut spans: by how much they turn, and by their length over their diameter."""
    legs = np.diff(bezier[:, :, :3], axis=1)
    length = np.linalg.norm(legs, axis=2)
    unit = legs / np.maximum(length, 1e-300)[:, :, None]
    usable = length > 1e-9 * length.sum(1, keepdims=True)
    cosine = (unit[:, :-1] * unit[:, 1:]).sum(2)
    turn = np.where(usable[:, :-1] & usable[:, 1:], np.arccos(np.clip(cosine, -1.0, 1.0)), 0.0).sum(1)
    aspect = length.sum(1) / (2.0 * np.maximum(bezier[:, :, 3].mean(1), 1e-300))
    # A piece's turn falls with the number of pieces, its box's surface with the square.
    wanted = np.maximum(turn / TURN, aspect / ASPECT)
    return np.clip(np.ceil(wanted - 1e-9), 1, MOST_PIECES).astype(np.int64)


def between(bezier: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """(k, 4, 4) control points of the part of each curve from parameter low to high (blossoms)."""

    def blossom(a, b, c):
        """The symmetric form of the cubic: de Casteljau's steps at a, b and c."""
        p = bezier
        for t in (a, b, c):
            t = t[:, None, None]
            p = (1 - t) * p[:, :-1] + t * p[:, 1:]
        return p[:, 0]

    return np.stack([blossom(low, low, low), blossom(low, low, high), blossom(low, high, high), blossom(high, high, high)], 1)


def reach(bezier: np.ndarray) -> np.ndarray:
    """(k,) how far tubes reach from their chords: the control points' distance, and the largest radius."""
    p = bezier[:, :, :3]
    chord = p[:, 3] - p[:, 0]
    length2 = np.maximum((chord * chord).sum(1), 1e-300)
    far = np.zeros(len(p))
    for i in (1, 2):
        x = p[:, i] - p[:, 0]
        t = np.clip((x * chord).sum(1) / length2, 0.0, 1.0)
        far = np.maximum(far, np.linalg.norm(x - t[:, None] * chord, axis=1))
    return (far + bezier[:, :, 3].max(1)) * (1.0 + 1e-5)
