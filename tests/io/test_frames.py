"""Normal maps and tangents from files: what a texel means, and that the picture has it the right way up."""

import base64
import json

import numpy as np
import pytest

import irys_ti as it
from irys_ti import io
from irys_ti.io.materialx import load_materials
from irys_ti.scene import Texture

FLAT = np.full((4, 4, 3), (0.5, 0.5, 1.0), np.float32)


def normal_image(tmp_path, lean=(0.8, 0.5, 0.9)):
    """A 4 x 4 map of normals, all of this texel (as 8-bit steps are)."""
    pixels = np.tile(np.round(np.array(lean) * 255) / 255, (4, 4, 1)).astype(np.float32)
    it.write_image(tmp_path / "n.exr", pixels)
    return 2 * pixels[0, 0] - 1


def components(values, name="normal", axes="xyz"):
    """The components of a frame map at its first texel."""
    parts = [values[f"geometry_{name}_{k}"] for k in axes]
    return np.array([p.pixels[0, 0, 0] if isinstance(p, Texture) else p for p in parts])


def test_materialx(tmp_path):
    want = normal_image(tmp_path)
    (tmp_path / "m.mtlx").write_text("""<materialx version="1.39">
      <image name="i" type="vector3"><input name="file" type="filename" value="n.exr"/></image>
      <normalmap name="n" type="vector3"><input name="in" type="vector3" nodename="i"/>
        <input name="scale" type="float" value="2"/></normalmap>
      <rotate3d name="t" type="vector3"><input name="amount" type="float" value="-30"/></rotate3d>
      <open_pbr_surface name="s" type="surfaceshader"><input name="geometry_normal" type="vector3" nodename="n"/>
        <input name="geometry_tangent" type="vector3" nodename="t"/></open_pbr_surface></materialx>""")
    (found,) = load_materials(tmp_path / "m.mtlx")
    got = components(found.material.values)
    np.testing.assert_allclose(got / got[2], [2 * want[0] / want[2], 2 * want[1] / want[2], 1], rtol=1e-5)
    np.testing.assert_allclose(components(found.material.values, "tangent", "xy"), [np.sqrt(0.75), 0.5], rtol=1e-6)
    assert not found.notes


def gltf(tmp_path, material):
    """A triangle in that material."""
    data = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0]], np.float32).tobytes()
    document = {
        "asset": {"version": "2.0"},
        "images": [{"uri": "n.png"}],
        "textures": [{"source": 0}],
        "materials": [material],
        "buffers": [{"byteLength": 36, "uri": "data:application/octet-stream;base64," + base64.b64encode(data).decode()}],
        "bufferViews": [{"buffer": 0, "byteLength": 36}],
        "accessors": [{"bufferView": 0, "componentType": 5126, "count": 3, "type": "VEC3", "min": [0, 0, 0], "max": [1, 1, 0]}],
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0}, "material": 0}]}],
        "nodes": [{"mesh": 0}],
        "scenes": [{"nodes": [0]}],
    }
    (tmp_path / "m.gltf").write_text(json.dumps(document))
    return io.load(tmp_path / "m.gltf")


def test_gltf(tmp_path):
    from imageio.v3 import imwrite

    imwrite(tmp_path / "n.png", np.tile(np.array([204, 128, 230], np.uint8), (4, 4, 1)))
    want = 2 * np.array([204, 128, 230]) / 255 - 1
    anisotropy = {"KHR_materials_anisotropy": {"anisotropyStrength": 0.5, "anisotropyRotation": 0.5}}
    scene = gltf(tmp_path, {"name": "m", "normalTexture": {"index": 0, "scale": 0.5}, "extensions": anisotropy})
    values = scene.materials[0].values
    np.testing.assert_allclose(components(values), want * [0.5, 0.5, 1], atol=1e-6)
    np.testing.assert_allclose(components(values, "tangent", "xy"), [np.cos(0.5), np.sin(0.5)])
    assert not [n for n in scene.notes if "dropped" in n]


