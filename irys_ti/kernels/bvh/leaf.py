"""Leaves of primitives that are not triangles: the kinds' own intersection functions."""

from irys_ti.kernels.geometry import GEOMETRIES, stride
from irys_ti.kernels.layout import H_PRIMS, H_SHAPES, SHAPE_FIRST_PRIM, SHAPE_REALS, SHAPE_STRIDE
from irys_ti.runtime import ti

from .lanes import ROBUST, closer
from .layout import BLOCK_REALS, INSTANCE, LANES


def kind_mask(kinds) -> int:
    """Bits of the kinds: from such bits, or from registry numbers or (number, name) pairs."""
    if isinstance(kinds, int):
        return kinds
    mask = 0
    for kind in kinds:
        mask |= 1 << (kind[0] if isinstance(kind, tuple) else kind)
    return mask


def other_kinds(kinds) -> list:
    """(number, module) of the kinds in ``kinds`` that are neither the mesh nor instances."""
    mask = kind_mask(kinds)
    return [(number, module) for number, module in enumerate(GEOMETRIES.values()) if number and mask >> number & 1]


def has_instances(kinds) -> bool:
    """Whether ``kinds`` holds instances."""
    return bool(kind_mask(kinds) >> INSTANCE & 1)


def laned(kinds) -> list:
    """Those of ``other_kinds`` whose leaves hold numbers of theirs for all lanes to be tested together."""
    return [(number, module) for number, module in other_kinds(kinds) if hasattr(module, "may_meet")]


@ti.func
def may_meet_lanes(blocks: ti.template(), start, kind, o, d, t_max, kinds: ti.template(), width: ti.template()):
    """Bits of the lanes of block ``start`` that a ray may meet before t_max: all of them where a kind has no test."""
    mask = -1
    for number, module in ti.static(laned(kinds)):
        if kind == number:
            mask = 0
            at = start * ti.static(BLOCK_REALS[width])
            for k in range(ti.static(LANES[width])):  # without a branch, so that it becomes vector code
                mask |= ti.select(module.may_meet(blocks, at, k, ti.static(LANES[width]), o, d, t_max), 1 << k, 0)
    return mask


@ti.func
def hit_others(
    reals: ti.template(),
    ints: ti.template(),
    block_prims: ti.template(),
    first,
    last,
    mask,
    kind,
    o,
    d,
    inst,
    best_t,
    best_prim,
    best_u,
    best_v,
    best_inst,
    kinds: ti.template(),
    key,
):
    """The best hit so far against the primitives in block_prims[first:last], all of one kind, whose bits ``mask`` has.

    key: of the ray's chances; kinds that are STOCHASTIC are left out where it is 0.
    """
    t, prim, u, v, at_inst = best_t, best_prim, best_u, best_v, best_inst
    for slot in range(first, last):
        this = -1
        if (mask >> (slot - first)) & 1:
            this = block_prims[slot]
        if this >= 0:
            shape = ints[H_SHAPES] + ints[ints[H_PRIMS] + this] * SHAPE_STRIDE
            in_shape = this - ints[shape + SHAPE_FIRST_PRIM]
            this_t, this_u, this_v = -1.0, 0.0, 0.0
            for number, module in ti.static(other_kinds(kinds)):
                if kind == number:
                    at = ints[shape + SHAPE_REALS] + in_shape * ti.static(stride(module))
                    if ti.static(getattr(module, "STOCHASTIC", False)):
                        if key != ti.u32(0):
                            this_t, this_u, this_v = module.intersect(reals, at, o, d, t * ROBUST, key, this, inst)
                    else:
                        this_t, this_u, this_v = module.intersect(reals, at, o, d, t * ROBUST)
            if this_t > 0.0 and closer(this_t, this, inst, t, prim, at_inst):
                t, prim, u, v, at_inst = this_t, this, this_u, this_v, inst
    return t, prim, u, v, at_inst
