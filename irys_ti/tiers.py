"""The fast tier's gradient against the f64 one, on the same seeds.

Both tiers draw the same random numbers, so nearly every path meets the same primitives, lights, lobes and
roulette outcomes in both. Over those paths the gradients may differ by rounding alone; the few that rounding
sends another way are counted, and what they do to the gradient is held against its standard error.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from . import reference
from .api import Gradients, check_image, collect, groups_of, wanted
from .device.compile import compiled
from .device.replay import Replay
from .scene import Scene
from .spectral.cie import response

MOST_DIFFERENCE = 3.5e-4  # ||difference|| / ||gradient|| of a parameter, over the paths that decide alike
MOST_LANES = 1e-4  # share of the paths that decide differently


def decisions(scene: Scene, spp: int = 16, seed: int = 2, params=None, groups: int = 1) -> np.ndarray:
    """A hash of each path's discrete decisions, (pixels, spp) uint32, in this process's tier.

    params: the gradients asked for; where a factor is zero they decide whether its path goes on.
    """
    device = compiled(scene)
    device.set_channels(response())
    device.want(wanted(scene, params))
    return Replay(device, spp, seed, groups).decisions()


def deposits(scene: Scene, d_image, spp: int = 16, seed: int = 2, params=None, groups: int = 1, mask=None) -> Gradients:
    """``it.backward`` of those paths alone that ``mask`` (pixels, spp) holds true for; None: all."""
    device = compiled(scene)
    device.set_channels(response())
    paths, d_image = wanted(scene, params), check_image(scene, d_image, "d_image")
    n = device.want(paths)
    device.scale_deposits(float(np.abs(d_image).max()) / spp)
    replay = Replay(device, spp, seed, groups, n, mask=mask)
    return collect(device, paths, *replay.deposit(d_image), (replay.equal, replay.traced))


@dataclass
class Difference:
    """One parameter. difference: ||fast - f64|| / ||f64|| over the paths that decide alike; nan where f64's is 0.

    effect: norm of what the others change, over the norm of the standard error (of this many samples).
    size, noise: norms of the f64 gradient and of its standard error. fast, exact: both tiers' whole gradients;
    stderr: of the f64 one.
    """

    difference: float
    effect: float
    size: float
    noise: float
    fast: np.ndarray
    exact: np.ndarray
    stderr: np.ndarray

    @property
    def ok(self) -> bool:
        # A gradient that is smaller than its noise is known no better than that.
        allowed = MOST_DIFFERENCE * max(1.0, self.noise / self.size if self.size > 0 else 1.0)
        return not self.difference > allowed and not self.effect > 1.0


@dataclass
class Comparison:
    """Both tiers on the same paths. lanes: traced; different: of them, how many decided differently."""

    parameters: dict[str, Difference]
    lanes: int
    different: int
    replayed: tuple[int, int]

    @property
    def ok(self) -> bool:
        # One path in a small sample is no measurement of a rate.
        few = self.different <= max(1, MOST_LANES * self.lanes)
        return few and all(d.ok for d in self.parameters.values())


def compare(scene: Scene, params=None, spp: int = 16, seed: int = 2, d_image=None) -> Comparison:
    """This process's tier against the reference tier. d_image: (H, W, 3), default ones."""
    paths = wanted(scene, params)
    _, _, w, h = scene.camera.film.window
    d_image = np.ones((h, w, 3)) if d_image is None else d_image
    groups = groups_of(spp)
    here = decisions(scene, spp, seed, paths, groups)
    there = reference.decisions(scene, spp, seed, paths, groups)
    alike = here == there
    args = (scene, d_image, spp, seed, paths, groups)
    fast, fast_alike = deposits(*args), deposits(*args, alike)
    exact, exact_alike = reference.deposits(*args), reference.deposits(*args, alike)
    out = {}
    for path in paths:
        size = np.linalg.norm(exact_alike[path])
        difference = np.linalg.norm(fast_alike[path] - exact_alike[path])
        others = (fast[path] - fast_alike[path]) - (exact[path] - exact_alike[path])
        noise = np.linalg.norm(exact.stderr[path])
        effect = np.linalg.norm(others) / noise if noise > 0 else (np.inf if np.any(others) else 0.0)
        out[path] = Difference(
            difference / size if size > 0 else (np.inf if difference > 0 else np.nan), float(effect),
            float(np.linalg.norm(exact[path])), float(noise), fast[path], exact[path], exact.stderr[path],
        )  # fmt: skip
    return Comparison(out, alike.size, int((~alike).sum()), fast.replayed)
