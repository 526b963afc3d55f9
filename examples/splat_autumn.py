"""A bush of 900 Gaussian splats turns to its autumn colours: 3,600 numbers from three pictures.

Every splat scatters the light of the sky and the sun, and shadows the others. The fit starts from a green bush of one
colour and one opacity, and finds the albedo and the opacity of every splat at once.
"""

import argparse
import time
from pathlib import Path

import numpy as np

import irys_ti as it
from irys_ti.kernels.geometry.splats import matrices
from irys_ti.optim.adam import Adam
from irys_ti.scene import constant, rgb
from irys_ti.scene.transform import look_at

PATHS = ["bush.albedo", "bush.opacity"]
FOV = 28.0
EYES = [np.array([np.sin(a) * 4.6, 1.2, np.cos(a) * 4.6]) for a in np.deg2rad([0.0, 120.0, 240.0])]


def autumn_bush(n: int, rng) -> it.Splats:
    """Leaves in a ball, lying along its shells: yellow above, red on one side, some of them still green."""
    position = rng.normal(size=(n, 3))
    position *= rng.uniform(0.35, 1.0, (n, 1)) ** 0.6 / np.linalg.norm(position, axis=1, keepdims=True)
    size = 0.041 * (900 / n) ** (1 / 3)
    red, yellow, green = np.array([0.62, 0.10, 0.06]), np.array([0.82, 0.55, 0.08]), np.array([0.22, 0.40, 0.10])
    high = np.clip(0.5 + 0.6 * position[:, 1:2] + 0.3 * rng.normal(size=(n, 1)), 0, 1)
    colour = np.where(rng.random((n, 1)) < 0.25, green, high * yellow + (1 - high) * red)
    return it.Splats(
        id="bush", position=position, scale=size * rng.uniform(0.6, 1.4, (n, 3)), rotation=rng.normal(size=(n, 4)),
        opacity=rng.uniform(0.35, 0.95, n), albedo=np.clip(colour * rng.uniform(0.8, 1.2, (n, 3)), 0.02, 0.95),
    )  # fmt: skip


def scene_of(bush: it.Splats, size: int) -> it.Scene:
    """The bush alone under a sky and a low sun."""
    return it.Scene(
        camera=views(size)[0],
        shapes=[bush],
        lights=[
            it.Light("sky", "constant", {"radiance": rgb(0.75, 0.9, 1.2, illuminant=True)}),
            it.Light("sun", "directional", {"irradiance": constant(2.0)}, look_at([2, 2, 3], [0, 0, 0], [0, 1, 0])),
        ],
        integrator=it.Integrator(max_depth=3, rr_depth=3),
        file="splat_autumn.py",
    )


def views(size: int) -> list:
    """The cameras."""
    return [it.Camera(look_at(eye, [0, 0, 0], [0, 1, 0]), FOV, film=it.Film(size, size)) for eye in EYES]


