"""All lights together: choosing one, sampling a direction to it, and the density of having done so."""

from irys_ti.kernels.frame import affine_vector
from irys_ti.kernels.geometry import GEOMETRIES
from irys_ti.kernels.layout import (
    H_ENTRIES,
    H_ENTRY_CDF,
    H_ENTRY_OF_LIGHT,
    H_LIGHTS,
    H_N_ENTRIES,
    H_SPHERE,
    LIGHT_KIND,
    LIGHT_REALS,
    LIGHT_SHAPE,
    LIGHT_STRIDE,
    LIGHT_WANTED,
    RIDING,
    SHAPE_FIRST_PRIM,
    SHAPE_KIND,
)
from irys_ti.kernels.light import LIGHTS
from irys_ti.runtime import ti

ALONE = 1e12  # density told of directions that light sampling alone accounts for


@ti.func
def light_record(ints: ti.template(), i_light):
    """Offset of a light's record in ints."""
    return ints[H_LIGHTS] + i_light * LIGHT_STRIDE


@ti.func
def entry_pmf(reals: ti.template(), ints: ti.template(), entry):
    """Probability that light selection takes an entry of its table."""
    base = ints[H_ENTRY_CDF] + entry
    return reals[base + 1] - reals[base]


@ti.func
def select_entry(reals: ti.template(), ints: ti.template(), u):
    """Entry of the (light, primitive) table, by power: its number and probability."""
    base = ints[H_ENTRY_CDF]
    low, high = 0, ints[H_N_ENTRIES]
    while high - low > 1:
        middle = (low + high) // 2
        if reals[base + middle] <= u:
            low = middle
        else:
            high = middle
    return low, entry_pmf(reals, ints, low)


@ti.func
def sample_light(reals: ti.template(), ints: ti.template(), ref, u, u_choice, config: ti.template()):
    """A direction towards some light.

    Returns (light index, direction, distance, pdf, factor, delta, uv): pdf over solid angle, or the choice's
    probability for a delta light, includes the choice; factor multiplies the emitted value. pdf = 0: none.
    """
    i_light, pdf, factor, delta, distance = -1, 0.0, 1.0, 0, 0.0
    d, uv = ti.Vector([0.0, 0.0, 1.0]), ti.Vector([0.0, 0.0])
    if ints[H_N_ENTRIES] > 0:
        entry, pmf = select_entry(reals, ints, u_choice)
        i_light = ints[ints[H_ENTRIES] + 2 * entry]
        prim = ints[ints[H_ENTRIES] + 2 * entry + 1]
        light = light_record(ints, i_light)
        kind = ints[light + LIGHT_KIND]
        radius = reals[ints[H_SPHERE] + 3]
        for index, name in ti.static(config.lights):
            if kind == ti.static(index):
                if ti.static(LIGHTS[name].CLASS == "area"):
                    shape = ints[light + LIGHT_SHAPE]
                    point, normal, at, pdf_area = sample_shape(reals, ints, shape, prim, ref, u, config)
                    uv = at
                    to_light = point - ref
                    squared = to_light.norm_sqr()
                    distance = ti.sqrt(squared)
                    if distance > 0.0:
                        d = to_light / distance
                        cosine = -d.dot(normal)
                        if cosine > 0.0:
                            pdf = pmf * pdf_area * squared / cosine
                elif ti.static(LIGHTS[name].CLASS == "delta"):
                    d, distance, factor = LIGHTS[name].sample(reals, ints, light, ref, radius)
                    if ti.static(hasattr(LIGHTS[name], "uv")):
                        uv = LIGHTS[name].uv(reals, ints, light, d)
                    pdf, delta = pmf, 1
                else:
                    d, density = LIGHTS[name].sample(reals, ints, light, prim, u)
                    uv = LIGHTS[name].uv(reals, ints, light, d)
                    pdf, distance = pmf * density, 4.0 * radius
                    if ti.static(n_parts(name) > 1):
                        pdf += pdf_parts(reals, ints, i_light, light, prim, d, name)
                    if ti.static(config.riding == 1 and hasattr(LIGHTS[name], "RIDES")):
                        if (ints[light + LIGHT_WANTED] & RIDING) != 0:
                            delta = LIGHTS[name].rides(reals, ints, light, d)
    return i_light, d, distance, pdf, factor, delta, uv


