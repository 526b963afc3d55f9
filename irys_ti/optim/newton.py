"""Steps of Gauss and Newton for a few numbers, such as joint angles, whose gradients are noisy.

Where two numbers look alike in the picture, as two joints that both turn an arm sideways, the loss is a valley: Adam,
which scales each number alone, walks along its floor for hundreds of steps. The metric J' H J, of the picture's
derivatives J and the loss's second derivative H, knows the valley's direction; a step through its inverse goes down the
floor at once (Levenberg 1944; Marquardt 1963). J is taken from differences of pictures: it only shapes the step, the
gradient that decides where the fit ends is the renderer's own.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

MOST_NUMBERS = 32  # each costs four pictures a metric
EARLY = 6  # steps that each take a new metric; later ones do so every EARLY steps
DAMPING = (0.3, 0.5, 0.001)  # of the diagonal: first, falling by this factor a step, last
FULL = 0.5  # fraction of the steps that are whole; the rest are halves, whose mean averages noise
LEAST = 1e-3  # of the metric's largest eigenvalue
TOLD = 1e-9  # of the metric's largest diagonal: a number below it shows nowhere
REACH = 3.0  # a step is at most so many of the parameter's step lengths


class Newton:
    """The metric of named arrays. ``state()`` and ``restore()`` carry it over a restart."""

    def __init__(self):
        self.metric: np.ndarray | None = None

    def due(self, step: int) -> bool:
        """Whether this step wants a new metric."""
        return self.metric is None or step < EARLY or step % EARLY == 0

    def measure(self, image_at: Callable, values: dict, lengths: dict, low: dict, high: dict, derivative: Callable) -> None:
        """Take the metric at ``values`` from pictures a step length to either side of each number.

        image_at(values, which) -> (H, W, 3), with random numbers of one of two sets, 0 or 1. lengths: {name: step
        length}. derivative(image): of the loss by the picture. J' H J is taken between the two sets: noise would make
        the square of one too large, and steps through its inverse too short.
        """
        columns, spans = ([], []), []
        for name, x in values.items():
            for i in range(x.size):
                ends = [np.array(x, np.float64) for _ in range(2)]
                for end, sign in zip(ends, (-1, 1)):
                    end.flat[i] = np.clip(end.flat[i] + sign * lengths[name], low[name], high[name])
                spans.append(ends[1].flat[i] - ends[0].flat[i])
                for which, found in enumerate(columns):
                    a, b = (np.asarray(image_at({**values, name: end}, which), np.float64) for end in ends)
                    found.append(b - a)
        here = np.asarray(image_at(values, 0), np.float64)
        slope = derivative(here)
        # For a loss that is quadratic in the picture this is J' H J to rounding.
        pulled = [derivative(here + c) - slope for c in columns[1]]
        metric = np.array([[float(np.sum(a * b)) for b in pulled] for a in columns[0]])
        area = np.outer(spans, spans)
        metric = np.divide(metric + metric.T, 2 * area, out=np.zeros_like(metric), where=area > 0)
        told = np.diag(metric) > TOLD * np.diag(metric).max(initial=0.0)
        sizes, axes = np.linalg.eigh(metric[np.ix_(told, told)])  # noise makes small ones negative
        self.metric = np.zeros_like(metric)
        self.metric[np.ix_(told, told)] = (axes * np.maximum(sizes, LEAST * sizes.max(initial=0.0))) @ axes.T

    def step(self, values: dict, grads: dict, lengths: dict, low: dict, high: dict, step: int, steps: int) -> dict:
        """New values; a number whose gradient is not finite, or that no picture tells of, stays where it is."""
        grad = np.concatenate([np.ravel(np.asarray(grads[name], np.float64)) for name in values])
        reach = REACH * np.concatenate([np.full(x.size, lengths[name]) for name, x in values.items()])
        first, factor, last = DAMPING
        damped = self.metric + np.diag(np.diag(self.metric)) * max(first * factor**step, last)
        tells = np.isfinite(grad) & (np.diag(self.metric) > 0)
        move = np.zeros(grad.size)
        if tells.any():
            move[tells] = -np.linalg.lstsq(damped[np.ix_(tells, tells)], grad[tells], rcond=1e-9)[0]
        move *= 1.0 if step < FULL * steps else 0.5
        move *= min(1.0, float((reach / np.maximum(np.abs(move), 1e-300)).min()))  # shorter, in the same direction
        new, at = {}, 0
        for name, x in values.items():
            moved = x + move[at : at + x.size].reshape(x.shape)
            new[name] = np.asarray(np.clip(moved, low[name], high[name]))
            at += x.size
        return new

    def state(self) -> dict[str, np.ndarray]:
        """For ``np.savez``."""
        return {} if self.metric is None else {"newton.metric": self.metric}

    def restore(self, state) -> None:
        """Take over what ``state`` gave."""
        self.metric = np.array(state["newton.metric"]) if "newton.metric" in state else None
