"""A gradient in ten lines, then its check by finite differences and a picture of it."""

import argparse
from pathlib import Path

import numpy as np

import irys_ti as it
from irys_ti.scene import points
from irys_ti.scene.transform import look_at, translate


def sphere_scene(size: int) -> it.Scene:
    """An orange ball under an even sky and a small sun."""
    camera = it.Camera(look_at([0, 0, 4], [0, 0, 0], [0, 1, 0]), fov=36, film=it.Film(size, size))
    orange = it.Material("orange", "diffuse", {"reflectance": points([450, 550, 650], [0.1, 0.3, 0.8], extend=True)})
    ball = it.Sphere(id="ball", material="orange", center=np.zeros(3), radius=1.0)
    lights = [
        it.Light("sky", "constant", {"radiance": 0.3}),
        it.Light("bulb", "point", {"intensity": 20.0}, translate(2, 3, 3)),
    ]
    return it.Scene(camera, [ball], lights, [orange], file="gradient_in_ten_lines.py")


def ten_lines(size: int, spp: int):
    """The gradient of a loss by a spectrum and by a light."""
    scene = sphere_scene(size)
    target = np.full((size, size, 3), 0.4)  # the picture we would like to have
    loss, grads = it.gradient(scene, it.L2(target), spp=spp, params=["orange.reflectance", "bulb.intensity"])
    for path, value in grads.items():
        print(f"d loss / d {path} = {value} +- {grads.stderr[path]}")
    return scene, target, loss, grads


def main(argv=None) -> dict[str, np.ndarray]:
    """Run the example; returns gradient minus finite difference, by path."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--arch", default="auto", help="auto, cpu, cuda, vulkan or metal")
    parser.add_argument("--quick", action="store_true", help="a tiny picture")
    parser.add_argument("--out", type=Path, default=Path("out/gradient"), help="folder for the pictures")
    args = parser.parse_args(argv)
    it.init(args.arch)
    size, spp = (32, 16) if args.quick else (128, 64)
    scene, target, _, grads = ten_lines(size, spp)

    errors = {}
    params = it.parameters(scene)
    for path, value in grads.items():
        start, step, difference = params[path], 1e-2 * params[path].mean(), np.zeros(value.shape)
        for i in np.ndindex(value.shape):
            losses = []
            for sign in (1, -1):
                moved = np.array(start)
                moved[i] += sign * step
                params[path] = moved
                a, b = (it.render(scene, spp, seed) for seed in (1, 2))
                losses.append(it.L2(target).value(a, b))
            difference[i] = (losses[0] - losses[1]) / (2 * step)
        params[path] = start
        errors[path] = value - difference
        print(f"{path}: finite differences give {difference}, off by {np.abs(errors[path]).max():.2g}")

    args.out.mkdir(parents=True, exist_ok=True)
    it.write_image(args.out / "image.png", it.render(scene, spp))
    d_image = it.forward(scene, {"orange.reflectance": np.array([0.0, 0.0, 1.0])}, spp)
    it.write_image(args.out / "d_image_by_red.png", np.clip(d_image, 0, None))
    print(f"see {args.out / 'image.png'} and its derivative by the 650 nm point, {args.out / 'd_image_by_red.png'}")
    return errors


if __name__ == "__main__":
    main()
