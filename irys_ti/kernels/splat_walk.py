"""All splats along a piece of a ray: how much light passes them, and what each of them did to the path.

Transmittance is the exact product over all splats, not a chance, and sums are integers, so that no order in the tree
can change a bit. A walk needs no memory: each splat is dealt with where it is met.
"""

from irys_ti.graph import lower
from irys_ti.kernels.accumulate import add_exact
from irys_ti.kernels.bvh.instance import object_ray
from irys_ti.kernels.bvh.lanes import box_lane, ray_constants
from irys_ti.kernels.bvh.layout import (
    COUNT_BITS,
    INSTANCE,
    INSTANCE_INTS,
    KIND_BITS,
    LANES,
    NODE_REALS,
    START_SHIFT,
)
from irys_ti.kernels.bvh.leaf import has_instances, may_meet_lanes
from irys_ti.kernels.config import D_OPACITY, D_SHAPE, FORWARD
from irys_ti.kernels.geometry import kind_index
from irys_ti.kernels.geometry import splat_chance as chance
from irys_ti.kernels.geometry.mesh import vec3
from irys_ti.kernels.geometry.splats import MOST, OPACITY, SAMPLED, STRIDE, crossing, log_through, share
from irys_ti.kernels.layout import (
    H_PRIMS,
    H_SHAPES,
    H_VALUES,
    META_SCALE,
    SHAPE_FIRST_PRIM,
    SHAPE_REALS,
    SHAPE_SPLAT_VALUES,
    SHAPE_STRIDE,
    VALUE_DATA,
    VALUE_GRAD,
    VALUE_META,
    VALUE_STRIDE,
)
from irys_ti.kernels.rng import mix, unit
from irys_ti.runtime import ti

UNITS = 2.0**22  # of optical depth
CERTAIN = 3.0  # optical depth that shadow rays count in full
MOST_UNITS = 1 << 30  # nothing passes a depth of 256
NO_LIMIT = 1 << 30
FAR = 1e15  # where rays end that meet nothing: unused boxes of the tree lie farther out

# Numbers of a set's values, from SHAPE_SPLAT_VALUES on: the order of splats.PARAMS.
PLACE = {chance.POSITION: 0, chance.SCALE: 1, chance.ROTATION: 2, chance.OPACITY: 3}


@ti.func
def walk_splats(
    reals: ti.template(), ints: ti.template(), acc: ti.template(), tangents: ti.template(), nodes: ti.template(),
    node_refs: ti.template(), blocks: ti.template(), block_prims: ti.template(), stack: ti.template(), o, d, end,
    hit_prim, hit_inst, most, up, replica, config: ti.template(), deposit: ti.template(),
):  # fmt: skip
    """Meet every splat on o + t d, 0 < t < end; hit_prim, hit_inst: the one that the ray ended at, -1 for none.

    Without ``deposit``: (units of the optical depth of the splats that were passed, ln of the true over the sampled
    chance of all); the walk may end once there are more than ``most`` units. With it: (0, the sum of derivatives along
    the tangents in FORWARD mode); in REVERSE mode the derivatives of ln chance times ``up`` go to their accumulators.
    """
    depth, result, drift = 0, 0.0, 0
    ray_o, ray_d = o, d
    inv, axes, shear, origin = ray_constants(o, d)
    t_end = ti.min(ti.cast(end, float), FAR)
    inst, below, height = -1, 0, 1
    stack[0] = 0
    while height > 0:
        if ti.static(has_instances(config.kinds)):
            if inst >= 0 and height == below:
                inst = -1
                ray_o, ray_d = o, d
                inv, axes, shear, origin = ray_constants(o, d)
        height -= 1
        ref = stack[height]
        if ti.static(has_instances(config.kinds)):
            if ref < 0 and ~ref & INSTANCE == INSTANCE:
                inst, below = ~ref >> START_SHIFT, height
                ray_o, ray_d = object_ray(blocks, inst, o, d)
                inv, axes, shear, origin = ray_constants(ray_o, ray_d)
                ref = block_prims[INSTANCE_INTS * inst]
        if ref >= 0:
            mask = 0
            for k in range(ti.static(config.width)):  # without a branch, so that it becomes vector code
                enter, leave = box_lane(nodes, ref * ti.static(NODE_REALS[config.width]), k, ray_o, inv, t_end, config.width)
                mask |= ti.select(enter <= leave, 1 << k, 0)
            for k in range(ti.static(config.width)):
                if (mask >> k) & 1:
                    stack[height] = node_refs[ref * ti.static(config.width) + k]
                    height += 1
        elif ~ref & INSTANCE == ti.static(kind_index("splats")):
            code = ~ref
            lanes = ti.static(LANES[config.width])
            slot0 = (code >> START_SHIFT) * lanes
            count = ((code >> KIND_BITS) & ((1 << COUNT_BITS) - 1)) + 1
            mask = -1  # of a leaf of one block that is tested; a narrow tree's leaves are several blocks, all looked at
            if ti.static(config.width == 8):
                mask = may_meet_lanes(
                    blocks, code >> START_SHIFT, ti.static(kind_index("splats")), ray_o, ray_d, t_end, config.kinds, 8
                )
            for slot in range(slot0, slot0 + count * lanes):
                prim = -1
                if (mask >> (slot - slot0)) & 1:
                    prim = block_prims[slot]
                if prim >= 0:
                    shape = ints[H_SHAPES] + ints[ints[H_PRIMS] + prim] * SHAPE_STRIDE
                    i = prim - ints[shape + SHAPE_FIRST_PRIM]
                    base = ints[shape + SHAPE_REALS] + i * STRIDE
                    response, t_star, half = crossing(reals, base, ray_o, ray_d)
                    if response > 0.0 and t_star + half > 0.0 and t_star - half < t_end:
                        is_hit = prim == hit_prim and inst == hit_inst
                        if ti.static(deposit):
                            result += at_splat(
                                reals, ints, acc, tangents, shape, i, ray_o, ray_d, t_end, is_hit, up, replica, config
                            )
                        else:
                            part = share((t_end - t_star) / half) - share(-t_star / half)
                            true, sampled = reals[base + OPACITY], reals[base + SAMPLED]
                            tau = -log_through(ti.min(true * response, MOST))
                            units = ti.cast(ti.floor(tau * part * UNITS + 0.5), ti.i32)
                            depth = ti.min(depth + units, MOST_UNITS)
                            if depth > most:  # nothing that follows can change the answer
                                height, below = 0, -1
                            if true != sampled:
                                drawn = -log_through(ti.min(sampled * response, MOST))
                                x = (drawn - tau) * part
                                if is_hit:
                                    x += ti.log(tau / drawn)
                                drift += ti.cast(ti.floor(x * (UNITS / 16.0) + 0.5), ti.i32)
    if ti.static(not deposit):
        result = ti.cast(drift, float) * (16.0 / UNITS)
    return depth, result


