"""From linear pictures to what a screen shows, and small drawings on top: rows from above, sRGB in [0, 1]."""

from __future__ import annotations

import numpy as np

from irys_ti.io.images import linear_to_srgb

INK, PAPER, MARK = (0.92, 0.92, 0.92), (0.11, 0.11, 0.13), (0.35, 0.65, 1.0)


def expose(image: np.ndarray, stops: float = 0.0) -> np.ndarray:
    """(H, W, 3) linear sRGB as sRGB in [0, 1]; stops: exposure, a power of two. Not finite numbers show black."""
    with np.errstate(invalid="ignore"):
        shown = np.nan_to_num(np.asarray(image, np.float64) * 2.0**stops, nan=0.0, posinf=1.0, neginf=0.0)
    return linear_to_srgb(np.clip(shown, 0.0, 1.0))


def signed(derivative: np.ndarray) -> np.ndarray:
    """A derivative image in colour: red where the picture would brighten, blue where it would darken, white at zero."""
    y = np.asarray(derivative, np.float64) @ (0.2126, 0.7152, 0.0722)
    scale = np.quantile(np.abs(y), 0.99)
    x = np.clip(y / scale, -1.0, 1.0) if scale > 0 else np.zeros_like(y)
    return np.stack([1.0 - np.maximum(-x, 0.0), 1.0 - np.abs(x), 1.0 - np.maximum(x, 0.0)], -1)


def enlarge(image: np.ndarray, width: int, height: int) -> np.ndarray:
    """A picture at another size, by the nearest pixel."""
    h, w = image.shape[:2]
    return image[(np.arange(height) * h) // height][:, (np.arange(width) * w) // width]


def fill(canvas: np.ndarray, x0: int, y0: int, x1: int, y1: int, colour) -> None:
    """Paint a rectangle, cut to the canvas."""
    canvas[max(0, y0) : max(0, y1), max(0, x0) : max(0, x1)] = colour


def curve(values, width: int, height: int) -> np.ndarray:
    """A curve of positive numbers on a logarithmic scale, as a picture."""
    canvas = np.empty((height, width, 3))
    canvas[:] = PAPER
    values = np.asarray(values, np.float64)
    values = values[np.isfinite(values) & (values > 0)]
    if len(values) == 0:
        return canvas
    y = np.log(values)
    low, span = y.min(), max(y.max() - y.min(), 1e-9)
    columns = np.linspace(0, len(y) - 1, width)
    heights = np.interp(columns, np.arange(len(y)), (y - low) / span)
    rows = np.round((height - 5) * (1.0 - heights) + 2).astype(int)
    for x, (a, b) in enumerate(zip(np.r_[rows[0], rows[:-1]], rows)):
        canvas[min(a, b) : max(a, b) + 2, x] = MARK
    return canvas


def beside(*pictures: np.ndarray, gap: int = 4) -> np.ndarray:
    """Pictures of one height next to each other."""
    height = pictures[0].shape[0]
    line = np.empty((height, gap, 3))
    line[:] = PAPER
    parts = [p for picture in pictures for p in (picture, line)]
    return np.concatenate(parts[:-1], 1)
