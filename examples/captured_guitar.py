"""A captured guitar beside a ball, as it was captured, under a new sun, and tinted by gradient.

The capture (a file of Gaussian splats) is first shown with its baked colours. ``relight`` turns it into scatterers, so
that the new sun lights it, it shadows the floor and stands mirrored in the ball. Then the three numbers of a tint of its
body are found, by the derivative of the picture by every splat's albedo, such that the body has a wanted colour under
that light; the light itself, and everything else, stays what it is.
"""

import argparse
import time
from pathlib import Path

import numpy as np

import irys_ti as it
from irys_ti.scene import constant, rectangle, rgb
from irys_ti.scene.transform import look_at, rotate, scale, translate

CAPTURE = Path(__file__).resolve().parents[2] / "shared" / "data" / "splats" / "guitar.compressed.ply"


def scene_of(guitar: it.Splats, size: int) -> it.Scene:
    """The guitar, a mirror ball and a floor."""
    return it.Scene(
        camera=it.Camera(look_at([4.6, 2.2, 2.4], [0.25, 1.5, 0.1], [0, 1, 0]), fov=46, film=it.Film(size, size, "tent")),
        materials=[
            it.Material("floor", "diffuse", {"reflectance": 0.45}),
            it.Material("mirror", "conductor", {"eta": constant(0.1), "k": constant(4.0)}),
        ],
        shapes=[
            rectangle(translate(0, -0.05, 0) @ rotate([1, 0, 0], -90) @ scale(8), id="ground", material="floor"),
            it.Sphere(id="ball", material="mirror", center=np.array([0.5, 0.65, 1.5]), radius=0.7),
            guitar,
        ],
        lights=[
            it.Light("sky", "constant", {"radiance": rgb(0.25, 0.3, 0.4, illuminant=True)}),
            it.Light(
                "sun", "directional", {"irradiance": rgb(5.0, 4.6, 4.0, illuminant=True)},
                look_at([4, 4, 1], [0, 0, 0], [0, 1, 0]),
            ),
        ],  # fmt: skip
        integrator=it.Integrator(max_depth=4, rr_depth=3),
        file="captured_guitar.py",
    )


def body_of(guitar: it.Splats) -> np.ndarray:
    """(n,) True for the wooden body: reddish, below the neck and above the stand's foot."""
    red = guitar.albedo[:, 0] > 1.3 * guitar.albedo[:, 2]
    return red & (guitar.position[:, 1] > 0.25) & (guitar.position[:, 1] < 1.9)


def tint_by_gradient(scene, guitar, body, hue: np.ndarray, steps: int, spp: int) -> np.ndarray:
    """The tint (3,) that gives the body a hue at its brightness; Gauss-Newton on three numbers, a band each."""
    params, plain = it.parameters(scene), guitar.albedo.copy()
    black = np.where(body[:, None], 0.0, plain)
    lit = it.render(scene, 2 * spp, seed=99).astype(float)
    params["guitar.albedo"] = black
    rest = it.render(scene, 2 * spp, seed=99).astype(float)
    mask = (np.abs(lit - rest).max(2) > 0.03)[:, :, None] / 1.0
    own, behind = (((x * mask).sum((0, 1)) / mask.sum()) for x in (lit - rest, rest))
    wanted, tint = behind + own.mean() * hue, np.ones(3)
    for step in range(steps):
        params["guitar.albedo"] = np.where(body[:, None], np.clip(plain * tint, 0, 0.95), plain)
        image = it.render(scene, spp, seed=100 + step)
        off = (image * mask).sum((0, 1)) / mask.sum() - wanted
        # d mean colour / d tint: the chain rule from every splat's albedo.
        jacobian = np.zeros((3, 3))
        for channel in range(3):
            grads = it.backward(
                scene, mask / mask.sum() * np.eye(3)[channel], spp, 200 + 3 * step + channel, ["guitar.albedo"]
            )  # fmt: skip
            jacobian[channel] = (grads["guitar.albedo"] * plain * body[:, None]).sum(0)
        print(f"step {step}  tint {np.round(tint, 3)}  mean colour off by {np.round(off, 4)}", flush=True)
        tint = np.clip(tint - np.linalg.solve(jacobian + 1e-6 * np.eye(3), off), 0.02, 8.0)
    params["guitar.albedo"] = np.where(body[:, None], np.clip(plain * tint, 0, 0.95), plain)
    final = it.render(scene, 2 * spp, seed=300)
    print(f"tint {np.round(tint, 3)}: mean colour {np.round((final * mask).sum((0, 1)) / mask.sum(), 4)}, wanted {np.round(wanted, 4)}")
    return tint


def main(argv=None) -> dict:
    """Run the example; returns the tint and the pictures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--arch", default="auto", help="auto, cpu, cuda, vulkan or metal")
    parser.add_argument("--quick", action="store_true", help="a tenth of the splats, a tiny picture")
    parser.add_argument("--out", type=Path, default=Path("out/guitar"), help="folder for the pictures")
    parser.add_argument("--capture", type=Path, default=CAPTURE, help="the file of splats")
    args = parser.parse_args(argv)
    size, spp, steps = (24, 16, 2) if args.quick else (192, 64, 3)

    arch = it.init(args.arch)
    began = time.perf_counter()
    guitar = it.read_splats(args.capture, "guitar")
    if args.quick:
        keep = np.random.default_rng(0).permutation(len(guitar))[: len(guitar) // 10]
        arrays = {k: v[keep] for k, v in guitar.values.items()}
        guitar = it.Splats(id="guitar", sh=guitar.sh[keep], **arrays)
    print(f"running on {arch}; {len(guitar)} splats read in {time.perf_counter() - began:.2f} s")
    scene = scene_of(guitar, size)
    pictures = [it.render(scene, spp)]
    it.relight(guitar)
    guitar.phase = "diffuse"
    pictures.append(it.render(scene, spp))
    tint = tint_by_gradient(scene, guitar, body_of(guitar), np.array([0.4, 0.9, 1.5]), steps, spp)
    pictures.append(it.render(scene, spp))
    args.out.mkdir(parents=True, exist_ok=True)
    for name, picture in zip(("captured", "relit", "tinted"), pictures):
        it.write_image(args.out / f"{name}.png", picture)
    it.write_image(args.out / "all.png", np.concatenate(pictures, 1))
    it.write_splats(args.out / "tinted.ply", guitar)
    print(f"{time.perf_counter() - began:.1f} s; see {args.out / 'all.png'}; tinted.ply opens in other viewers")
    return {"tint": tint, "pictures": pictures}


if __name__ == "__main__":
    main()
