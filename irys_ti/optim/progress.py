"""How far a fit has come: everything that its next step depends on, as arrays that a file can hold."""

from __future__ import annotations

import numpy as np

from .adam import Adam
from .newton import Newton
from .schedule import TailAverage

HISTORY_NUMBERS = 64  # parameters with more numbers than this keep the history of their mean alone


class Progress:
    """State of a fit after ``done`` steps. Arrays in it are replaced by steps, never changed in place.

    values: {path: array} after the last step. losses, seconds, history[path]: of each step, at the values before it.
    """

    def __init__(self, start: dict[str, np.ndarray], steps: int):
        self.done = self.skipped = 0
        self.start, self.values = dict(start), dict(start)
        self.adam, self.newton, self.tail = Adam(), Newton(), TailAverage(steps)
        self.losses: list[float] = []
        self.seconds: list[float] = []
        self.history: dict[str, list[np.ndarray]] = {path: [] for path in start}
        self.stderr: dict[str, np.ndarray] = {}
        self.start_image: np.ndarray | None = None

    def take(self, step_values: dict, loss: float, seconds: float) -> None:
        """Count a step that was measured at the present values and leads to ``step_values``."""
        for path, x in self.values.items():
            self.history[path].append(x if x.size <= HISTORY_NUMBERS else np.asarray(x.mean()))
        self.losses.append(float(loss))
        self.seconds.append(float(seconds))
        self.tail.add(self.done, step_values)
        self.values = step_values
        self.done += 1

    def found(self) -> dict[str, np.ndarray]:
        """The answer so far: the mean of the last iterates once they have begun, else the last one."""
        return self.tail.mean if self.tail.count else self.values

    def past(self) -> dict[str, np.ndarray]:
        """{path: (steps, ...)} history."""
        return {path: np.stack(h) for path, h in self.history.items() if h}

    def arrays(self) -> dict[str, np.ndarray]:
        """All of it, for ``np.savez``."""
        state = {"done": np.int64(self.done), "skipped": np.int64(self.skipped)}
        state |= {"losses": np.array(self.losses), "seconds": np.array(self.seconds)}
        state |= self.adam.state() | self.newton.state() | self.tail.state()
        for kind, named in (("start", self.start), ("value", self.values), ("stderr", self.stderr), ("past", self.past())):
            state |= {f"{kind}.{path}": x for path, x in named.items()}
        if self.start_image is not None:
            state["start_image"] = self.start_image
        return state

    def restore(self, state: dict[str, np.ndarray]) -> None:
        """Take over what ``arrays`` gave."""
        self.done, self.skipped = int(state["done"]), int(state["skipped"])
        self.losses, self.seconds = state["losses"].tolist(), state["seconds"].tolist()
        self.adam.restore(state)
        self.newton.restore(state)
        self.tail.restore(state)
        if self.done <= self.tail.first:  # more steps than before: the iterates to average are yet to come
            self.tail.clear()
        named = {kind: {p: state[f"{kind}.{p}"] for p in self.start if f"{kind}.{p}" in state} for kind in KINDS}
        self.start, self.values, self.stderr = named["start"], named["value"], named["stderr"]
        self.history = {path: list(named["past"].get(path, ())) for path in self.start}
        self.start_image = state.get("start_image")


KINDS = ("start", "value", "stderr", "past")
