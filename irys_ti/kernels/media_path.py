"""What media do to a path at each vertex: the shadow ray's way through them, and the derivatives of both rays' factors.

A shadow ray's pieces are kept until the light at its end is known; beyond PIECES the last place holds one of the rest,
each with the same chance, which counts for all of them.
"""

from irys_ti.kernels.adjoint import LIGHT
from irys_ti.kernels.config import AIMED, D_DENSITY, D_MEDIA, FORWARD, REVERSE
from irys_ti.kernels.emitter import light_record
from irys_ti.kernels.layout import (
    DERIVED,
    H_INSIDE,
    LIGHT_KIND,
    MEDIUM_FLAGS,
    MEDIUM_VALUES,
    RECORD_LOW,
    RECORD_ONE_ZERO,
    RECORD_STRIDE,
    RECORD_TOTAL,
    RECORD_WEIGHT,
    SCATTERS,
)
from irys_ti.kernels.light import LIGHTS
from irys_ti.kernels.media_terms import (
    EMISSION,
    ROWS,
    emission_row,
    look_up_terms,
    lower_extinction,
    lower_extinction_jvp,
    lower_extinction_vjp,
)
from irys_ti.kernels.media_walk import AIM, walk_media
from irys_ti.kernels.rng import combine, mix, unit
from irys_ti.kernels.shading import deposit_row
from irys_ti.kernels.splat_light import baselines
from irys_ti.runtime import ti

PIECES, PIECE = 6, 6  # kept pieces of a shadow ray; numbers of each: origin, length, medium, its turn
AIMED_VERTICES = 4  # a path's vertices whose scatterings are drawn near to lights too: weights would add up
TURNS = 256  # boundaries that a shadow ray passes at most
SEGMENTS = 1 << 20  # pieces of a path at most
CLEAR = 2.0**-17  # of where it is, how far a scattering stays from the ends of its piece
FIRST_PAIR = 1 << 24  # of random numbers of a path's pieces: beyond those of its bounces


def sizes(config) -> tuple[int, int]:
    """Kept pieces and rows of terms that a lane holds."""
    return PIECES if config.media & D_MEDIA else 1, ROWS if config.media else 1


@ti.func
def first_inside(ints: ti.template()):
    """The media that the camera is inside of."""
    at = ints[H_INSIDE]
    return ti.Vector([ti.cast(ints[at], ti.u32), ti.cast(ints[at + 1], ti.u32)])


@ti.func
def is_far(ints: ti.template(), i_light, config: ti.template()):
    """Whether a light lies beyond everything."""
    out = 0
    kind = ints[light_record(ints, i_light) + LIGHT_KIND]
    for index, name in ti.static(config.lights):
        if ti.static(LIGHTS[name].CLASS == "environment" or name == "directional"):
            if kind == ti.static(index):
                out = 1
    return out


@ti.func
def clear_of_ends(t, span, o, d, radius):
    """t of a scattering, moved off the surfaces that its piece may begin and end at, by more than what rounds.

    Nearer, the vertex may lie beyond the surface, and the path would not know which media it is inside of from there on: of
    paths that scatter 10,000 times among boundaries a tenth was lost.
    """
    p = o + t * d
    least = ti.min(CLEAR * (ti.max(ti.max(ti.abs(p[0]), ti.abs(p[1])), ti.abs(p[2])) + 2.0**-6 * radius), 0.5 * span)
    return ti.math.clamp(t, least, span - least)


@ti.func
def seed_of(key, index, segment, turn):
    """What a piece is drawn from: turn 0 is the path's, others the shadow ray's."""
    h = combine(key ^ ti.u32(0x3C6EF372), ti.cast(index, ti.u32))
    return combine(h, ti.cast(segment * 2 * TURNS + turn, ti.u32))


@ti.func
def kind_of_piece(is_shadow, depth, config: ti.template()):
    """Whose piece it is (kernels/media_walk.py): scatterings of a path's first pieces are drawn near to lights too."""
    out = is_shadow
    if ti.static(config.media & AIMED):
        out = ti.select(is_shadow == 0 and depth < AIMED_VERTICES, AIM, is_shadow)
    return out


@ti.func
def keep_piece(pieces: ti.template(), n, o, length, medium, turn, seed):
    """Keep the n-th piece of a shadow ray."""
    at, m = n, n - (PIECES - 2)  # m: how many the last place stands for
    if n >= (PIECES - 1):
        at = PIECES - 1
        if unit(mix(seed ^ ti.u32(0x9D2C5680))) * ti.cast(m, float) >= 1.0:
            at = -1
    if at >= 0:
        for k in ti.static(range(3)):
            pieces[at, k] = o[k]
        pieces[at, 3], pieces[at, 4], pieces[at, 5] = length, ti.cast(medium, float), ti.cast(turn, float)


