"""Three ways to differentiate the same paths, in one small room: a tape, radiative backpropagation, path replay.

The room is the cube [-1, 1]^3. Each of its six walls has one albedo, a parameter; a square of the ceiling glows. Paths
start at a camera in the front wall and choose directions by the cosine, so that a vertex's factor is its wall's albedo.
The loss is the mean radiance. All three estimate d loss / d albedo:

- tape: keep what each vertex computed, then walk back over it. Memory grows with the depth.
- radiative backpropagation (Nimier-David et al. 2020): keep nothing; at every vertex of the adjoint path estimate the
  light that arrives there by a new path. Time grows with the square of the depth.
- replay (Vicini et al. 2021): keep a path's radiance alone; generate the path again and take off what is already past.
"""

from irys_ti.kernels import rng
from irys_ti.kernels.accumulate import add_exact
from irys_ti.runtime import ti

WALLS = 6
GLOW = 0.3  # half the side of the lamp, in the ceiling's middle
TAPE_REALS = 14  # what a vertex computed: position, direction, normal, two random numbers, distance, albedo, throughput
UNIT = 2.0**20
REPLICAS = 256  # of the accumulators, so that lanes seldom meet


@ti.func
def first_ray(key, index):
    """A camera ray through a film of 60 degrees."""
    u, v = rng.sample_2d(key, index, 0)
    d = ti.Vector([1.15 * (u - 0.5), 1.15 * (v - 0.5), 1.0]).normalized()
    return ti.Vector([0.0, 0.0, -0.999]), d


@ti.func
def wall_hit(o, d):
    """Distance to the cube from inside, and the wall met: axis, and 3 more on the positive side."""
    t, wall = 1e30, 0
    for k in ti.static(range(3)):
        if d[k] != 0.0:
            to = (ti.select(d[k] > 0.0, 1.0, -1.0) - o[k]) / d[k]
            if to < t:
                t, wall = to, ti.static(k) + ti.select(d[k] > 0.0, 3, 0)
    return ti.max(t, 0.0), wall


@ti.func
def normal_of(wall):
    n = ti.Vector([0.0, 0.0, 0.0])
    for k in ti.static(range(3)):
        if wall == k:
            n[k] = 1.0
        if wall == k + 3:
            n[k] = -1.0
    return n


@ti.func
def emitted(p, wall):
    return ti.select(wall == 4 and ti.abs(p[0]) < GLOW and ti.abs(p[2]) < GLOW, 10.0, 0.0)


@ti.func
def scattered(n, u, v):
    """A direction by the cosine: the normal plus a point of the unit sphere."""
    z = 1.0 - 2.0 * u
    r = ti.sqrt(ti.max(1.0 - z * z, 0.0))
    d = n + ti.Vector([r * ti.cos(6.283185307179586 * v), r * ti.sin(6.283185307179586 * v), z])
    return ti.select(d.norm() > 1e-6, d, n).normalized()


@ti.func
def radiance(albedo: ti.template(), o, d, key, index, first, depth):
    """What arrives along a ray, by a path of its own of at most depth - first vertices more."""
    L, T = 0.0, 1.0
    for bounce in range(first, depth):
        t, wall = wall_hit(o, d)
        o += t * d
        L += T * emitted(o, wall)
        T *= albedo[wall]
        u, v = rng.sample_2d(key, index, 1 + bounce)
        d = scattered(normal_of(wall), u, v)
    return L


@ti.kernel
def replay(albedo: ti.types.ndarray(ndim=1), acc: ti.types.ndarray(ndim=1), n: int, depth: int, seed: int):
    for lane in range(n):
        total, key = 0.0, rng.stream(seed, 0, 0)
        for step in range(2):
            o, d = first_ray(key, lane)
            L, T = 0.0, 1.0
            for bounce in range(depth):
                t, wall = wall_hit(o, d)
                o += t * d
                L += T * emitted(o, wall)
                if step == 1:
                    add_exact(acc, (lane % REPLICAS) * WALLS + wall, (total - L) / albedo[wall] * UNIT)
                T *= albedo[wall]
                u, v = rng.sample_2d(key, lane, 1 + bounce)
                d = scattered(normal_of(wall), u, v)
            total = L


@ti.kernel
def tape(
    albedo: ti.types.ndarray(ndim=1), kept: ti.types.ndarray(ndim=1), acc: ti.types.ndarray(ndim=1),
    n: int, depth: int, seed: int,
):  # fmt: skip
    for lane in range(n):
        key = rng.stream(seed, 0, 0)
        o, d = first_ray(key, lane)
        T = 1.0
        for bounce in range(depth):
            t, wall = wall_hit(o, d)
            o += t * d
            u, v = rng.sample_2d(key, lane, 1 + bounce)
            normal = normal_of(wall)
            at = (bounce * n + lane) * TAPE_REALS  # neighbouring lanes side by side
            for k in ti.static(range(3)):
                kept[at + k], kept[at + 3 + k], kept[at + 6 + k] = o[k], d[k], normal[k]
            kept[at + 9], kept[at + 10], kept[at + 11] = u, v, t
            kept[at + 12], kept[at + 13] = ti.cast(wall, float), T
            T *= albedo[wall]
            d = scattered(normal, u, v)
        arriving = 0.0
        for back in range(depth):
            at = ((depth - 1 - back) * n + lane) * TAPE_REALS
            wall = ti.cast(kept[at + 12], ti.i32)
            add_exact(acc, (lane % REPLICAS) * WALLS + wall, kept[at + 13] * arriving * UNIT)
            p = ti.Vector([kept[at], kept[at + 1], kept[at + 2]])
            arriving = emitted(p, wall) + albedo[wall] * arriving


@ti.kernel
def radiative(albedo: ti.types.ndarray(ndim=1), acc: ti.types.ndarray(ndim=1), n: int, depth: int, seed: int):
    for lane in range(n):
        key = rng.stream(seed, 0, 0)
        o, d = first_ray(key, lane)
        T = 1.0
        for bounce in range(depth):
            t, wall = wall_hit(o, d)
            o += t * d
            u, v = rng.sample_2d(key, lane, 1 + bounce)
            d = scattered(normal_of(wall), u, v)
            # The light that arrives, by a path with numbers of its own.
            arriving = radiance(albedo, o, d, rng.stream(seed, 1 + bounce, 0), lane, bounce + 1, depth)
            add_exact(acc, (lane % REPLICAS) * WALLS + wall, T * arriving * UNIT)
            T *= albedo[wall]


@ti.kernel
def forward(albedo: ti.types.ndarray(ndim=1), out: ti.types.ndarray(ndim=1), n: int, depth: int, seed: int):
    for lane in range(n):
        key = rng.stream(seed, 0, 0)
        o, d = first_ray(key, lane)
        out[lane] = radiance(albedo, o, d, key, lane, 0, depth)
