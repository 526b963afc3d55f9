"""Random walks through what materials put behind their surfaces: subsurface scattering, and what transmission meets.

Such a medium is closed in by its material's surface, which no shadow ray passes. So scatterings in it are no vertices: no
light is sampled, nothing is evaluated but a distance, a direction and how far the surface is, and ``trace_paths`` repeats its
one ``intersect``, over no more than that distance, until the surface is reached. The chance of a distance is a mixture over
the four wavelengths as in media_walk.py; directions are drawn from the phase function itself.

What a walk multiplies the path by is scattering^n exp(-extinction s), with s the way it went, times its phase functions over
their chances. Its derivative needs three numbers: n, s, and the sum of d ln phase / d g. The replay sums them as it walks, and
deposits once a walk. The medium's coefficients are one graph of the material's parameters (``interior`` of a BSDF module),
looked up where the path came in, so that a texture's colour is that of the way in.
"""

from irys_ti.kernels.bsdf import find
from irys_ti.kernels.config import FORWARD, REVERSE
from irys_ti.kernels.dispatch import width
from irys_ti.kernels.layout import (
    DERIVED,
    H_MATERIALS,
    H_SPHERE,
    MATERIAL_KIND,
    MATERIAL_N,
    MATERIAL_STRIDE,
    MATERIAL_VALUES,
    MEDIUM_FLAGS,
    MEDIUM_MATERIAL,
    RECORD_LOW,
    RECORD_ONE_ZERO,
    RECORD_STRIDE,
    RECORD_TOTAL,
    RECORD_WEIGHT,
    SCATTERS,
    WALKED,
)
from irys_ti.kernels.media_grid import shares
from irys_ti.kernels.media_walk import FAR, FLOOR
from irys_ti.kernels.rng import combine, mix, unit
from irys_ti.kernels.shading import deposit_row, lookup_rows
from irys_ti.kernels.walk_terms import (
    insides,
    lower_direction,
    lower_interior,
    lower_interior_jvp,
    lower_interior_vjp,
    lower_score,
    used_rows,
)
from irys_ti.runtime import ti

MOST_WALKED = 1 << 20  # scatterings of one walk
LOOK = 63  # a walk looks how far the surface is, however far, at scatterings whose number has these bits
DENSEST = 1e4  # extinctions over the scene's radius: above, the mean free path is held, which steps off surfaces must not outgrow
DIM = 0.25  # a walk goes on by chance below this share of the light that it began with


@ti.func
def material_inside(ints: ti.template(), medium):
    """The material whose parameters a walked medium has; -1 for media of another kind, or none."""
    out = -1
    if medium >= 0:
        if (ints[medium + MEDIUM_FLAGS] & WALKED) != 0:
            out = ints[H_MATERIALS] + ints[medium + MEDIUM_MATERIAL] * MATERIAL_STRIDE
    return out


@ti.func
def look_up_inside(
    reals: ti.template(), data: ti.template(), ints: ti.template(), material, lambdas, uv, rows: ti.template(),
    config: ti.template(), is_tangent: ti.template(),
):  # fmt: skip
    """All parameters of the material into ``rows``."""
    first, n = ints[material + MATERIAL_VALUES], ints[material + MATERIAL_N]
    lookup_rows(reals, data, ints, first, n, lambdas, uv, rows, config, is_tangent)


@ti.func
def inside_terms(
    reals: ti.template(), ints: ti.template(), material, rows: ti.template(), lambdas, config: ti.template()
):
    """(extinction, scattering, g) of a material's inside, and what the first two were held by."""
    sigma, scattering, g = ti.Vector([0.0, 0.0, 0.0, 0.0]), ti.Vector([0.0, 0.0, 0.0, 0.0]), 0.0
    kind = ints[material + MATERIAL_KIND]
    for index, name in ti.static(insides(config)):
        if kind == ti.static(index):
            sigma, scattering, g = lower_interior(name, rows, lambdas)
    by = held(reals, ints, sigma)
    return sigma * by, scattering * by, g, by


@ti.func
def held(reals: ti.template(), ints: ti.template(), sigma):
    """Per wavelength, what an extinction and its scattering are multiplied by to stay below DENSEST."""
    most, out = DENSEST / reals[ints[H_SPHERE] + 3], ti.Vector([1.0, 1.0, 1.0, 1.0])
    for k in ti.static(range(4)):
        out[k] = ti.select(sigma[k] > most, most / ti.max(sigma[k], most), 1.0)
    return out


@ti.func
def rates(reals: ti.template(), ints: ti.template(), medium, sigma):
    """What distances are drawn from: the extinction, with a floor where derivatives are asked for; 0 without scattering."""
    flags = ints[medium + MEDIUM_FLAGS]
    floor = ti.select((flags & DERIVED) != 0, FLOOR / (2.0 * reals[ints[H_SPHERE] + 3]), 0.0)
    return ti.select((flags & SCATTERS) != 0, 1.0, 0.0) * ti.max(sigma, floor)


@ti.func
def is_looked_around(n):
    """Whether a step looks for the surface beyond its own length: where there is none, rounding let the walk out, once in a
    million steps beside the surface or so, and it ends there rather than stray outside."""
    return (n & LOOK) == LOOK


@ti.func
def draw(seed, step, which):
    """A number in [0, 1): each scattering has five."""
    return unit(mix(combine(seed, ti.cast(8 * step + which, ti.u32))))


@ti.func
def free_way(drawn, T, zeros, u0, u1):
    """(distance to the next scattering, the wavelength that it is drawn by)."""
    w = shares(T, zeros)
    rate, number = drawn[3], 3
    below = w[0] + w[1] + w[2]
    for k in ti.static((2, 1, 0)):
        if u1 < below:
            rate, number = drawn[k], k
        below -= w[k]
    t = FAR
    if rate > 0.0:
        t = ti.min(-ti.log(1.0 - u0) / rate, FAR)
    return t, number


