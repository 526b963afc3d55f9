"""``irys-ti material``: the preview ball and the sheet of presets."""

import numpy as np
import pytest

import irys_ti as it
from irys_ti import cli, material_sheet
from irys_ti.errors import SceneError
from irys_ti.io.validate import validate
from irys_ti.material_sheet import Ball, SheetInterrupted, balls, lengths, load_folder, sheet
from irys_ti.scene.preview_ball import ball_of, preview_ball

PLAIN = '<materialx version="1.39"><open_pbr_surface name="{}" type="surfaceshader">{}</open_pbr_surface></materialx>'
COLOR = '<input name="base_color" type="color3" value="{}"/>'


@pytest.fixture
def folder(tmp_path):
    """Three documents: red, green, blue."""
    for name, color in (("a", "0.7,0.05,0.05"), ("b", "0.05,0.7,0.05"), ("c", "0.05,0.05,0.7")):
        (tmp_path / f"{name}.mtlx").write_text(PLAIN.format(f"paint_{name}", COLOR.format(color)))
    return tmp_path


def test_presets_render_without_nan(data, f32):
    """All 83 in one scene, hence one kernel; familiar ones have their colours, lamps shine."""
    made = {b.name: b.image for b in balls(load_folder(data / "openpbr_presets"), 8, 4)}
    assert len(made) == 83
    assert all(np.isfinite(image).all() for image in made.values())
    middle = {name: image[2:6, 2:6].mean((0, 1)) for name, image in made.items()}
    for name, order in {"Gold": (0, 1, 2), "Copper": (0, 1, 2), "Ketchup": (0, 2), "Velvet": (2, 1), "Car_Paint": (2, 0)}.items():
        values = middle[name][list(order)]
        assert (np.diff(values) < 0).all(), (name, middle[name])
    assert middle["Light_Bulb_5000_K"].min() > 3 and middle["Charcoal"].max() < 0.2 < middle["Snow"].min()


def test_preview_ball_is_a_scene():
    scene = preview_ball(it.Material("stuff", "openpbr", {}), 32)
    validate(scene)
    assert ball_of(scene).material == "stuff" and scene.camera.film.width == 32


def test_command_makes_a_sheet(folder, capsys):
    """Three labelled pictures in a row, each of its own colour; materials of one name stay apart."""
    (folder / "b.mtlx").write_text(PLAIN.format("paint_a", COLOR.format("0.05,0.7,0.05") + '<input name="odd" type="float" value="1"/>'))
    out = folder / "sheet.png"
    line = ["material", "--presets", str(folder), "-o", str(out), "--size", "32", "--spp", "8", "--columns", "3", "--arch", "cpu"]
    assert cli.main(line) == 0
    said = capsys.readouterr()
    assert "odd: dropped" in said.err and str(out) in said.out
    image = it.read_image(out)
    assert image.shape[1] == 3 * 32 + 4 * 2 and image.shape[0] > 32 + 2 * 2
    for i in range(3):
        x = 2 + i * 34 + 16
        assert image[14:20, x - 3 : x + 3].mean((0, 1)).argmax() == i
    assert image[36:].max() > 0.5  # the labels


def test_command_makes_one_ball(folder):
    out = folder / "ball.exr"
    assert cli.main(["material", str(folder / "a.mtlx"), "-o", str(out), "--size", "16", "--spp", "2", "--arch", "cpu"]) == 0
    assert it.read_image(out).shape == (16, 16, 3)


def test_ctrl_c_keeps_what_is_made(folder, monkeypatch, capsys):
    calls = []

    def render(scene, spp, seed):
        calls.append(ball_of(scene).material)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return np.full((16, 16, 3), 0.25, np.float32)

    monkeypatch.setattr(material_sheet, "render", render)
    with pytest.raises(SheetInterrupted) as stopped:
        balls(load_folder(folder), 16, 1)
    assert [b.name for b in stopped.value.made] == ["paint_a", "paint_b"] == calls[:2]
    calls.clear()
    out = folder / "sheet.png"
    assert cli.main(["material", "--presets", str(folder), "-o", str(out), "--size", "16", "--spp", "1", "--arch", "cpu"]) == 130
    assert "2 of 3" in capsys.readouterr().err and it.read_image(out).shape[0] > 0


def test_the_balls_radius_is_in_the_materials_unit():
    assert lengths({"subsurface_weight": 1.0}, 5.0) == {"subsurface_radius": 0.2}
    assert lengths({"subsurface_weight": 1.0, "subsurface_radius": 2.0}, 4.0) == {"subsurface_radius": 0.5}
    assert lengths({"transmission_depth": 0.1, "coat_weight": 1.0}, 5.0) == {"transmission_depth": 0.02}
    assert lengths({"coat_weight": 1.0}, 5.0) == {}


def test_a_long_name_is_shortened():
    page = sheet([Ball("x" * 200, np.zeros((24, 24, 3)))] * 5, columns=2)
    assert page.shape[1] == 2 * 24 + 3 * 2 and page.shape[0] > 3 * 24


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "either FILE.mtlx or --presets"),
        (["--presets", "nowhere"], "no such folder"),
        (["m.mtlx", "--size", "0"], "--size 0"),
        (["m.mtlx", "--radius", "0"], "--radius 0"),
        (["m.mtlx", "-o", "m.gif"], "m.gif"),
        (["m.mtlx"], "m.mtlx"),
    ],
)
def test_bad_arguments_are_one_line(tmp_path, monkeypatch, capsys, arguments, words):
    monkeypatch.chdir(tmp_path)
    assert cli.main(["material", *arguments]) == 2
    said = capsys.readouterr().err.strip()
    assert words in said and "\n" not in said


def test_an_empty_folder(tmp_path):
    with pytest.raises(SceneError, match="no .mtlx file"):
        load_folder(tmp_path)
