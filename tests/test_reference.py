"""The reference tier's process: same answers, same errors, and it survives what users do to it."""

import inspect
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import irys_ti as it
from irys_ti import api, reference
from irys_ti.errors import SceneError
from irys_ti.kernels import bsdf
from irys_ti.process import ProcessDied
from tests.helpers.scenes import inside_sphere

ROOT = Path(__file__).resolve().parents[1]
VELVET = (ROOT / "tests" / "bsdf" / "outside.py").read_text()


@pytest.fixture
def scene(f32):
    """A camera in a shining diffuse sphere: one material, one light, 8x8 pixels."""
    return inside_sphere(0.5, 0.5, 4)


@pytest.fixture
def kinds():
    """The BSDF registry, put back afterwards."""
    before = dict(bsdf.BSDFS)
    yield bsdf.BSDFS
    bsdf.BSDFS.clear()
    bsdf.BSDFS.update(before)


@pytest.mark.parametrize("name", ["render", "backward", "forward", "gradient"])
def test_signatures_are_those_of_the_api(name):
    assert inspect.signature(getattr(reference, name)) == inspect.signature(getattr(api, name))


def test_answers(scene):
    """What the fast tier gives, to its rounding, and in f64: the two differ."""
    up = np.random.default_rng(0).random((8, 8, 3))
    loss = lambda image: (float((image**2).mean()), 2 * image / image.size)  # noqa: E731 - a function that no process could send
    seen = []
    pairs = [
        (api.render(scene, 8, 3), reference.render(scene, 8, 3, progress=seen.append)),
        (api.render(scene, 8, bands=[(400, 500)]), reference.render(scene, 8, bands=[(400, 500)])),
        (api.forward(scene, {"wall.reflectance": 1.0}, 8), reference.forward(scene, {"wall.reflectance": 1.0}, 8)),
        (api.backward(scene, up, 8)["wall.reflectance"], reference.backward(scene, up, 8)["wall.reflectance"]),
        (api.gradient(scene, loss, 8)[1]["ball.radiance"], reference.gradient(scene, loss, 8)[1]["ball.radiance"]),
        (api.gradient(scene, it.L2(up), 8)[0], reference.gradient(scene, it.L2(up), 8)[0]),
    ]
    assert seen == [1.0]
    for fast, exact in pairs:
        np.testing.assert_allclose(fast, exact, rtol=2e-5)
    assert any(np.any(fast != exact) for fast, exact in pairs[2:])


def test_gradients_arrive_whole(scene):
    grads = reference.backward(scene, np.ones((8, 8, 3)), 16)
    assert type(grads) is api.Gradients
    assert set(grads) == set(grads.stderr) == {"wall.reflectance", "ball.radiance"}
    assert grads.replayed == (1024, 1024)


def test_a_changed_scene_is_sent_again(scene):
    before = reference.render(scene, 4)
    it.parameters(scene)["ball.radiance"] = 1.0
    np.testing.assert_allclose(reference.render(scene, 4), 2 * before, rtol=1e-6)


def test_errors_are_of_the_same_type(scene):
    with pytest.raises(SceneError, match=r"did you mean wall\.reflectance") as error:
        reference.backward(scene, np.ones((8, 8, 3)), params=["wall.reflectanc"])
    assert error.value.where == "scene: parameter 'wall.reflectanc'" and "\n" not in str(error.value)
    with pytest.raises(ValueError, match="at least 1"):
        reference.render(scene, spp=0)
    with pytest.raises(ZeroDivisionError):  # the caller's own function, called back
        reference.gradient(scene, lambda image: 1 / 0)
    assert reference.render(scene, 2).shape == (8, 8, 3)


def pid() -> int:
    return reference.run("os:getpid", None)


def test_it_is_reused_and_restarted():
    first = pid()
    assert pid() == first != os.getpid()
    with pytest.raises(ProcessDied, match="exit code 3.*next call starts another"):
        reference.run("os:_exit", None, 3)
    second = pid()
    assert second != first
    os.kill(second, getattr(signal, "SIGKILL", signal.SIGTERM))
    time.sleep(0.1)
    third = pid()  # killed between calls: nobody need know
    assert third != second
    reference.close()
    reference.close()
    assert gone(third) and pid() != third


