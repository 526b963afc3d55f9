"""Gaussian splats: primitives that a ray meets by chance, each at a distance of its own (docs/design/splats.md).

A ray that crosses all of a splat meets it with probability alpha = opacity * response, where response =
exp(-d^2 / 2) for the Mahalanobis distance d at the ray's point of greatest response, faded to 0 at d = CUT. Where is a
free flight: the optical depth -ln(1 - alpha) is spread along the ray by the density (15/16) (1 - x^2)^2 of
x = (t - t*) / h, whose standard deviation is the Gaussian's for h = sqrt(7) of them; h narrows towards d = CUT, so
that all of it lies within the ellipsoid d = CUT. Of all splats' flights and surfaces the nearest wins.
"""

import numpy as np

from irys_ti.graph import Param
from irys_ti.kernels.layout import SHAPE_FIRST_PRIM, SHAPE_REALS
from irys_ti.kernels.rng import combine, mix, unit
from irys_ti.runtime import ti

from .frame import tangent, unit_or
from .mesh import vec3

CUT = 3.75  # Mahalanobis distance where a splat ends
CUT2 = CUT**2
WIDTH = 2.66  # a little more than the root of WIDTH2
SLACK = 4e-6  # 32 of f32's epsilons
FADE = 1.5  # over which the response fades to 0, in squared distance
WIDTH2 = 7.0  # squared half width of the spread, in standard deviations along the ray
MOST = 1.0 - 2.0**-16  # of alpha, so that its optical depth is finite
LEAST = 1e-9  # of opacity: what is not there has a chance whose derivative is told
LOW, HIGH = 0.02, 0.98  # opacities that are sampled lie within these where their derivative is asked for

PARAMS = {
    "position": Param("scalar", 0.0, -float("inf"), float("inf"), doc="centres (n, 3)"),
    "scale": Param("scalar", 1.0, 1e-12, float("inf"), doc="standard deviations along the splat's axes (n, 3)"),
    "rotation": Param("scalar", 1.0, -float("inf"), float("inf"), doc="quaternions w, x, y, z of any length (n, 4)"),
    "opacity": Param("scalar", 0.5, 0.0, 1.0, doc="probability to be met through the centre (n,)"),
    "albedo": Param("reflectance", 0.5, 0.0, 1.0, doc="linear sRGB (n, 3): weights of three spectra that sum to 1"),
}
# A record: the centre, the map to the unit sphere's space, the opacity and the one that derivatives sample by.
FIELDS = {"center": (3,), "to_unit": (3, 3), "opacity": (), "sampled": ()}
STRIDE, OPACITY, SAMPLED = 14, 12, 13
STOCHASTIC = True  # ``intersect`` takes the ray's key and the primitive's number too


@ti.func
def approach(reals: ti.template(), base, o, d):
    """(d^2, t*, squared speed) of a ray in the space where a splat is a unit sphere."""
    f = o - vec3(reals, base)
    r0, r1, r2 = vec3(reals, base + 3), vec3(reals, base + 6), vec3(reals, base + 9)
    a = ti.Vector([r0.dot(f), r1.dot(f), r2.dot(f)])
    b = ti.Vector([r0.dot(d), r1.dot(d), r2.dot(d)])
    speed2 = ti.max(b.dot(b), 1e-30)
    t_star = -a.dot(b) / speed2
    foot = a + t_star * b
    return foot.dot(foot), t_star, speed2


@ti.func
def spread(d2, speed2):
    """(response, half width) at a squared distance below CUT2."""
    q = ti.min(1.0, (CUT2 - d2) * (1.0 / FADE))
    return ti.exp(-0.5 * d2) * q * q * (3.0 - 2.0 * q), ti.sqrt(WIDTH2 * (1.0 - d2 * (1.0 / CUT2)) / speed2)


@ti.func
def crossing(reals: ti.template(), base, o, d):
    """(response, t*, half width) of a ray through a splat; response 0 where it passes by."""
    d2, t_star, speed2 = approach(reals, base, o, d)
    response, half = 0.0, 1.0
    if d2 < CUT2:
        response, half = spread(d2, speed2)
    return response, t_star, half


@ti.func
def size(x):
    return ti.select(x < 0.0, -x, x)  # ti.abs is a call on CPUs, and not vectorised


