"""Mitsuba XML: the reference scenes, and one case for each thing that an element may say."""

from pathlib import Path

import numpy as np
import pytest

from irys_ti import io
from irys_ti.io import images
from irys_ti.io.validate import validate
from irys_ti.scene import Spectrum, Texture
from irys_ti.scene import transform as tf

SENSOR = '<sensor type="perspective"><float name="fov" value="40"/></sensor>'


@pytest.fixture
def load(tmp_path: Path):
    """Load the text of a scene's inside, with a sensor unless it has one."""

    def function(body: str, **parameters):
        sensor = "" if "<sensor" in body else SENSOR
        path = tmp_path / "scene.xml"
        path.write_text(f'<scene version="3.0.0">\n{sensor}{body}\n</scene>')
        scene = io.load(path, **parameters)
        validate(scene)
        return scene

    return function


EXPECTED = {  # shapes, materials, environment, max_depth
    "cornell": (8, ["white", "green", "red", "lampb"], None, 6),
    "gold_ball": (3, ["floor", "metal", "lampb"], [0.5, 0.4, 0.3], 6),
    "occluder": (3, ["floor", "card", "lampb"], [0.1], 3),
    "glass": (4, ["floor", "glass", "frost", "lampb"], [0.6], 8),
    "fog": (3, ["floor", "sphere_0_bsdf", "lampb"], [0.3], 64),
}


@pytest.mark.parametrize("name", EXPECTED)
def test_reference_scenes(data, name):
    shapes, materials, sky, depth = EXPECTED[name]
    scene = io.load(data / "reference" / f"{name}.xml")
    validate(scene)
    assert len(scene.shapes) == shapes and [m.id for m in scene.materials] == materials
    assert (scene.integrator.max_depth, scene.integrator.rr_depth) == (depth, 1000)
    film = scene.camera.film
    assert (film.width, film.height, film.filter, film.window) == (64, 64, "box", (0, 0, 64, 64))
    if sky is None:
        assert scene.lights == []
    else:
        (light,) = scene.lights
        np.testing.assert_array_equal(light.values["radiance"].values, sky)
    lamps = [s for s in scene.shapes if s.light is not None]
    assert len(lamps) == 1 and lamps[0].light.id == lamps[0].id and lamps[0].material == "lampb"


def test_cornell_in_detail(data):
    scene = io.load(data / "reference" / "cornell.xml")
    shapes = {s.id: s for s in scene.shapes}
    assert list(shapes) == [*(f"rectangle_{i}" for i in range(6)), "tall", "short"]
    assert [s.material for s in scene.shapes] == ["white"] * 3 + ["red", "green", "lampb", "white", "white"]
    lamp = shapes["rectangle_5"]
    np.testing.assert_allclose(lamp.vertices.min(0), [-0.25, 0.995, -0.25])
    np.testing.assert_allclose(lamp.vertices.max(0), [0.25, 0.995, 0.25])
    a, b, c = lamp.vertices[lamp.faces[0]]
    assert np.cross(b - a, c - a)[1] < 0  # it shines downwards
    np.testing.assert_array_equal(lamp.light.values["radiance"].values, [0, 8, 15.6, 18.4])
    # tall: scaled, turned by 18 degrees about y, moved.
    corner = tf.translate(-0.35, -0.4, -0.3) @ tf.rotate([0, 1, 0], 18) @ [0.3, 0.6, 0.3, 1]
    assert np.abs(shapes["tall"].vertices - corner[:3]).sum(1).min() < 1e-12
    red = {m.id: m for m in scene.materials}["red"].values["reflectance"]
    assert red.kind == "points" and len(red.values) == 16 and red.wavelengths[9] == 580 and red.values[9] == 0.19
    np.testing.assert_allclose(scene.camera.to_world[:3, 2], [0, 0, -1])
    np.testing.assert_allclose(scene.camera.to_world[:3, 3], [0, 0, 3.9])
    assert scene.camera.fov == 38 and scene.camera.fov_x() == pytest.approx(38)


