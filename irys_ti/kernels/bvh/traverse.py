"""Closest-hit and any-hit traversal: one function, inlined once per kernel."""

from irys_ti.kernels.geometry import GEOMETRIES, stride
from irys_ti.kernels.layout import H_PRIMS, H_SHAPES, SHAPE_FIRST_PRIM, SHAPE_REALS, SHAPE_STRIDE
from irys_ti.runtime import ti

from .instance import object_ray
from .layout import (
    BLOCK_REALS,
    COUNT_BITS,
    FAR,
    INSTANCE,
    INSTANCE_INTS,
    KIND_BITS,
    LANES,
    NODE_REALS,
    STACK,
    START_SHIFT,
)

# Rounding of (box - o) * (1 / d) is at most three half-ulps; both ends get it (Ize, "Robust BVH ray
# traversal", JCGT 2013, after f32's epsilon; f64 loses nothing by it).
ROBUST = 1.0000004


def kind_mask(kinds) -> int:
    """Bits of the kinds: from such bits, or from registry numbers or (number, name) pairs."""
    if isinstance(kinds, int):
        return kinds
    mask = 0
    for kind in kinds:
        mask |= 1 << (kind[0] if isinstance(kind, tuple) else kind)
    return mask


@ti.func
def ray_constants(o, d, width: ti.template()):
    """What the box and triangle tests need of a ray.

    inv: 1 / d, large but finite where d is 0, so that no product is NaN. near: per axis where in a node the
    planes lie that the ray meets first. axes: the largest axis of d last; shear: the map that turns d into it.
    """
    inv = ti.Vector([0.0, 0.0, 0.0])
    near = ti.Vector([0, 0, 0])
    for k in ti.static(range(3)):
        tiny = ti.abs(d[k]) < 1e-30
        large = ti.select(d[k] < 0.0, -1e30, 1e30)
        inv[k] = ti.select(tiny, large, 1.0 / ti.select(tiny, 1.0, d[k]))
        near[k] = width * ti.select(inv[k] < 0.0, k + 3, k)
    a = ti.abs(d)
    kz = ti.select(a[0] > a[1], ti.select(a[0] > a[2], 0, 2), ti.select(a[1] > a[2], 1, 2))
    kx = ti.select(kz == 2, 0, kz + 1)
    ky = ti.select(kx == 2, 0, kx + 1)
    axes = ti.Vector([kx, ky, kz])
    dz = pick(d, kz)
    shear = ti.Vector([pick(d, kx) / dz, pick(d, ky) / dz, 1.0 / dz])
    origin = ti.Vector([pick(o, kx), pick(o, ky), pick(o, kz)])
    return inv, near, axes, shear, origin


@ti.func
def pick(v, k):
    """v[k] by selection: an index known only at run time would put v into memory."""
    return ti.select(k == 0, v[0], ti.select(k == 1, v[1], v[2]))


@ti.func
def node_lane(nodes: ti.template(), base, lane, o, inv, near, width: ti.template()):
    """Entry and exit distance of one child's box; comparisons as ``select`` (ti.min must mind NaN)."""
    x0 = (nodes[base + near[0] + lane] - o[0]) * inv[0]
    y0 = (nodes[base + near[1] + lane] - o[1]) * inv[1]
    z0 = (nodes[base + near[2] + lane] - o[2]) * inv[2]
    x1 = (nodes[base + 3 * width - near[0] + lane] - o[0]) * inv[0]
    y1 = (nodes[base + 5 * width - near[1] + lane] - o[1]) * inv[1]
    z1 = (nodes[base + 7 * width - near[2] + lane] - o[2]) * inv[2]
    enter = ti.select(x0 > y0, x0, y0)
    enter = ti.select(z0 > enter, z0, enter)
    leave = ti.select(x1 < y1, x1, y1)
    leave = ti.select(z1 < leave, z1, leave)
    return enter, leave


