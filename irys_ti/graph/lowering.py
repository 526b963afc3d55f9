"""Lowering: a graph becomes Taichi code inside the kernel that is being built.

``lower`` is a plain Python function called from a kernel; Taichi runs it while it traces the
kernel, and what it does to Taichi expressions becomes the kernel's code. Every node goes through
``expr_init``, which gives it a variable: without it a node used twice is compiled twice, and
compile time grows exponentially. This file is the only user of that private call.
"""

from __future__ import annotations

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
    "sin": ti.sin,
    "cos": ti.cos,
    "tan": ti.tan,
    "arccos": ti.acos,
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
    if e.op == "atan2" and e.shape:
        # On vectors of f64 Taichi computes atan2 in f32 without saying so.
        pairs = [[_at(a, x, i) for a, x in zip(e.args, args, strict=True)] for i in range(e.shape[0])]
        return expr_init(ti.Vector([ti.atan2(y, x) for y, x in pairs]))
    return expr_init(TAICHI[e.op](*args))


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
