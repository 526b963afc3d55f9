"""The media that a point is inside of: up to eight, a byte each (1 + its number), the latest entered lowest.

What fills the point is the one of highest priority; among equals, the latest entered. VACUUM is a medium of nothing,
which a surface with an exterior but no interior encloses. Two u32 in a vector.
"""

from irys_ti.kernels.layout import (
    FLAG_FLIP,
    H_MATERIALS,
    H_MEDIA,
    MATERIAL_FLAGS,
    MATERIAL_STRIDE,
    MEDIUM_PRIORITY,
    MEDIUM_STRIDE,
    NULL,
    SHAPE_INTERIOR,
    SHAPE_MATERIAL,
    VACUUM,
)
from irys_ti.runtime import ti

DEEPEST = 8
assert FLAG_FLIP  # normals that are turned around turn inside and outside too


@ti.func
def entry(inside, j):
    """The j-th byte of the stack."""
    word = ti.select(j < 4, inside[0], inside[1])
    return ti.cast((word >> ti.cast(8 * (j & 3), ti.u32)) & ti.u32(255), ti.i32)


@ti.func
def priority(ints: ti.template(), code):
    """Of a medium by its byte; nothing has none, vacuum that of a plain medium."""
    out = 0
    if code == 0:
        out = -(1 << 30)
    elif code != VACUUM:
        out = ints[ints[H_MEDIA] + (code - 1) * MEDIUM_STRIDE + MEDIUM_PRIORITY]
    return out


@ti.func
def filling(ints: ti.template(), inside):
    """The byte of what fills the point, 0 for nothing."""
    best = 0
    for j in range(DEEPEST):
        code = entry(inside, j)
        if code != 0 and priority(ints, code) > priority(ints, best):
            best = code
    return best


@ti.func
def record_of(ints: ti.template(), code):
    """Offset of a medium's record; -1 where there is no medium."""
    return ti.select(code == 0 or code == VACUUM, -1, ints[H_MEDIA] + (code - 1) * MEDIUM_STRIDE)


@ti.func
def entered(inside, code):
    """The stack with one more on top; the eighth is forgotten."""
    return ti.Vector([(inside[0] << ti.u32(8)) | ti.cast(code, ti.u32), (inside[1] << ti.u32(8)) | (inside[0] >> ti.u32(24))])


@ti.func
def left(inside, code):
    """The stack without the topmost of this medium; unchanged where it is not there."""
    low, high = ti.u32(0), ti.u32(0)
    found, n = 0, 0
    for j in range(DEEPEST):
        at = entry(inside, j)
        if at == code and found == 0:
            found = 1
        else:
            shift = ti.cast(8 * (n & 3), ti.u32)
            if n < 4:
                low |= ti.cast(at, ti.u32) << shift
            else:
                high |= ti.cast(at, ti.u32) << shift
            n += 1
    return ti.Vector([low, high])


@ti.func
def through_surface(ints: ti.template(), inside, shape, is_entering):
    """The stack beyond a shape's surface."""
    code, out = ints[shape + SHAPE_INTERIOR], inside
    if code != 0:
        if is_entering:
            out = entered(inside, code)
        else:
            out = left(inside, code)
    return out


@ti.func
def is_passed(ints: ti.template(), inside, shape):
    """Whether a surface is none to light: a boundary, or hidden inside a medium of higher priority than its own."""
    material = ints[H_MATERIALS] + ints[shape + SHAPE_MATERIAL] * MATERIAL_STRIDE
    code, now = ints[shape + SHAPE_INTERIOR], filling(ints, inside)
    hidden = code != 0 and now != 0 and priority(ints, now) > priority(ints, code)
    return (ints[material + MATERIAL_FLAGS] & NULL) != 0 or hidden
