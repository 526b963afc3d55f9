"""OpenPBR's value towards one wo: lobes over the weights of ``openpbr_surface``."""

from __future__ import annotations

import math

from irys_ti.graph import Expr, constant, select, vec3
from irys_ti.graph.expr import is_zero
from irys_ti.kernels.bsdf import openpbr_diffuse as diffuse
from irys_ti.kernels.bsdf import openpbr_fuzz as fuzz
from irys_ti.kernels.bsdf import openpbr_metal as metal
from irys_ti.kernels.bsdf import openpbr_transmission as transmission
from irys_ti.kernels.bsdf.ggx import upright
from irys_ti.kernels.bsdf.openpbr_facets import (
    Disk,
    below,
    disk_of_cosine,
    disk_of_normal,
    mirror,
    pick,
    visible,
)
from irys_ti.kernels.bsdf.openpbr_surface import Surface

ZERO = constant(0.0)


def value(s: Surface, wo: Expr) -> Expr:
    """The smooth value times |cos theta_o|, opacity apart; wo in the frame of s.wi, which is above."""
    p, lit = s.p, s.wi.z > 0.0
    passes = s.has_translucent or s.wall_transmits
    above, under = wo.z > 0.0, wo.z < 0.0
    q = disk_of_cosine(wo)
    v = visible(s.facets, q)
    split = s.split(v.cos_i)
    absorbed = s.absorption(wo)

    glossy, q_glossy = _glossy(s, wo, above, passes)
    cosine = abs(wo.z) * (1.0 / math.pi) if passes else wo.z * (1.0 / math.pi)
    through = s.through_coat(q, absorbed)
    base = s.through_coat(q_glossy, absorbed) * glossy + cosine * _scattered(s, wo, v, split, through, passes)
    total = s.darkening() * base
    if s.has_coat:
        m = mirror(s.coat_facets, wo)
        clear = s.coat_share * s.coat_reflectance(m.cos_i) * m.value
        total = total + (select(above, clear, 0.0) if passes else clear)
    total = s.through_fuzz() * total
    if s.has_fuzz:
        soft = s.fuzz_share * s.fuzz.albedo * fuzz.pdf(s.fuzz, wo)
        total = total + p.fuzz_color * (select(above, soft, 0.0) if passes else soft)
    return select(lit & (above | under) if passes else lit & above, total, ZERO)


def _glossy(s: Surface, wo: Expr, above: Expr, passes: bool) -> tuple[Expr, Disk]:
    """The base's single reflection above, refraction or passage through the sheet below; and its disk point."""
    m = mirror(s.facets, wo)
    cos_i, q = m.cos_i, disk_of_normal(s.facets, m.h, m.cos_i)
    if not s.has_translucent:
        value = s.reflected(s.split(cos_i)) * m.value
        return (select(above, value, 0.0) if passes else value), q
    r = transmission.refraction(s.facets, s.eta, wo)
    q_under = disk_of_normal(s.facets, r.h, r.cos_i)
    through = mirror(s.sheet_facets, below(wo))
    q_sheet = disk_of_normal(s.sheet_facets, through.h, through.cos_i)
    q_under = pick(s.thin, q_sheet, q_under)
    cos_under = select(s.thin, visible(s.facets, q_sheet).cos_i, r.cos_i)
    split = s.split(select(above, cos_i, cos_under))
    under = select(s.thin, through.value, r.kept * r.pdf * upright(r.h[2]) / (s.eta * s.eta))
    value = select(above, s.reflected(split) * m.value, s.translucent_share * split.passed * under)
    return value, pick(above, q, q_under)


def _scattered(s: Surface, wo: Expr, v, split, through: Expr, passes: bool) -> Expr:
    """What leaves over a cosine lobe, by pi / |cos theta_o|: diffuse light, and what met the microsurface again."""
    again, out = v.lost, ZERO
    if s.has_metal:
        bounces = metal.later_bounces(s.metal, metal.lost(s.facets.alpha))
        out = out + s.metal_share * split.metal * bounces * again * through
    if s.has_translucent:
        out = out + s.translucent_share * split.translucent * s.tint * again * through
    down = ZERO
    if s.has_translucent:
        lost = transmission.lost_refracted(s.facets, v, s.eta) / (s.eta * s.eta)
        lost = select(s.thin, visible(s.sheet_facets, disk_of_cosine(wo)).lost, lost)
        down = down + s.translucent_share * split.passed * lost * through
    if s.has_opaque:
        up, down_diffuse = _diffuse(s, wo, through * (1.0 - split.opaque * (1.0 - v.lost)), passes)
        out = out + s.opaque_share * up
        if down_diffuse is not None:
            down = down + s.opaque_share * down_diffuse
    return select(wo.z > 0.0, out, down) if passes else out


def _diffuse(s: Surface, wo: Expr, entered: Expr, passes: bool) -> tuple[Expr, Expr | None]:
    """The opaque base up and, through a thin wall, down; entered: share of light that reaches it at the disk point.

    EON is not uniform on the disk: it gets a part of ``entered`` that is the same for every wo, and a cosine lobe
    of EON's albedo the rest, so that what enters is scattered exactly.
    """
    p = s.p
    rho = p.base_weight * p.base_color
    through_wall = s.wall_transmits
    sss = p.subsurface_weight * p.subsurface_color if s.has_subsurface else None
    first = 1.0 - p.subsurface_weight
    if is_zero(p.base_diffuse_roughness):
        if sss is None:
            return entered * rho, None
        half = 0.5 * (1.0 - p.subsurface_scatter_anisotropy)
        up = entered * (first * rho + sss * select(s.thin, half, 1.0))
        return up, (entered * sss * select(s.thin, 1.0 - half, 0.0) if through_wall else None)
    e = diffuse.eon(s.wi, p.base_diffuse_roughness)
    side = vec3(wo.x, wo.y, abs(wo.z)) if passes else wo
    single, double = diffuse.shape(e, side)
    even = _enters(s)

    def lobe(linear, squared):
        albedo = linear * (1.0 - e.missing) + squared * e.missing
        value = entered * albedo + even * (linear * single + squared * double - albedo)
        return select(value < 0.0, 0.0, value)

    linear, squared = first * rho, first * p.base_weight * diffuse.bounces(e, p.base_color)
    if sss is None:
        return lobe(linear, squared), None
    if not through_wall:
        return lobe(linear, squared) + entered * sss, None
    half = 0.5 * (1.0 - p.subsurface_scatter_anisotropy)
    wall = select(s.thin, sss * half, ZERO)
    up = lobe(linear + wall, squared + wall) + select(s.thin, ZERO, entered * sss)
    below_wall = select(s.thin, sss * (1.0 - half), ZERO)
    return up, lobe(below_wall, below_wall)


def _enters(s: Surface) -> Expr:
    """About the share of light that enters the opaque base, from wi alone."""
    share = 1.0 - s.bare(s.wi.z)
    return share * (1.0 - s.coat_share * s.coat_reflectance(s.wi.z)) if s.has_coat else share
