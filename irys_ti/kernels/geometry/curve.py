"""Curves: short pieces of cubic Bezier curves with a radius, round tubes or ribbons that face the ray.

A tube is what a disc of radius r(s) across the curve c(s) sweeps; a ray meets it where its point q fulfils
(q - c) . c' = 0 and |q - c| = r. Starting near the ray's closest approach to the chord, each step meets the ray with
the cone that touches the tube along the disc at s, and goes on at the meeting point's s: Reshetov and Luebke 2018,
"Phantom ray-hair intersector", whose roots are those of a quadratic. Pieces turn so little (scene/curves.py) that a
few steps suffice, without recursion or a stack. A strand's ends are closed by parts of balls, half ones where the
radius does not change, that touch the tube all around: there is no crease where they begin.

A tube is met from outside only. A ray that starts inside, as what passes through a hair does, leaves unhindered: the
scattering model has counted all that happens within (kernels/bsdf/hair.py).

A ribbon is met where the ray comes nearest to the axis, within r of it, and shaded as the tube would be at the same
offset across. It is met from everywhere, so hits within two radii of the ray's start are left out: the fibre that the
ray leaves.
"""

import numpy as np

from irys_ti.kernels.layout import SHAPE_FIRST_PRIM, SHAPE_REALS
from irys_ti.runtime import ti

from .frame import perpendicular, tangent, unit_or
from .mesh import vec3

# Control points with their radii; the part of the strand's u in 0 to 1; how far from the chord the piece reaches; bits.
FIELDS = {"p0": (4,), "p1": (4,), "p2": (4,), "p3": (4,), "span": (2,), "reach": (), "bits": ()}
STRIDE, SPAN, REACH, BITS = 20, 16, 18, 19
RIBBON, FIRST_END, LAST_END = 1, 2, 4

STEPS = 10  # at most; three on average
TOLERANCE = 2.0**-16  # in the curve's parameter
OVERLAP = 1e-4  # how far neighbouring pieces reach into each other, so that no ray slips between
# Rays start off a tube by this share of what other surfaces need: curves are thin, and a start inside does no harm.
START = 2.0**-4


@ti.func
def coefficients(reals: ti.template(), base):
    """c(s) - c(0) = ((k3 s + k2) s + k1) s, and the same for the radius."""
    p0 = vec3(reals, base)
    e1, e2, e3 = vec3(reals, base + 4) - p0, vec3(reals, base + 8) - p0, vec3(reals, base + 12) - p0
    r0 = reals[base + 3]
    f1, f2, f3 = reals[base + 7] - r0, reals[base + 11] - r0, reals[base + 15] - r0
    k1, k2, k3 = 3.0 * e1, 3.0 * (e2 - 2.0 * e1), e3 - 3.0 * (e2 - e1)
    j1, j2, j3 = 3.0 * f1, 3.0 * (f2 - 2.0 * f1), f3 - 3.0 * (f2 - f1)
    return k1, k2, k3, r0, j1, j2, j3


@ti.func
def taper_of(r1, length, end):
    """How fast the radius changes towards an end's outside, at most 0: the ball there, of radius r (1 + taper^2)^(1/2)
    about the point r taper beyond the end, touches the tube around it. Where a strand widens it is half a ball."""
    return ti.min((2.0 * end - 1.0) * r1 / length, 0.0)


@ti.func
def may_meet(blocks: ti.template(), at, lane, lanes: ti.template(), o, d, t_max):
    """Whether a ray comes within the piece's reach of its chord; without a branch, so that it becomes vector code."""
    here = at + lane
    cx, cy, cz = blocks[here + 3 * lanes], blocks[here + 4 * lanes], blocks[here + 5 * lanes]
    wx, wy, wz = o[0] - blocks[here], o[1] - blocks[here + lanes], o[2] - blocks[here + 2 * lanes]
    reach = blocks[here + 6 * lanes]
    inv = 1.0 / d.dot(d)
    before = (wx * d[0] + wy * d[1] + wz * d[2]) * inv
    along = (cx * d[0] + cy * d[1] + cz * d[2]) * inv
    wx, wy, wz = wx - before * d[0], wy - before * d[1], wz - before * d[2]
    cx, cy, cz = cx - along * d[0], cy - along * d[1], cz - along * d[2]
    length2 = cx * cx + cy * cy + cz * cz
    s = (wx * cx + wy * cy + wz * cz) / ti.select(length2 > 1e-37, length2, 1e-37)
    s = ti.select(s > 0.0, s, 0.0)
    s = ti.select(s < 1.0, s, 1.0)
    wx, wy, wz = wx - s * cx, wy - s * cy, wz - s * cz
    return (wx * wx + wy * wy + wz * wz <= reach * reach) | (reach == 0.0)


