"""Lights whose value comes from numbers at fixed wavelengths, linear in between: the sky.

One call site in a loop over the path's wavelengths and the two table wavelengths beside each.
"""

from irys_ti.kernels.dispatch import (
    lower_place,
    lower_place_jvp,
    lower_place_vjp,
    lower_value,
    lower_value_jvp,
    lower_value_vjp,
    param_row,
    place_size,
    width,
)
from irys_ti.kernels.light import LIGHTS
from irys_ti.runtime import ti


@ti.func
def load(reals: ti.template(), at, n: ti.template()):
    """n numbers of the pool as a vector."""
    out = ti.Vector.zero(float, n)
    for r in range(n):
        out[r] = reals[at + r]
    return out


@ti.func
def from_table(
    reals: ti.template(), ints: ti.template(), light, place, lambdas, name: ti.template(), riding: ti.template()
):
    """The value at four wavelengths, or only the part that rides with parameters."""
    value = ti.Vector([0.0, 0.0, 0.0, 0.0])
    for k in range(4):
        i, share = LIGHTS[name].table_cell(lambdas[k])
        for side in range(2):
            table = load(reals, LIGHTS[name].table_at(ints, light, i + side), LIGHTS[name].TABLE)
            value[k] += ti.select(side == 1, share, 1.0 - share) * lower_value(name, place, table, riding)
    return value


@ti.func
def from_table_vjp(
    reals: ti.template(), ints: ti.template(), light, rows: ti.template(), w, upstream, d_rows: ti.template(), at, lambdas,
    name: ti.template(),
):  # fmt: skip
    """Add the derivatives of the value to the parameters' rows: by the place, and by what the table depends on."""
    place = lower_place(name, rows, w)
    d_place = ti.Vector.zero(float, place_size(name))
    d_inputs = ti.Vector.zero(float, len(LIGHTS[name].TABLE_INPUTS))
    d_table = ti.Vector.zero(float, LIGHTS[name].TABLE)
    for k in range(4):
        i, share = LIGHTS[name].table_cell(lambdas[k])
        for side in range(2):
            table = load(reals, LIGHTS[name].table_at(ints, light, i + side), LIGHTS[name].TABLE)
            up = upstream[k] * ti.select(side == 1, share, 1.0 - share)
            by_place, by_table = lower_value_vjp(name, place, table, up)
            for j in ti.static(range(place_size(name))):
                d_place[j] += by_place[j]
            for j in ti.static(range(LIGHTS[name].TABLE)):
                d_table[j] = by_table[j]
            for q in range(len(LIGHTS[name].TABLE_INPUTS)):
                slopes = LIGHTS[name].slopes_at(ints, light, i + side, q)
                for r in range(LIGHTS[name].TABLE):
                    d_inputs[q] += d_table[r] * reals[slopes + r]
    found = lower_place_vjp(name, rows, w, d_place)
    for j in ti.static(range(len(LIGHTS[name].PARAMS))):
        for k in ti.static(range(width(LIGHTS[name].PARAMS, j))):
            d_rows[at + j, k] += found[j][k]
    for q in ti.static(range(len(LIGHTS[name].TABLE_INPUTS))):
        d_rows[at + ti.static(param_row(name, LIGHTS[name].TABLE_INPUTS[q])), 0] += d_inputs[q]


@ti.func
def from_table_jvp(
    reals: ti.template(), ints: ti.template(), light, rows: ti.template(), t_rows: ti.template(), w, lambdas,
    name: ti.template(),
):  # fmt: skip
    """The value's derivative along the parameters' tangents."""
    place, t_place = lower_place(name, rows, w), lower_place_jvp(name, rows, t_rows, w)
    t_inputs = ti.Vector.zero(float, len(LIGHTS[name].TABLE_INPUTS))
    for q in ti.static(range(len(LIGHTS[name].TABLE_INPUTS))):
        t_inputs[q] = t_rows[ti.static(param_row(name, LIGHTS[name].TABLE_INPUTS[q])), 0]
    d_value = ti.Vector([0.0, 0.0, 0.0, 0.0])
    for k in range(4):
        i, share = LIGHTS[name].table_cell(lambdas[k])
        for side in range(2):
            table = load(reals, LIGHTS[name].table_at(ints, light, i + side), LIGHTS[name].TABLE)
            t_table = ti.Vector.zero(float, LIGHTS[name].TABLE)
            for q in range(len(LIGHTS[name].TABLE_INPUTS)):
                slopes = LIGHTS[name].slopes_at(ints, light, i + side, q)
                for r in range(LIGHTS[name].TABLE):
                    t_table[r] += t_inputs[q] * reals[slopes + r]
            weight = ti.select(side == 1, share, 1.0 - share)
            d_value[k] += weight * lower_value_jvp(name, place, table, t_place, t_table)
    return d_value
