"""Light that moves with a parameter, as the sun's disc does with the sun's direction: the receiver's derivative by it.

A direction drawn from such a light keeps its place on the light, so its parameter turns it, and the BSDF's value
towards it changes. Only light sampling reaches these directions then (emitter.ALONE), so that each counts once. The light
that a camera or a mirror sees directly does not turn with it: there the rim is an edge of the picture.
"""

from irys_ti.kernels.adjoint import LIGHT, SAMPLED
from irys_ti.kernels.dispatch import (
    has,
    lower_place,
    lower_ride_jvp,
    lower_ride_vjp,
    lower_turn_jvp,
    lower_turn_vjp,
    param_row,
)
from irys_ti.kernels.emitter import light_record
from irys_ti.kernels.frame import affine_transposed, affine_vector, to_local, to_world
from irys_ti.kernels.layout import (
    LIGHT_KIND,
    LIGHT_N,
    LIGHT_REALS,
    LIGHT_VALUES,
    LIGHT_WANTED,
    RECORD_STRIDE,
    RECORD_WEIGHT,
    RIDING,
)
from irys_ti.kernels.light import LIGHTS
from irys_ti.kernels.shading import deposit_row, lookup_rows
from irys_ti.kernels.tabulated import from_table
from irys_ti.runtime import ti


def riders(config) -> tuple:
    """The (index, name) of lights that have parts which move, where a derivative is by what moves them."""
    return tuple((i, n) for i, n in config.lights if config.riding and hasattr(LIGHTS[n], "RIDES"))


@ti.func
def riding_light(reals: ti.template(), ints: ti.template(), light, rows: ti.template(), w, lambdas, config: ti.template()):
    """Emitted value of the part that moves, towards w (local)."""
    value = ti.Vector([0.0, 0.0, 0.0, 0.0])
    for index, name in ti.static(riders(config)):
        if ints[light + LIGHT_KIND] == ti.static(index):
            value = from_table(reals, ints, light, lower_place(name, rows, w), lambdas, name, True)
    return value


@ti.func
def adjoint_of_riding(
    reals: ti.template(), ints: ti.template(), record: ti.template(), d_rows: ti.template(), lane, i_light,
    light_ws: ti.template(), light_rows: ti.template(), around, kind, rows: ti.template(), wi, wo_of: ti.template(), flip,
    s, b, ns, lambdas, config: ti.template(),
):  # fmt: skip
    """Add the derivatives by the sampled light's movers to its rows.

    light_rows: the light's parameters, as ``adjoint_of_lights`` leaves them. around: what multiplies the BSDF's value
    and the light's.
    """
    light = light_record(ints, i_light)
    light_w = ti.Vector([light_ws[SAMPLED, 0], light_ws[SAMPLED, 1], light_ws[SAMPLED, 2]])
    wo = ti.Vector([wo_of[LIGHT, 0], wo_of[LIGHT, 1], wo_of[LIGHT, 2]])
    at = config.bsdf_rows + SAMPLED * config.light_rows
    if (ints[light + LIGHT_WANTED] & RIDING) != 0:
        up = around * riding_light(reals, ints, light, light_rows, light_w, lambdas, config)
        if up[0] + up[1] + up[2] + up[3] != 0.0:
            for k in ti.static(range(4)):
                up[k] *= record[lane * RECORD_STRIDE + RECORD_WEIGHT + k]
            d_wo = ti.Vector([0.0, 0.0, 0.0])
            for index, name in ti.static(config.bsdfs):
                if kind == ti.static(index):
                    if ti.static(has(name, "smooth")):
                        d_wo = lower_turn_vjp(name, rows, wi, wo, up, lambdas)
            d_wo[2] *= flip
            d_local = affine_vector(reals, ints[light + LIGHT_REALS], to_world(d_wo, s, b, ns))
            for index, name in ti.static(riders(config)):
                if ints[light + LIGHT_KIND] == ti.static(index):
                    found = lower_ride_vjp(name, light_rows, -light_w, d_local)
                    for i in ti.static(range(len(LIGHTS[name].RIDES))):
                        d_rows[at + ti.static(param_row(name, LIGHTS[name].RIDES[i])), 0] += found[i]


@ti.func
def tangent_of_riding(
    reals: ti.template(), ints: ti.template(), tangents: ti.template(), i_light, light_ws: ti.template(),
    light_uvs: ti.template(), around, kind, rows: ti.template(), wi, wo_of: ti.template(), flip, s, b, ns, lambdas,
    config: ti.template(),
):  # fmt: skip
    """The tangent of the path's radiance that the same derivatives give."""
    light = light_record(ints, i_light)
    light_w = ti.Vector([light_ws[SAMPLED, 0], light_ws[SAMPLED, 1], light_ws[SAMPLED, 2]])
    light_uv = ti.Vector([light_uvs[SAMPLED, 0], light_uvs[SAMPLED, 1]])
    wo = ti.Vector([wo_of[LIGHT, 0], wo_of[LIGHT, 1], wo_of[LIGHT, 2]])
    d_L = ti.Vector([0.0, 0.0, 0.0, 0.0])
    if (ints[light + LIGHT_WANTED] & RIDING) != 0:
        first, n = ints[light + LIGHT_VALUES], ints[light + LIGHT_N]
        own, t_own = ti.Matrix.zero(float, config.light_rows, 4), ti.Matrix.zero(float, config.light_rows, 4)
        lookup_rows(reals, reals, ints, first, n, lambdas, light_uv, own, config, False)
        lookup_rows(reals, tangents, ints, first, n, lambdas, light_uv, t_own, config, True)
        up = around * riding_light(reals, ints, light, own, light_w, lambdas, config)
        t_local = ti.Vector([0.0, 0.0, 0.0])
        for index, name in ti.static(riders(config)):
            if ints[light + LIGHT_KIND] == ti.static(index):
                t_local = lower_ride_jvp(name, own, -light_w, t_own)
        t_wo = to_local(affine_transposed(reals, ints[light + LIGHT_REALS], t_local), s, b, ns)
        t_wo[2] *= flip
        for index, name in ti.static(config.bsdfs):
            if kind == ti.static(index):
                if ti.static(has(name, "smooth")):
                    d_L = up * lower_turn_jvp(name, rows, wi, wo, t_wo, lambdas)
    return d_L


@ti.func
def deposit_turn(
    reals: ti.template(), ints: ti.template(), acc: ti.template(), light, rows: ti.template(), d, g, lambdas, replica,
    config: ti.template(),
):  # fmt: skip
    """Deposit a derivative g by the world direction d to a light's moving part. rows: the light's parameters."""
    base = ints[light + LIGHT_REALS]
    local, g_local = affine_vector(reals, base, d), affine_vector(reals, base, g)
    uv = ti.Vector([0.0, 0.0])
    for index, name in ti.static(riders(config)):
        if ints[light + LIGHT_KIND] == ti.static(index):
            found = lower_ride_vjp(name, rows, local, g_local)
            for i in ti.static(range(len(LIGHTS[name].RIDES))):
                row = ints[light + LIGHT_VALUES] + ti.static(param_row(name, LIGHTS[name].RIDES[i]))
                deposit_row(reals, ints, acc, row, lambdas, uv, ti.Vector([found[i], 0.0, 0.0, 0.0]), replica, config)
