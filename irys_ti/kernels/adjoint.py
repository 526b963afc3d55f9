"""What one vertex contributes to the derivative of its path: the adjoint (REVERSE) and the tangent (FORWARD).

The radiance of a path is a sum of products of factors. With a detached sampler, the derivative of one factor f
is multiplied by everything else: for a BSDF towards the sampled light, the throughput so far and that light; for
the BSDF towards the next vertex, what remains of the path's radiance after this vertex, divided by f; for an
emitted value, the throughput that carries it.
"""

from irys_ti.kernels.emitter import light_record
from irys_ti.kernels.layout import (
    LIGHT_N,
    LIGHT_VALUES,
    LIGHT_WANTED,
    MATERIAL_KIND,
    MATERIAL_N,
    MATERIAL_VALUES,
    RECORD_LOW,
    RECORD_ONE_ZERO,
    RECORD_STRIDE,
    RECORD_TOTAL,
    RECORD_WEIGHT,
)
from irys_ti.kernels.phase_table import deposit_cell, fill_cell, fill_tangents
from irys_ti.kernels.shading import (
    deposit_row,
    emitted_jvp,
    emitted_vjp,
    eval_bsdf_jvp,
    eval_bsdf_vjp,
    lookup_rows,
)
from irys_ti.runtime import ti

HIT, SAMPLED = 0, 1  # the two lights of a vertex: the one that was hit, the one that was sampled
LIGHT, NEXT = 0, 1  # the two directions a BSDF is evaluated for: to the sampled light, to the next vertex


@ti.func
def around_bsdf(
    record: ti.template(), lane, way, T, L, L_low, L_sampled, f: ti.template(), alone
):
    """What multiplies the BSDF's derivative in one direction: the path's radiance without that factor.

    A factor that is zero is not divided by: it owns the radiance that it alone keeps away.
    """
    out = ti.Vector([0.0, 0.0, 0.0, 0.0])
    for k in ti.static(range(4)):
        at = lane * RECORD_STRIDE + k
        if way == LIGHT:
            out[k] = T[k] * L_sampled[k]
        elif f[NEXT, k] != 0.0:
            rest = (record[at + RECORD_TOTAL] - L[k]) + (record[at + RECORD_LOW] - L_low[k])
            out[k] = rest / f[NEXT, k]
        else:
            out[k] = record[at + RECORD_ONE_ZERO]
        out[k] *= alone[k]
    return out


@ti.func
def adjoint_of_bsdf(
    reals: ti.template(), ints: ti.template(), acc: ti.template(), record: ti.template(), d_rows: ti.template(),
    number_of: ti.template(), lane, material, rows: ti.template(), wi, wo_of: ti.template(), f: ti.template(), delta, lit, lambdas,
    T, L, L_low, L_sampled, alone, replica, config: ti.template(),
):  # fmt: skip
    """Derivatives of the BSDF's parameters, both directions summed, into the first of ``d_rows``; a table's are deposited."""
    first, n, kind = ints[material + MATERIAL_VALUES], ints[material + MATERIAL_N], ints[material + MATERIAL_KIND]
    for j in range(n):
        number_of[j] = first + j
        for k in range(4):
            d_rows[j, k] = 0.0
    for way in range(2):
        if way == NEXT or lit == 1:
            up = around_bsdf(record, lane, way, T, L, L_low, L_sampled, f, alone)
            for k in ti.static(range(4)):
                up[k] *= record[lane * RECORD_STRIDE + RECORD_WEIGHT + k]
            w = ti.Vector([wo_of[way, 0], wo_of[way, 1], wo_of[way, 2]])
            fill_cell(reals, ints, kind, material, lambdas, wi, w, rows, config)
            eval_bsdf_vjp(kind, rows, wi, w, ti.select(way == NEXT, delta, 0), up, d_rows, lambdas, config)
            deposit_cell(reals, ints, acc, kind, material, lambdas, wi, w, d_rows, replica, config)


