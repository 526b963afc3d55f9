"""Every mistake in a Mitsuba file gives one line that names the file, the element and a mend."""

import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from irys_ti import io
from irys_ti.errors import SceneError
from irys_ti.io import images

SENSOR = '<sensor type="perspective"><float name="fov" value="40"/></sensor>'


def scene_file(folder: Path, body: str) -> Path:
    sensor = "" if "<sensor" in body else SENSOR
    path = folder / "scene.xml"
    path.write_text(
        body if body.startswith(("<scene", "<?", "<!")) else f'<scene version="3.0.0">{sensor}\n{body}</scene>'
    )
    return path


def refl(text):
    return f'<shape type="cube"><bsdf type="diffuse" id="paint">{text}</bsdf></shape>'


def bsdf(kind, text=""):
    return f'<bsdf type="{kind}" id="m">{text}</bsdf>'


def moved(text, shape="cube"):
    return f'<shape type="{shape}" id="s"><transform name="to_world">{text}</transform></shape>'


def film(text):
    return f'<sensor type="perspective"><film type="hdrfilm">{text}</film></sensor>'


GGX = '<string name="distribution" value="ggx"/>'

# (body of the scene, words that the message must hold: the element, the problem, the mend)
CASES = [
    # plugins that are not there
    (bsdf("difuse"), ['<bsdf type="difuse" id="m">', "unknown bsdf", "'diffuse'"]),
    (bsdf("measured"), ["measured", "unknown bsdf", "diffuse"]),
    ('<shape type="rectangel"/>', ['<shape type="rectangel">', "'rectangle'"]),
    ('<shape type="cylinder"/>', ["unknown shape 'cylinder'", "sphere"]),
    ('<emitter type="projector"/>', ["unknown emitter 'projector'", "constant"]),
    ('<emitter type="area"/>', ["area light needs a shape", "inside a <shape>"]),
    ('<integrator type="pth"/>', ["unknown integrator 'pth'", "'path'"]),
    ('<integrator type="direct"/>', ["unknown integrator 'direct'", "path"]),
    ('<sensor type="thinlens"/>', ["unknown sensor 'thinlens'", "perspective"]),
    ('<shap type="cube"/>', ["<shap", "unknown element", "'shape'"]),
    (refl('<texture type="bitmp" name="reflectance"/>'), ["unknown texture", "'bitmap'"]),
    (refl('<spectrum type="blakbody" name="reflectance"/>'), ["unknown spectrum", "'blackbody'"]),
    (film('<rfilter type="mitchell"/>'), ["unknown filter 'mitchell'", "gaussian"]),
    # properties
    (bsdf("roughconductor", GGX + '<float name="alhpa" value="0.1"/>'), ['"alhpa"', "no property", "'alpha'"]),
    ('<shape type="cube" id="box"><float name="radius" value="1"/></shape>', ['name="radius"', "no property"]),
    (refl('<float name="reflectance" valeu="1"/>'), ["unknown attribute 'valeu'", "'value'"]),
    (refl('<float name="reflectance"/>'), ["lacks the attribute 'value'"]),
    (refl('<float value="1"/>'), ["lacks the attribute 'name'"]),
    (refl('<floot name="reflectance" value="1"/>'), ["<floot", "unknown element", "'float'"]),
    (refl('<string name="reflectance" value="1"/>'), ["cannot be a <string>", "<float>"]),
    (refl('<float name="reflectance" value=".1"/><rgb name="reflectance" value=".2"/>'), ["given twice", "remove"]),
    ('<integrator type="path"><float name="max_depth" value="3"/></integrator>', ["cannot be a <float>", "<integer>"]),
    ('<integrator type="path"><integer name="max_depth" value="3.5"/></integrator>', ["not a whole number"]),
    ('<integrator type="path"><integer name="max_depth" value="-2"/></integrator>', ["-2", "at least -1"]),
    ('<integrator type="path"><integer name="max_depth" value="0"/></integrator>', ["black picture"]),
    ('<integrator type="path"><boolean name="hide_emitters" value="yes"/></integrator>', ["neither true nor false"]),
    ('<integrator type="path"><boolean name="hide_emitters" value="true"/></integrator>', ["hide_emitters"]),
    ('<shape type="sphere"><bsdf type="diffuse"/><bsdf type="diffuse"/></shape>', ["has 2 <bsdf>", "keep one"]),
    ('<shape type="sphere"><film type="hdrfilm"/></shape>', ["<film", "cannot stand inside", "sphere"]),
    ('<shape type="sphere">hello</shape>', ["text 'hello'", "value="]),
    # numbers and spectra
    (refl('<float name="reflectance" value="abc"/>'), ['name="reflectance"', "'abc' is not a number"]),
    (refl('<float name="reflectance" value="1_0"/>'), ["is not a number"]),
    (refl('<float name="reflectance" value="nan"/>'), ["not finite"]),
    (refl('<float name="reflectance" value="1e999"/>'), ["not finite"]),
    (refl('<float name="reflectance" value="-0.1"/>'), ["-0.1, below 0"]),
    (refl('<float name="reflectance" value="1.5"/>'), ["1.5, above 1", "reflect"]),
    (refl('<rgb name="reflectance" value="0.1,0.2,1.2"/>'), ["1.2, above 1"]),
    (refl('<rgb name="reflectance" value="0.1,0.2"/>'), ["2 numbers", "r,g,b"]),
    (refl('<rgb name="reflectance" value="#ff8000"/>'), ["'#ff8000' is not a number"]),
    (refl('<spectrum name="reflectance" value="400:nan,700:1"/>'), ["not finite"]),
    (refl('<spectrum name="reflectance" value="400:0.2,700:1.01"/>'), ["1.01, above 1"]),
    (refl('<spectrum name="reflectance" value="400:0.2"/>'), ["two points"]),
    (refl('<spectrum name="reflectance" value="400:0.2,300:0.1"/>'), ["300", "sort"]),
    (refl('<spectrum name="reflectance" value="400:0.2,500"/>'), ["'500' is not wavelength:value"]),
    (refl('<spectrum name="reflectance" value="0.2 0.3"/>'), ["not a number"]),
    (refl('<spectrum name="reflectance"/>'), ["one of value, filename and type"]),
    (refl('<spectrum name="reflectance" filename="none.spd"/>'), ["no such file", "none.spd"]),
    ('<emitter type="constant"><rgb name="radiance" value="-1,0,0"/></emitter>', ['"radiance"', "below 0"]),
    # materials
    (bsdf("roughconductor"), ["'beckmann' (Mitsuba's default) is not supported", 'value="ggx"']),
    (bsdf("roughdielectric", '<string name="distribution" value="phong"/>'), ["'phong'", "ggx"]),
    (
        bsdf("roughconductor", GGX + '<float name="alpha_u" value=".1"/><float name="alpha_v" value=".2"/>'),
        ["alpha_u and alpha_v differ", "anisotropic"],
    ),
    (bsdf("roughconductor", GGX + '<float name="alpha" value="-0.1"/>'), ["alpha is -0.1", "between 0 and 1"]),
    (bsdf("conductor", '<string name="material" value="Gold"/>'), ["unknown material 'Gold'"]),
    (bsdf("conductor", '<string name="material" value="au"/><float name="k" value="1"/>'), ["both material and"]),
    (bsdf("conductor", '<rgb name="eta" value="1"/><float name="k" value="1"/>'), ["not a colour", "material"]),
    (bsdf("conductor", '<float name="eta" value="1"/>'), ["lacks 'k'"]),
    (bsdf("dielectric", '<string name="int_ior" value="diamnod"/>'), ["'diamnod'", "'diamond'"]),
    (bsdf("dielectric", '<float name="int_ior" value="0"/>'), ["int_ior is 0", "above 0"]),
    (bsdf("twosided", '<bsdf type="dielectric"/>'), ["lets light through"]),
    (bsdf("twosided"), ["holds no <bsdf>"]),
    ('<bsdf type="diffuse"/>', ["has no id"]),
    # references and ids
    ('<shape type="cube"><ref id="whit"/></shape><bsdf type="diffuse" id="white"/>', ["'whit'", "'white'"]),
    ('<shape type="cube"><ref/></shape>', ["lacks the attribute 'id'"]),
    ('<shape type="cube" id="a"/><shape type="sphere" id="a"/>', ["'a' is taken", "own id"]),
    (bsdf("diffuse") + bsdf("conductor"), ["'m' is taken"]),
    ('<shape type="cube" id="a.b"/>', ["dot"]),
    ('<shape type="cube" id=""/>', ["id is empty"]),
    ('<alias id="a" as="b"/>', ["no object has the id 'a'"]),
    ('<texture type="checkerboard" id="t"><ref name="color0" id="t"/></texture>' + refl('<ref name="reflectance" id="t"/>'),
     ["circle"]),
    # transforms and shapes
    (moved('<scale value="0"/>'), ['<transform name="to_world">', "singular"]),
    (moved('<matrix value="1 0 0 0 1 0 0 0 0 0 1 0 0 0 0 1"/>'), ["singular"]),
    (moved('<matrix value="1 0 0"/>'), ["3 numbers", "16"]),
    (moved('<matrix value="1 0 0 0 0 1 0 0 0 0 1 0 0 0 1 1"/>'), ["last row"]),
    (moved('<rotate angle="3" x="0"/>'), ["axis is zero"]),
    (moved('<rotate x="1"/>'), ["lacks the attribute 'angle'"]),
    (moved('<translate x="1 2"/>'), ["'1 2' is not a number"]),
    (moved('<translate value="1,2"/>'), ["2 numbers", "three"]),
    (moved('<skale value="2"/>'), ["unknown step", "'scale'"]),
    (moved('<lookat origin="0,0,0" target="0,1,0" up="0,1,0"/>'), ["up lies along"]),
    (moved('<lookat origin="0,0,0" target="0,0,0" up="0,1,0"/>'), ["same point"]),
    (moved('<lookat origin="0,0,0" up="0,1,0"/>'), ["lacks the attribute 'target'"]),
    (moved('<scale x="2"/>', "sphere"), ['<shape type="sphere" id="s">', "unevenly", "mesh"]),
    ('<shape type="sphere"><float name="radius" value="0"/></shape>', ["radius is 0", "above 0"]),
    ('<shape type="obj"><string name="filename" value="none.obj"/></shape>', ["no such file", "none.obj"]),
    ('<shape type="ply"/>', ["lacks 'filename'"]),
    ('<shape type="obj"><string name="filename" value="scene.xml"/></shape>', ["not a .obj file"]),
    ('<shape type="shapegroup"><shape type="cube"/></shape>', ["needs an id"]),
    ('<shape type="shapegroup" id="g"/>', ["empty"]),
    ('<shape type="instance"/>', ["reference to a shapegroup"]),
    ('<shape type="shapegroup" id="g"><shape type="cube"><emitter type="area"/></shape></shape>', ["inside a shapegroup"]),
    ('<shape type="cube"><emitter type="point"/></shape>', ["emitter 'point' inside a shape"]),
    # camera and film
    ('<sensor type="perspective"><float name="fov" value="0"/></sensor>', ["fov is 0", "between 0 and 180"]),
    ('<sensor type="perspective"><float name="fov" value="180"/></sensor>', ["fov is 180"]),
    ('<sensor type="perspective"><string name="fov_axis" value="z"/></sensor>', ["fov_axis 'z'"]),
    ('<sensor type="perspective"><string name="focal_length" value="x"/></sensor>', ["focal_length 'x'", "50mm"]),
    (film('<integer name="width" value="0"/>'), ["width is 0", "between 1"]),
    (film('<integer name="crop_width" value="9999"/>'), ["leaves the film"]),
    (film('<integer name="crop_offset_x" value="768"/>'), ["leaves the film"]),
    (
        '<sensor type="perspective"><transform name="to_world"><scale value="2"/></transform></sensor>',
        ["camera cannot be scaled"],
    ),
    (
        '<sensor type="perspective"><float name="far_clip" value="1"/></sensor>' + moved('<translate z="5"/>'),
        ["far_clip 1 cuts the scene", "remove"],
    ),
    (SENSOR + SENSOR, ["a second <sensor>"]),
    ('<scene version="3.0.0"></scene>', ["has no <sensor>"]),
    # lights
    (
        '<emitter type="directional"><vector name="direction" value="0"/></emitter>',
        ["direction is zero"],
    ),
    (
        '<emitter type="spot"><float name="cutoff_angle" value="10"/><float name="beam_width" value="20"/></emitter>',
        ["beam_width is 20", "between 0 and 10"],
    ),
    (
        '<emitter type="point"><transform name="to_world"/><point name="position" value="0"/></emitter>',
        ["both position and to_world"],
    ),
    ('<emitter type="envmap"><string name="filename" value="none.exr"/></emitter>', ["no such file", "none.exr"]),
    # parameters and files
    (refl('<float name="reflectance" value="$grey"/>'), ["$grey has no value", "<default"]),
    ('<default name="a"/>', ["lacks the attribute 'value'"]),
    ('<include filename="none.xml"/>', ["no such file", "none.xml"]),
    ('<include filename="scene.xml"/>', ["include each other"]),
    # the file itself
    ('<scene version="3.0.0"><shape type="cube"></scene>', ["not well-formed", "mismatched"]),
    ('<scene version="0.5.0"></scene>', ["version '0.5.0'", "3.0.0"]),
    ('<scene></scene>', ["version ''"]),
    ('<?xml version="1.0"?><html/>', ["outermost element is <html>", "<scene"]),
    ('<?xml version="1.0"?><!DOCTYPE s [<!ENTITY a "aa"><!ENTITY b "&a;&a;">]><scene version="3.0.0"/>', ["refused", "DOCTYPE"]),
    ('<?xml version="1.0" encoding="nope"?><scene version="3.0.0"/>', ["encoding"]),
]  # fmt: skip


