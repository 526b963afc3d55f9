"""How a fit's step length and sample count go with its steps, and the average of its last iterates."""

from __future__ import annotations

import numpy as np

LAST_RATE = 0.1  # the last step's length, as a fraction of the first ones'
WARM = 0.2  # fraction of the steps that keep the full length
TAIL = 0.5  # fraction of the steps whose iterates are averaged


def rate(step: int, steps: int) -> float:
    """Factor on the learning rate: 1 for the first part of the fit, then half a cosine down to LAST_RATE."""
    done = step / max(1, steps - 1)
    if done <= WARM:
        return 1.0
    fall = 0.5 * (1 + np.cos(np.pi * (done - WARM) / (1 - WARM)))
    return float(LAST_RATE + (1 - LAST_RATE) * fall)


def samples(spp, step: int, steps: int) -> int:
    """Samples per pixel of a step: ``spp`` itself, or (first, last) for a geometric ramp between them."""
    if np.ndim(spp) == 0:
        return int(spp)
    first, last = spp
    return int(round(first * (last / first) ** (step / max(1, steps - 1))))


class TailAverage:
    """Mean of the iterates of the last TAIL of a fit, later ones weighing more (1, 2, 3, ...).

    Averaging lets noise cancel (Polyak and Juditsky 1992); the weights forget where a slow fit came from (Shamir and
    Zhang 2013, polynomial decay).
    """

    def __init__(self, steps: int):
        self.first = steps - max(1, int(round(TAIL * steps)))
        self.clear()

    def clear(self) -> None:
        """Forget what was taken in."""
        self.count, self.mean = 0, {}

    def add(self, step: int, values: dict) -> None:
        """Take in the iterate after ``step``. Equal iterates leave the mean equal to the bit."""
        if step < self.first:
            return
        self.count += 1
        for name, x in values.items():
            mean = self.mean.get(name, x)
            self.mean[name] = mean + (x - mean) * (2.0 / (self.count + 1))

    def state(self) -> dict[str, np.ndarray]:
        """For ``np.savez``."""
        return {"tail.count": np.int64(self.count), **{f"tail.mean.{n}": x for n, x in self.mean.items()}}

    def restore(self, state) -> None:
        """Take over what ``state`` gave."""
        self.count = int(state["tail.count"])
        start = "tail.mean."
        self.mean = {key[len(start) :]: np.array(state[key]) for key in state if key.startswith(start)}
