"""Lowering: a graph becomes Taichi code inside the kernel that is being built.

``lower`` is a plain Python function called from a kernel; Taichi runs it while it traces the
kernel, and what it does to Taichi expressions becomes the kernel's code. Every node that is used
more than once goes through ``expr_init``, which gives it a variable: without it a node used twice is
compiled twice, and compile time grows exponentially. Constants get a variable too, one for each
value: Taichi's common-subexpression pass would merge their copies, walking the whole kernel for each.
This file and ``literals`` are the only users of private calls.
"""

from __future__ import annotations

import math

from taichi._lib import core as taichi_core
from taichi.lang.expr import Expr as TaichiExpr
from taichi.lang.impl import expr_init, get_runtime, subscript

from irys_ti.graph.expr import Expr, constant, topological
from irys_ti.graph.literals import variable
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
    "select": lambda c, a, b: _select(c, a, b),
    "stop": lambda a: a,
}


def lower(exprs, leaves: dict, memo: dict | None = None) -> list:
    """The Taichi values of ``exprs``; call it inside a kernel or a ``ti.func``.

    leaves: leaf node -> Taichi value, or a function that makes it where the leaf is used: a scalar, or a
    Taichi vector of 3 or 4. Boolean leaves take a Taichi condition or an integer.
    memo: node -> Taichi value. A second call with the same memo reuses what the first computed; only
    right where the second call is dominated by the first (same block, or a branch inside it), and
    the leaves' variables have not been assigned since (their values at first use are kept).
    Results are variables in the tier's precision; vectors index as ``v[i]``.
    """
    exprs = list(exprs)
    kept = memo is not None  # for later calls, which may read any node of it
    memo = memo if kept else {}
    order = topological(exprs, stop=memo)
    shared = set(order) if kept else _shared(order, exprs)
    for e in order:
        if e not in memo:
            value = _leaf(e, leaves) if e.op == "leaf" else _emit(e, memo)
            memo[e] = variable(value) if e.op == "const" else expr_init(value) if e in shared else value
    return [memo[e] for e in exprs]


# Operations that read their arguments more than once, or take single components of them.
READ_APART = frozenset({"sin", "cos", "tan", "arccos", "comp", "sum", "dot", "cross", "broadcast", "safe_sqrt"})


def _shared(order: list[Expr], exprs: list[Expr]) -> set[Expr]:
    """The nodes that need a variable: results, constants, and what is read more than once."""
    shared, seen = set(exprs), set()
    for e in order:
        apart = e.op in READ_APART or (e.op == "atan2" and e.shape)
        for a in e.args:
            # Beside a vector a scalar is written out once for each component.
            if apart or a in seen or (e.shape and not a.shape and e.op != "stack"):
                shared.add(a)
            seen.add(a)
    return shared


def _leaf(e: Expr, leaves: dict):
    if e not in leaves:
        raise KeyError(f"no Taichi value given for {e!r}")
    x = leaves[e]() if callable(leaves[e]) else leaves[e]
    if e.boolean:
        return expr_init(x != 0)
    return expr_init(float(x) if isinstance(x, (int, float)) else TaichiExpr(x) if isinstance(x, ti.Matrix) else x)


def _emit(e: Expr, memo: dict):
    if e.op == "const":
        if e.boolean:
            return int(e.attr)
        return _vector(e.attr) if e.shape else e.attr
    if e.shape and e.op not in ("stack", "broadcast"):
        args = [memo[a] if a.shape else _wide(a, e.shape[0], memo) for a in e.args]
    else:
        args = [memo[a] for a in e.args]
    if e.op == "comp":
        return component_of(args[0], e.attr)
    if e.op == "sum":
        return _sum([component_of(args[0], i) for i in range(e.args[0].shape[0])])
    if e.op == "dot":
        product = expr_init(args[0] * args[1])
        return _sum([component_of(product, i) for i in range(e.args[0].shape[0])])
    if e.op == "cross":
        (ax, ay, az), (bx, by, bz) = ([expr_init(component_of(v, i)) for i in range(3)] for v in args)
        return _vector([ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx])
    if e.op == "stack":
        return _vector(args)
    if e.op == "broadcast":
        return _wide(e.args[0], e.shape[0], memo)
    if e.op in ("sin", "cos", "tan"):
        if ("sincos", e.args[0]) not in memo:
            memo["sincos", e.args[0]] = sincos(args[0], lambda x: _number(x, e.shape, memo))
        pair = memo["sincos", e.args[0]]
        return pair[0] / pair[1] if e.op == "tan" else pair[e.op == "cos"]
    if e.op == "arccos":
        return _arccos(args[0], e.shape)
    if e.op == "atan2" and e.shape:
        # On vectors of f64 Taichi computes atan2 in f32 without saying so.
        pairs = [[component_of(x, i) for x in args] for i in range(e.shape[0])]
        return _vector([ti.atan2(y, x) for y, x in pairs])
    return TAICHI[e.op](*args)


