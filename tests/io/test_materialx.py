"""MaterialX OpenPBR documents: every input, connections, colour spaces, and what is said of the rest."""

import numpy as np
import pytest

import irys_ti as it
from irys_ti import io
from irys_ti.errors import SceneError
from irys_ti.io import openpbr
from irys_ti.io.colorspaces import linear, to_srgb
from irys_ti.io.materialx import KNOWN, load_materials
from irys_ti.io.validate import validate
from irys_ti.kernels.bsdf.openpbr_params import PARAMS
from irys_ti.scene import Spectrum, Texture
from irys_ti.scene.preview_ball import ball_of

HEAD = '<?xml version="1.0"?>\n<materialx version="1.39"{more}>{body}</materialx>'


def document(folder, body, more="", name="m.mtlx"):
    path = folder / name
    path.write_text(HEAD.format(body=body, more=more))
    return path


def shader(inputs, name="s", extra=""):
    return (
        f'<open_pbr_surface name="{name}" type="surfaceshader">{inputs}</open_pbr_surface>{extra}'
        f'<surfacematerial name="Stuff" type="material"><input name="surfaceshader" type="surfaceshader" nodename="{name}"/>'
        "</surfacematerial>"
    )


def one(folder, inputs, more="", extra=""):
    (found,) = load_materials(document(folder, shader(inputs, extra=extra), more))
    return found


def test_the_names_are_the_specifications():
    """What files may hold is what the BSDF takes, and emission and frames."""
    assert {*openpbr.COLOURS, *openpbr.NUMBERS, *openpbr.FLAGS, *openpbr.COMPONENTS} == set(PARAMS)
    assert set(openpbr.COLOURS) == {k for k, p in PARAMS.items() if p.kind == "reflectance"}
    assert set(KNOWN) - set(PARAMS) == {*openpbr.EMISSION, *openpbr.FRAMES}


def test_presets_load(data):
    files = sorted((data / "openpbr_presets").glob("*.mtlx"))
    found = [m for f in files for m in load_materials(f)]
    assert len(files) == len(found) == 83
    by_name = {m.material.id: m for m in found}
    gold = by_name["Gold"].material.values
    assert gold["base_metalness"] == 1.0
    red, green, blue = gold["base_color"].values
    assert red > green > blue > 0.2  # ACEScg to sRGB
    assert by_name["Soap_Bubble"].material.values["geometry_thin_walled"] == 1.0
    assert by_name["Light_Bulb_2700_K"].radiance is not None and by_name["Glass"].radiance is None
    assert {m.material.kind for m in found} == {"openpbr"}


def test_every_input_arrives(tmp_path):
    """A value of its own for each input; colours as rgb spectra."""
    wanted, text = {}, ""
    for i, (name, param) in enumerate(PARAMS.items()):
        x = round(0.2 + 0.01 * i, 4)
        if name in openpbr.COMPONENTS:
            continue  # of normal and tangent, which are no plain inputs: test_frames.py
        if name in openpbr.FLAGS:
            wanted[name], text = 1.0, text + f'<input name="{name}" type="boolean" value="true"/>'
        elif param.kind == "reflectance":
            wanted[name], text = x, text + f'<input name="{name}" type="color3" value="{x}, {x}, {x / 2}"/>'
        else:
            x = max(x, param.low)
            wanted[name], text = x, text + f'<input name="{name}" type="float" value="{x}"/>'
    values = one(tmp_path, text).material.values
    assert set(values) == set(wanted) == set(PARAMS) - {*openpbr.COMPONENTS}
    for name, x in wanted.items():
        if isinstance(values[name], Spectrum):
            np.testing.assert_allclose(values[name].values, [x, x, x / 2])
        else:
            assert values[name] == pytest.approx(x), name


def test_acescg():
    """The published matrix from AP1 to linear Rec.709 (Bradford); white stays white."""
    published = [[1.70505, -0.62179, -0.08326], [-0.13026, 1.14080, -0.01055], [-0.02400, -0.12897, 1.15297]]
    np.testing.assert_allclose(to_srgb("ap1"), published, atol=2e-4)
    for space in ("acescg", "lin_displayp3", "adobergb", "srgb_texture"):
        np.testing.assert_allclose(linear(np.ones(3), space), 1.0, atol=1e-9)


