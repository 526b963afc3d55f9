"""What a live view does, without a window: every frame is of the scene as it is; settles, selects, slides, saves."""

import numpy as np
import pytest

import irys_ti as it
from irys_ti import runtime
from irys_ti.preview import Mouse, loop
from irys_ti.preview.display import curve, enlarge, expose, signed
from irys_ti.preview.orbit import Orbit
from irys_ti.preview.panel import EDGE, ROW, TOP, WIDTH
from irys_ti.preview.session import COARSE, SETTLE, Session
from irys_ti.preview.window import Event, NoDisplay, require_display
from irys_ti.scene.transform import look_at
from tests.helpers.scenes import gold_ball


class Clock:
    now = 100.0

    def __call__(self):
        return self.now


@pytest.fixture
def session(f32, tmp_path):
    clock = Clock()
    made = Session(gold_ball(), tmp_path / "saved", clock=clock)
    made.clock.now += 1
    return made


def test_a_picture_settles_to_the_scene(session):
    for _ in range(8):
        frame = session.frame()
    assert frame.spp == 8 and frame.image.shape == (session.height, session.width + WIDTH, 3)
    assert 0 <= frame.image.min() and frame.image.max() <= 1
    expected = it.render(session.scene, 256)
    z = (session.picture.image - expected) / np.sqrt(session.picture.variance + 1e-9)
    assert np.abs(np.median(z)) < 0.5
    assert np.sqrt(session.picture.variance.mean()) < expected.mean()


