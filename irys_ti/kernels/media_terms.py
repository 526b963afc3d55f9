"""A medium's terms in a kernel: looked up, and the graphs of kernels/medium with their derivatives as code."""

from irys_ti.graph import jvp, leaf, lower, vjp
from irys_ti.graph.lowering import element
from irys_ti.kernels import medium as media
from irys_ti.kernels.bsdf.registry import parameters
from irys_ti.kernels.layout import MEDIUM_VALUES
from irys_ti.kernels.shading import lookup_rows
from irys_ti.runtime import ti

ROWS = len(media.TERMS)
EMISSION = list(media.TERMS).index("emission")
UP = leaf("upstream", (4,))


class _Terms:
    PARAMS = media.TERMS


P = parameters(_Terms)
LEAVES = list(vars(P).values())
TANGENTS = [leaf(f"t.{name}", p.shape) for name, p in media.TERMS.items()]
SIGMA = media.extinction(P)
SIGMA_VJP, SIGMA_JVP = vjp([SIGMA], [UP], LEAVES), jvp([SIGMA], LEAVES, TANGENTS)[0]


@ti.func
def look_up_terms(
    reals: ti.template(), data: ti.template(), ints: ti.template(), medium, lambdas, rows: ti.template(),
    config: ti.template(), is_tangent: ti.template(),
):  # fmt: skip
    """A medium's terms into ``rows``; data: reals, or the tangents."""
    nowhere = ti.Vector([0.0, 0.0])
    lookup_rows(reals, data, ints, ints[medium + MEDIUM_VALUES], ROWS, lambdas, nowhere, rows, config, is_tangent)


def _bind(leaves, rows) -> dict:
    def read(j, shape):
        return lambda: ti.Vector([element(rows, j, k) for k in range(4)]) if shape else element(rows, j, 0)

    return {x: read(j, x.shape) for j, x in enumerate(leaves)}


def lower_extinction(rows):
    """Extinction per wavelength."""
    return lower([SIGMA], _bind(LEAVES, rows))[0]


def lower_extinction_vjp(rows, upstream):
    """Its derivatives by the terms, each a vector: a scalar's stands in the first place."""
    out = lower(SIGMA_VJP, {**_bind(LEAVES, rows), UP: upstream})
    return [d if x.shape else ti.Vector([d, 0.0, 0.0, 0.0]) for d, x in zip(out, LEAVES)]


def lower_extinction_jvp(rows, tangent_rows):
    """Its tangent."""
    return lower([SIGMA_JVP], {**_bind(LEAVES, rows), **_bind(TANGENTS, tangent_rows)})[0]


def emission_row(rows):
    """What is emitted per unit of length."""
    return ti.Vector([element(rows, EMISSION, k) for k in range(4)])
