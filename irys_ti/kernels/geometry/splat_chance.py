"""The chance of what a ray did at one splat, as a graph: from it come the derivatives by all that a splat is.

The same formulas as ``splats.crossing`` and ``splats.intersect``, in terms of the scene's own arrays.
"""

from __future__ import annotations

from functools import cache

from irys_ti.graph import clamp, dot, exp, leaf, log, maximum, minimum, select, sqrt, stop_gradient, vec3, vjp

from .splats import CUT2, FADE, LEAST, MOST, WIDTH2

POSITION, SCALE, ROTATION, OPACITY = leaf("position", (3,)), leaf("scale", (3,)), leaf("rotation", (4,)), leaf("opacity", ())
ORIGIN, DIRECTION, END = leaf("o", (3,)), leaf("d", (3,)), leaf("t", ())
IS_HIT = leaf("is_hit", ())  # 1 where the ray ended at this splat, 0 where it passed
UP = leaf("up", ())
SHAPE_LEAVES = (POSITION, SCALE, ROTATION)


def local(x):
    """Components of a world vector along the splat's axes."""
    w, i, j, k = (ROTATION[n] for n in range(4))
    r = 2.0 / (w * w + i * i + j * j + k * k)
    a0 = vec3(1.0 - r * (j * j + k * k), r * (i * j + w * k), r * (i * k - w * j))
    a1 = vec3(r * (i * j - w * k), 1.0 - r * (i * i + k * k), r * (j * k + w * i))
    a2 = vec3(r * (i * k + w * j), r * (j * k - w * i), 1.0 - r * (i * i + j * j))
    return vec3(dot(a0, x), dot(a1, x), dot(a2, x))


def share(x):
    """Share of the optical depth before x, for x in [-1, 1]."""
    x2 = x * x
    return 0.5 + x * (15.0 - x2 * (10.0 - 3.0 * x2)) * (1.0 / 16.0)


def log_chance():
    """ln of the probability to pass the splat up to END; where IS_HIT, of the density to meet it at END."""
    f = local(ORIGIN - POSITION)
    b = local(DIRECTION)
    a = vec3(f.x / SCALE.x, f.y / SCALE.y, f.z / SCALE.z)
    b = vec3(b.x / SCALE.x, b.y / SCALE.y, b.z / SCALE.z)
    speed2 = dot(b, b)
    t_star = -dot(a, b) / speed2
    foot = a + t_star * b
    d2 = minimum(dot(foot, foot), CUT2 * (1.0 - 1e-5))
    q = minimum((CUT2 - d2) * (1.0 / FADE), 1.0)
    opacity = OPACITY + stop_gradient(maximum(LEAST - OPACITY, 0.0))
    alpha = minimum(opacity * (exp(-0.5 * d2) * (q * q * (3.0 - 2.0 * q))), MOST)
    half = sqrt(WIDTH2 * (1.0 - d2 * (1.0 / CUT2)) / speed2)
    first = clamp(-t_star / half, -1.0, 1.0)
    last = clamp((END - t_star) / half, -1.0, 1.0)
    series = 1.0 + alpha * (0.5 + alpha * (1.0 / 3.0 + alpha * (0.25 + alpha * (0.2 + alpha / 6.0))))
    depth = select(alpha < 0.03, alpha * series, -log(1.0 - alpha))
    passed = -depth * (share(last) - share(first))
    met = log(maximum(depth, 1e-30)) + 2.0 * log(maximum(1.0 - last * last, 1e-4)) - log(half)
    return passed + select(IS_HIT > 0.5, met, 0.0)


@cache
def derivatives(by_opacity: bool, by_shape: bool) -> tuple[tuple, list]:
    """(leaves, graphs of UP times the derivative by each of them)."""
    leaves = (*(SHAPE_LEAVES if by_shape else ()), *((OPACITY,) if by_opacity else ()))
    return leaves, vjp([log_chance()], [UP], list(leaves))
