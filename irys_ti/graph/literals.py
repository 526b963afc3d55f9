"""Literals as variables: what keeps Taichi's passes from walking a large kernel once for every number in it.

Taichi writes a statement for each use of a literal; its common-subexpression pass merges them, and walks the whole
kernel twice for each one that it merges. Then its offload pass copies a literal for each of its uses again. A path
kernel has four thousand: three quarters of its compile time. A literal that is read from a local variable with two
assignments is nothing that these passes look at, and LLVM turns it back into a number.

Only where LLVM compiles, on the CPU and CUDA. Through SPIR-V the same kernels lost most of their atomic additions on
SwiftShader, so Vulkan and Metal keep true literals.
"""

from __future__ import annotations

from taichi.lang import expr, impl
from taichi.types import primitive_types

from irys_ti.runtime import state

REALS = (0.0, 1.0, 0.5, 2.0, -1.0, 0.25, 4.0, 3.0)
INTEGERS = (0, 1, 2, 3, 4, 5, 6, 7, 8, -1)
# Of the hashes in kernels/rng.py.
UNSIGNED = (
    1, 2, 4, 8, 15, 16, 0x55555555, 0x33333333, 0x0F0F0F0F, 0x00FF00FF, 0x7FEB352D, 0x846CA68B, 0x9E3779B9, 0x85EBCA6B,
)  # fmt: skip


class _State:
    """The variables of the kernel that is being compiled, and whether a true literal is needed just now."""

    kernel = None
    variables: dict = {}
    true_literal = False


def _key(value, dtype):
    return type(value), repr(value), dtype


def variable(value):
    """A local variable that holds a constant and is assigned twice."""
    x = impl.expr_init(value)
    if state.arch in ("cpu", "cuda"):
        x._assign(value)
    return x


def declare() -> None:
    """Make the variables; called once, where every use of a literal in the kernel is dominated."""
    if state.arch not in ("cpu", "cuda"):
        return
    kernel = impl.get_runtime().compiling_callable
    found = {}
    for value in (*REALS, *INTEGERS, True, False):
        found[_key(value, None)] = variable(value)
    for value in UNSIGNED:
        found[_key(value, primitive_types.u32)] = variable(expr.Expr(value, dtype=primitive_types.u32))
    _State.kernel, _State.variables = kernel, found


_make_constant = expr.make_constant_expr
_make_group = impl.make_expr_group


def _constant(value, dtype):
    if _State.kernel is not None and not _State.true_literal and impl.get_runtime().compiling_callable is _State.kernel:
        x = _State.variables.get(_key(value, dtype))
        if x is not None:
            return x
    return _make_constant(value, dtype)


def _group(*parts):
    """Indices stay numbers: an index that is a variable keeps a vector from being taken apart."""
    _State.true_literal = True
    try:
        return _make_group(*parts)
    finally:
        _State.true_literal = False


expr.make_constant_expr = _constant
impl.make_expr_group = _group
