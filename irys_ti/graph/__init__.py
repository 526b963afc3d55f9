"""Expression graphs: one text from which come kernel code, its derivatives, and a NumPy evaluation.

A graph is built from plain Python on ``Expr`` values: scalars, vec3 and spectra at four wavelengths.
``lower`` turns it into Taichi code inside a kernel, ``vjp`` and ``jvp`` into the graphs of its
derivatives, ``evaluate`` into float64 arrays.
"""

from irys_ti.graph.diff import jvp, vjp
from irys_ti.graph.evaluate import evaluate
from irys_ti.graph.expr import Expr, constant, count, leaf
from irys_ti.graph.ops import (
    FALSE,
    TRUE,
    absolute,
    any_of,
    arccos,
    atan2,
    broadcast,
    clamp,
    component,
    cos,
    div,
    exp,
    floor,
    log,
    logical_and,
    logical_not,
    logical_or,
    maximum,
    minimum,
    power,
    safe_sqrt,
    select,
    sin,
    spectrum,
    sqrt,
    stack,
    stop_gradient,
    tan,
    vec3,
)
from irys_ti.graph.param import Param
from irys_ti.graph.vectors import cross, dot, length, mean, normalize, total


def lower(exprs, leaves: dict, memo: dict | None = None) -> list:
    """The Taichi values of ``exprs``, inside a kernel; see ``irys_ti.graph.lowering``."""
    from irys_ti.graph.lowering import lower as _lower

    return _lower(exprs, leaves, memo)


__all__ = [
    "FALSE", "TRUE", "Expr", "Param", "absolute", "any_of", "arccos", "atan2", "broadcast", "clamp", "component",
    "constant", "cos", "count", "cross", "div", "dot", "evaluate", "exp", "floor", "jvp", "leaf", "length", "log",
    "logical_and", "logical_not", "logical_or", "lower", "maximum", "mean", "minimum", "normalize", "power",
    "safe_sqrt", "select", "sin", "spectrum", "sqrt", "stack", "stop_gradient", "tan", "total", "vec3", "vjp",
]  # fmt: skip