MITSUBA = """<scene version="3.0.0"><integrator type="path"/><sensor type="perspective"/>
  <bsdf type="twosided" id="m"><bsdf type="{plugin}"><texture name="normalmap" type="bitmap">
    <string name="filename" value="n.exr"/><boolean name="raw" value="true"/></texture>
    <bsdf type="{inner}"/></bsdf></bsdf>
  <shape type="rectangle"><ref id="m"/></shape><emitter type="constant"/></scene>"""


@pytest.mark.parametrize("inner", ["principled", "diffuse", "plastic"])
def test_mitsuba(tmp_path, inner):
    want = normal_image(tmp_path)
    (tmp_path / "s.xml").write_text(MITSUBA.format(plugin="normalmap", inner=inner))
    scene = io.load(tmp_path / "s.xml")
    np.testing.assert_allclose(components(scene.materials[0].values), want, atol=1e-6)
    assert scene.materials[0].kind == "openpbr" and not scene.notes


@pytest.mark.parametrize("plugin,inner", [("bumpmap", "principled"), ("normalmap", "conductor")])
def test_mitsuba_drops_by_name(tmp_path, plugin, inner):
    normal_image(tmp_path)
    (tmp_path / "s.xml").write_text(MITSUBA.format(plugin=plugin, inner=inner))
    assert any(f"{plugin} is dropped" in note for note in io.load(tmp_path / "s.xml").notes)


def floor(values):
    """Brightness of a floor under one lamp, by the material's values; the lamp stands at +x, +y of the floor's uv."""
    from irys_ti.scene import Camera, Film, Integrator, Light, Material, Scene, rectangle
    from irys_ti.scene.transform import look_at, translate

    scene = Scene(
        camera=Camera(look_at([0, 0, 3], [0, 0, 0], [0, 1, 0]), fov=10, film=Film(4, 4, "box")),
        materials=[Material("m", "openpbr", {"specular_weight": 0.0, "base_color": 0.5, **values})],
        shapes=[rectangle(np.eye(4), id="floor", material="m")],
        lights=[Light("lamp", "point", {"intensity": 10.0}, translate(2, 1, 2))],
        integrator=Integrator(max_depth=2),
        file="test",
    )
    return scene


def test_a_normal_that_leans_to_the_lamp_is_brighter(f32):
    """Lambert's cosine of the turned normal: +x of the map is along u, +y along v, on a rectangle +x and +y."""
    flat = it.render(floor({}), 4).mean()
    lamp = np.array([2.0, 1.0, 2.0]) / 3.0
    for n in ([0.3, 0.0, 0.9], [0.0, 0.4, 0.9], [-0.3, 0.0, 0.9], [0.0, -0.4, 0.9]):
        values = dict(zip(("geometry_normal_x", "geometry_normal_y", "geometry_normal_z"), n))
        got = it.render(floor(values), 4).mean() / flat
        # Of a point in the middle; over the floor's width the lamp's direction changes by a little.
        assert got == pytest.approx(np.dot(n, lamp) / np.linalg.norm(n) / lamp[2], rel=0.03)


def test_gradient_of_every_texel(f32):
    """Replay against difference quotients of the whole picture, on the same random numbers: a diffuse floor."""
    rng = np.random.default_rng(0)
    maps = {
        "geometry_normal_x": Texture(rng.uniform(-0.3, 0.3, (2, 2, 1)), wrap="clamp"),
        "geometry_normal_y": Texture(rng.uniform(-0.3, 0.3, (2, 2, 1)), wrap="clamp"),
    }
    scene, weights = floor(maps), np.ones((4, 4, 3))
    weights[:2] = 3.0
    paths = [f"m.{k}" for k in maps]
    grads = it.backward(scene, weights, 64, params=paths)
    params = it.parameters(scene)
    for path in paths:
        start = params[path]
        for i in range(4):
            sides = []
            for h in (-0.02, 0.02):
                x = start.copy()
                x.flat[i] += h
                params[path] = x
                sides.append((it.render(scene, 64, 2) * weights).sum())
            params[path] = start
            quotient = (sides[1] - sides[0]) / 0.04
            assert abs(quotient) > 0.01 and grads[path].flat[i] == pytest.approx(quotient, rel=0.02)
