"""From a kind's graphs to kernel code: the only place that knows how a BSDF or a light is lowered.

The plain functions run while a kernel is compiled; each graph is built once per process.
"""

from __future__ import annotations

from functools import cache
from types import SimpleNamespace

from irys_ti.graph import jvp, leaf, lower, vjp
from irys_ti.graph.lowering import component_of, element
from irys_ti.kernels import bsdf
from irys_ti.kernels.bsdf.registry import LAMBDAS, parameters
from irys_ti.kernels.light import LIGHTS
from irys_ti.runtime import ti

WI, WO, U = leaf("wi", (3,)), leaf("wo", (3,)), leaf("u", (3,))
UPSTREAM, UPSTREAM_1 = leaf("upstream", (4,)), leaf("upstream")
DIRECTION, D_DIRECTION, T_DIRECTION = leaf("direction", (3,)), leaf("d.direction", (3,)), leaf("t.direction", (3,))


def tangents(module) -> list:
    """The leaves of their tangents, in order."""
    return [leaf(f"t.{n}", q.shape) for n, q in module.PARAMS.items()]


@cache
def bsdf_graphs(name: str) -> SimpleNamespace:
    """All graphs of one BSDF: sample, smooth and delta value and density, adjoint and tangent."""
    module = bsdf.find(name)
    p = parameters(module)
    leaves = [x for x in vars(p).values() if x is not LAMBDAS]
    g = SimpleNamespace(leaves=leaves, sample=module.sample(p, WI, U))
    g.smooth = (module.eval(p, WI, WO), module.pdf(p, WI, WO)) if getattr(module, "HAS_SMOOTH", True) else None
    delta = getattr(module, "HAS_DELTA", False)
    g.delta = (module.eval_delta(p, WI, WO), module.pdf_delta(p, WI, WO)) if delta else None
    for part in ("smooth", "delta"):
        value = getattr(g, part)
        setattr(g, part + "_vjp", vjp([value[0]], [UPSTREAM], leaves) if value else None)
        setattr(g, part + "_jvp", jvp([value[0]], leaves, tangents(module))[0] if value else None)
    return g


@cache
def bsdf_turns(name: str) -> SimpleNamespace:
    """Adjoint and tangent of a BSDF's smooth value by the direction wo."""
    value = bsdf_graphs(name).smooth[0]
    return SimpleNamespace(vjp=vjp([value], [UPSTREAM], [WO])[0], jvp=jvp([value], [WO], [T_DIRECTION])[0])


@cache
def turn_graphs(name: str, part: str) -> list:
    """Adjoints of both directions of one BSDF's value."""
    return vjp([getattr(bsdf_graphs(name), part)[0]], [UPSTREAM], [WI, WO])


@cache
def light_graphs(name: str) -> SimpleNamespace:
    """The emitted value of one light kind, with adjoint and tangent."""
    module = LIGHTS[name]
    p = parameters(module)
    leaves = list(vars(p).values())
    value = module.emit(p, WO)
    return SimpleNamespace(
        leaves=leaves,
        value=value,
        vjp=vjp([value], [UPSTREAM], leaves),
        jvp=jvp([value], leaves, tangents(module))[0],
    )


@cache
def table_graphs(name: str) -> SimpleNamespace:
    """A light whose value comes from numbers at fixed wavelengths (kernels/light/sky.py), in two stages: ``place``, of
    direction and parameters, and the value at one wavelength, of the place and the table; what rides with parameters."""
    module = LIGHTS[name]
    p = parameters(module)
    leaves, moving = list(vars(p).values()), tangents(module)
    outputs = module.place(p, WO)
    at = [leaf(f"place.{i}") for i in range(len(outputs))]
    d_at, t_at = [leaf(f"d.place.{i}") for i in range(len(at))], [leaf(f"t.place.{i}") for i in range(len(at))]
    table = [leaf(f"table.{i}") for i in range(module.TABLE)]
    t_table = [leaf(f"t.table.{i}") for i in range(module.TABLE)]
    value = module.emit_at(table, at)
    movers = [getattr(p, n) for n in module.RIDES]
    moved = module.ride(p, DIRECTION)
    return SimpleNamespace(
        leaves=leaves, tangents=moving, at=at, d_at=d_at, t_at=t_at, table=table, t_table=t_table,
        place=outputs, place_vjp=vjp(outputs, d_at, leaves), place_jvp=jvp(outputs, leaves, moving),
        value=value, value_vjp=vjp([value], [UPSTREAM_1], at + table), value_jvp=jvp([value], at + table, t_at + t_table)[0],
        riding=module.emit_riding(table, at),
        ride_vjp=vjp([moved], [D_DIRECTION], movers),
        ride_jvp=jvp([moved], movers, [leaf(f"t.{n}") for n in module.RIDES])[0],
    )  # fmt: skip


