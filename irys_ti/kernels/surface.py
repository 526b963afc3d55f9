"""The surface at a hit, and where rays leave it."""

from irys_ti.kernels.bvh import INSTANCE, instance_normal, instance_point, instance_vector, object_ray
from irys_ti.kernels.geometry import GEOMETRIES
from irys_ti.kernels.layout import SHAPE_KIND
from irys_ti.runtime import ti

EPSILON = 2.0**-15  # how far rays start off a surface, relative to coordinates; the same in both tiers


@ti.func
def surface_at(
    reals: ti.template(), ints: ti.template(), blocks: ti.template(), shape, prim, inst, o, d, t, u, v,
    config: ti.template(),
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
    reach = ti.max(ti.max(ti.abs(p[0]), ti.abs(p[1])), ti.abs(p[2])) + 2.0**-6 * radius
    return p + ng * (ti.select(d.dot(ng) < 0.0, -1.0, 1.0) * EPSILON * reach)
