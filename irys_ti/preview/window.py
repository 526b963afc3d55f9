"""A window by ti.GUI, or one clear line where there can be none."""

from __future__ import annotations

import ctypes
import os
import sys
import time
from dataclasses import dataclass

import numpy as np

from irys_ti.errors import SceneError
from irys_ti.runtime import ensure, ti

HEADLESS = "without a display use `irys-ti demo ... --headless`, `irys-ti render` or it.progressive(scene)"


TRIES = 5
_connected: list = []  # our own connection to the display


class NoDisplay(SceneError):
    """There is no window to be had here."""


@dataclass
class Event:
    """kind: "press" or "release". key: as ti.GUI names it ("LMB", "s", "Escape"). x, y: pixels, from the upper left.

    wheel: notches, for kind "wheel".
    """

    kind: str
    key: str
    x: float
    y: float
    wheel: float = 0.0


def require_display() -> None:
    """Refuse, in one line, where no window can be opened."""
    if not sys.platform.startswith("linux"):
        return
    if _connected:
        return
    if not os.environ.get("DISPLAY"):
        raise NoDisplay("preview", "there is no display ($DISPLAY is not set)", HEADLESS)
    x11 = _x11()
    x11.XOpenDisplay.restype, x11.XOpenDisplay.argtypes = ctypes.c_void_p, [ctypes.c_char_p]
    for _ in range(TRIES):  # a virtual server is away for a moment when its last client has gone
        if opened := x11.XOpenDisplay(None):
            _connected.append(opened)  # kept open, so that it does not go again before the window is there
            return
        time.sleep(0.2)
    raise NoDisplay("preview", f"the display {os.environ['DISPLAY']} does not answer", HEADLESS)


def _x11():
    """The X library."""
    try:
        return ctypes.CDLL("libX11.so.6")
    except OSError:
        raise NoDisplay("preview", "the system library libX11 is missing", "install libx11-6, or " + HEADLESS) from None


@ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)
def _lost(display) -> int:
    """What X calls when its server is gone. It ends the process if this returns, so there is only this to say."""
    print(f"irys-ti: preview: the display was lost; {HEADLESS}", file=sys.stderr, flush=True)
    os._exit(2)


class Window:
    """A window of a fixed size in pixels. ``with`` closes it at the end, whatever happens."""

    def __init__(self, title: str, width: int, height: int):
        require_display()
        ensure()
        if sys.platform.startswith("linux"):
            _x11().XSetIOErrorHandler(_lost)
        self.width, self.height = width, height
        self._gui = ti.GUI(title, res=(width, height), fast_gui=False)

    def __enter__(self) -> Window:
        return self

    def __exit__(self, *what) -> None:
        self.close()

    def close(self) -> None:
        """Close it; a second time does nothing."""
        if self._gui is not None:
            self._gui.close()
            self._gui = None

    @property
    def running(self) -> bool:
        """False once a person has closed it."""
        return self._gui is not None and bool(self._gui.running)

    def cursor(self) -> tuple[float, float]:
        """Where the mouse is, in pixels from the upper left."""
        x, y = self._gui.get_cursor_pos()
        return x * self.width, (1.0 - y) * self.height

    def held(self, key: str) -> bool:
        """Whether a key or button is down now."""
        return bool(self._gui.is_pressed(key))

    def events(self) -> list[Event]:
        """What happened since the last call."""
        found = []
        while self._gui.get_event():
            e = self._gui.event
            x, y = e.pos[0] * self.width, (1.0 - e.pos[1]) * self.height
            if e.type == ti.GUI.MOTION:
                if e.key == ti.GUI.WHEEL:
                    found.append(Event("wheel", e.key, x, y, float(e.delta[1]) / 120.0))
                continue
            found.append(Event("press" if e.type == ti.GUI.PRESS else "release", e.key, x, y))
        return found

    def show(self, image: np.ndarray, texts=()) -> None:
        """Show (height, width, 3) in [0, 1], rows from above, and (text, x, y) in pixels from the upper left."""
        self._gui.set_image(np.ascontiguousarray(image[::-1].swapaxes(0, 1), np.float32))
        for text, x, y in texts:
            self._gui.text(text, (x / self.width, 1.0 - y / self.height), font_size=15, color=0xEBEBEB)
        self._gui.show()
