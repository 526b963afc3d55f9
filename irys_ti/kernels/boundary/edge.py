"""Points on edges: chosen by a table, on lines of meshes and on the outlines of spheres and tubes."""

from irys_ti.graph.lowering import sincos
from irys_ti.kernels.bvh import INSTANCE, instance_point
from irys_ti.kernels.bvh.instance import INSTANCE_REALS, TO_WORLD, rotate
from irys_ti.kernels.geometry import curve, has_curves, mesh, sphere, tube
from irys_ti.kernels.geometry.frame import tangent
from irys_ti.kernels.layout import (
    EDGE_A,
    EDGE_B,
    EDGE_CAP,
    EDGE_CROSSING,
    EDGE_INST,
    EDGE_KIND,
    EDGE_LINE,
    EDGE_OPPOSITE,
    EDGE_PRIM,
    EDGE_SHAPE,
    EDGE_SPHERE,
    EDGE_STRIDE,
    EDGE_TUBE,
    SHAPE_FIRST_PRIM,
    SHAPE_REALS,
)
from irys_ti.runtime import ti


@ti.func
def choose_edge(table: ti.template(), n_edges, u):
    """(edge, its chance, u stretched back to [0, 1))."""
    low, high = 0, n_edges
    while high - low > 1:
        middle = (low + high) // 2
        if table[middle] <= u:
            low = middle
        else:
            high = middle
    chance = table[low + 1] - table[low]
    place = ti.select(chance > 0.0, (u - table[low]) / ti.select(chance > 0.0, chance, 1.0), 0.0)
    return low, chance, ti.math.clamp(place, 0.0, 0.99999994)


@ti.func
def vertex(reals: ti.template(), ints: ti.template(), blocks: ti.template(), edges: ti.template(), edge, number, instances: ti.template()):
    """A vertex of an edge's mesh, in the world."""
    p = mesh.vec3(reals, ints[edges[edge + EDGE_SHAPE] + SHAPE_REALS] + 3 * number)
    if ti.static(instances):
        p = instance_point(blocks, edges[edge + EDGE_INST], p)
    return p


@ti.func
def piece_of(ints: ti.template(), edges: ti.template(), edge):
    """Where the record of a tube's piece begins."""
    shape = edges[edge + EDGE_SHAPE]
    return ints[shape + SHAPE_REALS] + curve.STRIDE * (edges[edge + EDGE_PRIM] - ints[shape + SHAPE_FIRST_PRIM])


@ti.func
def ball(
    reals: ti.template(), ints: ti.template(), blocks: ti.template(), edges: ti.template(), edge, place, config: ti.template()
):
    """Centre and radius, in the world, of an edge's sphere, or of a tube at ``place``."""
    c, r = ti.Vector([0.0, 0.0, 0.0]), 0.0
    kind = edges[edge + EDGE_KIND]
    if kind == EDGE_SPHERE:
        c, r = sphere.record(reals, ints, edges[edge + EDGE_SHAPE], edges[edge + EDGE_PRIM])
    if ti.static(has_curves(config)):
        if kind == EDGE_TUBE:
            c, a_, c2_, c3_, r, r1_, r2_ = tube.axis_at(reals, piece_of(ints, edges, edge), place)
        if kind == EDGE_CAP:
            c, r, outward_, rim_ = tube.end_ball(reals, piece_of(ints, edges, edge), edges[edge + EDGE_A])
    if ti.static((config.kinds >> INSTANCE) & 1 == 1):
        inst = edges[edge + EDGE_INST]
        if inst >= 0:
            c = instance_point(blocks, inst, c)
            r *= rotate(blocks, INSTANCE_REALS * inst + TO_WORLD, ti.Vector([1.0, 0.0, 0.0])).norm()
    return c, r


@ti.func
def is_round(edges: ti.template(), number):
    """Whether where an edge is depends on where it is seen from."""
    kind = edges[number * EDGE_STRIDE + EDGE_KIND]
    return kind != EDGE_LINE and kind != EDGE_CROSSING


@ti.func
def is_crossing(edges: ti.template(), number):
    return edges[number * EDGE_STRIDE + EDGE_KIND] == EDGE_CROSSING


