"""``irys-ti check``: right gradients pass, a broken one fails, and zeros are explained."""

import json
import re
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.stats import norm
from scipy.stats import t as student

import irys_ti as it
from irys_ti import check as checking
from irys_ti import cli
from irys_ti.check.differences import CENTRAL, INWARD, directions, weight_image
from irys_ti.check.reasons import why_zero
from irys_ti.check.table import show
from irys_ti.graph import Param, stop_gradient
from irys_ti.kernels import bsdf
from irys_ti.scene import constant, points, rectangle
from irys_ti.scene.transform import look_at, rotate, scale, translate

# A BSDF whose value depends on two parameters; the derivative by one is cut off. It lives in this module, so
# that the reference process can import it.
DIFFUSE = bsdf.BSDFS["diffuse"]
PARAMS = {
    "reflectance": Param("reflectance", 0.5, 0.0, 1.0, doc="colour"),
    "gain": Param("scalar", 0.5, 0.0, 1.0, doc="a factor"),
}


def eval_half(p, wi, wo):
    return 0.5 * (p.gain + stop_gradient(p.gain)) * DIFFUSE.eval(p, wi, wo)


@pytest.fixture
def half(f32):
    """It is registered, and taken out again."""
    bsdf.BSDFS["half"] = SimpleNamespace(PARAMS=PARAMS, eval=eval_half, pdf=DIFFUSE.pdf, sample=DIFFUSE.sample)
    yield
    del bsdf.BSDFS["half"]


def room(**changes) -> it.Scene:
    """A floor and a ball under a lamp and a sky, and a hidden wall behind the camera's back."""
    down = translate(0, 3, 0) @ rotate([1, 0, 0], 90) @ scale(0.5)
    away = translate(0, 1, 9) @ scale(0.2)
    return it.Scene(
        camera=it.Camera(look_at([0, 1.5, 4], [0, 0.5, 0], [0, 1, 0]), 40, film=it.Film(12, 12)),
        materials=[
            it.Material("floor", "diffuse", {"reflectance": points([400, 700], [0.3, 0.6])}),
            it.Material("ball", "diffuse", {"reflectance": constant(0.5)}),
            it.Material("black", "diffuse", {"reflectance": 0.0}),
            it.Material("wall", "diffuse", {"reflectance": constant(0.5)}),
            it.Material("spare", "diffuse", {"reflectance": constant(0.5)}),
        ],
        shapes=[
            rectangle(rotate([1, 0, 0], -90) @ scale(3), id="ground", material="floor"),
            it.Sphere(id="sphere", material="ball", center=np.array([0, 0.7, 0]), radius=0.7),
            rectangle(down, id="lamp", material="black", light=it.Light("lamp", "area", {"radiance": constant(4.0)})),
            rectangle(away, id="hidden", material="wall"),
        ],
        lights=[it.Light("sky", "constant", {"radiance": constant(0.5)})],
        integrator=it.Integrator(changes.get("max_depth", 2), 100),
    )


def test_right_gradients_pass(f32):
    scene = room()
    it.parameters(scene)["floor.reflectance"] = [0.0, 0.6]  # an end of its range: differences go inward only
    report = checking.check(scene, ["floor.reflectance", "ball.reflectance", "wall.reflectance"], 8, 8)
    assert report.ok
    rows = {row.label: row for row in report.rows}
    assert {label: row.verdict for label, row in rows.items()} == {
        "floor.reflectance[0]": "ok", "floor.reflectance[1]": "ok", "ball.reflectance": "ok",
        "wall.reflectance": "zero",
    }  # fmt: skip
    assert "no path meets a shape of 'wall'" in rows["wall.reflectance"].note
    assert report.replayed["fast"] == report.replayed["f64"]
    assert report.replayed["fast"][0] == report.replayed["fast"][1] >= 8 * 8 * 144
    assert report.lanes == 8 * 144
    for row in report.rows[:3]:
        assert abs(row.exact / row.difference - 1) < 2e-3 and abs(row.fast / row.exact - 1) < 1e-5
        assert row.bar < 0.01 * row.difference
    assert json.loads(report.as_json())["rows"][0]["verdict"] == "ok"


def test_a_broken_derivative_fails(half, capsys):
    """Half the derivative by ``gain`` is cut off: nothing but the finite difference can tell."""
    scene = room()
    scene.materials[0] = it.Material("floor", "half", {"reflectance": constant(0.6), "gain": 0.7})
    report = checking.check(scene, ["floor.gain", "floor.reflectance"], 8, 8)
    gain, reflectance = report.rows
    assert gain.verdict == "FAIL" and gain.note == "the gradient is not the finite difference"
    assert gain.z < -checking.Z_LIMIT and gain.exact == pytest.approx(gain.difference / 2, rel=0.01)
    assert reflectance.verdict == "ok" and not report.ok
    show(report)
    assert "1 failed" in capsys.readouterr().out


@pytest.mark.parametrize("dof", [2, 5, 15, 100])
def test_few_seeds_count_for_less(dof):
    """Student's t and the normal deviate given for it are equally improbable."""
    for t in (-6.0, 0.5, 3.0):
        z = checking.normal_score(t, dof)
        assert z == pytest.approx(norm.isf(student.sf(t, dof)), abs=0.1)
    assert checking.normal_score(np.inf, dof) == np.inf


def test_noise_does_not_pass_for_agreement(f32):
    """One path a pixel and two seeds tell nothing about a lamp's share of the light."""
    scene = room()
    scene.camera.film = it.Film(1, 1)
    report = checking.check(scene, ["lamp.radiance"], 1, 2)
    assert [row.verdict for row in report.rows] == ["noisy"] and report.ok
    assert report.rows[0].seeds == 2 * checking.MOST_SEEDS


