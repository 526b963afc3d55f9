"""The path loop: one body, run once for the radiance and once more to deposit its derivatives.

Pass 0 finds the radiance L of each path. Pass 1, the replay, regenerates the path from the same random
numbers in the same machine code, and at every vertex deposits what the parameters there did to L: what
remains of L after the vertex, over the vertex's own factor, times that factor's derivative (Vicini et al.
2021, "Path replay backpropagation"; design decision D4). Memory does not grow with the path.

A factor that is zero has a derivative all the same. So the throughput T is kept, per wavelength, as the
product of its factors that are not zero, with the number of those that are; radiance of paths with exactly
one zero factor is summed apart, and belongs to that vertex alone.

Directions: ``wi`` points to the previous vertex, ``wo`` to the next. What a ray hit is never differentiated.
"""

from irys_ti.graph import literals
from irys_ti.kernels import rng
from irys_ti.kernels.accumulate import MISMATCHES
from irys_ti.kernels.adjoint import (
    HIT,
    LIGHT,
    NEXT,
    SAMPLED,
    adjoint_of_bsdf,
    adjoint_of_lights,
    deposit_rows,
    tangent_of_bsdf,
    tangent_of_lights,
)
from irys_ti.kernels.bvh import intersect, stack_sizes
from irys_ti.kernels.camera import eye, film_pixel
from irys_ti.kernels.config import (
    D_DENSITY,
    D_MEDIA,
    D_OPACITY,
    D_SHAPE,
    D_WALKS,
    EMISSIVE,
    FORWARD,
    GLOWING,
    PRIMAL,
    REVERSE,
    WALKS,
)
from irys_ti.kernels.emitter import light_record, pdf_environment, pdf_hit
from irys_ti.kernels.frame import tangent, to_local, to_world
from irys_ti.kernels.geometry import kind_index
from irys_ti.kernels.geometry.splats import ray_key
from irys_ti.kernels.layout import (
    DERIVED,
    H_ENVIRONMENT,
    H_MATERIALS,
    H_MAX_DEPTH,
    H_PRIMS,
    H_RR_DEPTH,
    H_SHAPES,
    H_SPHERE,
    LIGHT_N,
    LIGHT_VALUES,
    LIT_BITS,
    MATERIAL_FLAGS,
    MATERIAL_KIND,
    MATERIAL_N,
    MATERIAL_STRIDE,
    MATERIAL_VALUES,
    MEDIUM_FLAGS,
    MEDIUM_MATERIAL,
    NULL,
    RECORD_END,
    RECORD_LIT,
    RECORD_STRIDE,
    SHAPE_INTERIOR,
    SHAPE_KIND,
    SHAPE_LIGHT,
    SHAPE_MATERIAL,
    SHAPE_N_HARMONICS,
    SHAPE_STRIDE,
    SMOOTH,
    TRANSMISSIVE,
    TWO_SIDED,
    WANTED,
)
from irys_ti.kernels.media_path import (
    FIRST_PAIR,
    PIECE,
    SEGMENTS,
    TURNS,
    clear_of_ends,
    derive_media,
    first_inside,
    is_far,
    keep_piece,
    kind_of_piece,
    seed_of,
)
from irys_ti.kernels.media_path import sizes as media_sizes
from irys_ti.kernels.media_stack import filling, is_passed, record_of, through_surface
from irys_ti.kernels.media_terms import emission_row, look_up_terms, lower_extinction
from irys_ti.kernels.media_walk import FAR, walk_media
from irys_ti.kernels.motion import adjoint_of_motion, track_sizes
from irys_ti.kernels.path_ends import add_radiance, begin_record, first_ray, give_sample, keep_record, ones_where
from irys_ti.kernels.phase_table import draw_cell, fill_cell
from irys_ti.kernels.riding import adjoint_of_riding, riders, tangent_of_riding
from irys_ti.kernels.shading import emitted, eval_bsdf, lookup_rows, sample_bsdf
from irys_ti.kernels.signature import fold, fold_real
from irys_ti.kernels.splat_light import splat_radiance
from irys_ti.kernels.splat_path import derive_splats, pass_splats
from irys_ti.kernels.surface import offset_point, surface_at
from irys_ti.kernels.vertex_lights import take_hit, take_sample
from irys_ti.kernels.walk import (
    MOST_WALKED,
    derive_walk,
    draw,
    free_way,
    inside_terms,
    is_looked_around,
    look_up_inside,
    material_inside,
    rates,
    roulette,
    step_weight,
    turn_direction,
)
from irys_ti.runtime import ti

