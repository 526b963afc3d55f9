"""Joint angles read off one picture, on an arm of three boxes."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest

import irys_ti as it
from irys_ti.scene import rectangle
from irys_ti.scene.transform import look_at, scale

pytest.importorskip("mujoco")

ARM = """<mujoco model="arm"><worldbody><body name="base"><geom type="box" size="0.15 0.15 0.05"/>
<body name="upper" pos="0 0 0.05"><joint name="pan" axis="0 0 1"/><joint name="lift" axis="0 1 0"/>
<geom type="box" size="0.06 0.06 0.25" pos="0 0 0.25" rgba="0.8 0.3 0.1 1"/>
<body name="lower" pos="0 0 0.5"><joint name="elbow" axis="0 1 0"/>
<geom type="box" size="0.05 0.05 0.2" pos="0 0 0.2" rgba="0.1 0.3 0.8 1"/></body></body></body></worldbody></mujoco>"""
TRUTH = {"pan": 0.4, "lift": 0.6, "elbow": 0.9}
OFF = {"pan": -0.25, "lift": 0.3, "elbow": -0.35}  # 14 to 20 degrees


def scene_of(file, joints):
    robot = it.kinematics.load(file, id="arm", joints=joints)
    scene = it.Scene(
        camera=it.Camera(look_at([1.3, -1.5, 1.0], [0.15, 0, 0.35], [0, 0, 1]), fov=40, film=it.Film(40, 40)),
        materials=[it.Material("floor", "diffuse", {"reflectance": 0.6})],
        shapes=[rectangle(scale(3), id="ground", material="floor")],
        lights=[
            it.Light("sky", "constant", {}),
            it.Light("lamp", "point", {"intensity": 5.0}, look_at([1, -1, 2.5], [0, 0, 0], [0, 1, 0])),
        ],
        integrator=it.Integrator(max_depth=2),
    )
    robot.add_to(scene)
    return scene


def test_three_joints_from_one_picture(tmp_path, f32):
    example = Path(__file__).resolve().parents[2] / "examples" / "robot_pose.py"
    spec = importlib.util.spec_from_file_location("robot_pose", example)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    file = tmp_path / "arm.xml"
    file.write_text(ARM)
    target = it.render(scene_of(file, TRUTH), 256, 1000)
    scene = scene_of(file, {n: x + OFF[n] for n, x in TRUTH.items()})
    paths = [f"arm.{n}" for n in TRUTH]
    bounds = {f"arm.{n}": (x - 0.6, x + 0.6) for n, x in TRUTH.items()}
    loss = module.Sharpnesses(target, (0, 1.5 / 40, 4 / 40))
    # Pan and elbow move the picture nearly alike: less light on either leaves them a few degrees from the truth.
    found = it.fit(scene, target, paths, 50, spp=(16, 96), loss=loss, lr=0.05, bounds=bounds, seed=1)
    errors = {n: np.rad2deg(found.values[f"arm.{n}"] - x) for n, x in TRUTH.items()}
    assert max(abs(e) for e in errors.values()) < 1.5, errors
    # The control: without outlines and shadows nothing pulls the parts over each other.
    scene = scene_of(file, {n: x + OFF[n] for n, x in TRUTH.items()})
    weight = 2 * (it.render(scene, 64, 7) - target) / target.size
    whole, inside = (it.backward(scene, weight, 16, params=paths, boundary=b) for b in ("all", "off"))
    assert max(abs(whole[p] - inside[p]) / whole.stderr[p] for p in paths) > 5
