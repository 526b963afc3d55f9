"""Triangle meshes: vertices in ``reals``, three vertex numbers per triangle in ``ints``.

The traversal has its own triangle test on blocks of triangles (kernels/bvh); ``intersect`` is not used.
"""

import numpy as np

from irys_ti.kernels.layout import (
    FLAG_FLIP,
    FLAG_NORMALS,
    FLAG_UVS,
    SHAPE_FACES,
    SHAPE_FIRST_PRIM,
    SHAPE_FLAGS,
    SHAPE_NORMALS,
    SHAPE_REALS,
    SHAPE_UVS,
)
from irys_ti.runtime import ti

from .frame import perpendicular, unit_or

FIELDS = {"vertices": (3,), "faces": (3,)}


@ti.func
def vec3(reals: ti.template(), at):
    return ti.Vector([reals[at], reals[at + 1], reals[at + 2]])


@ti.func
def vertex_numbers(ints: ti.template(), shape, prim):
    """The three vertex numbers of a triangle, counted within its shape."""
    at = ints[shape + SHAPE_FACES] + 3 * (prim - ints[shape + SHAPE_FIRST_PRIM])
    return ints[at], ints[at + 1], ints[at + 2]


@ti.func
def vertices_of(reals: ti.template(), ints: ti.template(), shape, prim):
    """The three corners of a triangle."""
    i0, i1, i2 = vertex_numbers(ints, shape, prim)
    at = ints[shape + SHAPE_REALS]
    return vec3(reals, at + 3 * i0), vec3(reals, at + 3 * i1), vec3(reals, at + 3 * i2)


@ti.func
def corner_uvs(reals: ti.template(), ints: ti.template(), shape, prim):
    """uv of a triangle's first corner, and what the other two add to it."""
    i0, i1, i2 = vertex_numbers(ints, shape, prim)
    at = ints[shape + SHAPE_UVS]
    a = ti.Vector([reals[at + 2 * i0], reals[at + 2 * i0 + 1]])
    b = ti.Vector([reals[at + 2 * i1], reals[at + 2 * i1 + 1]])
    c = ti.Vector([reals[at + 2 * i2], reals[at + 2 * i2 + 1]])
    return a, b - a, c - a


@ti.func
def facing(ints: ti.template(), shape):
    """-1 where the shape's normals are flipped, else 1."""
    return ti.select((ints[shape + SHAPE_FLAGS] & FLAG_FLIP) != 0, -1.0, 1.0)


@ti.func
def intersect(reals: ti.template(), base, o, d, t_max):
    """Never a hit: triangles are met in blocks."""
    return -1.0, 0.0, 0.0


@ti.func
def surface_at(reals: ti.template(), ints: ti.template(), shape, prim, o, d, t, u, v):
    """p, ng, ns, uv and dp_du of the point with barycentrics (1 - u - v, u, v).

    A triangle without area gets the normal that faces the ray. Without texture coordinates uv is (u, v).
    """
    i0, i1, i2 = vertex_numbers(ints, shape, prim)
    at = ints[shape + SHAPE_REALS]
    v0, v1, v2 = vec3(reals, at + 3 * i0), vec3(reals, at + 3 * i1), vec3(reals, at + 3 * i2)
    e1, e2 = v1 - v0, v2 - v0
    p = v0 + u * e1 + v * e2
    side = facing(ints, shape)
    ng = side * unit_or(e1.cross(e2), side * unit_or(-d, ti.Vector([0.0, 0.0, 1.0])))

    flags = ints[shape + SHAPE_FLAGS]
    ns = ng
    if (flags & FLAG_NORMALS) != 0:
        at_n = ints[shape + SHAPE_NORMALS]
        n0, n1, n2 = vec3(reals, at_n + 3 * i0), vec3(reals, at_n + 3 * i1), vec3(reals, at_n + 3 * i2)
        ns = side * unit_or((1.0 - u - v) * n0 + u * n1 + v * n2, side * ng)

    uv = ti.Vector([u, v])
    dp_du = e1
    if (flags & FLAG_UVS) != 0:
        a, b, c = corner_uvs(reals, ints, shape, prim)
        uv = a + u * b + v * c
        det = b[0] * c[1] - b[1] * c[0]
        ok = ti.abs(det) > 1e-30
        dp_du = ti.select(ok, (c[1] * e1 - b[1] * e2) / ti.select(ok, det, 1.0), e1)
    return p, ng, ns, uv, perpendicular(dp_du, ng)


@ti.func
def sample_area(reals: ti.template(), ints: ti.template(), shape, prim, ref, u):
    """A uniform point; density 1 / area, and 0 (no sample) for a triangle without area."""
    v0, v1, v2 = vertices_of(reals, ints, shape, prim)
    root = ti.sqrt(u[0])
    b1, b2 = root * (1.0 - u[1]), root * u[1]
    p = v0 + b1 * (v1 - v0) + b2 * (v2 - v0)
    n = facing(ints, shape) * unit_or((v1 - v0).cross(v2 - v0), ti.Vector([0.0, 0.0, 1.0]))
    uv = ti.Vector([b1, b2])
    if (ints[shape + SHAPE_FLAGS] & FLAG_UVS) != 0:
        a, b, c = corner_uvs(reals, ints, shape, prim)
        uv = a + b1 * b + b2 * c
    return p, n, uv, pdf_area(reals, ints, shape, prim, ref, p, n)


@ti.func
def pdf_area(reals: ti.template(), ints: ti.template(), shape, prim, ref, p, n):
    """1 / area, 0 where the triangle has none."""
    v0, v1, v2 = vertices_of(reals, ints, shape, prim)
    twice = (v1 - v0).cross(v2 - v0).norm()
    ok = twice > 1e-30
    return ti.select(ok, 2.0 / ti.select(ok, twice, 1.0), 0.0)


def bounds(arrays: dict) -> np.ndarray:
    """Boxes of the triangles: vertices (V, 3) and faces (n, 3) to (n, 6)."""
    corners = np.asarray(arrays["vertices"])[np.asarray(arrays["faces"])]
    return np.concatenate([corners.min(axis=1), corners.max(axis=1)], axis=1)


def area(arrays: dict) -> np.ndarray:
    """Areas of the triangles (n,)."""
    corners = np.asarray(arrays["vertices"], np.float64)[np.asarray(arrays["faces"])]
    cross = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    return 0.5 * np.linalg.norm(cross, axis=1)
