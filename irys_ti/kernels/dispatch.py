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
UPSTREAM = leaf("upstream", (4,))


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


def _bind(leaves, rows) -> dict:
    """Leaf -> what makes its Taichi value, from a matrix with one row of four numbers a parameter."""

    def read(j, shape):
        return lambda: ti.Vector([element(rows, j, k) for k in range(4)]) if shape else element(rows, j, 0)

    return {leaf_: read(j, leaf_.shape) for j, leaf_ in enumerate(leaves)}


def width(declared, j: int) -> int:
    """Numbers in the row of the j-th declared parameter: four, or one for a scalar."""
    return 4 if list(declared.values())[j].shape else 1


def _parts(value, shape) -> list:
    """The numbers of a derivative: one for each wavelength, or one."""
    return [component_of(value, k) for k in range(4)] if shape else [value]


def lower_sample(name, rows, wi, u, lambdas):
    """(wo, delta as 0 or 1)."""
    g = bsdf_graphs(name)
    env = {**_bind(g.leaves, rows), WI: wi, U: u, LAMBDAS: lambdas}
    if isinstance(g.sample.delta, bool):
        (wo,) = lower([g.sample.wo], env)
        return wo, int(g.sample.delta)
    wo, delta = lower([g.sample.wo, g.sample.delta], env)
    return wo, ti.select(delta, 1, 0)


def lower_eval(name, part, rows, wi, wo, lambdas):
    """(value, density) of the smooth or the delta part."""
    g = bsdf_graphs(name)
    return tuple(lower(list(getattr(g, part)), {**_bind(g.leaves, rows), WI: wi, WO: wo, LAMBDAS: lambdas}))


def lower_eval_vjp(name, part, rows, wi, wo, upstream, lambdas):
    """Derivatives by every parameter, each the list of its row's numbers."""
    g = bsdf_graphs(name)
    env = {**_bind(g.leaves, rows), WI: wi, WO: wo, LAMBDAS: lambdas, UPSTREAM: upstream}
    out = lower(getattr(g, part + "_vjp"), env)
    return [_parts(d, leaf_.shape) for d, leaf_ in zip(out, g.leaves)]


def lower_eval_jvp(name, part, rows, tangent_rows, wi, wo, lambdas):
    """Directional derivative of the value along the parameters' tangents."""
    g = bsdf_graphs(name)
    env = {**_bind(g.leaves, rows), **_bind(tangents(bsdf.find(name)), tangent_rows), WI: wi, WO: wo, LAMBDAS: lambdas}
    return lower([getattr(g, part + "_jvp")], env)[0]


def lower_emit(name, rows, w):
    """Emitted value towards w."""
    g = light_graphs(name)
    return lower([g.value], {**_bind(g.leaves, rows), WO: w})[0]


def lower_emit_vjp(name, rows, w, upstream):
    """Derivatives by a light's parameters, each the list of its row's numbers."""
    g = light_graphs(name)
    out = lower(g.vjp, {**_bind(g.leaves, rows), WO: w, UPSTREAM: upstream})
    return [_parts(d, leaf_.shape) for d, leaf_ in zip(out, g.leaves)]


def lower_emit_jvp(name, rows, tangent_rows, w):
    """Directional derivative of the emitted value."""
    g = light_graphs(name)
    env = {**_bind(g.leaves, rows), **_bind(tangents(LIGHTS[name]), tangent_rows), WO: w}
    return lower([g.jvp], env)[0]


def has(name: str, part: str) -> bool:
    """Whether a BSDF has a smooth or a delta part."""
    return getattr(bsdf_graphs(name), part) is not None


def n_params(name: str) -> int:
    """Number of a BSDF's parameters."""
    return len(bsdf.find(name).PARAMS)


PARTS = ("smooth", "delta")
