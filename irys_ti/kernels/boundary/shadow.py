"""Shadow edges: the lines that edges throw onto surfaces, from lights of every kind.

A point of a light (or a direction to an environment, a distant light) and a point e of an edge make a line; where it
meets a surface behind e, at x, light from y begins. For fixed y the image of that shadow is a line u(s) on the film,
so that the derivative is that of an outline: the light that is lost, times the area that the line sweeps. x follows
y, e and the surface: with w the direction of the line, n the surface's normal and tau = |x - y| / |e - y|

    dx = (1 - w n' / n.w) ((1 - tau) dy + tau de) + w (n . d surface) / n.w,

where d surface moves with the surface's material. Every motion is thereby relative to what the interior term takes as
fixed: the camera ray, and the light's material point. (Zhang et al. 2020, "Path-space differentiable rendering",
sample the same segments; this derivation is in docs/design/geometry_gradients.md.)

Light that a surface scatters throws shadows in the same way: there y is a point of that surface, met by a ray from the
edge in any direction, and the path kernel tells what light comes from it, but for what it emits itself.

A line is drawn in one of two ways: the edge and a point of a light, or the edge and a point of the film. The density of
the second, over the light's points, is that of the film times the size of the map from the light to the film, so that
both are weighed by the balance heuristic. Points, spots and distant lights have the first way alone, and so have the
outlines of spheres and tubes.
"""

from irys_ti.graph import literals
from irys_ti.graph.lowering import sincos
from irys_ti.kernels import rng
from irys_ti.kernels.boundary.edge import ball, choose_edge, edge_point, is_round, vertex
from irys_ti.kernels.boundary.view import deposit_camera, film_adjoint, film_of, film_step, loss_weight, ray_wavelengths
from irys_ti.kernels.bvh import INSTANCE, intersect, stack_sizes
from irys_ti.kernels.camera import camera_ray
from irys_ti.kernels.emitter import (
    light_record,
    n_parts,
    pdf_environment,
    pdf_hit,
    pdf_parts,
    sample_shape,
    select_entry,
    to_light_frame,
)
from irys_ti.kernels.following import following, near_reach
from irys_ti.kernels.frame import tangent, to_local
from irys_ti.kernels.geometry import has_curves
from irys_ti.kernels.layout import (
    EDGE_A,
    EDGE_INST,
    EDGE_OPPOSITE,
    EDGE_PRIM,
    EDGE_SHAPE,
    EDGE_STRIDE,
    H_ENTRIES,
    H_ENVIRONMENT,
    H_FILM,
    H_MATERIALS,
    H_MAX_DEPTH,
    H_N_ENTRIES,
    H_PRIMS,
    H_RANDOM_LIGHTS,
    H_SHAPES,
    H_SPHERE,
    LIGHT_KIND,
    LIGHT_N,
    LIGHT_SHAPE,
    LIGHT_VALUES,
    MATERIAL_FLAGS,
    MATERIAL_KIND,
    MATERIAL_N,
    MATERIAL_STRIDE,
    MATERIAL_VALUES,
    MAX_FACES,
    RAY_STRIDE,
    SHAPE_LIGHT,
    SHAPE_MATERIAL,
    SHAPE_STRIDE,
    SMOOTH,
    TWO_SIDED,
)
from irys_ti.kernels.light import LIGHTS
from irys_ti.kernels.motion import camera_axis, deposit_point, deposit_standing, no_vector, standing, standing_at
from irys_ti.kernels.riding import deposit_turn, riders, riding_light
from irys_ti.kernels.shading import emitted, eval_bsdf, lookup_rows
from irys_ti.kernels.surface import EPSILON, offset_point, surface_at
from irys_ti.kernels.wavelength import sample_wavelengths
from irys_ti.runtime import ti

BEFORE = 2.0  # EPSILON from an edge at which a ray to a surface beyond it starts: it may be where the edge is
# EPSILON from an edge at which a surface is too near for its shadow: where a thing stands, the edge is an outline on the
# floor, seen by whatever sees that, and no shadow's line besides.
TOUCHING = 8.0
SHORT = 1.0 - 2.0**-10  # how much of the way to light and camera must be free
PAIR_EDGE, PAIR_LIGHT, PAIR_CHOICE = 0, 1, 2
DIRECT, TRACE, BOUNCED = range(3)


@ti.func
def radius_of(reals: ti.template(), ints: ti.template()):
    """Radius of the scene's bounding sphere."""
    return reals[ints[H_SPHERE] + 3]


