"""The adjoint of select selects: infinities in a dead branch never reach a derivative."""

import numpy as np
import pytest

from irys_ti import graph as g
from irys_ti.graph.expr import topological
from tests.helpers.graphs import check_derivatives, run_lowered

X, Y = g.leaf("x"), g.leaf("y")
S = g.leaf("s", (4,))
T = g.exp(X * Y)

# At x = 0 the partial of sqrt is inf, and so is that of 1/x and log.
DEAD = {
    "sqrt": lambda: g.select(X > 0.0, g.sqrt(X), 0.0) * Y,
    "reciprocal": lambda: g.select(X > 0.0, 1.0 / X, Y * Y),
    "deep": lambda: g.select(X > 0.0, g.exp(-(Y / g.sqrt(X))), Y),
    "two conditions": lambda: g.select(X > 0.0, g.sqrt(X), 1.0) + g.select((Y > 0.0) & (X > 0.5), g.sqrt(X) * Y, 0.0),
    "both branches": lambda: g.select(X > 0.0, g.sqrt(X) * Y, Y + 0.5 * g.sqrt(X + 1.0)),
    "nested": lambda: g.select(X > 0.0, g.select(Y > 0.0, g.log(X) / Y, g.log(X)), X),
    "one value in four branches": lambda: (
        g.select(X > 0.0, T / X, 0.0) + g.select(Y > 0.2, T * T, 0.0) + g.select(X > 0.0, g.sin(T), 1.0)
        + g.select(X > 0.0, 1.0, g.cos(T)) + g.select((X > 0.0) & (Y < 0.5), T, 0.0) * Y
    ),
    "vector condition": lambda: g.total(g.select(S * X > 0.0, g.sqrt(S * X), S)),
    "vector through scalar": lambda: g.total(g.select(S > 0.0, S / X, S)) * g.select(X > 0.0, 1.0, 0.0),
    "after normalize": lambda: g.normalize(g.vec3(X, X * Y, 0.0)).x,
}


@pytest.mark.parametrize("name", DEAD)
def test_dead_branch_is_finite(name):
    out = DEAD[name]()
    d = g.vjp([out], [1.0], [X, Y, S])
    tangent = g.jvp([out], [X, Y, S], [1.0, 1.0, 1.0])
    values = {X: np.array([0.0, 0.7]), Y: np.array([0.4, 0.3]), S: np.array([[0.0, 0.2, 0.3, 0.4]] * 2)}
    if name == "vector through scalar":
        values[X] = np.array([0.6, 0.7])
    for x in g.evaluate(d + tangent, values):
        assert np.isfinite(x).all(), x


@pytest.mark.parametrize("name", DEAD)
def test_live_branch_is_right(name):
    check_derivatives([DEAD[name]()], {X: np.array([0.7]), Y: np.array([0.3]), S: np.array([[0.1, 0.2, 0.3, 0.4]])})


def test_adjoint_of_an_adjoint_is_finite():
    """Masks hold for derivatives of derivatives too."""
    (d,) = g.vjp([DEAD["deep"]()], [1.0], [X])
    second = g.vjp([d], [1.0], [X, Y])
    for x in g.evaluate(second, {X: np.array([0.0, 0.7]), Y: np.array([0.4, 0.3])}):
        assert np.isfinite(x).all(), x


def test_lowered_dead_branch_is_finite(f64):
    outs = [DEAD["deep"](), DEAD["both branches"](), DEAD["vector condition"]()]
    d = g.vjp(outs, [1.0] * 3, [X, Y, S])
    values = {X: np.array([0.0, 0.7]), Y: np.array([0.4, 0.3]), S: np.array([[0.0, 0.2, 0.3, 0.4]] * 2)}
    for got, want in zip(run_lowered(d, values), g.evaluate(d, values), strict=True):
        assert np.isfinite(got).all()
        np.testing.assert_allclose(got, want, rtol=1e-13, atol=1e-15)


def test_multiplying_by_zero_would_not_be_finite():
    """The control: the textbook adjoint, which multiplies the partial by a zero, is NaN here."""
    product = g.select(X > 0.0, 1.0, 0.0) * (0.5 / g.sqrt(X))
    assert np.isnan(g.evaluate([product], {X: 0.0})[0])


def test_adjoints_that_live_together_are_added_first():
    """One select for all that a value gets under a condition, in whatever order it comes."""
    t, (a, b) = g.exp(X), (X > 0.0, Y > 0.0)
    parts = [g.select(c, g.sin(t * k), 0.0) for k, c in enumerate([a, b, a, b, ~a, a], 1)]
    (d,) = g.vjp([sum(parts, start=g.constant(0.0))], [1.0], [X])
    of_adjoint = set(topological([d])) - set(topological(parts))
    # {a} and {not a} are one value, that of {b} is cleaned.
    assert sum(e.op == "select" for e in of_adjoint) == 2
    check_derivatives(parts, {X: np.array([0.7]), Y: np.array([0.3])})
