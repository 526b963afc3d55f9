"""Functions of whole vectors: sums, products and lengths, with the simplifications of sparse vectors."""

from __future__ import annotations

from irys_ti.graph import ops
from irys_ti.graph.expr import Expr, constant, full, is_zero, node, uniform_value
from irys_ti.graph.ops import add, component, div, less, mul, neg, safe_sqrt, select, sqrt, sub


def total(v) -> Expr:
    """The sum of the components."""
    (v,) = ops.real("sum", v)
    if v.shape == ():
        return v
    if v.op == "const":
        return constant(sum(v.attr))
    if v.op == "broadcast":
        return mul(v.args[0], v.shape[0])
    if v.op == "stack":
        out = v.args[0]
        for p in v.args[1:]:
            out = add(out, p)
        return out
    if v.op == "neg":
        return neg(total(v.args[0]))
    if v.op == "mul":
        a, b = v.args
        if a.shape == b.shape:
            return dot(a, b)
        return mul(a, total(b)) if a.shape == () else mul(total(a), b)
    if v.op == "div" and v.args[1].shape == ():
        return div(total(v.args[0]), v.args[1])
    return node("sum", (v,), ())


def mean(v) -> Expr:
    """The mean of the components."""
    v = constant(v)
    return total(v) if v.shape == () else mul(total(v), 1.0 / v.shape[0])


def dot(a, b) -> Expr:
    a, b = ops.real("dot", a, b)
    if a.shape == () or a.shape != b.shape:
        raise ValueError(f"dot: shapes {a.shape} and {b.shape} must be equal, and not scalar")
    for x, y in ((a, b), (b, a)):
        if x.op in ("neg", "broadcast") or (uniform_value(x) is not None) or (
            x.op == "mul" and () in (x.args[0].shape, x.args[1].shape)
        ):
            if x.op == "neg":
                return neg(dot(x.args[0], y))
            if x.op == "mul":
                s, v = x.args if x.args[0].shape == () else x.args[::-1]
                return mul(s, dot(v, y))
            return mul(x.args[0] if x.op == "broadcast" else uniform_value(x), total(y))
    pa, pb = ops.known_parts(a), ops.known_parts(b)
    sparse = any(p is not None and any(is_zero(c) for c in p) for p in (pa, pb))
    if sparse or (pa and pb):
        out = constant(0.0)
        for i in range(a.shape[0]):
            out = add(out, mul(component(a, i), component(b, i)))
        return out
    return node("dot", tuple(sorted((a, b), key=lambda e: e.serial)), ())


def cross(a, b) -> Expr:
    a, b = ops.real("cross", a, b)
    if a.shape != (3,) or b.shape != (3,):
        raise ValueError(f"cross: shapes {a.shape} and {b.shape} must both be (3,)")
    if is_zero(a) or is_zero(b) or a is b:
        return full((3,), 0.0)
    if ops.known_parts(a) or ops.known_parts(b):
        (ax, ay, az), (bx, by, bz) = (tuple(component(v, i) for i in range(3)) for v in (a, b))
        x, y, z = sub(mul(ay, bz), mul(az, by)), sub(mul(az, bx), mul(ax, bz)), sub(mul(ax, by), mul(ay, bx))
        return ops.stack(x, y, z)
    return node("cross", (a, b), (3,))


def length(v) -> Expr:
    """The Euclidean length; its derivative at the zero vector is 0."""
    return safe_sqrt(dot(v, v))


def normalize(v) -> Expr:
    """v at unit length; the zero vector stays zero, with derivative 0."""
    v = constant(v)
    square = dot(v, v)
    positive = less(0.0, square)
    return mul(v, select(positive, div(1.0, sqrt(square)), 0.0))
