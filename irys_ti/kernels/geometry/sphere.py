"""Spheres: centre and radius. Seen from outside they are sampled by the cone that they fill."""

import numpy as np

from irys_ti.graph.lowering import sincos
from irys_ti.kernels.layout import SHAPE_FIRST_PRIM, SHAPE_REALS
from irys_ti.runtime import ti

from .frame import perpendicular, tangent, unit_or
from .mesh import facing, vec3

FIELDS = {"center": (3,), "radius": ()}
STRIDE = 4

# Nearer than this (relative to the radius) a reference point counts as inside, and the whole sphere is
# sampled: the cap that it sees would be lost in rounding.
TOUCHING = 1e-3


@ti.func
def record(reals: ti.template(), ints: ti.template(), shape, prim):
    """Centre and radius of a primitive."""
    at = ints[shape + SHAPE_REALS] + STRIDE * (prim - ints[shape + SHAPE_FIRST_PRIM])
    return vec3(reals, at), reals[at + 3]


@ti.func
def intersect(reals: ti.template(), base, o, d, t_max):
    """Both roots without cancellation (Haines et al., Ray Tracing Gems, chapter 7)."""
    c, r = vec3(reals, base), reals[base + 3]
    f = o - c
    a = d.dot(d)
    a = ti.select(a > 0.0, a, 1.0)
    b = -f.dot(d)
    foot = f + (b / a) * d  # from the centre to the line's nearest point
    disc = r * r - foot.dot(foot)
    t, found = -1.0, disc > 0.0 and r > 0.0
    if found:
        q = b + ti.select(b >= 0.0, 1.0, -1.0) * ti.sqrt(a * disc)
        far_or_near = q / a
        other = (f.dot(f) - r * r) / ti.select(q == 0.0, 1.0, q)
        near = ti.select(far_or_near < other, far_or_near, other)
        far = ti.select(far_or_near < other, other, far_or_near)
        root = ti.select(near > 0.0, near, far)
        t = ti.select(root > 0.0 and root < t_max, root, -1.0)
    return t, 0.0, 0.0


@ti.func
def surface_at(reals: ti.template(), ints: ti.template(), shape, prim, o, d, t, u, v):
    """p, projected onto the sphere; ng = ns outward; uv = (azimuth about z / 2 pi, polar angle / pi)."""
    c, r = record(reals, ints, shape, prim)
    out = unit_or(o + t * d - c, unit_or(-d, ti.Vector([0.0, 0.0, 1.0])))
    n = facing(ints, shape) * out
    around = 2.0 * 3.141592653589793 * r * ti.Vector([-out[1], out[0], 0.0])
    return c + r * out, n, n, uv_of(out), perpendicular(around, n)


@ti.func
def uv_of(out):
    """uv in the unit direction ``out`` from the centre."""
    pi = 3.141592653589793
    phi = ti.atan2(out[1], out[0])
    phi = ti.select(phi < 0.0, phi + 2.0 * pi, phi)
    ring = ti.sqrt(out[0] * out[0] + out[1] * out[1])
    return ti.Vector([phi / (2.0 * pi), ti.atan2(ring, out[2]) / pi])


@ti.func
def seen_from_outside(c, r, ref):
    """True where the cone is sampled; ``sample_area`` and ``pdf_area`` must agree on it."""
    far = ref - c
    return far.dot(far) > r * r * (1.0 + TOUCHING) * (1.0 + TOUCHING)


@ti.func
def sample_area(reals: ti.template(), ints: ti.template(), shape, prim, ref, u):
    """From outside uniform in the cone that the sphere fills, else uniform over the sphere.

    Cone: pbrt-v4, section 6.2.4, whose sines keep their digits for far and small spheres.
    """
    c, r = record(reals, ints, shape, prim)
    away = ref - c
    distance = ti.sqrt(away.dot(away))
    pi = 3.141592653589793
    axis = unit_or(away, ti.Vector([0.0, 0.0, 1.0]))
    cos_alpha = 1.0 - 2.0 * u[0]
    if seen_from_outside(c, r, ref):
        sin_max = r / distance
        versed_max = versed(sin_max)
        versed_theta = u[0] * versed_max
        sin2 = versed_theta * (2.0 - versed_theta)
        ratio2 = ti.min(1.0, sin2 / ti.max(sin_max * sin_max, 1e-37))
        cos_alpha = sin2 / ti.max(sin_max, 1e-37) + (1.0 - versed_theta) * ti.sqrt(1.0 - ratio2)
    cos_alpha = ti.max(-1.0, ti.min(1.0, cos_alpha))
    sin_alpha = ti.sqrt(ti.max(0.0, 1.0 - cos_alpha * cos_alpha))
    s = tangent(axis)
    sine, cosine = sincos(2.0 * pi * u[1])
    out = unit_or(sin_alpha * (cosine * s + sine * axis.cross(s)) + cos_alpha * axis, axis)
    p = c + r * out
    n = facing(ints, shape) * out
    return p, n, uv_of(out), pdf_area(reals, ints, shape, prim, ref, p, n)


@ti.func
def versed(sin_max):
    """1 - cos of the cone's half angle, from its sine, without cancellation."""
    sin2 = ti.min(1.0, sin_max * sin_max)
    return sin2 / (1.0 + ti.sqrt(1.0 - sin2))


@ti.func
def pdf_area(reals: ti.template(), ints: ti.template(), shape, prim, ref, p, n):
    """Density over area of ``sample_area``; 0 for a sphere without area and for points that ref cannot see."""
    c, r = record(reals, ints, shape, prim)
    pi = 3.141592653589793
    whole = 4.0 * pi * r * r
    pdf = ti.select(whole > 1e-37, 1.0 / ti.max(whole, 1e-37), 0.0)
    if seen_from_outside(c, r, ref):
        away = ref - c
        cone = 2.0 * pi * versed(r / ti.sqrt(away.dot(away)))
        to_ref = ref - p
        distance2 = to_ref.dot(to_ref)
        # Outward is where the sphere is seen from, whichever way its normals were flipped.
        cos_light = facing(ints, shape) * n.dot(to_ref) / ti.sqrt(distance2)
        ok = cos_light > 0.0 and cone > 1e-37 and whole > 1e-37
        pdf = ti.select(ok, cos_light / (distance2 * ti.select(ok, cone, 1.0)), 0.0)
    return pdf


def bounds(arrays: dict) -> np.ndarray:
    """Boxes (n, 6) of spheres with center (n, 3) and radius (n,)."""
    center = np.asarray(arrays["center"], np.float64).reshape(-1, 3)
    radius = np.abs(np.asarray(arrays["radius"], np.float64)).reshape(-1, 1)
    return np.concatenate([center - radius, center + radius], axis=1)


def area(arrays: dict) -> np.ndarray:
    """Areas (n,)."""
    return 4.0 * np.pi * np.asarray(arrays["radius"], np.float64).reshape(-1) ** 2
