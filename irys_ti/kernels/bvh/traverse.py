"""Closest-hit and any-hit traversal: one function, inlined once per kernel."""

from irys_ti.kernels.geometry import GEOMETRIES, stride
from irys_ti.kernels.layout import H_PRIMS, H_SHAPES, SHAPE_FIRST_PRIM, SHAPE_REALS, SHAPE_STRIDE
from irys_ti.runtime import ti

from .instance import object_ray
from .lanes import box_lane, closer, ray_constants, triangle_lane
from .layout import BLOCK_REALS, COUNT_BITS, INSTANCE, INSTANCE_INTS, KIND_BITS, LANES, NODE_REALS, STACK, START_SHIFT

# Rounding of (box - o) * (1 / d) is at most three half-ulps; both ends get it (Ize, "Robust BVH ray
# traversal", JCGT 2013, after f32's epsilon; f64 loses nothing by it).
ROBUST = 1.0000004
# Entry distances that mean "nothing to visit": NEVER is beyond any hit, and beyond OVER nothing else is.
OVER, NEVER = 1e38, 2e38


def kind_mask(kinds) -> int:
    """Bits of the kinds: from such bits, or from registry numbers or (number, name) pairs."""
    if isinstance(kinds, int):
        return kinds
    mask = 0
    for kind in kinds:
        mask |= 1 << (kind[0] if isinstance(kind, tuple) else kind)
    return mask


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
    mask_of_kinds = ti.static(kind_mask(kinds))
    with_instances = ti.static(mask_of_kinds >> INSTANCE & 1)
    lanes = ti.static(LANES[width])
    best_t, best_prim, best_inst = ti.cast(t_max, float), -1, -1
    best_u, best_v = 0.0, 0.0

    stack = ti.Vector([0] * STACK[width])
    # Entry distances cull what is popped. With two children it gains nothing, and filling the stack with
    # zeros at every ray is what a GPU spends a third of its time on in small scenes.
    stack_t = ti.Vector([0.0] * ti.static(1 if width == 2 else STACK[width]))
    lane_t = ti.Vector([0.0] * max(width, lanes))
    lane_u = ti.Vector([0.0] * lanes)
    lane_v = ti.Vector([0.0] * lanes)

    ray_o, ray_d = o, d
    inv, axes, shear, origin = ray_constants(o, d)
    inst, below = -1, 0  # the instance that the ray is in, and the stack's height under it
    ref, entry = 0, 0.0  # what to visit next, and where the ray enters its box
    height, searching = 0, 1
    while searching == 1:
        visit, enters = ref, entry
        entry = NEVER
        if enters <= best_t * ROBUST:
            if ti.static(with_instances):
                if visit < 0:
                    code = ~visit
                    if code & INSTANCE == INSTANCE:
                        inst, below = code >> START_SHIFT, height
                        ray_o, ray_d = object_ray(blocks, inst, o, d)
                        inv, axes, shear, origin = ray_constants(ray_o, ray_d)
                        visit = block_prims[INSTANCE_INTS * inst]
            if visit >= 0:
                base = visit * NODE_REALS[width]
                if ti.static(width == 2):
                    enter0, leave0 = box_lane(nodes, base, 0, ray_o, inv, 2)
                    enter1, leave1 = box_lane(nodes, base, 1, ray_o, inv, 2)
                    ref, entry = node_refs[visit * 2], ti.select(enter0 > 0.0, enter0, 0.0)
                    far, far_t = node_refs[visit * 2 + 1], ti.select(enter1 > 0.0, enter1, 0.0)
                    if entry > ti.select(leave0 < best_t, leave0, best_t) * ROBUST:
                        entry = NEVER
                    if far_t > ti.select(leave1 < best_t, leave1, best_t) * ROBUST:
                        far_t = NEVER
                    if far_t < entry:
                        ref, far = far, ref
                        entry, far_t = far_t, entry
                    if far_t < OVER:
                        stack[height] = far
                        height += 1
                else:
                    mask = 0
                    for k in range(width):
                        enter, leave = box_lane(nodes, base, k, ray_o, inv, width)
                        enter = ti.select(enter > 0.0, enter, 0.0)
                        leave = ti.select(leave < best_t, leave, best_t)
                        lane_t[k] = enter
                        mask |= ti.select(enter <= leave * ROBUST, 1 << k, 0)
                    first = height
                    for k in range(width):
                        if (mask >> k) & 1:
                            at = height
                            while at > first and stack_t[at - 1] < lane_t[k]:  # the nearest is visited first
                                stack[at], stack_t[at] = stack[at - 1], stack_t[at - 1]
                                at -= 1
                            stack[at], stack_t[at] = node_refs[visit * width + k], lane_t[k]
                            height += 1
            else:
                code = ~visit
                start = code >> START_SHIFT
                count = ((code >> KIND_BITS) & ((1 << COUNT_BITS) - 1)) + 1
                kind = code & INSTANCE
                if kind == 0:
                    if ti.static(lanes == 1):
                        for block in range(start, start + count):
                            at = block * BLOCK_REALS[width] + axes
                            hit, t, u, v = triangle_lane(blocks, at, 0, 1, shear, origin)
                            prim = block_prims[block]
                            if hit & (t > 0.0) and closer(t, prim, inst, best_t, best_prim, best_inst):
                                best_t, best_prim, best_inst = t, prim, inst
                                best_u, best_v = u, v
                    else:
                        mask = 0
                        at = start * BLOCK_REALS[width] + lanes * axes
                        for k in range(lanes):
                            hit, t, u, v = triangle_lane(blocks, at, k, lanes, shear, origin)
                            lane_t[k], lane_u[k], lane_v[k] = t, u, v
                            mask |= ti.select(hit & (t > 0.0) & (t <= best_t), 1 << k, 0)
                        if mask != 0:
                            for k in range(lanes):
                                prim = block_prims[start * lanes + k]
                                t = lane_t[k]
                                if ((mask >> k) & 1) and closer(t, prim, inst, best_t, best_prim, best_inst):
                                    best_t, best_prim, best_inst = t, prim, inst
                                    best_u, best_v = lane_u[k], lane_v[k]
                if ti.static(mask_of_kinds & ((1 << INSTANCE) - 2) != 0):
                    if kind != 0:
                        for slot in range(start * lanes, (start + count) * lanes):
                            prim = block_prims[slot]
                            if prim >= 0:
                                shape = ints[H_SHAPES] + ints[ints[H_PRIMS] + prim] * SHAPE_STRIDE
                                in_shape = prim - ints[shape + SHAPE_FIRST_PRIM]
                                t, u, v = -1.0, 0.0, 0.0
                                for number, module in ti.static(list(enumerate(GEOMETRIES.values()))):
                                    if ti.static(number > 0 and mask_of_kinds >> number & 1):
                                        if kind == number:
                                            at = ints[shape + SHAPE_REALS] + in_shape * ti.static(stride(module))
                                            t, u, v = module.intersect(reals, at, ray_o, ray_d, best_t * ROBUST)
                                if t > 0.0 and closer(t, prim, inst, best_t, best_prim, best_inst):
                                    best_t, best_prim, best_inst = t, prim, inst
                                    best_u, best_v = u, v
                if any_hit != 0 and best_prim >= 0:
                    height, below = 0, 0
        if entry > OVER:
            if ti.static(with_instances):
                if inst >= 0 and height == below:
                    inst = -1
                    ray_o, ray_d = o, d
                    inv, axes, shear, origin = ray_constants(o, d)
            if height > 0:
                height -= 1
                ref, entry = stack[height], 0.0
                if ti.static(width > 2):
                    entry = stack_t[height]
            else:
                searching = 0
    return ti.select(best_prim >= 0, best_t, -1.0), best_prim, best_u, best_v, best_inst
