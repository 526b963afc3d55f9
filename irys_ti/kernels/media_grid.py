"""A piece of a ray through a grid of densities: null-collision tracking, cell by cell of a coarse grid of majorants.

Tentative collisions come at the majorant's rate. Each is real with a chance weighted over the wavelengths by the path's
throughput so far, or null, and multiplies the path by sigma over the majorant and that chance, or by what is missing to the
majorant over the other (Woodcock tracking with spectral MIS; Novak et al. 2018, "Monte Carlo methods for volumetric light
transport simulation", sections 5 and 6). Shadow rays take every collision for null: ratio tracking. Where derivatives are asked
for, majorants are a little larger than any density, so that no null factor is 0, and nowhere 0, so that voxels that are empty
are met and show what they would do (Nimier-David et al. 2022, "Unbiased inverse volume rendering with differential
trackers"). Every factor then deposits its derivative to its eight voxels.
"""

from irys_ti.kernels.accumulate import add_exact
from irys_ti.kernels.config import FORWARD, GLOWING, PRIMAL, REVERSE, SPARSE
from irys_ti.kernels.frame import affine_point, affine_vector
from irys_ti.kernels.layout import (
    BLOCK,
    EMITS,
    GRID_DIAGONAL,
    GRID_MAJORANTS,
    H_VALUES,
    MEDIUM_CELLS,
    MEDIUM_FLAGS,
    MEDIUM_REALS,
    MEDIUM_SIZE,
    MEDIUM_TABLE,
    MEDIUM_VALUES,
    META_SCALE,
    VALUE_DATA,
    VALUE_GRAD,
    VALUE_META,
    VALUE_STRIDE,
)
from irys_ti.kernels.media_terms import ROWS
from irys_ti.kernels.rng import combine, mix, unit
from irys_ti.runtime import ti

SLACK = 1.0625  # majorant over density, where a derivative is asked for
FLOOR = 0.5  # optical depth of the majorants' floor along the grid's diagonal, there


@ti.func
def shares(T, zeros):
    """Weights of the mixture over wavelengths: the throughput where the path still lives."""
    w, total = ti.Vector([0.0, 0.0, 0.0, 0.0]), 0.0
    for k in ti.static(range(4)):
        w[k] = ti.select(zeros[k] < 2, ti.max(T[k], 0.0), 0.0)
        total += w[k]
    for k in ti.static(range(4)):
        w[k] = ti.select(total > 0.0, w[k] / ti.select(total > 0.0, total, 1.0), 0.25)
    return w


