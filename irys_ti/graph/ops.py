"""The functions that build expressions, with constant folding and the simplifications that keep
adjoints small (x*0, x*1, x+0, equal branches, sums of sparse vectors)."""

from __future__ import annotations

from irys_ti.graph.expr import Expr, constant, full, is_zero, node, uniform_value
from irys_ti.graph.numpy_ops import NUMPY

FALSE, TRUE = constant(False), constant(True)


def _common_shape(op: str, *args: Expr) -> tuple:
    shapes = {a.shape for a in args} - {()}
    if len(shapes) > 1:
        raise ValueError(f"{op}: shapes {sorted(shapes)} do not go together; a scalar broadcasts, others must agree")
    return shapes.pop() if shapes else ()


def real(op: str, *args) -> tuple[Expr, ...]:
    """The arguments as nodes; conditions are refused."""
    out = tuple(constant(a) for a in args)
    if any(a.boolean for a in out):
        raise TypeError(f"{op} takes real expressions, not conditions; use select(cond, 1, 0)")
    return out


def _fold(op: str, args: tuple, shape: tuple) -> Expr | None:
    """The constant that an elementwise operation on constants makes."""
    if any(a.op != "const" for a in args):
        return None
    columns = [a.attr if a.shape else (a.attr,) * (shape[0] if shape else 1) for a in args]
    value = [NUMPY[op](*row) for row in zip(*columns, strict=True)]
    return constant([float(v) for v in value] if shape else float(value[0]))


def _elementwise(op: str, *args: Expr) -> Expr:
    shape = _common_shape(op, *args)
    folded = _fold(op, args, shape)
    return node(op, args, shape) if folded is None else folded


def _unary(op: str):
    def build(x) -> Expr:
        return _elementwise(op, *real(op, x))

    return build


def known_parts(e: Expr) -> tuple | None:
    """The components of a stacked or constant vector, where they are known without indexing."""
    if e.op == "stack":
        return e.args
    if e.op == "const" and e.shape:
        return tuple(constant(v) for v in e.attr)
    return None


def _by_parts(fn, a: Expr, b: Expr) -> Expr | None:
    """fn applied per component where one side is a stacked vector and the other is known too."""
    if a.op != "stack" and b.op != "stack":
        return None
    pa, pb = known_parts(a), known_parts(b)
    if pa is None or pb is None or len(pa) != len(pb):
        return None
    return _stack([fn(x, y) for x, y in zip(pa, pb, strict=True)])


def broadcast(x, shape: tuple) -> Expr:
    """A scalar repeated to the given shape; other shapes must agree already."""
    (x,) = real("broadcast", x)
    if x.shape == shape:
        return x
    if x.shape:
        raise ValueError(f"broadcast: shape {x.shape} does not broadcast to {shape}")
    return full(shape, x.attr) if x.op == "const" else node("broadcast", (x,), shape)


def spectrum(x) -> Expr:
    """A scalar repeated over the four wavelengths."""
    return broadcast(x, (4,))


def _narrow(a: Expr, b: Expr) -> tuple[Expr, Expr]:
    """Replace a broadcast scalar (or a uniform constant vector) by the scalar where the other side
    has the shape already."""
    def scalar(e):
        if e.op == "broadcast":
            return e.args[0]
        value = uniform_value(e) if e.shape else None
        return e if value is None else constant(value)

    if a.shape and a.shape == b.shape:
        if (s := scalar(a)) is not a:
            return s, b
        if (s := scalar(b)) is not b:
            return a, s
    return a, b


def add(a, b) -> Expr:
    a, b = real("add", a, b)
    shape = _common_shape("add", a, b)
    if is_zero(a):
        return broadcast(b, shape)
    if is_zero(b):
        return broadcast(a, shape)
    if b.op == "neg":
        return sub(a, b.args[0])
    if a.op == "neg":
        return sub(b, a.args[0])
    if (parts := _by_parts(add, a, b)) is not None:
        return parts
    a, b = _narrow(a, b)
    return _elementwise("add", *sorted((a, b), key=lambda e: e.serial))


def sub(a, b) -> Expr:
    a, b = real("sub", a, b)
    shape = _common_shape("sub", a, b)
    if is_zero(b):
        return broadcast(a, shape)
    if is_zero(a):
        return broadcast(neg(b), shape)
    if a is b:
        return full(shape, 0.0)
    if b.op == "neg":
        return add(a, b.args[0])
    if (parts := _by_parts(sub, a, b)) is not None:
        return parts
    return _elementwise("sub", *_narrow(a, b))


