"""Scatterings drawn near to lights: evenly in the angle that the ray's points are seen at from the light (Kulla and Fajardo
2012, "Importance sampling techniques for path tracing in participating media"), mixed with what free flight draws.

Whether a piece scatters at all is drawn as without: only where it scatters is. So the light that comes through has no
more noise, and the weight of a scattering is at most 1 / (1 - share) times what it was.
"""

from irys_ti.kernels.layout import AIM_STRIDE, H_AIMS, H_SPHERE
from irys_ti.runtime import ti

NEAREST = 1e-3  # of the scene's radius: a ray that meets the light is taken to pass it by so much


@ti.func
def seen_from(reals: ti.template(), ints: ti.template(), o, d, length, number):
    """(where the ray passes the light, at what distance, angles of its ends from there, the light's share)."""
    at = ints[H_AIMS]
    base = at + 1 + number * AIM_STRIDE
    to = ti.Vector([reals[base], reals[base + 1], reals[base + 2]]) - o
    along = to.dot(d)
    off = ti.max((to - along * d).norm(), NEAREST * reals[ints[H_SPHERE] + 3])
    return along, off, ti.atan2(-along, off), ti.atan2(length - along, off), reals[base + 3]


@ti.func
def density_of_aims(reals: ti.template(), ints: ti.template(), o, d, length, t):
    """(share that is drawn near to lights, its density at t)."""
    total, near = 0.0, 0.0
    for j in range(ti.cast(reals[ints[H_AIMS]], ti.i32)):
        along, off, low, high, share = seen_from(reals, ints, o, d, length, j)
        total += share
        near += share * off / (ti.max(high - low, 1e-20) * (off * off + (t - along) * (t - along)))
    return total, near


@ti.func
def aimed(reals: ti.template(), ints: ti.template(), o, d, length, v, sigma, within):
    """(where a piece scatters, 1 + the light it is drawn near to, or 0); v: in [0, 1); within: its chance of scattering."""
    rest, number = v, 0
    out = 0.0
    for j in range(ti.cast(reals[ints[H_AIMS]], ti.i32)):
        along, off, low, high, share = seen_from(reals, ints, o, d, length, j)
        if number == 0:
            if rest < share:
                number = j + 1
                out = along + off * ti.tan(low + (high - low) * rest / share)
            else:
                rest -= share
    if number == 0:
        total = v - rest
        out = -ti.log(1.0 - ti.min(rest / (1.0 - total), 1.0) * within) / sigma
    return ti.math.clamp(out, 0.0, length), number
