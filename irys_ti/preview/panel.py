"""The panel of sliders beside the picture: one for every number of the selected thing's parameters."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from irys_ti.api import Parameters

from .display import INK, MARK, PAPER, fill

WIDTH, ROW, TOP, EDGE = 260, 34, 64, 12
MOST = 14  # sliders shown at once


@dataclass
class Slider:
    """One number. path and index: where it is; label: what is written over it; low, high: its ends."""

    path: str
    index: int
    label: str
    low: float
    high: float


class Panel:
    """Sliders of some parameters; assigning through them changes the scene in place."""

    def __init__(self, parameters: Parameters):
        self.parameters, self.sliders, self.active = parameters, [], 0

    def show(self, paths: list[str]) -> None:
        """Make sliders for these parameters."""
        self.sliders, self.active = [], 0
        for path in paths:
            param, x = self.parameters.slot(path).param, self.parameters[path].reshape(-1)
            if param.kind == "flag" or x.size > 8:
                continue
            top = max(1.0, 2.0 * float(np.abs(x).max(initial=0.0)))
            low = param.low if np.isfinite(param.low) else -top
            high = param.high if np.isfinite(param.high) else top
            for i in range(x.size):
                self.sliders.append(Slider(path, i, path if x.size == 1 else f"{path}[{i}]", low, high))
        del self.sliders[MOST:]

    def value(self, slider: Slider) -> float:
        """The number it stands at."""
        return float(self.parameters[slider.path].reshape(-1)[slider.index])

    def set(self, i: int, fraction: float) -> bool:
        """Move a slider to a fraction of its way; True where that changed the number."""
        s = self.sliders[i]
        self.active = i
        x = np.array(self.parameters[s.path])
        old = x.reshape(-1)[s.index]
        x.reshape(-1)[s.index] = s.low + np.clip(fraction, 0.0, 1.0) * (s.high - s.low)
        self.parameters[s.path] = x
        return bool(x.reshape(-1)[s.index] != old)

    def hit(self, x: float, y: float) -> tuple[int, float] | None:
        """(slider, fraction) under a point of the panel, in pixels from its upper left corner."""
        i = int((y - TOP) // ROW)
        if 0 <= i < len(self.sliders) and 0 <= x < WIDTH and y >= TOP:
            return i, (x - EDGE) / (WIDTH - 2 * EDGE)
        return None

    def draw(self, height: int) -> tuple[np.ndarray, list[tuple[str, float, float]]]:
        """The panel's picture, and its texts: (text, x, y) in pixels."""
        canvas = np.empty((height, WIDTH, 3))
        canvas[:] = PAPER
        texts = []
        for i, s in enumerate(self.sliders):
            y, x = TOP + i * ROW, self.value(s)
            at = EDGE + int((WIDTH - 2 * EDGE) * (np.clip((x - s.low) / (s.high - s.low), 0.0, 1.0)))
            fill(canvas, EDGE, y + 22, WIDTH - EDGE, y + 24, (0.35, 0.35, 0.38))
            fill(canvas, at - 3, y + 17, at + 3, y + 29, MARK if i == self.active else INK)
            texts.append((f"{s.label}  {x:.4g}", EDGE, y + 2))
        return canvas, texts
