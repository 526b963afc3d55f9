"""BSDFs and lights of all kinds in a kernel: their parameters, values, samples and derivatives.

Parameters travel as rows of four numbers, one per wavelength; a plain number stands in the first place.
Each function asks for the kind at run time and holds the code of the kinds that the scene has.
"""

from irys_ti.kernels.bsdf import find
from irys_ti.kernels.dispatch import (
    PARTS,
    has,
    has_table,
    lower_emit,
    lower_emit_jvp,
    lower_emit_turn,
    lower_emit_vjp,
    lower_eval,
    lower_eval_jvp,
    lower_eval_turn,
    lower_eval_vjp,
    lower_place,
    lower_sample,
    n_params,
    width,
)
from irys_ti.kernels.layout import H_VALUES, LIGHT_KIND, VALUE_GRAD, VALUE_STRIDE
from irys_ti.kernels.light import LIGHTS
from irys_ti.kernels.tabulated import from_table, from_table_jvp, from_table_vjp
from irys_ti.kernels.values import deposit, lookup
from irys_ti.runtime import ti


@ti.func
def lookup_rows(
    reals: ti.template(), data: ti.template(), ints: ti.template(), first, n, lambdas, uv, rows: ti.template(),
    config: ti.template(), is_tangent: ti.template(),
):  # fmt: skip
    """Look the n parameters from value number ``first`` on up into ``rows``."""
    for j in range(n):
        value = ints[H_VALUES] + (first + j) * VALUE_STRIDE
        row = lookup(reals, data, ints, value, lambdas, uv, config.values, is_tangent)
        for k in range(4):
            rows[j, k] = row[k]


@ti.func
def sample_bsdf(kind, rows: ti.template(), wi, u, lambdas, config: ti.template()):
    """(wo, 1 for a delta lobe)."""
    wo, delta = ti.Vector([0.0, 0.0, -1.0]), 0
    for index, name in ti.static(config.bsdfs):
        if kind == ti.static(index):
            wo, delta = lower_sample(name, rows, wi, u, lambdas)
    return wo, delta


@ti.func
def eval_bsdf(kind, rows: ti.template(), wi, wo, delta, lambdas, config: ti.template()):
    """Value (with the cosine) and density of one direction, of the smooth part or of the delta part."""
    f, pdf = ti.Vector([0.0, 0.0, 0.0, 0.0]), 0.0
    for index, name in ti.static(config.bsdfs):
        if kind == ti.static(index):
            for part in ti.static(range(2)):
                if ti.static(has(name, PARTS[part])):
                    if delta == ti.static(part):
                        f, pdf = lower_eval(name, PARTS[part], rows, wi, wo, lambdas)
    return f, pdf


@ti.func
def eval_bsdf_vjp(kind, rows: ti.template(), wi, wo, delta, upstream, d_rows: ti.template(), lambdas, config: ti.template()):
    """Add upstream times d value / d parameter to the parameters' rows."""
    for index, name in ti.static(config.bsdfs):
        if kind == ti.static(index):
            for part in ti.static(range(2)):
                if ti.static(has(name, PARTS[part])):
                    if delta == ti.static(part):
                        found = lower_eval_vjp(name, PARTS[part], rows, wi, wo, upstream, lambdas)
                        for j in ti.static(range(n_params(name))):
                            for k in ti.static(range(width(find(name).PARAMS, j))):
                                d_rows[j, k] += found[j][k]


@ti.func
def eval_bsdf_turn(kind, rows: ti.template(), wi, wo, delta, upstream, lambdas, config: ti.template()):
    """Adjoints of wi and wo, local: upstream times d value / d direction."""
    d_wi, d_wo = ti.Vector([0.0, 0.0, 0.0]), ti.Vector([0.0, 0.0, 0.0])
    for index, name in ti.static(config.bsdfs):
        if kind == ti.static(index):
            for part in ti.static(range(2)):
                if ti.static(has(name, PARTS[part])):
                    if delta == ti.static(part):
                        d_wi, d_wo = lower_eval_turn(name, PARTS[part], rows, wi, wo, upstream, lambdas)
    return d_wi, d_wo


