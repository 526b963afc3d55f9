"""A bearing plate's bore, thickness and bore position are found from one picture.

The plate is a parametric solid (it.cad): every vertex is a graph of the dimensions, so the derivative of the picture by
its vertices, outlines and shadows included, becomes one number a dimension. The drawing `edges.png` shows what each
vertex of the bore's edge contributes to the derivative by its diameter.
"""

import argparse
import time
from pathlib import Path

import numpy as np

import irys_ti as it
from irys_ti.scene import rectangle, rgb
from irys_ti.scene.transform import look_at, rotate, scale, translate

TRUTH = {"bore_diameter": 0.62, "thickness": 0.22, "bore_x": 0.10, "bore_y": -0.06}
START = {"bore_diameter": 0.52, "thickness": 0.30, "bore_x": 0.02, "bore_y": 0.03}
RATES = {"plate.bore_diameter": 0.03, "plate.thickness": 0.05, "plate.bore_x": 0.02, "plate.bore_y": 0.02}
BOUNDS = {
    "plate.bore_diameter": (0.2, 1.0), "plate.thickness": (0.05, 0.5), "plate.bore_x": (-0.25, 0.25), "plate.bore_y": (-0.25, 0.25),
}  # fmt: skip


def plate_scene(dimensions: dict, size: int, segments: int = 96):
    """(scene, solid): a plate standing before a bright wall, seen from its side a little, under a lamp and a sky."""
    d = dimensions
    plate = it.cad.plate(
        "plate", 1.6, 1.2, d["thickness"], {"bore": (d["bore_x"], d["bore_y"], d["bore_diameter"])}, segments
    )
    scene = it.Scene(
        camera=it.Camera(look_at([1.1, 0.8, 2.6], [0, 0, 0.1], [0, 1, 0]), fov=42, film=it.Film(size, size)),
        materials=[
            it.Material("steel", "diffuse", {"reflectance": 0.35}, two_sided=True),
            it.Material("wall", "diffuse", {"reflectance": rgb(0.8, 0.78, 0.72)}, two_sided=True),
            it.Material("black", "diffuse", {"reflectance": 0.0}),
        ],
        shapes=[
            rectangle(translate(0, 0, -0.8) @ scale(4), id="backdrop", material="wall"),
            rectangle(
                translate(-1.5, 2.5, 2.5) @ rotate([1, 0, 0], 130) @ scale(0.5), id="lamp", material="black",
                light=it.Light("lamp", "area", {"radiance": 12.0}),
            ),
        ],  # fmt: skip
        lights=[it.Light("sky", "constant", {"radiance": 0.4})],
        integrator=it.Integrator(max_depth=3),
        file="bearing_plate.py",
    )
    plate.add_to(scene, "steel")
    return scene, plate


def draw_shares(scene, plate, d_image, out: Path, spp: int) -> None:
    """Each edge vertex's share of the derivative of the loss by the bore's diameter, seen from the front."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    grads = it.backward(scene, d_image, spp, params=["plate.vertices"])
    shares = plate.shares(grads["plate.vertices"])["bore_diameter"]
    v = plate.vertices()
    on_bore = np.abs(plate.push({"bore_diameter": 1.0})["plate.vertices"]).max(1) > 0
    front = v[:, 2] > 0.5 * v[:, 2].max()
    limit = np.abs(shares).max()
    figure, axes = plt.subplots(1, 2, figsize=(10, 4.5), sharey=True)
    for axis, side, name in zip(axes, (front, ~front), ("front edge", "back edge")):
        axis.set_aspect("equal")
        axis.set_title(f"{name} of the bore")
        edge = on_bore & side
        dots = axis.scatter(v[edge, 0], v[edge, 1], c=shares[edge], cmap="RdBu_r", vmin=-limit, vmax=limit, s=30)
    figure.colorbar(dots, ax=axes, label="share of d loss / d diameter")
    figure.savefig(out / "edges.png", dpi=110)
    plt.close(figure)


def main(argv=None) -> dict[str, float]:
    """Run the example; returns the relative errors."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--arch", default="auto", help="auto, cpu, cuda, vulkan or metal")
    parser.add_argument("--quick", action="store_true", help="a tiny picture and few steps")
    parser.add_argument("--out", type=Path, default=Path("out/plate"), help="folder for the pictures")
    args = parser.parse_args(argv)
    size, steps, spp = (40, 20, 8) if args.quick else (128, 60, (16, 64))

    arch = it.init(args.arch)
    print(f"running on {arch}; the first picture waits for its kernels to be compiled")
    target = it.render(plate_scene(TRUTH, size)[0], spp=256 if args.quick else 2048, seed=1000)

    began = time.perf_counter()
    scene, plate = plate_scene(START, size)
    paths = [f"plate.{name}" for name in TRUTH]
    args.out.mkdir(parents=True, exist_ok=True)
    image = it.render(scene, spp=64, seed=5)
    draw_shares(scene, plate, 2 * (image - target) / image.size, args.out, 4 if args.quick else 32)
    found = it.fit(
        scene, target, paths, steps, spp=spp, out=args.out, resume=False,
        lr=RATES, bounds=BOUNDS,
        callback=lambda s: print(f"step {s.step:3d}  loss {s.loss:10.3e}") if s.step % 10 == 0 else None,
    )  # fmt: skip
    errors = {}
    for name, true in TRUTH.items():
        value = float(found.values[f"plate.{name}"])
        errors[name] = value - true
        print(f"{name:14} found {value:.5f}  truth {true:.5f}  error {errors[name]:+.5f}")
    print(f"{steps} steps in {time.perf_counter() - began:.1f} s; see {args.out / 'comparison.png'} and edges.png")
    return errors


if __name__ == "__main__":
    main()
