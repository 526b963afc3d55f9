"""One piece of a ray through one medium: where it scatters, if it does, and what that does to the path.

A piece multiplies the path by a factor per wavelength: sigma exp(-sigma t) over the chance of having scattered at t, or
exp(-sigma t) over the chance of having come through. The chance is that of a mixture over the four wavelengths, weighted by
the path's throughput, so that no weight outgrows the mixture's (one-sample spectral MIS). Chances are not differentiated.
Where a derivative is asked for, they are drawn from extinctions with a floor, so that a wavelength that cannot scatter
still shows what it would do.
"""

from irys_ti.kernels.config import AIMED, GLOWING, GRIDS, PRIMAL
from irys_ti.kernels.layout import (
    DERIVED,
    EMITS,
    H_SPHERE,
    MEDIUM_FLAGS,
    MEDIUM_GRID,
    SCATTERS,
)
from irys_ti.kernels.media_aim import aimed, density_of_aims
from irys_ti.kernels.media_grid import shares, walk_grid
from irys_ti.runtime import ti

PATH, TO_LIGHT, AIM = 0, 1, 2  # whose piece it is: the path's, the shadow ray's, the path's and drawn near to lights too
FLOOR = 0.25  # optical depth of a piece that derivatives see at least
FAR = 1e30  # length of a piece without an end
MOST_SHOWN = 1e6  # length, in radii of the scene, that shows what an endless medium emits


@ti.func
def walk_media(
    reals: ti.template(), ints: ti.template(), acc: ti.template(), tangents: ti.template(), medium, o, d, length, seed, u, T,
    zeros, ray, sigma, glow, up, one_zero, carry, base, replica, config: ti.template(), deposit: ti.template(),
):  # fmt: skip
    """The piece o + t d, 0 < t < length, of a medium.

    sigma, glow: its extinction and emission at density 1. u: two numbers in [0, 1) and seed: what it is drawn from. Returns
    (t, factor, own, E, g, h, moved, decided): t where it scatters, -1 where it comes through; the factor without its zeros, which ``own``
    counts (1: asked for, 2: for good); E: what it emits, over T. With ``deposit`` also derivatives by sigma and glow of
    what the path shows: ``up``, its radiance from here on, of which ``carry`` times E is the piece's own; one_zero: its
    radiance but for one factor that is zero; base: a guess of ``up`` over the factor, which does not depend on this path and
    is taken off; moved: in FORWARD mode its derivative along the tangents of a grid's densities; decided: a
    number that tells discrete decisions apart.
    """
    moved, is_grid, decided = ti.Vector([0.0, 0.0, 0.0, 0.0]), 0, 0
    t_s, F, own = -1.0, ti.Vector([1.0, 1.0, 1.0, 1.0]), ti.Vector([0, 0, 0, 0])
    E, g, h = ti.Vector([0.0, 0.0, 0.0, 0.0]), ti.Vector([0.0, 0.0, 0.0, 0.0]), ti.Vector([0.0, 0.0, 0.0, 0.0])
    flags = ints[medium + MEDIUM_FLAGS]
    derived, scatters = (flags & DERIVED) != 0, (flags & SCATTERS) != 0 and ray != TO_LIGHT
    if ti.static(config.media & GRIDS):
        is_grid = ints[medium + MEDIUM_GRID]
        if is_grid == 1:
            t_s, F, own, E, g, h, moved, decided = walk_grid(
                reals, ints, acc, tangents, medium, o, d, length, seed, u, T, zeros, scatters, derived, ray & 1, sigma, glow,
                up, one_zero, carry, base, replica, config, deposit,
            )  # fmt: skip
    if is_grid == 0:
        floor = 0.0
        if ti.static(config.mode != PRIMAL):
            if derived:
                floor = FLOOR / ti.min(length, 2.0 * reals[ints[H_SPHERE] + 3])
        over = 1.0  # density of what happened, or its chance
        if scatters:
            w = shares(T, zeros)
            drawn = ti.max(sigma, floor)
            chosen = drawn[3]
            below = w[0] + w[1] + w[2]
            for k in ti.static((2, 1, 0)):
                chosen = ti.select(u[1] < below, drawn[k], chosen)
                decided += ti.select(u[1] < below, 1, 0)  # the wavelength it is drawn by
                below -= w[k]
            free = -ti.log(1.0 - u[0])
            if free < chosen * length:
                t_s = free / chosen
                if ti.static(config.media & AIMED):
                    if ray == AIM:
                        within = chosen * length * shown(chosen * length)
                        t_s, number = aimed(reals, ints, o, d, length, ti.min(u[0] / within, 1.0 - 2.0**-24), chosen, within)
                        decided += 4 * number
                over = w.dot(drawn * ti.exp(-t_s * drawn))
                if ti.static(config.media & AIMED):
                    if ray == AIM:
                        share, near = density_of_aims(reals, ints, o, d, length, t_s)
                        over = (1.0 - share) * over + near * w.dot(chance_within(length * drawn))
            else:
                over = w.dot(ti.exp(-length * drawn))
        t = ti.select(t_s >= 0.0, t_s, length)
        for k in ti.static(range(4)):
            through = ti.exp(-sigma[k] * t)
            is_zero = t_s >= 0.0 and sigma[k] == 0.0
            F[k] = ti.select(t_s >= 0.0 and not is_zero, sigma[k], 1.0) * through / over
            if ti.static(config.mode == PRIMAL):
                F[k] = ti.select(is_zero, 0.0, F[k])
            else:
                own[k] = ti.select(is_zero, ti.select(derived, 1, 2), 0)
                if F[k] == 0.0:
                    F[k], own[k] = 1.0, 2
        reach = ti.min(length, MOST_SHOWN * reals[ints[H_SPHERE] + 3])
        is_glowing = (flags & EMITS) != 0 and ray != TO_LIGHT
        if ti.static(config.media & GLOWING):
            if is_glowing:
                for k in ti.static(range(4)):
                    E[k] = glow[k] * reach * shown(sigma[k] * reach)
        if ti.static(deposit):
            for k in ti.static(range(4)):
                rest = up[k] - carry[k] * E[k] - base[k] * F[k]
                g[k] = -rest * t
                if t_s >= 0.0:
                    alone = one_zero[k] - base[k] * F[k]
                    g[k] += ti.select(sigma[k] > 0.0, rest / ti.select(sigma[k] > 0.0, sigma[k], 1.0), alone)
                if ti.static(config.media & GLOWING):
                    if is_glowing:
                        g[k] += carry[k] * glow[k] * reach * reach * shown_slope(sigma[k] * reach)
                        h[k] = carry[k] * reach * shown(sigma[k] * reach)
    return t_s, F, own, E, g, h, moved, decided


@ti.func
def chance_within(x):
    """1 - exp(-x) of four numbers, without cancelling."""
    out = ti.Vector([0.0, 0.0, 0.0, 0.0])
    for k in ti.static(range(4)):
        out[k] = x[k] * shown(x[k])
    return out


@ti.func
def shown(x):
    """(1 - exp(-x)) / x."""
    series = 1.0 - x * (0.5 - x * (1.0 / 6.0 - x * (1.0 / 24.0)))
    return ti.select(x < 0.03, series, (1.0 - ti.exp(-x)) / ti.max(x, 0.03))


@ti.func
def shown_slope(x):
    """Its derivative."""
    series = -0.5 + x * (1.0 / 3.0 - x * (0.125 - x * (1.0 / 30.0)))
    safe = ti.max(x, 0.06)
    return ti.select(x < 0.06, series, (ti.exp(-safe) * (1.0 + safe) - 1.0) / (safe * safe))
