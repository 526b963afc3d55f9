"""OpenPBR's layers as one wi sees them: shares, lobes, and how light splits at a visible normal.

Shares and layering are those of the specification's section "Reduction to a mixture of lobes", with every
albedo scaling 1 - E done at the disk point of a direction (``openpbr_facets``) instead of by an average E.
Parameters that are constants fold away: a weight that is the constant 0 leaves nothing of its lobe.
"""

from __future__ import annotations

from types import SimpleNamespace

from irys_ti.graph import Expr, constant, maximum, power, select
from irys_ti.graph.expr import is_zero
from irys_ti.kernels.bsdf import openpbr_coat as coat
from irys_ti.kernels.bsdf import openpbr_film as film
from irys_ti.kernels.bsdf import openpbr_fresnel as fresnel
from irys_ti.kernels.bsdf import openpbr_metal as metal
from irys_ti.kernels.bsdf import openpbr_transmission as transmission
from irys_ti.kernels.bsdf.fresnel import evened_cosine
from irys_ti.kernels.bsdf.interface import upward
from irys_ti.kernels.bsdf.openpbr_facets import Disk, alphas, facets, visible
from irys_ti.kernels.bsdf.openpbr_fuzz import fuzz

# Between matched media refraction is kept this far from a delta.
CONTRAST = 1e-3


