"""The path loop: one body, run once for the radiance and once more to deposit its derivatives.

Pass 0 finds the radiance L of each path. Pass 1, the replay, regenerates the path from the same random
numbers in the same machine code, and at every vertex deposits what the parameters there did to L: what
remains of L after the vertex, over the vertex's own factor, times that factor's derivative (Vicini et al.
2021, "Path replay backpropagation"; design decision D4). Memory does not grow with the path.

A factor that is zero has a derivative all the same. So the throughput is kept, per wavelength, as the
product of its factors that are not zero and the number that are; radiance of paths with exactly one zero
factor is summed apart, and belongs to that vertex alone.

Names: ``wi`` points to the previous vertex, ``wo`` to the next; ``hit`` values are never differentiated.
"""

from irys_ti.kernels import rng
from irys_ti.kernels.bsdf import BSDFS
from irys_ti.kernels.bvh import (
    INSTANCE,
    instance_normal,
    instance_point,
    instance_vector,
    intersect,
    object_ray,
)
from irys_ti.kernels.camera import camera_ray, film_offset, film_pixel
from irys_ti.kernels.config import FORWARD, PRIMAL, REVERSE
from irys_ti.kernels.dispatch import (
    PARTS,
    has,
    lower_emit,
    lower_emit_jvp,
    lower_emit_vjp,
    lower_eval,
    lower_eval_jvp,
    lower_eval_vjp,
    lower_sample,
    n_params,
)
from irys_ti.kernels.emitter import (
    light_record,
    pdf_environment,
    pdf_hit,
    sample_light,
    to_light_frame,
)
from irys_ti.kernels.film import two_sum
from irys_ti.kernels.frame import tangent, to_local, to_world
from irys_ti.kernels.geometry import GEOMETRIES
from irys_ti.kernels.layout import (
    H_CHANNELS,
    H_ENVIRONMENT,
    H_MATERIALS,
    H_MAX_DEPTH,
    H_PRIMS,
    H_RR_DEPTH,
    H_SHAPES,
    H_SPHERE,
    H_VALUES,
    LIGHT_KIND,
    LIGHT_N,
    LIGHT_VALUES,
    LIGHT_WANTED,
    MATERIAL_FLAGS,
    MATERIAL_KIND,
    MATERIAL_N,
    MATERIAL_STRIDE,
    MATERIAL_VALUES,
    RECORD_PRIMAL,
    RECORD_REPLAY,
    SHAPE_KIND,
    SHAPE_LIGHT,
    SHAPE_MATERIAL,
    SHAPE_STRIDE,
    SMOOTH,
    TRANSMISSIVE,
    TWO_SIDED,
    VALUE_GRAD,
    VALUE_STRIDE,
    WANTED,
)
from irys_ti.kernels.light import LIGHTS
from irys_ti.kernels.signature import fold, fold_real
from irys_ti.kernels.values import deposit, lookup
from irys_ti.kernels.wavelength import response, sample_wavelengths
from irys_ti.runtime import ti

EPSILON = 2.0**-15  # how far rays start off a surface, relative to coordinates; the same in both tiers
SHADOW = 1.0 - 2.0**-10  # how much of the way to a light a shadow ray goes


@ti.func
def surface(
    reals: ti.template(), ints: ti.template(), blocks: ti.template(), shape, prim, inst, o, d, t, u, v, config: ti.template()
):
    """World-space point, geometric and shading normal, uv and tangent of a hit."""
    p, ng, ns = ti.Vector([0.0, 0.0, 0.0]), ti.Vector([0.0, 0.0, 1.0]), ti.Vector([0.0, 0.0, 1.0])
    uv, dp_du = ti.Vector([0.0, 0.0]), ti.Vector([1.0, 0.0, 0.0])
    ray_o, ray_d = o, d
    if ti.static((config.kinds >> INSTANCE) & 1 == 1):
        ray_o, ray_d = object_ray(blocks, inst, o, d)
    kind = ints[shape + SHAPE_KIND]
    for index, name in ti.static(config.geometries):
        if kind == ti.static(index):
            p, ng, ns, uv, dp_du = GEOMETRIES[name].surface_at(reals, ints, shape, prim, ray_o, ray_d, t, u, v)
    if ti.static((config.kinds >> INSTANCE) & 1 == 1):
        p, dp_du = instance_point(blocks, inst, p), instance_vector(blocks, inst, dp_du)
        ng, ns = instance_normal(blocks, inst, ng), instance_normal(blocks, inst, ns)
    return p, ng, ns, uv, dp_du


