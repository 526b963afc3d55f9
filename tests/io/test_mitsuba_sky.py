"""Mitsuba's sunsky as a light of kind "sky": the sun stays where it was in the world, names and defaults, faults."""

import numpy as np
import pytest

import irys_ti as it
from irys_ti.graph import evaluate, leaf
from irys_ti.spectral.skymodel import sun_direction

SENSOR = '<sensor type="perspective"><float name="fov" value="40"/></sensor>'


@pytest.fixture
def load(tmp_path):
    def function(inside, kind="sunsky"):
        path = tmp_path / "scene.xml"
        path.write_text(f'<scene version="3.0.0">{SENSOR}<emitter type="{kind}" id="sky">{inside}</emitter></scene>')
        return it.load(path)

    return function


def towards_sun(light) -> np.ndarray:
    """The sun's direction in the world."""
    e, a = leaf("e"), leaf("a")
    (local,) = evaluate([sun_direction(e, a)], {e: light.values["sun_elevation"], a: light.values["sun_azimuth"]})
    return light.to_world[:3, :3] @ local


@pytest.mark.parametrize("frame", ['<rotate x="1" angle="-90"/>', "", '<rotate y="1" angle="30"/><rotate x="1" angle="-80"/>'])
def test_the_sun_stays_where_it_was(frame, load):
    direction = np.array([0.2, 0.9, 0.6])
    transform = f'<transform name="to_world">{frame}</transform>'
    scene = load(f'{transform}<vector name="sun_direction" x="0.2" y="0.9" z="0.6"/><float name="turbidity" value="4.5"/>')
    light = scene.lights[0]
    assert (light.kind, light.values["turbidity"], light.values["albedo"]) == ("sky", 4.5, 0.3)
    np.testing.assert_allclose(towards_sun(light), direction / np.linalg.norm(direction), atol=1e-12)


def test_up_is_z_in_its_own_frame(load):
    light = load('<vector name="sun_direction" x="0" y="0" z="1"/>').lights[0]
    np.testing.assert_allclose(light.to_world[:3, :3] @ [0, 1, 0], [0, 0, 1], atol=1e-12)
    assert light.values["sun_elevation"] == pytest.approx(90.0)


def test_halves_scales_and_a_spectrum_as_albedo(load):
    sun = '<vector name="sun_direction" x="0" y="0.5" z="1"/>'
    scales = '<float name="sun_scale" value="2"/><float name="sky_scale" value="3"/>'
    values = load(sun + scales).lights[0].values
    assert (values["sun_scale"], values["sky_scale"]) == (2.0, 3.0)
    values = load(sun + '<float name="sky_scale" value="3"/>', "sky").lights[0].values
    assert (values["sun_scale"], values["sky_scale"]) == (0.0, 3.0)
    values = load(sun + '<float name="sun_scale" value="2"/>', "sun").lights[0].values
    assert (values["sun_scale"], values["sky_scale"]) == (2.0, 0.0)
    scene = load(sun + '<spectrum name="albedo" value="400:0.1,700:0.3"/>')
    assert scene.lights[0].values["albedo"] == pytest.approx(0.2)
    assert "albedo" in scene.notes[0]


def test_place_and_time(load):
    """Mitsuba 3.9.1 for its default, Tokyo in July: (theta, azimuth) of its own formula, which leaves out refraction."""
    pytest.importorskip("astral")
    light = load("").lights[0]
    assert light.values["sun_elevation"] == pytest.approx(46.1, abs=0.1)
    x, y, z = towards_sun(light)  # its +x is south, its +y west
    assert y > 0.68 and abs(x) < 0.06 and z == pytest.approx(np.sin(np.deg2rad(46.1)), abs=2e-3)


@pytest.mark.parametrize(
    ("inside", "words"),
    [
        ('<vector name="sun_direction" x="0" y="0" z="0"/>', "zero"),
        ('<vector name="sun_direction" x="0" y="1" z="-0.2"/>', "below the horizon"),
        ('<vector name="sun_direction" x="0" y="0" z="1"/><integer name="year" value="2020"/>', "year"),
        ('<float name="turbidity" value="12"/>', "turbidity"),
        ('<vector name="sun_direction" x="0" y="0" z="1"/><float name="haze" value="12"/>', "haze"),
        ('<integer name="month" value="13"/>', "date"),
        ('<float name="hour" value="1"/>', "below the horizon"),
    ],
)
def test_faults_are_one_clear_line(inside, words, load):
    if "month" in inside or "hour" in inside:
        pytest.importorskip("astral")
    with pytest.raises(it.SceneError, match=words) as error:
        load(inside)
    assert "\n" not in str(error.value) and "scene.xml" in str(error.value)
