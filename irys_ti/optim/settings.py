"""Step lengths and bounds of a fit, from the declared ranges of its parameters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

LEARNING_RATE = 0.05  # of a parameter's range, per step
LEARNING_RATE_UNBOUNDED = 0.1  # of a parameter's size, where it has no upper bound
LEARNING_RATE_PLACE = 0.02  # a length, or radians, where it has no bound at all
MARGIN = 1e-3  # scalars keep this fraction of their range from its ends, where densities degenerate


@dataclass(frozen=True)
class Settings:
    """{path: number}: rates in units of the parameter's scale, low and high bounds."""

    rates: dict[str, float]
    low: dict[str, float]
    high: dict[str, float]

    def lengths(self, values: dict[str, np.ndarray], factor: float) -> dict[str, float]:
        """Step lengths at these values: a parameter without an upper bound moves relative to its own size."""
        return {path: factor * rate * self.scale(path, values[path]) for path, rate in self.rates.items()}

    def scale(self, path: str, value: np.ndarray) -> float:
        """Length that the learning rate is a fraction of."""
        if not (np.isfinite(self.low[path]) or np.isfinite(self.high[path])):
            return 1.0  # a place may be anywhere: its steps are lengths, or radians
        span = self.high[path] - self.low[path]
        return float(span if np.isfinite(span) else max(np.abs(value).mean(), 1e-3))


def settings(declared: Mapping, lr, bounds) -> Settings:
    """Check lr (one number, {path: number} or None) and bounds ({path: (low, high)} or None).

    declared: {path: Param}. Raises ValueError.
    """
    for what, given in (("lr", lr), ("bounds", bounds)):
        for path in given if isinstance(given, Mapping) else ():
            if path not in declared:
                raise ValueError(f"{what} names '{path}', which is not fitted; fitted are {', '.join(declared)}")
    rates, lows, highs = {}, {}, {}
    for path, param in declared.items():
        here = lr.get(path) if isinstance(lr, Mapping) else lr
        low, high = (bounds or {}).get(path, (param.low, param.high))
        if not param.low <= low < high <= param.high:
            raise ValueError(f"bounds ({low}, {high}) of '{path}' must lie in order in [{param.low}, {param.high}]")
        bounded = param.kind == "scalar" and np.isfinite(param.high - param.low)
        margin = MARGIN * (param.high - param.low) if bounded else 0.0
        default = LEARNING_RATE if np.isfinite(high) else LEARNING_RATE_UNBOUNDED
        if not (np.isfinite(low) or np.isfinite(high)):
            default = LEARNING_RATE_PLACE
        rates[path] = default if here is None else float(here)
        if not 0 <= rates[path] < np.inf:
            raise ValueError(f"lr {rates[path]} of '{path}' must be a number from 0 up")
        lows[path], highs[path] = max(low, param.low + margin), min(high, param.high - margin)
    return Settings(rates, lows, highs)