@ti.func
def offset_point(p, ng, d, radius):
    """Where a ray leaves a surface: on the side of ng that d points to."""
    reach = ti.max(ti.max(ti.abs(p[0]), ti.abs(p[1])), ti.abs(p[2])) + 0.1 * radius
    return p + ng * (ti.select(d.dot(ng) < 0.0, -1.0, 1.0) * EPSILON * reach)


@ti.func
def sample_bsdf(kind, rows, wi, u, config: ti.template()):
    """(wo, 1 for a delta lobe)."""
    wo, delta = ti.Vector([0.0, 0.0, -1.0]), 0
    for index, name in ti.static(config.bsdfs):
        if kind == ti.static(index):
            n = ti.static(n_params(BSDFS, name))
            bound = [(ti.Vector([rows[j, k] for k in ti.static(range(4))]), rows[j, 0]) for j in ti.static(range(n))]
            wo, delta = lower_sample(name, bound, wi, u)
    return wo, delta


@ti.func
def eval_bsdf(kind, rows, wi, wo, delta, config: ti.template()):
    """Value (with the cosine) and density of one direction, of the smooth part or of the delta part."""
    f, pdf = ti.Vector([0.0, 0.0, 0.0, 0.0]), 0.0
    for index, name in ti.static(config.bsdfs):
        if kind == ti.static(index):
            n = ti.static(n_params(BSDFS, name))
            bound = [(ti.Vector([rows[j, k] for k in ti.static(range(4))]), rows[j, 0]) for j in ti.static(range(n))]
            for is_delta in ti.static(range(2)):
                if ti.static(has(name, PARTS[is_delta])):
                    if delta == ti.static(is_delta):
                        f, pdf = lower_eval(name, PARTS[is_delta], bound, wi, wo)
    return f, pdf


@ti.func
def emitted(kind, rows, w, config: ti.template()):
    """Emitted value of a light towards w."""
    value = ti.Vector([0.0, 0.0, 0.0, 0.0])
    for index, name in ti.static(config.lights):
        if kind == ti.static(index):
            n = ti.static(n_params(LIGHTS, name))
            bound = [(ti.Vector([rows[j, k] for k in ti.static(range(4))]), rows[j, 0]) for j in ti.static(range(n))]
            value = lower_emit(name, bound, w)
    return value


