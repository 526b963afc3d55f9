"""A gold ball beside a bush of Gaussian splats on a checkered floor: one tree, one light transport.

The bush is mirrored in the gold, shadows the floor and the ball, and the floor's light reaches its leaves.
"""

import argparse
import time
from pathlib import Path

import numpy as np

import irys_ti as it
from irys_ti.scene import rectangle, rgb
from irys_ti.scene.transform import look_at, rotate, scale
from irys_ti.spectral.metals import metal


def bush(n: int, rng) -> it.Splats:
    """Flat leaves in an egg around (0.9, 0.95, 0), every one a Lambertian sheet."""
    position = rng.normal(size=(n, 3))
    position *= rng.uniform(0.2, 1.0, (n, 1)) ** 0.5 / np.linalg.norm(position, axis=1, keepdims=True)
    size = 0.075 * (900 / n) ** (1 / 3)
    green = np.array([0.16, 0.38, 0.07]) * rng.uniform(0.6, 1.6, (n, 1))
    turned = rng.random((n, 1)) < 0.12
    return it.Splats(
        id="bush", position=position * [0.7, 0.85, 0.7] + [0.95, 0.95, 0.0], scale=size * np.array([1.0, 0.6, 0.12]),
        rotation=rng.normal(size=(n, 4)), opacity=rng.uniform(0.6, 0.98, n), phase="diffuse",
        albedo=np.where(turned, [0.7, 0.3, 0.05], green).clip(0, 0.9),
    )  # fmt: skip


def scene_of(n: int, width: int, height: int) -> it.Scene:
    """Ball, bush, floor, sky and sun."""
    eta, k = metal("Au")
    checks = np.array([[[0.7], [0.15]], [[0.15], [0.7]]])
    to_uv = np.diag([8.0, 8.0, 1.0])
    return it.Scene(
        camera=it.Camera(look_at([0, 1.5, 5.2], [0.1, 0.8, 0], [0, 1, 0]), fov=44, film=it.Film(width, height, "tent")),
        materials=[
            it.Material("floor", "diffuse", {"reflectance": it.Texture(checks, "nearest", "repeat", to_uv)}),
            it.Material("gold", "roughconductor", {"eta": eta, "k": k, "alpha": 0.05}),
        ],
        shapes=[
            rectangle(rotate([1, 0, 0], -90) @ scale(6), id="ground", material="floor"),
            it.Sphere(id="ball", material="gold", center=np.array([-0.9, 0.85, 0.1]), radius=0.85),
            bush(n, np.random.default_rng(4)),
        ],
        lights=[
            it.Light("sky", "constant", {"radiance": rgb(0.35, 0.45, 0.65, illuminant=True)}),
            it.Light(
                "sun", "directional", {"irradiance": rgb(2.6, 2.4, 2.0, illuminant=True)},
                look_at([3, 4, 3], [0, 0, 0], [0, 1, 0]),
            ),
        ],  # fmt: skip
        integrator=it.Integrator(max_depth=6, rr_depth=4),
        file="gold_and_bush.py",
    )


def main(argv=None) -> np.ndarray:
    """Run the example; returns the picture."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--arch", default="auto", help="auto, cpu, cuda, vulkan or metal")
    parser.add_argument("--quick", action="store_true", help="a tiny picture")
    parser.add_argument("--out", type=Path, default=Path("out/gold_and_bush"), help="folder for the picture")
    args = parser.parse_args(argv)
    n, width, height, spp = (100, 36, 24, 16) if args.quick else (900, 360, 240, 256)

    arch = it.init(args.arch)
    print(f"running on {arch}; the first picture waits for its kernels to be compiled")
    began = time.perf_counter()
    image = it.render(scene_of(n, width, height), spp)
    args.out.mkdir(parents=True, exist_ok=True)
    it.write_image(args.out / "gold_and_bush.png", image)
    print(f"{spp} samples a pixel in {time.perf_counter() - began:.1f} s; see {args.out / 'gold_and_bush.png'}")
    return image


if __name__ == "__main__":
    main()
