"""Lights that stand alone move too; and shadows that the camera sees by way of another surface."""

import numpy as np
import pytest

import irys_ti as it
from irys_ti.kernels.path import trace_paths
from irys_ti.scene import Integrator, Light, Material, Scene, constant, cube, rectangle
from irys_ti.scene.pose import rotation_matrix
from irys_ti.scene.transform import rotate, scale, translate
from tests.helpers.random_stages import weight_image
from tests.helpers.scenes import camera
from tests.helpers.stage import moved, smooth_weight, stage, with_kinds
from tests.helpers.statistics import assert_z, mean_and_error, z_scores

CASES = {"bulb": ["bulb.translation"], "beam": ["beam.translation", "beam.rotation"], "sun": ["sun.rotation"]}


@pytest.mark.parametrize("light", [pytest.param("bulb", marks=pytest.mark.slow), "beam", "sun"])
def test_lights_that_stand_alone(light, f64):
    """Point, spot and distant light against finite differences: shading, falloff, the spot's fade, shadows that turn."""
    scene, weight, seeds = stage(light), weight_image(3), range(5)
    found = [it.backward(scene, weight, 64, 50 + s, CASES[light], boundary_spp=256) for s in seeds]
    for path in CASES[light]:
        for c in (0, 2):
            fd = np.array([moved(scene, path, c, 0.03, lambda s: float((weight * it.render(s, 512, k)).sum())) for k in seeds])  # noqa: B023
            x = np.array([g[path][c] for g in found])
            mean, error = mean_and_error(fd)
            size = np.abs(np.mean([g[path] for g in found], 0)).max()
            assert max(error, mean_and_error(x)[1]) < 0.1 * size
            assert_z(x, mean, np.hypot(error, 0.01 * size), 4.5)
    if light == "sun":
        inside = np.array([it.backward(scene, weight, 64, s, CASES[light], boundary="off")[path][c] for s in seeds])
        assert abs(z_scores(inside, mean, error)) > 8


def test_a_moved_light_is_a_light_built_there(f64):
    """To the bit and in place."""
    scene = stage("bulb", "beam", "sun")
    it.render(scene, 1)
    compiled = len(trace_paths._primal.compiled_kernels)
    p, turn = it.parameters(scene), np.array([0.1, -0.2, 0.05])
    p["bulb.translation"], p["beam.translation"] = [0.1, 0.0, -0.2], [0.0, 0.2, 0.1]
    p["beam.rotation"] = p["sun.rotation"] = turn
    image = it.render(scene, 4)
    built = stage("bulb", "beam", "sun")
    for light in built.lights:
        if light.id in ("bulb", "beam"):
            light.to_world[:3, 3] += [0.1, 0.0, -0.2] if light.id == "bulb" else [0.0, 0.2, 0.1]
        if light.id in ("beam", "sun"):
            light.to_world[:3, :3] = rotation_matrix(turn) @ light.to_world[:3, :3]
    assert np.array_equal(image, it.render(built, 4))
    assert len(trace_paths._primal.compiled_kernels) == compiled


def test_what_lights_have_no_pose(f64):
    """A name that would do nothing is no parameter; a rim that is not sampled is refused."""
    scene = stage("bulb", "beam")
    assert {"bulb.translation", "beam.rotation", "sun.rotation"} <= set(it.parameters(scene).differentiable())
    for path in ("bulb.rotation", "sun.translation", "sky.translation", "sky.rotation"):
        with pytest.raises(it.SceneError, match="none of that name"):
            it.backward(scene, smooth_weight(16), 1, params=[path])
    beam = next(x for x in scene.lights if x.id == "beam")
    beam.values["beam_width"] = beam.values["cutoff_angle"]
    with pytest.raises(it.MissingGradientError, match="hard rim"):
        it.backward(scene, smooth_weight(16), 1, params=["beam.rotation"])


def seen_in_a_wall():
    """The camera sees a wall alone. A box's shadow falls on the floor, which lights the wall."""
    bulb = Light("bulb", "point", {"intensity": constant(5.0)}, translate(0.3, 2.0, 0.2))
    return with_kinds(
        Scene(
            camera=camera([-0.9, 0.5, 0], [-1.6, 0.45, 0], 40, 16),
            materials=[Material("grey", "diffuse", {"reflectance": constant(0.8)}), Material("black", "diffuse", {"reflectance": 0.0})],
            shapes=[
                rectangle(rotate([1, 0, 0], -90) @ scale(2), id="floor", material="grey"),
                rectangle(translate(-1.6, 0.5, 0) @ rotate([0, 1, 0], 90) @ scale(0.8), id="wall", material="grey"),
                cube(translate(0.1, 0.5, 0) @ rotate([0.3, 1, 0.2], 20) @ scale(0.25, 0.1, 0.2), id="box", material="black"),
            ],
            lights=[bulb],
            integrator=Integrator(3, 100),
        )
    )


def test_shadows_that_are_seen_in_a_bounce(f64):
    """Their part is nearly all of this derivative."""
    scene, path, weight, seeds = seen_in_a_wall(), "box.translation", weight_image(3), range(6)
    x = np.array([it.backward(scene, weight, 1, s, [path], boundary_spp=1024)[path][0] for s in seeds])
    fd = np.array([moved(scene, path, 0, 0.08, lambda s: float((weight * it.render(s, 1024, k)).sum())) for k in seeds])  # noqa: B023
    mean, error = mean_and_error(fd)
    assert mean_and_error(x)[1] < 0.08 * abs(mean) and error < 0.15 * abs(mean)
    assert_z(x, mean, np.hypot(error, 0.02 * mean))
    without = it.backward(scene, weight, 1, 1, [path], boundary=("outlines", "shadows", "bounces"), boundary_spp=1024)[path][0]
    assert abs(without) < 0.3 * abs(mean)
