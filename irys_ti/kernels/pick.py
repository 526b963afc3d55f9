"""Which shape a pixel shows."""

from irys_ti.kernels.bvh import intersect, stack_sizes
from irys_ti.kernels.camera import camera_ray
from irys_ti.kernels.layout import H_PRIMS
from irys_ti.runtime import ti


@ti.kernel
def pick(
    reals: ti.types.ndarray(ndim=1),
    ints: ti.types.ndarray(ndim=1),
    nodes: ti.types.ndarray(ndim=1),
    node_refs: ti.types.ndarray(ndim=1),
    blocks: ti.types.ndarray(ndim=1),
    block_prims: ti.types.ndarray(ndim=1),
    found: ti.types.ndarray(ndim=1),
    x: float,
    y: float,
    config: ti.template(),
):
    """found[0] becomes the number of the shape at film position (x, y) in pixels, found[1] its instance; or -1."""
    for _ in range(1):
        stack = ti.Vector.zero(ti.i32, stack_sizes(config.width)[0])
        stack_t = ti.Vector.zero(float, stack_sizes(config.width)[1])
        o, d = camera_ray(reals, ints, x, y)
        t, prim, u, v, instance = intersect(
            reals, ints, nodes, node_refs, blocks, block_prims, o, d, 1e30, 0, config.kinds, config.width, stack, stack_t
        )
        found[0], found[1] = -1, instance
        if prim >= 0:
            found[0] = ints[ints[H_PRIMS] + prim]