@ti.func
def adjoint_of_lights(
    reals: ti.template(), ints: ti.template(), record: ti.template(), d_rows: ti.template(), number_of: ti.template(),
    lane, lit, light_of, light_w: ti.template(), light_uv: ti.template(), light_up: ti.template(),
    light_rows: ti.template(), lambdas, config: ti.template(),
):  # fmt: skip
    """Derivatives of the parameters of the light that was hit and of the one that was sampled, into ``d_rows``."""
    for which in range(2):
        i_light = light_of[which]
        if i_light >= 0 and (which == HIT or lit == 1):
            light = light_record(ints, i_light)
            if ints[light + LIGHT_WANTED] != 0:
                first, n = ints[light + LIGHT_VALUES], ints[light + LIGHT_N]
                at = config.bsdf_rows + which * config.light_rows
                for j in range(n):
                    number_of[at + j] = first + j
                    for k in range(4):
                        d_rows[at + j, k] = 0.0
                uv = ti.Vector([light_uv[which, 0], light_uv[which, 1]])
                w = ti.Vector([light_w[which, 0], light_w[which, 1], light_w[which, 2]])
                up = ti.Vector([0.0, 0.0, 0.0, 0.0])
                for k in ti.static(range(4)):
                    up[k] = light_up[which, k] * record[lane * RECORD_STRIDE + RECORD_WEIGHT + k]
                lookup_rows(reals, reals, ints, first, n, lambdas, uv, light_rows, config, False)
                emitted_vjp(reals, ints, light, light_rows, w, up, d_rows, at, lambdas, config)


@ti.func
def deposit_rows(
    reals: ti.template(), ints: ti.template(), acc: ti.template(), d_rows: ti.template(), number_of: ti.template(),
    replica, lambdas, uv, light_uv: ti.template(), config: ti.template(),
):  # fmt: skip
    """Add all derivative rows of a vertex to their accumulators: the only place that deposits."""
    for row in range(config.bsdf_rows + 2 * config.light_rows):
        if number_of[row] >= 0:
            at_uv = uv
            if row >= config.bsdf_rows:
                which = (row - config.bsdf_rows) // config.light_rows
                at_uv = ti.Vector([light_uv[which, 0], light_uv[which, 1]])
            d = ti.Vector([d_rows[row, 0], d_rows[row, 1], d_rows[row, 2], d_rows[row, 3]])
            deposit_row(reals, ints, acc, number_of[row], lambdas, at_uv, d, replica, config)
            number_of[row] = -1


@ti.func
def tangent_of_bsdf(
    reals: ti.template(), ints: ti.template(), tangents: ti.template(), record: ti.template(), lane, material,
    rows: ti.template(), wi, wo_of: ti.template(), f: ti.template(), delta, lit, lambdas, uv, T, L, L_low, L_sampled,
    alone, config: ti.template(),
):  # fmt: skip
    """Derivative of the path's radiance by this BSDF's parameters, along their tangents."""
    first, n, kind = ints[material + MATERIAL_VALUES], ints[material + MATERIAL_N], ints[material + MATERIAL_KIND]
    t_rows = ti.Matrix.zero(float, config.bsdf_rows, 4)
    lookup_rows(reals, tangents, ints, first, n, lambdas, uv, t_rows, config, True)
    d_L = ti.Vector([0.0, 0.0, 0.0, 0.0])
    for way in range(2):
        if way == NEXT or lit == 1:
            up = around_bsdf(record, lane, way, T, L, L_low, L_sampled, f, alone)
            w = ti.Vector([wo_of[way, 0], wo_of[way, 1], wo_of[way, 2]])
            fill_cell(reals, ints, kind, material, lambdas, wi, w, rows, config)
            fill_tangents(reals, tangents, ints, kind, material, lambdas, wi, w, t_rows, config)
            d_L += up * eval_bsdf_jvp(kind, rows, t_rows, wi, w, ti.select(way == NEXT, delta, 0), lambdas, config)
    return d_L


@ti.func
def tangent_of_lights(
    reals: ti.template(), ints: ti.template(), tangents: ti.template(), lit, light_of, light_w: ti.template(),
    light_uv: ti.template(), light_up: ti.template(), lambdas, config: ti.template(),
):  # fmt: skip
    """Derivative of the path's radiance by the parameters of this vertex's lights, along their tangents."""
    d_L = ti.Vector([0.0, 0.0, 0.0, 0.0])
    for which in range(2):
        i_light = light_of[which]
        if i_light >= 0 and (which == HIT or lit == 1):
            light = light_record(ints, i_light)
            first, n = ints[light + LIGHT_VALUES], ints[light + LIGHT_N]
            uv = ti.Vector([light_uv[which, 0], light_uv[which, 1]])
            w = ti.Vector([light_w[which, 0], light_w[which, 1], light_w[which, 2]])
            rows, t_rows = ti.Matrix.zero(float, config.light_rows, 4), ti.Matrix.zero(float, config.light_rows, 4)
            lookup_rows(reals, reals, ints, first, n, lambdas, uv, rows, config, False)
            lookup_rows(reals, tangents, ints, first, n, lambdas, uv, t_rows, config, True)
            d_Le = emitted_jvp(reals, ints, light, rows, t_rows, w, lambdas, config)
            for k in ti.static(range(4)):
                d_L[k] += light_up[which, k] * d_Le[k]
    return d_L
