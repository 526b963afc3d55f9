"""OpenPBR Surface as files give it: from values under the specification's names to a Material, and a light's radiance.

Importers (MaterialX, glTF, Mitsuba's principled) collect values and what they had to leave out; this is where the
parts of OpenPBR that are not the BSDF's go: emission becomes an area light, colours become spectra.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from ..scene import Light, Material, Shape, Spectrum, Texture, Value, rgb

# nits (cd/m2) of radiance 1, that is of a film of luminance 1: about an overcast sky. Radiance has no unit of its
# own here; a scene kept strictly in W m-2 sr-1 nm-1 has 683 lm/W x 106.857 nm = 72,983 nits.
NITS = 1000.0

COLOURS = (
    "base_color", "specular_color", "transmission_color", "transmission_scatter", "subsurface_color",
    "subsurface_radius_scale", "coat_color", "fuzz_color",
)  # fmt: skip
NUMBERS = (
    "base_weight", "base_metalness", "base_diffuse_roughness", "specular_weight", "specular_roughness",
    "specular_roughness_anisotropy", "specular_ior", "transmission_weight", "transmission_depth",
    "transmission_scatter_anisotropy", "transmission_dispersion_scale", "transmission_dispersion_abbe_number",
    "subsurface_weight", "subsurface_radius", "subsurface_scatter_anisotropy", "coat_weight", "coat_roughness",
    "coat_roughness_anisotropy", "coat_ior", "coat_darkening", "fuzz_weight", "fuzz_roughness", "thin_film_weight",
    "thin_film_thickness", "thin_film_ior", "geometry_opacity",
)  # fmt: skip
FLAGS = ("geometry_thin_walled",)
EMISSION = ("emission_luminance", "emission_color")
FRAMES = ("geometry_normal", "geometry_tangent", "geometry_coat_normal", "geometry_coat_tangent")

# The specification's defaults where the BSDF's differ: a spectrum's default is one number.
DEFAULTS = {"subsurface_radius_scale": (1.0, 0.5, 0.25)}


COMPONENTS = tuple(f"geometry_normal_{k}" for k in "xyz") + tuple(f"geometry_tangent_{k}" for k in "xy")


@dataclass
class FrameMap:
    """A picture of vectors over the surface's own frame: of normals, or of the anisotropy's directions.

    texture: (h, w, 3 or 2) of 0 to 1, raw; a channel c means 2 c - 1. scale: factor on what leans off the normal.
    angle: by which a direction is turned on, from u towards v, in radians.
    """

    texture: Texture
    scale: float = 1.0
    angle: float = 0.0


def frame_values(name: str, value) -> dict[str, Value]:
    """``geometry_normal`` or ``geometry_tangent`` as the parameters of its components.

    value: a FrameMap, or three numbers over the surface's own frame.
    """
    if not isinstance(value, FrameMap):
        v = np.asarray(value, np.float64)
        v = v / max(1.0, float(np.abs(v).max()))
        return {f"{name}_{k}": float(x) for k, x in zip("xyz" if name == "geometry_normal" else "xy", v)}
    v = 2.0 * np.asarray(value.texture.pixels, np.float64) - 1.0
    if name == "geometry_tangent":
        c, s = np.cos(value.angle), np.sin(value.angle)
        parts = [c * v[:, :, 0] - s * v[:, :, 1], s * v[:, :, 0] + c * v[:, :, 1]]
    else:
        # A normal's length is free, so that a scale above 1 need not leave the range.
        parts = [x / max(1.0, value.scale) for x in (value.scale * v[:, :, 0], value.scale * v[:, :, 1], v[:, :, 2])]
    return {
        f"{name}_{k}": replace(value.texture, pixels=np.clip(x, -1, 1)[:, :, None].astype(np.float32))
        for k, x in zip("xyz", parts)
    }


@dataclass
class Imported:
    """A material of a file.

    material: of kind "openpbr". radiance: of the area light that a shape of this material has, None for no light.
    notes: one line for each field that was dropped or changed, and why.
    """

    material: Material
    radiance: Spectrum | None = None
    notes: list[str] = field(default_factory=list)

    def light(self, shape: Shape) -> None:
        """Make the shape of this material, and shine if the material does."""
        shape.material = self.material.id
        shape.light = None if self.radiance is None else Light(shape.id, "area", {"radiance": self.radiance})


def build(id: str, values: dict[str, Value | tuple], notes: list[str], nits_per_unit: float = NITS) -> Imported:
    """The material of these values.

    values: by the specification's names; a colour is three numbers, linear sRGB, or a Texture; a normal or tangent as
    ``frame_values`` takes it.
    notes: what the importer dropped; more are added here.
    """
    values, notes = dict(values), list(notes)
    luminance, colour = values.pop("emission_luminance", 0.0), values.pop("emission_color", (1.0, 1.0, 1.0))
    for name in FRAMES:
        value = values.pop(name, None)
        if value is not None and "coat" in name:
            notes.append(f"{name}: dropped; the coat has the base's frame")
        elif value is not None:
            values |= frame_values(name, value)
    _fit_radii(values)
    out = {name: _value(name, value, notes) for name, value in values.items()}
    radiance = _radiance(luminance, colour, out, nits_per_unit, notes)
    notes += _both_insides(out)
    return Imported(Material(id, "openpbr", out), radiance, notes)


def _value(name: str, value, notes: list[str]) -> Value:
    if name not in COLOURS or isinstance(value, Spectrum):
        return value
    if isinstance(value, Texture):
        low, high = float(value.pixels.min()), float(value.pixels.max())
        if low < 0.0 or high > 1.0:
            value.pixels = np.clip(value.pixels, 0.0, 1.0)
            notes.append(f"{name}: texels from {low:.3g} to {high:.3g} clipped to 0 to 1")
        return value
    colour = np.asarray(value, np.float64)
    inside = np.clip(colour, 0.0, 1.0)
    if np.abs(inside - colour).max() > 5e-3:
        shown = ", ".join(f"{x:.3g}" for x in colour)
        notes.append(f"{name}: linear sRGB ({shown}) clipped to 0 to 1")
    return rgb(*inside)


def _fit_radii(values: dict) -> None:
    """A radius is subsurface_radius times its scale: what of the scale exceeds 1 goes over into the other."""
    scale, radius = values.get("subsurface_radius_scale"), values.get("subsurface_radius", 1.0)
    if scale is None or isinstance(scale, (Spectrum, Texture)) or isinstance(radius, Texture) or max(scale) <= 1.0:
        return
    values["subsurface_radius_scale"] = np.asarray(scale) / max(scale)
    values["subsurface_radius"] = float(radius * max(scale))


def _radiance(luminance, colour, values: dict, nits_per_unit: float, notes: list[str]) -> Spectrum | None:
    """emission_luminance is that of a white emission_color: its spectrum is D65's shape times the colour's."""
    for name, value in (("emission_luminance", luminance), ("emission_color", colour)):
        if isinstance(value, Texture):
            notes.append(f"{name}: dropped, with all emission; a surface cannot glow by a texture yet")
            return None
    radiance = np.maximum(np.asarray(colour, np.float64), 0.0) * (float(luminance) / nits_per_unit)
    if not radiance.any():
        return None
    for name in ("coat_weight", "fuzz_weight"):
        if values.get(name, 0.0) != 0.0:
            notes.append(f"emission_color: shines from above the {name[:4]}, which does not tint it")
    return rgb(*radiance, illuminant=True)


def _both_insides(values: dict) -> list[str]:
    """What a solid that transmits and scatters below its surface does not show."""
    thin = values.get("geometry_thin_walled", 0.0)
    solid = not (isinstance(thin, (int, float)) and thin > 0.5)
    if solid and values.get("subsurface_weight", 0.0) != 0.0 and values.get("transmission_weight", 0.0) != 0.0:
        return ["subsurface_radius: kept, not rendered; beside transmission subsurface scattering is its diffuse limit"]
    return []
