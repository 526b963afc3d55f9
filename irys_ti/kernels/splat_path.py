"""What splats do to a path at each vertex: light that passes them, light that they emit, and the derivatives of both."""

from irys_ti.kernels.adjoint import LIGHT, SAMPLED
from irys_ti.kernels.config import FORWARD, PRIMAL, REVERSE
from irys_ti.kernels.layout import (
    H_FLOORED,
    RECORD_LOW,
    RECORD_STRIDE,
    RECORD_TOTAL,
    RECORD_WEIGHT,
)
from irys_ti.kernels.signature import fold
from irys_ti.kernels.splat_light import baseline
from irys_ti.kernels.splat_walk import NO_LIMIT, depth_limit, light_through, walk_splats
from irys_ti.runtime import ti


@ti.func
def pass_splats(
    reals: ti.template(), ints: ti.template(), acc: ti.template(), tangents: ti.template(), nodes: ti.template(),
    node_refs: ti.template(), blocks: ti.template(), block_prims: ti.template(), stack: ti.template(), o, d, hit_t,
    hit_prim, hit_inst, ray_o, ray_d, reach, lit, splat_key, sig, light_factor: ti.template(), config: ti.template(),
):  # fmt: skip
    """The splats that the ray o, d and the shadow ray ray_o, ray_d passed.

    Dims ``light_factor``. Returns (true over sampled chance of what was drawn by floored opacities, signature).
    """
    weight, limit = 1.0, depth_limit(splat_key)
    for ray in range(2):
        wanted = lit
        if ray == 0:
            wanted = ti.static(int(config.mode != PRIMAL)) * ints[H_FLOORED]
        if wanted != 0:
            from_o, along = ti.select(ray == 0, o, ray_o), ti.select(ray == 0, d, ray_d)
            stop = ti.select(ray == 0, hit_t, reach)
            passed, drift = walk_splats(
                reals, ints, acc, tangents, nodes, node_refs, blocks, block_prims, stack, from_o, along,
                stop, ti.select(ray == 0, hit_prim, -1), hit_inst,
                ti.select(ray == 0, NO_LIMIT, limit), 0.0, 0, config, False,
            )  # fmt: skip
            if ray == 1:
                sig = fold(sig, ti.min(passed, limit))
                light_factor[SAMPLED] *= light_through(passed, limit)
            else:
                weight = ti.exp(drift)
    return weight, sig


@ti.func
def derive_splats(
    reals: ti.template(), ints: ti.template(), acc: ti.template(), tangents: ti.template(), nodes: ti.template(),
    node_refs: ti.template(), blocks: ti.template(), block_prims: ti.template(), record: ti.template(),
    d_film: ti.template(), stack: ti.template(), lane, pixel, replica, depth, o, d, hit_t, hit_prim, hit_inst, ray_o,
    ray_d, reach, lit, lambdas, T, W, f: ti.template(), L_before, L_low_before, L_sampled, alone, d_L,
    config: ti.template(),
):  # fmt: skip
    """Deposit the derivatives of the chances of one vertex' rays; in FORWARD mode returns d_L with them added."""
    for ray in range(2):
        if ray == 0 or lit == 1:
            # What the piece's chance multiplies: all that comes after it, or the sampled light.
            behind, up = ti.Vector([0.0, 0.0, 0.0, 0.0]), 0.0
            for k in ti.static(range(4)):
                at = lane * RECORD_STRIDE + k
                total, total_low = record[at + RECORD_TOTAL], record[at + RECORD_LOW]
                behind[k] = (total - L_before[k]) + (total_low - L_low_before[k])
                if ray == 1:
                    behind[k] = T[k] * f[LIGHT, k] * L_sampled[k]
                behind[k] *= alone[k]
                up += behind[k] * record[at + RECORD_WEIGHT]
            if ti.static(config.mode == REVERSE):
                if ray == 0 and depth == 0:
                    up -= W * baseline(reals, ints, record, d_film, lane, pixel, lambdas)
            from_o, along = ti.select(ray == 0, o, ray_o), ti.select(ray == 0, d, ray_d)
            stop = ti.select(ray == 0, hit_t, reach)
            if ti.static(config.mode == FORWARD):
                up = 1.0
            _, d_ln = walk_splats(
                reals, ints, acc, tangents, nodes, node_refs, blocks, block_prims, stack, from_o,
                along, stop, ti.select(ray == 0, hit_prim, -1), hit_inst, NO_LIMIT, up, replica,
                config, True,
            )  # fmt: skip
            if ti.static(config.mode == FORWARD):
                d_L += behind * d_ln
    return d_L
