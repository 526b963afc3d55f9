"""Losses between an image and a target: mean over pixels and channels.

Each gives its derivative by the image, and a value from two independent images A and B, which for L2 is
unbiased: mean((A - T)(B - T)). The others stay biased at low sample counts.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np


class Loss:
    """A loss: ``value(a, b)`` from two independent images, ``derivative(image)`` (H, W, 3)."""

    def value(self, a: np.ndarray, b: np.ndarray) -> float:
        raise TypeError("a Loss must define value(a, b)")

    def derivative(self, image: np.ndarray) -> np.ndarray:
        raise TypeError("a Loss must define derivative(image)")


class _Target(Loss):
    def __init__(self, target):
        self.target = np.asarray(target, np.float64)

    def residual(self, image: np.ndarray) -> np.ndarray:
        """image - target, refusing a target of another size."""
        if np.shape(image) != self.target.shape:
            from irys_ti.errors import SceneError

            raise SceneError("target", f"shape {self.target.shape}", f"the render has {np.shape(image)}")
        return image - self.target


class L2(_Target):
    """mean((image - target)^2)."""

    def value(self, a, b):
        return float((self.residual(a) * self.residual(b)).mean())

    def derivative(self, image):
        return 2.0 * self.residual(image) / image.size


class Coarser(L2):
    """The mean of L2 over pictures averaged in blocks: of one pixel, and of each further size.

    What does not overlap in two pictures yet does in blurred ones, so that it pulls at its place from farther away.
    """

    def __init__(self, target, blocks: tuple[int, ...] = (1, 4, 16)):
        super().__init__(target)
        h, w = self.target.shape[:2]
        self.maps = [(_averaging(h, b), _averaging(w, b)) for b in blocks]

    def value(self, a, b):
        x, y = self.residual(a), self.residual(b)
        return float(np.mean([(_blocks(m, x) * _blocks(m, y)).mean() for m in self.maps]))

    def derivative(self, image):
        x, out = self.residual(image), 0.0
        for rows, columns in self.maps:
            mean = _blocks((rows, columns), x)
            out = out + 2.0 * _blocks((rows.T, columns.T), mean) / (mean.size * len(self.maps))
        return out


def _averaging(n: int, block: int) -> np.ndarray:
    """(blocks, n): the mean of every block of so many numbers; the last may be shorter."""
    m = (np.arange(n)[None] // block == np.arange(-(-n // block))[:, None]).astype(np.float64)
    return m / m.sum(1, keepdims=True)


def _blocks(maps, x: np.ndarray) -> np.ndarray:
    """A map of rows and one of columns applied to an image."""
    return np.einsum("ih,hwc,jw->ijc", maps[0], x, maps[1], optimize=True)


class RelativeL2(_Target):
    """mean((image - target)^2 / (target^2 + epsilon)): dark parts count as bright ones do."""

    def __init__(self, target, epsilon: float = 0.01):
        super().__init__(target)
        self.weight = 1.0 / (self.target**2 + epsilon)

    def value(self, a, b):
        return float((self.residual(a) * self.residual(b) * self.weight).mean())

    def derivative(self, image):
        return 2.0 * self.residual(image) * self.weight / image.size


class LogL2(_Target):
    """mean((log(image + epsilon) - log(target + epsilon))^2), values below 0 taken as 0. Biased by noise."""

    def __init__(self, target, epsilon: float = 0.01):
        super().__init__(target)
        self.epsilon = epsilon

    def _difference(self, image):
        self.residual(image)
        return np.log(np.maximum(image, 0) + self.epsilon) - np.log(np.maximum(self.target, 0) + self.epsilon)

    def value(self, a, b):
        return float((self._difference(a) * self._difference(b)).mean())

    def derivative(self, image):
        slope = np.where(image > 0, 1.0 / (np.maximum(image, 0) + self.epsilon), 0.0)
        return 2.0 * self._difference(image) * slope / image.size


class L1(_Target):
    """mean(|image - target|). Biased by noise."""

    def value(self, a, b):
        return float(0.5 * (np.abs(self.residual(a)).mean() + np.abs(self.residual(b)).mean()))

    def derivative(self, image):
        return np.sign(self.residual(image)) / image.size


class _Function(Loss):
    """The caller's function of the image, returning (loss, d_image)."""

    def __init__(self, function: Callable):
        self.function = function

    def value(self, a, b):
        return 0.5 * (float(self.function(a)[0]) + float(self.function(b)[0]))

    def derivative(self, image):
        return np.asarray(self.function(image)[1], np.float64)


def as_loss(loss) -> Loss:
    """A Loss, or a function image -> (loss, d_image) made one."""
    if isinstance(loss, Loss):
        return loss
    if callable(loss):
        return _Function(loss)
    raise TypeError(f"{loss!r} is neither a loss such as it.L2(target) nor a function image -> (loss, d_image)")


LOSSES = {"l2": L2, "relative_l2": RelativeL2, "log_l2": LogL2, "l1": L1}
