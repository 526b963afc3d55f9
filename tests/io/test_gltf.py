"""glTF materials as OpenPBR: factors, textures, every extension that is read, and what is said of the others."""

import base64
import json

import numpy as np
import pytest

import irys_ti as it
from irys_ti import io
from irys_ti.io.gltf import READ, surfaces
from irys_ti.io.gltf_document import Document
from irys_ti.io.validate import validate
from irys_ti.kernels.bsdf.openpbr_params import PARAMS

TRIANGLE = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0]], np.float32).tobytes() + np.array([[0, 1], [1, 1], [0, 0]], np.float32).tobytes()


def write(folder, materials, images=(), **more):
    """A .gltf file with a triangle for each material."""
    document = {
        "asset": {"version": "2.0"},
        "scene": 0,
        "scenes": [{"nodes": list(range(len(materials)))}],
        "nodes": [{"mesh": i} for i in range(len(materials))],
        "meshes": [
            {"primitives": [{"attributes": {"POSITION": 0, "TEXCOORD_0": 1}, "material": i}]} for i in range(len(materials))
        ],
        "materials": materials,
        "accessors": [
            {"bufferView": 0, "componentType": 5126, "count": 3, "type": "VEC3", "min": [0, 0, 0], "max": [1, 1, 0]},
            {"bufferView": 1, "componentType": 5126, "count": 3, "type": "VEC2"},
        ],
        "bufferViews": [{"buffer": 0, "byteLength": 36}, {"buffer": 0, "byteOffset": 36, "byteLength": 24}],
        "buffers": [{"byteLength": 60, "uri": "data:application/octet-stream;base64," + base64.b64encode(TRIANGLE).decode()}],
        "images": [{"uri": name} for name in images],
        "textures": [{"source": i, "sampler": 0} for i in range(len(images))],
        "samplers": [{"wrapS": 33648, "wrapT": 33648, "magFilter": 9728}],
        **more,
    }  # fmt: skip
    path = folder / "m.gltf"
    path.write_text(json.dumps(document))
    return path


def surface(folder, material, images=()):
    (found,) = surfaces(Document(write(folder, [material], images)))
    assert set(found.material.values) <= set(PARAMS)
    return found


def extension(folder, name, inside, base=None):
    pbr = {"metallicFactor": 0, "roughnessFactor": 0.4, "baseColorFactor": [0.5, 0.5, 0.5, 1], **(base or {})}
    return surface(folder, {"pbrMetallicRoughness": pbr, "extensions": {f"KHR_materials_{name}": inside}})


def test_factors(tmp_path):
    pbr = {"baseColorFactor": [0.1, 0.2, 0.3, 0.4], "metallicFactor": 0.25, "roughnessFactor": 0.75}
    v = surface(tmp_path, {"pbrMetallicRoughness": pbr, "alphaMode": "BLEND"}).material.values
    np.testing.assert_allclose(v["base_color"].values, [0.1, 0.2, 0.3])
    assert (v["base_metalness"], v["specular_roughness"], v["geometry_opacity"]) == (0.25, 0.75, 0.4)
    assert "geometry_opacity" not in surface(tmp_path, {"pbrMetallicRoughness": pbr}).material.values
    v = surface(tmp_path, {"pbrMetallicRoughness": pbr, "alphaMode": "MASK"}).material.values
    assert v["geometry_opacity"] == 0.0  # 0.4 is under the cutoff
    v = surface(tmp_path, {}).material.values
    assert (v["base_metalness"], v["specular_roughness"]) == (1.0, 1.0)  # glTF's defaults


def test_textures(tmp_path):
    """Base colour is sRGB times the factor; roughness is green and metalness blue, both raw; the transform is v-down."""
    pixels = np.zeros((2, 2, 3), np.float32)
    pixels[0, 0], pixels[1, 1] = (0.5, 0.25, 0.75), (0.25, 1.0, 0.5)
    it.write_image(tmp_path / "t.png", pixels)
    raw = it.read_image(tmp_path / "t.png", raw=True)
    info = {"index": 0, "extensions": {"KHR_texture_transform": {"offset": [0.25, 0], "scale": [2, 4]}}}
    pbr = {"baseColorTexture": info, "baseColorFactor": [1, 0.5, 1, 1], "metallicRoughnessTexture": {"index": 0}, "roughnessFactor": 0.5}
    found = surface(tmp_path, {"pbrMetallicRoughness": pbr}, ["t.png"])
    assert not found.notes
    v = found.material.values
    np.testing.assert_allclose(v["base_color"].pixels, pixels * [1, 0.5, 1], atol=0.005)
    np.testing.assert_allclose(v["specular_roughness"].pixels[:, :, 0], 0.5 * raw[:, :, 1], atol=1e-6)
    np.testing.assert_allclose(v["base_metalness"].pixels[:, :, 0], raw[:, :, 2], atol=1e-6)
    assert v["base_color"].wrap == "mirror" and v["base_color"].filter == "nearest"
    u, w = 0.3, 0.9  # glTF's own coordinates, v downwards
    out = v["base_color"].to_uv @ [u, 1 - w, 1]
    np.testing.assert_allclose([out[0], 1 - out[1]], [2 * u + 0.25, 4 * w])


def test_a_constant_texture_is_a_number(tmp_path):
    it.write_image(tmp_path / "t.png", np.zeros((2, 2, 3), np.float32))
    v = surface(tmp_path, {"pbrMetallicRoughness": {"metallicRoughnessTexture": {"index": 0}}}, ["t.png"]).material.values
    assert v["base_metalness"] == 0.0


