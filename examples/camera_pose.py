"""Where a camera stood is found from one picture that it took.

The scene is known, a table with a few things on it; the camera's place, its direction and its field of view are not. It
starts a step aside, turned by some degrees. The drawing `camera.png` shows both pictures over each other at the start and
at the end, and the way of the camera seen from above.
"""

import argparse
import time
from pathlib import Path

import numpy as np

import irys_ti as it
from irys_ti.io.images import linear_to_srgb
from irys_ti.scene import cube, rectangle, rgb
from irys_ti.scene.pose import rotation_matrix
from irys_ti.scene.transform import look_at, rotate, scale, translate

EYE, TARGET = np.array([1.5, 1.3, 2.2]), np.array([0.0, 0.25, 0.0])
OFF = {"camera.position": [0.16, -0.1, 0.14], "camera.rotation": [0.04, -0.06, 0.03], "camera.fov": 3.0}
RATES = {"camera.position": 0.012, "camera.rotation": 0.005, "camera.fov": 0.25}


def table(size: int) -> it.Scene:
    """Four boxes on a table, under a lamp and a sky; the camera stands at EYE."""
    paint = {"table": (0.5, 0.45, 0.4), "red": (0.6, 0.1, 0.08), "blue": (0.08, 0.15, 0.5), "white": (0.75, 0.75, 0.7)}
    return it.Scene(
        camera=it.Camera(look_at(EYE, TARGET, [0, 1, 0]), fov=38, film=it.Film(size, size)),
        materials=[
            *(it.Material(name, "diffuse", {"reflectance": rgb(*c)}) for name, c in paint.items()),
            it.Material("black", "diffuse", {"reflectance": 0.0}),
        ],
        shapes=[
            rectangle(rotate([1, 0, 0], -90) @ scale(1.2), id="top", material="table"),
            cube(translate(-0.35, 0.3, -0.2) @ rotate([0, 1, 0], 25) @ scale(0.2, 0.3, 0.15), id="tall", material="blue"),
            cube(translate(0.35, 0.1, 0.3) @ rotate([0, 1, 0], -30) @ scale(0.25, 0.1, 0.12), id="low", material="red"),
            cube(translate(0.4, 0.15, -0.45) @ rotate([0, 1, 0], 50) @ scale(0.15), id="small", material="white"),
            cube(translate(-0.35, 0.12, 0.4) @ rotate([1, 1, 0], 40) @ scale(0.12), id="die", material="white"),
            rectangle(
                translate(-0.8, 2.2, 1.0) @ rotate([1, 0, -0.4], 115) @ scale(0.3), id="lamp", material="black",
                light=it.Light("lamp", "area", {"radiance": 14.0}),
            ),
        ],  # fmt: skip
        lights=[it.Light("sky", "constant", {"radiance": 0.3})],
        integrator=it.Integrator(max_depth=2),
        file="camera_pose.py",
    )


def pixels_between(camera: it.Camera, other: it.Camera) -> float:
    """How far apart two cameras put the table's corners, in pixels on average: what all seven numbers come to."""

    def seen(c):
        x = np.array([[i, 0.0, j] for i in (-1, 0, 1) for j in (-1, 0, 1)])
        m = c.placed()
        q = (x - m[:3, 3]) @ m[:3, :3]
        return c.film.width * 0.5 * q[:, :2] / q[:, 2:] / np.tan(np.deg2rad(c.fov_x()) / 2)

    return float(np.linalg.norm(seen(camera) - seen(other), axis=1).mean())


def draw(history: dict, images: dict, out: Path) -> None:
    """The two pictures in red and cyan over each other, before and after; the camera's way from above."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(12, 4.2), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots(1, 3)
    exposure = 0.8 / np.quantile(images["target"], 0.98)
    for axis, name in zip(axes, ("start", "fitted")):
        both = np.stack([images["target"].mean(-1), images[name].mean(-1), images[name].mean(-1)], -1)
        axis.imshow(linear_to_srgb(both * exposure), interpolation="nearest")
        axis.set_title(f"photograph: red; {name}: cyan")
        axis.axis("off")
    way, turns = np.array(history["camera.position"]), np.array(history["camera.rotation"])
    ahead = look_at(EYE, TARGET, [0, 1, 0])[:3, 2]
    for k in np.linspace(0, len(way) - 1, 8).astype(int):
        d = 0.12 * (rotation_matrix(turns[k]) @ ahead)
        axes[2].plot(way[k, 0] + [0, d[0]], way[k, 2] + [0, d[2]], color="0.6", lw=1)
    axes[2].plot(way[:, 0], way[:, 2], ".-", label="camera")
    axes[2].plot(*EYE[[0, 2]], "r+", ms=14, label="where it stood")
    axes[2].set_xlabel("x")
    axes[2].set_ylabel("z")
    axes[2].set_title("its way, from above")
    axes[2].set_aspect("equal", "datalim")
    axes[2].legend()
    figure.savefig(out / "camera.png", dpi=100)


def main(argv=None) -> dict[str, float]:
    """Run the example; returns the errors in place (units of the scene), direction and fov (degrees), and pixels."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--arch", default="auto", help="auto, cpu, cuda, vulkan or metal")
    parser.add_argument("--quick", action="store_true", help="a small picture and few steps")
    parser.add_argument("--out", type=Path, default=Path("out/camera"), help="folder for the pictures")
    args = parser.parse_args(argv)
    size, steps, spp = (32, 40, (8, 16)) if args.quick else (128, 120, (8, 64))

    arch = it.init(args.arch)
    print(f"running on {arch}; the first picture waits for its kernels to be compiled")
    args.out.mkdir(parents=True, exist_ok=True)
    truth, scene = table(size), table(size)
    target = it.render(truth, spp=128 if args.quick else 1024, seed=1000)
    params = it.parameters(scene)
    for path, off in OFF.items():
        params[path] = params[path] + np.array(off)
    apart = pixels_between(scene.camera, truth.camera)
    began = time.perf_counter()
    found = it.fit(
        scene, target, list(OFF), steps, spp=spp, loss=it.Coarser(target, (1, 4, 8)), lr=RATES, out=args.out, resume=False,
        callback=lambda s: print(f"step {s.step:3d}  loss {s.loss:10.3e}") if s.step % 20 == 0 else None,
    )  # fmt: skip
    draw(found.history, found.images, args.out)
    turned = np.linalg.norm(found.values["camera.rotation"])
    errors = {
        "place": float(np.linalg.norm(found.values["camera.position"] - EYE)), "direction": float(np.rad2deg(turned)),
        "fov": float(found.values["camera.fov"] - 38), "pixels": pixels_between(scene.camera, truth.camera),
    }  # fmt: skip
    print("place off by {place:.4f}, direction by {direction:.3f} degrees, field of view by {fov:+.3f}".format(**errors))
    print(f"the table's corners are {errors['pixels']:.3f} pixels off, {apart:.1f} at the start")
    print(f"{steps} steps in {time.perf_counter() - began:.1f} s; see {args.out / 'camera.png'}")
    return errors


if __name__ == "__main__":
    main()
