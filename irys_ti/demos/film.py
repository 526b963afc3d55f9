"""Frames into a GIF or MP4, with their texts drawn in."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from irys_ti.errors import SceneError

FORMATS = (".gif", ".mp4")
RATE = 12  # frames a second
LAST = 18  # times that the last frame is shown


class Film:
    """Writes what ``show`` is given. ``with`` closes the file, so that a stopped demonstration leaves a whole film.

    Raises SceneError, before anything is drawn, for another format, a folder that is not there, or an MP4 without
    the package imageio-ffmpeg.
    """

    def __init__(self, path: str | Path):
        self.path, self.count, self._writer, self._last = Path(path), 0, None, None
        if self.path.suffix.lower() not in FORMATS:
            raise SceneError(str(path), f"films ending in '{self.path.suffix}' are not written", f"use {' or '.join(FORMATS)}")
        if not self.path.parent.is_dir():
            raise SceneError(str(path), "its folder does not exist", f"make {self.path.parent} first")
        if self.path.suffix.lower() == ".mp4":
            try:
                import imageio_ffmpeg  # noqa: F401
            except ImportError:
                raise SceneError(str(path), "MP4 needs the package imageio-ffmpeg", "pip install imageio-ffmpeg, or write a .gif") from None

    def __enter__(self) -> Film:
        return self

    def __exit__(self, *what) -> None:
        if self._writer is not None:
            for _ in range(LAST):
                self._writer.append_data(self._last)
            self._writer.close()

    def show(self, picture: np.ndarray, texts=()) -> bool:
        """Add a frame: (H, W, 3) in [0, 1] and (text, x, y) in pixels from the upper left."""
        from PIL import Image, ImageDraw

        image = Image.fromarray(np.round(np.clip(picture, 0.0, 1.0) * 255.0).astype(np.uint8))
        draw = ImageDraw.Draw(image)
        for text, x, y in texts:
            draw.text((x, y), text, fill=(235, 235, 235), stroke_width=1, stroke_fill=(20, 20, 20))
        self._last = np.asarray(image)
        if self._writer is None:
            self._writer = self._open()
        self._writer.append_data(self._last)
        self.count += 1
        return False

    def _open(self):
        import imageio.v2 as imageio

        if self.path.suffix.lower() == ".mp4":
            return imageio.get_writer(self.path, fps=RATE, macro_block_size=1, codec="libx264", pixelformat="yuv420p")
        return imageio.get_writer(self.path, mode="I", duration=1000 / RATE, loop=0)