@ti.func
def step_weight(sigma, scattering, drawn, T, zeros, way, is_scattered, derived):
    """(factors over the four wavelengths' chance, zero factors: 1 whose derivative is asked for, 2 for good)."""
    w = shares(T, zeros)
    over = 0.0
    for k in ti.static(range(4)):
        over += w[k] * ti.exp(-way * drawn[k]) * ti.select(is_scattered, drawn[k], 1.0)
    F, own = ti.Vector([1.0, 1.0, 1.0, 1.0]), ti.Vector([0, 0, 0, 0])
    for k in ti.static(range(4)):
        through = ti.exp(-way * sigma[k])
        is_zero = is_scattered and scattering[k] == 0.0
        F[k] = ti.select(is_scattered and not is_zero, scattering[k], 1.0) * through / over
        own[k] = ti.select(is_zero, ti.select(derived, 1, 2), 0)
        if F[k] == 0.0:
            F[k], own[k] = 1.0, 2
    return F, own


@ti.func
def turn_direction(d, g, u0, u1):
    """(the next direction, d ln phase / d g)."""
    wo = ti.Vector([0.0, 0.0, 1.0])
    wo = lower_direction(-d, g, u0, u1)
    wo = wo.normalized()
    score = lower_score(-d, wo, g)
    return wo, score


@ti.func
def roulette(T, zeros, first, u0):
    """What a walk's light is multiplied by: 1 where it is bright enough, 0 where the walk ends."""
    largest, out = 0.0, 1.0
    for k in ti.static(range(4)):
        largest = ti.max(largest, ti.select(zeros[k] < 2, T[k], 0.0))
    if largest < DIM * first:
        chance = largest / (DIM * first)
        out = ti.select(u0 < chance, 1.0 / ti.max(chance, 1e-30), 0.0)
    return out


@ti.func
def derive_walk(
    reals: ti.template(), ints: ti.template(), acc: ti.template(), tangents: ti.template(), record: ti.template(), lane,
    medium, n, way, score, zeros_before, L_before, L_low_before, lambdas, uv, rows: ti.template(), d_rows: ti.template(),
    replica, config: ti.template(),
):  # fmt: skip
    """Deposit the derivatives of a walk of n scatterings over a length ``way``; in FORWARD mode return them."""
    d_L = ti.Vector([0.0, 0.0, 0.0, 0.0])
    material = material_inside(ints, medium)
    if material >= 0:
        if (ints[medium + MEDIUM_FLAGS] & DERIVED) != 0:
            look_up_inside(reals, reals, ints, material, lambdas, uv, rows, config, False)
            sigma, scattering, g, by = inside_terms(reals, ints, material, rows, lambdas, config)
            up_t, up_s, up_g = ti.Vector([0.0, 0.0, 0.0, 0.0]), ti.Vector([0.0, 0.0, 0.0, 0.0]), ti.Vector([0.0, 0.0, 0.0, 0.0])
            for k in ti.static(range(4)):
                if zeros_before[k] == 0:
                    at = lane * RECORD_STRIDE + k
                    rest = (record[at + RECORD_TOTAL] - L_before[k]) + (record[at + RECORD_LOW] - L_low_before[k])
                    alone = record[at + RECORD_ONE_ZERO]
                    if ti.static(config.mode == REVERSE):
                        rest, alone = rest * record[at + RECORD_WEIGHT], alone * record[at + RECORD_WEIGHT]
                    up_t[k], up_g[k] = -way * rest, score * rest
                    if scattering[k] != 0.0:
                        up_s[k] = ti.cast(n, float) * rest / scattering[k]
                    elif n == 1:
                        up_s[k] = alone
                    if by[k] < 1.0:  # the extinction stands still, and the scattering is the albedo's share of it
                        up_s[k] *= by[k]
                        up_t[k] = -up_s[k] * scattering[k] / sigma[k]
            kind, first = ints[material + MATERIAL_KIND], ints[material + MATERIAL_VALUES]
            if ti.static(config.mode == REVERSE):
                n_rows = ints[material + MATERIAL_N]
                for j in range(n_rows):
                    for k in ti.static(range(4)):
                        d_rows[j, k] = 0.0
                for index, name in ti.static(insides(config)):
                    if kind == ti.static(index):
                        found = lower_interior_vjp(name, rows, lambdas, up_t, up_s, up_g.sum())
                        for i, j in ti.static(enumerate(used_rows(name))):
                            for k in ti.static(range(width(find(name).PARAMS, j))):
                                d_rows[j, k] = found[i][k]
                for j in range(n_rows):
                    row = ti.Vector([d_rows[j, 0], d_rows[j, 1], d_rows[j, 2], d_rows[j, 3]])
                    if row[0] != 0.0 or row[1] != 0.0 or row[2] != 0.0 or row[3] != 0.0:
                        deposit_row(reals, ints, acc, first + j, lambdas, uv, row, replica, config)
            if ti.static(config.mode == FORWARD):
                t_rows = ti.Matrix.zero(float, config.bsdf_rows, 4)
                look_up_inside(reals, tangents, ints, material, lambdas, uv, t_rows, config, True)
                for index, name in ti.static(insides(config)):
                    if kind == ti.static(index):
                        d_sigma, d_scattering, d_g = lower_interior_jvp(name, rows, t_rows, lambdas)
                        d_L += up_t * d_sigma + up_s * d_scattering + up_g * d_g
    return d_L
