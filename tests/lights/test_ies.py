"""Photometric files: what they say at an angle, their derivative, and one clear line for each fault."""

import numpy as np
import pytest
from scipy.interpolate import RegularGridInterpolator

import irys_ti as it
from irys_ti.io import ies
from irys_ti.scene import constant, transform
from tests.helpers.scenes import FLAT
from tests.lights.scenes import floor

HEAD = "IESNA:LM-63-2002\n[TEST] a lamp\n[MANUFAC] nobody\nTILT=NONE\n"
SIZES = "1 1000 2.0 {n} {m} 1 2 0 0 0\n0.5 1 50\n"
QUADRANT = HEAD + SIZES.format(n=4, m=3) + "0 30 60 80\n0 45 90\n100 80 40 0\n100 90 50 10\n100 70 30 0\n"
ROUND = HEAD + SIZES.format(n=3, m=1) + "0 45\n90\n0\n100 70 0\n"
FULL = HEAD + SIZES.format(n=2, m=5) + "0 180\n0 90 180 270 360\n10 1\n20 1\n30 1\n40 1\n10 1\n"
DOWN = transform.translate(0, 2, 0) @ transform.rotate([1, 0, 0], 90)


@pytest.fixture
def file(tmp_path):
    """Write a text, give its path."""

    def write(text):
        path = tmp_path / "lamp.ies"
        path.write_text(text)
        return path

    return write


def test_a_file_is_read_with_its_factors(file):
    data = ies.read(file(QUADRANT))
    assert data.lumens == 1000
    np.testing.assert_array_equal(data.vertical, [0, 30, 60, 80])
    np.testing.assert_array_equal(data.horizontal, [0, 45, 90])
    # The multiplier 2 and the ballast factor 0.5.
    np.testing.assert_array_equal(data.candela[:, 1], [100, 90, 50, 10])


@pytest.mark.parametrize(
    ("text", "fold"),
    [
        (QUADRANT, lambda phi: min(abs(phi), 180 - abs(phi))),
        (ROUND, lambda phi: 0.0),
        (FULL, lambda phi: phi % 360),
    ],
)
def test_intensity_by_angle(text, fold, file, f64):
    """Irradiance below the lamp is its table's candela, cosine over distance squared; 0 beyond the last vertical angle."""
    lamp = it.ies_light(file(text), to_world=DOWN, intensity=constant(1.0))
    table, (vertical, horizontal) = lamp.values["candela"].pixels[..., 0], lamp.angles
    around = len(horizontal) > 1
    value = RegularGridInterpolator((vertical, horizontal), table) if around else None
    first = None
    for x, z in ((0.2, 0.0), (0.5, 0.3), (1.5, -1.0), (-1.0, 0.2), (-0.8, -2.0)):
        scene = floor(lamp, at=(x, z), fov=0.01)
        local = np.linalg.inv(DOWN)[:3, :3] @ np.array([x, -2.0, z])
        theta = np.rad2deg(np.arctan2(np.hypot(local[0], local[1]), local[2]))
        phi = fold(np.rad2deg(np.arctan2(-local[1], local[0])))
        candela = value((theta, phi)) if around else np.interp(theta, vertical, table[:, 0])
        distance = np.sqrt(x * x + z * z + 4)
        irradiance, picture = float(candela) * 2 / distance**3, it.render(scene, 256, 3)
        if first is None:
            first = irradiance, picture
            np.testing.assert_allclose(np.pi * picture.mean((0, 1)) * FLAT, irradiance, rtol=1e-2)
        np.testing.assert_allclose(picture / first[1], irradiance / first[0], rtol=5e-3)  # the same wavelengths
    if text is QUADRANT:
        assert np.all(it.render(floor(lamp, at=(8.8, 8.8), fov=0.01), 4) == 0)  # 81 degrees


def test_the_table_has_its_derivative(file, f64):
    """The picture is linear in the table: entries times derivatives give it, and one entry's is the difference."""
    lamp = it.ies_light(file(QUADRANT), to_world=DOWN)
    scene = floor(lamp, at=(0.6, 0.4), fov=40.0)
    weight = np.random.default_rng(0).random((8, 8, 3))
    p = it.parameters(scene)
    g = it.backward(scene, weight, 2, 3, ["lamp.candela"])["lamp.candela"]
    table = p["lamp.candela"]
    picture = float((weight * it.render(scene, 2, 3)).sum())
    np.testing.assert_allclose((g * table).sum(), picture, rtol=1e-6)
    table[1, 1, 0] += 10.0
    p["lamp.candela"] = table
    np.testing.assert_allclose(g[1, 1, 0] * 10.0, float((weight * it.render(scene, 2, 3)).sum()) - picture, rtol=1e-5)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("hello\n", ["TILT"]),
        (QUADRANT.replace("TILT=NONE", "TILT=INCLUDE"), ["TILT=INCLUDE", "line 4"]),
        (QUADRANT.replace("4 3 1 2", "4 3 2 2"), ["type B", "type C"]),
        (QUADRANT.replace("4 3 1 2", "4 0 1 2"), ["0 horizontal angles"]),
        (QUADRANT.replace("4 3 1 2", "4 900000 1 2"), ["900000"]),
        (QUADRANT[:-20], ["candela", "cut off"]),
        (QUADRANT + "7\n", ["1 numbers too many"]),
        (QUADRANT.replace("0 30 60 80", "0 60 30 80"), ["vertical angles", "do not increase"]),
        (QUADRANT.replace("0 45 90\n", "0 45 80\n"), ["0 to 80", "90, 180"]),
        (QUADRANT.replace("90 50 10", "90 -50 10"), ["-50"]),
        (QUADRANT.replace("90 50 10", "90 fifty 10"), ["fifty", "line 10"]),
        (QUADRANT.replace("90 50 10", "90 nan 10"), ["nan", "not finite"]),
        (HEAD, ["number of lamps", "cut off"]),
    ],
)
def test_faults_are_one_clear_line(text, words, file):
    with pytest.raises(it.SceneError) as error:
        ies.read(file(text))
    message = str(error.value)
    assert "\n" not in message and "lamp.ies" in message and all(w in message for w in words), message


def test_a_missing_file_and_a_light_without_its_table(tmp_path, f32):
    with pytest.raises(it.SceneError, match="cannot be read"):
        ies.read(tmp_path / "none.ies")
    with pytest.raises(it.SceneError, match="ies_light"):
        it.render(floor(it.Light("lamp", "ies", {})), 1)
