"""Sine, cosine, tangent and arc cosine are accurate on every backend, not as accurate as a driver likes."""

import numpy as np
import pytest

from irys_ti import graph as g
from irys_ti import runtime
from tests.helpers.graphs import run_lowered

X, V = g.leaf("x", ()), g.leaf("v", (3,))
FUNCTIONS = {"sin": (g.sin, np.sin), "cos": (g.cos, np.cos), "tan": (g.tan, np.tan), "arccos": (g.arccos, np.arccos)}


def check(precision):
    rng = np.random.default_rng(0)
    dtype, eps = (np.float64, 2.0**-52) if precision == "f64" else (np.float32, 2.0**-23)
    turns = np.r_[2 * np.pi * rng.random(5000), rng.uniform(-60, 60, 5000), np.pi / 4 * np.arange(-8, 9)]
    inputs = {"sin": turns, "cos": turns, "tan": rng.uniform(-1.2, 1.2, 5000), "arccos": np.r_[rng.uniform(-1, 1, 5000), -1, 1]}
    for name, (graph, exact) in FUNCTIONS.items():
        x = inputs[name].astype(dtype).astype(np.float64)
        (scalar,) = run_lowered([graph(X)], {X: x})
        error = np.abs(scalar - exact(x)).max() / eps
        assert error < (8 if name == "tan" else 4), f"{name}: {error:.1f} units of the last place at 1"
        v = x[: len(x) // 3 * 3].reshape(-1, 3)
        (vector,) = run_lowered([graph(V)], {V: v})
        assert np.array_equal(vector, scalar[: v.size].reshape(-1, 3)), name


def test_f64(f64):
    check("f64")


def test_f32(f32):
    check("f32")


@pytest.mark.vulkan
def test_vulkan():
    runtime.init("vulkan", "f32")
    check("f32")


def test_one_pair_serves_both(f32):
    """Sine and cosine of one node share their work, and stay right where only one is asked for first."""
    x = np.linspace(0, 6, 50).astype(np.float32).astype(float)
    s, c, t = run_lowered([g.sin(X), g.cos(X), g.tan(X)], {X: x})
    np.testing.assert_allclose(s * s + c * c, 1.0, atol=3e-7)
    np.testing.assert_allclose(t, s / c, rtol=1e-6)