def neg(a) -> Expr:
    (a,) = real("neg", a)
    if a.op == "neg":
        return a.args[0]
    if a.op == "sub" and a.args[0].shape == a.args[1].shape:
        return sub(a.args[1], a.args[0])
    if a.op == "stack":
        return _stack([neg(x) for x in a.args])
    return _elementwise("neg", a)


def mul(a, b) -> Expr:
    a, b = real("mul", a, b)
    shape = _common_shape("mul", a, b)
    if is_zero(a) or is_zero(b):
        return full(shape, 0.0)
    for x, y in ((a, b), (b, a)):
        value = uniform_value(x)
        if value == 1.0:
            return broadcast(y, shape)
        if value == -1.0:
            return broadcast(neg(y), shape)
        if x.op == "neg":
            return neg(mul(x.args[0], y))
        # c * (d * e) with c, d scalar constants: one product fewer.
        if x.op == "const" and x.shape == () and y.op == "mul":
            for p, q in (y.args, y.args[::-1]):
                if p.op == "const" and p.shape == ():
                    return mul(constant(x.attr * p.attr), q)
        # A scalar times a sparse vector stays sparse.
        if x.shape == () and y.op == "stack" and any(is_zero(c) for c in y.args):
            return _stack([mul(x, c) for c in y.args])
    a, b = _narrow(a, b)
    return _elementwise("mul", *sorted((a, b), key=lambda e: e.serial))


def div(a, b) -> Expr:
    a, b = real("div", a, b)
    shape = _common_shape("div", a, b)
    if is_zero(b):
        raise ZeroDivisionError("div: the divisor is the constant 0")
    if is_zero(a):
        return full(shape, 0.0)
    if a.op == "neg":
        return neg(div(a.args[0], b))
    if b.op == "const" and b.shape == ():
        return mul(a, 1.0 / b.attr)
    return _elementwise("div", *_narrow(a, b))


sqrt = _unary("sqrt")
safe_sqrt = _unary("safe_sqrt")
safe_sqrt.__doc__ = "sqrt(max(x, 0)), with derivative 0 where x <= 0."
exp = _unary("exp")
log = _unary("log")
sin = _unary("sin")
cos = _unary("cos")
tan = _unary("tan")
arccos = _unary("arccos")
floor = _unary("floor")
absolute = _unary("abs")


def atan2(y, x) -> Expr:
    """The angle of (x, y) in (-pi, pi]."""
    return _elementwise("atan2", *real("atan2", y, x))


def power(a, b) -> Expr:
    """a to the power b, for a >= 0 or a small whole constant b (which becomes products)."""
    a, b = real("power", a, b)
    n = uniform_value(b) if b.shape == () else None
    if n == 0.0:
        return full(a.shape, 1.0)
    if n == 0.5:
        return sqrt(a)
    if n is not None and n == int(n) and abs(n) <= 8:
        product, square, k = None, a, int(abs(n))
        while k:
            if k & 1:
                product = square if product is None else mul(product, square)
            k >>= 1
            square = mul(square, square) if k else square
        return product if n > 0 else div(1.0, product)
    return _elementwise("pow", a, b)


def _condition(op: str, *args) -> tuple[Expr, ...]:
    out = tuple(constant(a) for a in args)
    if not all(a.boolean for a in out):
        raise TypeError(f"{op} takes conditions, not real expressions; compare them first")
    return out


def _compare(op: str, a, b) -> Expr:
    a, b = real(op, a, b)
    shape = _common_shape(op, a, b)
    if a.op == "const" and b.op == "const" and shape == ():
        return constant(bool(NUMPY[op](a.attr, b.attr)))
    return node(op, _narrow(a, b), shape, boolean=True)


def less(a, b) -> Expr:
    return _compare("lt", a, b)


def less_equal(a, b) -> Expr:
    return _compare("le", a, b)


def logical_not(a) -> Expr:
    (a,) = _condition("not", a)
    if a.op == "const":
        return constant(not a.attr)
    return a.args[0] if a.op == "not" else node("not", (a,), a.shape, boolean=True)


def logical_and(a, b) -> Expr:
    a, b = _condition("and", a, b)
    for x, y in ((a, b), (b, a)):
        if x is FALSE or x is y or y is TRUE:
            return x
    if a is logical_not(b):
        return FALSE
    args = tuple(sorted((a, b), key=lambda e: e.serial))
    return node("and", args, _common_shape("and", a, b), boolean=True)


