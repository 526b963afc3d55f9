"""A ball of clay is pushed into the shape that a picture shows, vertex by vertex, in large steps.

The derivative by each vertex is rough, and says little of those that face the camera: steps along it pull the rim alone
(`plain` in the drawing). Taken through (I + lambda L)^2 (it.LargeSteps) the same derivatives move the shape as a whole.
`shape.png` shows the picture, the start, and what either way finds.
"""

import argparse
import time
from pathlib import Path

import numpy as np
from scipy.spatial import ConvexHull

import irys_ti as it
from irys_ti.io.images import linear_to_srgb
from irys_ti.scene.transform import look_at, rotate, scale, translate


def ball(subdivisions: int) -> tuple[np.ndarray, np.ndarray]:
    """Unit vectors and faces of an icosahedron, each face cut into four ``subdivisions`` times."""
    one, golden = np.array([[1, 1], [1, -1], [-1, 1], [-1, -1]]), (1 + 5**0.5) / 2
    v = np.concatenate([np.roll(np.c_[np.zeros(4), one * [1, golden]], k, axis=1) for k in range(3)])
    f = ConvexHull(v).simplices
    outwards = np.einsum("ij,ij->i", v[f[:, 0]], np.cross(v[f[:, 1]], v[f[:, 2]])) > 0
    f = np.where(outwards[:, None], f, f[:, ::-1])
    for _ in range(subdivisions):
        ends, at = np.unique(np.sort(f[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2), 1), axis=0, return_inverse=True)
        a, b, c = (len(v) + at.reshape(-1, 3)).T
        v = np.concatenate([v, v[ends].mean(1)])
        f = np.concatenate([np.c_[f[:, 0], a, c], np.c_[f[:, 1], b, a], np.c_[f[:, 2], c, b], np.c_[a, b, c]])
    return v / np.linalg.norm(v, axis=1, keepdims=True), f.astype(np.int32)


def room(size: int, vertices: np.ndarray, faces: np.ndarray) -> it.Scene:
    """The clay before a dark backdrop, lit from above and from the side."""
    from irys_ti.scene import rectangle

    return it.Scene(
        camera=it.Camera(look_at([0, 0.6, 3.2], [0, 0, 0], [0, 1, 0]), fov=42, film=it.Film(size, size)),
        materials=[it.Material("clay", "diffuse", {"reflectance": 0.6}), it.Material("black", "diffuse", {"reflectance": 0.0})],
        shapes=[
            it.Mesh(id="lump", material="clay", vertices=vertices, faces=faces),
            rectangle(
                translate(1.6, 2.4, 1.6) @ rotate([1, -0.6, 0], 130) @ scale(0.5), id="lamp", material="black",
                light=it.Light("lamp", "area", {"radiance": 14.0}),
            ),
        ],  # fmt: skip
        lights=[it.Light("sky", "constant", {"radiance": 0.15})],
        integrator=it.Integrator(max_depth=2),
        file="shape_from_picture.py",
    )


def pear(directions: np.ndarray) -> np.ndarray:
    """The shape to be found: its radius in each direction."""
    x, y, _ = directions.T
    return directions * (0.62 - 0.2 * y + 0.14 * np.cos(3 * np.arctan2(y, x)) * (x * x + y * y))[:, None]


def off(vertices: np.ndarray) -> float:
    """Mean distance from the true surface, along their own directions, of the vertices on the camera's side."""
    front = vertices[vertices[:, 2] > 0]
    radius = np.linalg.norm(front, axis=1)
    return float(np.abs(radius - np.linalg.norm(pear(front / radius[:, None]), axis=1)).mean())


def push(target: np.ndarray, start: tuple, size: int, steps: int, spp: int, smoothness: float, rate: float) -> dict:
    """Fit the ball's vertices; returns the scene, the losses and how many faces were turned over."""
    scene = room(size, *start)
    shape, losses = it.LargeSteps(scene, "lump", rate, smoothness), []
    for k in range(steps):
        loss, grads = it.gradient(scene, it.L2(target), spp, (2 * k + 1, 2 * k + 2), [shape.path])
        report = shape.step(grads[shape.path])
        if len(report.inverted):
            print(f"step {k}: faces {report.inverted} were turned over")
        shape.rate *= 0.05 ** (1 / steps)
        losses.append(loss)
    return {"scene": scene, "losses": losses, "inverted": shape.inverted}


def draw(images: dict, out: Path) -> None:
    """The pictures beside each other."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(3.4 * len(images), 3.6), layout="constrained")
    FigureCanvasAgg(figure)
    for axis, (title, image) in zip(figure.subplots(1, len(images)), images.items()):
        axis.imshow(linear_to_srgb(image), interpolation="nearest")
        axis.set_title(title)
        axis.axis("off")
    figure.savefig(out / "shape.png", dpi=100)


def main(argv=None) -> dict[str, float]:
    """Run the example; returns each way's picture error over the start's, distance from the truth, and faces turned over."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--arch", default="auto", help="auto, cpu, cuda, vulkan or metal")
    parser.add_argument("--quick", action="store_true", help="a small picture, a coarse mesh and few steps")
    parser.add_argument("--out", type=Path, default=Path("out/shape"), help="folder for the pictures")
    args = parser.parse_args(argv)
    size, cuts, steps, spp = (24, 3, 40, 8) if args.quick else (96, 4, 120, 16)

    arch = it.init(args.arch)
    print(f"running on {arch}; the first picture waits for its kernels to be compiled")
    args.out.mkdir(parents=True, exist_ok=True)
    directions, faces = ball(cuts)
    target = it.render(room(size, pear(directions), faces), spp=256, seed=1000)
    start = 0.55 * directions, faces
    images = {"the picture": target, "at the start": it.render(room(size, *start), 64, seed=5)}
    found, began = {"start, off": off(start[0])}, time.perf_counter()
    first = float(np.square(images["at the start"] - target).mean())
    for name, smoothness, rate in (("large steps", 25.0, 0.4), ("plain", 0.0, 0.03)):
        done = push(target, start, size, steps, spp, smoothness, rate)
        images[name] = image = it.render(done["scene"], 64, seed=5)
        found[name], found[f"{name}, inverted"] = float(np.square(image - target).mean()) / first, done["inverted"]
        found[f"{name}, off"] = off(done["scene"].shapes[0].vertices)
        print(
            f"{name}: picture error {found[name]:.3f} of the start's, {found[f'{name}, off']:.4f} from the true surface "
            f"({found['start, off']:.4f} at the start), {done['inverted']} faces turned over"
        )
    draw(images, args.out)
    print(f"{2 * steps} steps in {time.perf_counter() - began:.1f} s; see {args.out / 'shape.png'}")
    return found


if __name__ == "__main__":
    main()
