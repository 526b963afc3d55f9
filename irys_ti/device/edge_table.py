"""All edges of a scene that can be outlines, where they are now, and their chances to be sampled (NumPy).

What a mesh's edges have of their own is worked out once, in the mesh's space; when a part moves, only its transform
changes, and the eye goes to the part rather than the part to the eye.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from irys_ti import runtime
from irys_ti.errors import SceneError
from irys_ti.kernels import layout
from irys_ti.scene import Curves, Mesh, Sphere, origin_of
from irys_ti.scene.pose import is_posed, pose_matrix

from .edges import MeshEdges, find_edges
from .tube_edges import Tubes

MOST = 1 << 24  # edges; their numbers travel as f32


def _columns(p: np.ndarray) -> tuple[np.ndarray, ...]:
    """x, y, z of points (n, 3), each (n,) and contiguous. Sums over three are written out below: a BLAS may order them by
    its thread count."""
    return tuple(np.ascontiguousarray(p[:, i]) for i in range(3))


def _dot(p, q):
    return p[0] * q[0] + p[1] * q[1] + p[2] * q[2]


def _cross(p, q):
    return p[1] * q[2] - p[2] * q[1], p[2] * q[0] - p[0] * q[2], p[0] * q[1] - p[1] * q[0]


class Lines:
    """Edges of one mesh, in its own space.

    length: (n,). low, high: (3,) corners of the mesh's box.
    """

    def __init__(self, edges: MeshEdges, vertices: np.ndarray):
        self.edges, v = edges, np.asarray(vertices, np.float64)
        self.a, self.b = _columns(v[edges.ends[:, 0]]), _columns(v[edges.ends[:, 1]])
        self.along = tuple(b - a for a, b in zip(self.a, self.b))
        self.middle = tuple(0.5 * (a + b) for a, b in zip(self.a, self.b))
        self.length = np.sqrt(_dot(self.along, self.along))
        self.low, self.high = (v.min(0), v.max(0)) if len(v) else (np.zeros(3), np.zeros(3))
        # A crease between smooth normals is an outline only where one of its two faces turns away.
        self.smooth = np.flatnonzero(edges.smooth)
        corner, along = tuple(a[self.smooth] for a in self.a), tuple(t[self.smooth] for t in self.along)
        self.normals, self.heights = [], []
        for k in range(2):
            third = _columns(v[edges.opposite[self.smooth, k]])
            normal = _cross(tuple(c - a for c, a in zip(third, corner)), along)
            self.normals.append(normal)
            self.heights.append(_dot(normal, corner))

    def __len__(self) -> int:
        return len(self.length)

    def records(self, first: int) -> np.ndarray:
        """(n, EDGE_STRIDE) what the device knows of them. first: number of the shape's first primitive."""
        edges, r = self.edges, np.full((len(self), layout.EDGE_STRIDE), -1, np.int32)
        r[:, layout.EDGE_KIND], r[:, layout.EDGE_PRIM] = layout.EDGE_LINE, first + edges.face
        r[:, layout.EDGE_A : layout.EDGE_A + 2] = edges.ends
        r[:, layout.EDGE_OPPOSITE : layout.EDGE_OPPOSITE + 4] = edges.opposite
        return r

    def seen_from(self, eye: np.ndarray, sides: np.ndarray) -> np.ndarray:
        """(n,) apparent lengths from a point in this space, 0 for what is no outline or is out of view.

        sides: (k, 4) half spaces beyond which nothing is seen: an edge with both ends at n . p + c > 0 is out of view.
        """
        may = np.ones(len(self), bool)
        if len(self.smooth):
            one, other = (_dot(n, eye) - h for n, h in zip(self.normals, self.heights))
            may[self.smooth] = (np.minimum(one, other) >= 0) | (np.maximum(one, other) <= 0)
        corners = np.array(np.meshgrid(*zip(self.low, self.high), indexing="ij")).reshape(3, -1)
        for *n, c in sides:
            beyond = _dot(n, corners) + c > 0
            if beyond.all():
                return np.zeros(len(self))
            if beyond.any():
                may &= ~((_dot(n, self.a) + c > 0) & (_dot(n, self.b) + c > 0))
        at = np.flatnonzero(may)
        to = tuple(m[at] - e for m, e in zip(self.middle, eye))
        side = _cross(tuple(t[at] for t in self.along), to)
        out = np.zeros(len(self))
        out[at] = np.sqrt(_dot(side, side)) / np.maximum(_dot(to, to), 1e-30)
        return out