@ti.func
def triangle_lane(blocks: ti.template(), at, lane, lanes: ti.template(), shear, origin):
    """Watertight ray-triangle test (Woop, Benthin and Wald, JCGT 2013): (hit, t, u, v).

    Two triangles that share an edge see the same number for it up to its sign, so no ray slips between
    them; a ray exactly through an edge hits both.
    """
    ax = blocks[at[0] + lane] - origin[0]
    ay = blocks[at[1] + lane] - origin[1]
    az = blocks[at[2] + lane] - origin[2]
    bx = blocks[at[0] + 3 * lanes + lane] - origin[0]
    by = blocks[at[1] + 3 * lanes + lane] - origin[1]
    bz = blocks[at[2] + 3 * lanes + lane] - origin[2]
    cx = blocks[at[0] + 6 * lanes + lane] - origin[0]
    cy = blocks[at[1] + 6 * lanes + lane] - origin[1]
    cz = blocks[at[2] + 6 * lanes + lane] - origin[2]
    ax, ay = ax - shear[0] * az, ay - shear[1] * az
    bx, by = bx - shear[0] * bz, by - shear[1] * bz
    cx, cy = cx - shear[0] * cz, cy - shear[1] * cz
    wa = cx * by - cy * bx
    wb = ax * cy - ay * cx
    wc = bx * ay - by * ax
    det = wa + wb + wc
    low = ti.select(wa < wb, wa, wb)
    low = ti.select(wc < low, wc, low)
    high = ti.select(wa > wb, wa, wb)
    high = ti.select(wc > high, wc, high)
    # Not ``or``, ``and``: those branch, and a loop with a branch is not vectorised.
    hit = ((low >= 0.0) | (high <= 0.0)) & (det != 0.0)
    scale = 1.0 / ti.select(hit, det, 1.0)
    t = (wa * az + wb * bz + wc * cz) * shear[2] * scale
    return hit, t, wb * scale, wc * scale


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
    kernel is compiled; ``kinds`` may also be a tuple of kind numbers or of (number, name) pairs. Of hits with the same t the one with the smallest prim, then inst, is reported, so the
    answer does not depend on the tree. Call it at one place per kernel: all of it is inlined.
    """
    mask_of_kinds = ti.static(kind_mask(kinds))
    with_instances = ti.static(mask_of_kinds >> INSTANCE & 1)
    lanes = ti.static(LANES[width])
    best_t, best_prim, best_inst = ti.cast(t_max, float), -1, -1
    best_u, best_v = 0.0, 0.0

    stack = ti.Vector([0] * STACK[width])
    stack_t = ti.Vector([0.0] * STACK[width])
    lane_t = ti.Vector([0.0] * ti.static(max(width, lanes)))
    lane_u = ti.Vector([0.0] * lanes)
    lane_v = ti.Vector([0.0] * lanes)

    ray_o, ray_d = o, d
    inv, near, axes, shear, origin = ray_constants(o, d, width)
    inst, below = -1, 0  # the instance that the ray is in, and the stack's height under it
    turn = 0
    height = 1
    while height > 0:
        if ti.static(with_instances):
            if inst >= 0 and height == below:
                inst, turn = -1, 1
                ray_o, ray_d = o, d
        height -= 1
        ref = stack[height]
        if stack_t[height] <= best_t * ROBUST:
            if ti.static(with_instances):
                if ref < 0:
                    code = ~ref
                    if code & INSTANCE == INSTANCE:
                        inst, turn = code >> START_SHIFT, 1
                        ray_o, ray_d = object_ray(blocks, inst, o, d)
                        below = height
                        ref = block_prims[INSTANCE_INTS * inst]
                if turn == 1:
                    inv, near, axes, shear, origin = ray_constants(ray_o, ray_d, width)
                    turn = 0
            if ref >= 0:
                base = ref * NODE_REALS[width]
                mask = 0
                for k in range(width):
                    enter, leave = node_lane(nodes, base, k, ray_o, inv, near, width)
                    enter = ti.select(enter > 0.0, enter, 0.0)
                    leave = ti.select(leave < best_t, leave, best_t)
                    lane_t[k] = enter
                    mask |= ti.select(enter <= leave * ROBUST, 1 << k, 0)
                first = height
                for k in range(width):
                    if (mask >> k) & 1:
                        # Farther children below nearer ones.
                        at = height
                        while at > first and stack_t[at - 1] < lane_t[k]:
                            stack[at], stack_t[at] = stack[at - 1], stack_t[at - 1]
                            at -= 1
                        stack[at], stack_t[at] = node_refs[ref * width + k], lane_t[k]
                        height += 1
            else:
                code = ~ref
                start = code >> START_SHIFT
                count = ((code >> KIND_BITS) & ((1 << COUNT_BITS) - 1)) + 1
                kind = code & INSTANCE
                if kind == 0:
                    if ti.static(lanes > 1):
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
                    else:
                        for block in range(start, start + count):
                            hit, t, u, v = triangle_lane(blocks, block * BLOCK_REALS[width] + axes, 0, 1, shear, origin)
                            prim = block_prims[block]
                            if hit & (t > 0.0) and closer(t, prim, inst, best_t, best_prim, best_inst):
                                best_t, best_prim, best_inst = t, prim, inst
                                best_u, best_v = u, v
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
                    height = 0
    return ti.select(best_prim >= 0, best_t, -1.0), best_prim, best_u, best_v, best_inst


@ti.func
def closer(t, prim, inst, best_t, best_prim, best_inst):
    """Order of hits: by distance, then primitive, then instance; prim = -1 stands for the ray's end."""
    tie = t == best_t and (prim < best_prim or (prim == best_prim and inst < best_inst))
    return t < best_t or tie
