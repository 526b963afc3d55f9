"""Closest-hit and any-hit traversal: one function, inlined once per kernel."""

from irys_ti.runtime import ti

from .layout import STACK
from .narrow import intersect_narrow
from .wide import intersect_wide


def stack_sizes(width: int) -> tuple[int, int]:
    """Integers and reals that a traversal's stack takes."""
    return STACK[width], STACK[width] if width == 8 else 1


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
    stack: ti.template(),
    stack_t: ti.template(),
    key=0,
):
    """Nearest hit with 0 < t < t_max along o + t d, or with ``any_hit`` != 0 some hit: (t, prim, u, v, inst).

    t = -1 and prim = -1 if there is none; inst = -1 outside instances. d need not be of unit length. u, v: the
    barycentrics of a triangle's second and third corner. kinds, width: those of the Accel, known when the
    kernel is compiled; ``kinds`` may also be a tuple of kind numbers or of (number, name) pairs. Of hits with
    the same t the one with the smallest prim, then inst, is reported, so the answer does not depend on the
    tree. Call it at one place per kernel: all of it is inlined.

    key: u32 that the hits of STOCHASTIC kinds are drawn from (0: none of them is met), the same for all of one ray.
    stack, stack_t: integers and reals for its use, as many as ``stack_sizes(width)`` says; their contents do not
    matter. A kernel makes them once per lane: Taichi fills a local array with zeros wherever it is declared, which
    at every ray took a third of a GPU's time in small scenes.
    """
    t, prim, u, v, inst = -1.0, -1, 0.0, 0.0, -1
    if ti.static(width == 2):
        t, prim, u, v, inst = intersect_narrow(
            reals, ints, nodes, node_refs, blocks, block_prims, o, d, t_max, any_hit, kinds, ti.cast(key, ti.u32), stack
        )
    else:
        t, prim, u, v, inst = intersect_wide(
            reals, ints, nodes, node_refs, blocks, block_prims, o, d, t_max, any_hit, kinds,
            ti.cast(key, ti.u32), stack, stack_t,
        )  # fmt: skip
    return t, prim, u, v, inst
