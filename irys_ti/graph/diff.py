"""Derivatives of graphs as graphs: reverse mode (vjp) and forward mode (jvp) from one rule table.

The reverse pass must not multiply a dead branch's zero adjoint by an infinite partial, since
0 * inf is NaN. An adjoint therefore travels as (mask, value): the value stays unmasked below a
select, whatever it holds where the mask is false, and is cleaned by a select of its own where two
adjoints meet and at the end.
"""

from __future__ import annotations

from itertools import combinations

from irys_ti.graph import ops, vectors
from irys_ti.graph.expr import Expr, constant, full, topological

# Elementwise operations: for each argument, the linear map that takes a tangent of the argument to
# one of the result. A diagonal map is its own transpose, so the same text serves both modes.
# t: tangent or adjoint; y: the operation's result; then its arguments.
ELEMENTWISE = {
    "add": (lambda t, y, a, b: t, lambda t, y, a, b: t),
    "sub": (lambda t, y, a, b: t, lambda t, y, a, b: -t),
    "mul": (lambda t, y, a, b: t * b, lambda t, y, a, b: t * a),
    "div": (lambda t, y, a, b: t / b, lambda t, y, a, b: -((t / b) * y)),
    "neg": (lambda t, y, a: -t,),
    "sqrt": (lambda t, y, a: t * (0.5 / y),),
    "safe_sqrt": (lambda t, y, a: t * ops.select(a > 0.0, 0.5 / y, 0.0),),
    "exp": (lambda t, y, a: t * y,),
    "log": (lambda t, y, a: t / a,),
    "sin": (lambda t, y, a: t * ops.cos(a),),
    "cos": (lambda t, y, a: -(t * ops.sin(a)),),
    "tan": (lambda t, y, a: t * (1.0 + y * y),),
    "arccos": (lambda t, y, a: -(t * ops.select(abs(a) < 1.0, 1.0 / ops.sqrt(1.0 - a * a), 0.0)),),
    "abs": (lambda t, y, a: ops.select(a < 0.0, -t, t),),
    "atan2": (
        lambda t, y, a, b: t * (b / _not_zero(a * a + b * b)),
        lambda t, y, a, b: -(t * (a / _not_zero(a * a + b * b))),
    ),
    "pow": (
        lambda t, y, a, b: t * (b * ops.power(a, b - 1.0)),
        lambda t, y, a, b: t * ops.select(a > 0.0, y * ops.log(a), 0.0),
    ),
}

# Operations whose result does not move with their arguments.
PIECEWISE_CONSTANT = frozenset({"const", "leaf", "floor", "stop", "lt", "le", "and", "or", "not"})

Mask = frozenset  # conditions that must all hold; empty: always live


def _not_zero(x: Expr) -> Expr:
    return ops.select(x > 0.0, x, 1.0)


def _dependent(order: list[Expr], wrt: set[Expr]) -> set[Expr]:
    """The nodes whose value moves with any of wrt."""
    moving: set[Expr] = set()
    for e in order:
        if e in wrt:
            moving.add(e)
        elif e.op not in PIECEWISE_CONSTANT:
            args = e.args[1:] if e.op == "select" else e.args
            if any(a in moving for a in args):
                moving.add(e)
    return moving


def jvp(outputs, wrt, tangents) -> list[Expr]:
    """Forward mode: the tangents of ``outputs`` for the given tangents of ``wrt``.

    wrt: independent nodes, usually leaves (nodes below one are taken as constant).
    tangents: one for each, of the same shape (scalars broadcast).
    """
    outputs, wrt = list(outputs), list(wrt)
    given = {w: ops.broadcast(t, w.shape) for w, t in zip(wrt, tangents, strict=True)}
    order = topological(outputs, stop=given)
    moving = _dependent(order, set(wrt))
    tangent: dict[Expr, Expr] = {}
    for e in order:
        if e in given:
            tangent[e] = given[e]
        elif e in moving:
            tangent[e] = ops.broadcast(_push(e, tangent), e.shape)
    return [tangent.get(e, full(e.shape, 0.0)) for e in outputs]


def _push(e: Expr, tangent: dict[Expr, Expr]) -> Expr:
    """The tangent of one operation's result."""
    args = e.args
    t = [tangent[a] if a in tangent else full(a.shape, 0.0) if not a.boolean else None for a in args]
    if e.op in ELEMENTWISE:
        out = constant(0.0)
        for rule, a in zip(ELEMENTWISE[e.op], args, strict=True):
            if a in tangent:
                out = ops.add(out, rule(tangent[a], e, *args))
        return out
    if e.op == "select":
        return ops.select(args[0], t[1], t[2])
    if e.op == "dot":
        return vectors.dot(t[0], args[1]) + vectors.dot(args[0], t[1])
    if e.op == "cross":
        return vectors.cross(t[0], args[1]) + vectors.cross(args[0], t[1])
    if e.op == "sum":
        return vectors.total(t[0])
    if e.op == "comp":
        return ops.component(t[0], e.attr)
    if e.op == "stack":
        return ops.stack(*t)
    if e.op == "broadcast":
        return ops.broadcast(t[0], e.shape)
    raise NotImplementedError(f"no derivative rule for operation {e.op!r}")


