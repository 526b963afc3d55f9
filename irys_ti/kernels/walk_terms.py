"""From the graphs of a material's inside, and of its phase function, to kernel code (kernels/walk.py)."""

from __future__ import annotations

import math
from functools import cache
from types import SimpleNamespace

from irys_ti.graph import cos, jvp, leaf, log, lower, safe_sqrt, sin, vjp
from irys_ti.graph.expr import is_zero
from irys_ti.kernels.bsdf import find, hg
from irys_ti.kernels.bsdf.registry import LAMBDAS, parameters
from irys_ti.kernels.dispatch import bind, parts, tangents

WI, WO, U, V, G = leaf("wi", (3,)), leaf("wo", (3,)), leaf("walk.u"), leaf("walk.v"), leaf("walk.g")
UP_T, UP_S, UP_G = leaf("up.extinction", (4,)), leaf("up.scattering", (4,)), leaf("up.g")


@cache
def interior_graphs(name: str) -> SimpleNamespace:
    """(extinction, scattering, g) of one BSDF's inside, its adjoint and tangents.

    used: numbers of the parameters that it depends on, in the order of PARAMS; terms: their names.
    """
    module = find(name)
    p = parameters(module)
    leaves = [x for x in vars(p).values() if x is not LAMBDAS]
    value = list(module.interior(p))
    adjoint = vjp(value, [UP_T, UP_S, UP_G], leaves)
    used = [j for j, d in enumerate(adjoint) if not is_zero(d)]
    names = list(module.PARAMS)
    return SimpleNamespace(
        leaves=leaves, value=value, used=used, terms=[names[j] for j in used], adjoint=[adjoint[j] for j in used],
        tangents=tangents(module), jvp=jvp(value, leaves, tangents(module)),
    )  # fmt: skip


@cache
def phase_graphs() -> SimpleNamespace:
    """A direction by Henyey and Greenstein's function, and d ln phase / d g of one."""
    z = hg.cosine(G, U)
    r = safe_sqrt(1.0 - z * z)
    phi = 2.0 * math.pi * V
    density = hg.density(SimpleNamespace(g=G), WI, WO)
    return SimpleNamespace(wo=hg.around(WI, r * cos(phi), r * sin(phi), z), score=jvp([log(density)], [G], [leaf("walk.one")])[0])


def terms_of(name: str) -> list[str]:
    """Names of the parameters that a BSDF's inside depends on."""
    return interior_graphs(name).terms


def used_rows(name: str) -> tuple:
    """Their numbers among all of its parameters."""
    return tuple(interior_graphs(name).used)


def insides(config) -> tuple:
    """(index, name) of the BSDFs of a kernel that have an inside."""
    return tuple((i, n) for i, n in config.bsdfs if hasattr(find(n), "interior"))


def lower_interior(name, rows, lambdas):
    """(extinction, scattering, g)."""
    g = interior_graphs(name)
    return tuple(lower(g.value, {**bind(g.leaves, rows), LAMBDAS: lambdas}))


def lower_interior_vjp(name, rows, lambdas, up_t, up_s, up_g):
    """Derivatives by the parameters that it depends on (``used_rows``), each the list of its row's numbers."""
    g = interior_graphs(name)
    out = lower(g.adjoint, {**bind(g.leaves, rows), LAMBDAS: lambdas, UP_T: up_t, UP_S: up_s, UP_G: up_g})
    return [parts(d, g.leaves[j].shape) for j, d in zip(g.used, out)]


def lower_interior_jvp(name, rows, tangent_rows, lambdas):
    """Tangents of the three."""
    g = interior_graphs(name)
    return tuple(lower(g.jvp, {**bind(g.leaves, rows), **bind(g.tangents, tangent_rows), LAMBDAS: lambdas}))


def lower_direction(wi, g, u, v):
    """A direction by the phase function; wi points back."""
    return lower([phase_graphs().wo], {WI: wi, G: g, U: u, V: v})[0]


def lower_score(wi, wo, g):
    """d ln phase / d g."""
    return lower([phase_graphs().score], {WI: wi, WO: wo, G: g, leaf("walk.one"): 1.0})[0]
