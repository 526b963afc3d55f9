"""A demonstration in a window, which opens with the first frame."""

from __future__ import annotations

import numpy as np

from irys_ti.preview.window import Window


class Live:
    """``show`` draws a frame, and says True once the window was closed or Escape pressed."""

    def __init__(self, title: str):
        self.title, self._window, self._frame, self._stopped = title, None, None, False

    def __enter__(self) -> Live:
        return self

    def __exit__(self, *what) -> None:
        if self._window is not None:
            self._window.close()

    def show(self, picture: np.ndarray, texts=()) -> bool:
        """Draw (H, W, 3) in [0, 1] and (text, x, y) in pixels from the upper left."""
        if self._stopped:
            return True
        if self._window is None:
            self._window = Window(self.title, picture.shape[1], picture.shape[0])
        self._frame = picture, texts
        self._window.show(picture, texts)
        pressed = any(e.kind == "press" and e.key == "Escape" for e in self._window.events())
        self._stopped = pressed or not self._window.running
        return self._stopped

    def linger(self) -> None:
        """Keep the last frame until the window is closed or a key is pressed."""
        while not self._stopped and self._window is not None and self._window.running:
            self._window.show(*self._frame)
            self._stopped = any(e.kind == "press" for e in self._window.events())
