"""Expression nodes: immutable, hash-consed, so that one value is one object.

A node has a shape, () for a scalar, (3,) for a vector, (4,) for a spectrum at four wavelengths, and
is real or boolean. Two nodes built from the same operation and arguments are the same object, which
makes common sub-expressions free and lets ``is`` compare expressions.
"""

from __future__ import annotations

import itertools
import math
import weakref

SHAPES = ((), (3,), (4,))

_serials = itertools.count()
_interned: weakref.WeakValueDictionary = weakref.WeakValueDictionary()


class Expr:
    """One node. Build nodes with the functions of ``irys_ti.graph``, not with this class.

    op: the operation's name. args: argument nodes. attr: what else identifies it (a leaf's name, a
    constant's value, a component's index). shape: (), (3,) or (4,). boolean: True for conditions.
    """

    __slots__ = ("op", "args", "attr", "shape", "boolean", "serial", "__weakref__")

    def __bool__(self):
        raise TypeError(f"an expression ({self!r}) has no truth value while the graph is built; use select()")

    def __iter__(self):
        if self.shape == ():
            raise TypeError("a scalar expression has no components")
        return (self[i] for i in range(self.shape[0]))

    def __repr__(self):
        if self.op == "const":
            return f"const({self.attr})"
        if self.op == "leaf":
            return f"leaf({self.attr!r}, {self.shape})"
        return f"<{self.op} {self.shape or 'scalar'}{' bool' if self.boolean else ''} #{self.serial}>"


def node(op: str, args: tuple = (), shape: tuple = (), boolean: bool = False, attr=None) -> Expr:
    """The one node with these contents."""
    key = (op, tuple(a.serial for a in args), shape, boolean, attr)
    found = _interned.get(key)
    if found is None:
        found = Expr()
        found.op, found.args, found.attr = op, args, attr
        found.shape, found.boolean = shape, boolean
        found.serial = next(_serials)
        _interned[key] = found
    return found


def leaf(name: str, shape: tuple = (), boolean: bool = False) -> Expr:
    """An input. Leaves of the same name, shape and type are the same node."""
    shape = tuple(shape)
    if shape not in SHAPES:
        raise ValueError(f"leaf {name!r}: shape {shape} is not one of {SHAPES}")
    return node("leaf", (), shape, boolean, name)


def constant(x) -> Expr:
    """A constant: a number, a bool, or a sequence of 3 or 4 numbers. Nodes pass through."""
    if isinstance(x, Expr):
        return x
    if isinstance(x, bool):
        return node("const", (), (), True, x)
    if hasattr(x, "__len__"):
        value = tuple(float(v) + 0.0 for v in x)
        shape: tuple = (len(value),)
    else:
        value, shape = float(x) + 0.0, ()
    if shape not in SHAPES:
        raise ValueError(f"constant {x!r}: shape {shape} is not one of {SHAPES}")
    if not all(math.isfinite(v) for v in (value if shape else (value,))):
        raise ValueError(f"constant {x!r} is not finite")
    return node("const", (), shape, False, value)


def full(shape: tuple, value: float) -> Expr:
    """A constant of the given shape with equal components."""
    return constant((value,) * shape[0] if shape else value)


def uniform_value(e: Expr) -> float | bool | None:
    """The value of a constant whose components are all equal, else None."""
    if e.op != "const":
        return None
    if e.shape == ():
        return e.attr
    return e.attr[0] if all(v == e.attr[0] for v in e.attr) else None


def is_zero(e: Expr) -> bool:
    """True for the constant 0 of any shape."""
    return not e.boolean and uniform_value(e) == 0.0


def topological(roots, stop=()) -> list[Expr]:
    """Every node below ``roots``, arguments before users; does not look below nodes in ``stop``.

    Iterative: adjoint graphs are deeper than Python's recursion limit.
    """
    order: list[Expr] = []
    done: set[Expr] = set()
    stack = [(r, False) for r in reversed(list(roots))]
    while stack:
        e, ready = stack.pop()
        if e in done:
            continue
        if ready or not e.args or e in stop:
            done.add(e)
            order.append(e)
            continue
        stack.append((e, True))
        stack.extend((a, False) for a in reversed(e.args) if a not in done)
    return order


def count(exprs) -> int:
    """Number of distinct operations (leaves and constants not counted): a measure of compile cost."""
    return sum(e.op not in ("leaf", "const") for e in topological(exprs))
