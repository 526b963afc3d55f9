"""Hash-consing, simplification, errors, and the cost of compiling."""

import time

import numpy as np
import pytest

from irys_ti import graph as g
from irys_ti.graph.expr import topological
from tests.helpers.graphs import run_lowered

X, Y = g.leaf("x"), g.leaf("y")
V, S = g.leaf("v", (3,)), g.leaf("s", (4,))


def test_equal_expressions_are_one_object():
    assert g.leaf("x") is X
    assert X * Y is Y * X
    assert g.exp(X + Y) / S is g.exp(Y + X) / S
    assert g.vec3(V.x, V.y, V.z) is V


def test_simplifications():
    zero = g.constant(0.0)
    assert X * 0.0 is zero and X + 0.0 is X and X * 1.0 is X and X - X is zero
    negative = -X
    assert -negative is X and X - (-Y) is X + Y and (-X) * (-Y) is X * Y
    assert 2.0 * (3.0 * X) is 6.0 * X
    assert g.constant(2.0) * 3.0 is g.constant(6.0)
    assert g.select(X < Y, X, X) is X
    assert g.select(~(X < Y), X, Y) is g.select(X < Y, Y, X)
    # Dropping a branch with components leaves a value that still has them.
    assert g.select(X < Y, g.select(X < Y, X, V), 0.0) is g.broadcast(g.select(X < Y, X, 0.0), (3,))
    assert g.total(X * S) is X * g.total(S)
    assert (X * 0.0 + S * 0.0).shape == (4,)


def test_unrelated_parts_are_not_differentiated():
    """The adjoint with respect to y has no trace of the long sub-expression in x."""
    long = X
    for _ in range(100):
        long = g.sin(long) + 0.5
    (d,) = g.vjp([g.exp(Y) + long], [1.0], [Y])
    assert d is g.exp(Y)
    (d,) = g.vjp([Y * long], [g.leaf("u")], [Y])
    assert d is g.leaf("u") * long


def test_adjoint_is_linear_in_upstream():
    u, v = g.leaf("u"), g.leaf("u2")
    f = g.exp(X * Y) / (1.0 + X)
    values = {X: 0.4, Y: 0.7, u: 1.3, v: -0.2}
    (a,), (b,), (c,) = (g.vjp([f], [k], [X]) for k in (u, v, 2.0 * u + v))
    a, b, c = g.evaluate([a, b, c], values)
    assert abs(c - (2.0 * a + b)) < 1e-14


def test_errors():
    with pytest.raises(TypeError, match="select"):
        bool(X < Y)
    with pytest.raises(ValueError, match="do not go together"):
        V + S
    with pytest.raises(TypeError, match="conditions"):
        (X < Y) + 1.0
    with pytest.raises(ValueError, match="not finite"):
        g.constant(float("nan"))
    with pytest.raises(KeyError, match="'y'"):
        g.evaluate([X + Y], {X: 1.0})
    with pytest.raises(ValueError, match="not one of"):
        g.leaf("m", (2,))
    with pytest.raises(ValueError, match="outside its range"):
        g.Param("scalar", 2.0, 0.0, 1.0)


def test_deep_graphs_do_not_recurse():
    e = X
    for _ in range(5000):
        e = g.sin(e)
    assert g.count(g.vjp([e], [1.0], [X])) > 5000


def chain(n: int):
    """n operations in which every node is used twice, so that a tree walk would be exponential."""
    a, b = S * X, S + Y
    while g.count([a, b]) < n:
        a, b = a * b + 0.3, g.sqrt(a * a + b)
    return [a, b]


def test_300_shared_nodes_compile_fast(f64):
    outs = chain(300)
    values = {X: np.array([0.31]), Y: np.array([0.21]), S: np.array([[0.1, 0.2, 0.3, 0.4]])}
    run_lowered(chain(10), values)  # not the first kernel's set-up
    start = time.perf_counter()
    got = run_lowered(outs, values)
    elapsed = time.perf_counter() - start
    assert elapsed < 1.0, f"{g.count(outs)} nodes took {elapsed:.2f} s"
    for a, b in zip(got, g.evaluate(outs, values), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12)


def test_memo_reuses_values(f64):
    """A second lowering with the memo of the first emits only what is new."""
    from irys_ti.graph import lowering

    emitted = []
    original = lowering._emit

    def spy(e, memo):
        emitted.append(e)
        return original(e, memo)

    first, second = g.exp(X * Y), g.sin(g.exp(X * Y))
    lowering._emit = spy
    try:
        out = run_lowered([first, second], {X: np.array([0.5]), Y: np.array([0.25])})
    finally:
        lowering._emit = original
    assert len(emitted) == len(set(emitted)) == 3
    np.testing.assert_allclose(out[1], np.sin(np.exp(0.125)))


def test_topological_order_has_arguments_first():
    order = topological(chain(50))
    seen = set()
    for e in order:
        assert all(a in seen for a in e.args)
        seen.add(e)
