"""A bush of Gaussian splats turns to its autumn colours: the colour and opacity of every splat, from three pictures."""

from __future__ import annotations

import numpy as np

from irys_ti.api import gradient, parameters, render
from irys_ti.kernels.geometry.splats import matrices
from irys_ti.optim.adam import Adam
from irys_ti.optim.losses import L2
from irys_ti.preview.fitting import FitView
from irys_ti.scene import Camera, Film, Integrator, Light, Scene, Splats, constant, rgb
from irys_ti.scene.transform import look_at

from . import Outcome

PATHS = ["bush.albedo", "bush.opacity"]
FOV = 28.0
EYES = [np.array([np.sin(a) * 4.6, 1.2, np.cos(a) * 4.6]) for a in np.deg2rad([0.0, 120.0, 240.0])]


def autumn_bush(n: int, rng) -> Splats:
    """Leaves in a ball, lying along its shells: yellow above, red on one side, some of them still green."""
    position = rng.normal(size=(n, 3))
    position *= rng.uniform(0.35, 1.0, (n, 1)) ** 0.6 / np.linalg.norm(position, axis=1, keepdims=True)
    size = 0.041 * (900 / n) ** (1 / 3)
    red, yellow, green = np.array([0.62, 0.10, 0.06]), np.array([0.82, 0.55, 0.08]), np.array([0.22, 0.40, 0.10])
    high = np.clip(0.5 + 0.6 * position[:, 1:2] + 0.3 * rng.normal(size=(n, 1)), 0, 1)
    colour = np.where(rng.random((n, 1)) < 0.25, green, high * yellow + (1 - high) * red)
    return Splats(
        id="bush", position=position, scale=size * rng.uniform(0.6, 1.4, (n, 3)), rotation=rng.normal(size=(n, 4)),
        opacity=rng.uniform(0.35, 0.95, n), albedo=np.clip(colour * rng.uniform(0.8, 1.2, (n, 3)), 0.02, 0.95),
    )  # fmt: skip


def scene_of(bush: Splats, size: int) -> Scene:
    """The bush alone under a sky and a low sun."""
    return Scene(
        camera=views(size)[0],
        shapes=[bush],
        lights=[
            Light("sky", "constant", {"radiance": rgb(0.75, 0.9, 1.2, illuminant=True)}),
            Light("sun", "directional", {"irradiance": constant(2.0)}, look_at([2, 2, 3], [0, 0, 0], [0, 1, 0])),
        ],
        integrator=Integrator(max_depth=3, rr_depth=3),
        file="demos/bush.py",
    )


def views(size: int) -> list:
    """The cameras."""
    return [Camera(look_at(eye, [0, 0, 0], [0, 1, 0]), FOV, film=Film(size, size)) for eye in EYES]


def seen_pixels(bush: Splats, camera: Camera) -> np.ndarray:
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


class Recalled(L2):
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
    adam, params = Adam(0.7, 0.95), parameters(scene)
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
            value, grads = gradient(scene, l2, spp, (seed, seed + 1), PATHS)
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
        if report(step, loss, values, losses[0].past) is True:
            break
    for p in PATHS:
        params[p] = mean[p]
    return mean


def green_bush(truth: Splats) -> Splats:
    """The same splats, all of one colour and one opacity."""
    n = len(truth.opacity)
    return Splats(
        id="bush", position=truth.position, scale=truth.scale, rotation=truth.rotation,
        opacity=np.full(n, 0.6), albedo=np.tile([0.25, 0.4, 0.15], (n, 1)),
    )  # fmt: skip


def play(show, quick: bool = False) -> Outcome:
    """The fit, step by step, seen from the first camera."""
    n, size, steps, spp = (40, 24, 30, 8) if quick else (300, 96, 100, 4)
    truth = autumn_bush(n, np.random.default_rng(7))
    scene, cameras, pictures = scene_of(truth, size), views(size), []
    for i, scene.camera in enumerate(cameras):
        pictures.append(render(scene, 128 if quick else 256, 1000 + i))
    seen = np.max([seen_pixels(truth, camera) for camera in cameras], 0) > 0.5
    scene, view = scene_of(green_bush(truth), size), FitView(pictures[0])

    def errors(values) -> dict[str, float]:
        """Median errors of the splats that fill more than half a pixel of some view."""
        colour = np.abs(values["bush.albedo"] - truth.albedo).max(1)[seen]
        opacity = np.abs(values["bush.opacity"] - truth.opacity)[seen]
        return {"colour, median": float(np.median(colour)), "opacity, median": float(np.median(opacity))}

    found = fit(
        scene, cameras, pictures, steps, spp, lambda step, loss, values, image: show(*view.draw(image, loss, errors(values)))
    )
    scene.camera = cameras[0]
    show(*view.draw(render(scene, 64), view.losses[-1], errors(found)))
    return Outcome(errors(found), dict.fromkeys(errors(found), 0.08 if quick else 0.05))