def has_table(name: str) -> bool:
    """Whether a light's value comes from a table at fixed wavelengths."""
    return hasattr(LIGHTS[name], "TABLE")


def param_row(name: str, parameter: str) -> int:
    """Row of one of a light's parameters."""
    return list(LIGHTS[name].PARAMS).index(parameter)


def bind(leaves, rows) -> dict:
    """Leaf -> what makes its Taichi value, from a matrix with one row of four numbers a parameter."""

    def read(j, shape):
        return lambda: ti.Vector([element(rows, j, k) for k in range(4)]) if shape else element(rows, j, 0)

    return {leaf_: read(j, leaf_.shape) for j, leaf_ in enumerate(leaves)}


def width(declared, j: int) -> int:
    """Numbers in the row of the j-th declared parameter: four, or one for a scalar."""
    return 4 if list(declared.values())[j].shape else 1


def parts(value, shape) -> list:
    """The numbers of a derivative: one for each wavelength, or one."""
    return [component_of(value, k) for k in range(4)] if shape else [value]


def lower_sample(name, rows, wi, u, lambdas):
    """(wo, delta as 0 or 1)."""
    g = bsdf_graphs(name)
    env = {**bind(g.leaves, rows), WI: wi, U: u, LAMBDAS: lambdas}
    if isinstance(g.sample.delta, bool):
        (wo,) = lower([g.sample.wo], env)
        return wo, int(g.sample.delta)
    wo, delta = lower([g.sample.wo, g.sample.delta], env)
    return wo, ti.select(delta, 1, 0)


def lower_eval(name, part, rows, wi, wo, lambdas):
    """(value, density) of the smooth or the delta part."""
    g = bsdf_graphs(name)
    return tuple(lower(list(getattr(g, part)), {**bind(g.leaves, rows), WI: wi, WO: wo, LAMBDAS: lambdas}))


def lower_eval_vjp(name, part, rows, wi, wo, upstream, lambdas):
    """Derivatives by every parameter, each the list of its row's numbers."""
    g = bsdf_graphs(name)
    env = {**bind(g.leaves, rows), WI: wi, WO: wo, LAMBDAS: lambdas, UPSTREAM: upstream}
    out = lower(getattr(g, part + "_vjp"), env)
    return [parts(d, leaf_.shape) for d, leaf_ in zip(out, g.leaves)]


def lower_eval_jvp(name, part, rows, tangent_rows, wi, wo, lambdas):
    """Directional derivative of the value along the parameters' tangents."""
    g = bsdf_graphs(name)
    env = {**bind(g.leaves, rows), **bind(tangents(bsdf.find(name)), tangent_rows), WI: wi, WO: wo, LAMBDAS: lambdas}
    return lower([getattr(g, part + "_jvp")], env)[0]


def lower_turn_vjp(name, rows, wi, wo, upstream, lambdas):
    """Derivative of the smooth value by wo."""
    g = bsdf_graphs(name)
    env = {**bind(g.leaves, rows), WI: wi, WO: wo, LAMBDAS: lambdas, UPSTREAM: upstream}
    return lower([bsdf_turns(name).vjp], env)[0]


def lower_turn_jvp(name, rows, wi, wo, tangent, lambdas):
    """Derivative of the smooth value along a tangent of wo."""
    g = bsdf_graphs(name)
    env = {**bind(g.leaves, rows), WI: wi, WO: wo, LAMBDAS: lambdas, T_DIRECTION: tangent}
    return lower([bsdf_turns(name).jvp], env)[0]


def lower_eval_turn(name, part, rows, wi, wo, upstream, lambdas):
    """Adjoints of wi and of wo."""
    env = {**bind(bsdf_graphs(name).leaves, rows), WI: wi, WO: wo, LAMBDAS: lambdas, UPSTREAM: upstream}
    return tuple(lower(turn_graphs(name, part), env))


