"""Signatures: hashes of what a path met, to prove that its replay met the same."""

from irys_ti.kernels.rng import combine
from irys_ti.runtime import state, ti


@ti.func
def fold(sig, i):
    """Add an integer to a signature."""
    return combine(sig, ti.cast(i, ti.u32))


@ti.func
def fold_real(sig, x):
    """Add every bit of a real number to a signature."""
    out = sig
    if ti.static(state.precision == "f64"):
        bits = ti.bit_cast(ti.cast(x, ti.f64), ti.u64)
        out = combine(combine(sig, ti.cast(bits, ti.u32)), ti.cast(bits >> ti.cast(32, ti.u64), ti.u32))
    else:
        out = combine(sig, ti.bit_cast(ti.cast(x, ti.f32), ti.u32))
    return out
