"""Every demonstration, headless and quick: its film is written, and its last frame is the known truth."""

import imageio.v3 as iio
import pytest

import irys_ti as it
from irys_ti.cli import main
from irys_ti.demos import DEMOS, Outcome, play
from irys_ti.demos.film import Film


@pytest.mark.parametrize("name", DEMOS)
def test_a_demonstration_ends_at_the_truth(name, tmp_path, capsys):
    film = tmp_path / f"{name}.gif"
    assert main(["demo", name, "--quick", "--arch", "cpu", "--out", str(film)]) == 0
    frames = iio.imread(film)
    assert len(frames) > 10 and frames[0].std() > 10
    assert "allowed" in capsys.readouterr().out


def test_a_wrong_ending_fails():
    assert not Outcome({"alpha": 0.2}, {"alpha": 0.1}).ok


def test_without_a_display_a_film_is_written(tmp_path, monkeypatch, capsys):
    monkeypatch.delenv("DISPLAY", raising=False)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(play.__globals__, "play", lambda name, show, quick: (show(iio_frame(), []), Outcome({}, {}))[1])
    assert main(["demo", "ball", "--arch", "cpu"]) == 0
    assert "no display" in capsys.readouterr().err and (tmp_path / "ball.gif").is_file()


def iio_frame():
    import numpy as np

    return np.full((8, 8, 3), 0.5)


def test_a_stopped_film_is_whole(tmp_path):
    path = tmp_path / "stopped.gif"
    with pytest.raises(KeyboardInterrupt), Film(path) as film:
        film.show(iio_frame())
        raise KeyboardInterrupt
    assert len(iio.imread(path)) >= 1


def test_bad_films_are_refused(tmp_path):
    with pytest.raises(it.SceneError, match="films ending in '.avi'"):
        Film(tmp_path / "a.avi")
    with pytest.raises(it.SceneError, match="folder does not exist"):
        Film(tmp_path / "none" / "a.gif")
    with pytest.raises(it.SceneError, match="there is none called 'balls'"):
        play("balls", None)
