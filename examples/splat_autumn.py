"""A bush of 900 Gaussian splats turns to its autumn colours: 3,600 numbers from three pictures.

Every splat scatters the light of the sky and the sun, and shadows the others. The fit starts from a green bush of one
colour and one opacity, and finds the albedo and the opacity of every splat at once.
"""

import argparse
import time
from pathlib import Path

import numpy as np

import irys_ti as it
from irys_ti.demos.bush import autumn_bush, fit, green_bush, scene_of, seen_pixels, views  # the scene and the fit


def main(argv=None) -> dict:
    """Run the example; returns what it found: names of splats and their errors."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--arch", default="auto", help="auto, cpu, cuda, vulkan or metal")
    parser.add_argument("--quick", action="store_true", help="few splats, tiny pictures and few steps")
    parser.add_argument("--out", type=Path, default=Path("out/autumn"), help="folder for the pictures")
    parser.add_argument("--steps", type=int, help="steps of the fit (32)")
    parser.add_argument("--splats", type=int, help="splats of the bush (900)")
    parser.add_argument("--size", type=int, help="width and height of the three pictures (128)")
    parser.add_argument("--samples", type=int, help="samples per pixel of the three pictures (2048)")
    parser.add_argument("--spp", type=int, help="samples per pixel of the fit's own pictures, a quarter of each step's (32)")
    args = parser.parse_args(argv)
    n, size, steps, spp = (40, 24, 16, 40) if args.quick else (900, 128, 32, 32)
    n, size, steps, spp = args.splats or n, args.size or size, args.steps or steps, args.spp or spp

    arch = it.init(args.arch)
    print(f"running on {arch}; the first picture waits for its kernels to be compiled")
    truth = autumn_bush(n, np.random.default_rng(7))
    scene, cameras = scene_of(truth, size), views(size)
    pictures = []
    for i, scene.camera in enumerate(cameras):
        pictures.append(it.render(scene, args.samples or 2048, seed=100_000 + i))
    seen = np.max([seen_pixels(truth, camera) for camera in cameras], 0)

    scene = scene_of(green_bush(truth), size)
    start = it.render(scene, 64)
    began = time.perf_counter()

    def errors(values) -> tuple[np.ndarray, np.ndarray]:
        return (
            np.abs(values["bush.albedo"] - truth.albedo).max(1), np.abs(values["bush.opacity"] - truth.opacity)
        )  # fmt: skip

    def report(step, loss, values, _):
        if step % 2 == 0 or step == steps - 1:
            colour, opacity = (e[seen > 0.5] for e in errors(values))
            both = np.mean((colour < 0.05) & (opacity < 0.05))
            print(
                f"step {step:3d}  loss {loss:10.3e}  median errors: colour {np.median(colour):.3f}, opacity "
                f"{np.median(opacity):.3f}; both within 0.05: {100 * both:.1f} %  ({time.perf_counter() - began:.0f} s)",
                flush=True,
            )

    found = fit(scene, cameras, pictures, steps, spp, report)
    colour, opacity = errors(found)
    visible = seen > 0.5
    good = (colour < 0.05) & (opacity < 0.05)
    print(f"{visible.sum()} of {n} splats fill more than half a pixel of some view")
    print(f"within 0.05 of the truth: colour {100 * np.mean(colour[visible] < 0.05):.1f} %, "
          f"opacity {100 * np.mean(opacity[visible] < 0.05):.1f} %, both {100 * np.mean(good[visible]):.1f} %")  # fmt: skip
    print("not found:", " ".join(map(str, np.flatnonzero(visible & ~good))), "| hidden:", *np.flatnonzero(~visible))
    args.out.mkdir(parents=True, exist_ok=True)
    scene.camera = cameras[0]
    fitted = it.render(scene, 256 if not args.quick else 64)
    it.write_image(args.out / "comparison.png", np.concatenate([start, fitted, pictures[0]], 1))
    print(f"{steps} steps in {time.perf_counter() - began:.1f} s; see {args.out / 'comparison.png'}")
    return {"visible": visible, "colour": colour, "opacity": opacity}


if __name__ == "__main__":
    main()