@ti.func
def light_point(reals: ti.template(), ints: ti.template(), ref, u, u_choice, config: ti.template()):
    """A point of some light, to light shadows from.

    Returns (light, primitive, 1 if it is at a place, that place or the direction to it, normal, density, uv, 1 for
    a point without extent). The density is over area, over solid angle, or of the choice alone.
    """
    i_light, prim, finite, small, pdf = -1, -1, 1, 0, 0.0
    y, normal, uv = no_vector(), no_vector(), ti.Vector([0.0, 0.0])
    if ints[H_N_ENTRIES] > 0:
        entry, pmf = select_entry(reals, ints, u_choice)
        i_light, prim = ints[ints[H_ENTRIES] + 2 * entry], ints[ints[H_ENTRIES] + 2 * entry + 1]
        light = light_record(ints, i_light)
        kind = ints[light + LIGHT_KIND]
        for index, name in ti.static(config.lights):
            if kind == ti.static(index):
                if ti.static(LIGHTS[name].CLASS == "area"):
                    point, n, at, density = sample_shape(reals, ints, ints[light + LIGHT_SHAPE], prim, ref, u, config)
                    y, normal, uv, pdf = point, n, at, pmf * density
                elif ti.static(name == "directional"):
                    d, distance, factor = LIGHTS[name].sample(reals, ints, light, ref, 1.0)
                    y, finite, pdf, small = d, 0, pmf, 1
                elif ti.static(LIGHTS[name].CLASS == "delta"):
                    y, pdf, small = standing_at(reals, ints, light), pmf, 1
                else:
                    d, density = LIGHTS[name].sample(reals, ints, light, prim, u)
                    y, finite, pdf = d, 0, pmf * density
                    if ti.static(n_parts(name) > 1):
                        pdf += pdf_parts(reals, ints, i_light, light, prim, d, name)
                    uv = LIGHTS[name].uv(reals, ints, light, d)
    return i_light, prim, finite, y, normal, pdf, uv, small


@ti.func
def dark_side(
    reals: ti.template(), ints: ti.template(), blocks: ti.template(), edges: ti.template(), edge, across, out, ball_edge,
    instances: ti.template(),
):  # fmt: skip
    """1 where all of an edge's faces lie on the side that ``across`` points to, -1 on the other, 0: no outline."""
    dark = ti.select(across.dot(out) < 0.0, 1.0, -1.0)
    if not ball_edge:
        low, high = 0, 0
        a = vertex(reals, ints, blocks, edges, edge, edges[edge + EDGE_A], instances)
        for j in range(MAX_FACES):
            c = edges[edge + EDGE_OPPOSITE + j]
            if c >= 0:
                side = across.dot(vertex(reals, ints, blocks, edges, edge, c, instances) - a)
                low += ti.select(side < 0.0, 1, 0)
                high += ti.select(side > 0.0, 1, 0)
        dark = ti.select(low == 0 and high > 0, 1.0, ti.select(high == 0 and low > 0, -1.0, 0.0))
    return dark


@ti.func
def on_window(ints: ti.template(), u):
    """Density of a uniform point of the rendered window, 0 outside."""
    x, y = u[0] - ti.cast(ints[H_FILM + 2], float), u[1] - ti.cast(ints[H_FILM + 3], float)
    w, h = ti.cast(ints[H_FILM + 4], float), ti.cast(ints[H_FILM + 5], float)
    return ti.select(x >= 0.0 and x < w and y >= 0.0 and y < h, 1.0 / (w * h), 0.0)


@ti.func
def no_ray(reals: ti.template(), ints: ti.template(), rays: ti.template(), i):
    """Nothing to trace: a ray that starts beyond the scene, and leads away."""
    for k in range(RAY_STRIDE):
        rays[i * RAY_STRIDE + k] = ti.select(k < 3, 1e6 * radius_of(reals, ints), ti.select(k < 6, 0.5, 1.0))


@ti.func
def write_ray(rays: ti.template(), i, o, d, depth):
    """A ray for the path kernel, the first of a path at ``depth``."""
    for k in ti.static(range(3)):
        rays[i * RAY_STRIDE + k], rays[i * RAY_STRIDE + 3 + k] = o[k], d[k]
    rays[i * RAY_STRIDE + 6] = ti.cast(depth, float)