@ti.func
def intersect(reals: ti.template(), base, o, d, t_max):
    """(t, s, 1 on a ball at an end, else 0)."""
    p0, chord = vec3(reals, base), vec3(reals, base + 12) - vec3(reals, base)
    speed2 = ti.max(d.dot(d), 1e-37)
    w = o - p0
    before = w.dot(d) / speed2  # minus the ray's t at its foot, the point nearest to p0
    foot = w - before * d
    across = chord - (chord.dot(d) / speed2) * d
    s = ti.math.clamp(foot.dot(across) / ti.max(across.dot(across), 1e-37), 0.0, 1.0)
    gap, reach = foot - s * across, reals[base + REACH]
    t, at, cap = -1.0, 0.0, 0.0
    if gap.dot(gap) <= reach * reach:
        k1, k2, k3, r0, j1, j2, j3 = coefficients(reals, base)
        bits = ti.cast(reals[base + BITS], ti.i32)
        ribbon = (bits & RIBBON) != 0
        speed = ti.sqrt(speed2)
        n = d / speed
        # Beside the ray the chord's nearest point is a good start. Where the ray runs along the piece, or the piece is
        # thick, the end nearer to the ray's origin finds the first of several meetings, and the other what it misses.
        nearest = s
        steep = across.dot(across) < 0.25 * chord.dot(chord) or reach * reach > 0.04 * chord.dot(chord)
        if steep:
            s = ti.select(chord.dot(d) > 0.0, 0.0, 1.0)
        for _ in range(ti.select(steep, 2, 1)):
            if t < 0.0:
                step, distance, steps, met = 1.0, 0.0, 0, False
                while steps < STEPS and ti.abs(step) > TOLERANCE:
                    c = ((k3 * s + k2) * s + k1) * s
                    a = (3.0 * k3 * s + 2.0 * k2) * s + k1
                    r = ((j3 * s + j2) * s + j1) * s + r0
                    slope = ti.select(ribbon, 0.0, (3.0 * j3 * s + 2.0 * j2) * s + j1)
                    depth = c.dot(n)
                    x = foot - (c - depth * n)  # from the axis to the ray, at the axis's depth
                    length2 = ti.max(a.dot(a), 1e-37)
                    along, beside = n.dot(a), x.dot(a)
                    g = along / length2
                    rise = slope * g
                    qa = 1.0 - along * g - rise * rise
                    if qa < 1e-6:  # steeper than the cone
                        rise, slope = 0.0, 0.0
                        qa = ti.max(1.0 - along * g, 1e-6)
                    r_here = r + slope * beside / length2
                    qb = -beside * g - rise * r_here
                    root2 = qb * qb - qa * (x.dot(x) - beside * beside / length2 - r_here * r_here)
                    root = ti.select(ribbon, 0.0, ti.sqrt(ti.max(root2, 0.0)))
                    z = (-qb - root) / qa
                    # Towards the inner side of a bend the axis's foot runs ahead of the point.
                    bend = (x + z * n).dot(6.0 * s * k3 + 2.0 * k2)
                    step = ti.math.clamp((beside + z * along) / ti.max(length2 - bend, 0.25 * length2), -0.5, 0.5)
                    distance = depth + z
                    met = root2 >= 0.0
                    at = s
                    s = ti.math.clamp(s + step, -0.3, 1.3)
                    steps += 1
                at = ti.math.clamp(at, 0.0, 1.0)
                if met and ti.abs(step) < 1e-3 and s >= -OVERLAP and s <= 1.0 + OVERLAP:
                    t = distance / speed - before
                    r = ((j3 * at + j2) * at + j1) * at + r0
                    if ribbon and t * speed < 2.0 * r:
                        t = -1.0
                if not (t > 0.0 and t < t_max):
                    t = -1.0
                s = nearest
        if (bits & (FIRST_END | LAST_END)) != 0:
            for end in range(2):
                if (bits & ti.select(end == 0, FIRST_END, LAST_END)) != 0:
                    e = ti.cast(end, float)
                    c = ((k3 * e + k2) * e + k1) * e
                    a = ((3.0 * k3 * e + 2.0 * k2) * e + k1) * (2.0 * e - 1.0)  # outward
                    r = ((j3 * e + j2) * e + j1) * e + r0
                    length = ti.max(ti.sqrt(a.dot(a)), 1e-30)
                    taper = taper_of((3.0 * j3 * e + 2.0 * j2) * e + j1, length, e)
                    ahead = (r * taper / length) * a  # from the end to the ball's centre
                    c += ahead
                    depth = c.dot(n)
                    x = foot - (c - depth * n)
                    inside = r * r * (1.0 + taper * taper) - x.dot(x)
                    z = -ti.sqrt(ti.max(inside, 0.0))
                    t_end = (depth + z) / speed - before
                    if inside > 0.0 and (x + z * n + ahead).dot(a) > 0.0 and t_end > 0.0 and t_end < t_max:
                        if t < 0.0 or t_end < t:
                            t, at, cap = t_end, e, 1.0
    return t, at, cap


