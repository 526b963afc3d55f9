"""Gradients and finite differences of one scalar, sum(weight * image), seed by seed.

A difference on common random numbers differentiates the sampling too, so for one seed it need not equal the
detached gradient; over independent seeds both have the same mean. Their difference, seed by seed, is the
quantity that is tested: what noise they share drops out.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..api import add_boundary, collect, parameters, wanted
from ..device.compile import compiled
from ..device.launch import Launcher
from ..device.replay import Replay
from ..scene import Scene
from ..spectral.cie import response

NEAR = 0.02  # a value this near to an end of its range (in units of its size) is moved inward only
CENTRAL = {-1: -0.5, 1: 0.5}
INWARD = {0: -1.5, 1: 2.0, 2: -0.5}  # second order too


@dataclass
class Direction:
    """A way to move one parameter: ``x + h * along`` for offsets h of the stencil.

    path: the parameter. label: what a table calls it. along: an array of the parameter's shape.
    stencil: {multiple of the step: weight}.
    """

    path: str
    label: str
    along: np.ndarray
    stencil: dict


def weight_image(scene: Scene, seed: int = 0) -> np.ndarray:
    """A smooth random weight (H, W, 3) between 0.25 and 1.75: few waves, so that no pixel decides alone."""
    rng = np.random.default_rng(seed)
    _, _, w, h = scene.camera.film.window
    y, x = np.mgrid[0:h, 0:w] / max(w, h)
    waves = [np.cos(2 * np.pi * (rng.normal() * x + rng.normal() * y + rng.random())) for _ in range(3 * 4)]
    return 1 + 0.75 * np.stack([np.mean(waves[c::3], 0) for c in range(3)], -1)


def directions(scene: Scene, path: str, step: float, seed: int = 0, few: int = 4) -> list[Direction]:
    """Each number of a small parameter by itself; of a larger one, all along one random direction."""
    slot = parameters(scene).slot(path)
    x, low, high = slot.encoded.host, slot.param.low, slot.param.high
    if x.size <= few:
        picks = [np.arange(x.size) == i for i in range(x.size)]
        labels = [path if x.size == 1 else f"{path}[{i}]" for i in range(x.size)]
    else:
        picks, labels = [np.ones(x.size, bool)], [f"{path}, {x.size} values, random direction"]
    rng, out = np.random.default_rng(seed), []
    for pick, label in zip(picks, labels):
        along, inward = np.zeros(x.size), False
        for i in np.flatnonzero(pick):
            along[i], end = _along(x.reshape(-1)[i], np.abs(x).max(), low, high, rng)
            inward |= end
        if inward:  # one number at its end makes all go one way: turn the others where they have room
            out.append(Direction(path, label, along.reshape(x.shape) * step, INWARD))
        else:
            out.append(Direction(path, label, along.reshape(x.shape) * step, CENTRAL))
    return out


def _along(x: float, largest: float, low: float, high: float, rng) -> tuple[float, bool]:
    """How far 1 moves a number, with a sign, and whether it may move that way only.

    The unit is the number's own size, or its distance from an end of its range if that is less.
    """
    size = max(abs(x), 0.1 * largest) or min(high - low, 1.0)
    for end, sign in ((low, 1.0), (high, -1.0)):
        if abs(x - end) <= NEAR * size:
            return sign * min(size, (high - low) / 4), True
    return (1.0 if rng.random() < 0.5 else -1.0) * min(size, x - low, high - x), False


def values(scene: Scene, weight: np.ndarray, spp: int, seeds) -> np.ndarray:
    """sum(weight * image) for each seed, in float64."""
    device = compiled(scene)
    device.set_channels(response())
    return np.array([(Launcher(device, spp, seed).render() * weight).sum() for seed in seeds])


def differences(scene: Scene, moves: list[Direction], weight: np.ndarray, spp: int, seeds, tell=None) -> np.ndarray:
    """Finite differences (directions, seeds), each by its stencil, on common random numbers."""
    params, out = parameters(scene), np.zeros((len(moves), len(seeds)))
    for i, move in enumerate(moves):
        before = params[move.path]
        try:
            for offset, share in move.stencil.items():
                params[move.path] = before + offset * move.along
                out[i] += share * values(scene, weight, spp, seeds)
        finally:
            params[move.path] = before
        if tell is not None:
            tell((i + 1) / len(moves))
    return out


def gradients(
    scene: Scene, paths, weight: np.ndarray, spp: int, seeds, replay_seed: int | None = None, boundary="all"
):
    """{path: (seeds, *shape)} gradients of the same scalar, and (paths replayed bit for bit, paths).

    replay_seed: another seed for the replay, to show that it then fails. boundary: as in ``it.backward``.
    """
    device = compiled(scene)
    device.set_channels(response())
    paths = wanted(scene, paths)
    found, equal, traced = {path: [] for path in paths}, 0, 0
    n = device.want(paths)
    device.scale_deposits(float(np.abs(weight).max()) / spp)
    for seed in seeds:
        replay = Replay(device, spp, seed, n_accumulators=n, replay_seed=replay_seed)
        groups, sizes = replay.deposit(weight)
        groups = add_boundary(device, groups, weight, spp, seed, n, boundary)
        grads = collect(device, paths, groups, sizes, ())
        for path in paths:
            found[path].append(grads[path])
        equal, traced = equal + replay.equal, traced + replay.traced
    return {path: np.stack(rows) for path, rows in found.items()}, (equal, traced)
