"""Parametric solids: closed, of the right volume, with exact derivatives of every vertex by every dimension."""

import math

import numpy as np
import pytest
import trimesh

from irys_ti import SceneError, cad

PI = math.pi


def bracket():
    """An L profile with three dimensions."""
    sizes = {"a": cad.Dimension(0.05, 0.01), "b": cad.Dimension(0.06, 0.01), "t": cad.Dimension(0.005, 1e-3, 0.02)}
    corners = lambda d: [(0, 0), (d.a, 0), (d.a, d.t), (d.t, d.t), (d.t, d.b), (0, d.b)]  # noqa: E731
    return cad.extrusion("bracket", corners, 0.1, sizes)


def pinned():
    """A plate, and a pin that fits its bore and stands above it."""
    pin = cad.moved(
        cad.shaft("pin", [(0.03, 0.05)]), "pin", lambda d, x, y, z: (x, y, z + d.lift), {"lift": cad.Dimension(0.02)}
    )
    plate = cad.plate("plate", 0.12, 0.08, 0.01, {"bore": (0.0, 0.0, 0.03)})
    return cad.assembly("pinned", {"plate": plate, "pin": pin}, {"pin_diameter_1": "plate_bore_diameter"})


PLATE = {"bore": (0.01, 0.0, 0.03), "small": (-0.04, 0.02, 0.01)}
SEAT = {"outer": 0.08, "height": 0.02, "bore": 0.03, "seat": 0.05, "depth": 0.008}
# name -> (solid, its volume in closed form)
SOLIDS = {
    "box": (lambda: cad.box("box", 1, 2, 3), 6.0),
    "plate": (lambda: cad.plate("plate", 0.12, 0.08, 0.01, PLATE), (0.12 * 0.08 - PI * (0.015**2 + 0.005**2)) * 0.01),
    "shaft": (
        lambda: cad.shaft("shaft", [(0.02, 0.05), (0.03, 0.02)]),
        PI * (0.01**2 * 0.05 + 0.015**2 * 0.02),
    ),
    "bearing seat": (
        lambda: cad.bearing_seat("seat", **SEAT),
        PI * ((0.04**2 - 0.015**2) * 0.012 + (0.04**2 - 0.025**2) * 0.008),
    ),
    "bracket": (bracket, (0.05 * 0.005 + 0.055 * 0.005) * 0.1),
    "pinned": (pinned, (0.12 * 0.08 - PI * 0.015**2) * 0.01 + PI * 0.015**2 * 0.05),
}


@pytest.mark.parametrize("name", SOLIDS)
def test_a_solid_is_closed_and_has_its_volume(name):
    make, volume = SOLIDS[name]
    solid = make()
    mesh = trimesh.Trimesh(solid.vertices(), solid.faces)  # welds by position
    assert mesh.is_watertight
    assert mesh.volume == pytest.approx(volume, rel=1e-12)  # outward faces: a positive volume


def test_a_fillet_has_its_volume_up_to_its_facets():
    """Pappus: the area between square and quarter circle, about the axis."""
    r, f = 0.015, 0.005
    solid = cad.fillet_ring("fillet", 2 * r, f, segments=256, steps=64)
    mesh = trimesh.Trimesh(solid.vertices(), solid.faces)
    area = (1 - PI / 4) * f * f
    centre = (0.5 * f**3 - (PI / 4) * f * f * (f - 4 * f / (3 * PI))) / area
    assert mesh.is_watertight
    assert mesh.volume == pytest.approx(2 * PI * (r + centre) * area, rel=1e-3)


@pytest.mark.parametrize("name", [*SOLIDS])
def test_forward_and_reverse_mode_are_exact(name):
    solid = SOLIDS[name][0]()
    along = np.random.default_rng(0).standard_normal(solid.vertices().shape)
    reverse = solid.pull({solid.path: along})
    shares = solid.shares(along)
    for dimension, value in dict(solid.values).items():
        tangent = solid.push({dimension: 1.0})[solid.path]
        terms = (along * tangent).ravel()
        assert abs(math.fsum(terms) - reverse[dimension]) <= 1e-15 * np.abs(terms).max()
        assert math.fsum(shares[dimension]) == pytest.approx(reverse[dimension], abs=1e-13 * np.abs(terms).sum())
        step = 1e-5 * max(abs(value), 0.01)
        around = []
        for x in (value + step, value - step):
            solid.values[dimension] = x
            around.append(solid.vertices())
        solid.values[dimension] = value
        assert np.abs((around[0] - around[1]) / (2 * step) - tangent).max() < 1e-9
        assert np.abs(tangent).max() > 0.1  # every dimension moves something