def test_gold_and_glass_values(data):
    gold = {m.id: m for m in io.load(data / "reference" / "gold_ball.xml").materials}["metal"]
    assert gold.kind == "roughconductor" and gold.values["alpha"] == 0.25 and gold.values["separable"] == 1.0
    assert gold.values["eta"].kind == gold.values["k"].kind == "points"
    scene = io.load(data / "reference" / "glass.xml")
    frost = {m.id: m for m in scene.materials}["frost"]
    assert (frost.values["int_ior"], frost.values["ext_ior"], frost.values["alpha"]) == (1.5, 1.0, 0.3)
    clear = {s.id: s for s in scene.shapes}["clear"]
    np.testing.assert_array_equal(clear.center, [-0.75, 0.6, 0])
    assert clear.radius == 0.6


def test_fog_keeps_its_medium(data):
    scene = io.load(data / "reference" / "fog.xml")
    (medium,) = scene.media
    assert scene.shapes[1].interior == medium.id == "sphere_0_interior"
    assert medium.phase == "hg" and medium.values["g"] == 0.3
    np.testing.assert_array_equal(medium.values["sigma_t"].values, [1.8, 1.2])


def spectrum_of(load, text, emitter=False):
    if emitter:
        return load(f'<emitter type="constant">{text}</emitter>').lights[0].values["radiance"]
    scene = load(f'<shape type="sphere"><bsdf type="diffuse">{text}</bsdf></shape>')
    return scene.materials[0].values["reflectance"]


@pytest.mark.parametrize(
    ("text", "kind", "values"),
    [
        ('<float name="reflectance" value=".3"/>', "constant", [0.3]),
        ('<spectrum name="reflectance" value="0.3"/>', "constant", [0.3]),
        ('<rgb name="reflectance" value="0.1, 0.2 0.3"/>', "rgb", [0.1, 0.2, 0.3]),
        ('<rgb name="reflectance" value="0.2"/>', "rgb", [0.2, 0.2, 0.2]),
        ('<spectrum name="reflectance" value="400:0.1, 500:.2 600:1e-1"/>', "points", [0.1, 0.2, 0.1]),
        ('<spectrum name="reflectance" type="uniform"><float name="value" value="1"/></spectrum>', "constant", [1]),
        (
            (
                '<texture name="reflectance" type="regular"><float name="wavelength_min" value="400"/>'
                '<float name="wavelength_max" value="700"/><string name="values" value="0.1, 0.2, 0.3"/></texture>'
            ),
            "points",
            [0.1, 0.2, 0.3],
        ),
        (
            (
                '<spectrum name="reflectance" type="irregular"><string name="wavelengths" value="400, 410, 700"/>'
                '<string name="values" value="0.1, 0.2, 0.3"/></spectrum>'
            ),
            "points",
            [0.1, 0.2, 0.3],
        ),
        ("", "constant", [0.5]),
    ],
)
def test_spectra(load, text, kind, values):
    spectrum = spectrum_of(load, text)
    assert spectrum.kind == kind and not spectrum.illuminant
    np.testing.assert_allclose(spectrum.values, values)


@pytest.mark.parametrize(
    ("text", "kind", "values", "illuminant"),
    [
        ('<spectrum name="radiance" value="0.3"/>', "constant", [0.3], False),
        ('<float name="radiance" value="0.3"/>', "rgb", [0.3] * 3, True),
        ('<rgb name="radiance" value="3,2,1"/>', "rgb", [3, 2, 1], True),
        ("", "rgb", [1, 1, 1], True),
    ],
)
def test_the_colour_of_a_light_is_lit_by_d65(load, text, kind, values, illuminant):
    """As Mitsuba 3.9.1 prints these: a float or rgb becomes D65, a <spectrum> of one number stays flat."""
    spectrum = spectrum_of(load, text, emitter=True)
    assert (spectrum.kind, spectrum.illuminant) == (kind, illuminant)
    np.testing.assert_allclose(spectrum.values, values)


def test_black_body_and_d65_as_mitsuba_evaluates_them(load):
    """Mitsuba 3.9.1 at 450, 550 and 650 nm: 10801.1, 12713, 12415.3 (5000 K); 1.18193, 1.051, 0.808373 (D65, which
    it scales by 1/98.997 rather than 1/98.888)."""
    body = '<spectrum type="blackbody" name="radiance"><float name="temperature" value="5000"/></spectrum>'
    for text, expected in (
        (body, [10801.1, 12713, 12415.3]),
        ('<spectrum type="d65" name="radiance"/>', [1.18193, 1.051, 0.808373]),
    ):
        s = spectrum_of(load, text, emitter=True)
        np.testing.assert_allclose(np.interp([450, 550, 650], s.wavelengths, s.values), expected, rtol=1.3e-3)