@ti.func
def voxel(ints: ti.template(), medium, q, corner, config: ti.template()):
    """(index, weight) of one of the eight voxels around q, in voxels from the grid's corner; index -1 where none is kept."""
    index, weight = 0, 1.0
    block, within, at = 0, 0, 0
    if ti.static(config.media & SPARSE):
        at = ints[medium + MEDIUM_TABLE]
    for axis in ti.static((2, 1, 0)):
        n = ints[medium + MEDIUM_SIZE + axis]
        low = ti.floor(q[axis] - 0.5)
        part = q[axis] - 0.5 - low
        side = (corner >> axis) & 1
        i = ti.math.clamp(ti.cast(low, ti.i32) + side, 0, n - 1)
        index = index * n + i
        if ti.static(config.media & SPARSE):
            block = block * ((n + BLOCK - 1) // BLOCK) + i // BLOCK
            within = within * BLOCK + i % BLOCK
        weight *= ti.select(side == 1, part, 1.0 - part)
    if ti.static(config.media & SPARSE):
        if at > 0:
            number = ints[at + block]
            index = ti.select(number >= 0, number * ti.static(BLOCK**3) + within, -1)
    return index, weight


@ti.func
def density_at(data: ti.template(), ints: ti.template(), medium, base, q, config: ti.template()):
    """The density at q, linear between the voxels' centres; data: reals, or tangents."""
    out = 0.0
    for corner in range(8):
        i, w = voxel(ints, medium, q, corner, config)
        if ti.static(config.media & SPARSE):
            if i >= 0:
                out += w * data[base + i]
        else:
            out += w * data[base + i]
    return out


@ti.func
def walk_grid(
    reals: ti.template(), ints: ti.template(), acc: ti.template(), tangents: ti.template(), medium, o, d, length, seed, u, T,
    zeros, scatters, derived, is_shadow, sigma, glow, up, one_zero, carry, base, replica, config: ti.template(),
    deposit: ti.template(),
):  # fmt: skip
    """As ``media_walk.walk_media``; g is by sigma, and densities' derivatives are deposited, or in FORWARD mode returned."""
    t_s, F, own = -1.0, ti.Vector([1.0, 1.0, 1.0, 1.0]), ti.Vector([0, 0, 0, 0])
    E, g, h = ti.Vector([0.0, 0.0, 0.0, 0.0]), ti.Vector([0.0, 0.0, 0.0, 0.0]), ti.Vector([0.0, 0.0, 0.0, 0.0])
    moved = ti.Vector([0.0, 0.0, 0.0, 0.0])
    at = ints[medium + MEDIUM_REALS]
    value = ints[H_VALUES] + (ints[medium + MEDIUM_VALUES] + ti.static(ROWS)) * VALUE_STRIDE
    data = ints[value + VALUE_DATA]
    size, cells = ti.Vector([0.0, 0.0, 0.0]), ti.Vector([0, 0, 0])
    for k in ti.static(range(3)):
        size[k], cells[k] = ti.cast(ints[medium + MEDIUM_SIZE + k], float), ints[medium + MEDIUM_CELLS + k]

    # --- rates: of tentative collisions at density 1, and their floor
    rate = 0.0
    for k in ti.static(range(4)):
        rate = ti.max(rate, ti.select(zeros[k] < 2, sigma[k], 0.0))
    glows = (ints[medium + MEDIUM_FLAGS] & EMITS) != 0 and is_shadow == 0
    least = 0.0
    if ti.static(config.mode != PRIMAL):
        if derived:
            rate *= SLACK
            least = FLOOR / reals[at + GRID_DIAGONAL]
    if ti.static(config.media & GLOWING):
        if glows:
            least = FLOOR / reals[at + GRID_DIAGONAL]

    # --- the ray in the grid's cube, and its way through the cells
    a, b = affine_point(reals, at, o), affine_vector(reals, at, d)
    t, t_end = 0.0, length
    cell, ahead = ti.Vector([0, 0, 0]), ti.Vector([0.0, 0.0, 0.0])  # and where the ray leaves it along each axis
    for k in ti.static(range(3)):
        b[k] = ti.select(ti.abs(b[k]) < 1e-12, 1e-12, b[k])
        t = ti.max(t, ti.min(-a[k] / b[k], (1.0 - a[k]) / b[k]))
        t_end = ti.min(t_end, ti.max(-a[k] / b[k], (1.0 - a[k]) / b[k]))
    for k in ti.static(range(3)):
        n = ti.cast(cells[k], float)
        cell[k] = ti.math.clamp(ti.cast(ti.floor((a[k] + t * b[k]) * n), ti.i32), 0, cells[k] - 1)
        ahead[k] = (ti.cast(cell[k] + ti.select(b[k] > 0.0, 1, 0), float) / n - a[k]) / b[k]
    first = ti.select(is_shadow == 1, unit(mix(seed)), u[0])  # u belongs to the path's piece
    depth, step, going = -ti.log(1.0 - first), 0, ti.select(t < t_end, 1, 0)
    while going == 1:
        index = (cell[2] * cells[1] + cell[1]) * cells[0] + cell[0]
        majorant = reals[at + GRID_MAJORANTS + index] * rate + least
        leave = ti.min(ti.min(ahead[0], ahead[1]), ti.min(ahead[2], t_end))
        if majorant * (leave - t) <= depth:  # also where both are 0: there is nothing to meet
            depth -= majorant * ti.max(leave - t, 0.0)
            t = leave
            if leave >= t_end:
                going = 0
            else:
                found = 0
                for k in ti.static(range(3)):
                    if found == 0 and ahead[k] <= leave:
                        found = 1
                        cell[k] += ti.select(b[k] > 0.0, 1, -1)
                        ahead[k] += ti.abs(1.0 / (b[k] * ti.cast(cells[k], float)))
                        if cell[k] < 0 or cell[k] >= cells[k]:
                            going = 0
        else:
            # --- a tentative collision
            t += depth / majorant
            draw = combine(seed, ti.cast(step, ti.u32))
            choice = ti.select(step == 0 and is_shadow == 0, u[1], unit(mix(draw)))
            depth = -ti.log(1.0 - unit(mix(draw ^ ti.u32(0x6A09E667))))
            step += 1
            q = (a + t * b) * size
            density = density_at(reals, ints, medium, data, q, config)
            x = sigma * density
            by_density, by_glow = ti.Vector([0.0, 0.0, 0.0, 0.0]), ti.Vector([0.0, 0.0, 0.0, 0.0])
            if ti.static(config.media & GLOWING):
                if glows:
                    for k in ti.static(range(4)):
                        shown = ti.select(own[k] == 0, F[k] / majorant, 0.0)
                        E[k] += shown * density * glow[k]
                        by_density[k], by_glow[k] = carry[k] * shown * glow[k], carry[k] * shown * density
            chance = 0.0
            if scatters:
                chance = shares(T * F, zeros + own).dot(x) / majorant
                if derived:
                    chance = ti.max(chance, 0.5 * least / majorant)
            is_real = choice < chance
            for k in ti.static(range(4)):
                part = ti.select(is_real, x[k], ti.max(majorant - x[k], 0.0))
                over = majorant * ti.select(is_real, chance, 1.0 - chance)
                if ti.static(config.mode == PRIMAL):
                    F[k] *= part / over
                elif part > 0.0:
                    F[k] *= part / over
                else:  # a null factor is 0 only where no derivative is asked for
                    F[k] /= over
                    own[k] += ti.select(derived and is_real, 1, 2)
                if ti.static(deposit):
                    rest = up[k] - carry[k] * E[k] - base[k] * F[k]
                    by_x = ti.select(is_real, 1.0, -1.0) * rest / ti.select(part > 0.0, part, 1.0)
                    if part == 0.0:
                        by_x = ti.select(is_real, one_zero[k] - base[k] * F[k], 0.0)
                    g[k] += by_x * density
                    h[k] += by_glow[k]
                    by_density[k] += by_x * sigma[k]
            if ti.static(deposit and config.mode == FORWARD):
                moved += by_density * density_at(tangents, ints, medium, data, q, config)
            if ti.static(deposit and config.mode == REVERSE):
                if ints[value + VALUE_GRAD] >= 0:
                    amount = (by_density[0] + by_density[1] + by_density[2] + by_density[3]) * reals[
                        ints[value + VALUE_META] + META_SCALE
                    ]
                    for corner in range(8):
                        i, w = voxel(ints, medium, q, corner, config)
                        if w * amount != 0.0 and i >= 0:
                            add_exact(acc, ints[value + VALUE_GRAD] + replica + i, w * amount)
            if is_real:
                t_s, going = t, 0
            elif F.max() <= 0.0 or t >= t_end:
                going = 0
    return t_s, F, own, E, g, h, moved, step