@ti.func
def light_through(passed, limit):
    """Transmittance of an optical depth in units; ``limit``: what ``depth_limit`` gave.

    Roulette on the depth beyond CERTAIN: its chance to pass makes up for what is not counted.
    """
    counted = ti.min(ti.cast(passed, float) * (1.0 / UNITS), CERTAIN)
    return ti.select(passed > limit, 0.0, ti.exp(-counted))


@ti.func
def depth_limit(key):
    """The optical depth, in units, beyond which this ray counts as blocked."""
    u = unit(mix(key ^ ti.u32(0x1B56C4E9)))
    return ti.cast(ti.floor((CERTAIN - ti.log(1.0 - u)) * UNITS), ti.i32)


@ti.func
def at_splat(
    reals: ti.template(), ints: ti.template(), acc: ti.template(), tangents: ti.template(), shape, i, o, d, end, is_hit,
    up, replica, config: ti.template(),
):  # fmt: skip
    """Deposit what one splat did; in FORWARD mode return the derivative of ln chance along the tangents instead."""
    first = ints[H_VALUES] + ints[shape + SHAPE_SPLAT_VALUES] * VALUE_STRIDE
    at = ints[first + VALUE_DATA] + 3 * i
    at_scale = ints[first + VALUE_STRIDE + VALUE_DATA] + 3 * i
    at_turn = ints[first + 2 * VALUE_STRIDE + VALUE_DATA] + 4 * i
    turn = ti.Vector([reals[at_turn], reals[at_turn + 1], reals[at_turn + 2], reals[at_turn + 3]])
    opacity = reals[ints[first + 3 * VALUE_STRIDE + VALUE_DATA] + i]
    found = lower_derivatives(
        config.splats, vec3(reals, at), vec3(reals, at_scale), turn, opacity, o, d, end, ti.select(is_hit, 1.0, 0.0), up
    )
    out = 0.0
    for j in ti.static(range(len(found))):
        value = first + ti.static(place_of(config.splats, j)) * VALUE_STRIDE
        width = ti.static(width_of(config.splats, j))
        for c in ti.static(range(width_of(config.splats, j))):
            x = found[j][c]
            if ti.static(config.mode == FORWARD):
                out += x * tangents[ints[value + VALUE_DATA] + width * i + c]
            elif ints[value + VALUE_GRAD] >= 0 and x != 0.0:
                scale = reals[ints[value + VALUE_META] + META_SCALE]
                add_exact(acc, ints[value + VALUE_GRAD] + replica + width * i + c, x * scale)
    return out


def _leaves(splats: int) -> tuple:
    return chance.derivatives(bool(splats & D_OPACITY), bool(splats & D_SHAPE))[0]


def place_of(splats: int, j: int) -> int:
    """Which of the set's values the j-th derivative belongs to."""
    return PLACE[_leaves(splats)[j]]


def width_of(splats: int, j: int) -> int:
    """Numbers of that value for one splat."""
    return (_leaves(splats)[j].shape or (1,))[0]


def lower_derivatives(splats, position, scale, rotation, opacity, o, d, end, is_hit, up):
    """The derivative graphs as kernel code: a vector for each leaf of ``derivatives``."""
    leaves, graphs = chance.derivatives(bool(splats & D_OPACITY), bool(splats & D_SHAPE))
    env = {chance.ORIGIN: o, chance.DIRECTION: d, chance.END: end, chance.IS_HIT: is_hit, chance.UP: up}
    env |= {chance.POSITION: position, chance.SCALE: scale, chance.ROTATION: rotation, chance.OPACITY: opacity}
    found = lower(graphs, env)
    return [x if leaf.shape else ti.Vector([x]) for x, leaf in zip(found, leaves)]
