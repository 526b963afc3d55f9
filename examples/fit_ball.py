"""A rough grey metal ball becomes a gold one: its roughness and colour are found from one picture.

The picture is rendered from the true material with other random numbers, so it has noise of its own. The colour
is three numbers, the reflectance at 450, 550 and 650 nm.
"""

import argparse
import time
from pathlib import Path

import numpy as np

import irys_ti as it
from irys_ti.demos.ball import TRUTH, ball_scene  # how the scene is built


def main(argv=None) -> dict[str, np.ndarray]:
    """Run the example; returns the errors."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--arch", default="auto", help="auto, cpu, cuda, vulkan or metal")
    parser.add_argument("--quick", action="store_true", help="a tiny picture and few steps")
    parser.add_argument("--out", type=Path, default=Path("out/ball"), help="folder for the pictures")
    parser.add_argument("--seed", type=int, default=1, help="another fit of the same picture")
    args = parser.parse_args(argv)
    size, steps = (24, 12) if args.quick else (96, 60)

    arch = it.init(args.arch)
    print(f"running on {arch}; the first picture waits for its kernels to be compiled")
    target = it.render(ball_scene(*TRUTH.values(), size), spp=64 if args.quick else 512, seed=1000)

    began = time.perf_counter()
    scene = ball_scene(0.6, [0.5, 0.5, 0.5], size)
    found = it.fit(
        scene, target, list(TRUTH), steps, spp=8, seed=args.seed, out=args.out, resume=False,
        callback=lambda s: print(f"step {s.step:3d}  loss {s.loss:10.3e}") if s.step % 10 == 0 else None,
    )  # fmt: skip
    errors = {}
    for path, true in TRUTH.items():
        errors[path] = found.values[path] - true
        print(f"{path:28} found {np.round(found.values[path], 4)}  truth {np.round(true, 4)}", end="  ")
        print(f"largest error {np.abs(errors[path]).max():.4f}")
    print(f"{steps} steps in {time.perf_counter() - began:.1f} s; see {args.out / 'comparison.png'}")
    return errors


if __name__ == "__main__":
    main()