def test_a_spectrum_from_a_file(load, tmp_path):
    (tmp_path / "s.spd").write_text("# nm value\n400 0.1\n500.5 0.2 # here\n\n700 0.3\n")
    spectrum = spectrum_of(load, '<spectrum name="reflectance" filename="s.spd"/>')
    np.testing.assert_array_equal(spectrum.wavelengths, [400, 500.5, 700])


def test_bsdfs(load):
    scene = load("""
        <bsdf type="twosided" id="a"><bsdf type="diffuse"/></bsdf>
        <bsdf type="twosided"  id="b"><bsdf type="roughconductor"><string name="distribution" value="ggx"/>
          <spectrum name="eta" value="400:0.2,700:0.3"/><float name="k" value="3"/></bsdf></bsdf>
        <bsdf type="conductor" id="c"/>
        <bsdf type="dielectric" id="d"><string name="int_ior" value="water"/></bsdf>
        <bsdf type="roughdielectric" id="e"><string name="distribution" value="ggx"/>
          <float name="alpha_u" value="0.2"/><float name="alpha_v" value="0.2"/></bsdf>
        <bsdf type="conductor" id="f"><string name="material" value="Ag"/>
          <rgb name="specular_reflectance" value="1,.5,.5"/></bsdf>
        <shape type="cube"><ref id="a"/></shape>
        <shape type="cube"><bsdf type="twosided"><bsdf type="diffuse" id="g"/></bsdf></shape>
        <shape type="cube"/>""")
    m = {material.id: material for material in scene.materials}
    assert list(m) == ["a", "b", "c", "d", "e", "f", "g", "default"]
    assert [m[i].two_sided for i in "abcg"] == [True, True, False, True]
    assert m["b"].values["k"].values == [3] and m["b"].values["alpha"] == 0.1
    assert (m["c"].values["eta"].values[0], m["c"].values["k"].values[0]) == (0, 1)
    assert (m["d"].values["int_ior"], m["d"].values["ext_ior"]) == (1.333, 1.000277)
    assert m["e"].values["alpha"] == 0.2 and m["e"].values["int_ior"] == 1.5046
    assert m["f"].values["specular_reflectance"].kind == "rgb"
    assert [s.material for s in scene.shapes] == ["a", "g", "default"]
    lamp = load('<shape type="cube"><emitter type="area"/></shape>')
    assert lamp.materials[0].values["reflectance"].values == [0], "a light without a <bsdf> reflects nothing"
    assert [s.id for s in scene.shapes] == ["cube_0", "cube_1", "cube_2"]


def test_lights(load):
    scene = load("""
        <emitter type="point"><point name="position" value="1,2,3"/></emitter>
        <emitter type="point" id="p"><transform name="to_world"><translate x="4"/></transform>
          <spectrum name="intensity" value="400:1,700:2"/></emitter>
        <emitter type="spot"><float name="cutoff_angle" value="30"/>
          <transform name="to_world"><lookat origin="0,3,0" target="0,0,0" up="0,0,1"/></transform></emitter>
        <emitter type="directional"><vector name="direction" x="0" y="-2" z="0"/></emitter>""")
    point, moved, spot, sun = scene.lights
    assert [light.id for light in scene.lights] == ["point_0", "p", "spot_0", "directional_0"]
    np.testing.assert_array_equal(point.to_world[:3, 3], [1, 2, 3])
    np.testing.assert_array_equal(moved.to_world[:3, 3], [4, 0, 0])
    assert spot.values["cutoff_angle"] == 30 and spot.values["beam_width"] == 22.5
    np.testing.assert_allclose(spot.to_world[:3, 2], [0, -1, 0])
    np.testing.assert_allclose(sun.to_world[:3, 2], [0, -1, 0])
    assert set(sun.values) == {"irradiance"}


def test_an_environment_map(load, tmp_path):
    images.write_image(tmp_path / "sky.exr", np.full((4, 8, 3), [1.0, 2.0, 3.0]))
    (light,) = load("""<emitter type="envmap" id="sky"><string name="filename" value="sky.exr"/>
        <float name="scale" value="2"/></emitter>""").lights
    assert light.values["scale"] == 2 and light.values["radiance"].pixels.shape == (4, 8, 3)
    np.testing.assert_array_equal(light.values["radiance"].pixels[0, 0], [1, 2, 3])


