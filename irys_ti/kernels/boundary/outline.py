"""Outlines that the camera sees: points of edges, the radiance on either side, and what its jump does when they move.

Along an edge's image u(s) the image changes by (L_right - L_left) (du/dtheta x du/ds) per ds: the area that the line
sweeps, times what it uncovers (Li et al. 2018, "Differentiable Monte Carlo ray tracing through edge sampling").
"""

from irys_ti.graph import literals
from irys_ti.kernels import rng
from irys_ti.kernels.boundary.edge import ball, choose_edge, crossing_point, edge_point, is_crossing, on_both_planes
from irys_ti.kernels.boundary.view import deposit_camera, film_adjoint, film_of, film_step, loss_weight, ray_wavelengths
from irys_ti.kernels.bvh import intersect, stack_sizes
from irys_ti.kernels.camera import camera_ray
from irys_ti.kernels.geometry import has_curves
from irys_ti.kernels.layout import (
    CAMERA_TAN,
    EDGE_A,
    EDGE_B,
    EDGE_INST,
    EDGE_KIND,
    EDGE_PRIM,
    EDGE_SHAPE,
    EDGE_STRIDE,
    EDGE_TUBE,
    H_CAMERA,
    H_FILM,
    H_SPHERE,
    POINT_STRIDE,
    RAY_STRIDE,
)
from irys_ti.kernels.motion import camera_axis, deposit_point
from irys_ti.kernels.surface import EPSILON
from irys_ti.runtime import ti

ASIDE = 2.0**-15  # radians from an edge at which the radiance beside it is taken
# Beside a tube the same is this share of its radius, and never less than: the frame turns by (2 THIN)^(1/2) on the way.
THIN, LEAST_ASIDE = 2.0**-13, 2.0**-19
REACH = 1.0 - 2.0**-13  # how much of the way to an edge must be free


@ti.func
def outline_point(
    reals: ti.template(), ints: ti.template(), blocks: ti.template(), edges: ti.template(), table: ti.template(), n_edges,
    number, place, eye, config: ti.template(),
):  # fmt: skip
    """A point of an edge or a crossing, its step along it, and a sphere's outward normal there (else 0)."""
    p, along, out = crossing_point(edges, table, n_edges, number, place)
    if not is_crossing(edges, number):
        p, along, out = edge_point(reals, ints, blocks, edges, number, place, eye, 1, config)
    return p, along, out


@ti.kernel
def sample_outlines(
    reals: ti.types.ndarray(ndim=1),
    ints: ti.types.ndarray(ndim=1),
    nodes: ti.types.ndarray(ndim=1),
    node_refs: ti.types.ndarray(ndim=1),
    blocks: ti.types.ndarray(ndim=1),
    block_prims: ti.types.ndarray(ndim=1),
    edges: ti.types.ndarray(ndim=1),
    table: ti.types.ndarray(ndim=1),
    rays: ti.types.ndarray(ndim=1),
    points: ti.types.ndarray(ndim=1),
    n_edges: int,
    first: int,
    n: int,
    seed: int,
    config: ti.template(),
):
    """n points from number ``first`` on, POINT_STRIDE numbers each; two rays each, right and left of the edge.

    table: cumulative chances of the edges, then the ends of those that are crossings (device/crossings.py).
    """
    for i in range(n):
        literals.declare()
        stack = ti.Vector.zero(ti.i32, stack_sizes(config.width)[0])
        stack_t = ti.Vector.zero(float, stack_sizes(config.width)[1])
        key = rng.stream(seed, 1, -1)
        u_edge, u_unused = rng.sample_2d(key, first + i, 0)
        number, chance, place = choose_edge(table, n_edges, u_edge)
        eye = camera_axis(reals, ints, 3)
        p, along, out = outline_point(reals, ints, blocks, edges, table, n_edges, number, place, eye, config)
        u, inside = film_of(reals, ints, p)
        visible = 0
        for side in range(2):
            for k in range(RAY_STRIDE):
                rays[(2 * i + side) * RAY_STRIDE + k] = ti.select(k == 5, 1.0, 0.0)
        if inside == 1 and chance > 0.0 and along.norm_sqr() > 0.0:
            u_s = film_step(reals, ints, p, along)
            length = u_s.norm()
            if length > 0.0:
                o, d = camera_ray(reals, ints, u[0], u[1])
                reach = ti.max(ti.max(ti.abs(p[0]), ti.abs(p[1])), ti.abs(p[2])) + 2.0**-6 * reals[ints[H_SPHERE] + 3]
                target = p + out * (EPSILON * reach)  # a sphere must not hide its own outline
                to_edge = target - o
                distance = to_edge.norm()
                t, prim, bu, bv, inst = intersect(
                    reals, ints, nodes, node_refs, blocks, block_prims, o, to_edge / distance, distance * REACH, 1,
                    config.kinds, config.width, stack, stack_t, ti.u32(0),
                )  # fmt: skip
                if prim < 0:
                    visible = 1
                    angle = ASIDE
                    if ti.static(has_curves(config)):
                        if edges[number * EDGE_STRIDE + EDGE_KIND] >= EDGE_TUBE:  # hairs are thin
                            c_, r = ball(reals, ints, blocks, edges, number * EDGE_STRIDE, place, config)
                            angle = ti.math.clamp(THIN * r / distance, LEAST_ASIDE, ASIDE)
                    aside = angle * 0.5 * ti.cast(ints[H_FILM], float) / reals[ints[H_CAMERA] + CAMERA_TAN]
                    step = ti.Vector([-u_s[1], u_s[0]]) * (aside / length)
                    for side in range(2):
                        sign = ti.select(side == 0, -1.0, 1.0)
                        o_side, d_side = camera_ray(reals, ints, u[0] + sign * step[0], u[1] + sign * step[1])
                        for k in ti.static(range(3)):
                            rays[(2 * i + side) * RAY_STRIDE + k] = o_side[k]
                            rays[(2 * i + side) * RAY_STRIDE + 3 + k] = d_side[k]
        points[i * POINT_STRIDE] = ti.cast(number, float)
        points[i * POINT_STRIDE + 1] = place
        points[i * POINT_STRIDE + 2] = ti.cast(visible, float)


