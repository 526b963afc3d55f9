"""Small scenes laid out as the device sees them, and their hits by brute force in NumPy."""

from types import SimpleNamespace

import numpy as np

from irys_ti.kernels import bvh, geometry, layout
from irys_ti.runtime import array, ti, zeros


class Pools:
    """Shapes in the two pools: ``reals`` and ``ints`` once ``finish`` ran."""

    def __init__(self):
        self.real_parts, self.int_parts = [np.zeros(1)], [np.zeros(layout.HEADER_SIZE, np.int64)]
        self.n_reals, self.n_ints = 1, layout.HEADER_SIZE
        self.records, self.prim_shape = [], []

    def add_reals(self, values) -> int:
        values = np.asarray(values, np.float64).reshape(-1)
        self.real_parts.append(values)
        self.n_reals += values.size
        return self.n_reals - values.size

    def add_ints(self, values) -> int:
        values = np.asarray(values, np.int64).reshape(-1)
        self.int_parts.append(values)
        self.n_ints += values.size
        return self.n_ints - values.size

    def shape(self, kind, n_prims, reals, faces=0, flags=0, normals=0, uvs=0) -> np.ndarray:
        """Add a record; returns the numbers of its primitives."""
        record = np.zeros(layout.SHAPE_STRIDE, np.int64)
        first = len(self.prim_shape)
        record[layout.SHAPE_KIND] = geometry.kind_index(kind)
        record[layout.SHAPE_LIGHT] = -1
        record[layout.SHAPE_FLAGS] = flags
        record[layout.SHAPE_FIRST_PRIM], record[layout.SHAPE_N_PRIMS] = first, n_prims
        record[layout.SHAPE_REALS], record[layout.SHAPE_FACES] = reals, faces
        record[layout.SHAPE_NORMALS], record[layout.SHAPE_UVS] = normals, uvs
        self.prim_shape += [len(self.records)] * n_prims
        self.records.append(record)
        return np.arange(first, first + n_prims)

    def mesh(self, vertices, faces, normals=None, uvs=None, flags=0) -> np.ndarray:
        flags |= layout.FLAG_NORMALS if normals is not None else 0
        flags |= layout.FLAG_UVS if uvs is not None else 0
        at_n = self.add_reals(normals) if normals is not None else 0
        at_uv = self.add_reals(uvs) if uvs is not None else 0
        at_faces = self.add_ints(faces)
        return self.shape("mesh", len(faces), self.add_reals(vertices), at_faces, flags, at_n, at_uv)

    def triangles(self, corners, **more) -> np.ndarray:
        return self.mesh(np.reshape(corners, (-1, 3)), np.arange(3 * len(corners)).reshape(-1, 3), **more)

    def records_of(self, kind, arrays, flags=0) -> np.ndarray:
        module = geometry.GEOMETRIES[kind]
        n = len(next(iter(arrays.values())))
        return self.shape(kind, n, self.add_reals(geometry.pack(module, arrays)), flags=flags)

    def finish(self):
        header = self.int_parts[0]
        header[layout.H_PRIMS] = self.add_ints(self.prim_shape or [0])
        header[layout.H_SHAPES] = self.n_ints
        self.add_ints(np.array(self.records or [np.zeros(layout.SHAPE_STRIDE)]))
        self.reals, self.ints = array(np.concatenate(self.real_parts)), array(np.concatenate(self.int_parts))
        return self

    def shape_offset(self, prim) -> int:
        return int(self.int_parts[0][layout.H_SHAPES]) + layout.SHAPE_STRIDE * self.prim_shape[prim]


@ti.kernel
def trace_rays(
    reals: ti.types.ndarray(ndim=1),
    ints: ti.types.ndarray(ndim=1),
    nodes: ti.types.ndarray(ndim=1),
    node_refs: ti.types.ndarray(ndim=1),
    blocks: ti.types.ndarray(ndim=1),
    block_prims: ti.types.ndarray(ndim=1),
    rays: ti.types.ndarray(ndim=1),
    reach: ti.types.ndarray(ndim=1),
    hits: ti.types.ndarray(ndim=1),
    found: ti.types.ndarray(ndim=1),
    n: int,
    any_hit: int,
    kinds: ti.template(),
    width: ti.template(),
):
    for i in range(n):
        o = ti.Vector([rays[6 * i], rays[6 * i + 1], rays[6 * i + 2]])
        d = ti.Vector([rays[6 * i + 3], rays[6 * i + 4], rays[6 * i + 5]])
        stack = ti.Vector.zero(ti.i32, bvh.stack_sizes(width)[0])
        stack_t = ti.Vector.zero(float, bvh.stack_sizes(width)[1])
        t, prim, u, v, inst = bvh.intersect(
            reals, ints, nodes, node_refs, blocks, block_prims, o, d, reach[i], any_hit, kinds, width, stack, stack_t
        )
        hits[3 * i], hits[3 * i + 1], hits[3 * i + 2] = t, u, v
        found[2 * i], found[2 * i + 1] = prim, inst


def trace(pools, accel, o, d, t_max=1e30, any_hit=False) -> SimpleNamespace:
    """t, u, v, prim, inst of rays (n, 3), (n, 3)."""
    n = len(o)
    rays, reach = array(np.c_[o, d]), array(np.broadcast_to(np.asarray(t_max, np.float64), n))
    hits, found = zeros(3 * n), zeros(2 * n, np.int32)
    arrays = accel.device()
    trace_rays(pools.reals, pools.ints, *arrays, rays, reach, hits, found, n, int(any_hit), accel.kinds, accel.width)
    hits, found = hits.to_numpy()[: 3 * n].reshape(n, 3), found.to_numpy()[: 2 * n].reshape(n, 2)
    return SimpleNamespace(t=hits[:, 0], u=hits[:, 1], v=hits[:, 2], prim=found[:, 0], inst=found[:, 1])


def hit_triangles(corners, o, d) -> np.ndarray:
    """(n_rays, n_tris) distances in f64 by Cramer's rule, inf where there is no hit."""
    a, b, c = (np.asarray(corners, np.float64)[:, i] for i in range(3))
    o, d = np.asarray(o, np.float64)[:, None], np.asarray(d, np.float64)[:, None]
    normal = np.cross(b - a, c - a)
    with np.errstate(all="ignore"):
        det = -(d * normal).sum(-1)
        t = ((o - a) * normal).sum(-1) / det
        m = np.cross(o - a, d)
        u = ((c - a) * m).sum(-1) / det
        v = -((b - a) * m).sum(-1) / det
        ok = (u >= 0) & (v >= 0) & (u + v <= 1) & (t > 0) & (det != 0)
    return np.where(ok, t, np.inf)


def hit_spheres(center, radius, o, d) -> np.ndarray:
    """(n_rays, n_spheres) distances in f64, inf where there is no hit."""
    f = np.asarray(o, np.float64)[:, None] - np.asarray(center, np.float64)
    d = np.asarray(d, np.float64)[:, None]
    a, b, c = (d * d).sum(-1), (f * d).sum(-1), (f * f).sum(-1) - np.asarray(radius, np.float64) ** 2
    with np.errstate(all="ignore"):
        root = np.sqrt(b * b - a * c)
        near, far = (-b - root) / a, (-b + root) / a
        t = np.where(near > 0, near, far)
        return np.where(t > 0, t, np.inf)