@ti.func
def emitted_turn(kind, rows: ti.template(), w, upstream, config: ti.template()):
    """Adjoint of the direction w, local, that a light's value was asked for."""
    d_w = ti.Vector([0.0, 0.0, 0.0])
    for index, name in ti.static(config.lights):
        if ti.static(name == "spot"):  # the one kind that stands at a place and shines unevenly
            if kind == ti.static(index):
                d_w = lower_emit_turn(name, rows, w, upstream)
    return d_w


@ti.func
def eval_bsdf_jvp(kind, rows: ti.template(), t_rows: ti.template(), wi, wo, delta, lambdas, config: ti.template()):
    """Derivative of the value along the parameters' tangents."""
    d_f = ti.Vector([0.0, 0.0, 0.0, 0.0])
    for index, name in ti.static(config.bsdfs):
        if kind == ti.static(index):
            for part in ti.static(range(2)):
                if ti.static(has(name, PARTS[part])):
                    if delta == ti.static(part):
                        d_f = lower_eval_jvp(name, PARTS[part], rows, t_rows, wi, wo, lambdas)
    return d_f


@ti.func
def emitted(
    reals: ti.template(), ints: ti.template(), light, rows: ti.template(), w, lambdas, config: ti.template()
):
    """Emitted value of the light at ``light`` towards w."""
    value = ti.Vector([0.0, 0.0, 0.0, 0.0])
    kind = ints[light + LIGHT_KIND]
    for index, name in ti.static(config.lights):
        if kind == ti.static(index):
            if ti.static(has_table(name)):
                value = from_table(reals, ints, light, lower_place(name, rows, w), lambdas, name, False)
            else:
                value = lower_emit(name, rows, w)
    return value


@ti.func
def emitted_vjp(
    reals: ti.template(), ints: ti.template(), light, rows: ti.template(), w, upstream, d_rows: ti.template(), at, lambdas,
    config: ti.template(),
):  # fmt: skip
    """Add the derivatives of the emitted value to the rows from ``at`` on."""
    kind = ints[light + LIGHT_KIND]
    for index, name in ti.static(config.lights):
        if kind == ti.static(index):
            if ti.static(has_table(name)):
                from_table_vjp(reals, ints, light, rows, w, upstream, d_rows, at, lambdas, name)
            else:
                found = lower_emit_vjp(name, rows, w, upstream)
                for j in ti.static(range(len(LIGHTS[name].PARAMS))):
                    for k in ti.static(range(width(LIGHTS[name].PARAMS, j))):
                        d_rows[at + j, k] += found[j][k]


@ti.func
def emitted_jvp(
    reals: ti.template(), ints: ti.template(), light, rows: ti.template(), t_rows: ti.template(), w, lambdas,
    config: ti.template(),
):  # fmt: skip
    """Derivative of the emitted value along the parameters' tangents."""
    d_value = ti.Vector([0.0, 0.0, 0.0, 0.0])
    kind = ints[light + LIGHT_KIND]
    for index, name in ti.static(config.lights):
        if kind == ti.static(index):
            if ti.static(has_table(name)):
                d_value = from_table_jvp(reals, ints, light, rows, t_rows, w, lambdas, name)
            else:
                d_value = lower_emit_jvp(name, rows, t_rows, w)
    return d_value


@ti.func
def deposit_row(
    reals: ti.template(), ints: ti.template(), acc: ti.template(), number, lambdas, uv, d, first, config: ti.template()
):
    """Add one derivative row to the accumulators of value ``number``, if its gradient was asked for."""
    value = ints[H_VALUES] + number * VALUE_STRIDE
    if ints[value + VALUE_GRAD] >= 0:
        deposit(reals, ints, acc, value, lambdas, uv, d, first, config.values)