def test_what_moves_restarts_coarse_and_shows_nothing_older(session):
    before = session.frame().image
    session.drag(0.25, 0.05)
    frame = session.frame()
    film = session.scene.camera.film
    assert frame.spp == 1 and (film.width, film.height) == (session.width // COARSE, session.height // COARSE)
    again = it.render(session.scene, 1, np.random.SeedSequence([1, session.picture.passes]).generate_state(1)[0])
    shown = enlarge(expose(again), session.width, session.height)
    assert np.array_equal(frame.image[:, : session.width], shown)  # the scene as it is now, to the bit
    assert np.abs(frame.image - before).max() > 0.1
    session.clock.now += 2 * SETTLE
    assert session.frame().spp == 1  # at full size from the start
    assert session.scene.camera.film.width == session.width
    assert session.frame().spp == 2


def test_a_slider_changes_the_parameter_and_compiles_nothing(session):
    from irys_ti.kernels.path import trace_paths

    session.select("ball")
    labels = [s.label for s in session.panel.sliders]
    i = labels.index("metal.alpha")
    for _ in range(2):
        session.frame()
    compiled = len(trace_paths._primal.compiled_kernels)
    session.slide(i, 0.9)
    assert session.parameters["metal.alpha"] == pytest.approx(
        session.panel.sliders[i].low + 0.9 * (session.panel.sliders[i].high - session.panel.sliders[i].low)
    )
    assert session.frame().spp == 1
    assert len(trace_paths._primal.compiled_kernels) == compiled


def test_a_click_selects_what_is_there(session):
    session.click(session.width / 2, session.height / 2)
    assert session.selected == "ball"
    session.click(2, session.height - 2)
    assert session.selected not in ("", "ball")


def test_a_derivative_is_shown_in_red_and_blue(session):
    session.key("d")
    assert "select a shape" in session.message
    session.select("ball")
    session.panel.active = [s.label for s in session.panel.sliders].index("metal.alpha")
    session.key("d")
    for _ in range(4):
        frame = session.frame()
    picture = frame.image[:, : session.width]
    assert (picture[..., 0] - picture[..., 2]).max() > 0.5 and (picture[..., 2] - picture[..., 0]).max() > 0.5
    session.key("d")
    assert session.derivative is None


def test_keys_expose_save_and_go_home(session, tmp_path):
    session.frame()
    home = np.array(session.scene.camera.to_world)
    session.key("+")
    assert session.stops == 0.5
    session.key("s")
    assert it.read_image(tmp_path / "saved.exr").shape == (session.height, session.width, 3)
    assert (tmp_path / "saved.png").is_file() and "wrote" in session.message
    session.drag(0.1, 0.1)
    session.wheel(2)
    session.key("h")
    assert np.allclose(session.scene.camera.to_world[:3, 3], home[:3, 3])


def test_the_camera_turns_pans_and_zooms():
    camera = it.Camera(look_at([0, 1, 4], [0, 0.5, 0], [0, 1, 0]))
    orbit = Orbit(camera, np.array([0, 0.5, 0]))
    distance = np.linalg.norm(orbit.eye - orbit.target)
    for _ in range(40):
        orbit.turn(0.05, 0.0)
    assert np.allclose(orbit.eye, [0, 1, 4], atol=1e-9)  # forty steps of 9 degrees: once around
    orbit.turn(0.0, 5.0)
    assert np.linalg.norm(orbit.eye - orbit.target) == pytest.approx(distance)
    assert np.isfinite(camera.to_world).all() and abs(camera.to_world[:3, 1] @ [0, 1, 0]) > 0  # not over the pole
    orbit.zoom(3)
    assert np.linalg.norm(orbit.eye - orbit.target) == pytest.approx(distance * 0.9**3)


class FakeWindow:
    """A window that plays a list of events, one frame each."""

    def __init__(self, script):
        self.script, self.at, self.shown, self.running = list(script), (0.0, 0.0), [], True

    def events(self):
        if not self.script:
            self.running = False
            return []
        out = self.script.pop(0)
        for e in out:
            self.at = (e.x, e.y)
        return out

    def cursor(self):
        return self.at

    def held(self, key):
        return False

    def show(self, image, texts):
        self.shown.append(image)


def test_mouse_and_keys_reach_the_session(session):
    x, y = session.width / 2, session.height / 2
    click = [Event("press", "LMB", x, y)], [Event("release", "LMB", x, y)]
    window = FakeWindow([*click, []])
    loop(window, session)
    assert session.selected == "ball"
    i = [s.label for s in session.panel.sliders].index("metal.alpha")
    at = session.width + EDGE + 0.5 * (WIDTH - 2 * EDGE), TOP + i * ROW + 20
    loop(FakeWindow([[Event("press", "LMB", *at)], [Event("release", "LMB", *at)]]), session)
    slider = session.panel.sliders[i]
    assert session.parameters["metal.alpha"] == pytest.approx(0.5 * (slider.low + slider.high))
    eye = session.orbit.eye.copy()
    drag = [[Event("press", "LMB", x, y)], [Event("move", "", x + 9, y)], [Event("release", "LMB", x + 9, y)]]
    loop(FakeWindow(drag), session)
    assert np.abs(session.orbit.eye - eye).max() > 1e-3 and session.selected == "ball"
    assert loop(FakeWindow([[Event("press", "Escape", x, y)], []]), session) == 0


def test_a_slow_drag_is_not_lost(session):
    mouse = Mouse(session)
    mouse.take(Event("press", "LMB", 10, 10), False)
    eye = session.orbit.eye.copy()
    for k in range(1, 9):
        mouse.move(10 + k, 10, False)
    slow = session.orbit.eye - eye
    mouse.take(Event("release", "LMB", 18, 10), False)
    session.key("h")
    session.drag(8 / session.width, 0.0)
    assert np.allclose(session.orbit.eye - eye, slow, atol=1e-9)


def test_small_drawings():
    assert (signed(np.zeros((4, 4, 3))) == 1).all()
    up = signed(np.full((4, 4, 3), 2.0))
    assert (up == [1, 0, 0]).all() and (signed(np.full((4, 4, 3), -2.0)) == [0, 0, 1]).all()
    assert np.allclose(expose(np.array([[[np.nan, np.inf, -1.0]]])), [[[0.0, 1.0, 0.0]]])
    assert curve([], 20, 10).shape == (10, 20, 3) and curve([3, 2, 1, np.nan], 20, 10).max() > 0.5
    assert enlarge(np.arange(4.0).reshape(2, 2, 1), 4, 4)[:, :, 0].tolist() == [[0, 0, 1, 1]] * 2 + [[2, 2, 3, 3]] * 2


def test_no_display_is_one_line(monkeypatch):
    for display, word in ((None, "DISPLAY is not set"), (":9999", "does not answer")):
        monkeypatch.delenv("DISPLAY", raising=False)
        if display:
            monkeypatch.setenv("DISPLAY", display)
        with pytest.raises(NoDisplay, match=word) as error:
            require_display()
        assert "\n" not in str(error.value) and "--headless" in str(error.value)


def test_restarting_taichi_leaves_no_stale_frame(session):
    session.frame()
    runtime.init("cpu", "f64")
    assert np.isfinite(session.frame().image).all()
