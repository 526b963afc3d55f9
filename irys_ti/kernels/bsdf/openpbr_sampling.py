"""Sampling OpenPBR: one lobe is chosen by an estimate of what it reflects, and a direction by that lobe's own density.

Every lobe that can be there keeps a chance, so that one of weight 0 still shows its derivative.
"""

from __future__ import annotations

import math

from irys_ti.graph import Expr, clamp, component, constant, dot, mean, minimum, safe_sqrt, select
from irys_ti.graph.expr import is_zero
from irys_ti.kernels.bsdf import fresnel, ggx
from irys_ti.kernels.bsdf import openpbr_facets as facets
from irys_ti.kernels.bsdf import openpbr_fuzz as fuzz
from irys_ti.kernels.bsdf import openpbr_metal as metal
from irys_ti.kernels.bsdf import openpbr_transmission as transmission
from irys_ti.kernels.bsdf.openpbr_surface import Surface
from irys_ti.kernels.bsdf.warp import cosine_hemisphere

FLOOR = 0.02
FAILED = (1.0, 0.0, 0.0)
# Stands for a visible normal in the middle of them all: the mean height of the cap, and no lean.
MIDDLE = facets.Disk(constant(0.0), constant(0.0), constant(0.5))


def chances(s: Surface) -> dict[str, Expr]:
    """Lobe -> probability: fuzz, coat, mirror (the base's reflection), cosine, under (cosine below), refract."""
    p, mu = s.p, s.wi.z
    weights = {}
    through = s.through_fuzz()
    if s.has_fuzz:
        weights["fuzz"] = s.fuzz_share * s.fuzz.albedo * mean(p.fuzz_color)
    if s.has_coat:
        coat = s.coat_share * s.coat_reflectance(mu)
        weights["coat"] = through * coat
        through = through * (1.0 - coat)
    typical = facets.visible(s.facets, MIDDLE)
    lost = typical.lost
    mirrored = again = under = refracted = constant(0.0)
    if s.has_opaque or s.has_translucent:
        opaque, translucent = _reflected(s, typical.cos_i)
        tint = mean(s.tint)
        mirrored = s.opaque_share * opaque * tint
        if s.has_translucent:
            twice = translucent * lost  # meets the microsurface again
            # From inside, at the critical angle: measured over roughness 0.2 to 0.7 and indices 1.3 to 1.54.
            twice = select(s.inside, minimum(1.2 * s.facets.alpha[0] * s.facets.alpha[1], translucent), twice)
            mirrored = mirrored + s.translucent_share * translucent * tint
            again = s.translucent_share * twice
            facing = facets.visible(s.facets, facets.disk_of_facing(s.facets))
            shadowed = mean(transmission.lost_refracted(s.facets, facing, s.eta))
            shadowed = select(s.inside, (1.0 - mu) * (1.0 - mu), shadowed)
            through_base = s.translucent_share * (1.0 - translucent) * mean(transmission.tint(p))
            refracted, under = through_base * (1.0 - shadowed), through_base * shadowed
        if s.has_opaque:
            entered = s.opaque_share * (1.0 - opaque) * mean(s.diffuse_albedo())
            if s.wall_transmits:
                turned = select(s.thin, 0.5 * p.subsurface_weight * (1.0 + p.subsurface_scatter_anisotropy), 0.0)
                under, entered = under + entered * turned, entered * (1.0 - turned)
            again = again + entered
    if s.has_metal:
        bright = s.metal_share * mean(metal.reflectance(s.metal, typical.cos_i))
        mirrored, again = mirrored + bright * (1.0 - lost), again + bright * lost
    weights["mirror"], weights["cosine"] = through * mirrored, through * again
    if s.has_translucent:
        weights["refract"] = through * refracted
    if s.has_translucent or s.wall_transmits:
        weights["under"] = through * under
    total = sum(weights.values(), constant(FLOOR * len(weights)))
    scale = 1.0 / total
    return {k: (w + FLOOR) * scale for k, w in weights.items()}


def _reflected(s: Surface, middle: Expr) -> tuple[Expr, Expr]:
    """About the reflectance of the opaque and of the translucent base, on average over wavelengths.

    By the cosine on a visible normal in the middle; where there is an inside, also by that on the mean normal and on one
    that leans to wi. Seen from inside, all are reflected by the normals beyond the critical angle.
    """
    mu, cosines = s.wi.z, [middle]
    if s.has_translucent:
        lean = (s.facets.alpha[0] + s.facets.alpha[1]) * safe_sqrt(1.0 - mu * mu)
        cosines = [mu, minimum(mu + lean, 1.0)] + (cosines if is_zero(s.p.thin_film_weight) else [])
    parts = [s.split(c) for c in cosines]
    share = 1.0 / len(parts)
    opaque = mean(sum((x.opaque for x in parts[1:]), parts[0].opaque)) * share
    if not s.has_translucent:
        return opaque, opaque
    usual = mean(sum((x.translucent for x in parts[1:]), parts[0].translucent)) * share
    total = _beyond_critical(s)
    return opaque, select(s.inside, total + (1.0 - total) * mean(parts[1].translucent), usual)


