"""Traversal of trees with two children per node and single triangles: what GPUs run fastest."""

from irys_ti.runtime import ti

from .instance import object_ray
from .lanes import box_lane, closer, ray_constants, triangle_lane
from .layout import BLOCK_REALS, COUNT_BITS, INSTANCE, INSTANCE_INTS, KIND_BITS, NODE_REALS, START_SHIFT
from .leaf import has_instances, hit_others, other_kinds

# Distance of a child that is not met; a reference that leads nowhere.
NEVER = 1e38
DONE = -0x7FFFFFFF


@ti.func
def intersect_narrow(
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
):
    """``intersect`` for width 2."""
    best_t, best_prim, best_inst = ti.cast(t_max, float), -1, -1
    best_u, best_v = 0.0, 0.0
    # No entry distances: culling by them what is popped gains nothing here.
    ray_o, ray_d = o, d
    inv, axes, shear, origin = ray_constants(o, d)
    inst, below = -1, 0  # the instance that the ray is in, and the stack's height under it
    ref, height, searching = 0, 0, 1
    while searching == 1:
        # Down to the next leaf. The lanes of a warp wait for each other here (Aila and Laine, HPG 2009), which
        # is 10 to 25 percent faster than testing leaves in the same loop.
        while ref >= 0:
            base = ref * NODE_REALS[2]
            near, far = node_refs[2 * ref], node_refs[2 * ref + 1]
            near_t, leave = box_lane(nodes, base, 0, ray_o, inv, best_t, 2)
            near_t = ti.select(near_t <= leave, near_t, NEVER)
            far_t, leave = box_lane(nodes, base, 1, ray_o, inv, best_t, 2)
            far_t = ti.select(far_t <= leave, far_t, NEVER)
            if far_t < near_t:
                near, far = far, near
                near_t, far_t = far_t, near_t
            if far_t < NEVER:
                stack[height] = far
                height += 1
            ref = near
            if near_t >= NEVER:
                ref = DONE
                if height > below:
                    height -= 1
                    ref = stack[height]

        code = ~ref
        start, kind = code >> START_SHIFT, code & INSTANCE
        last = start + ((code >> KIND_BITS) & ((1 << COUNT_BITS) - 1)) + 1
        entered = 0
        if ref == DONE:
            searching = 0
            if ti.static(has_instances(kinds)):
                if inst >= 0:  # back to the world
                    inst, below, searching = -1, 0, 1
                    ray_o, ray_d = o, d
                    inv, axes, shear, origin = ray_constants(o, d)
        elif kind == 0:
            for block in range(start, last):
                hit, t, u, v = triangle_lane(blocks, block * BLOCK_REALS[2] + axes, 0, 1, shear, origin)
                prim = block_prims[block]
                if hit & (t > 0.0) and closer(t, prim, inst, best_t, best_prim, best_inst):
                    best_t, best_prim, best_u, best_v, best_inst = t, prim, u, v, inst
        else:
            if ti.static(has_instances(kinds)):
                if kind == INSTANCE:
                    inst, below, entered = start, height, 1
                    ray_o, ray_d = object_ray(blocks, inst, o, d)
                    inv, axes, shear, origin = ray_constants(ray_o, ray_d)
                    ref = block_prims[INSTANCE_INTS * inst]
            if ti.static(len(other_kinds(kinds)) > 0):
                if kind != INSTANCE:
                    best_t, best_prim, best_u, best_v, best_inst = hit_others(
                        reals, ints, block_prims, start, last, -1, kind, ray_o, ray_d, inst,
                        best_t, best_prim, best_u, best_v, best_inst, kinds, key,
                    )  # fmt: skip
        if entered == 0:
            ref = DONE
            if height > below:
                height -= 1
                ref = stack[height]
        if any_hit != 0 and best_prim >= 0:
            searching = 0
    return ti.select(best_prim >= 0, best_t, -1.0), best_prim, best_u, best_v, best_inst
