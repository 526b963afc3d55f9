"""Checks that any graph must pass: derivatives against finite differences, lowering against NumPy."""

import numpy as np

from irys_ti import graph as g
from irys_ti.graph.expr import topological
from irys_ti.runtime import array, real_dtype, ti, zeros


def leaves_of(exprs) -> list:
    """The leaves below ``exprs``, by name."""
    return sorted((e for e in topological(exprs) if e.op == "leaf"), key=lambda e: e.attr)


def check_derivatives(outputs, values: dict, wrt=None, rtol=1e-6, step=1e-5, seed=0, scale=None) -> None:
    """vjp and jvp against central differences along random directions, and against each other.

    values: leaf -> float64 array with at most one leading batch dimension, away from kinks.
    scale: leaf -> size of the directions for it (default 1), for values near the ends of their range.
    The yardstick is the size of the terms that make the derivative up, so that cancellation between
    them does not fail a right answer.
    """
    rng = np.random.default_rng(seed)
    outputs, wrt = list(outputs), list(wrt or values)
    batch = np.broadcast_shapes(*(np.shape(values[w])[: np.ndim(values[w]) - len(w.shape)] for w in values))
    sizes = scale or {}
    direction = {w: rng.standard_normal(batch + w.shape) * sizes.get(w, 1.0) for w in wrt}
    up = [rng.standard_normal(batch + e.shape) for e in outputs]

    t_leaves = {w: g.leaf(f"tangent {w.attr}", w.shape) for w in wrt}
    u_leaves = [g.leaf(f"upstream {i}", e.shape) for i, e in enumerate(outputs)]
    backward = g.vjp(outputs, u_leaves, wrt)
    forward = g.jvp(outputs, wrt, [t_leaves[w] for w in wrt])
    everything = values | {t_leaves[w]: direction[w] for w in wrt} | dict(zip(u_leaves, up, strict=True))
    got_v = g.evaluate(backward, everything)
    got_t = g.evaluate(forward, everything)

    def shifted(h):
        moved = {w: np.broadcast_to(values[w], batch + w.shape) + h * direction[w] for w in wrt}
        return g.evaluate(outputs, values | moved)

    def over(x, e):
        return x.sum(-1) if e.shape else x

    # Richardson's combination of two central differences: error of order step^4.
    fine = [(p - m) / (2 * step) for p, m in zip(shifted(step), shifted(-step), strict=True)]
    wide = [(p - m) / (4 * step) for p, m in zip(shifted(2 * step), shifted(-2 * step), strict=True)]
    fd = [(4 * a - b) / 3 for a, b in zip(fine, wide, strict=True)]
    terms = [over(np.abs(v * direction[w]), w) for v, w in zip(got_v, wrt, strict=True)]
    yardstick = sum(terms)
    uj = sum(over(u * t, e) for u, t, e in zip(up, got_t, outputs, strict=True))
    ufd = sum(over(u * t, e) for u, t, e in zip(up, fd, outputs, strict=True))
    vj = sum(over(v * direction[w], w) for v, w in zip(got_v, wrt, strict=True))
    # Rounding of a difference quotient: the outputs' own size over the step.
    size = sum(over(np.abs(u * y), e) for u, y, e in zip(up, g.evaluate(outputs, values), outputs, strict=True))
    for name, x in (("jvp", uj), ("vjp", vj), ("finite difference", ufd)):
        assert np.isfinite(x).all(), f"{name} is not finite: {x}"
    sums = yardstick + sum(over(np.abs(u * t), e) for u, t, e in zip(up, got_t, outputs, strict=True))
    transpose = np.abs(uj - vj) - 1e-10 * sums
    assert (transpose <= 0).all(), f"<Jv,u> = {uj} but <v,J'u> = {vj}"
    excess = np.abs(ufd - vj) - rtol * (yardstick + np.abs(ufd)) - 1e-15 * size / step * 10
    worst = int(np.argmax(excess))
    assert (excess <= 0).all(), f"sample {worst}: vjp {np.ravel(vj)[worst]}, finite difference {np.ravel(ufd)[worst]}"


class Program:
    """What the kernel below lowers, set just before it is built."""

    outputs: list = []
    leaves: list = []
    n_in = n_out = 0


def _lowered(block):
    """Components of every output, as scalars, for the leaves packed in ``block``."""
    values, at = {}, 0
    for e in Program.leaves:
        n = e.shape[0] if e.shape else 1
        values[e] = ti.Vector(block[at : at + n]) if e.shape else block[at]
        at += n
    return g.lower([g.component(e, i) if e.shape else e for e in Program.outputs for i in range(_width(e))], values)


def _width(e) -> int:
    return e.shape[0] if e.shape else 1


def run_lowered(outputs, values: dict) -> list[np.ndarray]:
    """Run real-valued ``outputs`` in a fresh kernel on the running tier; arrays as ``evaluate`` gives."""
    Program.outputs, Program.leaves = list(outputs), list(values)
    Program.n_in = sum(_width(e) for e in values)
    Program.n_out = sum(_width(e) for e in outputs)
    batch = np.broadcast_shapes(*(np.shape(x)[: np.ndim(x) - len(e.shape)] for e, x in values.items())) or (1,)
    rows = [np.broadcast_to(x, batch + e.shape).reshape(batch[0], -1) for e, x in values.items()]
    n = batch[0]
    n_in, n_out = Program.n_in, Program.n_out

    @ti.kernel
    def apply(source: ti.types.ndarray(ndim=1), target: ti.types.ndarray(ndim=1)):
        for i in range(n):
            results = _lowered([source[i * n_in + j] for j in ti.static(range(n_in))])
            for j in ti.static(range(n_out)):
                target[i * n_out + j] = results[j]

    source = array(np.concatenate(rows, 1))
    target = zeros(n * n_out)
    apply(source, target)
    flat = target.to_numpy().reshape(n, n_out)
    out, at = [], 0
    for e in outputs:
        out.append(flat[:, at] if not e.shape else flat[:, at : at + _width(e)])
        at += _width(e)
    return out


def check_lowering(outputs, values: dict, rtol=None) -> None:
    """The lowered kernel on the running tier against NumPy on the same (rounded) inputs."""
    values = {e: np.asarray(x, dtype=real_dtype()).astype(np.float64) for e, x in values.items()}
    rtol = rtol or (1e-13 if real_dtype() is np.float64 else 2e-6)
    want = g.evaluate(outputs, values)
    got = run_lowered(outputs, values)
    for e, a, b in zip(outputs, got, want, strict=True):
        atol = rtol * max(1.0, np.abs(b).max())
        np.testing.assert_allclose(a, b.reshape(a.shape), rtol=rtol, atol=atol, err_msg=repr(e))