def test_ctrl_c_leaves_nothing_hanging():
    before = pid()

    def interrupt(*numbers):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        reference.run("functools:reduce", None, interrupt, [1, 2])
    assert gone(before)
    assert reference.run("functools:reduce", None, lambda a, b: a + b, [1, 2, 3]) == 6


def gone(process: int) -> bool:
    for _ in range(50):
        try:
            os.kill(process, 0)
        except OSError:
            return True
        time.sleep(0.1)
    return False


def run_script(tmp_path, text: str, *more) -> subprocess.CompletedProcess:
    """Run a script that a user might write, from a folder of its own."""
    script = tmp_path / "script.py"
    script.write_text(text)
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run([sys.executable, script, *more], cwd=tmp_path, env=env, capture_output=True, text=True, timeout=300)


UNGUARDED = """
import os, sys
print("the script runs")
sys.path.insert(0, {root!r})
import irys_ti as it
from tests.helpers.scenes import inside_sphere
scene = inside_sphere(0.5, 0.5, 4)
"""


def test_an_unguarded_script_runs_once(tmp_path):
    """Nor is anything imported that happens to lie in the working directory."""
    (tmp_path / "random.py").write_text("raise RuntimeError('imported')")
    text = "import sys\nsys.path.pop(0)\n" + UNGUARDED.format(root=str(ROOT)) + "print(it.reference.render(scene, 2).shape)\n"
    done = run_script(tmp_path, text)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split("\n") == ["the script runs", "(8, 8, 3)", ""]
    assert done.stderr == ""


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGKILL")
def test_it_ends_with_its_parent(tmp_path):
    text = "print(it.reference.run('os:getpid', None), flush=True)\nos.kill(os.getpid(), 9)\n"
    done = run_script(tmp_path, UNGUARDED.format(root=str(ROOT)) + text)
    assert done.returncode == -9
    assert gone(int(done.stdout.split("\n")[1]))


def test_kinds_from_outside(tmp_path, scene, kinds, monkeypatch):
    """A module beside the script; its prints, on Python's and on C's standard output, spoil nothing."""
    noise = 'import os\nprint("hello")\nos.write(1, b"hello")\n'
    (tmp_path / "velvet_outside.py").write_text(VELVET + noise)
    monkeypatch.syspath_prepend(tmp_path)
    import velvet_outside

    it.register_bsdf("velvet", velvet_outside)
    scene.materials[0] = it.Material("wall", "velvet", {"fuzz": 2.0})
    np.testing.assert_allclose(reference.render(scene, 4), it.render(scene, 4), rtol=2e-5)
    # Another kind under the same name: the process may not keep the old one.
    del kinds["velvet"]
    (tmp_path / "satin_outside.py").write_text(VELVET.replace("p.fuzz *", "0.5 * p.fuzz *"))
    import satin_outside

    it.register_bsdf("velvet", SimpleNamespace(**{k: getattr(satin_outside, k) for k in ("PARAMS", "eval", "pdf", "sample")}))
    first = pid()
    assert reference.run("irys_ti.api:wanted", scene, ["wall.fuzz"]) == ["wall.fuzz"]
    assert pid() != first


def test_kinds_that_cannot_be_sent(scene, kinds):
    parts = {k: getattr(bsdf.BSDFS["diffuse"], k) for k in ("PARAMS", "pdf", "sample")}
    local = SimpleNamespace(**parts, eval=lambda p, wi, wo: bsdf.BSDFS["diffuse"].eval(p, wi, wo))
    it.register_bsdf("local", local)
    scene.materials[0].kind = "local"
    before = pid()
    with pytest.raises(SceneError, match="kind 'local': cannot be sent.*move it into a module") as error:
        reference.render(scene, 2)
    assert "\n" not in str(error.value)
    assert pid() == before


def test_kinds_of_the_script_itself(tmp_path):
    """Importing them would run the script again."""
    text = UNGUARDED.format(root=str(ROOT)) + "import sys\n" + VELVET + (
        "it.register_bsdf('mine', sys.modules['__main__'])\n"
        "scene.materials[0] = it.Material('wall', 'mine')\n"
        "try:\n    it.reference.render(scene, 2)\n"
        "except it.SceneError as error:\n    print(error)\n"
    )  # fmt: skip
    done = run_script(tmp_path, text)
    lines = done.stdout.strip().split("\n")
    assert lines[0] == "the script runs" and len(lines) == 2, done.stderr
    assert "kind 'mine'" in lines[1] and "running script" in lines[1]
