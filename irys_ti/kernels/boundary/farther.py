"""Shadow edges on surfaces that the camera sees by way of others: light leaves x, where the shadow is, for z_1 to z_m, and
z_m is seen.

Both ends of the segment from x to the light's point y ride on their surfaces there, or follow what is nearby
(kernels/following.py), so the derivative is that of the rays' space alone: over points e of an edge and directions w of
the light that passes it,

    (v_e - (1 - s) v_x - s v_y) . n  |w x along|  (light along w)  (what x and z_1 to z_m pass on to the film),

with s = |x - e| / |x - y|, v the velocities and n the unit normal of the plane through light and edge, towards its dark side.
m is drawn first. z_1 to z_(m-1) lie in directions that the BSDFs draw; z_m does so as well, or is seen through a drawn
point of the film, weighed by the balance heuristic.
"""

from irys_ti.graph import literals
from irys_ti.graph.lowering import sincos
from irys_ti.kernels import rng
from irys_ti.kernels.boundary.edge import ball, choose_edge, edge_point, is_round
from irys_ti.kernels.boundary.shadow import (
    BEFORE,
    BOUNCED,
    DIRECT,
    SHORT,
    TOUCHING,
    TRACE,
    dark_side,
    light_point,
    no_ray,
    on_window,
    radius_of,
    shares,
    write_rays,
)
from irys_ti.kernels.boundary.view import film_of, film_step, loss_weight, ray_wavelengths
from irys_ti.kernels.bvh import INSTANCE, intersect, stack_sizes
from irys_ti.kernels.camera import camera_ray
from irys_ti.kernels.emitter import light_record, to_light_frame
from irys_ti.kernels.following import following, near_reach
from irys_ti.kernels.frame import tangent, to_local, to_world
from irys_ti.kernels.geometry import has_curves
from irys_ti.kernels.layout import (
    EDGE_INST,
    EDGE_PRIM,
    EDGE_SHAPE,
    EDGE_STRIDE,
    H_FILM,
    H_MATERIALS,
    H_MAX_DEPTH,
    H_PRIMS,
    H_SHAPES,
    LIGHT_N,
    LIGHT_SHAPE,
    LIGHT_VALUES,
    MATERIAL_FLAGS,
    MATERIAL_KIND,
    MATERIAL_N,
    MATERIAL_STRIDE,
    MATERIAL_VALUES,
    SHAPE_MATERIAL,
    SHAPE_STRIDE,
    SMOOTH,
    TWO_SIDED,
)
from irys_ti.kernels.motion import camera_axis, deposit_standing, deposit_vertex, no_vector, row, set_row, standing
from irys_ti.kernels.shading import emitted, eval_bsdf, lookup_rows, sample_bsdf
from irys_ti.kernels.surface import EPSILON, offset_point, surface_at
from irys_ti.kernels.wavelength import sample_wavelengths
from irys_ti.runtime import ti

PAIR_EDGE, PAIR_LIGHT, PAIR_CHOICE, PAIR_NEXT, PAIR_WALK = range(5)  # PAIR_WALK: of two pairs for every step
AT, NG, NS, UV, ALONG, POINT_ROWS = range(6)  # of x, then of z_1, z_2, ...: what surface_at tells
SHAPE, PRIM, INST, MATERIAL, POINT_INTS = range(5)
FARTHEST = 5  # largest m


@ti.func
def draw_number(u, most):
    """(m, its chance), m = 1 .. most, each half as likely as the one before."""
    total = 2.0 - ti.pow(0.5, ti.cast(most - 1, float))
    m, chance, seen = 0, 1.0 / total, 0.0
    for k in range(most):
        if m == 0:
            seen += chance
            if u < seen or k == most - 1:
                m = k + 1
            else:
                chance *= 0.5
    return ti.max(m, 1), chance


