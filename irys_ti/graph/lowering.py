"""Lowering: a graph becomes Taichi code inside the kernel that is being built.

``lower`` is a plain Python function called from a kernel; Taichi runs it while it traces the
kernel, and what it does to Taichi expressions becomes the kernel's code. Every node goes through
``expr_init``, which gives it a variable: without it a node used twice is compiled twice, and
compile time grows exponentially. This file is the only user of that private call.
"""

from __future__ import annotations

import math

from taichi.lang.impl import expr_init, get_runtime, subscript

from irys_ti.graph.expr import Expr, topological
from irys_ti.runtime import ti

TAICHI = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "div": lambda a, b: a / b,
    "neg": lambda a: -a,
    "sqrt": ti.sqrt,
    "safe_sqrt": lambda a: ti.sqrt(ti.select(a > 0.0, a, 0.0)),
    "exp": ti.exp,
    "log": ti.log,
    "abs": ti.abs,
    "floor": ti.floor,
    "atan2": ti.atan2,
    "pow": ti.pow,
    "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
    "and": lambda a, b: a & b,
    "or": lambda a, b: a | b,
    "not": lambda a: ~a,
    "select": ti.select,
    "stop": lambda a: a,
}


def lower(exprs, leaves: dict, memo: dict | None = None) -> list:
    """The Taichi values of ``exprs``; call it inside a kernel or a ``ti.func``.

    leaves: leaf node -> Taichi value: a scalar, or a Taichi vector of 3 or 4. Boolean leaves take a
    Taichi condition or an integer.
    memo: node -> Taichi value. A second call with the same memo reuses what the first computed; only
    right where the second call is dominated by the first (same block, or a branch inside it), and
    the leaves' variables have not been assigned since (their values at first use are kept).
    Results are variables in the tier's precision; vectors index as ``v[i]``.
    """
    exprs = list(exprs)
    memo = {} if memo is None else memo
    for e in topological(exprs, stop=memo):
        if e not in memo:
            memo[e] = _leaf(e, leaves) if e.op == "leaf" else _emit(e, memo)
    return [expr_init(memo[e]) if e.op == "const" else memo[e] for e in exprs]


def _leaf(e: Expr, leaves: dict):
    if e not in leaves:
        raise KeyError(f"no Taichi value given for {e!r}")
    x = leaves[e]
    if e.boolean:
        return expr_init(x != 0)
    return expr_init(float(x) if isinstance(x, (int, float)) else x)


def _emit(e: Expr, memo: dict):
    if e.op == "const":
        if e.boolean:
            return int(e.attr)
        # Scalars stay Python floats: Taichi gives them default_fp where they are used.
        return expr_init(ti.Vector(list(e.attr))) if e.shape else e.attr
    args = [memo[a] for a in e.args]
    if e.op == "comp":
        return _component(args[0], e.attr)
    if e.op == "sum":
        return expr_init(_sum([_component(args[0], i) for i in range(e.args[0].shape[0])]))
    if e.op == "dot":
        product = expr_init(args[0] * args[1])
        return expr_init(_sum([_component(product, i) for i in range(e.args[0].shape[0])]))
    if e.op == "cross":
        (ax, ay, az), (bx, by, bz) = ([_component(v, i) for i in range(3)] for v in args)
        return expr_init(ti.Vector([ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx]))
    if e.op == "stack":
        return expr_init(ti.Vector(args))
    if e.op == "broadcast":
        return expr_init(ti.Vector([args[0]] * e.shape[0]))
    if e.op in ("sin", "cos", "tan"):
        pair = memo.get(("sincos", e.args[0])) or sincos(args[0])
        memo["sincos", e.args[0]] = pair
        return expr_init(pair[0] / pair[1]) if e.op == "tan" else pair[e.op == "cos"]
    if e.op == "arccos":
        return _arccos(args[0], e.shape)
    if e.op == "atan2" and e.shape:
        # On vectors of f64 Taichi computes atan2 in f32 without saying so.
        pairs = [[_at(a, x, i) for a, x in zip(e.args, args, strict=True)] for i in range(e.shape[0])]
        return expr_init(ti.Vector([ti.atan2(y, x) for y, x in pairs]))
    return expr_init(TAICHI[e.op](*args))


# pi / 2 in parts; the first two have few bits, so that small multiples of them are exact in f32.
HALF_PI = (1.5703125, 4.837512969970703e-4, 7.549789954891882e-8)
# Taylor series, to f64's precision on [-pi / 4, pi / 4].
SIN = [(-1.0) ** n / math.factorial(2 * n + 1) for n in range(8)]
COS = [(-1.0) ** n / math.factorial(2 * n) for n in range(9)]


def sincos(x) -> tuple:
    """Sine and cosine of a Taichi value, inside a kernel; the same to rounding on every backend.

    For angles of a few turns. Vulkan allows its own sine an error of 5e-4, and SwiftShader's has 2e-4, which
    would bend every sampled direction.
    """
    quarters = expr_init(ti.floor(x * (2.0 / math.pi) + 0.5))
    r = expr_init(((x - quarters * HALF_PI[0]) - quarters * HALF_PI[1]) - quarters * HALF_PI[2])
    square = expr_init(r * r)
    s, c = SIN[-1], COS[-1]
    for a in reversed(SIN[:-1]):
        s = expr_init(s * square + a)
    for a in reversed(COS[:-1]):
        c = expr_init(c * square + a)
    s = expr_init(s * r)
    turned = expr_init(quarters - 4.0 * ti.floor(quarters * 0.25))  # 0, 1, 2 or 3
    odd = (turned == 1.0) | (turned == 3.0)
    sine, cosine = expr_init(ti.select(odd, c, s)), expr_init(ti.select(odd, s, c))
    return (
        expr_init(ti.select(turned > 1.5, -sine, sine)),
        expr_init(ti.select((turned == 1.0) | (turned == 2.0), -cosine, cosine)),
    )


def _arccos(x, shape: tuple):
    """2 atan2(sqrt(1 - x), sqrt(1 + x)): Vulkan allows its own arc cosine an error of 5e-4."""
    y, z = expr_init(ti.sqrt(1.0 - x)), expr_init(ti.sqrt(1.0 + x))
    if shape == ():
        return expr_init(2.0 * ti.atan2(y, z))
    return expr_init(ti.Vector([2.0 * ti.atan2(_component(y, i), _component(z, i)) for i in range(shape[0])]))


def _component(v, i: int):
    return expr_init(subscript(get_runtime().compiling_callable.ast_builder(), v, i))


def _at(a: Expr, x, i: int):
    """The i-th component of an argument; scalars broadcast."""
    return _component(x, i) if a.shape else x


def element(matrix, i: int, j: int):
    """matrix[i, j] of a Taichi matrix, from a plain function that runs while a kernel is compiled."""
    return expr_init(subscript(get_runtime().compiling_callable.ast_builder(), matrix, i, j))


def _sum(parts: list):
    out = parts[0]
    for p in parts[1:]:
        out = out + p
    return out