def vjp(outputs, upstream, wrt) -> list[Expr]:
    """Reverse mode: for each node of ``wrt``, the sum over outputs of upstream . d(output)/d(node).

    outputs: nodes. upstream: one adjoint for each, of the same shape (scalars broadcast).
    wrt: independent nodes, usually leaves (nodes below one are taken as constant).
    The results are linear in ``upstream``; a node that nothing depends on gets the constant 0.
    """
    outputs, wrt = list(outputs), list(wrt)
    order = topological(outputs, stop=set(wrt))
    moving = _dependent(order, set(wrt))
    given: dict[Expr, list[tuple[Mask, Expr]]] = {}

    def accumulate(e: Expr, mask: Mask, value: Expr) -> None:
        given.setdefault(e, []).append(_fit(e.shape, mask, value))

    for e, u in zip(outputs, upstream, strict=True):
        if e in moving:
            accumulate(e, Mask(), ops.broadcast(u, e.shape))
    for e in reversed(order):
        if e in given and e not in wrt:
            mask, u = _merged(given[e])
            for i, a in enumerate(e.args):
                if a in moving and not (e.op == "select" and i == 0):
                    accumulate(a, *_pull(e, i, mask, u))
    return [_clean(*_merged(given[w])) if w in given else full(w.shape, 0.0) for w in wrt]


def _pull(e: Expr, i: int, mask: Mask, u: Expr) -> tuple[Mask, Expr]:
    """What the adjoint (mask, u) of an operation's result gives to its i-th argument."""
    args = e.args
    if e.op in ELEMENTWISE:
        return mask, ELEMENTWISE[e.op][i](u, e, *args)
    if e.op == "select":
        return mask | {args[0] if i == 1 else ops.logical_not(args[0])}, u
    if e.op == "dot":
        return mask, u * args[1 - i]
    if e.op == "cross":
        return mask, vectors.cross(args[1], u) if i == 0 else vectors.cross(u, args[0])
    if e.op in ("sum", "broadcast"):
        return mask, u  # _fit broadcasts or sums
    if e.op == "comp":
        parts = [constant(0.0)] * args[0].shape[0]
        parts[e.attr] = u
        return mask, ops.stack(*parts)
    if e.op == "stack":
        at = Mask(ops.component(c, i) if c.shape else c for c in mask)
        return at, ops.component(u, i)
    raise NotImplementedError(f"no derivative rule for operation {e.op!r}")


def _all_of(mask: Mask) -> Expr:
    out = ops.TRUE
    for c in sorted(mask, key=lambda c: c.serial):
        out = ops.logical_and(out, c)
    return out


def _clean(mask: Mask, value: Expr) -> Expr:
    """The adjoint as a plain value: 0 where the mask is false."""
    return ops.select(_all_of(mask), value, 0.0) if mask else value


def _fit(shape: tuple, mask: Mask, value: Expr) -> tuple[Mask, Expr]:
    """Bring an adjoint to its node's shape: the adjoint of a broadcast sums."""
    if shape == () and (value.shape or any(c.shape for c in mask)):
        per_component = Mask(c for c in mask if c.shape)
        if per_component:
            # Components that are dead must not enter the sum.
            value = _clean(per_component, value)
            mask = (mask - per_component) | {ops.any_of(_all_of(per_component))}
        value = vectors.total(value)
    return mask, ops.broadcast(value, shape)


def _merged(adjoints: list[tuple[Mask, Expr]]) -> tuple[Mask, Expr]:
    """The sum of a node's adjoints. Those that live together are added first: every other sum costs a select."""
    sums: dict[Mask, Expr] = {}
    for mask, value in adjoints:
        sums[mask] = sums[mask] + value if mask in sums else value
    while pair := next(((a, b) for a, b in combinations(sums, 2) if _nested(a, b) or _opposite(a, b)), None):
        mask, value = _merge(*((m, sums.pop(m)) for m in pair))
        sums[mask] = sums[mask] + value if mask in sums else value
    if len(sums) == 1:
        return next(iter(sums.items()))
    common = Mask.intersection(*sums)
    lives = [_all_of(mask - common) for mask in sums]
    value, either = constant(0.0), ops.FALSE
    for live, v in zip(lives, sums.values(), strict=True):
        value, either = value + ops.select(live, v, 0.0), ops.logical_or(either, live)
    return (common if either is ops.TRUE else common | {either}), value


def _nested(a: Mask, b: Mask) -> bool:
    return a <= b or b <= a


def _opposite(a: Mask, b: Mask) -> bool:
    """Whether the masks differ in one condition, that the one asks for and the other excludes."""
    ra, rb = a - b, b - a
    return len(ra) == len(rb) == 1 and next(iter(ra)) is ops.logical_not(next(iter(rb)))


def _merge(a: tuple[Mask, Expr], b: tuple[Mask, Expr]) -> tuple[Mask, Expr]:
    """The sum of two adjoints of one node whose masks are nested or opposite."""
    common = a[0] & b[0]
    ca, cb = _all_of(a[0] - common), _all_of(b[0] - common)
    if ca is ops.logical_not(cb):
        return common, ops.select(ca, a[1], b[1])
    return common, ops.select(ca, a[1], 0.0) + ops.select(cb, b[1], 0.0)