def _beyond_critical(s: Surface) -> Expr:
    """About the share of the visible normals that reflect all of wi, seen from inside.

    They lean away from wi by the critical angle less wi's own: a plane cuts them off the cap of which visible normals are
    uniform points, and what a plane cuts off a sphere is linear in its distance. The lean is taken in the plane of
    incidence alone, and the cap for a sphere there.
    """
    f, mu = s.facets, s.wi.z
    sine = safe_sqrt(1.0 - mu * mu)
    critical = 1.0 / s.sheet_eta  # the sine of the critical angle
    height = safe_sqrt(1.0 - critical * critical)
    # The tangent of the lean over alpha is up / along.
    up = (critical * mu - height * sine) * sine
    along = (height * mu + critical * sine) * safe_sqrt(facets.spread(s.wi, f.alpha))
    z = f.stretched[2]
    distance = (along * safe_sqrt(1.0 - z * z) + up * z) / safe_sqrt(along * along + up * up + facets.TINY)
    return clamp((1.0 - distance) / (1.0 + z), 0.0, 1.0)


def pdf(s: Surface, wo: Expr) -> Expr:
    """Density of the smooth part's samples; wo in the frame of s.wi."""
    chance = chances(s)
    lit, above = s.wi.z > 0.0, wo.z > 0.0
    up = chance["cosine"] * wo.z * (1.0 / math.pi)
    up = up + chance["mirror"] * facets.pdf_mirror(s.facets, facets.mirror(s.facets, wo))
    if s.has_coat:
        up = up + chance["coat"] * facets.pdf_mirror(s.coat_facets, facets.mirror(s.coat_facets, wo))
    if s.has_fuzz:
        up = up + chance["fuzz"] * fuzz.pdf(s.fuzz, wo)
    if "under" not in chance:
        return select(lit & above, up, 0.0)
    down = chance["under"] * -wo.z * (1.0 / math.pi)
    if s.has_translucent:
        r = transmission.refraction(s.facets, s.eta, wo)
        m = facets.mirror(s.sheet_facets, facets.below(wo))
        sheet = facets.pdf_mirror(s.sheet_facets, m)
        down = down + chance["refract"] * select(s.thin, sheet, mean(r.pdf))
    return select(lit & above, up, select(lit & (wo.z < 0.0), down, 0.0))


def sample(s: Surface, u: Expr) -> Expr:
    """A direction in the frame of s.wi; along the horizon, where the value is 0, if it fails."""
    chance = chances(s)
    failed = constant(FAILED)
    made = {"cosine": cosine_hemisphere(u)}
    mirrored = facets.sample_mirror(s.facets, u)
    made["mirror"] = select(mirrored.z > 0.0, mirrored, failed)
    if s.has_coat:
        coated = facets.sample_mirror(s.coat_facets, u)
        made["coat"] = select(coated.z > 0.0, coated, failed)
    if s.has_fuzz:
        made["fuzz"] = fuzz.sample(s.fuzz, u)
    if "under" in chance:
        made["under"] = facets.below(made["cosine"])
    start, wo = constant(0.0), None
    order = [k for k in ("cosine", "mirror", "coat", "fuzz", "under", "refract") if k in chance]
    for name in order:
        if name == "refract":
            made[name] = _refracted(s, u, clamp((u.z - start) / chance[name], 0.0, 1.0))
        wo = made[name] if wo is None else select(u.z < start, wo, made[name])
        start = start + chance[name]
    return wo


def _refracted(s: Surface, u: Expr, rest: Expr) -> Expr:
    """A refracted direction, at one of the wavelengths by the uniform ``rest``; through a sheet, the mirrored lobe."""
    eta = s.eta
    if eta.shape:
        parts = [component(eta, k) for k in range(4)]
        eta = select(rest < 0.5, select(rest < 0.25, *parts[:2]), select(rest < 0.75, *parts[2:]))
    h = ggx.sample_visible(s.wi, s.facets.alpha, u)
    cos_i = dot(s.wi, h)
    t = h * (cos_i / eta - fresnel.refracted_cosine(cos_i, eta)) - s.wi / eta
    fine = (t.z < 0.0) & (fresnel.refracted_cosine_squared(cos_i, eta) > 0.0)
    sheet = facets.sample_mirror(s.sheet_facets, u)
    t = select(s.thin, facets.below(sheet), t)
    fine = (s.thin & (sheet.z > 0.0)) | (~s.thin & fine)
    return select(fine, t, constant(FAILED))