@dataclass
class Ball:
    """A sphere's outline, in its own space."""

    center: np.ndarray
    radius: float

    def __post_init__(self):
        self.length = np.array([2 * np.pi * self.radius])

    def __len__(self) -> int:
        return 1

    def records(self, first: int) -> np.ndarray:
        """(1, EDGE_STRIDE)"""
        r = np.full((1, layout.EDGE_STRIDE), -1, np.int32)
        r[:, layout.EDGE_KIND], r[:, layout.EDGE_PRIM] = layout.EDGE_SPHERE, first
        return r

    def seen_from(self, eye: np.ndarray, sides: np.ndarray) -> np.ndarray:
        """(1,) apparent length, 0 from within."""
        far = float(np.linalg.norm(self.center - eye))
        return np.array([2 * np.pi * self.radius / max(far, 1e-30) if far > self.radius else 0.0])


@dataclass
class Part:
    """Edges of one shape as one instance has them. mover: number of what carries them. m: (4, 4) to the world."""

    lines: Lines | Ball | Tubes
    mover: int
    records: np.ndarray
    m: np.ndarray = field(default_factory=lambda: np.eye(4))


class EdgeTable:
    """All candidates of a scene in the order of their records on the device.

    version: goes up with every move. len: how many there are.
    """

    def __init__(self, geometry, shapes_at: int):
        self.geometry, self.shapes_at = geometry, shapes_at
        self.parts: list[Part] = []
        self.version = 0
        self._lines: dict[int, tuple] = {}  # shape -> (what they were found in, its edges)
        self._where = self._records = None
        self._kept: dict[str, tuple] = {}
        runtime.own(self)

    def __len__(self) -> int:
        return sum(len(p.lines) for p in self.parts)

    def update(self) -> None:
        """Bring transforms up to date; meshes whose vertices changed are searched again."""
        g = self.geometry
        where = [_where(s) for s in g.shapes], [i.placed().tobytes() for i in g.instances]
        if where == self._where:
            return
        self.version += 1
        old, parts = self.parts, []
        for i, shape in enumerate(g.shapes):
            if not isinstance(shape, (Curves, Mesh, Sphere)):
                continue
            pose = pose_matrix(shape, origin_of(shape)) if is_posed(shape) else np.eye(4)
            for inst in [-1] if shape.group is None else [k for k, x in enumerate(g.instances) if x.group == shape.group]:
                lines = self._lines_of(i, shape)
                same = len(old) > len(parts) and old[len(parts)].lines is lines
                part = old[len(parts)] if same else self._part(i, inst, lines)
                part.m = pose if inst < 0 else g.instances[inst].placed() @ pose
                parts.append(part)
        if len(parts) != len(old) or any(a is not b for a, b in zip(parts, old)):
            self._records = None
        self.parts, self._where = parts, where
        if len(self) >= MOST:
            raise SceneError("edges", f"{len(self)} edges", "at most 16 million can be sampled")

    def _lines_of(self, i: int, shape: Curves | Mesh | Sphere) -> Lines | Ball | Tubes:
        if isinstance(shape, Sphere):
            key = (*map(float, shape.center), float(shape.radius))
            if i not in self._lines or self._lines[i][0] != key:
                self._lines[i] = key, Ball(np.asarray(shape.center, np.float64), float(shape.radius))
        elif isinstance(shape, Curves):
            key = shape.points, shape.radii, shape.offsets, shape.basis
            if i not in self._lines or any(a is not b for a, b in zip(self._lines[i][0], key)):
                self._lines[i] = key, Tubes(shape)
        else:
            key = shape.vertices, shape.faces, shape.normals  # kept, so that no other array takes their identity
            if i not in self._lines or any(a is not b for a, b in zip(self._lines[i][0], key)):
                self._lines[i] = key, Lines(find_edges(shape), shape.vertices)
        return self._lines[i][1]

    def _part(self, i: int, inst: int, lines: Lines | Ball | Tubes) -> Part:
        r = lines.records(int(self.geometry.first[i]))
        r[:, layout.EDGE_SHAPE], r[:, layout.EDGE_INST] = self.shapes_at + i * layout.SHAPE_STRIDE, inst
        return Part(lines, i if inst < 0 else len(self.geometry.shapes) + inst, r)

    # -- on the device -------------------------------------------------------------------------------------------

    def records(self, more: np.ndarray):
        """All records as a Taichi array, with ``more`` (n, EDGE_STRIDE) behind them."""
        if self._records is None or self._records[0] or len(more):
            none = np.zeros((0, layout.EDGE_STRIDE), np.int32)
            every = np.concatenate([none, *(p.records for p in self.parts), more])
            self._records = len(more), runtime.array(every.reshape(-1), np.int32)
        return self._records[1]

    def kept(self, name: str, key: tuple, make):
        """What ``make()`` gives, kept while nothing moves and ``key`` stays. name: which of them."""
        key = (self.version, *key)
        if name not in self._kept or self._kept[name][0] != key:
            self._kept[name] = key, make()
        return self._kept[name][1]

    def release(self) -> None:
        """Drop the device arrays."""
        self._records = None
        self._kept.clear()

    # -- chances -------------------------------------------------------------------------------------------------

    def seen_from(self, camera, moving: np.ndarray) -> np.ndarray:
        """(n,) weights for the camera's outlines: apparent length of what may be one, 0 for what does not move."""
        eye, sides, out = camera.placed(), beyond(camera), [np.zeros(0)]
        for part in self.parts:
            if not moving[part.mover]:
                out.append(np.zeros(len(part.lines)))
                continue
            linear, offset = part.m[:3, :3], part.m[:3, 3] - eye[:3, 3]
            to_eye = np.linalg.solve(linear, -offset)
            there = sides @ eye[:3, :3].T  # normals in the world, then in the part's own space
            out.append(part.lines.seen_from(to_eye, np.c_[there @ linear, there @ offset]) * moving[part.mover])
        return np.concatenate(out)

    def throwing(self, moving: np.ndarray) -> np.ndarray:
        """(n,) weights of edges as ones that throw shadows.

        Everything's shadows move with the surface they fall on; edges that move themselves count most.
        """
        lengths = [np.zeros(0), *(p.lines.length * np.cbrt(abs(np.linalg.det(p.m[:3, :3]))) for p in self.parts)]
        own = np.concatenate([lengths[0], *(x * moving[p.mover] for x, p in zip(lengths[1:], self.parts))])
        weights = np.concatenate(lengths)
        return 0.5 * weights / weights.sum() + 0.5 * own / own.sum() if own.sum() > 0 else weights