@ti.func
def write_rays(
    rays: ti.template(), samples: ti.template(), i, e, w, aside, eps, x, ng, radius, has_far, near, crease, depth
):
    """The rays of phase TRACE: past the edge, or onto its one side where it is a crease; and onto its other side.

    aside: a step from the edge onto its dark side. near: whether x is near enough that the edge itself counts.
    """
    if has_far:
        write_ray(rays, i, e - aside + w * (BEFORE * eps), -w, depth)
    if near:
        o = offset_point(x, ng, -w, radius)
        if crease:
            write_ray(rays, i, o, (e - 2.0 * aside - o).normalized(), depth)
        write_ray(samples, i, o, (e + 2.0 * aside - o).normalized(), depth)


@ti.func
def shares(far, near, crease, w_far, w_near, s):
    """Weights of the edge's motion, that of the vertex x that sees it, and that of what lies behind it, in a ray space's
    boundary term: far, near: what comes past the edge, and from the edge's own dark side.

    x moves with the ray; what is behind follows it by w_far, the edge's own surfaces by w_near, and s is the share of the
    way from x at which the edge is. At a crease ``far`` comes from the edge's other side.
    """
    passing = ti.select(crease, 0.0, far)
    own = w_near * (near - ti.select(crease, far, 0.0))
    return passing - own, own - (1.0 - s + s * w_far) * passing, -s * (1.0 - w_far) * passing