@pytest.mark.parametrize(("body", "words"), CASES, ids=[" ".join(w)[:50] for _, w in CASES])
def test_a_mistake_is_one_clear_line(tmp_path, body, words):
    with pytest.raises(SceneError) as caught:
        io.load(scene_file(tmp_path, body))
    message = str(caught.value)
    assert "\n" not in message and "scene.xml" in message
    for word in words:
        assert word in message, message
    assert ": " in message and len(message) < 700


def test_the_line_number_is_right(tmp_path):
    path = scene_file(tmp_path, '\n\n<bsdf type="diffuse" id="m">\n<float name="reflectance" value="2"/>\n</bsdf>')
    with pytest.raises(SceneError, match=r"scene\.xml:5: <float name=\"reflectance\">: reflectance is 2, above 1"):
        io.load(path)


def test_an_unused_parameter(tmp_path):
    path = scene_file(
        tmp_path, '<default name="radius" value="1"/>' + refl('<float name="reflectance" value="0.$radius"/>')
    )
    with pytest.raises(SceneError, match="nothing uses the parameter 'raduis'; did you mean 'radius'"):
        io.load(path, raduis=2)


def test_files_that_cannot_be_loaded(tmp_path):
    with pytest.raises(SceneError, match=r"scene\.abc: no importer .*\.xml"):
        io.load(tmp_path / "scene.abc")
    with pytest.raises(SceneError, match="no such file"):
        io.load(tmp_path / "scene.xml")
    (tmp_path / "dir.xml").mkdir()
    with pytest.raises(SceneError, match="is not a file"):
        io.load(tmp_path / "dir.xml")


