"""Traversal of trees with eight children per node and blocks of eight triangles: what CPUs run fastest.

The loops over lanes have no branches and count one index up, so that LLVM makes vector code of them.
"""

from irys_ti.runtime import ti

from .instance import object_ray
from .lanes import ROBUST, box_lane, closer, ray_constants, triangle_lane
from .layout import BLOCK_REALS, INSTANCE, INSTANCE_INTS, LANES, NODE_REALS, START_SHIFT
from .leaf import has_instances, hit_others, may_meet_lanes, other_kinds


@ti.func
def intersect_wide(
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
    key,
    stack: ti.template(),
    stack_t: ti.template(),
):
    """``intersect`` for width 8."""
    lanes = ti.static(LANES[8])
    best_t, best_prim, best_inst = ti.cast(t_max, float), -1, -1
    best_u, best_v = 0.0, 0.0
    stack[0], stack_t[0] = 0, 0.0
    lane_t = ti.Vector([0.0] * lanes)
    lane_u = ti.Vector([0.0] * lanes)
    lane_v = ti.Vector([0.0] * lanes)
    ray_o, ray_d = o, d
    inv, axes, shear, origin = ray_constants(o, d)
    inst, below = -1, 0  # the instance that the ray is in, and the stack's height under it
    height = 1  # the root lies on the stack
    while height > 0:
        if ti.static(has_instances(kinds)):
            if inst >= 0 and height == below:  # back to the world
                inst = -1
                ray_o, ray_d = o, d
                inv, axes, shear, origin = ray_constants(o, d)
        height -= 1
        ref = stack[height]
        if stack_t[height] <= best_t * ROBUST:
            if ti.static(has_instances(kinds)):
                if ref < 0 and ~ref & INSTANCE == INSTANCE:
                    inst, below = ~ref >> START_SHIFT, height
                    ray_o, ray_d = object_ray(blocks, inst, o, d)
                    inv, axes, shear, origin = ray_constants(ray_o, ray_d)
                    ref = block_prims[INSTANCE_INTS * inst]
            if ref >= 0:
                mask = 0
                for k in range(lanes):
                    enter, leave = box_lane(nodes, ref * NODE_REALS[8], k, ray_o, inv, best_t, 8)
                    lane_t[k] = enter
                    mask |= ti.select(enter <= leave, 1 << k, 0)
                first = height
                while mask != 0:
                    k = 31 - ti.math.clz(mask)
                    mask ^= 1 << k
                    at = height
                    while at > first and stack_t[at - 1] < lane_t[k]:  # the nearest is visited first
                        stack[at], stack_t[at] = stack[at - 1], stack_t[at - 1]
                        at -= 1
                    stack[at], stack_t[at] = node_refs[ref * lanes + k], lane_t[k]
                    height += 1
            else:
                start, kind = ~ref >> START_SHIFT, ~ref & INSTANCE
                if kind == 0:
                    mask = 0
                    at = start * BLOCK_REALS[8] + lanes * axes
                    for k in range(lanes):
                        hit, t, u, v = triangle_lane(blocks, at, k, lanes, shear, origin)
                        lane_t[k], lane_u[k], lane_v[k] = t, u, v
                        mask |= ti.select(hit & (t > 0.0) & (t <= best_t), 1 << k, 0)
                    if mask != 0:
                        for k in range(lanes):
                            t, prim = lane_t[k], block_prims[start * lanes + k]
                            if ((mask >> k) & 1) and closer(t, prim, inst, best_t, best_prim, best_inst):
                                best_t, best_prim, best_inst = t, prim, inst
                                best_u, best_v = lane_u[k], lane_v[k]
                elif ti.static(len(other_kinds(kinds)) > 0):
                    mask = may_meet_lanes(blocks, start, kind, ray_o, ray_d, best_t * ROBUST, kinds, 8)
                    if mask != 0:
                        best_t, best_prim, best_u, best_v, best_inst = hit_others(
                            reals, ints, block_prims, start * lanes, start * lanes + lanes, mask, kind, ray_o, ray_d,
                            inst, best_t, best_prim, best_u, best_v, best_inst, kinds, key,
                        )  # fmt: skip
                if any_hit != 0 and best_prim >= 0:
                    height, below = 0, -1
    return ti.select(best_prim >= 0, best_t, -1.0), best_prim, best_u, best_v, best_inst