@ti.func
def surface_at(reals: ti.template(), ints: ti.template(), shape, prim, o, d, t, u, v):
    """p; ng, shorter than 1 (START); ns; uv = (along the strand, across, 1/2 in the middle); dp_du along the curve."""
    base = ints[shape + SHAPE_REALS] + STRIDE * (prim - ints[shape + SHAPE_FIRST_PRIM])
    k1, k2, k3, r0, j1, j2, j3 = coefficients(reals, base)
    axis = vec3(reals, base) + ((k3 * u + k2) * u + k1) * u
    r = ((j3 * u + j2) * u + j1) * u + r0
    a = (3.0 * k3 * u + 2.0 * k2) * u + k1
    along = unit_or(a, unit_or(k1 + k2 + k3, ti.Vector([0.0, 0.0, 1.0])))
    from_axis = o + t * d - axis
    ahead = unit_or(d - d.dot(along) * along, tangent(along))  # of the ray, across the curve
    side = along.cross(ahead)
    h = ti.math.clamp(from_axis.dot(side) / ti.max(r, 1e-37), -1.0, 1.0)
    ns = h * side - ti.sqrt(1.0 - h * h) * ahead
    ng, p = ns, axis + r * ns
    if (ti.cast(reals[base + BITS], ti.i32) & RIBBON) != 0:
        ng, p = -ahead, axis + (r * h) * side
    elif v > 0.5:
        taper = taper_of((3.0 * j3 * u + 2.0 * j2) * u + j1, ti.max(ti.sqrt(a.dot(a)), 1e-30), u)
        ahead = (r * taper * (2.0 * u - 1.0)) * along
        ns = unit_or(from_axis - ahead, ns)
        ng, p, h = ns, axis + ahead + (r * ti.sqrt(1.0 + taper * taper)) * ns, 0.0
    else:
        slope = (3.0 * j3 * u + 2.0 * j2) * u + j1
        # Per step of u the surface goes on by less on the inner side of a bend (tube.py: A).
        length = ti.max(ti.sqrt(a.dot(a)), 1e-30)
        full = length - r * ns.dot(6.0 * u * k3 + 2.0 * k2) / length
        ns = unit_or(ti.max(full, 0.05 * length) * ns - slope * along, ns)
        ng = ns
    first, last = reals[base + SPAN], reals[base + SPAN + 1]
    uv = ti.Vector([first + u * (last - first), 0.5 + 0.5 * h])
    return p, START * ng, ns, uv, perpendicular(along, ns)


@ti.func
def sample_area(reals: ti.template(), ints: ti.template(), shape, prim, ref, u):
    """Never a sample: curves are no area lights."""
    zero = ti.Vector([0.0, 0.0, 0.0])
    return zero, ti.Vector([0.0, 0.0, 1.0]), ti.Vector([0.0, 0.0]), 0.0


@ti.func
def pdf_area(reals: ti.template(), ints: ti.template(), shape, prim, ref, p, n):
    return 0.0


def bounds(arrays: dict) -> np.ndarray:
    """(n, 6) boxes: of the control points, as far as the largest radius around."""
    points = np.stack([np.asarray(arrays[f"p{i}"], np.float64) for i in range(4)], 1)
    r = points[:, :, 3].max(1, keepdims=True)
    return np.concatenate([points[:, :, :3].min(1) - r, points[:, :, :3].max(1) + r], 1)


def lane_numbers(arrays: dict) -> np.ndarray:
    """(n, 9) what ``may_meet`` reads: an end of the chord, the chord, the reach, with room for rounding."""
    p0, p3 = (np.asarray(arrays[name], np.float64)[:, :3] for name in ("p0", "p3"))
    reach = np.asarray(arrays["reach"], np.float64)[:, None] * (1.0 + 1e-4)
    return np.concatenate([p0, p3 - p0, reach, np.zeros((len(p0), 2))], 1)


def area(arrays: dict) -> np.ndarray:
    """(n,) zeros: nothing to sample."""
    return np.zeros(len(arrays["p0"]))