def test_elements_nested_too_deep(tmp_path):
    path = scene_file(tmp_path, '<bsdf type="twosided" id="m">' * 1 + '<bsdf type="twosided">' * 2000)
    with pytest.raises(SceneError, match="nested more than 40 deep"):
        io.load(path)


def test_textures_need_coordinates(tmp_path):
    images.write_image(tmp_path / "t.png", np.ones((2, 2, 3)))
    (tmp_path / "m.obj").write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n")
    paint = """<bsdf type="diffuse"><texture type="bitmap" name="reflectance"><string name="filename" value="t.png"/>
        </texture></bsdf>"""
    with pytest.raises(SceneError, match="no texture coordinates"):
        io.load(scene_file(tmp_path, f'<shape type="obj"><string name="filename" value="m.obj"/>{paint}</shape>'))
    turned = '<transform name="to_world"><rotate x="1" angle="30"/></transform>'
    with pytest.raises(SceneError, match="turned sphere"):
        io.load(scene_file(tmp_path, f'<shape type="sphere">{turned}{paint}</shape>'))


def test_raw_colours_and_broken_images(tmp_path):
    images.write_image(tmp_path / "t.png", np.ones((2, 2, 3)))
    image = '<texture type="bitmap" name="reflectance"><string name="filename" value="{}"/>{}</texture>'
    with pytest.raises(SceneError, match="raw=true"):
        io.load(scene_file(tmp_path, refl(image.format("t.png", '<boolean name="raw" value="true"/>'))))
    (tmp_path / "b.png").write_bytes(b"\x89PNG\r\n\x1a\nnothing")
    with pytest.raises(SceneError, match=r"b\.png: cannot be read as PNG"):
        io.load(scene_file(tmp_path, refl(image.format("b.png", ""))))


