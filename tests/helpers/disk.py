"""A geometry kind from outside the package: disks with a centre, a unit normal and a radius."""

import numpy as np

from irys_ti.kernels.layout import SHAPE_FIRST_PRIM, SHAPE_REALS
from irys_ti.runtime import ti

FIELDS = {"center": (3,), "normal": (3,), "radius": ()}


@ti.func
def three(reals: ti.template(), at):
    return ti.Vector([reals[at], reals[at + 1], reals[at + 2]])


@ti.func
def frame_of(n):
    up = ti.select(ti.abs(n[0]) > 0.5, ti.Vector([0.0, 1.0, 0.0]), ti.Vector([1.0, 0.0, 0.0]))
    s = n.cross(up).normalized()
    return s, n.cross(s)


@ti.func
def base_of(ints: ti.template(), shape, prim):
    return ints[shape + SHAPE_REALS] + 7 * (prim - ints[shape + SHAPE_FIRST_PRIM])


@ti.func
def intersect(reals: ti.template(), base, o, d, t_max):
    c, n = three(reals, base), three(reals, base + 3)
    slope = d.dot(n)
    t = (c - o).dot(n) / ti.select(slope == 0.0, 1.0, slope)
    off = o + t * d - c
    ok = slope != 0.0 and t > 0.0 and t < t_max and off.dot(off) <= reals[base + 6] * reals[base + 6]
    return ti.select(ok, t, -1.0), 0.0, 0.0


@ti.func
def surface_at(reals: ti.template(), ints: ti.template(), shape, prim, o, d, t, u, v):
    base = base_of(ints, shape, prim)
    c, n = three(reals, base), three(reals, base + 3)
    s, b = frame_of(n)
    p = o + t * d
    p -= (p - c).dot(n) * n
    uv = ti.Vector([(p - c).dot(s), (p - c).dot(b)]) / reals[base + 6]
    return p, n, n, uv, s


@ti.func
def sample_area(reals: ti.template(), ints: ti.template(), shape, prim, ref, u):
    base = base_of(ints, shape, prim)
    n = three(reals, base + 3)
    s, b = frame_of(n)
    angle = 6.283185307179586 * u[1]
    at = ti.sqrt(u[0]) * ti.Vector([ti.cos(angle), ti.sin(angle)])
    p = three(reals, base) + reals[base + 6] * (at[0] * s + at[1] * b)
    return p, n, at, pdf_area(reals, ints, shape, prim, ref, p, n)


@ti.func
def pdf_area(reals: ti.template(), ints: ti.template(), shape, prim, ref, p, n):
    r = reals[base_of(ints, shape, prim) + 6]
    return 1.0 / (3.141592653589793 * r * r)


def bounds(arrays):
    half = np.reshape(arrays["radius"], (-1, 1)) * np.sqrt(np.maximum(0, 1 - np.asarray(arrays["normal"]) ** 2))
    return np.concatenate([arrays["center"] - half, arrays["center"] + half], axis=1)


def area(arrays):
    return np.pi * np.asarray(arrays["radius"]) ** 2