def _where(shape) -> tuple:
    """What moves the edges of a shape: arrays by identity, numbers by value."""
    if not isinstance(shape, (Curves, Mesh, Sphere)):
        return ()
    if isinstance(shape, Mesh):
        own = id(shape.vertices), id(shape.faces), id(shape.normals)
    elif isinstance(shape, Curves):
        own = id(shape.points), id(shape.radii), id(shape.offsets), shape.basis
    else:
        own = *map(float, shape.center), float(shape.radius)
    origin = () if shape.origin is None else tuple(map(float, shape.origin))
    return (*own, *map(float, shape.translation), *map(float, shape.rotation), float(shape.scale), origin)


def beyond(camera) -> np.ndarray:
    """(5, 3) normals in the camera's space: what has n . p > 0 is behind it, or beyond a side of the film by three pixels."""
    tan = np.tan(np.deg2rad(camera.fov_x()) / 2)
    x, y, w, h = camera.film.window
    film, pp = camera.film, camera.principal_point
    out = [[0.0, 0.0, -1.0]]
    for axis, (low, high, full, t) in enumerate(
        ((x - 3, x + w + 3, film.width, tan), (y - 3, y + h + 3, film.height, tan * film.height / film.width))
    ):
        # film = full (pp + (1 - q / t) / 2) with q = p[axis] / p[2]: linear in the point.
        for bound, sign in ((low, 1.0), (high, -1.0)):
            n = [0.0, 0.0, -sign * t * (1 - 2 * (bound / full - pp[axis]))]
            n[axis] = sign
            out.append(n)
    return np.array(out)


def table_of(weights: np.ndarray) -> np.ndarray:
    """Cumulative probabilities (n + 1,); zeros where nothing has weight."""
    total = weights.sum()
    out = np.r_[0.0, np.cumsum(weights)] / (total if total > 0 else 1.0)
    out[-1] = min(out[-1], 1.0)
    return out
