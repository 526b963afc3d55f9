"""Random graphs: derivatives, transpose identity and lowering hold for whatever is put together."""

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from irys_ti import graph as g
from tests.helpers.graphs import check_derivatives, check_lowering

LEAVES = [g.leaf("x"), g.leaf("y"), g.leaf("v", (3,)), g.leaf("s", (4,)), g.leaf("t", (4,))]
SMOOTH_UNARY = [g.sin, g.cos, lambda a: g.exp(-0.5 * a), lambda a: g.sqrt(a * a + 0.3), lambda a: g.log(2.0 + a * a)]
BINARY = [
    lambda a, b: a + b,
    lambda a, b: a - b,
    lambda a, b: a * b,
    lambda a, b: a / (1.0 + b * b),
    lambda a, b: g.atan2(a, 1.5 + b * b),
    lambda a, b: g.power(a * a + 0.2, 0.3 * b),
]


@st.composite
def random_graph(draw):
    """A list of outputs built by up to 25 operations on earlier nodes."""
    nodes = list(LEAVES)
    for _ in range(draw(st.integers(3, 25))):
        pick = lambda: nodes[draw(st.integers(0, len(nodes) - 1))]  # noqa: E731
        a, b = pick(), pick()
        if a.shape and b.shape and a.shape != b.shape:
            b = g.total(b) * 0.25
        kind = draw(st.integers(0, 3))
        if kind == 0:
            nodes.append(SMOOTH_UNARY[draw(st.integers(0, len(SMOOTH_UNARY) - 1))](a))
        elif kind == 1:
            nodes.append(BINARY[draw(st.integers(0, len(BINARY) - 1))](a, b))
        elif kind == 2:
            # A condition on a leaf, so that a kink is crossed only where a leaf crosses 0.47.
            nodes.append(g.select(LEAVES[draw(st.integers(0, 1))] < 0.47, a, b))
        else:
            nodes.append(g.dot(a, a * b) if a.shape else g.spectrum(a) * 0.5)
    return nodes[-3:]


def values_for(seed, n=4):
    rng = np.random.default_rng(seed)
    return {e: rng.uniform(-0.9, 0.9, (n, *e.shape)) for e in LEAVES}


@settings(max_examples=60, deadline=None)
@given(random_graph(), st.integers(0, 10))
def test_random_graph_derivatives(outputs, seed):
    values = values_for(seed)
    for e in LEAVES[:2]:
        values[e] = np.where(np.abs(values[e] - 0.47) < 1e-3, 0.1, values[e])
    check_derivatives(outputs, values, rtol=1e-5)


@settings(max_examples=6, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(random_graph(), st.integers(0, 10))
def test_random_graph_lowering(f64, outputs, seed):
    adjoint = g.vjp(outputs, [0.7] * len(outputs), LEAVES)
    check_lowering(outputs + adjoint, values_for(seed), rtol=1e-11)
