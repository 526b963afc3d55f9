"""Three joint angles of a robot arm are read off one picture.

The arm starts 13 to 23 degrees away in each of three joints. From one side an arm that is turned and folded can look much
like one that is not, so that going downhill may end in the wrong valley: 27 poses around the start are pictured first, and
the nearest picture's is where the descent begins. Its loss compares pictures at three sharpnesses, so that parts that do not
overlap yet still pull at each other; the derivative goes back through outlines and shadows to forces and torques on the
parts, and through the arm's Jacobian to the joints.
"""

import argparse
import itertools
import time
import zipfile
from pathlib import Path

import numpy as np

import irys_ti as it
from irys_ti.scene import rectangle
from irys_ti.scene.transform import look_at, scale

ROBOT = Path(__file__).resolve().parents[2] / "shared" / "data" / "robots" / "universal_robots_ur5e.zip"
JOINTS = ("shoulder_pan_joint", "shoulder_lift_joint", "elbow_joint")
TRUTH = {"shoulder_pan_joint": 0.5, "shoulder_lift_joint": -1.2, "elbow_joint": 1.4, "wrist_1_joint": -0.4}


def robot_file(given: Path | None, folder: Path) -> Path:
    """The MJCF file: as given, or unpacked from the data beside the project."""
    if given is not None:
        return given
    if not ROBOT.is_file():
        raise it.SceneError(str(ROBOT), "the robot's files are not there", "give an MJCF or URDF file with --robot")
    with zipfile.ZipFile(ROBOT) as packed:
        packed.extractall(folder)
    return next(folder.rglob("ur5e.xml"))


def robot_scene(file: Path, joints: dict, size: int, subdivide: int = 0):
    """(scene, robot): the arm on a floor under a sky and a lamp."""
    robot = it.kinematics.load(file, id="arm", joints=joints, subdivide=subdivide)
    scene = it.Scene(
        camera=it.Camera(look_at([1.5, -1.3, 0.9], [0, 0, 0.42], [0, 0, 1]), fov=38, film=it.Film(size, size)),
        materials=[it.Material("floor", "diffuse", {"reflectance": 0.6})],
        shapes=[rectangle(scale(3), id="ground", material="floor")],
        lights=[
            it.Light("sky", "constant", {"radiance": 0.5}),
            it.Light("lamp", "point", {"intensity": 6.0}, look_at([1.0, 1.0, 2.5], [0, 0, 0], [0, 0, 1])),
        ],
        integrator=it.Integrator(max_depth=3),
        file="robot_pose.py",
    )
    robot.add_to(scene)
    return scene, robot


class Sharpnesses(it.L2):
    """Squared difference of the pictures and of two blurred copies of each, averaged: <d, K d> with K a mean of Gaussians."""

    def __init__(self, target, widths=(0, 1 / 32, 3 / 32)):
        """widths: of the blurs, standard deviations in picture widths. Beyond the picture nothing differs."""
        super().__init__(target)
        h, w = target.shape[:2]
        fy, fx = np.fft.fftfreq(2 * h), np.fft.rfftfreq(2 * w)
        f2 = fy[:, None, None] ** 2 + fx[:, None] ** 2  # (2 h, w + 1, 1)
        # A blur and its transpose together are a Gaussian of twice the variance.
        self.transfer = np.mean([np.exp(-((2 * np.pi * s * w) ** 2) * f2) for s in widths], 0)

    def _smoothed(self, image):
        """K (image - target)."""
        h, w = image.shape[:2]
        spectrum = np.fft.rfft2(image - self.target, (2 * h, 2 * w), (0, 1))
        return np.fft.irfft2(spectrum * self.transfer, (2 * h, 2 * w), (0, 1))[:h, :w]

    def value(self, a, b):
        """From two independent pictures, without bias."""
        return float(np.mean((a - self.target) * self._smoothed(b)))

    def derivative(self, image):
        """K is its own transpose."""
        return 2.0 * self._smoothed(image) / image.size


