"""Every operation: derivatives against finite differences, lowering against NumPy."""

import numpy as np
import pytest

from irys_ti import graph as g
from tests.helpers.graphs import check_derivatives, check_lowering

X, Y = g.leaf("x"), g.leaf("y")
V, W = g.leaf("v", (3,)), g.leaf("w", (3,))
S, T = g.leaf("s", (4,)), g.leaf("t", (4,))

# Each case is built from positive inputs in (0.2, 0.9), where every function here is smooth.
CASES = {
    "add": lambda: [X + Y, X + V, V + W, S + 2.0, S + X],
    "sub": lambda: [X - Y, X - V, V - W, S - X, 1.5 - S],
    "mul": lambda: [X * Y, X * V, V * W, 3.0 * S, S * X, V * g.vec3(X, 0.0, Y)],
    "div": lambda: [X / Y, X / V, V / W, S / X, 2.0 / S, V / 3.0],
    "neg": lambda: [-X, -V, -(X - Y), X - (-Y), (-X) * (-S)],
    "sqrt": lambda: [g.sqrt(X), g.sqrt(V), g.sqrt(S * X)],
    "safe_sqrt": lambda: [g.safe_sqrt(X), g.safe_sqrt(V - 2.0), g.safe_sqrt(S)],
    "exp": lambda: [g.exp(X), g.exp(-S)],
    "log": lambda: [g.log(X), g.log(V)],
    "sin": lambda: [g.sin(X), g.sin(V)],
    "cos": lambda: [g.cos(X), g.cos(S)],
    "tan": lambda: [g.tan(X), g.tan(V)],
    "arccos": lambda: [g.arccos(X), g.arccos(S)],
    "atan2": lambda: [g.atan2(X, Y), g.atan2(-S, T), g.atan2(S, -T)],
    "abs": lambda: [abs(X), abs(-V), abs(S - 2.0)],
    "floor": lambda: [g.floor(3.0 * X) * Y, X - g.floor(X)],
    "power": lambda: [X**2, X**-3, V**5, S**2.5, X**Y, S**X, X**S, X**0.5],
    "minimum": lambda: [g.minimum(X, Y), g.minimum(S, X), g.minimum(V, W)],
    "maximum": lambda: [g.maximum(X, Y), g.maximum(0.5, S), g.clamp(S, 0.3, 0.6)],
    "select": lambda: [
        g.select(X < Y, X * S, T), g.select(S < T, X, S), g.select((X < Y) | (Y > 0.5), V, W * X),
        g.select(~((S > 0.4) & (T < 0.6)), S * T, S), g.select(X <= Y, 1.0, X), g.select(g.any_of(S > 0.8), X, Y),
    ],
    "dot": lambda: [g.dot(V, W), g.dot(V, V), g.dot(V, g.vec3(X, 0.0, Y)), g.dot(S, T * X), g.dot(-V, W)],
    "cross": lambda: [g.cross(V, W), g.cross(V, g.vec3(0.0, X, Y)), g.cross(g.cross(V, W), V)],
    "length": lambda: [g.length(V), g.length(V * W)],
    "normalize": lambda: [g.normalize(V), g.normalize(V * X - W)],
    "total": lambda: [g.total(V), g.total(S * X), g.total(S * T), g.total(g.exp(S)), g.mean(S), g.total(S / X)],
    "component": lambda: [V.x * V.z, V[1] + S[3] * S[0], g.vec3(V.z, V.x, V.y), g.exp(V).y],
    "stack": lambda: [g.vec3(X, Y, X * Y), g.stack(X, X, Y, 1.0), g.vec3(V.x, V.y, V.z) * X, g.vec3(X, 0, 0) + V],
    "broadcast": lambda: [g.spectrum(X) * S, g.spectrum(X * Y), g.broadcast(X, (3,)) + V],
    "stop_gradient": lambda: [X * g.stop_gradient(2.0) + Y, g.exp(S)],
}  # fmt: skip
LEAVES = (X, Y, V, W, S, T)


def samples(n=16, seed=3):
    rng = np.random.default_rng(seed)
    return {e: rng.uniform(0.2, 0.9, (n, *e.shape)) for e in LEAVES}


@pytest.mark.parametrize("name", CASES)
def test_derivatives_match_finite_differences(name):
    check_derivatives(CASES[name](), samples())


def all_with_adjoints():
    """Every case and its adjoint, in one list."""
    outputs = [e for case in CASES.values() for e in case()]
    adjoints = g.vjp(outputs, [1.0 + 0.1 * i for i in range(len(outputs))], LEAVES)
    return outputs + adjoints


def test_lowered_matches_numpy_f64(f64):
    check_lowering(all_with_adjoints(), samples())


def test_lowered_matches_numpy_f32(f32):
    check_lowering(all_with_adjoints(), samples(), rtol=1e-5)


def test_check_rejects_a_wrong_derivative():
    """The control: an operation whose rule is off by 1 part in 1,000 must be found out."""
    from irys_ti.graph import diff

    right = diff.ELEMENTWISE["sin"]
    diff.ELEMENTWISE["sin"] = (lambda t, y, a: 1.001 * t * g.cos(a),)
    try:
        with pytest.raises(AssertionError, match="finite difference"):
            check_derivatives([g.sin(X)], samples())
    finally:
        diff.ELEMENTWISE["sin"] = right


def test_stop_gradient_stops():
    (d,) = g.vjp([X * g.stop_gradient(X)], [1.0], [X])
    assert g.evaluate([d], {X: 3.0})[0] == 3.0


def test_floor_and_conditions_have_no_derivative():
    assert g.vjp([g.floor(X) + g.select(X < 1.0, 1.0, 2.0)], [1.0], [X]) == [g.constant(0.0)]
