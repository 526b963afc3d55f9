"""A cloud of smoke is found again, voxel by voxel, from pictures of it from twelve sides.

The smoke scatters light many times on its way (albedo 0.8) and hangs under a bright sky. Nothing is known of it but that it
is nowhere negative, lies in the unit cube, and has no details finer than a few hundredths of that: every step is blurred by
so much. Coarse grids come first. Each step asks all views for the derivative of the squared difference by every voxel, and
goes down it with Nesterov's momentum, the length of steps following from one measured curvature.
"""

import argparse
import time
from pathlib import Path

import numpy as np

import irys_ti as it
from irys_ti.scene import cube
from irys_ti.scene.transform import look_at, scale, translate

SIGMA, ALBEDO = 3.0, 0.8  # extinction at density 1 per side of the cube; what of it scatters
BLUR = 0.042  # standard deviation of a step's blur, in sides of the cube
PICTURE = 8  # times as many samples a picture takes as its derivatives
START = 0.1  # the density that it begins with, everywhere
SAFE = 1.2  # the curvature is at most so many times what is measured
MEASURED = 32  # voxels along a side of the finest grid that the curvature is measured on; finer ones take its


def plume(n: int, puffs: int = 14) -> np.ndarray:
    """(n, n, n) densities z, y, x: puffs that rise and wind and grow."""
    rng, c = np.random.default_rng(3), (np.arange(n) + 0.5) / n
    z, y, x = np.meshgrid(c, c, c, indexing="ij")
    out = np.zeros((n, n, n))
    for k in range(puffs):
        h = (k + 0.5) / puffs
        turn, spread, width = 7.0 * h + rng.uniform(0, 0.8), 0.06 + 0.16 * h, rng.uniform(0.055, 0.08) + 0.05 * h
        at = [0.5 + spread * np.cos(turn) * rng.uniform(0.4, 1.2), 0.12 + 0.74 * h, 0.5 + spread * np.sin(turn) * rng.uniform(0.4, 1.2)]
        width = max(width, 1.6 / n)  # what the voxels can hold
        r2 = (x - at[0]) ** 2 + (y - at[1]) ** 2 + (z - at[2]) ** 2
        out += rng.uniform(0.6, 1.2) * np.exp(-0.5 * r2 / width**2)
    return np.maximum(out - 0.05, 0.0)


def cameras(views: int, pixels: int) -> list[it.Camera]:
    """Evenly all around."""
    y, turn = 1 - (np.arange(views) + 0.5) * 2 / views, 2.39996 * np.arange(views)
    eyes = 4 * np.stack([np.sqrt(1 - y**2) * np.cos(turn), y, np.sqrt(1 - y**2) * np.sin(turn)], 1)
    up = [[0, 1, 0] if abs(eye[1]) < 3.5 else [1, 0, 0] for eye in eyes]
    return [it.Camera(look_at(list(eye), [0, 0, 0], u), fov=22, film=it.Film(pixels, pixels)) for eye, u in zip(eyes, up)]


def air(density: np.ndarray, camera: it.Camera) -> it.Scene:
    """The smoke alone under a white sky."""
    values = {"density": density, "sigma_t": SIGMA, "albedo": ALBEDO}
    return it.Scene(
        camera=camera,
        shapes=[cube(scale(0.5), id="box", material="none", interior="smoke")],
        materials=[it.Material("none", "null")],
        media=[it.Medium("smoke", "grid", values, to_world=translate(-0.5, -0.5, -0.5))],
        lights=[it.Light("sky", "constant", {"radiance": 1.0})],
        integrator=it.Integrator(max_depth=32, rr_depth=8),
        file="smoke.py",
    )


def spread(x: np.ndarray, m: np.ndarray) -> np.ndarray:
    """A matrix (to, from) applied along all three axes."""
    for _ in range(3):
        x = np.tensordot(x, m, (0, 1))
    return x


def blurred(x: np.ndarray) -> np.ndarray:
    """By BLUR; nothing is beyond the cube."""
    n = len(x)
    c = np.arange(n)
    m = np.exp(-0.5 * ((c[:, None] - c) / (BLUR * n)) ** 2)
    return spread(x, m / m.sum(1).max())