@ti.kernel
def deposit_outlines(
    reals: ti.types.ndarray(ndim=1),
    ints: ti.types.ndarray(ndim=1),
    blocks: ti.types.ndarray(ndim=1),
    edges: ti.types.ndarray(ndim=1),
    table: ti.types.ndarray(ndim=1),
    points: ti.types.ndarray(ndim=1),
    samples: ti.types.ndarray(ndim=1),
    d_film: ti.types.ndarray(ndim=1),
    acc: ti.types.ndarray(ndim=1),
    n_edges: int,
    n: int,
    seed: int,
    d_scale: float,
    n_accumulators: int,
    n_replicas: int,
    config: ti.template(),
):
    """Deposit the derivatives of n sampled points, from the radiance of their rays (samples, four wavelengths each)."""
    for i in range(n):
        literals.declare()
        if points[i * POINT_STRIDE + 2] != 0.0:
            number = ti.cast(points[i * POINT_STRIDE], ti.i32)
            place = points[i * POINT_STRIDE + 1]
            eye = camera_axis(reals, ints, 3)
            p, along, out = outline_point(reals, ints, blocks, edges, table, n_edges, number, place, eye, config)
            u, inside = film_of(reals, ints, p)
            u_s = film_step(reals, ints, p, along)
            lambdas, pdf_lambda = ray_wavelengths(reals, ints, seed, i)
            jump = 0.0
            for k in range(4):
                right, left = samples[8 * i + k], samples[8 * i + 4 + k]
                jump += loss_weight(reals, ints, d_film, u, lambdas[k], pdf_lambda[k]) * (right - left)
            scale = jump * d_scale / (table[number + 1] - table[number])
            g_u = ti.Vector([-u_s[1], u_s[0]]) * scale
            g = film_adjoint(reals, ints, p, g_u)
            replica = (i % n_replicas) * n_accumulators
            edge = number * EDGE_STRIDE
            shape, prim, inst = edges[edge + EDGE_SHAPE], edges[edge + EDGE_PRIM], edges[edge + EDGE_INST]
            if is_crossing(edges, number):
                g_a, g_b = on_both_planes(reals, ints, blocks, edges, number, g)
                deposit_point(reals, ints, acc, replica, shape, prim, inst, p, out, g_a, config)
                deposit_point(reals, ints, acc, replica, edges[edge + EDGE_A], edges[edge + EDGE_B], -1, p, out, g_b, config)
            else:
                deposit_point(reals, ints, acc, replica, shape, prim, inst, p, out, g, config)
            deposit_camera(reals, ints, acc, replica, p, g, g_u)