# pi / 2 in parts; the first two have few bits, so that small multiples of them are exact in f32.
HALF_PI = (1.5703125, 4.837512969970703e-4, 7.549789954891882e-8)
# Taylor series, to f64's precision on [-pi / 4, pi / 4].
SIN = [(-1.0) ** n / math.factorial(2 * n + 1) for n in range(8)]
COS = [(-1.0) ** n / math.factorial(2 * n) for n in range(9)]


def sincos(x, number=float) -> tuple:
    """Sine and cosine of a Taichi value, inside a kernel; the same to rounding on every backend.

    For angles of a few turns. Vulkan allows its own sine an error of 5e-4, and SwiftShader's has 2e-4, which
    would bend every sampled direction. number: what stands for a constant beside x.
    """
    quarters = expr_init(ti.floor(x * number(2.0 / math.pi) + number(0.5)))
    r = expr_init(((x - quarters * number(HALF_PI[0])) - quarters * number(HALF_PI[1])) - quarters * number(HALF_PI[2]))
    square = expr_init(r * r)
    s, c = number(SIN[-1]), number(COS[-1])
    for a in reversed(SIN[:-1]):
        s = s * square + number(a)
    for a in reversed(COS[:-1]):
        c = c * square + number(a)
    s, c = expr_init(s * r), expr_init(c)
    turned = expr_init(quarters - number(4.0) * ti.floor(quarters * number(0.25)))  # 0, 1, 2 or 3
    odd = expr_init((turned == number(1.0)) | (turned == number(3.0)))
    sine, cosine = expr_init(_select(odd, c, s)), expr_init(_select(odd, s, c))
    return (
        expr_init(_select(turned > number(1.5), -sine, sine)),
        expr_init(_select((turned == number(1.0)) | (turned == number(2.0)), -cosine, cosine)),
    )


def _arccos(x, shape: tuple):
    """2 atan2(sqrt(1 - x), sqrt(1 + x)): Vulkan allows its own arc cosine an error of 5e-4."""
    y, z = expr_init(ti.sqrt(1.0 - x)), expr_init(ti.sqrt(1.0 + x))
    if shape == ():
        return 2.0 * ti.atan2(y, z)
    return _vector([2.0 * ti.atan2(component_of(y, i), component_of(z, i)) for i in range(shape[0])])


def _select(c, a, b):
    """ti.select of values that are Taichi's already, without its two negations of the condition."""
    return TaichiExpr(taichi_core.expr_select(c.ptr, a.ptr, b.ptr))


def _number(x: float, shape: tuple, memo: dict):
    """A constant of that shape, as a variable that the whole graph shares."""
    a = constant(x)
    if a not in memo:
        memo[a] = variable(x)
    return _wide(a, shape[0], memo) if shape else memo[a]


def _vector(parts):
    """A vector that ``expr_init`` can give a variable; a ``ti.Vector`` is written out again at every use."""
    return TaichiExpr(ti.Vector(list(parts)))


def _wide(a: Expr, n: int, memo: dict):
    """A scalar as a vector, written out once; Taichi would do so at every use beside a vector."""
    if ("wide", a, n) not in memo:
        memo["wide", a, n] = (variable if a.op == "const" else expr_init)(_vector([memo[a]] * n))
    return memo["wide", a, n]


def component_of(v, i: int):
    return subscript(get_runtime().compiling_callable.ast_builder(), v, i)


def element(matrix, i: int, j: int):
    """matrix[i, j] of a Taichi matrix, from a plain function that runs while a kernel is compiled."""
    return expr_init(subscript(get_runtime().compiling_callable.ast_builder(), matrix, i, j))


def _sum(parts: list):
    out = parts[0]
    for p in parts[1:]:
        out = out + p
    return out
