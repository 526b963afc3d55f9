"""OpenPBR Surface 1.1: the parameters, by the specification's names, ranges and defaults.

Where the specification's range is open or has no end, the closed one here is wide enough for every use:
``NORM`` holds the range that it calls typically useful. Colours are spectra here. ``emission_luminance`` and
``emission_color`` belong to another part, an area light; ``geometry_normal`` and ``geometry_tangent`` come by their
components (``openpbr_frame``); a normal and a tangent of the coat's own are left out.
"""

from __future__ import annotations

from irys_ti.graph import Param
from irys_ti.kernels.bsdf.openpbr_frame import FRAME

VOLUME = "of the medium inside"


def _weight(default, doc):
    return Param("scalar", default, 0.0, 1.0, doc=doc)


def _colour(default, doc):
    return Param("reflectance", default, 0.0, 1.0, doc=doc)


def _ior(default, doc):
    return Param("scalar", default, 0.1, 10.0, doc=doc)


def _volume(kind, default, low, high, doc):
    return Param(kind, default, low, high, doc=f"{doc}, {VOLUME}")


PARAMS = {
    "base_weight": _weight(1.0, "factor on base_color"),
    "base_color": _colour(0.8, "diffuse albedo; of a metal, reflectance at normal incidence"),
    "base_metalness": _weight(0.0, "share of metal in the base"),
    "base_diffuse_roughness": _weight(0.0, "roughness of the diffuse lobe (EON)"),
    "specular_weight": Param("scalar", 1.0, 0.0, 100.0, doc="factor on the reflectance at normal incidence"),
    "specular_color": _colour(1.0, "tint of the reflection; of a metal, tint near the edge (F82)"),
    "specular_roughness": _weight(0.3, "its square is GGX alpha"),
    "specular_roughness_anisotropy": _weight(0.0, "0: round highlights; 1: stretched along the tangent"),
    "specular_ior": _ior(1.5, "index of refraction of the base"),
    "transmission_weight": _weight(0.0, "share of the dielectric base that is translucent"),
    "transmission_color": _colour(1.0, "tint of what is transmitted"),
    "transmission_depth": _volume("scalar", 0.0, 0.0, 1e6, "distance at which transmission_color is reached"),
    "transmission_scatter": _volume("reflectance", 0.0, 0.0, 1.0, "scattering, per transmission_depth"),
    "transmission_scatter_anisotropy": _volume("scalar", 0.0, -1.0, 1.0, "mean cosine of that scattering"),
    "transmission_dispersion_scale": _weight(0.0, "amount of dispersion"),
    "transmission_dispersion_abbe_number": Param("scalar", 20.0, 1.0, 1e4, doc="Abbe number at dispersion_scale 1"),
    "subsurface_weight": _weight(0.0, "share of subsurface scattering in the opaque base"),
    "subsurface_color": _colour(0.8, "albedo of subsurface scattering"),
    "subsurface_radius": _volume("scalar", 1.0, 0.0, 1e6, "mean free path"),
    "subsurface_radius_scale": _volume("reflectance", 1.0, 0.0, 1.0, "factor on subsurface_radius by wavelength"),
    "subsurface_scatter_anisotropy": Param(
        "scalar", 0.0, -1.0, 1.0, doc="of a thin wall: -1 all reflected, 1 all transmitted; else of the medium"
    ),
    "coat_weight": _weight(0.0, "coverage of the coat"),
    "coat_color": _colour(1.0, "tint by the coat, in and out at normal incidence"),
    "coat_roughness": _weight(0.0, "its square is GGX alpha of the coat"),
    "coat_roughness_anisotropy": _weight(0.0, "as specular_roughness_anisotropy, of the coat"),
    "coat_ior": _ior(1.6, "index of refraction of the coat"),
    "coat_darkening": _weight(1.0, "1: the base darkens by light that the coat sends back; 0: it does not"),
    "fuzz_weight": _weight(0.0, "coverage of the fuzz"),
    "fuzz_color": _colour(1.0, "albedo of the fuzz"),
    "fuzz_roughness": _weight(0.5, "0: fibres along the normal; 1: dust"),
    "thin_film_weight": _weight(0.0, "coverage of the thin film"),
    "thin_film_thickness": Param("scalar", 0.5, 0.0, 100.0, doc="thickness of the film in micrometres"),
    "thin_film_ior": _ior(1.4, "index of refraction of the film"),
    "geometry_opacity": _weight(1.0, "presence of the surface; the rest of the light goes straight through"),
    "geometry_thin_walled": Param("flag", 0.0, 0.0, 1.0, doc="1: a sheet without an inside"),
    **FRAME,
}  # fmt: skip

# Ranges in which the specification expects values, where they are narrower than PARAMS.
NORM = {
    "specular_weight": (0.0, 1.0),
    "specular_ior": (1.0, 3.0),
    "transmission_depth": (0.0, 1.0),
    "transmission_dispersion_abbe_number": (9.0, 91.0),
    "subsurface_radius": (0.0, 1.0),
    "coat_ior": (1.0, 3.0),
    "thin_film_thickness": (0.0, 1.0),
    "thin_film_ior": (1.0, 3.0),
    "geometry_normal_x": (-0.6, 0.6),
    "geometry_normal_y": (-0.6, 0.6),
    "geometry_normal_z": (0.5, 1.0),
    "geometry_tangent_x": (0.1, 1.0),
}