def lower_emit_turn(name, rows, w, upstream):
    """Adjoint of the direction that a light's value was asked for."""
    g = light_graphs(name)  # a light without a table
    return lower(vjp([g.value], [UPSTREAM], [WO]), {**bind(g.leaves, rows), WO: w, UPSTREAM: upstream})[0]


def lower_emit(name, rows, w):
    """Emitted value towards w."""
    g = light_graphs(name)
    return lower([g.value], {**bind(g.leaves, rows), WO: w})[0]


def lower_emit_vjp(name, rows, w, upstream):
    """Derivatives by a light's parameters, each the list of its row's numbers."""
    g = light_graphs(name)
    out = lower(g.vjp, {**bind(g.leaves, rows), WO: w, UPSTREAM: upstream})
    return [parts(d, leaf_.shape) for d, leaf_ in zip(out, g.leaves)]


def lower_emit_jvp(name, rows, tangent_rows, w):
    """Directional derivative of the emitted value."""
    g = light_graphs(name)
    env = {**bind(g.leaves, rows), **bind(tangents(LIGHTS[name]), tangent_rows), WO: w}
    return lower([g.jvp], env)[0]


def lower_place(name, rows, w):
    """The place, a vector, of a light with a table."""
    g = table_graphs(name)
    return ti.Vector(lower(g.place, {**bind(g.leaves, rows), WO: w}))


def lower_place_vjp(name, rows, w, d_place):
    """Derivative rows of the parameters from that by the place."""
    g = table_graphs(name)
    out = lower(g.place_vjp, {**bind(g.leaves, rows), WO: w, **_from(d_place, g.d_at)})
    return [parts(d, leaf_.shape) for d, leaf_ in zip(out, g.leaves)]


def lower_place_jvp(name, rows, tangent_rows, w):
    """The place's tangent."""
    g = table_graphs(name)
    env = {**bind(g.leaves, rows), **bind(g.tangents, tangent_rows), WO: w}
    return ti.Vector(lower(g.place_jvp, env))


def _from(vector, leaves) -> dict:
    """Leaf -> what makes its Taichi value, a component of a vector."""
    return {leaf_: lambda i=i: component_of(vector, i) for i, leaf_ in enumerate(leaves)}


def lower_value(name, place, table, riding):
    """The value at one wavelength, or only what rides; table: where its numbers are, a vector."""
    g = table_graphs(name)
    return lower([g.riding if riding else g.value], {**_from(place, g.at), **_from(table, g.table)})[0]


def lower_value_vjp(name, place, table, upstream):
    """(derivatives by the place, by the table), two lists."""
    g = table_graphs(name)
    out = lower(g.value_vjp, {**_from(place, g.at), **_from(table, g.table), UPSTREAM_1: upstream})
    return out[: len(g.at)], out[len(g.at) :]


def lower_value_jvp(name, place, table, t_place, t_table):
    """The value's tangent."""
    g = table_graphs(name)
    env = {**_from(place, g.at), **_from(table, g.table), **_from(t_place, g.t_at), **_from(t_table, g.t_table)}
    return lower([g.value_jvp], env)[0]


def lower_ride_vjp(name, rows, d, d_direction):
    """Derivative by the parameters RIDES, from that by the direction."""
    g = table_graphs(name)
    return lower(g.ride_vjp, {**bind(g.leaves, rows), DIRECTION: d, D_DIRECTION: d_direction})


def lower_ride_jvp(name, rows, d, tangent_rows):
    """The direction's tangent, from those of the parameters RIDES."""
    g = table_graphs(name)
    return lower([g.ride_jvp], {**bind(g.leaves, rows), **bind(g.tangents, tangent_rows), DIRECTION: d})[0]


def place_size(name: str) -> int:
    """Numbers in a light's place."""
    return len(table_graphs(name).at)


def has(name: str, part: str) -> bool:
    """Whether a BSDF has a smooth or a delta part."""
    return getattr(bsdf_graphs(name), part) is not None


def n_params(name: str) -> int:
    """Number of a BSDF's parameters."""
    return len(bsdf.find(name).PARAMS)


PARTS = ("smooth", "delta")
