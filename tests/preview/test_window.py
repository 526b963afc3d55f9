"""A real window, under Xvfb: what is shown is the scene, keys and clicks reach it, and it goes when it should."""

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import irys_ti as it

ROOT = Path(__file__).resolve().parents[2]
SCENE = """<scene version="3.0.0"><integrator type="path"><integer name="max_depth" value="4"/></integrator>
<sensor type="perspective"><float name="fov" value="40"/><transform name="to_world">
<lookat origin="0,1,4" target="0,0.6,0" up="0,1,0"/></transform>
<film type="hdrfilm"><integer name="width" value="160"/><integer name="height" value="120"/><rfilter type="box"/></film></sensor>
<bsdf type="diffuse" id="paint"><rgb name="reflectance" value="0.8,0.2,0.1"/></bsdf>
<bsdf type="diffuse" id="floor"><rgb name="reflectance" value="0.3,0.4,0.5"/></bsdf>
<shape type="sphere" id="ball"><point name="center" value="0,0.6,0"/><float name="radius" value="0.6"/><ref id="paint"/></shape>
<shape type="rectangle" id="ground"><transform name="to_world"><rotate x="1" angle="-90"/><scale value="4"/></transform>
<ref id="floor"/></shape><emitter type="constant" id="sky"><spectrum name="radiance" value="0.7"/></emitter></scene>"""
WAIT = 90  # seconds for what takes a few on an idle machine

pytestmark = pytest.mark.skipif(
    not (shutil.which("Xvfb") and shutil.which("xdotool")), reason="needs Xvfb and xdotool (.ci/run installs them)"
)


@pytest.fixture
def display():
    """A display of our own: its name, and its server's process."""
    reader, writer = os.pipe()
    server = subprocess.Popen(
        ["Xvfb", "-displayfd", str(writer), "-screen", "0", "640x480x24"], pass_fds=[writer], stderr=subprocess.DEVNULL
    )
    os.close(writer)
    with os.fdopen(reader) as pipe:
        name = ":" + pipe.readline().strip()
    yield name, server
    server.kill()
    server.wait()


class Live:
    """``irys-ti preview`` in a window."""

    def __init__(self, folder: Path, display: str):
        self.display, self.folder = display, folder
        (folder / "scene.xml").write_text(SCENE)
        command = [sys.executable, "-m", "irys_ti.cli", "preview", "scene.xml", "--arch", "cpu", "--save-as", "shot"]
        env = {**os.environ, "DISPLAY": display, "PYTHONPATH": str(ROOT)}
        self.process = subprocess.Popen(command, cwd=folder, env=env, stderr=subprocess.PIPE, text=True)
        self.window = self.until(lambda: self.do("search", "--name", "irys_ti").split())[0]
        self.until(lambda: self.shot().std() > 20)  # the first picture is there

    def do(self, *words: str) -> str:
        env = {**os.environ, "DISPLAY": self.display}
        return subprocess.run(["xdotool", *words], env=env, capture_output=True, text=True).stdout

    def until(self, condition):
        """What condition() gives, once it gives something."""
        end = time.monotonic() + WAIT
        while time.monotonic() < end and self.process.poll() is None:
            if found := condition():
                return found
            time.sleep(0.1)
        pytest.fail(f"waited in vain; it said: {self.process.communicate(timeout=5)[1] if self.process.poll() else ''}")

    def shot(self) -> np.ndarray:
        from PIL import ImageGrab

        return np.asarray(ImageGrab.grab(xdisplay=self.display).crop((0, 0, 420, 120)).convert("RGB"), np.float64)


def test_the_window_shows_the_scene_and_listens(tmp_path, display):
    live = Live(tmp_path, display[0])
    scene = it.load(tmp_path / "scene.xml")
    expected = 255 * np.clip(it.render(scene, 64), 0, 1) ** (1 / 2.2)
    rows = slice(0, 95)  # above the line of help

    def error(turned=slice(None)):
        """Mean difference of blocks of 5 x 5 pixels, so that noise counts little."""
        difference = (live.shot()[rows, :160][turned] - expected[rows]).reshape(19, 5, 32, 5, 3)
        return np.abs(difference.mean((1, 3))).mean()

    live.until(lambda: error() < 6)  # the right picture, the right way up
    assert error(slice(None, None, -1)) > 20  # the control: upside down

    blank = live.shot()[64:, 160:]
    live.do("mousemove", "--window", live.window, "80", "70", "click", "1")
    live.until(lambda: np.abs(live.shot()[64:, 160:] - blank).max() > 50)  # sliders of the ball's paint

    before = live.shot()[rows, :160]
    x, y = 160 + 12 + 118, 64 + 24  # the middle of the first slider: less red
    live.do("mousemove", "--window", live.window, str(x), str(y), "mousedown", "1")
    time.sleep(0.5)
    live.do("mouseup", "1")
    live.until(lambda: live.shot()[50:80, 70:90, 0].mean() < before[50:80, 70:90, 0].mean() - 15)

    live.do("key", "--window", live.window, "s")
    live.until(lambda: (tmp_path / "shot.png").is_file() and (tmp_path / "shot.exr").is_file())
    live.do("key", "--window", live.window, "Escape")
    assert live.process.wait(WAIT) == 0
    assert live.do("search", "--name", "irys_ti").strip() == ""


def test_a_lost_display_is_one_line(tmp_path, display):
    name, server = display
    live = Live(tmp_path, name)
    server.send_signal(signal.SIGKILL)
    said = live.process.communicate(timeout=WAIT)[1]
    assert live.process.returncode == 2
    assert said.count("\n") == 1 and "display was lost" in said and "irys-ti render" in said


def test_no_display_is_one_line(tmp_path):
    (tmp_path / "scene.xml").write_text(SCENE)
    env = {k: v for k, v in os.environ.items() if k != "DISPLAY"} | {"PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "irys_ti.cli", "preview", "scene.xml"]
    done = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True, timeout=WAIT)
    assert done.returncode == 2 and done.stderr.count("\n") == 1 and "there is no display" in done.stderr