def resized(x: np.ndarray, n: int) -> np.ndarray:
    """On a grid of n^3 voxels, linear between the centres of x's; x's means where it is the finer one."""
    m = len(x)
    if n < m:
        return spread(x, np.kron(np.eye(n), np.full(m // n, n / m)))
    at = np.clip((np.arange(n) + 0.5) * m / n - 0.5, 0, m - 1)
    return spread(x, np.maximum(0.0, 1.0 - np.abs(at[:, None] - np.arange(m))))


class Views:
    """All pictures, and what a grid's misfit to them is."""

    def __init__(self, cameras, pictures, seed: int):
        self.cameras, self.pictures, self.seed = cameras, pictures, seed
        self.scene = self.parameters = None

    def show(self, x: np.ndarray) -> None:
        """Let the smoke be x."""
        if self.scene is None or self.parameters["smoke.density"].shape != x.shape:
            self.scene = air(x, self.cameras[0])
            self.parameters = it.parameters(self.scene)
        self.parameters["smoke.density"] = x

    def misfit(self, x: np.ndarray, spp: int) -> tuple[float, np.ndarray]:
        """Half the squared difference of all pictures, summed, and its derivative by the voxels."""
        self.show(x)
        loss, slope = 0.0, np.zeros(x.shape)
        for camera, picture in zip(self.cameras, self.pictures):
            self.scene.camera = camera
            self.seed += 3
            # Pictures cost less than their derivatives, and their noise multiplies those': so they take more samples.
            rest = it.render(self.scene, PICTURE * spp, self.seed).astype(np.float64) - picture
            _, found = it.gradient(self.scene, lambda image, rest=rest: (0.0, rest), spp, (self.seed + 1, self.seed + 2), ["smoke.density"])
            loss, slope = loss + 0.5 * (rest**2).sum(), slope + found["smoke.density"]
        return loss, slope

    def curvature(self, x: np.ndarray, spp: int) -> float:
        """About the largest eigenvalue of J' J, J the pictures' derivative: that of a broad cloud in the middle."""
        self.show(x)
        c = (np.arange(len(x)) + 0.5) / len(x) - 0.5
        r2 = c[:, None, None] ** 2 + c[:, None] ** 2 + c**2
        v, size = np.exp(-0.5 * r2 / 0.25**2), 0.0
        for camera in self.cameras:
            self.scene.camera = camera
            self.seed += 2
            a, b = (it.forward(self.scene, {"smoke.density": v}, spp, self.seed + k).astype(np.float64) for k in (0, 1))
            size += float((a * b).sum())  # of two sets of random numbers: the square of one would count its noise
        return SAFE * size / float((v * v).sum())


def recover(views: Views, levels, report) -> np.ndarray:
    """The densities, from coarse grids to fine: levels of (voxels along a side, steps, samples per pixel)."""
    x, unit = np.full((levels[0][0],) * 3, START), None
    for n, steps, spp in levels:
        x = resized(x, n)
        if n <= MEASURED:
            unit = views.curvature(x, 4 * spp) * n**3  # a voxel's share falls with its volume
        ahead, before, t, total, weight = x.copy(), x, 1.0, np.zeros(x.shape), 0.0
        for step in range(steps):
            loss, slope = views.misfit(ahead, spp)
            # The last third of the steps shrink, so that their noise averages out.
            share = min(1.0, 3.0 * (steps - step) / steps)
            x = np.maximum(ahead - share * n**3 / unit * blurred(slope), 0.0)
            if ((ahead - x) * (x - before)).sum() > 0:
                t = 1.0  # momentum leads uphill
            faster = 0.5 * (1 + np.sqrt(1 + 4 * t * t))
            ahead = np.maximum(x + (t - 1) / faster * (x - before), 0.0)
            before, t = x, faster
            if 3 * (step + 1) > 2 * steps:
                total, weight = total + x, weight + 1
            report(n, step, steps, loss, x)
        x = total / weight
    return x


def main(argv=None) -> dict[str, float]:
    """Run the example; returns the relative error at the start and of what was found."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--arch", default="auto", help="auto, cpu, cuda, vulkan or metal")
    parser.add_argument("--quick", action="store_true", help="16^3 voxels from eight pictures of 24x24 pixels")
    parser.add_argument("--out", type=Path, default=Path("out/smoke"), help="folder for the pictures and smoke.vol")
    parser.add_argument("--size", type=int, default=128, help="voxels along a side")
    parser.add_argument("--pixels", type=int, default=64, help="of each picture, along a side")
    parser.add_argument("--views", type=int, default=12)
    parser.add_argument("--levels", help="as voxels,steps,samples/voxels,steps,samples/...; default by --size")
    parser.add_argument("--target-spp", type=int, default=4096, help="samples per pixel of the pictures that are given")
    args = parser.parse_args(argv)
    it.init(args.arch)
    args.out.mkdir(parents=True, exist_ok=True)
    if args.quick:
        args.size, args.pixels, args.views, args.target_spp = 16, 24, 8, 256
    if args.levels:
        levels = [tuple(int(k) for k in level.split(",")) for level in args.levels.split("/")]
    elif args.quick:
        levels = [(8, 7, 6), (16, 8, 6)]
    else:
        levels = [(16, 12, 64), (32, 16, 256), (64, 8, 256), (args.size, 4, 256)]

    truth, around = plume(args.size), cameras(args.views, args.pixels)
    began = time.perf_counter()
    scene, pictures = air(truth, around[0]), []
    for k, scene.camera in enumerate(around):
        pictures.append(it.render(scene, args.target_spp, seed=10**6 + k))
    print(f"{args.views} pictures of {args.pixels}x{args.pixels} in {time.perf_counter() - began:.1f} s")

    def error(x):
        return float(np.linalg.norm(resized(x, args.size) - truth) / np.linalg.norm(truth))

    def report(n, step, steps, loss, x):
        seconds = time.perf_counter() - began
        if step % 4 == 3 or step == steps - 1:
            print(f"{seconds:6.1f} s  {n:3d}^3 step {step + 1:3d}  misfit {loss:9.3f}  error {error(x):.3f}", flush=True)

    began = time.perf_counter()
    start = error(np.full((1, 1, 1), START))
    found = recover(Views(around, pictures, 1), levels, report)
    errors = {"start": start, "found": error(found)}
    print(f"{time.perf_counter() - began:.1f} s; relative error {errors['found']:.3f}, at the start {start:.3f}")
    it.write_volume(args.out / "smoke.vol", found)
    if not args.quick:
        rows = []
        for density in (truth, resized(found, args.size)):
            sides = []
            for camera in around[1 :: max(1, args.views // 4)]:
                camera.film = it.Film(3 * args.pixels, 3 * args.pixels)
                sides.append(it.render(air(density, camera), args.target_spp // 16, seed=7))
            rows.append(np.concatenate(sides, 1))
        it.write_image(args.out / "comparison.png", np.concatenate(rows, 0))
    return errors


if __name__ == "__main__":
    main()