def look_around(scene, loss, paths, reach: float, spp: int) -> float:
    """Give the scene the pose, of its own and all at ``reach`` radians from it in some joints, whose picture is nearest."""
    parameters = it.parameters(scene)
    here = [float(parameters[p]) for p in paths]

    def at(steps):
        for path, x, k in zip(paths, here, steps):
            parameters[path] = x + reach * k
        return loss.value(*(it.render(scene, spp, seed) for seed in (1, 2)))

    found = {steps: at(steps) for steps in itertools.product((-1, 0, 1), repeat=len(paths))}
    best = min(found, key=found.get)
    return at(best)


def main(argv=None) -> dict[str, float]:
    """Run the example; returns the errors in degrees."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--arch", default="auto", help="auto, cpu, cuda, vulkan or metal")
    parser.add_argument("--quick", action="store_true", help="a small picture and few steps")
    parser.add_argument("--out", type=Path, default=Path("out/robot"), help="folder for the pictures")
    parser.add_argument("--robot", type=Path, help="an MJCF or URDF file (default: the UR5e of ../shared/data)")
    parser.add_argument("--start", type=int, default=0, help="which of eight starts")
    parser.add_argument("--size", type=int, help="width and height of the picture (256)")
    parser.add_argument("--subdivide", type=int, default=0, help="cut every triangle into four so often")
    args = parser.parse_args(argv)
    size, steps, spp = (64, 30, 4) if args.quick else (256, 30, (8, 32))
    last, last_spp = (0, 0) if args.quick else (14, (32, 128))
    size = args.size or size

    arch = it.init(args.arch)
    print(f"running on {arch}; the first picture waits for its kernels to be compiled")
    args.out.mkdir(parents=True, exist_ok=True)
    file = robot_file(args.robot, args.out)
    target = it.render(robot_scene(file, TRUTH, size)[0], spp=64 if args.quick else 256, seed=1000)

    rng = np.random.default_rng(args.start)
    away = np.deg2rad(rng.uniform(13, 23, 3)) * rng.choice([-1, 1], 3)
    start = {**TRUTH, **{name: TRUTH[name] + a for name, a in zip(JOINTS, away)}}
    scene, _ = robot_scene(file, start, size, args.subdivide)
    began = time.perf_counter()
    paths = [f"arm.{name}" for name in JOINTS]
    common = {
        "out": args.out, "resume": False,
        "bounds": {p: (TRUTH[n] - 0.6, TRUTH[n] + 0.6) for p, n in zip(paths, JOINTS)},
        "callback": lambda s: print(f"step {s.step:3d}  loss {s.loss:10.3e}") if s.step % 10 == 0 else None,
    }  # fmt: skip
    nearest = look_around(scene, Sharpnesses(target), paths, reach=0.3, spp=4)
    print("begins at", ", ".join(f"{n} {np.rad2deg(it.parameters(scene)[p] - TRUTH[n]):+.1f}" for p, n in zip(paths, JOINTS)),
          f"degrees off: loss {nearest:.3e}")  # fmt: skip
    found = it.fit(scene, target, paths, steps, spp=spp, lr=0.03, loss=Sharpnesses(target), **common)
    if last:  # pan and elbow look alike: Adam leaves them in a valley, whose floor these steps know
        loss = Sharpnesses(target, (0, 1 / 128, 3 / 128))
        found = it.fit(scene, target, paths, last, spp=last_spp, lr=0.005, loss=loss, method="newton", **common)
    errors = {}
    for name, a in zip(JOINTS, away):
        errors[name] = float(np.rad2deg(found.values[f"arm.{name}"] - TRUTH[name]))
        print(f"{name:20} started {np.rad2deg(a):+6.2f} degrees off, ended {errors[name]:+.3f}")
    print(f"{steps + last} steps in {time.perf_counter() - began:.1f} s; see {args.out / 'comparison.png'}")
    return errors


if __name__ == "__main__":
    main()