def test_camera_film_and_sampler(load):
    """Mitsuba's principal point offset moves the film (tests/test_scenes.py): to the right, the axis to the left."""
    scene = load("""<sensor type="perspective"><float name="fov" value="50"/><string name="fov_axis" value="y"/>
        <float name="principal_point_offset_x" value="0.1"/><float name="near_clip" value="0.5"/>
        <sampler type="multijitter"><integer name="sample_count" value="32"/></sampler>
        <film type="hdrfilm"><integer name="width" value="40"/><integer name="height" value="30"/>
        <integer name="crop_offset_x" value="4"/><integer name="crop_offset_y" value="5"/>
        <integer name="crop_width" value="10"/><integer name="crop_height" value="12"/><rfilter type="tent"/></film>
        </sensor><integrator type="path"/>""")
    c = scene.camera
    assert (c.fov, c.fov_axis, c.principal_point, c.near_clip) == (50, "y", (-0.1, 0.0), 0.5)
    assert c.film.window == (4, 5, 10, 12) and c.film.filter == "tent" and scene.spp == 32
    assert scene.integrator.max_depth == 1000 and scene.integrator.rr_depth == 5


def test_defaults_are_mitsubas(load):
    """No film: 768x576, Gaussian. No fov: 50 mm, which Mitsuba 3.9.1 renders with tan(fov_x / 2) = 0.38699 at 2:1."""
    scene = load('<sensor type="perspective"/>')
    film = scene.camera.film
    assert (film.width, film.height, film.filter) == (768, 576, "gaussian")
    film.width, film.height = 64, 32
    assert np.tan(np.deg2rad(scene.camera.fov_x() / 2)) == pytest.approx(0.38699, abs=1e-5)


def test_transforms_apply_in_order(load):
    """Mitsuba 3.9.1 prints this box for the cube, its axis normalised (it shears where an axis is not)."""
    scene = load("""<shape type="cube"><transform name="to_world"><rotate x="1" y="1" angle="10"/>
        <translate value="1 2 3"/><scale value="2"/></transform></shape>
        <shape type="rectangle"><transform name="to_world"><matrix value="2 0 0 0 3 0 0 0 1"/></transform></shape>""")
    np.testing.assert_allclose(scene.shapes[0].vertices.min(0), [-0.245576, 1.75442, 3.53923], rtol=1e-5)
    np.testing.assert_allclose(scene.shapes[0].vertices.max(0), [4.24558, 6.24558, 8.46077], rtol=1e-5)
    np.testing.assert_allclose(scene.shapes[1].vertices.max(0), [2, 3, 0])


def test_spheres_scale(load):
    """Mitsuba 3.9.1 prints center (3, 0, 0), radius 4 for this one."""
    (sphere,) = load("""<shape type="sphere"><float name="radius" value="2"/><point name="center" x="1"/>
        <transform name="to_world"><scale value="2"/><translate x="1"/></transform></shape>""").shapes
    np.testing.assert_allclose(sphere.center, [3, 0, 0])
    assert sphere.radius == pytest.approx(4)


def test_groups_and_instances(load):
    scene = load("""<shape type="shapegroup" id="g"><shape type="sphere"/><shape type="cube" id="box"/></shape>
        <shape type="instance"><ref id="g"/><transform name="to_world"><translate x="3"/></transform></shape>
        <shape type="instance" id="second"><ref id="g"/></shape>""")
    assert [(s.id, s.group) for s in scene.shapes] == [("sphere_0", "g"), ("box", "g")]
    assert [(i.id, i.group) for i in scene.instances] == [("instance_0", "g"), ("second", "g")]
    assert scene.instances[0].to_world[0, 3] == 3


def test_parameters_defaults_aliases_includes(load, tmp_path):
    (tmp_path / "part.xml").write_text("""<scene version="3.0.0"><default name="grey" value="0.2"/>
        <bsdf type="diffuse" id="paint"><spectrum name="reflectance" value="$grey"/></bsdf></scene>""")
    body = """<include filename="part.xml"/><default name="r" value="1"/><alias id="paint" as="wall"/>
        <shape type="sphere"><float name="radius" value="$r"/><ref id="wall"/></shape>"""
    scene = load(body)
    assert scene.shapes[0].radius == 1 and scene.materials[0].values["reflectance"].values == [0.2]
    scene = load(body, r=2.5, grey="0.4")
    assert scene.shapes[0].radius == 2.5 and scene.materials[0].values["reflectance"].values == [0.4]
    assert scene.shapes[0].material == "paint"


