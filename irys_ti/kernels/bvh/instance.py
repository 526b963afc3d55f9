"""Instances on the device: their transforms lie at the front of ``blocks`` (bvh/layout.py)."""

from irys_ti.kernels.geometry.frame import unit_or
from irys_ti.runtime import ti

from .layout import INSTANCE_REALS

TO_OBJECT, TO_WORLD = 0, 12


@ti.func
def rotate(blocks: ti.template(), at, x):
    """Linear part of the 3x4 transform at ``at`` applied to x."""
    return ti.Vector(
        [
            blocks[at] * x[0] + blocks[at + 1] * x[1] + blocks[at + 2] * x[2],
            blocks[at + 4] * x[0] + blocks[at + 5] * x[1] + blocks[at + 6] * x[2],
            blocks[at + 8] * x[0] + blocks[at + 9] * x[1] + blocks[at + 10] * x[2],
        ]
    )


@ti.func
def move(blocks: ti.template(), at, p):
    """The 3x4 transform at ``at`` applied to the point p."""
    return rotate(blocks, at, p) + ti.Vector([blocks[at + 3], blocks[at + 7], blocks[at + 11]])


@ti.func
def object_ray(blocks: ti.template(), inst, o, d):
    """A world-space ray in the instance's space, with the same t; unchanged where inst is -1."""
    at = INSTANCE_REALS * inst + TO_OBJECT
    local_o, local_d = o, d
    if inst >= 0:
        local_o, local_d = move(blocks, at, o), rotate(blocks, at, d)
    return local_o, local_d


@ti.func
def instance_point(blocks: ti.template(), inst, p):
    """A point of the instance's space in world space; unchanged where inst is -1."""
    out = p
    if inst >= 0:
        out = move(blocks, INSTANCE_REALS * inst + TO_WORLD, p)
    return out


@ti.func
def instance_vector(blocks: ti.template(), inst, x):
    """A vector of the instance's space in world space; unchanged where inst is -1."""
    out = x
    if inst >= 0:
        out = rotate(blocks, INSTANCE_REALS * inst + TO_WORLD, x)
    return out


@ti.func
def instance_normal(blocks: ti.template(), inst, n):
    """A unit normal of the instance's space in world space (inverse transpose), of unit length."""
    out = n
    if inst >= 0:
        at = INSTANCE_REALS * inst + TO_OBJECT
        x = ti.Vector(
            [
                blocks[at] * n[0] + blocks[at + 4] * n[1] + blocks[at + 8] * n[2],
                blocks[at + 1] * n[0] + blocks[at + 5] * n[1] + blocks[at + 9] * n[2],
                blocks[at + 2] * n[0] + blocks[at + 6] * n[1] + blocks[at + 10] * n[2],
            ]
        )
        out = unit_or(x, n)
    return out
