"""Joint angles to parts, forces and torques back to joints: against finite differences of the kinematics."""

import numpy as np
import pytest

import irys_ti as it

pytest.importorskip("mujoco")

ARM = """<mujoco model="arm"><worldbody><geom type="plane" size="1 1 .1"/>
<body name="upper" pos="0 0 0.1"><joint name="shoulder" axis="0 1 0" range="-170 170"/><joint name="twist" axis="0 0 1"/>
<geom type="box" size="0.05 0.05 0.2" pos="0 0 0.2" rgba="0.8 0.2 0.1 1"/>
<body name="lower" pos="0 0 0.4"><joint name="elbow" axis="1 0.2 0"/><geom type="capsule" size="0.04 0.15" pos="0 0 0.15"/>
<body name="hand" pos="0 0 0.3"><joint name="slide" type="slide" axis="0 0.6 0.8" range="-0.1 0.1"/>
<geom type="sphere" size="0.06" rgba="0.1 0.3 0.8 1"/></body></body></body></worldbody></mujoco>"""
START = {"shoulder": 0.3, "elbow": -0.7}


@pytest.fixture
def arm(tmp_path):
    (tmp_path / "arm.xml").write_text(ARM)
    return it.kinematics.load(tmp_path / "arm.xml", joints=START)


def test_a_robot_stands_as_asked_and_moves_from_there(arm):
    assert arm.values == {"shoulder": 0.3, "twist": 0.0, "elbow": -0.7, "slide": 0.0}
    assert arm.ranges["slide"] == (-0.1, 0.1)
    still = arm.outputs()
    assert max(np.abs(x).max() for x in still.values()) < 1e-12
    arm.values["slide"] = 0.05
    moved = arm.outputs()
    assert np.linalg.norm(moved["arm_hand.translation"]) == pytest.approx(0.05)
    assert np.abs(moved["arm_lower.translation"]).max() < 1e-12


@pytest.mark.parametrize("seed", range(3))
def test_forces_and_torques_reach_the_joints(arm, seed):
    rng = np.random.default_rng(seed)
    for name in arm.values:
        arm.values[name] = rng.uniform(-0.09, 0.09) if name == "slide" else rng.uniform(-1.4, 1.4)
    up = {path: rng.standard_normal(3) for path in arm.outputs()}
    reverse = arm.pull(up)
    for name, value in dict(arm.values).items():
        forward = sum(float((up[p] * t).sum()) for p, t in arm.push({name: 1.0}).items())
        sides = []
        for x in (value + 1e-5, value - 1e-5):
            arm.values[name] = x
            sides.append(sum(float((up[p] * y).sum()) for p, y in arm.outputs().items()))
        arm.values[name] = value
        assert reverse[name] == pytest.approx(forward, rel=1e-12, abs=1e-13)
        assert reverse[name] == pytest.approx((sides[0] - sides[1]) / 2e-5, rel=1e-7, abs=1e-8)
        assert abs(reverse[name]) > 1e-3


def test_its_joints_are_parameters_of_a_scene(arm, f32):
    scene = it.Scene(lights=[it.Light("sky", "constant", {})])
    arm.add_to(scene)
    assert {m.id for m in scene.materials} >= {"arm_rgb_cc331a"}
    params = it.parameters(scene)
    assert params["arm.elbow"] == -0.7
    params["arm.elbow"] = -0.2
    hand = next(i for i in scene.instances if i.id == "arm_hand")
    assert np.linalg.norm(hand.translation) > 0.01
    assert "arm.elbow" in params.differentiable()
    with pytest.raises(it.SceneError, match="slide: 0.2 is out of range|0.2 is out of range"):
        params["arm.slide"] = 0.2


def test_bad_robots_are_refused(tmp_path):
    file = tmp_path / "bad.xml"
    with pytest.raises(it.SceneError, match="no such file"):
        it.kinematics.load(file)
    file.write_text("<mujoco><worldbody><geom type='blob'/></worldbody></mujoco>")
    with pytest.raises(it.SceneError, match="mujoco cannot read it"):
        it.kinematics.load(file)
    file.write_text("<mujoco><worldbody><body><freejoint/><geom size='.1'/></body></worldbody></mujoco>")
    with pytest.raises(it.SceneError, match="neither a hinge nor a slide"):
        it.kinematics.load(file)
    file.write_text("<mujoco><worldbody><geom size='.1'/></worldbody></mujoco>")
    with pytest.raises(it.SceneError, match="no joints"):
        it.kinematics.load(file)
    file.write_text(ARM)
    with pytest.raises(it.SceneError, match="no joint 'knee'"):
        it.kinematics.load(file, joints={"knee": 0.0})


def test_urdf_keeps_what_is_seen(tmp_path):
    file = tmp_path / "arm.urdf"
    file.write_text("""<robot name="arm"><link name="base"/><link name="bar">
<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
<visual><geometry><box size="0.1 0.1 0.5"/></geometry></visual></link>
<joint name="hinge" type="revolute"><parent link="base"/><child link="bar"/><axis xyz="0 1 0"/>
<limit lower="-1" upper="1" effort="1" velocity="1"/></joint></robot>""")
    robot = it.kinematics.load(file)
    scene = it.Scene()
    robot.add_to(scene)
    assert robot.ranges["hinge"] == (-1.0, 1.0) and len(scene.shapes) == 1
    assert np.ptp(scene.shapes[0].vertices, 0) == pytest.approx([0.1, 0.1, 0.5])