@ti.func
def sample_shape(reals: ti.template(), ints: ti.template(), shape, prim, ref, u, config: ti.template()):
    """A point of one primitive, its outward normal, its uv and its density over area."""
    point, normal, pdf = ti.Vector([0.0, 0.0, 0.0]), ti.Vector([0.0, 0.0, 1.0]), 0.0
    uv = ti.Vector([0.0, 0.0])
    kind = ints[shape + SHAPE_KIND]
    for index, name in ti.static(config.geometries):
        if kind == ti.static(index):
            point, normal, uv, pdf = GEOMETRIES[name].sample_area(reals, ints, shape, prim, ref, u)
    return point, normal, uv, pdf


@ti.func
def pdf_hit(
    reals: ti.template(), ints: ti.template(), i_light, shape, prim, ref, point, normal, d, distance, config: ti.template()
):
    """Density over solid angle with which ``sample_light`` would have taken this point of an area light."""
    light = light_record(ints, i_light)
    entry = ints[ints[H_ENTRY_OF_LIGHT] + i_light] + prim - ints[shape + SHAPE_FIRST_PRIM]
    pdf_area = 0.0
    kind = ints[shape + SHAPE_KIND]
    for index, name in ti.static(config.geometries):
        if kind == ti.static(index):
            pdf_area = GEOMETRIES[name].pdf_area(reals, ints, shape, prim, ref, point, normal)
    cosine = -d.dot(normal)
    pdf = 0.0
    if cosine > 0.0 and ints[light + LIGHT_SHAPE] >= 0:
        pdf = entry_pmf(reals, ints, entry) * pdf_area * distance * distance / cosine
    return pdf


@ti.func
def pdf_environment(reals: ti.template(), ints: ti.template(), i_light, d, config: ti.template()):
    """Density of ``sample_light`` for a direction that leaves the scene, and the environment's uv there."""
    light = light_record(ints, i_light)
    pdf, uv = 0.0, ti.Vector([0.0, 0.0])
    kind = ints[light + LIGHT_KIND]
    for index, name in ti.static(config.lights):
        if ti.static(LIGHTS[name].CLASS == "environment"):
            if kind == ti.static(index):
                if ti.static(n_parts(name) > 1):
                    pdf = pdf_parts(reals, ints, i_light, light, -1, d, name)
                else:
                    pdf = LIGHTS[name].pdf(reals, ints, light, 0, d)
                    pdf *= entry_pmf(reals, ints, ints[ints[H_ENTRY_OF_LIGHT] + i_light])
                uv = LIGHTS[name].uv(reals, ints, light, d)
                if ti.static(config.riding == 1 and hasattr(LIGHTS[name], "RIDES")):
                    if (ints[light + LIGHT_WANTED] & RIDING) != 0:
                        if LIGHTS[name].rides(reals, ints, light, d) == 1:
                            pdf = ALONE
    return pdf, uv


def n_parts(name: str) -> int:
    """Number of entries that an environment has in the selection table."""
    return getattr(LIGHTS[name], "PARTS", 1)


@ti.func
def pdf_parts(
    reals: ti.template(), ints: ti.template(), i_light, light, without, d, name: ti.template()
):
    """Density of a direction over an environment's parts, their choice included, but for one of them."""
    pdf = 0.0
    first = ints[ints[H_ENTRY_OF_LIGHT] + i_light]
    for part in range(n_parts(name)):
        if part != without:
            pdf += entry_pmf(reals, ints, first + part) * LIGHTS[name].pdf(reals, ints, light, part, d)
    return pdf


@ti.func
def to_light_frame(reals: ti.template(), ints: ti.template(), i_light, d):
    """The local direction from the light to the receiver, for the world direction d to the light."""
    return -affine_vector(reals, ints[light_record(ints, i_light) + LIGHT_REALS], d)