@ti.func
def may_meet(blocks: ti.template(), at, lane, lanes: ti.template(), o, d, t_max):
    """Whether ``crossing`` may find a response before t_max: one lane of a leaf, with no branch; sometimes true in vain.

    By the triangular factor of the map (``lane_numbers``), which has fewer numbers, and without a quotient: with a and
    b as there, d = |a x b| / |b| and t* = -(a . b) / |b|^2. Rounding differs from that of ``crossing``: ``slack``, with
    what ``lane_numbers`` takes off, is more than both formulas' errors.
    """
    fx = o[0] - blocks[at + lane]
    fy = o[1] - blocks[at + lanes + lane]
    fz = o[2] - blocks[at + 2 * lanes + lane]
    xx, xy, xz = blocks[at + 3 * lanes + lane], blocks[at + 4 * lanes + lane], blocks[at + 5 * lanes + lane]
    yy, yz, zz = blocks[at + 6 * lanes + lane], blocks[at + 7 * lanes + lane], blocks[at + 8 * lanes + lane]
    ax, ay, az = xx * fx + xy * fy + xz * fz, yy * fy + yz * fz, zz * fz
    bx, by, bz = xx * d[0] + xy * d[1] + xz * d[2], yy * d[1] + yz * d[2], zz * d[2]
    cx, cy, cz = ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx
    extent = xx + yy + zz + size(xy) + size(xz) + size(yz)
    slack = SLACK * extent * (size(fx) + size(fy) + size(fz))
    far, half = CUT + slack, WIDTH + slack
    speed2 = bx * bx + by * by + bz * bz
    middle = -(ax * bx + ay * by + az * bz)  # t* |b|^2
    beyond = middle - t_max * speed2
    reach2 = half * half * speed2
    passed = (middle < 0.0) & (middle * middle > reach2)
    return (cx * cx + cy * cy + cz * cz <= far * far * speed2) & ~(passed | ((beyond > 0.0) & (beyond * beyond > reach2)))


@ti.func
def log_through(alpha):
    """ln(1 - alpha), exact for small alpha too."""
    series = -alpha * (1.0 + alpha * (0.5 + alpha * (1.0 / 3.0 + alpha * (0.25 + alpha * (0.2 + alpha / 6.0)))))
    return ti.select(alpha < 0.03, series, ti.log(1.0 - ti.min(alpha, MOST)))


@ti.func
def share(x):
    """Share of the optical depth that lies before x."""
    v = ti.math.clamp(1.0 - ti.abs(x), 0.0, 1.0)
    tail = v * v * v * (20.0 - 15.0 * v + 3.0 * v * v) * (1.0 / 16.0)
    return ti.select(x < 0.0, tail, 1.0 - tail)


@ti.func
def share_inverse(y):
    """x in [-1, 1] with share(x) = y: Newton's method from above on a convex function, so it does not overshoot."""
    z = 16.0 * ti.max(ti.min(y, 1.0 - y), 0.0)
    v = ti.pow(ti.max(z, 1e-12) * 0.05, 1.0 / 3.0)
    v = ti.min(v * (1.0 + 0.49 * v), 1.0)
    for _ in range(4):
        value = v * v * v * (20.0 - 15.0 * v + 3.0 * v * v) - z
        slope = 15.0 * v * v * (2.0 - v) * (2.0 - v)
        v = ti.math.clamp(v - value / ti.max(slope, 1e-9), 0.0, 1.0)
    return ti.select(y < 0.5, v - 1.0, 1.0 - v)


@ti.func
def ray_key(key, index, bounce, derivative: ti.template()):
    """What a ray's free flights are drawn from. Bit 0: by the sampled opacities; never 0, which means none."""
    h = combine(combine(key ^ ti.u32(0x68E31DA4), ti.cast(index, ti.u32)), ti.cast(bounce, ti.u32))
    return (h & ti.u32(0xFFFFFFFC)) | ti.u32(ti.static(3 if derivative else 2))


@ti.func
def intersect(reals: ti.template(), base, o, d, t_max, key, prim, inst):
    """Where the free flight ends, t = -1 if beyond the splat. prim, inst: numbers that no tree changes."""
    d2, t_star, speed2 = approach(reals, base, o, d)
    t = -1.0
    if d2 < CUT2:
        opacity = reals[base + ti.select((key & ti.u32(1)) != ti.u32(0), SAMPLED, OPACITY)]
        copy = ti.cast(inst + 1, ti.u32) * ti.u32(0x85EBCA6B)
        u = unit(mix(key ^ mix(ti.cast(prim, ti.u32) ^ copy)))
        x = 0.5 * d2
        if u * (1.0 + x + 0.5 * x * x) < 1.0001 * opacity:  # else u is above alpha: exp(x) is more than that sum
            response, half = spread(d2, speed2)
            alpha = ti.min(opacity * response, MOST)
            if response > 0.0 and t_star + half > 0.0 and t_star - half < t_max and u < alpha:
                y = share(-t_star / half) + log_through(u) / log_through(alpha)
                if y < 1.0:
                    t = t_star + half * share_inverse(y)
                    t = ti.max(t, 1e-6 * half)  # rounding must not put it behind the ray's start
                    t = ti.select(t < t_max, t, -1.0)
    return t, 0.0, 0.0


