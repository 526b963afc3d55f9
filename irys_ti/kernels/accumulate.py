"""Exact sums: every deposit is an integer, so no order of adding can change a bit (design decision D5).

An accumulator is two sums of magnitudes, of positive and of negative deposits, 96 bits each in three u32
words. The word that was there, which the atomic add returns, tells the carry; upper words are touched so seldom
that a deposit costs one atomic, while the range cannot be outgrown: deposits below 2^56 units, 2^40 of them.
docs/design/exact_sums.md gives the reasons.
"""

from irys_ti.runtime import ti

WORDS = 6  # u32 words of one accumulator: positive low, middle, high, negative low, middle, high
LIMIT = 2.0**56  # units; a deposit at or above it is counted, never added
TOO_LARGE, NOT_FINITE, MISMATCHES = 0, 1, 2  # words ahead of the accumulators: deposits that were refused,
FAULTS = 3  # and paths that the replay did not meet again


@ti.func
def add_exact(acc: ti.template(), index, x):
    """Add x (in units) to accumulator ``index``: rounded to the nearest unit, then exact.

    Every piece below is an integer that f32 holds exactly, so f32 and f64 split alike.
    """
    m = ti.abs(x)
    if ti.math.isnan(x) or ti.math.isinf(x):
        ti.atomic_add(acc[NOT_FINITE], ti.u32(1))
    elif m >= LIMIT:
        ti.atomic_add(acc[TOO_LARGE], ti.u32(1))
    else:
        whole = ti.floor(m)
        whole += ti.select(m - whole >= 0.5, 1.0, 0.0)
        upper = ti.floor(whole * (1.0 / 4294967296.0))
        lower = whole - upper * 4294967296.0
        lower_high = ti.floor(lower * (1.0 / 65536.0))
        lower_low = lower - lower_high * 65536.0
        word = (ti.cast(ti.cast(lower_high, ti.i32), ti.u32) << ti.u32(16)) + ti.cast(
            ti.cast(lower_low, ti.i32), ti.u32
        )
        next_word = ti.cast(ti.cast(upper, ti.i32), ti.u32)
        base = FAULTS + index * WORDS + ti.select(x < 0.0, 3, 0)
        if word != ti.u32(0):
            old = ti.atomic_add(acc[base], word)
            next_word += ti.select(old + word < old, ti.u32(1), ti.u32(0))
        if next_word != ti.u32(0):
            old_next = ti.atomic_add(acc[base + 1], next_word)
            if old_next + next_word < old_next:
                ti.atomic_add(acc[base + 2], ti.u32(1))


HEAD = 1 + FAULTS  # words of ``differences`` ahead of its numbers


@ti.kernel
def differences(acc: ti.types.ndarray(ndim=1), out: ti.types.ndarray(ndim=1), n: int):
    """Positive minus negative sum of n accumulators, each as the two words of a signed 64-bit number behind HEAD words.

    out[0] counts those that need more, out[1 : HEAD] are the faults. The host then reads a third of the words.
    """
    for i in range(n):
        at = FAULTS + WORDS * i
        low = acc[at] - acc[at + 3]
        borrow = ti.select(acc[at] < acc[at + 3], ti.u32(1), ti.u32(0))
        middle = acc[at + 1] - acc[at + 4] - borrow
        less = acc[at + 1] < acc[at + 4] or (acc[at + 1] == acc[at + 4] and borrow == ti.u32(1))
        high = acc[at + 2] - acc[at + 5] - ti.select(less, ti.u32(1), ti.u32(0))
        out[HEAD + 2 * i], out[HEAD + 2 * i + 1] = low, middle
        if high != ti.select((middle >> ti.u32(31)) != ti.u32(0), ti.u32(0xFFFFFFFF), ti.u32(0)):
            ti.atomic_add(out[0], ti.u32(1))
        if i == 0:
            for k in range(FAULTS):
                out[1 + k] = acc[k]