@ti.func
def crossing_point(edges: ti.template(), table: ti.template(), n_edges, number, place):
    """A point of the line in which two triangles cross, and dp / d place; zeros for other edges."""
    p, along, out = ti.Vector([0.0, 0.0, 0.0]), ti.Vector([0.0, 0.0, 0.0]), ti.Vector([0.0, 0.0, 0.0])
    if is_crossing(edges, number):
        at = n_edges + 1 + 6 * edges[number * EDGE_STRIDE + EDGE_OPPOSITE]
        p = mesh.vec3(table, at)
        along = mesh.vec3(table, at + 3) - p
        p += place * along
    return p, along, out


@ti.func
def on_both_planes(
    reals: ti.template(), ints: ti.template(), blocks: ti.template(), edges: ti.template(), number, g
):
    """Adjoints of the two triangles' points, from that of a point which stays on both of their planes.

    With unit normals n, m and c = n.m the point moves by ((n.v) (n - c m) + (m.w) (m - c n)) / (1 - c^2), v and w
    the triangles' velocities.
    """
    edge = number * EDGE_STRIDE
    n = plane_normal(reals, ints, edges[edge + EDGE_SHAPE], edges[edge + EDGE_PRIM])
    m = plane_normal(reals, ints, edges[edge + EDGE_A], edges[edge + EDGE_B])
    c = n.dot(m)
    slope = ti.max(n.cross(m).norm_sqr(), 1e-12)
    return n * ((n - c * m).dot(g) / slope), m * ((m - c * n).dot(g) / slope)


@ti.func
def plane_normal(reals: ti.template(), ints: ti.template(), shape, prim):
    """Unit normal of a triangle."""
    a, b, c = mesh.vertices_of(reals, ints, shape, prim)
    return (b - a).cross(c - a).normalized()


@ti.func
def edge_point(
    reals: ti.template(), ints: ti.template(), blocks: ti.template(), edges: ti.template(), number, place, source, finite,
    config: ti.template(),
):  # fmt: skip
    """A point of an edge, dp / d place there, and the outward unit normal on a sphere or a tube (else 0).

    source: where the outline of a sphere or a tube is seen from; the direction to it where it is not finite. The
    derivative is 0 where there is no outline.
    """
    edge = number * EDGE_STRIDE
    instances = ti.static((config.kinds >> INSTANCE) & 1 == 1)
    p, along, out = ti.Vector([0.0, 0.0, 0.0]), ti.Vector([0.0, 0.0, 0.0]), ti.Vector([0.0, 0.0, 0.0])
    kind = edges[edge + EDGE_KIND]
    if kind == EDGE_LINE:
        a = vertex(reals, ints, blocks, edges, edge, edges[edge + EDGE_A], instances)
        b = vertex(reals, ints, blocks, edges, edge, edges[edge + EDGE_B], instances)
        p, along = a + place * (b - a), b - a
    elif kind == EDGE_SPHERE or (kind == EDGE_CAP and ti.static(has_curves(config))):
        c, r = ball(reals, ints, blocks, edges, edge, place, config)
        axis, height, ring = source, 0.0, r
        if finite != 0:
            axis = source - c
            distance = axis.norm()
            ring = 0.0
            if distance > r:
                axis /= distance
                height = r * r / distance
                ring = r * ti.sqrt(ti.max(0.0, 1.0 - (r / distance) * (r / distance)))
        if ring > 0.0:
            s = tangent(axis)
            t = axis.cross(s)
            sine, cosine = sincos(6.283185307179586 * place)
            p = c + height * axis + ring * (cosine * s + sine * t)
            along = 6.283185307179586 * ring * (cosine * t - sine * s)
            out = (p - c).normalized()
            if ti.static(has_curves(config)):
                if kind == EDGE_CAP:  # part of it is the strand's
                    c_, r_, outward, rim = tube.end_ball(reals, piece_of(ints, edges, edge), edges[edge + EDGE_A])
                    if out.dot(outward) < rim:
                        along *= 0.0
    if ti.static(has_curves(config)):
        if kind == EDGE_TUBE:
            side = ti.select(edges[edge + EDGE_A] == 0, 1.0, -1.0)
            p, along, out = tube.outline_at(reals, piece_of(ints, edges, edge), place, side, source, finite)
    return p, along, out