def texture_scene(extra="", file="t.png"):
    return f"""<texture type="bitmap" id="t"><string name="filename" value="{file}"/>{extra}</texture>
        <shape type="rectangle"><bsdf type="diffuse"><ref name="reflectance" id="t"/></bsdf></shape>"""


def look_up(texture: Texture, u: float, v: float):
    """Nearest texel: row 0 is v = 1."""
    h, w, _ = texture.pixels.shape
    x, y, _ = texture.to_uv @ [u, v, 1]
    return texture.pixels[int((1 - y) * h) % h, int(x * w) % w]


def test_bitmaps_stand_as_in_mitsuba(load, tmp_path):
    """Mitsuba's first row is at v = 0: (u, v) = (.1, .1) gives the upper left texel, (.1, .9) the lower left."""
    pixels = np.arange(18, dtype=np.float32).reshape(2, 3, 3) / 40
    images.write_image(tmp_path / "t.exr", pixels)
    texture = load(texture_scene(file="t.exr")).materials[0].values["reflectance"]
    assert (texture.filter, texture.wrap) == ("bilinear", "repeat")
    for uv, texel in (((0.1, 0.1), (0, 0)), ((0.5, 0.1), (0, 1)), ((0.1, 0.9), (1, 0))):
        np.testing.assert_array_equal(look_up(texture, *uv), pixels[texel])
    scaled = """<transform name="to_uv"><scale x="2" y="3"/><translate x="0.5"/></transform>
        <string name="filter_type" value="nearest"/><string name="wrap_mode" value="mirror"/>"""
    texture = load(texture_scene(scaled, file="t.exr")).materials[0].values["reflectance"]
    assert (texture.filter, texture.wrap) == ("nearest", "mirror")
    np.testing.assert_allclose(texture.to_uv @ [0.1, 0.2, 1], [0.7, 1 - 0.6, 1])


def test_png_is_srgb_unless_raw(load, tmp_path):
    import imageio.v3 as iio

    iio.imwrite(tmp_path / "t.png", np.full((2, 2), 128, np.uint8))
    decoded = load(texture_scene()).materials[0].values["reflectance"]
    assert decoded.pixels.shape == (2, 2, 1) and decoded.pixels[0, 0, 0] == pytest.approx(0.21586, abs=1e-4)
    raw = load(texture_scene('<boolean name="raw" value="true"/>')).materials[0].values["reflectance"]
    assert raw.pixels[0, 0, 0] == pytest.approx(128 / 255)


def test_a_rough_texture_has_one_channel(load, tmp_path):
    images.write_image(tmp_path / "t.exr", np.full((2, 2, 3), [0.1, 0.2, 0.3], np.float32))
    scene = load("""<shape type="rectangle"><bsdf type="roughdielectric"><string name="distribution" value="ggx"/>
        <texture type="bitmap" name="alpha"><string name="filename" value="t.exr"/></texture></bsdf></shape>""")
    expected = 0.2126 * 0.1 + 0.7152 * 0.2 + 0.0722 * 0.3
    np.testing.assert_allclose(scene.materials[0].values["alpha"].pixels, expected, rtol=1e-3)


def test_a_checkerboard_is_two_by_two_texels(load):
    """Mitsuba: color0 where u and v are both below or both above one half."""
    texture = (
        load("""<shape type="rectangle"><bsdf type="diffuse"><texture type="checkerboard" name="reflectance">
        <float name="color0" value="0.9"/></texture></bsdf></shape>""")
        .materials[0]
        .values["reflectance"]
    )
    for uv, value in (((0.2, 0.2), 0.9), ((0.8, 0.8), 0.9), ((0.2, 0.8), 0.2), ((0.8, 0.2), 0.2)):
        assert look_up(texture, *uv)[0] == value


def test_values_are_spectra_or_numbers(data):
    for name in EXPECTED:
        for material in io.load(data / "reference" / f"{name}.xml").materials:
            assert all(isinstance(v, Spectrum | float) for v in material.values.values())