@ti.func
def derive_media(
    reals: ti.template(), ints: ti.template(), acc: ti.template(), tangents: ti.template(), record: ti.template(),
    d_film: ti.template(), pixel, depth, pieces: ti.template(), n_pieces, rows: ti.template(), d_rows: ti.template(), lane,
    key, index, segment, medium, o, d, d_light, length, u, T_before, zeros_before, L_before, L_low_before, T,
    f: ti.template(), lit, L_sampled, alone, lambdas, replica, config: ti.template(),
):  # fmt: skip
    """Deposit the derivatives of the path's piece and of the shadow ray's; in FORWARD mode return them."""
    d_L = ti.Vector([0.0, 0.0, 0.0, 0.0])
    for piece in range(-1, ti.select(lit == 1, ti.min(n_pieces, ti.static(PIECES)), 0)):
        m, from_o, along, span, turn, is_shadow = medium, o, d, length, 0, 0
        up, one_zero, carry = ti.Vector([0.0, 0.0, 0.0, 0.0]), ti.Vector([0.0, 0.0, 0.0, 0.0]), ti.Vector([0.0, 0.0, 0.0, 0.0])
        if piece >= 0:
            m, turn, is_shadow = ti.cast(pieces[piece, 4], ti.i32), ti.cast(pieces[piece, 5], ti.i32), 1
            from_o, along = ti.Vector([pieces[piece, 0], pieces[piece, 1], pieces[piece, 2]]), d_light
            span = pieces[piece, 3]
        count = 1.0
        if piece == ti.static(PIECES - 1):
            count = ti.cast(n_pieces - ti.static(PIECES - 1), float)
        for k in ti.static(range(4)):
            at = lane * RECORD_STRIDE + k
            if piece >= 0:
                up[k] = alone[k] * T[k] * f[LIGHT, k] * L_sampled[k] * count
            elif zeros_before[k] == 0:
                up[k] = (record[at + RECORD_TOTAL] - L_before[k]) + (record[at + RECORD_LOW] - L_low_before[k])
                one_zero[k] = record[at + RECORD_ONE_ZERO]
                carry[k] = T_before[k]
            if ti.static(config.mode == REVERSE):
                weight = record[at + RECORD_WEIGHT]
                up[k], one_zero[k], carry[k] = up[k] * weight, one_zero[k] * weight, carry[k] * weight
        base = ti.Vector([0.0, 0.0, 0.0, 0.0])
        if ti.static(config.media & D_DENSITY and config.mode == REVERSE):
            if piece == -1 and depth == 0:
                base = baselines(reals, ints, record, d_film, lane, pixel, lambdas)
                for k in ti.static(range(4)):
                    base[k] *= ti.select(zeros_before[k] == 0, T_before[k], 0.0)
        wanted = 0
        if m >= 0:
            if (ints[m + MEDIUM_FLAGS] & SCATTERS) == 0:  # what it absorbs is not drawn, so the rest is not all there is
                base *= 0.0
            wanted = ints[m + MEDIUM_FLAGS] & DERIVED
        if wanted != 0:
            look_up_terms(reals, reals, ints, m, lambdas, rows, config, False)
            t_s, F, own, E, g, h, moved, _ = walk_media(
                reals, ints, acc, tangents, m, from_o, along, span, seed_of(key, index, segment, turn), u, T_before,
                zeros_before, kind_of_piece(is_shadow, depth, config), lower_extinction(rows), emission_row(rows), up, one_zero, carry,
                base, replica, config, True,
            )  # fmt: skip
            if ti.static(config.mode == REVERSE):
                found = lower_extinction_vjp(rows, g)
                for j in ti.static(range(ROWS)):
                    for k in ti.static(range(4)):
                        d_rows[j, k] = found[j][k]
                        if ti.static(j == EMISSION):
                            d_rows[j, k] = h[k]
                for j in range(ti.static(ROWS)):
                    nowhere = ti.Vector([0.0, 0.0])
                    row = ti.Vector([d_rows[j, 0], d_rows[j, 1], d_rows[j, 2], d_rows[j, 3]])
                    deposit_row(reals, ints, acc, ints[m + MEDIUM_VALUES] + j, lambdas, nowhere, row, replica, config)
            if ti.static(config.mode == FORWARD):
                look_up_terms(reals, tangents, ints, m, lambdas, d_rows, config, True)
                d_L += g * lower_extinction_jvp(rows, d_rows) + h * emission_row(d_rows) + moved
    return d_L
