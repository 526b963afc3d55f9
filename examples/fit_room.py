"""One room, one lamp, light off every wall: the paint of five walls is found from one picture.

Every wall lights the others, so the red wall's paint shows on the white floor too. Paint is the reflectance at 450,
550 and 650 nm; all walls start grey.
"""

import argparse
import time
from pathlib import Path

import numpy as np

import irys_ti as it
from irys_ti.scene import cube, points, rectangle
from irys_ti.scene.transform import look_at, rotate, scale, translate

BANDS = [450, 550, 650]  # nm
PAINT = {
    "floor": [0.55, 0.60, 0.65],
    "ceiling": [0.75, 0.78, 0.80],
    "back": [0.60, 0.55, 0.25],
    "left": [0.12, 0.14, 0.65],
    "right": [0.20, 0.50, 0.15],
}


def wall(name: str, placed: np.ndarray) -> it.Mesh:
    """A 2 x 2 square, which faces +z before it is placed."""
    return rectangle(placed, id=f"{name} wall", material=name)


def room_scene(paint: dict, size: int) -> it.Scene:
    """The inside of a 2 x 2 x 2 box with a lamp under its ceiling and a white block on its floor."""
    materials = [it.Material(n, "diffuse", {"reflectance": points(BANDS, c, extend=True)}) for n, c in paint.items()]
    materials.append(it.Material("white", "diffuse", {"reflectance": 0.7}))
    return it.Scene(
        camera=it.Camera(look_at([0, 0, 3.9], [0, 0, 0], [0, 1, 0]), fov=38, film=it.Film(size, size)),
        materials=materials,
        shapes=[
            wall("floor", translate(0, -1, 0) @ rotate([1, 0, 0], -90)),
            wall("ceiling", translate(0, 1, 0) @ rotate([1, 0, 0], 90)),
            wall("back", translate(0, 0, -1)),
            wall("left", translate(-1, 0, 0) @ rotate([0, 1, 0], 90)),
            wall("right", translate(1, 0, 0) @ rotate([0, 1, 0], -90)),
            cube(translate(0.2, -0.7, -0.2) @ rotate([0, 1, 0], 25) @ scale(0.3), id="block", material="white"),
            rectangle(
                translate(0, 0.99, 0) @ rotate([1, 0, 0], 90) @ scale(0.35), id="lamp", material="white",
                light=it.Light("lamp", "area", {"radiance": points([400, 700], [7, 10], extend=True)}),
            ),
        ],  # fmt: skip
        integrator=it.Integrator(max_depth=6),
        file="fit_room.py",
    )


def main(argv=None) -> dict[str, np.ndarray]:
    """Run the example; returns the errors."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--arch", default="auto", help="auto, cpu, cuda, vulkan or metal")
    parser.add_argument("--quick", action="store_true", help="a tiny picture and few steps")
    parser.add_argument("--out", type=Path, default=Path("out/room"), help="folder for the pictures")
    args = parser.parse_args(argv)
    size, steps = (16, 12) if args.quick else (64, 60)

    arch = it.init(args.arch)
    print(f"running on {arch}; the first picture waits for its kernels to be compiled")
    target = it.render(room_scene(PAINT, size), spp=64 if args.quick else 512, seed=1000)

    began = time.perf_counter()
    scene = room_scene({name: [0.5, 0.5, 0.5] for name in PAINT}, size)
    found = it.fit(
        scene, target, [f"{name}.reflectance" for name in PAINT], steps, spp=8, out=args.out, resume=False,
        callback=lambda s: print(f"step {s.step:3d}  loss {s.loss:10.3e}") if s.step % 10 == 0 else None,
    )  # fmt: skip
    errors = {}
    print("paint at 450, 550 and 650 nm")
    for name, true in PAINT.items():
        paint = found.values[f"{name}.reflectance"]
        errors[name] = paint - true
        print(f"{name:8} found {np.round(paint, 3)}  truth {true}  largest error {np.abs(errors[name]).max():.4f}")
    print(f"{steps} steps in {time.perf_counter() - began:.1f} s; see {args.out / 'comparison.png'}")
    return errors


if __name__ == "__main__":
    main()
