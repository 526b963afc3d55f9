"""What a live view does, without a window: the scene, what was asked of it, and the next frame to show.

Everything here is a client of the public API; preview/window.py turns mouse and keys into these calls. A frame is
always of the scene as it is when it is traced: what moves restarts the picture, and nothing older is shown.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from irys_ti import api
from irys_ti.errors import MissingGradientError, SceneError
from irys_ti.io.images import write_image
from irys_ti.passes import Progressive
from irys_ti.scene import Scene

from .display import enlarge, expose, signed
from .orbit import Orbit
from .panel import EDGE, Panel
from .pick import bounds_of, shape_at

COARSE = 4  # pixels that one stands for while something moves
SETTLE = 0.25  # seconds after which it counts as standing still
HELP = "drag: turn  shift+drag: pan  wheel: zoom  click: select  s: save  d: derivative  +/-: exposure  h: home"


@dataclass
class Frame:
    """What to show: image (H, W, 3) in [0, 1], the panel included; texts (text, x, y) in pixels from its upper left."""

    image: np.ndarray
    texts: list[tuple[str, float, float]]
    spp: int


class Session:
    """One live view of a scene.

    save_as: where key "s" writes (its .exr and .png). clock: seconds, replaced in tests.
    """

    def __init__(self, scene: Scene, save_as: str | Path = "preview", seed: int = 1, clock: Callable = time.perf_counter):
        self.scene, self.save_as, self.clock = scene, Path(save_as), clock
        film = scene.camera.film
        self.width, self.height = film.width, film.height
        film.crop = None
        self.parameters = api.parameters(scene)
        low, high = bounds_of(scene)
        self.orbit = Orbit(scene.camera, 0.5 * (low + high), self._up())
        self.panel = Panel(self.parameters)
        self.picture = Progressive(scene, seed)
        self.stops, self.selected, self.message = 0.0, "", HELP
        self.derivative: Progressive | None = None
        self.speed = 0.0  # paths a second
        self._moved = -np.inf
        self._coarse = False

    def _up(self) -> np.ndarray:
        """The axis that the camera keeps upright: the nearest one to its own."""
        up = np.asarray(self.scene.camera.to_world, np.float64)[:3, 1]
        axis = np.zeros(3)
        i = int(np.argmax(np.abs(up)))
        axis[i] = np.sign(up[i])
        return axis

    # -- what a person does ------------------------------------------------------------------------------------------

    def drag(self, dx: float, dy: float, pan: bool = False) -> None:
        """Turn or pan by fractions of the window, y downward."""
        (self.orbit.shift if pan else self.orbit.turn)(dx, -dy)
        self.changed()

    def wheel(self, notches: float) -> None:
        """Zoom."""
        self.orbit.zoom(notches)
        self.changed()

    def click(self, x: float, y: float) -> None:
        """Select the shape under a pixel of the picture; its parameters become sliders."""
        self._size(1)
        found = shape_at(self.scene, x, y)
        self.select(found)

    def select(self, shape_id: str) -> None:
        """Select a shape by its id; "" selects nothing, and shows the lights' and camera's parameters."""
        self.selected, self.derivative = shape_id, None
        materials = [s.material for s in self.scene.shapes if s.id == shape_id]
        owners = [*materials, shape_id] if shape_id else [x.id for x in self.scene.lights]
        self.panel.show([p for owner in owners for p in self.parameters if p.rpartition(".")[0] == owner])
        self.message = f"{shape_id or 'lights'}: {', '.join(materials) or 'no material'}"

    def slide(self, i: int, fraction: float) -> None:
        """Move a slider; the picture begins again, and nothing is compiled again."""
        try:
            if self.panel.set(i, fraction):
                self.derivative = None
                self.changed()
        except SceneError as error:
            self.message = str(error)

    def key(self, name: str) -> None:
        """A key: s, d, h, + or -; others do nothing."""
        if name == "s":
            self.save()
        elif name == "d":
            self.differentiate()
        elif name == "h":
            self.orbit.home()
            self.changed()
        elif name in ("+", "="):
            self.stops += 0.5
        elif name == "-":
            self.stops -= 0.5

    def differentiate(self) -> None:
        """Show the derivative image by the active slider's number, or the picture again."""
        if self.derivative is not None or not self.panel.sliders:
            self.derivative = None
            self.message = HELP if self.panel.sliders else "select a shape first: d shows a derivative by one of its numbers"
            return
        slider = self.panel.sliders[self.panel.active]
        along = np.zeros(self.parameters[slider.path].shape)
        along.reshape(-1)[slider.index] = 1.0
        try:
            api.check_paths(api.compiled(self.scene), [slider.path])
            self.derivative = Progressive(
                self.scene, self.picture.seed, lambda spp, seed: api.forward(self.scene, {slider.path: along}, max(2, spp), seed)
            )
            self.message = f"derivative by {slider.label}: red brightens, blue darkens"
        except (MissingGradientError, SceneError) as error:
            self.message = str(error)

    def save(self) -> None:
        """Write what has been traced as EXR (linear) and PNG (as shown)."""
        if not self.picture.spp:
            return
        exr, png = self.save_as.with_suffix(".exr"), self.save_as.with_suffix(".png")
        try:
            write_image(exr, self.picture.image)
            write_image(png, self.picture.image * np.float32(2.0**self.stops))
            self.message = f"wrote {exr} and {png} ({self.picture.spp} samples per pixel)"
        except (OSError, ValueError) as error:
            self.message = str(error)

    def changed(self) -> None:
        """Something moved: what is shown begins again, coarse until it stands still."""
        self.picture.restart()
        if self.derivative is not None:
            self.derivative.restart()
        self._moved = self.clock()

    # -- frames ------------------------------------------------------------------------------------------------------

    def frame(self) -> Frame:
        """Trace one pass more of the scene as it is now, and say what to show."""
        moving = self.clock() - self._moved < SETTLE
        if moving != self._coarse:
            self.picture.restart()
            self._coarse = moving
        self._size(COARSE if moving else 1)
        began, shown = time.perf_counter(), self.derivative or self.picture
        image = shown.step()
        h, w = image.shape[:2]
        self.speed = h * w / max(time.perf_counter() - began, 1e-9)
        picture = signed(image) if self.derivative is not None else expose(image, self.stops)
        if (h, w) != (self.height, self.width):
            picture = enlarge(picture, self.width, self.height)
        panel, texts = self.panel.draw(self.height)
        head = f"{shown.spp} spp   {self.speed / 1e6:.2f} M paths/s   {self.stops:+.1f} stops"
        texts = [(t, self.width + x, y) for t, x, y in texts]
        texts += [(head, self.width + EDGE, 8), (self.selected or "click to select", self.width + EDGE, 28)]
        texts += [(self.message, 8, self.height - 20)]
        return Frame(np.concatenate([picture, panel], 1), texts, shown.spp)

    def _size(self, coarse: int) -> None:
        """Trace at the window's size, or at a part of it."""
        film = self.scene.camera.film
        size = max(1, self.width // coarse), max(1, self.height // coarse)
        if (film.width, film.height) != size:
            self.scene.camera.film = replace(film, width=size[0], height=size[1])