@pytest.mark.parametrize("place", ["document", "input"])
def test_colour_spaces_are_inherited(tmp_path, place):
    space = ' colorspace="srgb_texture"'
    text = f'<input name="base_color" type="color3" value="0.5,0.5,0.5"{space if place == "input" else ""}/>'
    found = one(tmp_path, text, space if place == "document" else "")
    np.testing.assert_allclose(found.material.values["base_color"].values, 0.21404, atol=1e-4)


def test_emission_is_a_light_of_that_luminance(tmp_path):
    """1000 nits of a white emission_color are a film luminance of 1, by default."""
    text = '<input name="emission_luminance" type="float" value="{}"/>'
    found = one(tmp_path, text.format(2500))
    np.testing.assert_allclose(found.radiance.values, 2.5)
    assert found.radiance.illuminant
    (strict,) = load_materials(document(tmp_path, shader(text.format(72983))), nits_per_unit=72983)
    np.testing.assert_allclose(strict.radiance.values, 1.0)
    scene = io.load(tmp_path / "m.mtlx")
    assert ball_of(scene).light.values["radiance"].values[0] == pytest.approx(72.983)


def test_images(tmp_path):
    """Colour images are decoded and turned to sRGB primaries, numbers are raw; placement and wrap come along."""
    pixels = np.zeros((2, 2, 3), np.float32)
    pixels[0, 1], pixels[1, 0] = (0.5, 0.25, 1.0), 1.0
    (tmp_path / "maps").mkdir()
    it.write_image(tmp_path / "maps" / "t.png", pixels)
    stored = it.read_image(tmp_path / "maps" / "t.png", raw=True)
    graph = """<nodegraph name="g">
      <place2d name="p" type="vector2"><input name="scale" type="vector2" value="0.5, 0.25"/></place2d>
      <image name="a" type="color3">
        <input name="file" type="filename" value="t.png" colorspace="srgb_texture"/>
        <input name="uaddressmode" type="string" value="mirror"/><input name="vaddressmode" type="string" value="mirror"/>
        <input name="texcoord" type="vector2" nodename="p"/></image>
      <image name="b" type="float"><input name="file" type="filename" value="t.png"/>
        <input name="filtertype" type="string" value="closest"/></image>
      <tiledimage name="c" type="color3"><input name="file" type="filename" value="t.png" colorspace="srgb_texture"/>
        <input name="uvtiling" type="vector2" value="3, 2"/></tiledimage>
      <extract name="e" type="float"><input name="in" type="color3" nodename="c"/>
        <input name="index" type="integer" value="2"/></extract>
      <output name="color" type="color3" nodename="a"/><output name="rough" type="float" nodename="b"/>
      <output name="metal" type="float" nodename="e"/></nodegraph>"""
    inputs = "".join(
        f'<input name="{name}" type="{type}" nodegraph="g" output="{output}"/>'
        for name, type, output in (
            ("base_color", "color3", "color"), ("specular_roughness", "float", "rough"), ("base_metalness", "float", "metal")
        )
    )  # fmt: skip
    found = one(tmp_path, inputs, ' fileprefix="maps/"', graph)
    assert not found.notes
    color, rough, metal = (found.material.values[k] for k in ("base_color", "specular_roughness", "base_metalness"))
    np.testing.assert_allclose(color.pixels[0, 1], [0.5, 0.25, 1.0], atol=0.005)
    assert color.wrap == "mirror" and color.filter == "bilinear"
    np.testing.assert_allclose(color.to_uv, np.diag([2, 4, 1]))
    np.testing.assert_allclose(rough.pixels[:, :, 0], stored[:, :, 0])
    assert rough.filter == "nearest" and rough.pixels.shape == (2, 2, 1)
    np.testing.assert_allclose(metal.to_uv, np.diag([3, 2, 1]))
    np.testing.assert_allclose(metal.pixels[0, 1], 1.0)


