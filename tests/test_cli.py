"""The command line: what it writes, how it refuses, and that Ctrl-C keeps what was made."""

import os
import signal
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest

import irys_ti as it
from irys_ti import cli

SCENE = """<scene version="3.0.0">
<default name="sky" value="1.0"/>
<integrator type="path"><integer name="max_depth" value="2"/></integrator>
<sensor type="perspective">
  <float name="fov" value="34"/>
  <transform name="to_world"><lookat origin="0,0,4" target="0,0,0" up="0,1,0"/></transform>
  <film type="hdrfilm"><integer name="width" value="12"/><integer name="height" value="12"/><rfilter type="box"/></film>
  <sampler type="independent"><integer name="sample_count" value="8"/></sampler>
</sensor>
<bsdf type="diffuse" id="paint"><spectrum name="reflectance" value="360:0.5,550:0.5,830:0.5"/></bsdf>
<shape type="sphere" id="ball"><ref id="paint"/></shape>
<emitter type="constant" id="sky"><spectrum name="radiance" value="$sky"/></emitter>
</scene>
"""


@pytest.fixture
def scene(tmp_path, monkeypatch):
    """A tiny scene file in a folder of its own, which is the current one."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "ball.xml").write_text(SCENE)
    return "ball.xml"


def run(*args) -> int:
    """A command, on the CPU."""
    return cli.main([str(a) for a in args])


CPU = ("--arch", "cpu")


# -- what it writes --------------------------------------------------------------------------------------------


def test_render(scene, tmp_path, capsys):
    assert run("render", scene, *CPU, "-o", "a.exr", "--seed", 3) == 0
    assert "a.exr" in capsys.readouterr().out
    image = it.read_image(tmp_path / "a.exr")
    np.testing.assert_array_equal(image, it.render(it.load(scene), 8, 3))  # the file asks for 8 samples
    assert run("render", scene, *CPU, "--seed", 3, "-D", "sky=2.0", "--set", "paint.reflectance=0.25,0.25,0.25") == 0
    brighter = it.read_image(tmp_path / "ball.exr")
    np.testing.assert_allclose(brighter[0, 0], 2 * image[0, 0], rtol=1e-5)
    np.testing.assert_allclose(brighter[6, 6], image[6, 6], rtol=1e-5)  # twice the light on half the paint
    assert run("render", scene, *CPU, "--size", "16x9", "-o", "b.png", "--spp", 2, "--threads", 1) == 0
    assert it.read_image(tmp_path / "b.png").shape == (9, 16, 3)


def test_render_in_f64(scene, tmp_path):
    assert run("render", scene, *CPU, "--precision", "f64", "-o", "a.exr") == 0
    assert it.runtime.state.precision == "f64"


def test_fit(scene, tmp_path, capsys):
    params = it.parameters(truth := it.load(scene))
    it.init("cpu")
    params["paint.reflectance"] = [0.2, 0.7, 0.4]
    it.write_image("target.exr", it.render(truth, 256, 9))
    common = ("fit", scene, "target.exr", *CPU, "--params", "paint.reflectance,sky.radiance", "--spp", "4,8")
    command = (*common, "--start", "paint.reflectance=0.4", "--start", "sky.radiance=1.3", "--steps", 30)
    bounds = ("--bounds", "sky.radiance=0.5,1.5", "--lr", "0.06", "--loss", "relative_l2")
    assert run(*command, *bounds, "--out", "made") == 0
    said = capsys.readouterr().out
    assert "paint.reflectance = " in said and "sky.radiance = " in said and "made" in said
    values = np.loadtxt(tmp_path / "made" / "loss.csv", delimiter=",", skiprows=1)
    np.testing.assert_allclose(values[0, 3:], [0.4, 0.4, 0.4, 1.3])
    np.testing.assert_allclose(values[-1, 3:], [0.2, 0.7, 0.4, 1.0], atol=0.05)


def test_devices(capsys):
    assert run("devices") == 0
    said = capsys.readouterr().out
    assert "Taichi 1.7" in said and "cpu: there" in said and "auto takes" in said


def test_commands_that_live_elsewhere(monkeypatch):
    """``check`` and ``selftest`` add their own arguments and give the exit code."""
    for name in ("check", "selftest"):
        seen = []
        fake = SimpleNamespace(
            add_arguments=lambda p: p.add_argument("--deep", type=int),
            main=lambda a, seen=seen: seen.append(a.deep) or 1,
        )
        monkeypatch.setattr(cli, "import_module", lambda *_, fake=fake: fake)
        assert run(name, "--deep", 3) == 1 and seen == [3]


def test_help_is_quick():
    """It does not import Taichi, NumPy or anything else that takes long."""
    code = "import sys\nfrom irys_ti import cli\ntry: cli.main(['render', '--help'])\nexcept SystemExit: pass\nprint(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    text, modules = done.stdout.rsplit("\n", 2)[0], set(done.stdout.rsplit("\n", 2)[1].split())
    assert "--spp" in text and "SCENE" in text
    assert not modules & {"taichi", "numpy", "rich", "matplotlib", "imageio", "trimesh"}


# -- how it refuses --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["render", "none.xml"], ["none.xml", "no such file"]),
        (["render", "broken.xml"], ["broken.xml"]),
        (["render", "ball.xml", "-o", "nowhere/a.exr"], ["nowhere"]),
        (["render", "ball.xml", "-o", "a.bmp"], ["a.bmp", ".exr"]),
        (["render", "ball.xml", "--size", "big"], ["--size", "640x480"]),
        (["render", "ball.xml", "--arch", "abacus"], ["abacus", "cpu"]),
        (["render", "ball.xml", "--arch", "cuda", "--precision", "f64"], ["cuda"]),
        (["render", "ball.xml", "--threads", "0"], ["threads 0"]),
        (["render", "ball.xml", "--spp", "-4"], ["spp -4"]),
        (["render", "ball.xml", "-D", "sky=-1"], ["radiance", "-1"]),
        (["render", "ball.xml", "-D", "sky"], ["NAME=VALUE"]),
        (["render", "ball.xml", "--set", "paint.reflectanc=0.1"], ["paint.reflectanc", "paint.reflectance"]),
        (["render", "ball.xml", "--set", "paint.reflectance=1,2"], ["shape"]),
        (["render", "ball.xml", "--set", "paint.reflectance=red"], ["red", "not a number"]),
        (["fit", "ball.xml", "small.png", "--params", "paint.reflectance"], ["small.png", "5x4", "12x12", "--size"]),
        (["fit", "ball.xml", "none.png", "--params", "paint.reflectance"], ["none.png"]),
        (["fit", "ball.xml", "good.png", "--params", "paint.colour"], ["paint.colour"]),
        (["fit", "ball.xml", "good.png", "--params", "paint.reflectance", "--spp", "x"], ["--spp x"]),
        (["fit", "ball.xml", "good.png", "--params", "paint.reflectance", "--bounds", "sky.radiance=0,1"], ["sky.radiance"]),
        (["fit", "ball.xml", "good.png", "--params", "paint.reflectance", "--loss", "l9"], ["l9", "l1"]),
    ],
)
def test_bad_input_is_one_line(arguments, words, scene, tmp_path, capsys):
    it.write_image("small.png", np.zeros((4, 5, 3)))
    it.write_image("good.png", np.zeros((12, 12, 3)))
    (tmp_path / "broken.xml").write_text("<scene><oops")
    arguments = arguments if "--arch" in arguments else [*arguments, *CPU]
    assert run(*arguments) == 2
    said = capsys.readouterr()
    assert said.err.startswith("irys-ti: ") and said.err.count("\n") == 1 and not said.out
    assert all(word in said.err for word in words), said.err
    with pytest.raises(ValueError):
        run(*arguments, "--debug")


def test_without_a_command_it_says_how(capsys):
    with pytest.raises(SystemExit) as left:
        cli.main([])
    assert left.value.code == 2 and "usage" in capsys.readouterr().err


# -- Ctrl-C ----------------------------------------------------------------------------------------------------


@pytest.fixture(autouse=True)
def listening():
    """Ctrl-C reaches Python, even where whoever started the tests had it ignored (a shell's background job)."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def press_ctrl_c(monkeypatch, where: str, times: int) -> None:
    """Send this process a real SIGINT while ``where`` runs for the given time."""
    module, name = where.rsplit(".", 1)
    real, calls = getattr(sys.modules[module], name), []

    def pressed(*args, **more):
        calls.append(1)
        if len(calls) == times:
            os.kill(os.getpid(), signal.SIGINT)
        return real(*args, **more)

    monkeypatch.setattr(where, pressed)


def test_an_interrupted_render_writes_what_it_has(scene, tmp_path, monkeypatch, capsys):
    import irys_ti.device.launch as launch

    monkeypatch.setitem(launch.MAX_LANES, "cpu", 12 * 12 * 4)  # launches of 4 samples
    press_ctrl_c(monkeypatch, "irys_ti.device.launch.develop", 3)
    assert run("render", scene, *CPU, "--spp", 64, "--seed", 5, "-o", "part.exr") == 130
    said = capsys.readouterr().err
    assert "19%" in said and "part.exr" in said and said.count("\n") == 1
    monkeypatch.undo()
    os.chdir(tmp_path)
    # The first 12 of its 64 samples, as an undisturbed render shows them on its way.
    monkeypatch.setitem(launch.MAX_LANES, "cpu", 12 * 12 * 4)
    shown = []
    it.render(it.load(scene), 64, 5, progress=lambda done: shown.append(done.image))
    np.testing.assert_allclose(it.read_image("part.exr"), shown[2], rtol=1e-6)


def test_pixels_without_samples_are_black_in_a_partial_image(scene, monkeypatch):
    import irys_ti.device.launch as launch

    it.init("cpu")
    whole = it.render(it.load(scene), 4, 2)
    monkeypatch.setitem(launch.MAX_LANES, "cpu", 12 * 5)  # launches of 5 rows
    press_ctrl_c(monkeypatch, "irys_ti.device.launch.trace_paths", 9)
    with pytest.raises(KeyboardInterrupt) as stopped:
        it.render(it.load(scene), 4, 2)
    # 3 launches a sample: 2 samples of all rows, then 5 + 5 rows of the third, less the launch that was stopped.
    image = stopped.value.image
    assert stopped.value.done == pytest.approx((2 * 12 + 10) / 48)
    np.testing.assert_allclose(image.mean((0, 1)), whole.mean((0, 1)), rtol=0.05)


def test_an_interrupt_before_the_first_samples_writes_nothing(scene, tmp_path, monkeypatch, capsys):
    import irys_ti.device.launch  # noqa: F401

    press_ctrl_c(monkeypatch, "irys_ti.device.launch.trace_paths", 1)
    assert run("render", scene, *CPU, "-o", "part.exr") == 130
    assert "nothing was written" in capsys.readouterr().err and not (tmp_path / "part.exr").exists()


def test_an_interrupted_fit_goes_on(scene, tmp_path, monkeypatch, capsys):
    it.write_image("target.exr", np.full((12, 12, 3), 0.8))
    command = ("fit", scene, "target.exr", *CPU, "--params", "paint.reflectance", "--steps", 9, "--spp", 2)
    assert run(*command, "--out", "whole") == 0
    whole = capsys.readouterr().out.splitlines()[0]

    import irys_ti.api  # noqa: F401

    with monkeypatch.context() as patch:
        press_ctrl_c(patch, "irys_ti.api.collect", 5)  # in the midst of the fifth step
        assert run(*command, "--out", "cut") == 130
    said = capsys.readouterr()
    assert "4 of 9" in said.err and "cut" in said.err and said.err.count("\n") == 1
    assert len((tmp_path / "cut" / "loss.csv").read_text().splitlines()) == 5
    assert run(*command, "--out", "cut") == 0
    assert capsys.readouterr().out.splitlines()[0] == whole
    a, b = (np.loadtxt(tmp_path / d / "loss.csv", delimiter=",", skiprows=1) for d in ("whole", "cut"))
    np.testing.assert_array_equal(np.delete(a, 2, 1), np.delete(b, 2, 1))  # but for the seconds