@ti.kernel
def deposit_shadows(
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
    """Sample n shadow edges from number ``first`` on, and deposit what their motion does to the image.

    phase: DIRECT, light from lights themselves; BOUNCED, light from surfaces: first TRACE writes the rays that bring it,
    into ``rays`` those that pass the edge, into ``samples`` those that meet it from nearby, then BOUNCED reads the
    radiances (four wavelengths each), of the first in ``samples``, of the second in ``rays``, and deposits.
    """
    for i in range(n):
        literals.declare()
        stack = ti.Vector.zero(ti.i32, stack_sizes(config.width)[0])
        stack_t = ti.Vector.zero(float, stack_sizes(config.width)[1])
        rows = ti.Matrix.zero(float, config.bsdf_rows, 4)
        light_rows = ti.Matrix.zero(float, config.light_rows, 4)
        instances = ti.static((config.kinds >> INSTANCE) & 1 == 1)
        key, index = rng.stream(seed, 2, -1), first + i
        u_edge, u_lambda = rng.sample_2d(key, index, PAIR_EDGE)
        u_x, u_y = rng.sample_2d(key, index, PAIR_LIGHT)
        u_choice, u_way = rng.sample_2d(key, index, PAIR_CHOICE)
        lambdas, pdf_lambda = sample_wavelengths(reals, ints, u_lambda)
        if ti.static(phase == TRACE):
            no_ray(reals, ints, rays, i)
            no_ray(reals, ints, samples, i)
        if ti.static(phase == BOUNCED):
            lambdas, pdf_lambda = ray_wavelengths(reals, ints, seed, i)
        number, chance, place = choose_edge(table, n_edges, u_edge)
        edge = number * EDGE_STRIDE
        radius = reals[ints[H_SPHERE] + 3]

        # --- what is drawn besides the edge: a point of a light, or one of the film
        ball_edge = is_round(edges, number)
        two_ways = (ints[H_RANDOM_LIGHTS] != 0 or ti.static(phase != DIRECT)) and not ball_edge
        from_film = ti.select(u_way < 0.5 and two_ways, 1, 0)
        ref, uv_ = no_vector(), ti.Vector([0.0, 0.0])
        if ball_edge:
            ref, r = ball(reals, ints, blocks, edges, edge, place, config)
        else:
            ref, along_, out_ = edge_point(reals, ints, blocks, edges, number, place, ref, 1, config)
        i_light, light_prim, finite, y, light_n, pdf, light_uv, small = 0, -1, 0, ref, ref, 0.0, uv_, 0
        light_at, light_inst = 0, -1  # the shape that the light, or the surface that it comes from, is
        if ti.static(phase == DIRECT):
            i_light, light_prim, finite, y, light_n, pdf, light_uv, small = light_point(
                reals, ints, ref, ti.Vector([u_x, u_y]), u_choice, config
            )
        else:  # any direction
            height = 1.0 - 2.0 * u_x
            ring = ti.sqrt(ti.max(0.0, 1.0 - height * height))
            sine, cosine = sincos(6.283185307179586 * u_y)
            y, pdf = ti.Vector([ring * cosine, ring * sine, height]), 0.07957747154594767
        e, along, out = edge_point(reals, ints, blocks, edges, number, place, y, finite, config)
        size = ti.max(ti.max(ti.abs(e[0]), ti.abs(e[1])), ti.abs(e[2])) + 2.0**-6 * radius
        good = chance > 0.0 and along.norm_sqr() > 0.0 and ints[H_MAX_DEPTH] >= 2
        x, ng, ns = no_vector(), ti.Vector([0.0, 0.0, 1.0]), ti.Vector([0.0, 0.0, 1.0])
        uv, dp_du = ti.Vector([0.0, 0.0]), ti.Vector([1.0, 0.0, 0.0])
        shape, material, x_prim, x_inst = 0, 0, -1, -1
        w, dark, across, start = ti.Vector([0.0, 0.0, 1.0]), 0.0, no_vector(), e
        crease, has_far = False, True

        # --- three rays: from the light by the edge to a surface, and from there to the camera; or the other way round
        ray_o, ray_d, reach = no_vector(), ti.Vector([0.0, 0.0, 1.0]), 1e30
        if from_film == 1:
            ray_o, ray_d = camera_ray(
                reals, ints, ti.cast(ints[H_FILM + 2], float) + u_x * ti.cast(ints[H_FILM + 4], float),
                ti.cast(ints[H_FILM + 3], float) + u_y * ti.cast(ints[H_FILM + 5], float),
            )  # fmt: skip
        for ray in range(3):
            # The line through edge and light, or edge and surface, is known before the ray that follows it.
            if good and ray == from_film:
                to_edge = -y
                if finite != 0:
                    to_edge = e - y
                if from_film == 1:
                    to_edge = x - e
                near = to_edge.norm()
                w = to_edge / ti.select(near > 0.0, near, 1.0)
                good = near > 0.0 and (from_film == 1 or pdf > 0.0)
                if from_film == 0 and small == 0 and finite != 0:
                    good = good and light_n.dot(w) > 0.0
                across = w.cross(along)  # to one side of the plane through light and edge
                across /= ti.max(across.norm(), 1e-30)
                dark = dark_side(reals, ints, blocks, edges, edge, across, out, ball_edge, instances)
                if ti.static(phase != DIRECT):
                    crease = dark == 0.0  # both of its sides may be seen, which counts from nearby
                good = good and (dark != 0.0 or crease)
                start = e - across * (dark * EPSILON * size)  # on the bright side: past the edge's own faces
                if from_film == 1:
                    ray_o = offset_point(x, ng, -w, radius)
                    target = start + w * (EPSILON * size) - ray_o
                    reach = target.norm()
                    ray_d = target / ti.max(reach, 1e-30)
                else:
                    ray_o, ray_d = start + w * (ti.static(-1.0 if phase == DIRECT else BEFORE) * EPSILON * size), -w
                    reach = ti.select(finite != 0, near * SHORT, 4.0 * radius)
                    if ti.static(phase != DIRECT):
                        reach = ti.select(crease, -1.0, 1e30)
            if good:
                any_hit = ti.select(ray == 2 or (ray == 0 and ti.static(phase == DIRECT)), 1, 0)
                if from_film == 1:
                    any_hit = ti.select(ray == 1, 1, 0)
                t, prim, bu, bv, inst = intersect(
                    reals, ints, nodes, node_refs, blocks, block_prims, ray_o, ray_d, reach, any_hit,
                    config.kinds, config.width, stack, stack_t, ti.u32(0),
                )  # fmt: skip
                if any_hit == 1:
                    good = prim < 0
                if ray + from_film == 1 and any_hit == 0:  # the surface
                    good = prim >= 0
                    if prim >= 0:
                        shape = ints[H_SHAPES] + ints[ints[H_PRIMS] + prim] * SHAPE_STRIDE
                        material = ints[H_MATERIALS] + ints[shape + SHAPE_MATERIAL] * MATERIAL_STRIDE
                        x, ng, ns, uv, dp_du = surface_at(reals, ints, blocks, shape, prim, inst, ray_o, ray_d, t, bu, bv, config)
                        if ti.static(has_curves(config)):
                            ng = ng.normalized()
                        x_prim, x_inst = prim, inst
                        good = (ints[material + MATERIAL_FLAGS] & SMOOTH) != 0 and (x - e).norm() > TOUCHING * EPSILON * size
                if ti.static(phase != DIRECT):
                    if ray == 2 * from_film:  # the surface that the light comes from
                        has_far = prim >= 0
                        if prim >= 0:
                            light_at, finite, light_prim, light_inst = (
                                ints[H_SHAPES] + ints[ints[H_PRIMS] + prim] * SHAPE_STRIDE, 1, prim, inst,
                            )  # fmt: skip
                            y, light_n, ns_b, uv_b, dp_du_b = surface_at(
                                reals, ints, blocks, light_at, prim, inst, ray_o, ray_d, t, bu, bv, config
                            )
                elif from_film == 1 and ray == 2:  # the light
                    i_light, finite = ints[H_ENVIRONMENT], 0
                    y, small = ray_d, 0
                    if prim >= 0:
                        at_shape = ints[H_SHAPES] + ints[ints[H_PRIMS] + prim] * SHAPE_STRIDE
                        i_light, finite, light_prim = ints[at_shape + SHAPE_LIGHT], 1, prim
                        y, light_n, ns_, light_uv, dp_du_ = surface_at(
                            reals, ints, blocks, at_shape, prim, inst, ray_o, ray_d, t, bu, bv, config
                        )
                        good = i_light >= 0 and light_n.dot(ray_d) < 0.0
                        if good:
                            away = (y - ref).norm()
                            pdf = pdf_hit(reals, ints, i_light, at_shape, prim, ref, y, light_n, ray_d, away, config)
                            pdf *= -light_n.dot(ray_d) / ti.max(away * away, 1e-30)
                    elif i_light >= 0:
                        pdf, light_uv = pdf_environment(reals, ints, i_light, ray_d, config)
                    good = good and i_light >= 0
                # The next ray.
                if from_film == 0:
                    if ray == 0:
                        ray_o, ray_d, reach = start + w * (EPSILON * size), w, 1e30
                    else:
                        to_eye = camera_axis(reals, ints, 3) - x
                        ray_d = to_eye.normalized()
                        ray_o = offset_point(x, ng, ray_d, radius)
                        reach = to_eye.norm() * SHORT
                elif ray == 1:
                    ray_o, ray_d, reach = start + w * (ti.static(-1.0 if phase == DIRECT else BEFORE) * EPSILON * size), -w, 1e30
                    if ti.static(phase != DIRECT):
                        reach = ti.select(crease, -1.0, 1e30)
        u, seen = film_of(reals, ints, x)
        good = good and seen != 0

        if good:
            # --- the light that comes this way where nothing is in between
            eye = (camera_axis(reals, ints, 3) - x).normalized()
            s = tangent(ns, dp_du)
            b = ns.cross(s)
            wi, wo = to_local(eye, s, b, ns), to_local(-w, s, b, ns)
            if (ints[material + MATERIAL_FLAGS] & TWO_SIDED) != 0 and wi[2] < 0.0:
                wi[2], wo[2] = -wi[2], -wo[2]
            lookup_rows(
                reals, reals, ints, ints[material + MATERIAL_VALUES], ints[material + MATERIAL_N], lambdas, uv, rows, config, False
            )
            f, pdf_f = eval_bsdf(ints[material + MATERIAL_KIND], rows, wi, wo, 0, lambdas, config)
            Le, Le_near = ti.Vector([0.0, 0.0, 0.0, 0.0]), ti.Vector([0.0, 0.0, 0.0, 0.0])
            tau, factor, share = 1.0, 1.0, 0.0  # share: of the way from x to the light at which the edge is
            if finite != 0 and has_far:
                whole = (x - y).norm()
                tau, share = whole / (e - y).norm(), (x - e).norm() / whole
                if ti.static(phase == DIRECT):
                    factor = tau * tau / (whole * whole)
                    if small == 0:
                        factor *= light_n.dot(w)
            w_far, w_near = 0.0, 0.0
            if ti.static(phase != DIRECT):
                limit = near_reach(reals, ints, x)
                w_near, slope = following(ints, edges[edge + EDGE_SHAPE], (x - e).norm(), limit, 1)
                if has_far:
                    w_far, slope = following(ints, light_at, (x - y).norm(), limit, 1)
            light = light_record(ints, ti.max(i_light, 0))
            value, value_near, riding = 0.0, 0.0, 0.0  # riding: of the light that moves with a parameter of its own
            Le_riding = ti.Vector([0.0, 0.0, 0.0, 0.0])
            if ti.static(phase == DIRECT):
                light_at = ints[light + LIGHT_SHAPE]
                lookup_rows(
                    reals, reals, ints, ints[light + LIGHT_VALUES], ints[light + LIGHT_N], lambdas, light_uv, light_rows, config,
                    False,
                )  # fmt: skip
                towards = to_light_frame(reals, ints, i_light, -w)
                Le = emitted(reals, ints, light, light_rows, towards, lambdas, config)
                if ti.static(len(riders(config)) > 0):
                    Le_riding = riding_light(reals, ints, light, light_rows, towards, lambdas, config)
            if ti.static(phase == TRACE):
                aside = across * (ti.select(crease, 1.0, dark) * EPSILON * size)
                write_rays(
                    rays, samples, i, e, w, aside, EPSILON * size, x, ng, radius, has_far, w_near > 0.0, crease, 1
                )
            if ti.static(phase == BOUNCED):
                for k in range(4):
                    Le[k] = ti.select(has_far or crease, samples[4 * i + k], 0.0)
                    Le_near[k] = ti.select(w_near > 0.0, rays[4 * i + k], 0.0)
            for k in range(4):
                weight = loss_weight(reals, ints, d_film, u, lambdas[k], pdf_lambda[k])
                value += f[k] * Le[k] * weight
                value_near += f[k] * Le_near[k] * weight
                if ti.static(len(riders(config)) > 0):
                    riding += f[k] * Le_riding[k] * weight

            # --- how the shadow's image moves
            along_w = ng.dot(w)
            if (value != 0.0 or value_near != 0.0) and along_w != 0.0 and ti.static(phase != TRACE):
                # --- the density of having drawn this line in either way
                density = pdf
                if two_ways:
                    side = light_n
                    spread = 1.0 - tau
                    if finite == 0 or ti.static(phase != DIRECT):
                        side, spread = w, (x - e).norm()
                    t1 = tangent(side, along)
                    t2 = side.cross(t1)
                    u1 = film_step(reals, ints, x, spread * (t1 - w * (ng.dot(t1) / along_w)))
                    u2 = film_step(reals, ints, x, spread * (t2 - w * (ng.dot(t2) / along_w)))
                    area = ti.abs(u1[0] * u2[1] - u1[1] * u2[0])
                    in_window = on_window(ints, u)
                    density = 0.5 * (pdf + ti.select(small != 0, 0.0, in_window * area))
                factor /= density
                dx = along - w * (ng.dot(along) / along_w)
                u_s = film_step(reals, ints, x, dx)
                # The dark side's direction on the film tells which way the line uncovers.
                inward = across * ti.select(crease, 1.0, dark)
                u_dark = film_step(reals, ints, x, inward - w * (ng.dot(inward) / along_w))
                left = ti.Vector([-u_s[1], u_s[0]])
                sign = ti.select(left.dot(u_dark) > 0.0, 1.0, -1.0)
                of_edge, of_x, of_light = shares(value, value_near, crease, w_far, w_near, share)
                g_u = left * (sign * factor * d_scale / chance)
                g_x = film_adjoint(reals, ints, x, g_u)
                g_free = g_x - ng * (w.dot(g_x) / along_w)
                replica = (i % n_replicas) * n_accumulators
                for which in range(3):
                    if which < 2 or (finite != 0 and small == 0 and has_far):
                        at_shape, at_prim, at_inst = edges[edge + EDGE_SHAPE], edges[edge + EDGE_PRIM], edges[edge + EDGE_INST]
                        at, n_at, g = e, out, of_edge * g_free
                        if which == 1:
                            at_shape, at_prim, at_inst = shape, x_prim, x_inst
                            at, n_at, g = x, ng, ng * (-of_x * w.dot(g_x) / along_w)
                        if which == 2:
                            at_shape, at_prim, at_inst = light_at, light_prim, light_inst
                            at, n_at, g = y, light_n, of_light * g_free
                        deposit_point(reals, ints, acc, replica, at_shape, at_prim, at_inst, at, n_at, g, config)
                if ti.static(phase == DIRECT and standing(config)):
                    if small != 0:  # the light's own place, or its direction, which turns x about e
                        g_at, g_turn = of_light * g_free, no_vector()
                        if finite == 0:
                            g_at, g_turn = no_vector(), w.cross(g_free) * (value * (x - e).norm())
                        deposit_standing(reals, ints, acc, replica, i_light, g_at, g_turn)
                if ti.static(len(riders(config)) > 0):
                    if riding != 0.0:  # the light's direction turns, and x with it about e
                        g_turn = g_free * (-(x - e).norm() * riding)
                        deposit_turn(reals, ints, acc, light, light_rows, -w, g_turn, lambdas, replica, config)
                deposit_camera(reals, ints, acc, replica, x, -of_x * g_x, -of_x * g_u)
