"""A rough grey metal ball becomes a gold one: its roughness and colour are found from one picture.

The picture is rendered from the true material with other random numbers, so it has noise of its own. The colour
is three numbers, the reflectance at 450, 550 and 650 nm.
"""

import argparse
import time
from pathlib import Path

import numpy as np

import irys_ti as it
from irys_ti.scene import points, rectangle
from irys_ti.scene.transform import look_at, rotate, scale, translate
from irys_ti.spectral.metals import metal

COLOUR_AT = [450, 550, 650]  # nm
ROUGHNESS = 0.25


def ball_scene(alpha: float, colour, size: int) -> it.Scene:
    """A metal ball on a coloured floor, under a lamp and a bluish sky."""
    eta, k = metal("none")  # reflects everything, so that the colour is all in specular_reflectance
    colour = points(COLOUR_AT, colour, extend=True)
    return it.Scene(
        camera=it.Camera(look_at([0, 1.6, 4], [0, 0.8, 0], [0, 1, 0]), fov=36, film=it.Film(size, size)),
        materials=[
            it.Material("metal", "roughconductor", {"eta": eta, "k": k, "specular_reflectance": colour, "alpha": alpha}),
            it.Material("floor", "diffuse", {"reflectance": points([400, 550, 700], [0.3, 0.5, 0.6])}),
            it.Material("black", "diffuse", {"reflectance": 0.0}),
        ],
        shapes=[
            it.Sphere(id="ball", material="metal", center=np.array([0, 0.9, 0]), radius=0.9),
            rectangle(rotate([1, 0, 0], -90) @ scale(3), id="ground", material="floor"),
            rectangle(
                translate(0, 3.5, 0) @ rotate([1, 0, 0], 90), id="lamp", material="black",
                light=it.Light("lamp", "area", {"radiance": points([400, 700], [6, 9])}),
            ),
        ],  # fmt: skip
        lights=[it.Light("sky", "constant", {"radiance": points([400, 550, 700], [0.5, 0.4, 0.3])})],
        integrator=it.Integrator(max_depth=6),
        file="fit_ball.py",
    )


def gold_colour() -> np.ndarray:
    """Gold's reflectance at normal incidence, from its measured refractive index."""
    eta, k = metal("Au")
    n, kappa = (np.interp(COLOUR_AT, s.wavelengths, s.values) for s in (eta, k))
    return ((n - 1) ** 2 + kappa**2) / ((n + 1) ** 2 + kappa**2)


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
    truth = {"metal.alpha": ROUGHNESS, "metal.specular_reflectance": gold_colour()}
    target = it.render(ball_scene(ROUGHNESS, gold_colour(), size), spp=64 if args.quick else 512, seed=1000)

    began = time.perf_counter()
    scene = ball_scene(0.6, [0.5, 0.5, 0.5], size)
    found = it.fit(
        scene, target, list(truth), steps, spp=8, seed=args.seed, out=args.out, resume=False,
        callback=lambda s: print(f"step {s.step:3d}  loss {s.loss:10.3e}") if s.step % 10 == 0 else None,
    )  # fmt: skip
    errors = {}
    for path, true in truth.items():
        errors[path] = found.values[path] - true
        print(f"{path:28} found {np.round(found.values[path], 4)}  truth {np.round(true, 4)}", end="  ")
        print(f"largest error {np.abs(errors[path]).max():.4f}")
    print(f"{steps} steps in {time.perf_counter() - began:.1f} s; see {args.out / 'comparison.png'}")
    return errors


if __name__ == "__main__":
    main()