@ti.kernel
def trace_paths(
    reals: ti.types.ndarray(ndim=1),
    ints: ti.types.ndarray(ndim=1),
    nodes: ti.types.ndarray(ndim=1),
    node_refs: ti.types.ndarray(ndim=1),
    blocks: ti.types.ndarray(ndim=1),
    block_prims: ti.types.ndarray(ndim=1),
    tangents: ti.types.ndarray(ndim=1),
    record: ti.types.ndarray(ndim=1),
    signature: ti.types.ndarray(ndim=1),
    mask: ti.types.ndarray(ndim=1),
    d_film: ti.types.ndarray(ndim=1),
    acc: ti.types.ndarray(ndim=1),
    first: int,
    last: int,
    pixel0: int,
    n_pixels: int,
    sample0: int,
    n_samples: int,
    n_groups: int,
    seed: int,
    replay_seed: int,
    d_scale: float,
    n_accumulators: int,
    n_replicas: int,
    use_mask: int,
    config: ti.template(),
):
    """Trace the paths of n_pixels pixels from pixel0, samples sample0 to sample0 + n_samples - 1 of each.

    first, last: passes to run; 0 is the primal pass, 1 the replay. record: one path's radiance, kept from
    pass 0 for pass 1 and for the film. signature: 4 words a path: hash of everything the path met, hash of
    its discrete decisions, for each pass. d_film: derivative of the loss by each pixel's channels, times
    d_scale. replay_seed: the seed of pass 1; other than ``seed`` only to show that replay then fails.
    """
    for lane in range(n_pixels * n_samples):
        pixel = pixel0 + lane // n_samples
        sample = sample0 + lane - (lane // n_samples) * n_samples
        group = sample - (sample // n_groups) * n_groups
        index = sample // n_groups
        px, py, number = film_pixel(ints, pixel)
        n_passes = last
        if use_mask != 0:
            n_passes = ti.select(mask[lane] != 0, last, first)
        max_depth, rr_depth = ints[H_MAX_DEPTH], ints[H_RR_DEPTH]
        radius = reals[ints[H_SPHERE] + 3]

        for step in range(first, n_passes):
            replay = step == 1
            key = rng.stream(ti.select(replay, replay_seed, seed), group, number)
            u0, u1 = rng.sample_2d(key, index, rng.PAIR_FILM)
            shift = film_offset(ints, ti.Vector([u0, u1]))
            ul, _ = rng.sample_2d(key, index, rng.PAIR_WAVELENGTH)
            lambdas, pdf_lambda = sample_wavelengths(reals, ints, ul)
            o, d = camera_ray(
                reals, ints, ti.cast(px, float) + 0.5 + shift[0], ti.cast(py, float) + 0.5 + shift[1]
            )

            zero4 = ti.Vector([0.0, 0.0, 0.0, 0.0])
            T = zero4 + 1.0  # product of the factors that are not zero
            zeros = ti.Vector([0, 0, 0, 0])  # number of those that are
            L, L_low = zero4, zero4  # radiance so far, a two-float sum
            L_one_zero = zero4  # radiance that exactly one zero factor keeps from L
            total, total_low, total_one_zero = zero4, zero4, zero4
            weight = zero4 + 1.0  # derivative of the loss by the path's radiance
            d_L = zero4  # FORWARD: the derivative of L
            if ti.static(config.mode != PRIMAL):
                if replay:
                    at = lane * RECORD_REPLAY
                    for k in range(4):
                        total[k], total_low[k] = record[at + k], record[at + 4 + k]
                        total_one_zero[k] = record[at + 8 + k]
                        if ti.static(config.mode == REVERSE):
                            w = 0.0
                            for c in range(ints[H_CHANNELS]):
                                b = pixel * ints[H_CHANNELS] + c
                                w += d_film[b] * response(reals, ints, c, lambdas[k])
                            weight[k] = w * d_scale / (4.0 * pdf_lambda[k])

            sig, decisions = ti.u32(1), ti.u32(2)
            prev_pdf, prev_delta = 0.0, 1
            depth = 0
            alive = 1
            while alive == 1:
                # --- the closest hit, then the shadow ray: one call site for both
                ray_o, ray_d, reach = o, d, 1e30
                shape, prim_hit, lit = 0, -1, 0
                p, ng, ns = ti.Vector([0.0, 0.0, 0.0]), ti.Vector([0.0, 0.0, 1.0]), ti.Vector([0.0, 0.0, 1.0])
                uv, dp_du = ti.Vector([0.0, 0.0]), ti.Vector([1.0, 0.0, 0.0])
                material, flags = 0, 0
                # The two lights of a vertex: row 0 the one that was hit, row 1 the one that was sampled.
                light_of = ti.Vector([-1, -1])
                light_w = ti.Matrix.zero(float, 2, 3)
                light_uv = ti.Matrix.zero(float, 2, 2)
                light_factor = ti.Vector([0.0, 0.0])
                light_pdf, light_delta = 0.0, 0
                d_light = ti.Vector([0.0, 0.0, 1.0])
                bounce = rng.FIRST_BOUNCE + depth * rng.PAIRS_PER_BOUNCE
                u = ti.Vector([0.0, 0.0, 0.0, 0.0, 0.0, 0.0])
                for ray in range(2):
                    t, prim, bu, bv, inst = intersect(
                        reals, ints, nodes, node_refs, blocks, block_prims, ray_o, ray_d, reach, ray,
                        config.kinds, config.width,
                    )
                    if ray == 0:
                        prim_hit = prim
                        reach = -1.0
                        i_light = ints[H_ENVIRONMENT]
                        pdf_light = 0.0
                        uv_light = ti.Vector([0.0, 0.0])
                        if prim >= 0:
                            shape = ints[H_SHAPES] + ints[ints[H_PRIMS] + prim] * SHAPE_STRIDE
                            p, ng, ns, uv, dp_du = surface(
                                reals, ints, blocks, shape, prim, inst, ray_o, ray_d, t, bu, bv, config
                            )
                            material = ints[H_MATERIALS] + ints[shape + SHAPE_MATERIAL] * MATERIAL_STRIDE
                            flags = ints[material + MATERIAL_FLAGS]
                            i_light = ints[shape + SHAPE_LIGHT]
                            uv_light = uv
                            if i_light >= 0:
                                if ray_d.dot(ng) < 0.0:
                                    if prev_delta == 0:
                                        pdf_light = pdf_hit(
                                            reals, ints, i_light, shape, prim, ray_o, p, ng, ray_d, t, config
                                        )
                                else:
                                    i_light = -1
                        elif i_light >= 0:
                            pdf_light, uv_light = pdf_environment(reals, ints, i_light, ray_d, config)
                        light_of[0] = i_light
                        if i_light >= 0:
                            ratio = ti.select(prev_delta == 1, 0.0, pdf_light / prev_pdf)
                            light_factor[0] = 1.0 / (1.0 + ratio * ratio)  # power heuristic, detached
                            w_hit = to_light_frame(reals, ints, i_light, ray_d)
                            for k in ti.static(range(3)):
                                light_w[0, k] = w_hit[k]
                            light_uv[0, 0], light_uv[0, 1] = uv_light[0], uv_light[1]
                        sig = fold_real(fold(fold(sig, prim), inst), t)
                        decisions = fold(fold(decisions, prim), inst)

                        if prim >= 0 and depth + 1 < max_depth:
                            for pair in range(rng.PAIRS_PER_BOUNCE):
                                u[2 * pair], u[2 * pair + 1] = rng.sample_2d(key, index, bounce + pair)
                            if (flags & SMOOTH) != 0:
                                # The side a light may be seen from: by the shading normal, as eval has it.
                                origin = offset_point(p, ng, ti.select(ray_d.dot(ng) < 0.0, ng, -ng), radius)
                                i_light, d_light, distance, light_pdf, factor, light_delta, uv_light = sample_light(
                                    reals, ints, origin, ti.Vector([u[0], u[1]]), u[4], config
                                )
                                same_side = d_light.dot(ns) * ray_d.dot(ns) < 0.0
                                if light_pdf > 0.0 and (same_side or (flags & TRANSMISSIVE) != 0):
                                    ray_o = offset_point(p, ng, d_light, radius)
                                    if not same_side:
                                        # The other side: start there, and end where the light's point was.
                                        distance += (origin - ray_o).dot(d_light)
                                    ray_d, reach = d_light, distance * SHADOW
                                    light_of[1] = i_light
                                    light_factor[1] = factor / light_pdf
                                    w_nee = to_light_frame(reals, ints, i_light, d_light)
                                    for k in ti.static(range(3)):
                                        light_w[1, k] = w_nee[k]
                                    light_uv[1, 0], light_uv[1, 1] = uv_light[0], uv_light[1]
                    else:
                        lit = ti.select(prim < 0, 1, 0)
                        if reach < 0.0:
                            lit = 0
                decisions = fold(decisions, lit)

                # --- the surface's parameters, a direction, and the two values of the BSDF
                on_surface = prim_hit >= 0 and depth + 1 < max_depth
                rows = ti.Matrix.zero(float, config.bsdf_rows, 4)
                t_rows = ti.Matrix.zero(float, config.bsdf_rows, 4)
                f = ti.Matrix.zero(float, 2, 4)
                pdf = ti.Vector([0.0, 0.0])
                kind, delta, flip = 0, 0, 1.0
                wi, wo = ti.Vector([0.0, 0.0, 1.0]), ti.Vector([0.0, 0.0, 1.0])
                wo_of = ti.Matrix.zero(float, 2, 3)
                s = tangent(ns, dp_du)
                b = ns.cross(s)
                if on_surface:
                    kind = ints[material + MATERIAL_KIND]
                    for j in range(ints[material + MATERIAL_N]):
                        value = ints[H_VALUES] + (ints[material + MATERIAL_VALUES] + j) * VALUE_STRIDE
                        row = lookup(reals, reals, ints, value, lambdas, uv, config.values, False)
                        for k in range(4):
                            rows[j, k] = row[k]
                        if ti.static(config.mode == FORWARD):
                            t_row = lookup(reals, tangents, ints, value, lambdas, uv, config.values, True)
                            for k in range(4):
                                t_rows[j, k] = t_row[k]
                    wi = to_local(-d, s, b, ns)
                    if (flags & TWO_SIDED) != 0 and wi[2] < 0.0:
                        flip = -1.0
                    wi[2] *= flip
                    wo, delta = sample_bsdf(kind, rows, wi, ti.Vector([u[2], u[3], u[5]]), config)
                    local_light = to_local(d_light, s, b, ns)
                    for k in ti.static(range(3)):
                        wo_of[0, k], wo_of[1, k] = local_light[k], wo[k]
                    wo_of[0, 2] *= flip
                    for way in range(2):
                        if way == 1 or lit == 1:
                            f_way, pdf_way = eval_bsdf(
                                kind, rows, wi, ti.Vector([wo_of[way, 0], wo_of[way, 1], wo_of[way, 2]]),
                                ti.select(way == 1, delta, 0), config,
                            )
                            pdf[way] = pdf_way
                            for k in range(4):
                                f[way, k] = f_way[k]
                    if lit == 1 and light_delta == 0:
                        ratio = pdf[0] / light_pdf
                        light_factor[1] /= 1.0 + ratio * ratio
                alone = ti.Vector([0.0, 0.0, 0.0, 0.0])  # 1 where no factor was zero so far
                for k in ti.static(range(4)):
                    alone[k] = ti.select(zeros[k] == 0, 1.0, 0.0)

                # --- light that arrives here, and light that is sampled from here
                d_rows = ti.Matrix.zero(float, config.bsdf_rows + 2 * config.light_rows, 4)
                value_of = ti.Vector.zero(ti.i32, config.bsdf_rows + 2 * config.light_rows)
                L_sampled = zero4
                for which in range(2):
                    i_light = light_of[which]
                    if i_light >= 0 and (which == 0 or lit == 1):
                        light = light_record(ints, i_light)
                        light_kind = ints[light + LIGHT_KIND]
                        light_rows = ti.Matrix.zero(float, config.light_rows, 4)
                        light_t_rows = ti.Matrix.zero(float, config.light_rows, 4)
                        at_uv = ti.Vector([light_uv[which, 0], light_uv[which, 1]])
                        w = ti.Vector([light_w[which, 0], light_w[which, 1], light_w[which, 2]])
                        for j in range(ints[light + LIGHT_N]):
                            value = ints[H_VALUES] + (ints[light + LIGHT_VALUES] + j) * VALUE_STRIDE
                            row = lookup(reals, reals, ints, value, lambdas, at_uv, config.values, False)
                            for k in range(4):
                                light_rows[j, k] = row[k]
                            if ti.static(config.mode == FORWARD):
                                t_row = lookup(reals, tangents, ints, value, lambdas, at_uv, config.values, True)
                                for k in range(4):
                                    light_t_rows[j, k] = t_row[k]
                        Le = emitted(light_kind, light_rows, w, config)
                        factor = T * light_factor[which]
                        if which == 1:
                            for k in ti.static(range(4)):
                                factor[k] *= f[0, k]
                            L_sampled = Le * light_factor[1]
                        found = factor * Le
                        L, low = two_sum(L, alone * found)
                        L_low += low
                        for k in ti.static(range(4)):
                            L_one_zero[k] += ti.select(zeros[k] == 1, found[k], 0.0)
                        if ti.static(config.mode == FORWARD):
                            if replay:
                                for l_index, name in ti.static(config.lights):
                                    if light_kind == ti.static(l_index):
                                        n = ti.static(n_params(LIGHTS, name))
                                        bound = [
                                            (ti.Vector([light_rows[j, k] for k in ti.static(range(4))]), light_rows[j, 0])
                                            for j in ti.static(range(n))
                                        ]
                                        t_bound = [
                                            (
                                                ti.Vector([light_t_rows[j, k] for k in ti.static(range(4))]),
                                                light_t_rows[j, 0],
                                            )
                                            for j in ti.static(range(n))
                                        ]
                                        d_L += alone * factor * lower_emit_jvp(name, bound, t_bound, w)
                        if ti.static(config.mode == REVERSE):
                            if replay and ints[light + LIGHT_WANTED] != 0:
                                up = weight * alone * factor
                                for l_index, name in ti.static(config.lights):
                                    if light_kind == ti.static(l_index):
                                        n = ti.static(n_params(LIGHTS, name))
                                        bound = [
                                            (ti.Vector([light_rows[j, k] for k in ti.static(range(4))]), light_rows[j, 0])
                                            for j in ti.static(range(n))
                                        ]
                                        d_bound = lower_emit_vjp(name, bound, w, up)
                                        for j in ti.static(range(n)):
                                            row = config.bsdf_rows + which * config.light_rows + j
                                            value_of[row] = ints[light + LIGHT_VALUES] + j + 1
                                            for k in ti.static(range(4)):
                                                d_rows[row, k] = d_bound[j][k]

                # --- what this vertex's factor did to the rest of L
                if on_surface:
                    if ti.static(config.mode != PRIMAL):
                        if replay and (config.mode == FORWARD or (flags & WANTED) != 0):
                            rest = (total - L) + (total_low - L_low)
                            for way in range(2):
                                if way == 1 or lit == 1:
                                    up = zero4
                                    for k in ti.static(range(4)):
                                        if way == 0:
                                            up[k] = T[k] * L_sampled[k]
                                        elif f[1, k] != 0.0:
                                            up[k] = rest[k] / f[1, k]
                                        else:
                                            up[k] = total_one_zero[k]
                                        up[k] *= alone[k] * weight[k]
                                    wo_way = ti.Vector([wo_of[way, 0], wo_of[way, 1], wo_of[way, 2]])
                                    part = ti.select(way == 1, delta, 0)
                                    for b_index, name in ti.static(config.bsdfs):
                                        if kind == ti.static(b_index):
                                            n = ti.static(n_params(BSDFS, name))
                                            bound = [
                                                (ti.Vector([rows[j, k] for k in ti.static(range(4))]), rows[j, 0])
                                                for j in ti.static(range(n))
                                            ]
                                            for is_delta in ti.static(range(2)):
                                                if ti.static(has(name, PARTS[is_delta])):
                                                    if part == ti.static(is_delta):
                                                        if ti.static(config.mode == REVERSE):
                                                            d_bound = lower_eval_vjp(
                                                                name, PARTS[is_delta], bound, wi, wo_way, up
                                                            )
                                                            for j in ti.static(range(n)):
                                                                for k in ti.static(range(4)):
                                                                    d_rows[j, k] += d_bound[j][k]
                                                        else:
                                                            t_bound = [
                                                                (
                                                                    ti.Vector(
                                                                        [t_rows[j, k] for k in ti.static(range(4))]
                                                                    ),
                                                                    t_rows[j, 0],
                                                                )
                                                                for j in ti.static(range(n))
                                                            ]
                                                            d_L += up * lower_eval_jvp(
                                                                name, PARTS[is_delta], bound, t_bound, wi, wo_way
                                                            )
                            if ti.static(config.mode == REVERSE):
                                for j in range(ints[material + MATERIAL_N]):
                                    value_of[j] = ints[material + MATERIAL_VALUES] + j + 1
                if ti.static(config.mode == REVERSE):
                    if replay:
                        replica = group * (n_replicas // n_groups) + lane % (n_replicas // n_groups)
                        for row in range(config.bsdf_rows + 2 * config.light_rows):
                            if value_of[row] > 0:
                                value = ints[H_VALUES] + (value_of[row] - 1) * VALUE_STRIDE
                                if ints[value + VALUE_GRAD] >= 0:
                                    at_uv = uv
                                    if row >= config.bsdf_rows:
                                        which = (row - config.bsdf_rows) // config.light_rows
                                        at_uv = ti.Vector([light_uv[which, 0], light_uv[which, 1]])
                                    deposit(
                                        reals, ints, acc, value, lambdas, at_uv,
                                        ti.Vector([d_rows[row, 0], d_rows[row, 1], d_rows[row, 2], d_rows[row, 3]]),
                                        replica * n_accumulators, config.values,
                                    )

                # --- on to the next vertex
                alive = 0
                if on_surface and pdf[1] > 0.0:
                    alive = 1
                    dead = 1
                    largest = 0.0
                    for k in ti.static(range(4)):
                        if f[1, k] != 0.0:
                            T[k] *= f[1, k] / pdf[1]
                        else:
                            T[k] /= pdf[1]
                            # A zero whose derivative nobody asked for is final.
                            zeros[k] += ti.select((flags & WANTED) != 0, 1, 2)
                        if zeros[k] <= ti.static(0 if config.mode == PRIMAL else 1):
                            dead = 0
                            largest = ti.max(largest, T[k])
                    if dead == 1:
                        alive = 0
                    depth += 1
                    if depth >= rr_depth:
                        survive = ti.min(largest, 0.95)
                        if rng.sample_hashed(key, index, bounce) < survive:
                            T /= survive
                        else:
                            alive = 0
                    wo[2] *= flip
                    d = to_world(wo, s, b, ns).normalized()
                    o = offset_point(p, ng, d, radius)
                    prev_pdf, prev_delta = pdf[1], delta
                    decisions = fold(fold(decisions, delta), alive)
                    sig = fold_real(fold(sig, delta + 2 * alive + 4 * lit), d[0])

            # --- the end of a pass
            stride = ti.static(RECORD_PRIMAL if config.mode == PRIMAL else RECORD_REPLAY)
            if ti.static(config.mode == PRIMAL):
                for k in range(4):
                    record[lane * stride + k] = L[k] + L_low[k]
            else:
                if not replay:
                    for k in range(4):
                        record[lane * stride + k] = L[k]
                        record[lane * stride + 4 + k] = L_low[k]
                        record[lane * stride + 8 + k] = L_one_zero[k]
                elif ti.static(config.mode == FORWARD):
                    for k in range(4):
                        record[lane * stride + k] = d_L[k]
                at = 4 * lane + ti.select(replay, 2, 0)
                signature[at] = fold_real(sig, L[0] + L[1] + L[2] + L[3])
                signature[at + 1] = decisions
