"""Pictures that settle: passes of a few samples with independent random numbers, averaged as they come."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from .api import render
from .scene import Scene


class Progressive:
    """The running mean of independent estimates of one image.

    estimate(spp, seed) -> (H, W, C), unbiased; by default the scene's picture. After ``restart`` (something moved)
    nothing of what was before is left. spp: samples per pixel so far.
    """

    def __init__(self, scene: Scene, seed: int = 1, estimate: Callable | None = None):
        self.estimate = estimate or (lambda spp, seed: render(scene, spp, seed))
        self.seed, self.passes = int(seed), 0
        self.restart()

    def restart(self) -> None:
        """Begin again, at the scene as it is now."""
        self.spp, self._n, self._sum, self._squares = 0, 0, None, None

    def step(self, spp: int = 1) -> np.ndarray:
        """Trace one pass more; returns the mean of all, float32."""
        self.passes += 1  # never the same numbers again, after a restart neither
        seed = np.random.SeedSequence([self.seed % 2**63, self.passes]).generate_state(1)[0]
        image = np.asarray(self.estimate(spp, int(seed)), np.float64)
        first = self._sum is None
        self._sum = spp * image if first else self._sum + spp * image
        self._squares = spp * image**2 if first else self._squares + spp * image**2
        self.spp, self._n = self.spp + spp, self._n + 1
        return self.image

    @property
    def image(self) -> np.ndarray:
        """The mean of all passes, float32."""
        return (self._sum / self.spp).astype(np.float32)

    @property
    def variance(self) -> np.ndarray:
        """Of that mean, from the spread of the passes; NaN after the first alone."""
        if self._n < 2:
            return np.full(self._sum.shape, np.nan)
        mean = self._sum / self.spp
        spread = np.maximum(self._squares / self.spp - mean**2, 0.0)
        return spread / (self._n - 1)


def progressive(
    scene: Scene, spp: int = 1, seed: int = 1, total: int | None = None
) -> Iterator[tuple[np.ndarray, int, np.ndarray]]:
    """Yield (image, samples per pixel so far, variance of every number), better with each pass of ``spp`` samples.

    Ends once ``total`` samples per pixel are reached; without it, never. image: float32 (H, W, 3), linear sRGB.
    variance: of that mean, NaN after the first pass. A scene that is changed between two passes would mix both
    pictures: make a new ``progressive`` then.
    """
    picture = Progressive(scene, seed)
    while total is None or picture.spp < total:
        picture.step(spp if total is None else min(spp, total - picture.spp))
        yield picture.image, picture.spp, picture.variance
