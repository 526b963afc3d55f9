"""A fit to watch: render, target, loss curve and the numbers, while it runs."""

from __future__ import annotations

import numpy as np

from irys_ti.errors import SceneError
from irys_ti.fitting import FitResult, FitStep, fit, read_target
from irys_ti.scene import Scene

from .display import beside, curve, enlarge, expose
from .panel import EDGE, ROW
from .window import Window

SIDE = 384  # pixels of each of the three pictures


class FitView:
    """Draws the steps of a fit. target: (H, W, 3) linear; truth: {path: array} to show beside what was found."""

    def __init__(self, target: np.ndarray, truth: dict | None = None, side: int = SIDE):
        self.target, self.truth, self.losses = target, truth or {}, []
        self.height = side
        self.width = max(1, round(side * target.shape[1] / target.shape[0]))
        self.size = 3 * self.width + 8, side

    def draw(self, image: np.ndarray, loss: float, values: dict) -> tuple[np.ndarray, list[tuple[str, float, float]]]:
        """(picture (height, width, 3) in [0, 1], texts) after a step."""
        self.losses.append(loss)
        pictures = [enlarge(expose(x), self.width, self.height) for x in (image, self.target)]
        chart = curve(self.losses, self.width, self.height // 2)
        panel = np.concatenate([chart, np.zeros_like(pictures[0][self.height // 2 :])])
        left = 2 * (self.width + 4)
        texts = [(f"step {len(self.losses)}   loss {loss:.3g}", left + EDGE, self.height // 2 + 8)]
        for i, (path, x) in enumerate(values.items()):
            y = self.height // 2 + 8 + (i + 1) * ROW // 2
            if y > self.height - 20:
                break
            text = f"{path}: " + " ".join(f"{v:.3f}" for v in np.ravel(x)[:4])
            if path in self.truth:
                text += "  (" + " ".join(f"{v:.3f}" for v in np.ravel(self.truth[path])[:4]) + ")"
            texts.append((text, left + EDGE, y))
        texts += [("render", 8, 8), ("target", self.width + 12, 8)]
        return beside(*pictures, panel), texts


def watch(scene: Scene, target, params: list[str], steps: int = 60, **options) -> FitResult:
    """``it.fit`` in a window; closing it ends the fit with what was found so far. options: those of ``it.fit``."""
    if not params:
        raise SceneError(f"{scene.file}: --fit", "no parameters are named", "say which with --params metal.alpha,...")
    target = read_target(scene, target)
    view = FitView(target)
    with Window(f"irys_ti fit - {scene.file}", *view.size) as window:

        def step(s: FitStep) -> bool:
            window.events()
            if window.running:
                window.show(*view.draw(s.image, s.loss, s.values))
            return not window.running

        result = fit(scene, target, params, steps, callback=step, **options)
        last = view.draw(result.images["fitted"], result.losses[-1], result.values)
        while window.running and not any(e.kind == "press" for e in window.events()):
            window.show(*last)
    return result