FULL = """<scene version="3.0.0"><default name="g" value="0.4"/>
<integrator type="path"><integer name="max_depth" value="6"/></integrator>
<sensor type="perspective"><float name="fov" value="38"/><string name="fov_axis" value="x"/>
<transform name="to_world"><lookat origin="0,0,3.9" target="0,0,0" up="0,1,0"/></transform>
<film type="hdrfilm"><integer name="width" value="64"/><rfilter type="box"/></film><sampler type="independent"/></sensor>
<bsdf type="roughconductor" id="metal"><string name="material" value="Au"/><string name="distribution" value="ggx"/>
<float name="alpha" value="0.25"/></bsdf>
<bsdf type="twosided" id="two"><bsdf type="diffuse"><rgb name="reflectance" value="0.1,0.2,$g"/></bsdf></bsdf>
<shape type="sphere" id="ball"><point name="center" value="0,0.9,0"/><ref id="metal"/></shape>
<shape type="shapegroup" id="grp"><shape type="cube"><ref id="two"/></shape></shape>
<shape type="instance"><ref id="grp"/><transform name="to_world"><translate x="1"/></transform></shape>
<shape type="rectangle"><transform name="to_world"><matrix value="1 0 0 0 0 0 -1 3 0 1 0 0 0 0 0 1"/></transform>
<emitter type="area"><spectrum name="radiance" value="400:6,700:9"/></emitter></shape>
<emitter type="spot"><float name="cutoff_angle" value="30"/></emitter></scene>"""
TOKENS = re.findall(r"[^\s<>=\"]+|[<>=\"]|\s", FULL)


@settings(max_examples=250, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(
        st.tuples(st.integers(0, len(TOKENS) - 1), st.integers(0, 3), st.integers(0, len(TOKENS) - 1)),
        min_size=1,
        max_size=4,
    ),
    st.sampled_from(["", "nan", "-1", "1e400", "$x", "0", "\x00", "&", "400:1,300:2", "é", "<", "../.."]),
)
def test_mutated_files_raise_nothing_else(tmp_path, edits, junk):
    """Tokens deleted, swapped for others, doubled or replaced by junk: a scene, or a SceneError of one line."""
    tokens = list(TOKENS)
    for at, how, other in edits:
        tokens[at] = {0: "", 1: TOKENS[other], 2: tokens[at] * 2, 3: junk}[how]
    path = tmp_path / "scene.xml"
    path.write_text("".join(tokens), encoding="utf-8")
    try:
        io.load(path)
    except SceneError as error:
        assert "\n" not in str(error)


def test_the_mutated_file_is_whole_to_begin_with(tmp_path):
    (tmp_path / "scene.xml").write_text(FULL)
    scene = io.load(tmp_path / "scene.xml")
    assert len(scene.shapes) == 3 and len(scene.instances) == 1 and scene.lights[0].kind == "spot"