@ti.kernel
def deposit_farther(
    reals: ti.types.ndarray(ndim=1),
    ints: ti.types.ndarray(ndim=1),
    nodes: ti.types.ndarray(ndim=1),
    node_refs: ti.types.ndarray(ndim=1),
    blocks: ti.types.ndarray(ndim=1),
    block_prims: ti.types.ndarray(ndim=1),
    edges: ti.types.ndarray(ndim=1),
    table: ti.types.ndarray(ndim=1),
    d_film: ti.types.ndarray(ndim=1),
    acc: ti.types.ndarray(ndim=1),
    rays: ti.types.ndarray(ndim=1),
    samples: ti.types.ndarray(ndim=1),
    n_edges: int,
    first: int,
    n: int,
    seed: int,
    d_scale: float,
    n_accumulators: int,
    n_replicas: int,
    config: ti.template(),
    phase: ti.template(),
):
    """Sample n such edges from number ``first`` on, and deposit what their motion does to the image.

    phase: as for ``shadow.deposit_shadows``.
    """
    for i in range(n):
        literals.declare()
        stack = ti.Vector.zero(ti.i32, stack_sizes(config.width)[0])
        stack_t = ti.Vector.zero(float, stack_sizes(config.width)[1])
        rows = ti.Matrix.zero(float, config.bsdf_rows, 4)
        light_rows = ti.Matrix.zero(float, config.light_rows, 4)
        point = ti.Matrix.zero(float, (FARTHEST + 1) * POINT_ROWS, 3)
        point_of = ti.Vector.zero(ti.i32, (FARTHEST + 1) * POINT_INTS)
        instances = ti.static((config.kinds >> INSTANCE) & 1 == 1)
        key, index = rng.stream(seed, 3, -1), first + i
        u_edge, u_lambda = rng.sample_2d(key, index, PAIR_EDGE)
        u_x, u_y = rng.sample_2d(key, index, PAIR_LIGHT)
        u_choice, u_lobe = rng.sample_2d(key, index, PAIR_CHOICE)
        u_1, u_2 = rng.sample_2d(key, index, PAIR_NEXT)
        most = ti.min(ints[H_MAX_DEPTH] - ti.static(2 if phase == DIRECT else 3), FARTHEST)
        m, chance_m = draw_number(rng.sample_hashed(key, index, PAIR_WALK), most)
        from_film = u_lobe < 0.5
        u_lobe = ti.min(2.0 * u_lobe - ti.select(from_film, 0.0, 1.0), 0.99999994)
        lambdas, pdf_lambda = sample_wavelengths(reals, ints, u_lambda)
        if ti.static(phase == TRACE):
            no_ray(reals, ints, rays, i)
            no_ray(reals, ints, samples, i)
        if ti.static(phase == BOUNCED):
            lambdas, pdf_lambda = ray_wavelengths(reals, ints, seed, i)
        number, chance, place = choose_edge(table, n_edges, u_edge)
        edge = number * EDGE_STRIDE
        radius = radius_of(reals, ints)

        # --- a point of the edge, and light that comes to it
        ball_edge = is_round(edges, number)
        ref = no_vector()
        if ball_edge:
            ref, r = ball(reals, ints, blocks, edges, edge, place, config)
        else:
            ref, along_, out_ = edge_point(reals, ints, blocks, edges, number, place, ref, 1, config)
        i_light, light_prim, light_inst, finite, small, pdf = 0, -1, -1, 0, 0, 0.07957747154594767
        light_at, light_n, light_uv = 0, no_vector(), ti.Vector([0.0, 0.0])
        height = 1.0 - 2.0 * u_x
        ring = ti.sqrt(ti.max(0.0, 1.0 - height * height))
        sine, cosine = sincos(6.283185307179586 * u_y)
        y = ti.Vector([ring * cosine, ring * sine, height])
        if ti.static(phase == DIRECT):
            i_light, light_prim, finite, y, light_n, pdf, light_uv, small = light_point(
                reals, ints, ref, ti.Vector([u_x, u_y]), u_choice, config
            )
        e, along, out = edge_point(reals, ints, blocks, edges, number, place, y, finite, config)
        size = ti.max(ti.max(ti.abs(e[0]), ti.abs(e[1])), ti.abs(e[2])) + 2.0**-6 * radius
        to_edge = ti.select(finite != 0, e - y, -y)
        near = to_edge.norm()
        w = to_edge / ti.select(near > 0.0, near, 1.0)
        good = chance > 0.0 and pdf > 0.0 and near > 0.0
        if finite != 0 and small == 0:
            good = good and light_n.dot(w) > 0.0
        across = w.cross(along)
        length = across.norm()
        across /= ti.max(length, 1e-30)
        dark = dark_side(reals, ints, blocks, edges, edge, across, out, ball_edge, instances)
        crease, has_far = False, True
        if ti.static(phase != DIRECT):
            crease = dark == 0.0  # both of its sides may be seen, which counts from nearby
        good = good and (dark != 0.0 or crease) and length > 0.0
        start = e - across * (dark * EPSILON * size)  # on the bright side: past the edge's own faces

        # --- rays: to the light; from there to x; on to z_1, ...; to z_m, from the film at times; from it to the camera, or
        # from z_(m-1) to z_m
        ray_o, ray_d, reach = start - w * (EPSILON * size), -w, ti.select(finite != 0, near * SHORT, 4.0 * radius)
        if ti.static(phase != DIRECT):
            ray_o, reach = start + w * (BEFORE * EPSILON * size), ti.select(crease, -1.0, 1e30)
        for ray in range(m + 3):
            if good:
                any_hit = ti.select(ray == m + 2 or (ray == 0 and ti.static(phase == DIRECT)), 1, 0)
                t, prim, bu, bv, inst = intersect(
                    reals, ints, nodes, node_refs, blocks, block_prims, ray_o, ray_d, reach, any_hit,
                    config.kinds, config.width, stack, stack_t, ti.u32(0),
                )  # fmt: skip
                if ray == 0 and ti.static(phase != DIRECT):
                    has_far = prim >= 0
                else:
                    good = (prim < 0) == (any_hit == 1)
                if good and any_hit == 0 and prim >= 0:
                    shape = ints[H_SHAPES] + ints[ints[H_PRIMS] + prim] * SHAPE_STRIDE
                    at, ng, ns, uv, dp_du = surface_at(reals, ints, blocks, shape, prim, inst, ray_o, ray_d, t, bu, bv, config)
                    if ti.static(has_curves(config)):
                        ng = ng.normalized()
                    if ray == 0:
                        light_at, light_prim, light_inst, y, light_n, finite = shape, prim, inst, at, ng, 1
                    else:
                        which = ray - 1
                        material = ints[H_MATERIALS] + ints[shape + SHAPE_MATERIAL] * MATERIAL_STRIDE
                        set_row(point, which * POINT_ROWS + AT, at)
                        set_row(point, which * POINT_ROWS + NG, ng)
                        set_row(point, which * POINT_ROWS + NS, ns)
                        set_row(point, which * POINT_ROWS + UV, ti.Vector([uv[0], uv[1], 0.0]))
                        set_row(point, which * POINT_ROWS + ALONG, dp_du)
                        point_of[which * POINT_INTS + SHAPE], point_of[which * POINT_INTS + PRIM] = shape, prim
                        point_of[which * POINT_INTS + INST], point_of[which * POINT_INTS + MATERIAL] = inst, material
                        good = (ints[material + MATERIAL_FLAGS] & SMOOTH) != 0
                        if ray == 1:
                            good = good and (at - e).norm() > TOUCHING * EPSILON * size
                        if good and ray <= m and not (ray == m and from_film):
                            s = tangent(ns, dp_du)
                            b = ns.cross(s)
                            wi = to_local(-ray_d, s, b, ns)
                            flip = ti.select((ints[material + MATERIAL_FLAGS] & TWO_SIDED) != 0 and wi[2] < 0.0, -1.0, 1.0)
                            wi[2] *= flip
                            lookup_rows(
                                reals, reals, ints, ints[material + MATERIAL_VALUES], ints[material + MATERIAL_N], lambdas, uv,
                                rows, config, False,
                            )  # fmt: skip
                            v_1, v_2, v_lobe = u_1, u_2, u_lobe
                            if ray < m:
                                v_1, v_2 = rng.sample_2d(key, index, PAIR_WALK + 2 * ray)
                                v_lobe = rng.sample_hashed(key, index, PAIR_WALK + 2 * ray + 1)
                            wo, delta = sample_bsdf(
                                ints[material + MATERIAL_KIND], rows, wi, ti.Vector([v_1, v_2, v_lobe]), lambdas, config
                            )
                            wo[2] *= flip
                            ray_d, reach, good = to_world(wo, s, b, ns), 1e30, delta == 0
                            ray_o = offset_point(at, ng, ray_d, radius)
                        elif ray > m:
                            target, from_n = camera_axis(reals, ints, 3), ng
                            if from_film:
                                target = at
                                at, from_n = row(point, (m - 1) * POINT_ROWS + AT), row(point, (m - 1) * POINT_ROWS + NG)
                            ray_d, reach = (target - at).normalized(), (target - at).norm() * SHORT
                            ray_o = offset_point(at, from_n, ray_d, radius)
                        else:
                            ray_o, ray_d = camera_ray(
                                reals, ints, ti.cast(ints[H_FILM + 2], float) + u_1 * ti.cast(ints[H_FILM + 4], float),
                                ti.cast(ints[H_FILM + 3], float) + u_2 * ti.cast(ints[H_FILM + 5], float),
                            )  # fmt: skip
                            reach = 1e30
                if ray == 0:
                    ray_o, ray_d, reach = start + w * (EPSILON * size), w, 1e30

        x, last = row(point, AT), row(point, m * POINT_ROWS + AT)
        u, seen = film_of(reals, ints, last)
        if good and seen != 0:
            # --- what the vertices pass on: x and every z the value of its BSDF, over the density of where the next lies
            gaze = (camera_axis(reals, ints, 3) - last).normalized()
            passed = ti.Vector([1.0, 1.0, 1.0, 1.0])
            factor, arriving, density = 1.0 / (pdf * chance * chance_m), w, 0.0
            for j in range(m + 1):
                at, n_at = row(point, j * POINT_ROWS + AT), row(point, j * POINT_ROWS + NG)
                leaving, r2 = gaze, 1.0
                if j < m:
                    leaving = row(point, (j + 1) * POINT_ROWS + AT) - at
                    r2 = leaving.norm_sqr()
                    leaving = leaving.normalized()
                material = point_of[j * POINT_INTS + MATERIAL]
                ns = row(point, j * POINT_ROWS + NS)
                s = tangent(ns, row(point, j * POINT_ROWS + ALONG))
                b = ns.cross(s)
                lookup_rows(
                    reals, reals, ints, ints[material + MATERIAL_VALUES], ints[material + MATERIAL_N], lambdas,
                    ti.Vector([point[j * POINT_ROWS + UV, 0], point[j * POINT_ROWS + UV, 1]]), rows, config, False,
                )  # fmt: skip
                pdf_next = 0.0
                for way in range(2):  # as light comes, for the density; as the camera sees it, for the value
                    wi, wo = to_local(-arriving, s, b, ns), to_local(leaving, s, b, ns)
                    if way == 1:
                        wi, wo = to_local(leaving, s, b, ns), to_local(-arriving, s, b, ns)
                    if (ints[material + MATERIAL_FLAGS] & TWO_SIDED) != 0 and wi[2] < 0.0:
                        wi[2], wo[2] = -wi[2], -wo[2]
                    f, pdf_way = eval_bsdf(ints[material + MATERIAL_KIND], rows, wi, wo, 0, lambdas, config)
                    if way == 0:
                        pdf_next = pdf_way
                    else:
                        passed *= f
                factor /= ti.max(ti.abs(n_at.dot(arriving)), 1e-30)
                if j < m:
                    factor *= ti.abs(n_at.dot(leaving))
                    if j < m - 1:
                        factor /= ti.max(pdf_next, 1e-30)
                    else:
                        n_last = row(point, m * POINT_ROWS + NG)
                        cosine = ti.abs(n_last.dot(leaving))
                        t1 = tangent(n_last, leaving)
                        u1, u2 = film_step(reals, ints, last, t1), film_step(reals, ints, last, n_last.cross(t1))
                        area = ti.abs(u1[0] * u2[1] - u1[1] * u2[0])
                        density = 0.5 * (pdf_next * cosine / r2 + area * on_window(ints, u))
                        factor *= area * cosine / (r2 * ti.max(density, 1e-30))
                    arriving = leaving
            Le = ti.Vector([0.0, 0.0, 0.0, 0.0])
            if ti.static(phase == DIRECT):
                if finite != 0:
                    factor /= near * near
                    if small == 0:
                        factor *= light_n.dot(w)
                light = light_record(ints, ti.max(i_light, 0))
                light_at = ints[light + LIGHT_SHAPE]
                lookup_rows(
                    reals, reals, ints, ints[light + LIGHT_VALUES], ints[light + LIGHT_N], lambdas, light_uv, light_rows, config,
                    False,
                )  # fmt: skip
                Le = emitted(reals, ints, light, light_rows, to_light_frame(reals, ints, i_light, -w), lambdas, config)
            limit, share = near_reach(reals, ints, last), 0.0  # share: of the way from x to the light at which the edge is
            if finite != 0 and has_far:
                share = (x - e).norm() / (x - y).norm()
            w_far, w_near = 0.0, 0.0
            if ti.static(phase != DIRECT):
                w_near, slope = following(ints, edges[edge + EDGE_SHAPE], (x - e).norm(), limit, m + 1)
                if has_far:
                    w_far, slope = following(ints, light_at, (x - y).norm(), limit, m + 1)
            Le_near = ti.Vector([0.0, 0.0, 0.0, 0.0])
            if ti.static(phase == TRACE):
                aside = across * (ti.select(crease, 1.0, dark) * EPSILON * size)
                write_rays(
                    rays, samples, i, e, w, aside, EPSILON * size, x, row(point, NG), radius, has_far, w_near > 0.0,
                    crease, m + 1
                )
            if ti.static(phase == BOUNCED):
                for k in range(4):
                    Le[k] = ti.select(has_far or crease, samples[4 * i + k], 0.0)
                    Le_near[k] = ti.select(w_near > 0.0, rays[4 * i + k], 0.0)
            value, value_near = 0.0, 0.0
            for k in range(4):
                weight = passed[k] * loss_weight(reals, ints, d_film, u, lambdas[k], pdf_lambda[k])
                value += weight * Le[k]
                value_near += weight * Le_near[k]
            if (value != 0.0 or value_near != 0.0) and density > 0.0 and ti.static(phase != TRACE):
                of_edge, of_x, of_light = shares(value, value_near, crease, w_far, w_near, share)
                g = across * (ti.select(crease, 1.0, dark) * length * factor * d_scale)
                replica = (i % n_replicas) * n_accumulators
                handed = no_vector()  # to the vertex before, from one that follows it
                for which in range(m + 3):  # the edge, the light, then x, z_1, ...
                    j = which - 2
                    if which == 0 or (which == 1 and finite != 0 and small == 0 and has_far) or j == 0 or handed.norm_sqr() > 0.0:
                        at_shape, at_prim, at_inst = edges[edge + EDGE_SHAPE], edges[edge + EDGE_PRIM], edges[edge + EDGE_INST]
                        at, n_at, g_at, follows, ray_d = e, out, of_edge * g, 0.0, -gaze
                        if which == 1:
                            at_shape, at_prim, at_inst = light_at, light_prim, light_inst
                            at, n_at, g_at = y, light_n, of_light * g
                        if j >= 0:
                            at_shape, at_prim = point_of[j * POINT_INTS + SHAPE], point_of[j * POINT_INTS + PRIM]
                            at_inst, g_at = point_of[j * POINT_INTS + INST], ti.select(j == 0, of_x * g, handed)
                            at, n_at = row(point, j * POINT_ROWS + AT), row(point, j * POINT_ROWS + NG)
                            if j < m:
                                way = at - row(point, (j + 1) * POINT_ROWS + AT)
                                follows, slope = following(ints, at_shape, way.norm(), limit, m - j)
                                ray_d = way.normalized()
                        handed = deposit_vertex(
                            reals, ints, blocks, acc, replica, at_shape, at_prim, at_inst, at, n_at, n_at, g_at, no_vector(),
                            no_vector(), no_vector(), ti.select(j == m, 1, 0), ray_d, no_vector(), follows, config,
                        )  # fmt: skip
                if ti.static(phase == DIRECT and standing(config)):
                    if small != 0:
                        g_light, g_turn = of_light * g, no_vector()
                        if finite == 0:
                            g_light, g_turn = no_vector(), w.cross(g) * (value * (x - e).norm())
                        deposit_standing(reals, ints, acc, replica, i_light, g_light, g_turn)
