"""Every example runs to its end without a display, quickly, finds about what it should and leaves pictures."""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import irys_ti as it

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"
SECONDS = 120  # a hang, not a speed: the examples take under 20 s each on two idle cores


def load(name: str):
    """An example as a module."""
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def pictures(folder: Path) -> set[str]:
    for path in folder.glob("*.png"):
        assert it.read_image(path).shape[0] > 0
    return {path.name for path in folder.glob("*.png")}


def test_fit_ball(tmp_path, capsys):
    errors = load("fit_ball").main(["--quick", "--arch", "cpu", "--out", str(tmp_path)])
    said = capsys.readouterr().out
    assert abs(errors["metal.alpha"]) < 0.1 and np.abs(errors["metal.specular_reflectance"]).max() < 0.25
    assert "truth 0.25" in said and str(tmp_path) in said
    assert {"target.png", "iter_000.png", "comparison.png", "loss.png"} <= pictures(tmp_path)


def test_fit_room(tmp_path, capsys):
    errors = load("fit_room").main(["--quick", "--arch", "cpu", "--out", str(tmp_path)])
    assert np.sqrt(np.mean([e**2 for e in errors.values()])) < 0.2  # grey walls are off by 0.24
    assert "ceiling" in capsys.readouterr().out and "comparison.png" in pictures(tmp_path)


def test_gradient_in_ten_lines(tmp_path, capsys):
    errors = load("gradient_in_ten_lines").main(["--quick", "--arch", "cpu", "--out", str(tmp_path)])
    assert np.abs(errors["orange.reflectance"]).max() < 1e-6  # the same paths, so no noise
    assert "d loss / d bulb.intensity" in capsys.readouterr().out
    assert pictures(tmp_path) == {"image.png", "d_image_by_red.png"}


def test_match_material(tmp_path, capsys):
    (r,) = load("match_material").main(["--quick", "--arch", "cpu", "--out", str(tmp_path)])
    assert r["labels"] == ["base_color[r]", "base_color[g]", "base_color[b]", "specular_roughness"]
    off = np.abs(r["found"] - r["true"])
    assert off.max() < 0.03 and (off < 5 * r["bars"] + 0.002).all()  # colours start 0.45 away
    assert ((r["bars"] > 1e-5) & (r["bars"] < 0.03)).all()
    said = capsys.readouterr().out
    assert "covariance (J' S^-1 J)^-1" in said and "2 of 2 values within 0.02" in said
    assert "found_against_true.png" in pictures(tmp_path)


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.py")), ids=lambda p: p.stem)
def test_every_example_has_the_usual_arguments(path):
    """And shows its help without a display."""
    env = {k: v for k, v in os.environ.items() if k != "DISPLAY"} | {"PYTHONPATH": str(EXAMPLES.parent)}
    command = [sys.executable, str(path), "--help"]
    done = subprocess.run(command, capture_output=True, text=True, env=env, timeout=SECONDS, check=True)
    assert all(option in done.stdout for option in ("--arch", "--quick", "--out"))


def test_bearing_plate(tmp_path, capsys):
    errors = load("bearing_plate").main(["--quick", "--arch", "cpu", "--out", str(tmp_path)])
    assert abs(errors["bore_diameter"]) < 0.07 and abs(errors["thickness"]) < 0.04  # they start 0.1 and 0.08 away
    assert np.hypot(errors["bore_x"], errors["bore_y"]) < 0.07  # 0.12
    assert "truth 0.62000" in capsys.readouterr().out and {"edges.png", "comparison.png"} <= pictures(tmp_path)


def test_skin(tmp_path, capsys):
    errors = load("skin").main(["--quick", "--arch", "cpu", "--out", str(tmp_path)])
    assert abs(errors["melanin"]) < 0.1 and abs(errors["blood"]) < 0.06  # it starts at 2.7 and 0.3 times the truth
    assert "started at" in capsys.readouterr().out and "target.png" in pictures(tmp_path)


def test_smoke(tmp_path, capsys):
    errors = load("smoke").main(["--quick", "--arch", "cpu", "--out", str(tmp_path)])
    assert errors["found"] < 0.3 and errors["start"] > 0.9  # scattering smoke of 16^3 voxels
    assert "relative error" in capsys.readouterr().out and (tmp_path / "smoke.vol").is_file()


def test_camera_pose(tmp_path, capsys):
    errors = load("camera_pose").main(["--quick", "--arch", "cpu", "--out", str(tmp_path)])
    assert errors["pixels"] < 1.5  # it starts 5.2 pixels off
    assert "field of view" in capsys.readouterr().out and {"camera.png", "comparison.png"} <= pictures(tmp_path)


def test_shadow_art(tmp_path, capsys):
    errors = load("shadow_art").main(["--quick", "--arch", "cpu", "--out", str(tmp_path)])
    assert errors["loss"] < 0.05 and errors["found"] < 0.75 * errors["start"]  # small tilts hardly change the shadow
    assert "the bird's corners" in capsys.readouterr().out and {"shadow.png", "comparison.png"} <= pictures(tmp_path)


def test_hair(tmp_path, capsys):
    errors = load("hair").main(["--quick", "--arch", "cpu", "--out", str(tmp_path)])
    assert abs(errors["hair.eumelanin"]) < 0.1  # it starts at five times the truth; seeds spread by 3 %
    assert "truth 0.25" in capsys.readouterr().out and pictures(tmp_path) == {"target.png"}


@pytest.mark.slow
def test_robot_pose(tmp_path, data):
    errors = load("robot_pose").main(["--quick", "--arch", "cpu", "--out", str(tmp_path)])
    assert max(abs(e) for e in errors.values()) < 1.0  # it starts 13 to 20 degrees away


def test_splat_autumn(tmp_path, capsys):
    found = load("splat_autumn").main(["--quick", "--arch", "cpu", "--out", str(tmp_path)])
    assert found["visible"].sum() >= 35
    assert np.median(found["colour"]) < 0.2 and np.median(found["opacity"]) < 0.1  # it starts 0.4 and 0.15 away
    assert "not found:" in capsys.readouterr().out and pictures(tmp_path) == {"comparison.png"}


def test_gold_and_bush(tmp_path):
    image = load("gold_and_bush").main(["--quick", "--arch", "cpu", "--out", str(tmp_path)])
    assert image.shape == (24, 36, 3) and np.isfinite(image).all() and pictures(tmp_path) == {"gold_and_bush.png"}


@pytest.mark.slow
def test_captured_guitar(data, tmp_path, capsys):
    found = load("captured_guitar").main(
        ["--quick", "--arch", "cpu", "--out", str(tmp_path), "--capture", str(data / "splats" / "guitar.compressed.ply")]
    )
    assert "9085 splats" in capsys.readouterr().out and (found["tint"] > 0).all()
    assert {"captured.png", "relit.png", "tinted.png", "all.png"} <= pictures(tmp_path)
    assert len(it.read_splats(tmp_path / "tinted.ply")) == 9085
