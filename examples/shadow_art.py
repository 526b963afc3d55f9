"""A paper bird is hung where its shadow shows it should be: the camera sees the wall alone, never the bird.

The photograph shows a bird's shadow on a wall. The bird that is to throw it hangs between lamp and wall, elsewhere and
turned. Nothing of it is in the picture, so that all its derivative comes from the edges of its shadow. The drawing
`shadow.png` shows the shadow before and after, and, from a second camera, bird and lamp.
"""

import argparse
import time
from pathlib import Path

import numpy as np

import irys_ti as it
from irys_ti.io.images import linear_to_srgb
from irys_ti.scene import posed, rectangle, rgb
from irys_ti.scene.transform import look_at, rotate, scale, translate

# The outline of a bird in the plane, and its triangles: body, wings, tail, head.
POINTS = [
    (-0.5, 0.0), (-0.1, 0.12), (0.0, 0.5), (0.2, 0.1), (0.42, 0.14), (0.55, 0.04), (0.38, 0.0), (0.1, -0.1), (-0.05, -0.4),
    (-0.2, -0.05),
]  # fmt: skip
FACES = [(0, 9, 1), (1, 3, 2), (1, 9, 7), (1, 7, 3), (3, 7, 6), (3, 6, 4), (4, 6, 5), (9, 8, 7)]
OFF = {"bird.translation": [0.12, -0.09, 0.1], "bird.rotation": [0.1, -0.15, 0.25]}
RATES = {"bird.translation": 0.012, "bird.rotation": 0.025}


def room(size: int) -> it.Scene:
    """A wall, a small lamp, and the bird between them; the camera looks past the bird at the wall."""
    vertices = np.c_[np.array(POINTS) * 0.5, np.zeros(len(POINTS))] + [0.0, 0.0, 1.0]
    bird = it.Mesh(id="bird", material="paper", vertices=vertices, faces=np.array(FACES, np.int32))
    return it.Scene(
        camera=it.Camera(look_at([0, -0.25, 1.6], [0, 0.1, 0], [0, 1, 0]), fov=50, near_clip=0.9, film=it.Film(size, size)),
        materials=[
            it.Material("plaster", "diffuse", {"reflectance": rgb(0.78, 0.7, 0.6)}),
            it.Material("paper", "diffuse", {"reflectance": 0.1}, two_sided=True),
            it.Material("black", "diffuse", {"reflectance": 0.0}),
        ],
        shapes=[
            rectangle(scale(2.0), id="wall", material="plaster"),
            bird,
            rectangle(
                translate(0.0, -0.6, 3.0) @ rotate([1, 0, 0], 168) @ scale(0.06), id="lamp", material="black",
                light=it.Light("lamp", "area", {"radiance": 700.0}),
            ),
        ],  # fmt: skip
        lights=[it.Light("sky", "constant", {"radiance": 0.02})],
        integrator=it.Integrator(max_depth=2),
        file="shadow_art.py",
    )


def from_aside(scene: it.Scene, size: int) -> np.ndarray:
    """Bird, lamp and wall as a second camera sees them, in the light of a sky."""
    aside = it.Camera(look_at([2.4, 0.9, 3.6], [0, -0.1, 1.1], [0, 1, 0]), fov=46, film=it.Film(size, size))
    sky = it.Light("sky", "constant", {"radiance": 1.5})
    shown = it.Scene(aside, scene.shapes, [sky], scene.materials, integrator=it.Integrator(max_depth=2))
    return it.render(shown, spp=128, seed=3)


def draw(images: dict, scenes: dict, out: Path, size: int) -> None:
    """The shadow before, as it should be and after; the bird before and after."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(15, 3.4), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots(1, 5)
    shown = [("its shadow at the start", images["start"]), ("the photograph", images["target"]), ("found", images["fitted"])]
    shown += [(f"the bird {name}, from aside", from_aside(scene, size)) for name, scene in scenes.items()]
    for axis, (title, image) in zip(axes, shown):
        axis.imshow(linear_to_srgb(0.8 * image / np.quantile(image, 0.97)), interpolation="nearest")
        axis.set_title(title)
        axis.axis("off")
    figure.savefig(out / "shadow.png", dpi=100)


def main(argv=None) -> dict[str, float]:
    """Run the example; returns how far the bird's corners hang from where they should, in the scene's units."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--arch", default="auto", help="auto, cpu, cuda, vulkan or metal")
    parser.add_argument("--quick", action="store_true", help="a small picture and few steps")
    parser.add_argument("--out", type=Path, default=Path("out/shadow"), help="folder for the pictures")
    args = parser.parse_args(argv)
    size, steps, spp = (32, 60, (4, 8)) if args.quick else (128, 150, (8, 32))

    arch = it.init(args.arch)
    print(f"running on {arch}; the first picture waits for its kernels to be compiled")
    args.out.mkdir(parents=True, exist_ok=True)
    truth, start, scene = room(size), room(size), room(size)
    target = it.render(truth, spp=128 if args.quick else 1024, seed=1000)
    for each in (start, scene):
        for path, off in OFF.items():
            it.parameters(each)[path] = off

    def apart() -> float:
        return float(np.linalg.norm(posed(scene.shapes[1]).vertices - truth.shapes[1].vertices, axis=1).mean())

    before, began = apart(), time.perf_counter()
    found = it.fit(
        scene, target, list(OFF), steps, spp=spp, loss=it.Coarser(target, (1, 4, 8)), lr=RATES, out=args.out, resume=False,
        callback=lambda s: print(f"step {s.step:3d}  loss {s.loss:10.3e}") if s.step % 25 == 0 else None,
    )  # fmt: skip
    errors = {"start": before, "found": apart(), "loss": found.losses[-1] / found.losses[0]}
    draw(found.images, {"at the start": start, "as found": scene}, args.out, max(size, 96))
    print("the bird's corners: {start:.3f} off at the start, {found:.4f} as found".format(**errors))
    print(f"{steps} steps in {time.perf_counter() - began:.1f} s; see {args.out / 'shadow.png'}")
    return errors


if __name__ == "__main__":
    main()