def test_constants_through_interfaces(tmp_path):
    graph = """<nodegraph name="g"><input name="r" type="float" value="0.625"/>
      <dot name="d" type="float"><input name="in" type="float" interfacename="r"/></dot>
      <constant name="k" type="color3"><input name="value" type="color3" value="0.25,0.5,0.75"/></constant>
      <output name="o" type="float" nodename="d"/><output name="c" type="color3" nodename="k"/></nodegraph>"""
    text = (
        '<input name="coat_roughness" type="float" nodegraph="g" output="o"/>'
        '<input name="fuzz_color" type="color3" nodegraph="g" output="c"/>'
    )
    found = one(tmp_path, text, extra=graph)
    assert found.material.values["coat_roughness"] == 0.625
    np.testing.assert_allclose(found.material.values["fuzz_color"].values, [0.25, 0.5, 0.75])


@pytest.mark.parametrize(
    ("inputs", "extra", "words"),
    [
        ('<input name="base_colour" type="color3" value="1,1,1"/>', "", ["base_colour", "did you mean 'base_color'"]),
        ('<input name="geometry_normal" type="vector3" nodename="n"/>', '<normalmap name="n" type="vector3"/>', ["geometry_normal"]),
        ('<input name="base_color" type="color3" nodename="n"/>', '<noise3d name="n" type="color3"/>', ["base_color", "noise3d"]),
        ('<input name="base_color" type="color3" nodename="gone"/>', "", ["base_color", "'gone' is not in the document"]),
        ('<input name="base_color" type="color3" value="1.5,0.5,0"/>', "", ["base_color", "clipped"]),
        ('<input name="base_color" type="color3" value="1,1,0" colorspace="odd"/>', "", ["base_color", "'odd'"]),
        (
            '<input name="emission_luminance" type="float" value="9"/><input name="coat_weight" type="float" value="1"/>',
            "", ["emission_color", "coat"],
        ),
    ],
)  # fmt: skip
def test_what_is_dropped_is_named(tmp_path, inputs, extra, words):
    notes = "\n".join(one(tmp_path, inputs, extra=extra).notes)
    assert all(word in notes for word in words), notes


def test_several_materials(tmp_path):
    body = shader("") + '<open_pbr_surface name="loose" type="surfaceshader"/><surfacematerial name="empty" type="material"/>'
    found = load_materials(document(tmp_path, body))
    assert [m.material.id for m in found] == ["Stuff", "loose"]
    scene = io.load(tmp_path / "m.mtlx")
    validate(scene)
    assert ball_of(scene).material == "Stuff" and any("loose" in note for note in scene.notes)


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("", ["no open_pbr_surface"]),
        ('<standard_surface name="x" type="surfaceshader"/>', ["standard_surface", "OpenPBR"]),
        (shader('<input name="coat_ior" type="float" value="big"/>'), ["coat_ior", "'big'", "number"]),
        (shader('<input name="base_color" type="color3" value="1,1"/>'), ["base_color", "3 finite numbers"]),
        (shader('<input name="coat_ior" type="float" value="nan"/>'), ["coat_ior", "nan"]),
        (shader('<input name="geometry_thin_walled" type="boolean" value="1"/>'), ["geometry_thin_walled", "true"]),
        ("<input", ["well-formed"]),
        (
            shader('<input name="base_color" type="color3" nodename="i"/>')
            + '<image name="i" type="color3"><input name="file" type="filename" value="no.png"/></image>',
            ["no.png", "no such image"],
        ),
    ],
)
def test_errors_are_one_line(tmp_path, body, words):
    with pytest.raises(SceneError) as caught:
        load_materials(document(tmp_path, body))
    line = str(caught.value)
    assert "\n" not in line and "m.mtlx" in line and all(word in line for word in words), line


def test_entities_are_refused(tmp_path):
    path = tmp_path / "m.mtlx"
    path.write_text('<!DOCTYPE x [<!ENTITY a "b">]><materialx version="1.39">&a;</materialx>')
    with pytest.raises(SceneError, match="refused"):
        load_materials(path)


def test_textures_reach_the_scene(tmp_path):
    it.write_image(tmp_path / "t.png", np.full((2, 2, 3), 0.25, np.float32))
    extra = '<image name="i" type="color3"><input name="file" type="filename" value="t.png"/></image>'
    document(tmp_path, shader('<input name="base_color" type="color3" nodename="i"/>', extra=extra))
    scene = it.load(tmp_path / "m.mtlx")
    validate(scene)
    assert isinstance(scene.materials[0].values["base_color"], Texture)