SHADOW = 1.0 - 2.0**-10  # how much of the way to a light a shadow ray goes


@ti.kernel
def trace_paths(
    reals: ti.types.ndarray(ndim=1),
    ints: ti.types.ndarray(ndim=1),
    nodes: ti.types.ndarray(ndim=1),
    node_refs: ti.types.ndarray(ndim=1),
    blocks: ti.types.ndarray(ndim=1),
    block_prims: ti.types.ndarray(ndim=1),
    tangents: ti.types.ndarray(ndim=1),
    samples: ti.types.ndarray(ndim=1),
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
    pixel_bits: int,
    seed: int,
    replay_seed: int,
    d_scale: float,
    n_accumulators: int,
    n_replicas: int,
    use_mask: int,
    config: ti.template(),
):
    """Trace the paths of n_pixels pixels from pixel0, samples sample0 to sample0 + n_samples - 1 of each.

    first, last: passes to run; 0 is the primal pass, 1 the replay. samples: what each path gives the film's
    channels, (lane, channel); of the tangent in FORWARD mode. record: kept from pass 0 for pass 1, RECORD_STRIDE
    numbers a path. signature: 4 words a path: hash of everything the path met, hash of its discrete decisions,
    for each pass. mask: paths to leave out, where use_mask is set. d_film: derivative of the loss by each pixel's
    channels, times d_scale. tangents: of the parameters in FORWARD mode; with config.rays each path's first ray,
    RAY_STRIDE numbers, and ``samples`` are then the radiances of its four wavelengths. acc: accumulators
    (kernels/accumulate.py). pixel_bits: of the points a pixel takes in turn (kernels/rng.py). replay_seed: the seed of
    pass 1; other than ``seed`` only to show that replay then fails.
    """
    for lane in range(n_pixels * n_samples):
        literals.declare()
        pixel = pixel0 + lane // n_samples
        sample = sample0 + lane - (lane // n_samples) * n_samples
        group = sample - (sample // n_groups) * n_groups
        px, py = film_pixel(ints, pixel)
        n_passes = last
        if use_mask != 0:
            n_passes = ti.select(mask[lane] != 0, last, first)
        max_depth, rr_depth = ints[H_MAX_DEPTH], ints[H_RR_DEPTH]
        radius = reals[ints[H_SPHERE] + 3]
        zero4 = ti.Vector([0.0, 0.0, 0.0, 0.0])
        share = ti.max(n_replicas // n_groups, 1)  # replicas of the accumulators of a group; this lane's is
        replica = (group * share + lane - (lane // share) * share) * n_accumulators

        # Local arrays, made once a lane: Taichi fills them with zeros wherever they are declared.
        stack = ti.Vector.zero(ti.i32, stack_sizes(config.width)[0])
        stack_t = ti.Vector.zero(float, stack_sizes(config.width)[1])
        rows = ti.Matrix.zero(float, config.bsdf_rows, 4)  # the BSDF's parameters
        light_rows = ti.Matrix.zero(float, config.light_rows, 4)
        f, wo_of = ti.Matrix.zero(float, 2, 4), ti.Matrix.zero(float, 2, 3)  # of the BSDF: by LIGHT, NEXT
        light_w, light_uv = ti.Matrix.zero(float, 2, 3), ti.Matrix.zero(float, 2, 2)  # by HIT, SAMPLED
        light_up = ti.Matrix.zero(float, 2, 4)  # what multiplies each light's emitted value
        u = ti.Vector([0.0, 0.0, 0.0, 0.0, 0.0, 0.0])
        d_rows = ti.Matrix.zero(float, config.bsdf_rows + 2 * config.light_rows, 4)  # derivatives of parameters
        number_of = ti.Vector.zero(ti.i32, config.bsdf_rows + 2 * config.light_rows) - 1  # and which they are
        track = ti.Matrix.zero(float, track_sizes(config)[0], 3)  # the vertex before (kernels/motion.py)
        track_of = ti.Vector.zero(ti.i32, track_sizes(config)[1])

        pieces = ti.Matrix.zero(float, media_sizes(config)[0], PIECE)  # of the shadow ray (kernels/media_path.py)
        m_rows = ti.Matrix.zero(float, media_sizes(config)[1], 4)  # a medium's parameters
        d_m_rows = ti.Matrix.zero(float, media_sizes(config)[1], 4)

        for step in range(first, n_passes):
            replay = step == 1

            # --- the camera ray and its four wavelengths
            drawn_by = ti.select(replay, replay_seed, seed)
            key, index = rng.film_sample(drawn_by, group, px, py, sample // n_groups, pixel_bits)
            if ti.static(config.rays):  # one sequence of points; both rays of a pair take the same
                key, index = rng.stream(drawn_by, 0, -1), rng.u32(pixel)
            o, d, lambdas, pdf_lambda, start_depth = first_ray(
                reals, ints, tangents, lane, pixel, px, py, key, index, config
            )

            # --- the state of a path
            T = zero4 + 1.0  # throughput: product of the factors that are not zero
            zeros = ti.Vector([0, 0, 0, 0])  # number of those that are
            L, L_low = zero4, zero4  # radiance so far, a two-float sum
            d_L = zero4  # FORWARD: the derivative of L
            prev_pdf, prev_delta = 0.0, 1
            depth, alive = start_depth, 1
            if ti.static(config.rays):
                if start_depth > 0:  # light that the first hit emits weighs nothing: as if a sampler never took it
                    prev_pdf, prev_delta = 1e-18, 0
            W = 1.0  # true over sampled chance of the splats so far
            sig, decisions = fold_real(ti.u32(1), lambdas[0]), ti.u32(2)
            # The signature up to the last vertex that a light shone on. Nothing beyond it reaches the film: the
            # replay stops there, and takes the first vertices' visibility from pass 0.
            seen, decided, end, lit_bits = sig, decisions, 0, 0
            if ti.static(config.splats & (D_OPACITY | D_SHAPE) or config.media & D_DENSITY):
                end = 1  # a dark path tells of the chances that made it dark
            # Media: what the path is inside of, where it left its last vertex, where the piece at hand begins (rays start a
            # little off surfaces), how many pieces there were.
            inside, from_o, start, segment = ti.Vector([ti.u32(0), ti.u32(0)]), o, o, 0
            if ti.static(config.media != 0):
                inside, start = first_inside(ints), eye(reals, ints)  # a near plane cuts shapes away, not media
            uv_in = ti.Vector([0.0, 0.0])  # where it came into what a material has inside (kernels/walk.py)
            if ti.static(config.mode != PRIMAL):
                if replay:
                    end = ti.cast(record[lane * RECORD_STRIDE + RECORD_END], ti.i32)
                    lit_bits = ti.cast(record[lane * RECORD_STRIDE + RECORD_LIT], ti.i32)
                    alive = ti.select(end > 0, 1, 0)
                begin_record(reals, ints, record, d_film, lane, pixel, replay, lambdas, pdf_lambda, d_scale, config)

            while alive == 1:
                # --- the closest hit, then the shadow ray: one call site for both
                bounce = rng.FIRST_BOUNCE + depth * rng.PAIRS_PER_BOUNCE
                ray_o, ray_d, reach = o, d, 1e30
                shape, material, flags = 0, 0, 0
                on_surface, lit = 0, 0
                p, ng, ns = ti.Vector([0.0, 0.0, 0.0]), ti.Vector([0.0, 0.0, 1.0]), ti.Vector([0.0, 0.0, 1.0])
                uv, dp_du = ti.Vector([0.0, 0.0]), ti.Vector([1.0, 0.0, 0.0])
                light_of = ti.Vector([-1, -1])
                light_factor = ti.Vector([0.0, 0.0])
                light_pdf, light_delta = 0.0, 0
                d_light = ti.Vector([0.0, 0.0, 1.0])
                hit_t, hit_prim, hit_inst, emits = 1e30, -1, -1, 0
                lift, crossed, scattered = ng, 0, 0  # where rays start off; a boundary was passed; a medium was met
                medium, length, left, n_pieces, through = -1, FAR, 0.0, 0, zero4 + 1.0
                light_inside, light_start, u_piece = inside, o, ti.Vector([0.0, 0.0])
                T_before, zeros_before, L_first, L_low_first, shone, began = T, zeros, L, L_low, False, start
                splat_key = ti.u32(0)
                if ti.static(config.splats != 0):
                    splat_key = ray_key(key, index, bounce, config.mode != PRIMAL)
                turns, last_turn, n_walked, slipped = ti.select(replay and depth < LIT_BITS, 1, 2), 0, 0, 0
                # A walk: the medium, its material, its way, d ln phase / d g; what its next step is drawn from.
                walked, within, walked_way, score, seed_walk, dim = -1, -1, 0.0, 0.0, ti.u32(0), 0.0
                sigma, scattering, rate, g, free, chosen = zero4, zero4, zero4, 0.0, FAR, 0
                if ti.static(config.media != 0):  # the shadow ray passes boundaries, in both passes
                    turns = ti.select(replay and depth < LIT_BITS and (lit_bits >> depth) & 1 == 0, 1, TURNS)
                if ti.static(config.media & WALKS):
                    walked = record_of(ints, filling(ints, inside))
                    within = material_inside(ints, walked)
                    if within >= 0:
                        look_up_inside(reals, reals, ints, within, lambdas, uv_in, rows, config, False)
                        sigma, scattering, g, _ = inside_terms(reals, ints, within, rows, lambdas, config)
                        rate = rates(reals, ints, walked, sigma)
                        seed_walk = seed_of(key, index, segment, 0)
                        for k in ti.static(range(4)):
                            dim = ti.max(dim, ti.select(zeros[k] < 2, T[k], 0.0))
                        u0, u1 = rng.sample_2d(key, index, FIRST_PAIR + segment)
                        free, chosen = free_way(rate, T, zeros, u0, u1)
                        reach = ti.max(free - (o - start).dot(d), 1e-20)
                        prev_delta = 1  # lights inside of what scatters are met, not sampled
                    last_turn = turns - 1
                    turns += MOST_WALKED
                for turn in range(turns):
                    ray, any_hit = ti.min(turn, 1), ti.min(turn, ti.static(0 if config.media else 1))
                    if ti.static(config.media & WALKS):
                        ray = ti.min(turn - n_walked, 1)
                    t, prim, bu, bv, inst = intersect(
                        reals, ints, nodes, node_refs, blocks, block_prims, ray_o, ray_d, reach, any_hit,
                        config.kinds, config.width, stack, stack_t, ti.select(ray == 0, splat_key, ti.u32(0)),
                    )  # fmt: skip
                    if ti.static(config.media & WALKS):  # --- a step of a walk: to the next scattering, or to what it met
                        if ray == 0 and within >= 0:
                            gone = ti.select(prim >= 0, t + (o - start).dot(d), FAR)
                            is_scattered, lost = free < gone, prim < 0 and is_looked_around(n_walked) and free < FAR
                            gone = ti.min(gone, free)
                            derived = (ints[walked + MEDIUM_FLAGS] & DERIVED) != 0
                            F, own = step_weight(sigma, scattering, rate, T, zeros, gone, is_scattered, derived)
                            T *= F
                            zeros += own
                            walked_way += gone
                            decisions = fold(decisions, 2 * chosen + ti.select(is_scattered, 1, 0))
                            sig = fold_real(sig, gone)
                            if is_scattered:
                                start = o + (gone - (o - start).dot(d)) * d
                                d, d_score = turn_direction(d, g, draw(seed_walk, n_walked, 0), draw(seed_walk, n_walked, 1))
                                score += d_score
                                kept = roulette(T, zeros, dim, draw(seed_walk, n_walked, 2))
                                T *= kept
                                u0, u1 = draw(seed_walk, n_walked, 3), draw(seed_walk, n_walked, 4)
                                free, chosen = free_way(rate, T, zeros, u0, u1)
                                n_walked += 1
                                o, ray_o, ray_d = start, start, d
                                reach = ti.select(is_looked_around(n_walked), 1e30, ti.max(free, 1e-20))
                                if kept == 0.0 or n_walked == MOST_WALKED or lost:
                                    prim, inst = -1, -1
                                    break
                                continue
                    if ti.static(config.media != 0):  # --- the medium on the way
                        m = record_of(ints, filling(ints, ti.select(ray == 0, inside, light_inside)))
                        if ti.static(config.media & WALKS):
                            if material_inside(ints, m) >= 0:
                                m = -1
                                if ray == 1:
                                    through *= 0.0
                        from_here = ti.select(ray == 0, start, light_start)
                        span = ti.select(prim >= 0, t, ti.select(ray == 0, FAR, left)) + (ray_o - from_here).dot(ray_d)
                        if m >= 0 and reach > 0.0:
                            if ray == 0:
                                medium, length = m, span
                                u_piece[0], u_piece[1] = rng.sample_2d(key, index, FIRST_PAIR + segment)
                            seed_piece = seed_of(key, index, segment, turn - n_walked)
                            look_up_terms(reals, reals, ints, m, lambdas, m_rows, config, False)
                            t_s, F, own, E, no_g, no_h, not_moved, decided_by = walk_media(
                                reals, ints, acc, tangents, m, from_here, ray_d, span, seed_piece, u_piece, T, zeros,
                                kind_of_piece(ray, depth, config),
                                lower_extinction(m_rows), emission_row(m_rows), zero4, zero4, zero4, zero4, replica, config, False,
                            )  # fmt: skip
                            decisions = fold(decisions, decided_by)
                            if ray == 1:
                                for k in ti.static(range(4)):
                                    through[k] *= ti.select(own[k] == 0, F[k], 0.0)
                                if ti.static(config.media & D_MEDIA):
                                    if replay:
                                        keep_piece(pieces, n_pieces, from_here, span, m, turn - n_walked, seed_piece)
                                        n_pieces += 1
                            else:
                                if ti.static(config.media & GLOWING):
                                    if E.max() > 0.0:
                                        L, L_low = add_radiance(
                                            record, lane, L, L_low, T * E, ones_where(zeros), zeros, replay, config
                                        )
                                        shone = True
                                T *= F
                                zeros += own
                                if t_s >= 0.0:
                                    scattered, prim, inst, t = 1, -1, -1, clear_of_ends(t_s, span, start, d, radius)
                    if ray == 1:
                        lit = ti.select(prim < 0 and reach > 0.0, 1, 0)
                        if ti.static(config.media != 0):
                            lit = ti.select(through.max() > 0.0, lit, 0)
                            on = 0
                            if prim >= 0 and through.max() > 0.0:
                                other = ints[H_SHAPES] + ints[ints[H_PRIMS] + prim] * SHAPE_STRIDE
                                if is_passed(ints, light_inside, other):
                                    at, normal, ns_there, uv_there, du_there = surface_at(
                                        reals, ints, blocks, other, prim, inst, ray_o, ray_d, t, bu, bv, config
                                    )
                                    light_inside = through_surface(ints, light_inside, other, ray_d.dot(normal) < 0.0)
                                    ray_o, left, on = offset_point(at, normal, ray_d, radius), left - t, 1
                                    light_start = at
                                    reach = ti.max(left * SHADOW, 1e-20)
                            if on == 0:
                                break
                    else:
                        reach = -1.0  # no shadow ray unless a light is sampled
                        sig = fold_real(fold(fold(sig, prim), inst), t)
                        decisions = fold(fold(decisions, prim), inst)
                        i_light, pdf_light, uv_light = ints[H_ENVIRONMENT], 0.0, ti.Vector([0.0, 0.0])
                        if ti.static(config.media != 0):
                            decisions = fold(decisions, scattered)
                            if scattered == 1:
                                i_light = -1
                                material = ints[H_MATERIALS] + ints[medium + MEDIUM_MATERIAL] * MATERIAL_STRIDE
                                flags = ints[material + MATERIAL_FLAGS]
                                p, ns, hit_t = o + (t - (o - start).dot(d)) * d, -d, t  # on the ray that was traced
                                on_surface = ti.select(depth + 1 < max_depth, 1, 0)
                                lift = 0.0 * ng  # rays start at the vertex itself
                        if prim >= 0:
                            shape = ints[H_SHAPES] + ints[ints[H_PRIMS] + prim] * SHAPE_STRIDE
                            material = ints[H_MATERIALS] + ints[shape + SHAPE_MATERIAL] * MATERIAL_STRIDE
                            flags = ints[material + MATERIAL_FLAGS]
                            p, ng, ns, uv, dp_du = surface_at(
                                reals, ints, blocks, shape, prim, inst, o, d, t, bu, bv, config
                            )
                            lift, i_light, uv_light = ng, ints[shape + SHAPE_LIGHT], uv
                            hit_t, hit_prim, hit_inst = t, prim, inst
                            if d.dot(ng) >= 0.0:
                                i_light = -1  # lights shine on their outer side
                            if i_light >= 0 and prev_delta == 0:
                                far = t
                                if ti.static(config.media != 0):
                                    far = (p - from_o).dot(d)
                                pdf_light = pdf_hit(reals, ints, i_light, shape, prim, from_o, p, ng, d, far, config)
                            on_surface = ti.select(depth + 1 < max_depth, 1, 0)
                            if ti.static(config.media != 0):
                                if ti.static(config.media & WALKS):  # rounding let the walk through, and here it comes back
                                    same = ints[shape + SHAPE_INTERIOR] == filling(ints, inside)
                                    if within >= 0 and same and d.dot(ng) < 0.0:
                                        slipped, crossed, on_surface, i_light = 1, 1, 0, -1
                                if slipped == 0 and is_passed(ints, inside, shape):
                                    crossed, on_surface = 1, 0
                                    if (flags & NULL) == 0:  # hidden
                                        i_light = -1
                            if ti.static(config.splats & EMISSIVE):
                                is_splat = ints[shape + SHAPE_KIND] == ti.static(kind_index("splats"))
                                if is_splat and ints[shape + SHAPE_N_HARMONICS] > 0:
                                    emits, on_surface = 1, 0
                        elif i_light >= 0:
                            pdf_light, uv_light = pdf_environment(reals, ints, i_light, d, config)
                        if i_light >= 0:
                            take_hit(
                                reals, ints, i_light, d, uv_light, pdf_light, prev_pdf, prev_delta, light_of, light_factor,
                                light_w, light_uv,
                            )  # fmt: skip

                        if on_surface == 1:
                            for pair in range(rng.PAIRS_PER_BOUNCE):
                                u[2 * pair], u[2 * pair + 1] = rng.sample_2d(key, index, bounce + pair)
                        if on_surface == 1 and (flags & SMOOTH) != 0:
                            d_light, light_pdf, light_delta, distance, origin = take_sample(
                                reals, ints, p, lift, ns, d, u, radius, (flags & TRANSMISSIVE) != 0, light_of, light_factor,
                                light_w, light_uv, config,
                            )  # fmt: skip
                            if distance >= 0.0:
                                ray_o, ray_d, light_start = offset_point(p, lift, d_light, radius), d_light, p
                                left = distance + (origin - ray_o).dot(d_light)
                                reach = left * SHADOW
                                if ti.static(config.media != 0):
                                    if is_far(ints, light_of[SAMPLED], config) == 1:
                                        left = FAR
                                    if scattered == 0 and d.dot(ng) * d_light.dot(ng) > 0.0:
                                        light_inside = through_surface(ints, inside, shape, d_light.dot(ng) < 0.0)
                    if ti.static(config.media & WALKS):
                        if turn - n_walked >= last_turn:
                            break
                if ti.static(config.mode != PRIMAL):
                    if depth < LIT_BITS:
                        if not replay:
                            lit_bits |= lit << depth
                        elif ti.static(config.media == 0):
                            lit = (lit_bits >> depth) & 1
                decisions = fold(decisions, lit)

                # --- the splats that the rays passed: light that is left, and chances that were not drawn as they are
                if ti.static(config.splats != 0):
                    drawn, sig = pass_splats(
                        reals, ints, acc, tangents, nodes, node_refs, blocks, block_prims, stack, o, d, hit_t, hit_prim,
                        hit_inst, ray_o, ray_d, reach, lit, splat_key, sig, light_factor, config,
                    )  # fmt: skip
                    W *= drawn
                    T *= drawn

                # --- the surface's parameters, a direction, and the BSDF's value for light and next vertex
                kind, delta, flip = 0, 0, 1.0
                wi = ti.Vector([0.0, 0.0, 1.0])
                pdf = ti.Vector([0.0, 0.0])
                s = tangent(ns, dp_du)
                b = ns.cross(s)
                if on_surface == 1:
                    kind = ints[material + MATERIAL_KIND]
                    lookup_rows(
                        reals, reals, ints, ints[material + MATERIAL_VALUES], ints[material + MATERIAL_N], lambdas, uv,
                        rows, config, False,
                    )  # fmt: skip
                    wi = to_local(-d, s, b, ns)
                    if (flags & TWO_SIDED) != 0 and wi[2] < 0.0:
                        flip = -1.0
                    wi[2] *= flip
                    u_way = draw_cell(reals, ints, kind, material, lambdas, ti.Vector([u[2], u[3], u[5]]), rows, config)
                    wo, delta = sample_bsdf(kind, rows, wi, u_way, lambdas, config)
                    to_sampled = to_local(d_light, s, b, ns)
                    to_sampled[2] *= flip
                    for k in ti.static(range(3)):
                        wo_of[LIGHT, k], wo_of[NEXT, k] = to_sampled[k], wo[k]
                    for way in range(2):
                        if way == NEXT or lit == 1:
                            w = ti.Vector([wo_of[way, 0], wo_of[way, 1], wo_of[way, 2]])
                            fill_cell(reals, ints, kind, material, lambdas, wi, w, rows, config)
                            f_way, pdf_way = eval_bsdf(
                                kind, rows, wi, w, ti.select(way == NEXT, delta, 0), lambdas, config
                            )
                            pdf[way] = pdf_way
                            for k in range(4):
                                f[way, k] = f_way[k]
                    if lit == 1 and light_delta == 0:
                        ratio = pdf[LIGHT] / light_pdf
                        light_factor[SAMPLED] /= 1.0 + ratio * ratio

                # --- the radiance of both lights
                alone = ones_where(zeros)  # 1 where no factor has been zero so far
                L_sampled = zero4
                L_before, L_low_before = L, L_low
                for which in range(2):
                    i_light = light_of[which]
                    if i_light >= 0 and (which == HIT or lit == 1):
                        light = light_record(ints, i_light)
                        at_uv = ti.Vector([light_uv[which, 0], light_uv[which, 1]])
                        w = ti.Vector([light_w[which, 0], light_w[which, 1], light_w[which, 2]])
                        lookup_rows(
                            reals, reals, ints, ints[light + LIGHT_VALUES], ints[light + LIGHT_N], lambdas, at_uv,
                            light_rows, config, False,
                        )  # fmt: skip
                        Le = emitted(reals, ints, light, light_rows, w, lambdas, config)
                        factor = T * light_factor[which]
                        if which == SAMPLED:
                            L_sampled = Le * light_factor[SAMPLED]
                            if ti.static(config.media != 0):
                                L_sampled *= through
                                factor *= through
                            for k in ti.static(range(4)):
                                factor[k] *= f[LIGHT, k]
                        L, L_low = add_radiance(record, lane, L, L_low, factor * Le, alone, zeros, replay, config)
                        if ti.static(config.mode != PRIMAL):
                            for k in ti.static(range(4)):
                                light_up[which, k] = alone[k] * factor[k]
                        shone = True

                if ti.static(config.splats & EMISSIVE):
                    if emits == 1:
                        factor = T * splat_radiance(reals, ints, shape, ti.cast(uv[0], ti.i32), o, lambdas)
                        L, L_low = add_radiance(record, lane, L, L_low, factor, alone, zeros, replay, config)
                        shone = True
                if ti.static(config.mode != PRIMAL):
                    if shone:
                        seen, decided = sig, decisions
                        if not replay:
                            end = depth + 1

                # --- what this vertex did to L: the adjoint, or the tangent
                dimmed = alone * T * light_factor[SAMPLED]
                if ti.static(config.media != 0):
                    dimmed *= through
                if ti.static(config.mode == REVERSE):
                    if replay:
                        adjoint_of_lights(
                            reals, ints, record, d_rows, number_of, lane, lit, light_of, light_w, light_uv, light_up,
                            light_rows, lambdas, config,
                        )  # fmt: skip
                        if ti.static(len(riders(config)) > 0):
                            if lit == 1:
                                adjoint_of_riding(
                                    reals, ints, record, d_rows, lane, light_of[SAMPLED], light_w, light_rows,
                                    dimmed, kind, rows, wi, wo_of, flip, s, b, ns, lambdas,
                                    config,
                                )  # fmt: skip
                        if on_surface == 1 and (flags & WANTED) != 0:
                            adjoint_of_bsdf(
                                reals, ints, acc, record, d_rows, number_of, lane, material, rows, wi, wo_of, f, delta,
                                lit, lambdas, T, L, L_low, L_sampled, alone, replica, config,
                            )  # fmt: skip
                        deposit_rows(reals, ints, acc, d_rows, number_of, replica, lambdas, uv, light_uv, config)
                        if ti.static(config.motion):
                            adjoint_of_motion(
                                reals, ints, blocks, record, acc, track, track_of, lane, depth, on_surface, shape,
                                hit_prim, hit_inst, kind, p, ng, ns, s, b, flip, d, rows, wi, wo_of, f, delta, lit, light_of,
                                d_light, u, radius, lambdas, T, L, L_low, L_sampled, alone, replica, light_rows, light_up,
                                config,
                            )  # fmt: skip
                if ti.static(config.mode == FORWARD):
                    if replay:
                        d_L += tangent_of_lights(
                            reals, ints, tangents, lit, light_of, light_w, light_uv, light_up, lambdas, config
                        )
                        if ti.static(len(riders(config)) > 0):
                            if lit == 1:
                                d_L += tangent_of_riding(
                                    reals, ints, tangents, light_of[SAMPLED], light_w, light_uv,
                                    dimmed, kind, rows, wi, wo_of, flip, s, b, ns, lambdas,
                                    config,
                                )  # fmt: skip
                        if on_surface == 1:
                            d_L += tangent_of_bsdf(
                                reals, ints, tangents, record, lane, material, rows, wi, wo_of, f, delta, lit,
                                lambdas, uv, T, L, L_low, L_sampled, alone, config,
                            )  # fmt: skip

                if ti.static(config.splats & (D_OPACITY | D_SHAPE) and config.mode != PRIMAL):
                    if replay:
                        d_L = derive_splats(
                            reals, ints, acc, tangents, nodes, node_refs, blocks, block_prims, record, d_film, stack, lane,
                            pixel, replica, depth, o, d, hit_t, hit_prim, hit_inst, ray_o, ray_d, reach, lit, lambdas, T, W,
                            f, L_before, L_low_before, L_sampled, alone, d_L, config,
                        )  # fmt: skip

                if ti.static(config.media & D_MEDIA and config.mode != PRIMAL):
                    if replay:
                        d_L += derive_media(
                            reals, ints, acc, tangents, record, d_film, pixel, depth, pieces, n_pieces, m_rows, d_m_rows,
                            lane, key, index, segment, medium, began, d, d_light, length, u_piece, T_before, zeros_before,
                            L_first, L_low_first, T, f, lit, L_sampled, alone, lambdas, replica, config,
                        )  # fmt: skip

                if ti.static(config.media & D_WALKS and config.mode != PRIMAL):
                    if replay and within >= 0:
                        d_L += derive_walk(
                            reals, ints, acc, tangents, record, lane, walked, n_walked, walked_way, score, zeros_before, L_first,
                            L_low_first, lambdas, uv_in, rows, d_rows, replica, config,
                        )  # fmt: skip

                # --- on to the next vertex
                alive = ti.select(on_surface == 1 and pdf[NEXT] > 0.0, 1, 0)
                if alive == 1:
                    largest = 0.0
                    for k in ti.static(range(4)):
                        if ti.static(config.mode == PRIMAL):
                            T[k] *= f[NEXT, k] / pdf[NEXT]
                        elif f[NEXT, k] != 0.0:
                            T[k] *= f[NEXT, k] / pdf[NEXT]
                        else:
                            T[k] /= pdf[NEXT]
                            # A zero whose derivative nobody asked for is final.
                            zeros[k] += ti.select((flags & WANTED) != 0, 1, 2)
                        largest = ti.max(largest, ti.select(zeros[k] < 2, T[k], 0.0))
                    if ti.static(config.splats != 0 and config.mode != PRIMAL):
                        largest /= W  # roulette plays on what was drawn
                    depth += 1
                    if depth >= rr_depth:
                        survive = ti.min(largest, 0.95)
                        if rng.sample_hashed(key, index, bounce) < survive:
                            T /= survive
                        else:
                            alive = 0
                    if largest == 0.0 or (replay and depth == end):
                        alive = 0
                    wo = ti.Vector([wo_of[NEXT, 0], wo_of[NEXT, 1], wo_of[NEXT, 2] * flip])
                    facing = d.dot(ng)
                    d = to_world(wo, s, b, ns).normalized()
                    if ti.static(config.media != 0):
                        if scattered == 0 and facing * d.dot(ng) > 0.0:
                            inside = through_surface(ints, inside, shape, facing < 0.0)
                            if ti.static(config.media & WALKS):
                                uv_in = ti.select(facing < 0.0, uv, uv_in)
                    o = offset_point(p, lift, d, radius)
                    from_o, start = o, p
                    prev_pdf, prev_delta = pdf[NEXT], delta
                    decisions = fold(fold(decisions, delta), alive)
                    sig = fold_real(fold(sig, delta + 2 * alive + 4 * lit), d[0])

                if ti.static(config.media != 0):
                    segment += 1
                    if crossed == 1 and segment < SEGMENTS and (ones_where(zeros // 2) * T).max() > 0.0:
                        alive = 1
                        if slipped == 0:  # else it is there already
                            inside = through_surface(ints, inside, shape, d.dot(ng) < 0.0)
                        o, start = offset_point(p, ng, d, radius), p

            # --- the end of a pass
            out = L + L_low
            if ti.static(config.mode == FORWARD):
                out = d_L
            give_sample(reals, ints, samples, lane, out, lambdas, pdf_lambda, replay, config)
            if ti.static(config.mode != PRIMAL):
                if not replay:
                    keep_record(record, lane, L, L_low, lambdas, end, lit_bits, config)
            if ti.static(config.mode == REVERSE):
                seen = fold_real(seen, out[0] + out[1] + out[2] + out[3])
                at = 4 * lane
                if not replay:
                    signature[at], signature[at + 1] = seen, decided
                else:
                    signature[at + 2], signature[at + 3] = seen, decided
                    if signature[at] != seen:
                        ti.atomic_add(acc[MISMATCHES], ti.u32(1))
