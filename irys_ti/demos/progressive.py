"""A room settles from noise; then a wall is repainted, without compiling anything again, and it settles once more."""

from __future__ import annotations

import numpy as np

from irys_ti.api import parameters, render
from irys_ti.passes import Progressive
from irys_ti.preview.display import enlarge, expose

from . import Outcome
from .room import PAINT, room_scene

PASSES = 24  # frames before and after the brush
REPAINTED = {**PAINT, "left": [0.70, 0.35, 0.05]}
SIDE = 384


def play(show, quick: bool = False) -> Outcome:
    """Both pictures, pass by pass. The last must agree with a picture of a room that was built with the new paint."""
    size, spp = (48, 4) if quick else (256, 2)
    scene = room_scene(PAINT, size)
    picture = Progressive(scene)
    for paint in (PAINT, REPAINTED):
        for name, colour in paint.items():
            parameters(scene)[f"{name}.reflectance"] = colour
        picture.restart()
        for _ in range(PASSES):
            picture.step(spp)
            text = f"{picture.spp} samples per pixel, noise {_noise(picture):.1%}"
            if show(enlarge(expose(picture.image), SIDE, SIDE), [(text, 8, 8)]):
                break
    expected = [render(room_scene(REPAINTED, size), 64, seed) for seed in range(2000, 2008)]
    mean = np.mean(expected, 0)
    error = picture.image.mean((0, 1)) - mean.mean((0, 1))
    sigma = np.sqrt(picture.variance.mean((0, 1)) / size**2 + np.var([x.mean((0, 1)) for x in expected], 0, ddof=1) / 8)
    relative = np.abs(picture.image - mean).mean() / mean.mean()
    return Outcome(
        {"mean colour, in standard errors": float(np.abs(error / sigma).max()), "mean error of a pixel": float(relative)},
        {"mean colour, in standard errors": 4.5, "mean error of a pixel": 0.2},
    )


def _noise(picture: Progressive) -> float:
    """The picture's standard error over its brightness."""
    return float(np.sqrt(picture.variance.mean()) / max(picture.image.mean(), 1e-9))