def seen_pixels(bush: it.Splats, camera: it.Camera) -> np.ndarray:
    """(n,) pixels that each splat fills in a view: its chance to be what the pixel's ray meets, summed."""
    n, m = camera.film.width, camera.to_world[:3, :3]
    x = (2 * (np.arange(n) + 0.5) / n - 1) * np.tan(np.deg2rad(camera.fov) / 2)
    d = np.stack([-np.broadcast_to(x, (n, n)), -np.broadcast_to(x[:, None], (n, n)), np.ones((n, n))], -1)
    d = (d.reshape(-1, 3) @ m.T) / np.linalg.norm(d.reshape(-1, 3), axis=1, keepdims=True)
    unit = matrices(bush.rotation).transpose(0, 2, 1) / bush.scale[:, :, None]
    a = np.einsum("nij,nj->ni", unit, camera.to_world[:3, 3] - bush.position)
    total = np.zeros(len(bush))
    for rows in np.array_split(d, max(1, len(d) // 512)):
        b = np.einsum("nij,rj->rni", unit, rows)
        bb = (b * b).sum(-1)
        t = -np.einsum("rni,ni->rn", b, a) / bb
        d2 = (a * a).sum(-1) - t * t * bb
        alpha = bush.opacity * np.exp(-0.5 * np.maximum(d2, 0)) * (d2 < 14)
        order = np.argsort(t, axis=1)
        ordered = np.take_along_axis(alpha, order, 1)
        passed = np.cumprod(np.c_[np.ones(len(rows)), 1 - ordered[:, :-1]], 1)
        np.add.at(total, order.reshape(-1), (ordered * passed).reshape(-1))
    return total


class Recalled(it.L2):
    """L2 whose derivative looks at an average of the last steps' pictures, for little noise at few samples.

    The pictures of earlier steps have other seeds than the paths that are replayed, so nothing is correlated; they lag
    by 1 / (1 - keep) steps, in which a slow fit moves little: ``keep`` grows as the steps shrink.
    """

    def __init__(self, target):
        super().__init__(target)
        self.keep, self.past, self.steps = 0.0, np.zeros_like(self.target), 0

    def value(self, a, b):
        self.weight = min(1 - 1 / (self.steps + 1), self.keep)
        self.before = self.past
        self.past = self.weight * self.past + (1 - self.weight) * 0.5 * (a + b)
        self.steps += 1
        return super().value(a, b)

    def derivative(self, image):
        return super().derivative(self.weight * self.before + (1 - self.weight) * image)


def fit(scene, cameras, pictures, steps: int, spp: int, report) -> dict[str, np.ndarray]:
    """Adam over all views together; the mean of the last third of its steps."""
    adam, params = Adam(0.7, 0.95), it.parameters(scene)
    values = {p: params[p] for p in PATHS}
    losses = [Recalled(picture) for picture in pictures]
    mean, kept = {p: np.zeros_like(x) for p, x in values.items()}, 0
    for step in range(steps):
        total, loss = dict.fromkeys(PATHS, 0.0), 0.0
        rate = 0.06 * 0.5 * (1 + np.cos(np.pi * step / steps)) + 0.003
        for i, (camera, l2) in enumerate(zip(cameras, losses)):
            scene.camera = camera
            l2.keep = float(np.clip(1 - rate / 0.04, 0, 0.9))
            seed = 2 * (step * len(cameras) + i)
            value, grads = it.gradient(scene, l2, spp, (seed, seed + 1), PATHS)
            loss += value
            for p in PATHS:
                total[p] = total[p] + grads[p]
        low, high = dict.fromkeys(PATHS, 0.005), dict.fromkeys(PATHS, 0.995)
        values = adam.step(values, total, dict.fromkeys(PATHS, rate), low, high)
        for p in PATHS:
            params[p] = values[p]
        if step >= steps * 2 // 3:
            kept += 1
            for p in PATHS:
                mean[p] += (values[p] - mean[p]) / kept
        report(step, loss, values)
    for p in PATHS:
        params[p] = mean[p]
    return mean


def main(argv=None) -> dict:
    """Run the example; returns what it found: names of splats and their errors."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--arch", default="auto", help="auto, cpu, cuda, vulkan or metal")
    parser.add_argument("--quick", action="store_true", help="few splats, tiny pictures and few steps")
    parser.add_argument("--out", type=Path, default=Path("out/autumn"), help="folder for the pictures")
    parser.add_argument("--steps", type=int, help="steps of the fit (150)")
    parser.add_argument("--splats", type=int, help="splats of the bush (900)")
    parser.add_argument("--size", type=int, help="width and height of the three pictures (128)")
    args = parser.parse_args(argv)
    n, size, steps, spp = (40, 24, 25, 8) if args.quick else (900, 128, 150, 4)
    n, size, steps = args.splats or n, args.size or size, args.steps or steps

    arch = it.init(args.arch)
    print(f"running on {arch}; the first picture waits for its kernels to be compiled")
    truth = autumn_bush(n, np.random.default_rng(7))
    scene, cameras = scene_of(truth, size), views(size)
    pictures = []
    for i, scene.camera in enumerate(cameras):
        pictures.append(it.render(scene, 64 if args.quick else 256, seed=1000 + i))
    seen = np.max([seen_pixels(truth, camera) for camera in cameras], 0)

    bush = autumn_bush(n, np.random.default_rng(7))
    bush.albedo, bush.opacity = np.tile([0.25, 0.4, 0.15], (n, 1)), np.full(n, 0.6)
    scene = scene_of(bush, size)
    start = it.render(scene, 64)
    began = time.perf_counter()

    def errors(values) -> tuple[np.ndarray, np.ndarray]:
        return (
            np.abs(values["bush.albedo"] - truth.albedo).max(1), np.abs(values["bush.opacity"] - truth.opacity)
        )  # fmt: skip

    def report(step, loss, values):
        if step % 10 == 0 or step == steps - 1:
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