def no_area(scene):
    scene.shapes[2].vertices = scene.shapes[2].vertices * 0 + 1.0


def grouped(scene):
    scene.shapes[3].group = "hedge"


def inside(scene):
    scene.shapes[1].flip_normals = True


def dark(scene):
    scene.lights.clear()
    scene.shapes[2].light.values["radiance"] = constant(0.0)


def depth_1(scene):
    scene.integrator.max_depth = 1


def infrared(scene):
    scene.materials[0].values["reflectance"] = points([900, 1000], [0.5, 0.5])


def enclosed(scene):
    scene.shapes[3].vertices = scene.shapes[3].vertices - [0, 1, 9] + [0, 0.7, 0]


def lamp_turned_away(scene):
    scene.shapes[2].flip_normals = True


REASONS = {
    "unused": ("spare.reflectance", lambda scene: None, "no shape uses the material 'spare'"),
    "grouped": ("wall.reflectance", grouped, "no instance places that group"),
    "behind the camera": ("wall.reflectance", lambda scene: None, "no path meets a shape of 'wall'.*in 1 bounce"),
    "enclosed": ("wall.reflectance", enclosed, "no path meets"),
    "one-sided": ("ball.reflectance", inside, "from inside only, and diffuse is one-sided"),
    "depth": ("floor.reflectance", depth_1, "max_depth is 1"),
    "dark": ("floor.reflectance", dark, "nothing shines"),
    "infrared": ("floor.reflectance", infrared, "outside 360 to 830 nm"),
    "no area": ("lamp.radiance", no_area, "'lamp' has no area"),
    "turned away": ("lamp.radiance", lamp_turned_away, "reaches no surface that the camera sees"),
}


@pytest.mark.parametrize("why", REASONS)
def test_zeros_are_explained(f32, why):
    path, change, reason = REASONS[why]
    scene = room()
    change(scene)
    assert it.backward(scene, np.ones((12, 12, 3)), 4, 1, [path])[path].any() == 0
    text = why_zero(scene, path)
    assert re.search(reason, text), text
    assert "\n" not in text


def test_a_zero_factor_is_named(half):
    scene = room()
    scene.materials[0] = it.Material("floor", "half", {"reflectance": constant(0.0), "gain": 0.7})
    assert not it.backward(scene, np.ones((12, 12, 3)), 4, 1, ["floor.gain"])["floor.gain"].any()
    assert why_zero(scene, "floor.gain") == "a factor of it is zero: floor.reflectance = 0"


def test_directions_stay_in_range(f32):
    """Two steps along a direction are legal wherever the values lie."""
    scene = room()
    params = it.parameters(scene)
    for values in ([0.0, 1.0], [0.0, 0.5], [0.99, 0.2], [1e-4, 0.3], [0.5, 0.5]):
        params["floor.reflectance"] = values
        for few in (0, 4):
            for move in directions(scene, "floor.reflectance", 0.02, few=few):
                assert np.count_nonzero(move.along) == (2 if few == 0 else 1)
                assert move.stencil in (CENTRAL, INWARD)
                for offset in move.stencil:
                    x = np.array(values) + offset * move.along
                    assert x.min() >= 0 and x.max() <= 1, (values, move)


def test_stencils_are_of_second_order():
    for stencil in (CENTRAL, INWARD):
        for power, derivative in ((0, 0), (1, 1), (2, 0)):
            assert sum(w * float(k) ** power for k, w in stencil.items()) == derivative


def test_weight_is_smooth_and_fixed(f32):
    scene = room()
    w = weight_image(scene)
    assert w.shape == (12, 12, 3) and np.array_equal(w, weight_image(scene))
    assert 0.25 <= w.min() < 0.9 and 1.1 < w.max() <= 1.75
    assert np.abs(np.diff(w, axis=0)).max() < 0.5


def test_smaller_film_keeps_the_view(f32):
    scene = room()
    scene.camera.film = it.Film(640, 320, crop=(320, 160, 64, 64))
    film = checking.smaller(scene, 64).camera.film
    assert (film.width, film.height, film.crop) == (64, 32, (32, 16, 6, 6))
    assert scene.camera.film.width == 640
    assert checking.smaller(scene, 0).camera.film.width == 640


XML = """<scene version="3.0.0">
<integrator type="path"><integer name="max_depth" value="2"/></integrator>
<sensor type="perspective"><float name="fov" value="40"/>
<transform name="to_world"><lookat origin="0,0,4" target="0,0,0" up="0,1,0"/></transform>
<film type="hdrfilm"><integer name="width" value="16"/><integer name="height" value="16"/></film></sensor>
<bsdf type="diffuse" id="grey"><spectrum name="reflectance" value="0.5"/></bsdf>
<shape type="sphere" id="ball"><ref id="grey"/></shape>
<emitter type="constant" id="sky"><spectrum name="radiance" value="$sky"/></emitter>
</scene>"""


def test_command_line(f32, tmp_path, capsys):
    file = tmp_path / "ball.xml"
    file.write_text(XML)
    command = ["check", str(file), "--arch", "cpu", "--spp", "8", "--seeds", "8", "-D", "sky=0.7"]
    assert cli.main([*command, "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["ok"] and [row["path"] for row in report["rows"]] == ["grey.reflectance", "sky.radiance"]
    assert cli.main([*command, "--params", "grey.reflectanc"]) == 2
    assert "did you mean grey.reflectance?" in capsys.readouterr().err
    assert cli.main([*command, "--params", "grey.reflectance"]) == 0
    out = capsys.readouterr().out
    assert "nothing failed" in out and "grey.reflectance" in out and "replayed bit for bit" in out
