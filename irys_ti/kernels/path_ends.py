"""How a path begins and ends: its first ray and wavelengths, and what it leaves for the film and for its replay."""

from irys_ti.kernels import rng
from irys_ti.kernels.camera import camera_ray, film_offset
from irys_ti.kernels.config import D_DENSITY, FORWARD, PRIMAL, REVERSE
from irys_ti.kernels.film import two_sum
from irys_ti.kernels.layout import (
    H_CHANNELS,
    RAY_STRIDE,
    RECORD_END,
    RECORD_LIT,
    RECORD_LOW,
    RECORD_ONE_ZERO,
    RECORD_STRIDE,
    RECORD_TOTAL,
    RECORD_WEIGHT,
)
from irys_ti.kernels.wavelength import response, sample_wavelengths
from irys_ti.runtime import ti


@ti.func
def first_ray(
    reals: ti.template(), ints: ti.template(), tangents: ti.template(), lane, pixel, px, py, key, index,
    config: ti.template(),
):  # fmt: skip
    """(origin, direction, wavelengths, their densities, depth to begin at) of one path."""
    start_depth = 0
    u_x, u_y = rng.sample_2d(key, index, rng.PAIR_FILM)
    shift = film_offset(ints, ti.Vector([u_x, u_y]))
    u_lambda, _ = rng.sample_2d(key, index, rng.PAIR_WAVELENGTH)
    lambdas, pdf_lambda = sample_wavelengths(reals, ints, u_lambda)
    o, d = camera_ray(reals, ints, ti.cast(px, float) + 0.5 + shift[0], ti.cast(py, float) + 0.5 + shift[1])
    if ti.static(config.rays):
        for k in ti.static(range(3)):
            o[k], d[k] = tangents[lane * RAY_STRIDE + k], tangents[lane * RAY_STRIDE + 3 + k]
        start_depth = ti.cast(tangents[lane * RAY_STRIDE + 6], ti.i32)
    return o, d, lambdas, pdf_lambda, start_depth


@ti.func
def begin_record(
    reals: ti.template(), ints: ti.template(), record: ti.template(), d_film: ti.template(), lane, pixel, replay,
    lambdas, pdf_lambda, d_scale, config: ti.template(),
):  # fmt: skip
    """Clear a path's record in pass 0; in pass 1 write the derivative of the loss by the path's radiance into it."""
    for k in range(4):
        if not replay:
            record[lane * RECORD_STRIDE + RECORD_ONE_ZERO + k] = 0.0
        elif ti.static(config.mode == REVERSE):
            w = 0.0
            for c in range(ints[H_CHANNELS]):
                w += d_film[pixel * ints[H_CHANNELS] + c] * response(reals, ints, c, lambdas[k])
            record[lane * RECORD_STRIDE + RECORD_WEIGHT + k] = w * d_scale / (4.0 * pdf_lambda[k])


@ti.func
def ones_where(zeros):
    """1 for each wavelength whose number of zeros is 0."""
    out = ti.Vector([0.0, 0.0, 0.0, 0.0])
    for k in ti.static(range(4)):
        out[k] = ti.select(zeros[k] == 0, 1.0, 0.0)
    return out


@ti.func
def add_radiance(record: ti.template(), lane, L, L_low, x, alone, zeros, replay, config: ti.template()):
    """A contribution x to a path's radiance, a two-float sum; where one factor is zero, to what that one keeps away.

    x: without the factors that are zero, whose number is ``zeros``; alone: 1 where there are none.
    """
    total, low = two_sum(L, alone * x)
    if ti.static(config.mode != PRIMAL):
        for k in ti.static(range(4)):
            if zeros[k] == 1 and not replay:
                record[lane * RECORD_STRIDE + RECORD_ONE_ZERO + k] += x[k]
    return total, L_low + low


@ti.func
def keep_record(record: ti.template(), lane, L, L_low, lambdas, end, lit_bits, config: ti.template()):
    """What pass 1 needs of pass 0."""
    for k in range(4):
        record[lane * RECORD_STRIDE + RECORD_TOTAL + k] = L[k]
        record[lane * RECORD_STRIDE + RECORD_LOW + k] = L_low[k]
        if ti.static(config.splats != 0 or config.media & D_DENSITY):
            record[lane * RECORD_STRIDE + RECORD_WEIGHT + k] = lambdas[k]
    record[lane * RECORD_STRIDE + RECORD_END] = ti.cast(end, float)
    record[lane * RECORD_STRIDE + RECORD_LIT] = ti.cast(lit_bits, float)


@ti.func
def give_sample(
    reals: ti.template(), ints: ti.template(), samples: ti.template(), lane, out, lambdas, pdf_lambda, replay,
    config: ti.template(),
):  # fmt: skip
    """The path's radiance, or in FORWARD mode its derivative, to the film's channels; with given rays as it is."""
    if ti.static(config.mode == PRIMAL) or (replay == ti.static(config.mode == FORWARD)):
        if ti.static(config.rays):
            for k in range(4):
                samples[4 * lane + k] = out[k]
        else:
            for c in range(ints[H_CHANNELS]):
                value = 0.0
                for k in range(4):
                    value += out[k] * response(reals, ints, c, lambdas[k]) / (4.0 * pdf_lambda[k])
                samples[lane * ints[H_CHANNELS] + c] = value
