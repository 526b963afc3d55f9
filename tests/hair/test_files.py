"""Files of curves: what is written is read again, Mitsuba's elements mean the same, broken ones say so in one line."""

import struct

import numpy as np
import pytest

import irys_ti as it
from irys_ti import SceneError
from tests.hair.strands import strands


def some() -> it.Curves:
    shape = strands(4, k=5)
    shape.radii = np.random.default_rng(1).uniform(0.01, 0.02, 20)
    return shape


@pytest.mark.parametrize("name", ["a.hair", "a.npz"])
def test_round_trip(name, tmp_path):
    shape = some()
    it.write_curves(tmp_path / name, shape)
    again = it.read_curves(tmp_path / name)
    np.testing.assert_allclose(again.points, shape.points, rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(again.radii, shape.radii, rtol=1e-6)
    np.testing.assert_array_equal(again.offsets, shape.offsets)
    assert again.id == "a" and again.basis == "catmull-rom"


def header(strands, points, bits, segments=0, thickness=0.0) -> bytes:
    return struct.pack("<4s4I5f88s", b"HAIR", strands, points, bits, segments, thickness, 0.0, 1.0, 1.0, 1.0, b"")


def test_hair_file_by_hand(tmp_path):
    """As the specification has it: defaults in the header stand for arrays that are left out."""
    path = tmp_path / "b.hair"
    points = np.arange(18, dtype="<f4").reshape(6, 3)
    path.write_bytes(header(2, 6, 2, segments=2, thickness=0.5) + points.tobytes())
    curves = it.read_curves(path)
    np.testing.assert_array_equal(curves.points, points)
    assert curves.offsets.tolist() == [0, 3, 6] and (curves.radii == 0.25).all()
    path.write_bytes(header(2, 6, 1 | 2 | 4) + struct.pack("<2H", 1, 3) + points.tobytes() + np.full(6, 0.2, "<f4").tobytes())
    curves = it.read_curves(path)
    assert curves.offsets.tolist() == [0, 2, 6]
    np.testing.assert_allclose(curves.radii, 0.1, rtol=1e-6)


def test_a_hair_file_is_a_scene(tmp_path, f32):
    it.write_curves(tmp_path / "head.hair", some())
    scene = it.load(tmp_path / "head.hair")
    scene.camera.film = it.Film(16, 16)
    image = it.render(scene, 4)
    assert scene.shapes[0].id == "head" and np.isfinite(image).all() and image.std() > 0.01


TEXT = "-1 0 0 0.1\n0 0.5 0 0.1\n1 0 0 0.1\n2 0 0 0.05\n\n\n0 0 1 0.1\n0 1 1 0.1\n0 2 1 0.1\n0 3 1 0.1\n0 4 1 0.1\n"


def test_mitsuba_elements(tmp_path):
    (tmp_path / "c.txt").write_text(TEXT)
    (tmp_path / "s.xml").write_text(
        '<scene version="3.0.0"><sensor type="perspective"/>'
        '<bsdf type="hair" id="brown"><float name="longitudinal_roughness" value="0.2"/>'
        '<float name="azimuthal_roughness" value="0.4"/><float name="scale_tilt" value="3"/>'
        '<float name="eumelanin" value="0.7"/><float name="pheomelanin" value="0.1"/></bsdf>'
        '<bsdf type="hair" id="ink"><spectrum name="sigma_a" value="0.5"/><float name="scale" value="2"/></bsdf>'
        '<shape type="bsplinecurve" id="a"><string name="filename" value="c.txt"/>'
        '<transform name="to_world"><scale value="2"/><translate x="1"/></transform><ref id="brown"/></shape>'
        '<shape type="linearcurve" id="b"><string name="filename" value="c.txt"/><ref id="ink"/></shape></scene>'
    )
    scene = it.load(tmp_path / "s.xml")
    a, b = scene.shapes
    assert a.basis == "bspline" and b.basis == "linear" and a.offsets.tolist() == [0, 4, 9]
    np.testing.assert_allclose(a.points[1], [1.0, 1.0, 0.0])
    np.testing.assert_allclose(a.radii[[0, 3]], [0.2, 0.1])
    values = {m.id: m.values for m in scene.materials}
    assert values["brown"]["eumelanin"] == 0.7 and values["brown"]["beta_m"] == 0.2 and values["brown"]["beta_n"] == 0.4
    assert values["brown"]["tilt"] == 3 and abs(values["brown"]["ior"] - 1.5496) < 1e-3
    np.testing.assert_allclose(values["ink"]["sigma_a"].values, 1.0)
    assert "eumelanin" not in values["ink"]


BAD = {
    "is not a HAIR file": ("a.hair", b"HAIR but short"),
    "the curves are empty": ("a.hair", header(0, 0, 2, 2)),
    "is truncated: points need 72 bytes, 60": ("a.hair", header(2, 6, 2, 2, 0.5) + bytes(60)),
    "is truncated: segments": ("a.hair", header(2, 6, 3) + bytes(2)),
    "2 strands have 6 points, the header says 7": ("a.hair", header(2, 7, 2, 2, 0.5) + bytes(84)),
    "radius at point 0 .strand 0. is zero": ("a.hair", header(2, 6, 2, 2, 0.0) + bytes(72)),
    "strand 0 has 1 point": ("a.hair", header(1, 1, 2, 0, 0.5) + bytes(12)),
    "line 2: '1 2 3' is not a control point": ("a.txt", b"1 2 3 0.1\n1 2 3\n"),
    "line 1: '1 2 x 3' is not": ("a.txt", b"1 2 x 3\n"),
    "the curves are empty.": ("b.txt", b"\n\n"),
    "is not finite": ("a.txt", b"0 0 0 nan\n1 0 0 1\n2 0 0 1\n3 0 0 1\n"),
    "is negative": ("a.txt", b"0 0 0 1\n1 0 0 1\n2 0 0 -1\n3 0 0 1\n"),
    "strand 1 has 2 points": ("a.txt", TEXT.encode()[:44] + b"\n\n0 0 0 1\n1 1 1 1\n"),
    "is not an .npz": ("a.npz", b"PK nonsense"),
    "no curves in files": ("a.abc", b""),
}


@pytest.mark.parametrize("line", BAD)
def test_broken_files_say_so_in_one_line(line, tmp_path):
    name, data = BAD[line]
    (tmp_path / name).write_bytes(data)
    with pytest.raises(SceneError, match=line.rstrip(".")) as caught:
        it.read_curves(tmp_path / name)
    assert "\n" not in str(caught.value) and name in str(caught.value)
