"""Poses on the host and in place: what moves, what stays to the bit, and what declines."""

import numpy as np
import pytest

import irys_ti as it
from irys_ti.kernels.path import trace_paths
from irys_ti.scene import Instance, Mesh, constant, cube, posed
from irys_ti.scene.pose import left_jacobian, pose_matrix, rotation_matrix
from tests.helpers.scenes import gold_ball
from tests.helpers.stage import smooth_weight, stage


def test_rotations_turn_about_their_axis_and_their_jacobian_is_that():
    rng = np.random.default_rng(0)
    for size in (0.0, 1e-4, 5e-3, 0.02, 1.0, 3.0):
        v = rng.standard_normal(3)
        v *= size / np.linalg.norm(v)
        r = rotation_matrix(v)
        assert np.allclose(r @ r.T, np.eye(3), atol=1e-14) and np.allclose(r @ v, v)
        assert np.trace(r) == pytest.approx(1 + 2 * np.cos(size), abs=1e-12)
        h, step = 1e-6, rng.standard_normal(3)
        turn = (rotation_matrix(v + h * step) - rotation_matrix(v - h * step)) / (2 * h) @ r.T
        omega = np.array([turn[2, 1], turn[0, 2], turn[1, 0]])
        assert np.allclose(left_jacobian(v) @ step, omega, atol=1e-8)


def test_a_pose_moves_about_the_origin():
    box = cube(np.diag([1.0, 2.0, 3.0, 1.0]), id="box")
    assert posed(box) is box
    box.origin = np.array([1.0, 0, 0])
    box.rotation, box.scale, box.translation = np.array([0, 0, np.pi / 2]), 2.0, np.array([0, 0, 5.0])
    m = pose_matrix(box, box.origin)
    assert np.allclose(m @ [1, 0, 0, 1], [1, 0, 5, 1]) and np.allclose(m @ [2, 0, 0, 1], [1, 2, 5, 1])
    assert np.allclose(posed(box).vertices, box.vertices @ m[:3, :3].T + m[:3, 3])


def test_moving_is_the_same_as_building_there(f64):
    """In place, and nothing recompiles: the pose of a box, a sphere, vertices, the camera."""
    scene = stage("lamp", "sun", depth=3)
    it.render(scene, 1)
    compiled = len(trace_paths._primal.compiled_kernels)
    p = it.parameters(scene)
    p["box.translation"], p["box.rotation"], p["box.scale"] = [0.1, 0.2, -0.1], [0.3, -0.2, 0.5], 1.2
    p["ball.center"], p["ball.radius"] = [0.5, 0.8, 0.1], 0.4
    p["lamp.vertices"] = p["lamp.vertices"] + [0.1, 0.0, 0.2]
    p["camera.position"], p["camera.fov"] = p["camera.position"] + 0.1, 50.0
    p["camera.rotation"], p["camera.principal_point"] = [0.02, 0.03, 0.01], [0.01, -0.02]
    image = it.render(scene, 8)
    assert len(trace_paths._primal.compiled_kernels) == compiled
    built = stage("lamp", "sun", depth=3)
    for i, shape in enumerate(scene.shapes):
        built.shapes[i] = posed(shape)
    built.camera = scene.camera
    built.camera.to_world = scene.camera.placed()
    built.camera.rotation = np.zeros(3)
    # The tree was refit in one and built in the other, which no ray sees.
    assert np.array_equal(image, it.render(built, 8))


def test_going_back_gives_the_same_bits(f64):
    scene = stage("lamp", depth=3)
    before, p = it.render(scene, 8), it.parameters(scene)
    values = {path: p[path] for path in p}
    for path in ("box.translation", "box.rotation", "ball.center", "camera.position", "camera.rotation"):
        p[path] = values[path] + 0.1
    assert not np.array_equal(before, it.render(scene, 8))
    for path, value in values.items():
        p[path] = value
    assert np.array_equal(before, it.render(scene, 8))


def test_instances_move_by_their_transform(f64):
    """A moved instance is a moved copy of its group; the box in the group cannot move by itself."""
    scene = stage("lamp", depth=2)
    scene.shapes[3].group = "g"
    scene.instances = [Instance("g", np.eye(4), "one")]
    p = it.parameters(scene)
    it.render(scene, 1)
    p["one.translation"], p["one.rotation"], p["one.scale"] = [0.1, 0.1, 0.0], [0.0, 0.2, 0.0], 1.1
    plain = stage("lamp", depth=2)
    plain.shapes[3].origin = np.zeros(3)
    q = it.parameters(plain)
    q["box.translation"], q["box.rotation"], q["box.scale"] = [0.1, 0.1, 0.0], [0.0, 0.2, 0.0], 1.1
    assert np.abs(it.render(scene, 16) - it.render(plain, 16)).max() < 1e-6
    with pytest.raises(it.MissingGradientError, match="move an instance"):
        it.backward(scene, smooth_weight(16), 1, params=["box.translation"])


def declined(path, change):
    scene = gold_ball(8)
    change(scene)
    with pytest.raises(it.MissingGradientError) as error:
        it.backward(scene, np.ones((8, 8, 3)), 1, params=[path])
    assert path not in it.parameters(scene).differentiable()
    return str(error.value)


def test_what_has_no_gradient_says_why(f32):
    """The whole list: every reason, asked for by a scene that has it."""

    def glass(scene):
        scene.materials[1] = it.Material("metal", "dielectric")

    def texture(scene):
        scene.materials[0].values["reflectance"] = it.Texture(np.full((2, 2, 3), 0.5))

    def stretched(scene):
        scene.materials[1] = it.Material("metal", "openpbr", {"specular_roughness_anisotropy": 0.5})

    def envmap(scene):
        scene.lights[0] = it.Light("sky", "envmap", {"radiance": it.Texture(np.full((4, 8, 3), 0.5))})

    def normals(scene):
        ground = scene.shapes[0]
        ground.normals = np.tile([0.0, 1.0, 0.0], (len(ground.vertices), 1))

    nothing = lambda scene: None  # noqa: E731
    assert "smooth mirror or glass" in declined("ball.center", glass)
    assert "texture" in declined("ground.translation", texture)
    assert "stretched" in declined("camera.position", stretched)
    assert "picture of 'sky'" in declined("camera.rotation", envmap)
    assert "normals" in declined("ground.vertices", normals)
    assert "same sphere" in declined("ball.rotation", nothing)
    scene = gold_ball(8)
    with pytest.raises(it.MissingGradientError, match="it.backward"):
        it.forward(scene, {"ball.center": 1.0}, 1)


@pytest.mark.parametrize(
    ("path", "value", "word"),
    [
        ("ball.radius", 0.0, "out of range"), ("box.scale", -1.0, "out of range"), ("box.translation", [0, 1], "shape"),
        ("camera.fov", 200.0, "out of range"), ("box.rotation", [0, np.nan, 0], "not finite"), ("box.translatio", 0, "did you mean"),
    ],
)  # fmt: skip
def test_refusals(path, value, word, f32):
    with pytest.raises(it.SceneError, match=word):
        it.parameters(stage("lamp"))[path] = value


def test_the_verbs_ask_for_poses_by_name_alone(f32):
    scene = stage("lamp")
    paths = set(it.parameters(scene).differentiable())
    assert {"box.translation", "box.vertices", "ball.radius", "camera.fov", "floor.rotation"} <= paths
    assert not any("translation" in p or "camera" in p for p in it.backward(scene, smooth_weight(16), 1))
    assert isinstance(scene.shapes[0], Mesh) and constant(1.0).values.shape == (1,)