class Surface:
    """Everything that the parameters p and wi decide.

    From below, a surface looks as from above, unless it is translucent: then wi is ``inside`` and sees neither
    coat nor fuzz, but is tinted when it leaves through the coat.
    """

    def __init__(self, p, wi: Expr):
        self.p, self.below = p, wi.z < 0.0
        self.wi = upward(wi, wi.z)
        self.thin = p.geometry_thin_walled > 0.5
        self.inside = self.below & ~self.thin & (p.transmission_weight > 0.0)

        self.metal_share = p.base_metalness
        self.dielectric_share = 1.0 - p.base_metalness
        self.translucent_share = self.dielectric_share * p.transmission_weight
        self.opaque_share = self.dielectric_share * (1.0 - p.transmission_weight)
        self.coat_share = select(self.inside, 0.0, p.coat_weight)
        self.fuzz_share = select(self.inside, 0.0, p.fuzz_weight)
        self.has_coat, self.has_fuzz = not is_zero(p.coat_weight), not is_zero(p.fuzz_weight)
        self.has_metal, self.has_opaque = not is_zero(self.metal_share), not is_zero(self.opaque_share)
        self.has_translucent = not is_zero(self.translucent_share)
        self.has_subsurface = self.has_opaque and not is_zero(p.subsurface_weight)
        solid = self.thin.op == "const" and not self.thin.attr
        # A thin wall with subsurface scattering lets light through its opaque base.
        self.wall_transmits = self.has_subsurface and not solid
        self.all_above = solid and not self.has_translucent

        self.interface = fresnel.base_interface(p)
        self.metal = metal.metal(p)
        r2 = p.specular_roughness * p.specular_roughness
        r4 = coat.roughened(p) if self.has_coat else r2 * r2
        self.facets = facets(self.wi, alphas(r4, p.specular_roughness_anisotropy))
        if self.has_translucent:
            eta = fresnel.off_one(self.interface.eta, CONTRAST)
            self.eta = select(self.inside, 1.0 / eta, eta)
            self.sheet_eta = fresnel.undispersed_index(p)
            self.sheet_facets = transmission.sheet_facets(self.facets, self.sheet_eta)
        if self.has_coat:
            c2 = p.coat_roughness * p.coat_roughness
            self.coat_facets = facets(self.wi, alphas(c2 * c2, p.coat_roughness_anisotropy))
            self.coat_interface = fresnel.coat_interface(p)
        if self.has_fuzz:
            self.fuzz = fuzz(p, self.wi)
        self.tint = select(self.inside, constant(1.0), p.specular_color)

    # -- Fresnel terms, for a cosine on wi's side -------------------------------------------------------------

    def bare(self, cosine: Expr) -> Expr:
        """Reflectance of the dielectric base without film."""
        if not self.has_translucent:
            return fresnel.reflectance(self.interface, cosine)
        outside, leaves = self._in_air(cosine)
        return select(leaves, fresnel.reflectance(self.interface, outside), 1.0)

    def _in_air(self, cosine: Expr) -> tuple[Expr, Expr]:
        """A cosine on wi's side as one in air, and whether it gets there."""
        if not self.has_translucent:
            return cosine, constant(True)
        squared = fresnel.air_cosine_squared(cosine, 1.0 / self.eta)
        return select(self.inside, evened_cosine(squared), cosine), ~self.inside | (squared > 0.0)

    def split(self, cosine: Expr) -> SimpleNamespace:
        """How light splits at a visible normal: reflected by the opaque base, by the metal, by the translucent
        base, and transmitted by that."""
        p, out = self.p, SimpleNamespace(opaque=None, metal=None, translucent=None, passed=None)
        under = None
        if not is_zero(p.thin_film_weight):
            outside, leaves = self._in_air(cosine)
            under = film.film(p, self.interface, outside)
        if self.has_opaque or self.has_translucent:
            out.opaque = self.bare(cosine)
            if under is not None:
                coloured = select(leaves, film.on_dielectric(self.interface, under), 1.0)
                out.opaque = out.opaque + p.thin_film_weight * (coloured - out.opaque)
        if self.has_metal:
            out.metal = metal.reflectance(self.metal, cosine)
            if under is not None:
                # The film is outside: a metal seen from inside is bare.
                covered = select(self.inside, 0.0, p.thin_film_weight)
                out.metal = out.metal + covered * (film.on_metal(out.metal, under) - out.metal)
        if self.has_translucent:
            r, t = transmission.sheet(p, out.opaque, cosine, self.sheet_eta)
            out.translucent = select(self.thin, r, out.opaque)
            out.passed = select(self.thin, t, transmission.tint(p) * (1.0 - out.opaque))
        return out

    def reflected(self, s: SimpleNamespace) -> Expr:
        """What the base reflects of a split, tinted and by its shares."""
        value = constant(0.0)
        if s.opaque is not None:
            dielectric = self.dielectric_share * s.opaque
            if self.has_translucent and s.translucent is not s.opaque:
                dielectric = self.opaque_share * s.opaque + self.translucent_share * s.translucent
            value = self.tint * dielectric
        if s.metal is not None:
            value = value + self.metal_share * s.metal
        return value

    # -- layers ------------------------------------------------------------------------------------------------

    def through_fuzz(self) -> Expr:
        return 1.0 - self.fuzz_share * self.fuzz.albedo if self.has_fuzz else constant(1.0)

    def coat_reflectance(self, cosine: Expr) -> Expr:
        return fresnel.reflectance(self.coat_interface, cosine)

    def through_coat(self, q: Disk, absorbed: Expr) -> Expr:
        """Share of light that the coat lets to the base and back, at a disk point: lerp(1, T (1 - E), C)."""
        if not self.has_coat:
            return constant(1.0)
        v = visible(self.coat_facets, q)
        reflected = self.coat_share * self.coat_reflectance(v.cos_i) * (1.0 - v.lost)
        # From inside, the coat only absorbs.
        covered = self.coat_share if not self.has_translucent else self.p.coat_weight
        return 1.0 - covered + (covered - reflected) * absorbed

    def absorption(self, wo: Expr) -> Expr:
        """The coat's transmittance along the passages outside the base that wi and wo (frame of wi) make."""
        p = self.p
        if not self.has_coat:
            return constant(1.0)
        inward, outward = coat.path(p, self.wi.z), coat.path(p, abs(wo.z))
        if self.all_above:
            return power(p.coat_color, inward + outward)
        leaves = (self.inside & (wo.z < 0.0)) | (~self.inside & (wo.z > 0.0))
        path = select(self.inside, 0.0, inward) + select(leaves, outward, 0.0)
        # One passage alone takes a root, whose slope at 0 has no end.
        colour = select(path < 1.0, maximum(p.coat_color, 1e-6), p.coat_color)
        return select(path > 0.0, power(colour, maximum(path, 0.5)), 1.0)

    def darkening(self) -> Expr:
        """The coat's darkening of the base, 1 from inside."""
        p = self.p
        if not self.has_coat:
            return constant(1.0)
        mirror = self.interface.e2
        albedo = constant(0.0)
        if self.has_metal:
            albedo = albedo + self.metal_share * (self.metal.weight * self.metal.normal)
        if self.has_opaque or self.has_translucent:
            below = (1.0 - p.transmission_weight) * self.diffuse_albedo()
            if self.has_translucent:
                below = below + p.transmission_weight * transmission.tint(p)
            albedo = albedo + self.dielectric_share * (p.specular_color * mirror + (1.0 - mirror) * below)
        k_s = self.coat_reflectance(self.wi.z)
        return select(self.inside, 1.0, coat.darkening(p, self.coat_interface, k_s, albedo, mirror))

    def diffuse_albedo(self) -> Expr:
        """Albedo of the opaque base below its interface (of a thin wall, both sides together)."""
        p = self.p
        value = p.base_weight * p.base_color
        return value + p.subsurface_weight * (p.subsurface_color - value) if self.has_subsurface else value