CASES = {
    "clearcoat": (
        {"clearcoatFactor": 0.8, "clearcoatRoughnessFactor": 0.1},
        {"coat_weight": 0.8, "coat_roughness": 0.1, "coat_ior": 1.5, "coat_darkening": 0.0},
    ),
    "transmission": ({"transmissionFactor": 0.9}, {"transmission_weight": 0.9, "geometry_thin_walled": 1.0}),
    "ior": ({"ior": 1.7}, {"specular_ior": 1.7}),
    "specular": ({"specularFactor": 0.6, "specularColorFactor": [2, 1, 1]}, {"specular_weight": 1.2}),
    "sheen": ({"sheenColorFactor": [0.4, 0.2, 0], "sheenRoughnessFactor": 0.3}, {"fuzz_weight": 0.4, "fuzz_roughness": 0.3}),
    "iridescence": (
        {"iridescenceFactor": 0.7, "iridescenceIor": 1.8, "iridescenceThicknessMaximum": 550},
        {"thin_film_weight": 0.7, "thin_film_ior": 1.8, "thin_film_thickness": 0.55},
    ),
    "diffuse_transmission": (
        {"diffuseTransmissionFactor": 0.3},
        {"subsurface_weight": 0.3, "subsurface_scatter_anisotropy": 1.0, "geometry_thin_walled": 1.0},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_extensions(tmp_path, name):
    inside, wanted = CASES[name]
    v = extension(tmp_path, name, inside).material.values
    for key, value in wanted.items():
        assert v[key] == pytest.approx(value), key


def test_anisotropy_keeps_both_alphas(tmp_path):
    """alpha_t = lerp(alpha, 1, strength^2), alpha_b = alpha, through OpenPBR's own formulas."""
    v = extension(tmp_path, "anisotropy", {"anisotropyStrength": 0.6}).material.values
    b = 1 - v["specular_roughness_anisotropy"]
    alpha_t = v["specular_roughness"] ** 2 * np.sqrt(2 / (1 + b * b))
    np.testing.assert_allclose([alpha_t, alpha_t * b], [0.16 + 0.84 * 0.36, 0.16])


def test_volume_and_dispersion(tmp_path):
    extensions = {
        "KHR_materials_transmission": {"transmissionFactor": 1},
        "KHR_materials_volume": {"thicknessFactor": 1, "attenuationDistance": 2.0, "attenuationColor": [0.2, 0.5, 0.9]},
        "KHR_materials_dispersion": {"dispersion": 0.4},
    }
    v = surface(tmp_path, {"extensions": extensions}).material.values
    np.testing.assert_allclose(v["transmission_color"].values, [0.2, 0.5, 0.9])
    assert v["transmission_depth"] == 2.0 and "geometry_thin_walled" not in v
    abbe = v["transmission_dispersion_abbe_number"] / v["transmission_dispersion_scale"]  # as OpenPBR combines them
    assert abbe == pytest.approx(20 / 0.4)


def test_emission(tmp_path):
    material = {"emissiveFactor": [1, 0.5, 0], "extensions": {"KHR_materials_emissive_strength": {"emissiveStrength": 5}}}
    np.testing.assert_allclose(surface(tmp_path, material).radiance.values, [5, 2.5, 0])
    scene = io.load(write(tmp_path, [material]))
    assert scene.shapes[0].light.id == scene.shapes[0].id


def test_what_is_dropped_is_named(tmp_path):
    it.write_image(tmp_path / "t.png", np.zeros((1, 1, 3), np.float32))
    material = {
        "name": "odd",
        "emissiveFactor": [1, 1, 1],
        "emissiveTexture": {"index": 0},
        "pbrMetallicRoughness": {"baseColorTexture": {"index": 0, "texCoord": 1}},
        "extensions": {
            "KHR_materials_unlit": {},
                        "KHR_materials_clearcoat": {"clearcoatNormalTexture": {"index": 0}},
            "KHR_materials_volume": {"thicknessFactor": 1},
        },
    }
    scene = io.load(write(tmp_path, [material], ["t.png"]))
    notes = "\n".join(scene.notes)
    for field in (
        "emissiveTexture", "baseColorTexture", "KHR_materials_unlit", "clearcoatNormalTexture", "KHR_materials_volume",
    ):  # fmt: skip
        assert f"odd: {field}: dropped" in notes, notes


def test_names_may_be_missing_or_the_same(tmp_path):
    grey = {"pbrMetallicRoughness": {"metallicFactor": 0}}
    scene = io.load(write(tmp_path, [{"name": "a.b"}, {"name": "a.b", **grey}, grey]))
    validate(scene)
    found = {m.id: m.values["base_metalness"] for m in scene.materials}
    assert set(found) == {"a_b", "a_b_2", "material_2"} and found["material_2"] == 0.0
    assert found["a_b"] + found["a_b_2"] == 1.0  # two materials of one name stay two
    assert sorted(s.material for s in scene.shapes) == sorted(found)


@pytest.mark.parametrize("name", ["low-poly-tree.glb", "SpecularTest.glb", "AttenuationTest.glb", "ClearCoatTest.glb"])
def test_khronos_scenes(data, name):
    """Every extension of these files arrives, and every shape has the material that the file gives it."""
    path = data / "gltf" / name
    scene, document = io.load(path), Document(path)
    used = {e for m in document.json["materials"] for e in m.get("extensions", {})}
    assert used <= READ
    by_id = {m.id: m for m in scene.materials}
    switches = {"clearcoat": "coat_weight", "specular": "specular_weight", "transmission": "transmission_weight"}
    for extension_name in used & {f"KHR_materials_{k}" for k in switches}:
        key = switches[extension_name.removeprefix("KHR_materials_")]
        assert any(key in m.values for m in by_id.values())
    assert {s.material for s in scene.shapes} == set(by_id)