def logical_or(a, b) -> Expr:
    a, b = _condition("or", a, b)
    for x, y in ((a, b), (b, a)):
        if x is TRUE or x is y or y is FALSE:
            return x
    if a is logical_not(b):
        return TRUE
    args = tuple(sorted((a, b), key=lambda e: e.serial))
    return node("or", args, _common_shape("or", a, b), boolean=True)


def any_of(c) -> Expr:
    """True where any component of a condition is."""
    (c,) = _condition("any_of", c)
    if c.shape == ():
        return c
    out = component(c, 0)
    for i in range(1, c.shape[0]):
        out = logical_or(out, component(c, i))
    return out


def select(cond, a, b) -> Expr:
    """a where cond holds, else b; the other value may be inf or NaN, in derivatives too."""
    (cond,) = _condition("select", cond)
    a, b = real("select", a, b)
    shape = _common_shape("select", cond, a, b)
    if cond.op == "const":
        return broadcast(a if cond.attr else b, shape)
    if a is b:
        return broadcast(a, shape)
    if cond.op == "not":
        return select(cond.args[0], b, a)
    # Nested selects on the same condition.
    if a.op == "select" and a.args[0] is cond:
        a = a.args[1]
    if b.op == "select" and b.args[0] is cond:
        b = b.args[2]
    if shape and not (cond.shape or a.shape or b.shape):  # only the value that was dropped had components
        return broadcast(select(cond, a, b), shape)
    if cond.shape == () and (parts := _by_parts(lambda x, y: select(cond, x, y), a, b)) is not None:
        return parts
    return node("select", (cond, a, b), shape)


def minimum(a, b) -> Expr:
    a, b = real("minimum", a, b)
    return select(less(a, b), a, b)


def maximum(a, b) -> Expr:
    a, b = real("maximum", a, b)
    return select(less(b, a), a, b)


def clamp(x, low, high) -> Expr:
    """x kept within [low, high]; derivative 0 outside."""
    return minimum(maximum(x, low), high)


def _stack(parts) -> Expr:
    parts = tuple(parts)
    if all(p.op == "const" for p in parts):
        return constant([p.attr for p in parts])
    first = parts[0]
    if first.op == "comp" and first.args[0].shape == (len(parts),):
        source = first.args[0]
        if all(p.op == "comp" and p.args[0] is source and p.attr == i for i, p in enumerate(parts)):
            return source
    if all(p is first for p in parts):
        return broadcast(first, (len(parts),))
    return node("stack", parts, (len(parts),))


def vec3(x, y, z) -> Expr:
    """A vector from three scalars."""
    return stack(x, y, z)


def stack(*parts) -> Expr:
    """A vector of 3, or a spectrum of 4, from scalars."""
    parts = real("stack", *parts)
    if len(parts) not in (3, 4) or any(p.shape for p in parts):
        raise ValueError("stack takes 3 or 4 scalars")
    return _stack(parts)


def component(v, i: int) -> Expr:
    """The i-th component of a vector, a spectrum, or a condition on one."""
    v = constant(v)
    if v.shape == ():
        raise TypeError(f"component: {v!r} is a scalar")
    if not 0 <= i < v.shape[0]:
        raise IndexError(f"component {i} of an expression with {v.shape[0]} components")
    if v.op == "broadcast":
        return v.args[0]
    parts = known_parts(v)
    return parts[i] if parts else node("comp", (v,), (), v.boolean, i)


def stop_gradient(x) -> Expr:
    """x as a value, constant to derivatives."""
    (x,) = real("stop_gradient", x)
    return x if x.op in ("const", "stop") else node("stop", (x,), x.shape)


def _bind_operators() -> None:
    operators = {
        "__add__": add, "__sub__": sub, "__mul__": mul, "__truediv__": div, "__pow__": power,
        "__lt__": less, "__le__": less_equal, "__and__": logical_and, "__or__": logical_or,
        "__getitem__": component,
    }  # fmt: skip
    for name, fn in operators.items():
        setattr(Expr, name, lambda self, other, fn=fn: fn(self, other))
    reflected = {
        "__radd__": add, "__rsub__": sub, "__rmul__": mul, "__rtruediv__": div, "__rpow__": power,
        "__gt__": less, "__ge__": less_equal, "__rand__": logical_and, "__ror__": logical_or,
    }  # fmt: skip
    for name, fn in reflected.items():
        setattr(Expr, name, lambda self, other, fn=fn: fn(other, self))
    Expr.__neg__ = neg
    Expr.__invert__ = logical_not
    Expr.__abs__ = absolute
    for i, name in enumerate("xyz"):
        setattr(Expr, name, property(lambda self, i=i: component(self, i)))


_bind_operators()