def test_what_does_not_hold_together_is_refused():
    with pytest.raises(SceneError, match="hole 1 reaches over the outline"):
        cad.plate("plate", 0.12, 0.08, 0.01, {"bore": (0.06, 0.0, 0.03)})
    with pytest.raises(SceneError, match="holes 1 and 2 meet"):
        cad.plate("plate", 0.12, 0.08, 0.01, {"a": (0.0, 0.0, 0.03), "b": (0.01, 0.0, 0.03)})
    with pytest.raises(SceneError, match="thickness.*out of range"):
        cad.plate("plate", 0.12, 0.08, -0.01, {})
    with pytest.raises(SceneError, match="diameter_1.*nan"):
        cad.shaft("shaft", [(float("nan"), 1.0)])
    with pytest.raises(SceneError, match="clockwise"):
        cad.extrusion("bad", lambda d: [(0, 0), (0, 1), (1, 0)], 1.0, {})
    with pytest.raises(SceneError, match="off the axis"):
        cad.revolution("bad", lambda d: [(1.0, 0.0), (1.0, 1.0)], {})
    solid = cad.plate("plate", 0.12, 0.08, 0.01, {"bore": (0.0, 0.0, 0.03)})
    solid.values["bore_x"] = 0.05  # triangles of the flat sides would turn over, or the bore leave the plate
    with pytest.raises(SceneError, match="plate"):
        solid.vertices()


def test_a_bore_may_move_far():
    """The flat sides' triangles are fat, so that a fit can move and widen a bore without making the plate anew."""
    solid = cad.plate("plate", 1.6, 1.2, 0.2, {"bore": (0.0, 0.0, 0.5)})
    for x, y, d in ((0.25, 0.2, 0.6), (-0.3, 0.1, 0.3), (0.1, -0.25, 0.6), (0.0, 0.0, 1.0), (0.4, 0.0, 0.4)):
        solid.values |= {"bore_x": x, "bore_y": y, "bore_diameter": d}
        mesh = trimesh.Trimesh(solid.vertices(), solid.faces)
        assert mesh.volume == pytest.approx((1.6 * 1.2 - PI * d * d / 4) * 0.2, rel=1e-12)


def test_any_function_with_a_derivative_plugs_in():
    sphere = trimesh.creation.icosphere(1)

    def build(values):
        return sphere.vertices * values["radius"], sphere.faces

    def vjp(values, d_vertices):
        return {"radius": float((d_vertices * sphere.vertices).sum())}

    ball = cad.External("ball", {"radius": cad.Dimension(2.0, 0.0)}, build, vjp)
    assert np.abs(ball.vertices()).max() == pytest.approx(2.0)
    assert ball.pull({"ball.vertices": np.asarray(sphere.vertices)})["radius"] == pytest.approx(len(sphere.vertices))
    with pytest.raises(SceneError, match="no forward mode"):
        ball.push({"radius": 1.0})

    def changing(values):
        made = trimesh.creation.icosphere(1 if values["radius"] < 3 else 2)
        return made.vertices, made.faces

    other = cad.External("ball", {"radius": cad.Dimension(2.0, 0.0)}, changing, vjp)
    other.values["radius"] = 4.0
    with pytest.raises(SceneError, match="topology changed"):
        other.vertices()


def test_dimensions_are_parameters_of_a_scene(f32):
    """Assigned, differentiated with a standard error, refused by name; what they steer is pulled back exactly."""
    import irys_ti as it
    from irys_ti.scene.transform import look_at

    plate = cad.plate("plate", 1.6, 1.2, 0.2, {"bore": (0.0, 0.0, 0.5)}, 24)
    scene = it.Scene(
        camera=it.Camera(look_at([0.6, 0.5, 3.0], [0, 0, 0], [0, 1, 0]), fov=40, film=it.Film(12, 12)),
        materials=[it.Material("steel", "diffuse", {"reflectance": 0.5})],
        lights=[it.Light("sky", "constant", {})],
        integrator=it.Integrator(max_depth=2),
    )
    plate.add_to(scene, "steel")
    params = it.parameters(scene)
    params["plate.bore_diameter"] = 0.6
    assert np.abs(scene.shapes[0].vertices - plate.vertices()).max() == 0
    paths = ["plate.bore_diameter", "plate.thickness", "plate.vertices"]
    weight = np.random.default_rng(0).standard_normal((12, 12, 3))
    grads = it.backward(scene, weight, 16, params=paths)
    pulled = plate.pull({"plate.vertices": grads["plate.vertices"]})
    for path in paths[:2]:
        assert grads[path] == pytest.approx(pulled[path.split(".")[1]], rel=1e-9)
        assert grads[path] != 0 and grads.stderr[path] > 0
    alone = it.backward(scene, weight, 16, params=paths[:1])
    assert alone[paths[0]] == grads[paths[0]]  # to the bit, whatever else is asked for
    with pytest.raises(it.SceneError, match="did you mean plate.thickness"):
        it.backward(scene, weight, 1, params=["plate.thicknes"])
    with pytest.raises(it.SceneError, match="out of range"):
        params["plate.thickness"] = -1.0
    with pytest.raises(it.SceneError, match="hole 1 reaches over the outline"):
        params["plate.bore_diameter"] = 1.3
    assert params["plate.bore_diameter"] == 0.6 and np.isfinite(it.render(scene, 1)).all()