@ti.func
def surface_at(reals: ti.template(), ints: ti.template(), shape, prim, o, d, t, u, v):
    """The point of the flight; normals along the shortest axis, towards the ray; uv = (number in the set, 0)."""
    i = prim - ints[shape + SHAPE_FIRST_PRIM]
    base = ints[shape + SHAPE_REALS] + STRIDE * i
    r0, r1, r2 = vec3(reals, base + 3), vec3(reals, base + 6), vec3(reals, base + 9)
    s0, s1, s2 = r0.dot(r0), r1.dot(r1), r2.dot(r2)
    axis = r0
    if s1 > s0:
        axis = r1
    if s2 > ti.max(s0, s1):
        axis = r2
    n = unit_or(axis, unit_or(-d, ti.Vector([0.0, 0.0, 1.0])))
    n *= ti.select(n.dot(d) > 0.0, -1.0, 1.0)
    return o + t * d, n, n, ti.Vector([ti.cast(i, float), 0.0]), tangent(n)


@ti.func
def sample_area(reals: ti.template(), ints: ti.template(), shape, prim, ref, u):
    """Never a sample: splats are no area lights."""
    zero = ti.Vector([0.0, 0.0, 0.0])
    return zero, ti.Vector([0.0, 0.0, 1.0]), ti.Vector([0.0, 0.0]), 0.0


@ti.func
def pdf_area(reals: ti.template(), ints: ti.template(), shape, prim, ref, p, n):
    return 0.0


def matrices(rotation) -> np.ndarray:
    """(n, 3, 3) rotation matrices of quaternions (w, x, y, z)."""
    q = np.asarray(rotation, np.float64)
    w, x, y, z = (q / np.linalg.norm(q, axis=1, keepdims=True)).T
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]
    return np.moveaxis(np.array(rows), 2, 0)


def fields(values, floored: bool) -> dict:
    """Record fields from a set's arrays (scene.Splats). floored: keep sampled opacities off 0 and 1."""
    scale, opacity = np.asarray(values["scale"], np.float64), np.asarray(values["opacity"], np.float64)
    turn = matrices(values["rotation"])
    return {
        "center": np.asarray(values["position"], np.float64),
        "to_unit": turn.transpose(0, 2, 1) / scale[:, :, None],
        "opacity": np.maximum(opacity, LEAST),
        "sampled": np.clip(opacity, LOW, HIGH) if floored else np.maximum(opacity, LEAST),
    }


def lane_numbers(arrays: dict) -> np.ndarray:
    """(n, 9) what a leaf holds of each splat: its centre, and the upper triangular U for which |U x| = |to_unit x|.

    U by Gram and Schmidt: xx, xy, xz, yy, yz, zz; a little less than it, so that splats look no smaller than rounding
    of long thin ones may make them.
    """
    x, y, z = np.moveaxis(np.asarray(arrays["to_unit"], np.float64), 2, 0)
    xx = np.linalg.norm(x, axis=1)
    x = x / xx[:, None]
    xy, xz = (x * y).sum(1), (x * z).sum(1)
    y, z = y - xy[:, None] * x, z - xz[:, None] * x
    yy = np.linalg.norm(y, axis=1)
    y = y / yy[:, None]
    yz = (y * z).sum(1)
    zz = np.linalg.norm(z - yz[:, None] * y, axis=1)
    u = np.column_stack([xx, xy, xz, yy, yz, zz])
    longest = 1.0 / np.linalg.norm(arrays["to_unit"], axis=2).min(1)  # rows of the map are as long as 1 / scale
    u *= np.maximum(1.0 - 2.0 * SLACK * np.abs(u).sum(1) * longest, 0.0)[:, None]
    return np.column_stack([np.asarray(arrays["center"], np.float64), u])


def bounds(arrays: dict) -> np.ndarray:
    """(n, 6) boxes of the ellipsoids d = CUT."""
    inverse = np.linalg.inv(np.asarray(arrays["to_unit"], np.float64))
    half = np.sqrt(CUT2) * np.linalg.norm(inverse, axis=2)
    center = np.asarray(arrays["center"], np.float64)
    return np.concatenate([center - half, center + half], axis=1)


def area(arrays: dict) -> np.ndarray:
    """(n,) zeros: nothing to sample."""
    return np.zeros(len(arrays["center"]))
