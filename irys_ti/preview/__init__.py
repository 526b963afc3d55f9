"""The live view: ``irys-ti preview SCENE`` and ``it.view(scene)``.

session.py is what it does, window.py the window, this file the loop between them.
"""

from __future__ import annotations

from pathlib import Path

from irys_ti.scene import Scene

from .panel import WIDTH

CLICK = 3.0  # pixels that the mouse may move between press and release of a click


def view(scene: Scene, save_as: str | Path = "preview", seed: int = 1, frames: int | None = None) -> int:
    """Open a window on a scene until it is closed (or for a number of frames); returns the frames shown.

    Changes to parameters and camera stay in ``scene``. Raises NoDisplay (a SceneError), in one line, where there is
    no display.
    """
    from .session import Session
    from .window import Window, require_display

    require_display()  # before anything is compiled
    film = scene.camera.film
    session = Session(scene, save_as, seed)
    try:
        with Window(f"irys_ti - {scene.file}", session.width + WIDTH, session.height) as window:
            return loop(window, session, frames)
    finally:
        scene.camera.film = film


def loop(window, session, frames: int | None = None) -> int:
    """Pass on what a person does, show what the session makes of it."""
    shown, mouse = 0, Mouse(session)
    while window.running and (frames is None or shown < frames):
        for event in window.events():
            if event.kind == "press" and event.key == "Escape":
                return shown
            mouse.take(event, window.held("Shift"))
        mouse.move(*window.cursor(), window.held("Shift"))
        frame = session.frame()
        window.show(frame.image, frame.texts)
        shown += 1
    return shown


class Mouse:
    """Presses, moves and releases as drags, clicks and slides."""

    def __init__(self, session):
        self.session, self.start, self.last, self.slider = session, None, None, None

    def take(self, event, shift: bool) -> None:
        """A press, a release or a turn of the wheel."""
        if event.kind == "wheel":
            self.session.wheel(event.wheel)
        elif event.key in ("LMB", "RMB"):
            self.move(event.x, event.y, shift or event.key == "RMB")
            (self.press if event.kind == "press" else self.release)(event)
        elif event.kind == "press":
            self.session.key(event.key)

    def press(self, event) -> None:
        """A button goes down: on a slider, or to drag the picture."""
        x = event.x - self.session.width
        hit = self.session.panel.hit(x, event.y) if x >= 0 else None
        self.slider = None if hit is None else hit[0]
        self.start = self.last = (event.x, event.y)
        self.moved = False
        if hit is not None:
            self.session.slide(*hit)

    def move(self, x: float, y: float, pan: bool) -> None:
        """The mouse is here now."""
        if self.start is None:
            return
        if self.slider is not None:
            hit = self.session.panel.hit(x - self.session.width, self.start[1])
            if hit is not None and (x, y) != self.last:
                self.session.slide(self.slider, hit[1])
        elif self.start[0] < self.session.width:
            far = max(abs(x - self.start[0]), abs(y - self.start[1])) > CLICK
            if self.moved or far:
                dx, dy = x - self.last[0], y - self.last[1]
                if dx or dy:
                    self.session.drag(dx / self.session.width, dy / self.session.width, pan)
                self.moved = True
            else:
                return  # keep ``last`` at the press, so that nothing of a slow drag is lost
        self.last = (x, y)

    def release(self, event) -> None:
        """A button comes up: a click, if the mouse stayed where it was."""
        if self.start is not None and self.slider is None and not self.moved and event.x < self.session.width:
            self.session.click(event.x, event.y)
        self.start = self.slider = None
