"""glTF 2.0 materials as OpenPBR: metallic-roughness and the KHR_materials extensions. docs/materials.md has the table."""

from __future__ import annotations

import numpy as np

from ..scene import Texture
from . import openpbr
from .gltf_document import Document
from .openpbr import FrameMap, Imported

READ = {
    f"KHR_materials_{name}"
    for name in (
        "clearcoat", "transmission", "ior", "specular", "sheen", "iridescence", "emissive_strength", "anisotropy",
        "volume", "dispersion", "diffuse_transmission",
    )
}  # fmt: skip


def surfaces(document: Document) -> list[Imported]:
    """The materials of a document, in its order; ids are their names, not yet made different."""
    out = []
    for i, material in enumerate(document.json.get("materials", [])):
        out.append(_Reader(document, material).surface(str(material.get("name") or f"material_{i}")))
    return out


class _Reader:
    """One material: ``values`` by OpenPBR's names, ``notes`` of what was dropped."""

    def __init__(self, document: Document, material: dict):
        self.document, self.material = document, material
        self.values: dict = {}
        self.notes: list[str] = []
        self.extensions = material.get("extensions", {})

    def surface(self, id: str) -> Imported:
        if "occlusionTexture" in self.material:
            self.drop("occlusionTexture", "shadows are traced")
        for name in self.extensions:
            if name not in READ:
                self.drop(name, "OpenPBR has nothing for it, or it is not read")
        self.base()
        self.frame("geometry_normal", self.material.get("normalTexture"), "normalTexture", 3)
        for name in ("ior", "specular", "anisotropy", "clearcoat", "sheen", "iridescence"):
            self.each(name, getattr(self, name))
        self.each("transmission", self.transmission)
        self.each("diffuse_transmission", self.diffuse_transmission)
        if "KHR_materials_transmission" not in self.extensions:
            for name in ("volume", "dispersion"):
                self.each(name, lambda x, name=name: self.drop(f"KHR_materials_{name}", "the material does not transmit"))
        self.emission()
        # Radiance is 1 : 1 with emissiveFactor times its strength, as viewers of glTF show it.
        return openpbr.build(id, self.values, self.notes, nits_per_unit=1.0)

    def each(self, name: str, read) -> None:
        extension = self.extensions.get(f"KHR_materials_{name}")
        if extension is not None:
            read(extension)

    def drop(self, field: str, why: str) -> None:
        self.notes.append(f"{field}: dropped; {why}")

    # -- the parts -----------------------------------------------------------------------------------------

    def base(self) -> None:
        v, pbr = self.values, self.material.get("pbrMetallicRoughness", {})
        factor = np.asarray(pbr.get("baseColorFactor", [1, 1, 1, 1]), np.float64)
        v["base_color"] = self.colour(factor[:3], pbr.get("baseColorTexture"), "baseColorTexture")
        metallic, roughness = float(pbr.get("metallicFactor", 1.0)), float(pbr.get("roughnessFactor", 1.0))
        both = pbr.get("metallicRoughnessTexture")
        v["base_metalness"] = self.number(metallic, both, 2, "metallicRoughnessTexture")
        v["specular_roughness"] = self.number(roughness, both, 1, "metallicRoughnessTexture")
        mode = self.material.get("alphaMode", "OPAQUE")
        if mode == "OPAQUE":
            return
        alpha = self.number(float(factor[3]), pbr.get("baseColorTexture"), 3, "baseColorTexture")
        if mode == "MASK":
            cutoff = float(self.material.get("alphaCutoff", 0.5))
            if isinstance(alpha, Texture):
                alpha.pixels = (alpha.pixels >= cutoff).astype(np.float32)
            else:
                alpha = float(alpha >= cutoff)
        v["geometry_opacity"] = alpha

    def ior(self, x: dict) -> None:
        ior = float(x.get("ior", 1.5))
        if ior < 1.0:
            self.drop("KHR_materials_ior.ior", f"{ior:g} is no index of refraction")
        else:
            self.values["specular_ior"] = ior

    def specular(self, x: dict) -> None:
        v = self.values
        v["specular_weight"] = self.number(float(x.get("specularFactor", 1)), x.get("specularTexture"), 3, "specularTexture")
        color = np.asarray(x.get("specularColorFactor", [1, 1, 1]), np.float64)
        if "specularColorTexture" not in x and color.max() > 1:  # what exceeds 1 goes over into the weight
            if not isinstance(v["specular_weight"], Texture):
                v["specular_weight"] *= float(color.max())
                color = color / color.max()
        v["specular_color"] = self.colour(color, x.get("specularColorTexture"), "specularColorTexture")
        tinted = isinstance(v["specular_color"], Texture) or (np.asarray(v["specular_color"]) < 1).any()
        if tinted and v["base_metalness"] == 1.0:
            v.pop("specular_color")
            self.drop("specularColorFactor", "a glTF metal has no tint at its edge")
        elif tinted:
            self.notes.append("specularColorFactor: tints the edge too, where glTF's reflection turns white")

    def anisotropy(self, x: dict) -> None:
        """alpha_t = lerp(alpha, 1, strength^2), alpha_b = alpha, in OpenPBR's terms."""
        v, strength = self.values, float(x.get("anisotropyStrength", 0.0))
        if strength == 0.0:
            return
        angle = float(x.get("anisotropyRotation", 0.0))
        if "anisotropyTexture" in x:
            self.frame("geometry_tangent", x["anisotropyTexture"], "anisotropyTexture", 2, angle)
            self.notes.append("anisotropyTexture: its strength, the third channel, is dropped; its directions stay")
        elif angle != 0.0:
            v["geometry_tangent"] = np.array([np.cos(angle), np.sin(angle), 0.0])
        if isinstance(v["specular_roughness"], Texture):
            self.drop("anisotropyStrength", "roughness is a texture")
            return
        b = v["specular_roughness"] ** 2
        t = b + (1.0 - b) * strength**2
        v["specular_roughness"] = float(((t * t + b * b) / 2) ** 0.25)
        v["specular_roughness_anisotropy"] = float(1.0 - b / t)

    def frame(self, name: str, info: dict | None, field: str, channels: int, angle: float = 0.0) -> None:
        texture = self.texture(info, field, srgb=False)
        if texture is None:
            return
        if texture.pixels.shape[2] < channels:
            self.drop(field, f"the image has fewer than {channels} channels")
            return
        texture.pixels = texture.pixels[:, :, :channels]
        self.values[name] = FrameMap(texture, float(info.get("scale", 1.0)), angle)

    def clearcoat(self, x: dict) -> None:
        v = self.values
        v["coat_weight"] = self.number(float(x.get("clearcoatFactor", 0)), x.get("clearcoatTexture"), 0, "clearcoatTexture")
        rough = float(x.get("clearcoatRoughnessFactor", 0))
        v["coat_roughness"] = self.number(rough, x.get("clearcoatRoughnessTexture"), 1, "clearcoatRoughnessTexture")
        v["coat_ior"], v["coat_darkening"] = 1.5, 0.0
        if "clearcoatNormalTexture" in x:
            self.drop("clearcoatNormalTexture", "the coat has the base's frame")

    def sheen(self, x: dict) -> None:
        """The weight is the brightest channel of the colour: the rest of the light reaches the base."""
        v, color = self.values, np.asarray(x.get("sheenColorFactor", [0, 0, 0]), np.float64)
        if not color.any():
            return
        v["fuzz_weight"] = float(min(color.max(), 1.0))
        v["fuzz_color"] = self.colour(color / color.max(), x.get("sheenColorTexture"), "sheenColorTexture")
        rough = float(x.get("sheenRoughnessFactor", 0))
        v["fuzz_roughness"] = self.number(rough, x.get("sheenRoughnessTexture"), 3, "sheenRoughnessTexture")
        self.notes.append("sheenColorFactor: becomes fuzz, a lobe of another shape")

    def iridescence(self, x: dict) -> None:
        v = self.values
        weight = float(x.get("iridescenceFactor", 0))
        v["thin_film_weight"] = self.number(weight, x.get("iridescenceTexture"), 0, "iridescenceTexture")
        v["thin_film_ior"] = float(x.get("iridescenceIor", 1.3))
        low, high = (float(x.get(f"iridescenceThickness{k}imum", d)) / 1000 for k, d in (("Min", 100), ("Max", 400)))
        thickness = self.number(1.0, x.get("iridescenceThicknessTexture"), 1, "iridescenceThicknessTexture")
        if isinstance(thickness, Texture):
            thickness.pixels = low + (high - low) * thickness.pixels
            v["thin_film_thickness"] = thickness
        else:
            v["thin_film_thickness"] = high

    def transmission(self, x: dict) -> None:
        """glTF's volume has the interior's colour, else baseColor tints each crossing; without a volume a sheet."""
        v = self.values
        weight = float(x.get("transmissionFactor", 0))
        v["transmission_weight"] = self.number(weight, x.get("transmissionTexture"), 0, "transmissionTexture")
        if v["transmission_weight"] == 0.0:
            return
        v["transmission_color"] = v["base_color"]
        volume = self.extensions.get("KHR_materials_volume", {})
        if "thicknessTexture" in volume:
            self.drop("thicknessTexture", "light is traced through the mesh itself")
        if float(volume.get("thicknessFactor", 0.0)) == 0.0:
            v["geometry_thin_walled"] = 1.0
        elif "attenuationDistance" in volume and "attenuationColor" in volume:
            if isinstance(v["base_color"], Texture) or np.min(v["base_color"]) < 1.0:
                self.drop("baseColorFactor", "of what is transmitted: OpenPBR has one colour, that of the volume")
            v["transmission_color"] = np.asarray(volume["attenuationColor"], np.float64)
            v["transmission_depth"] = float(volume["attenuationDistance"])
        dispersion = float(self.extensions.get("KHR_materials_dispersion", {}).get("dispersion", 0.0))
        if dispersion > 0.0:  # 20 / Abbe number
            v["transmission_dispersion_scale"] = min(dispersion, 1.0)
            v["transmission_dispersion_abbe_number"] = 20.0 / max(dispersion, 1.0)

    def diffuse_transmission(self, x: dict) -> None:
        v, weight = self.values, float(x.get("diffuseTransmissionFactor", 0))
        texture = x.get("diffuseTransmissionTexture")
        v["subsurface_weight"] = self.number(weight, texture, 3, "diffuseTransmissionTexture")
        color = np.asarray(x.get("diffuseTransmissionColorFactor", [1, 1, 1]), np.float64)
        texture = x.get("diffuseTransmissionColorTexture")
        v["subsurface_color"] = self.colour(color, texture, "diffuseTransmissionColorTexture")
        v["subsurface_scatter_anisotropy"] = 1.0  # all of it leaves on the other side
        v["geometry_thin_walled"] = 1.0

    def emission(self) -> None:
        factor = np.asarray(self.material.get("emissiveFactor", [0, 0, 0]), np.float64)
        if not factor.any():
            return
        if "emissiveTexture" in self.material:
            self.drop("emissiveTexture", "with all emission: a surface cannot glow by a texture yet")
            return
        strength = self.extensions.get("KHR_materials_emissive_strength", {}).get("emissiveStrength", 1.0)
        self.values["emission_color"], self.values["emission_luminance"] = factor, float(strength)

    # -- factors and textures --------------------------------------------------------------------------------

    def number(self, factor: float, info: dict | None, channel: int, name: str):
        """factor times a channel of a texture."""
        texture = self.texture(info, name, srgb=False)
        if texture is None or texture.pixels.shape[2] <= channel:
            return factor
        texture.pixels = np.clip(factor * texture.pixels[:, :, [channel]], 0, 1).astype(np.float32)
        # One value everywhere is a number, which can switch a lobe off.
        return texture if np.ptp(texture.pixels) > 0 else float(texture.pixels.flat[0])

    def colour(self, factor: np.ndarray, info: dict | None, name: str):
        """factor times a texture; three numbers where there is none."""
        texture = self.texture(info, name, srgb=True)
        if texture is None:
            return factor
        pixels = texture.pixels[:, :, :3] if texture.pixels.shape[2] >= 3 else texture.pixels[:, :, :1]
        texture.pixels = np.clip(factor * pixels, 0, 1).astype(np.float32)
        return texture

    def texture(self, info: dict | None, name: str, srgb: bool) -> Texture | None:
        if info is None:
            return None
        extension = info.get("extensions", {}).get("KHR_texture_transform", {})
        if extension.get("texCoord", info.get("texCoord", 0)) != 0:
            self.drop(name, "only the first set of texture coordinates is read")
            return None
        try:
            pixels, wrap, filter_ = self.document.texture(info, srgb)
        except ValueError as error:
            self.drop(name, str(error))
            return None
        return Texture(pixels, filter_, wrap, _to_uv(extension), name)


def _to_uv(x: dict) -> np.ndarray:
    """KHR_texture_transform of v downwards, for v upwards."""
    (tx, ty), (sx, sy) = x.get("offset", (0, 0)), x.get("scale", (1, 1))
    a = float(x.get("rotation", 0.0))
    c, s = np.cos(a), np.sin(a)
    move, turn = np.array([[1, 0, tx], [0, 1, ty], [0, 0, 1.0]]), np.array([[c, s, 0], [-s, c, 0], [0, 0, 1.0]])
    flip = np.array([[1.0, 0, 0], [0, -1, 1], [0, 0, 1]])
    return flip @ move @ turn @ np.diag([sx, sy, 1.0]) @ flip
