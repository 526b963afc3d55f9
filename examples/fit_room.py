"""One room, one lamp, light off every wall: the paint of five walls is found from one picture.

Every wall lights the others, so the red wall's paint shows on the white floor too. Paint is the reflectance at 450,
550 and 650 nm; all walls start grey.
"""

import argparse
import time
from pathlib import Path

import numpy as np

import irys_ti as it
from irys_ti.demos.room import PAINT, room_scene  # how the scene is built


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
