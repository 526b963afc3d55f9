"""Closest-hit and any-hit traversal: one function, inlined once per kernel."""

from irys_ti.runtime import ti

from .narrow import intersect_narrow
from .wide import intersect_wide


@ti.func
def intersect(
    reals: ti.template(),
    ints: ti.template(),
    nodes: ti.template(),
    node_refs: ti.template(),
    blocks: ti.template(),
    block_prims: ti.template(),
    o,
    d,
    t_max,
    any_hit,
    kinds: ti.template(),
    width: ti.template(),
):
    """Nearest hit with 0 < t < t_max along o + t d, or with ``any_hit`` != 0 some hit: (t, prim, u, v, inst).

    t = -1 and prim = -1 if there is none; inst = -1 outside instances. d need not be of unit length. u, v: the
    barycentrics of a triangle's second and third corner. kinds, width: those of the Accel, known when the
    kernel is compiled; ``kinds`` may also be a tuple of kind numbers or of (number, name) pairs. Of hits with
    the same t the one with the smallest prim, then inst, is reported, so the answer does not depend on the
    tree. Call it at one place per kernel: all of it is inlined.
    """
    t, prim, u, v, inst = -1.0, -1, 0.0, 0.0, -1
    if ti.static(width == 2):
        t, prim, u, v, inst = intersect_narrow(
            reals, ints, nodes, node_refs, blocks, block_prims, o, d, t_max, any_hit, kinds
        )
    else:
        t, prim, u, v, inst = intersect_wide(
            reals, ints, nodes, node_refs, blocks, block_prims, o, d, t_max, any_hit, kinds
        )
    return t, prim, u, v, inst
