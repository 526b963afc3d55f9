"""The two lights of a vertex: the one that its ray hit, weighted against having sampled it, and one that is sampled."""

from irys_ti.kernels.adjoint import HIT, SAMPLED
from irys_ti.kernels.emitter import sample_light, to_light_frame
from irys_ti.kernels.surface import offset_point
from irys_ti.runtime import ti


@ti.func
def note_light(
    reals: ti.template(), ints: ti.template(), which: ti.template(), i_light, d, uv, light_of: ti.template(),
    light_w: ti.template(), light_uv: ti.template(),
):  # fmt: skip
    """Write down a light, the local direction it shines along, and its uv."""
    light_of[which] = i_light
    w = to_light_frame(reals, ints, i_light, d)
    for k in ti.static(range(3)):
        light_w[which, k] = w[k]
    light_uv[which, 0], light_uv[which, 1] = uv[0], uv[1]


@ti.func
def take_hit(
    reals: ti.template(), ints: ti.template(), i_light, d, uv, pdf_light, prev_pdf, prev_delta, light_of: ti.template(),
    light_factor: ti.template(), light_w: ti.template(), light_uv: ti.template(),
):  # fmt: skip
    """The light that a ray along d hit."""
    ratio = ti.select(prev_delta == 1, 0.0, pdf_light / prev_pdf)
    light_factor[HIT] = 1.0 / (1.0 + ratio * ratio)  # power heuristic, never differentiated
    note_light(reals, ints, HIT, i_light, d, uv, light_of, light_w, light_uv)


@ti.func
def take_sample(
    reals: ti.template(), ints: ti.template(), p, ng, ns, d, u, radius, through, light_of: ti.template(),
    light_factor: ti.template(), light_w: ti.template(), light_uv: ti.template(), config: ti.template(),
):  # fmt: skip
    """Sample a light for a surface that a ray along d met; ``through``: whether it may lie behind.

    Returns (direction, its density, 1 for a delta light, distance from the origin that was sampled for, that origin);
    a density of 0 means none.
    """
    # Start on the side the path came from; for a light behind the surface, on the other.
    origin = offset_point(p, ng, -d, radius)
    i_light, d_light, distance, pdf, factor, delta, uv = sample_light(
        reals, ints, origin, ti.Vector([u[0], u[1]]), u[4], config
    )
    same_side = d_light.dot(ns) * d.dot(ns) < 0.0
    if pdf > 0.0 and (same_side or through):
        light_factor[SAMPLED] = factor / pdf
        note_light(reals, ints, SAMPLED, i_light, d_light, uv, light_of, light_w, light_uv)
    else:
        distance = -1.0
    return d_light, pdf, delta, distance, origin
