"""Radiance HDR (.hdr): shared-exponent RGB, flat or run-length encoded (Ward, Real Pixels, 1991)."""

from __future__ import annotations

import re

import numpy as np


def read_hdr(data: bytes) -> np.ndarray:
    """(h, w, 3) float32, linear. ValueError for what is not such a file."""
    header, _, rest = data.partition(b"\n\n")
    if not header.startswith(b"#?") or b"32-bit_rle_rgbe" not in header:
        raise ValueError("not a Radiance RGBE file")
    size, _, body = rest.partition(b"\n")
    match = re.fullmatch(rb"-Y (\d+) \+X (\d+)\s*", size)
    if not match:
        raise ValueError(f"unsupported orientation {size[:30]!r}")
    height, width = int(match[1]), int(match[2])
    if not 0 < height * width <= 2**28:
        raise ValueError("unreasonable size")
    pixels = _scanlines(body, height, width)
    scale = np.ldexp(1.0, pixels[:, :, 3].astype(np.int32) - 136)
    rgb = np.where(pixels[:, :, 3:] > 0, (pixels[:, :, :3] + 0.5) * scale[:, :, None], 0.0)
    return rgb.astype(np.float32)


def _scanlines(body: bytes, height: int, width: int) -> np.ndarray:
    """(h, w, 4) bytes."""
    encoded = 8 <= width < 32768 and body[:2] == b"\x02\x02" and len(body) > 3 and body[2] < 128
    if not encoded:
        if len(body) < height * width * 4:
            raise ValueError("the pixels are too short or use the old run-length code")
        return np.frombuffer(body, np.uint8, height * width * 4).reshape(height, width, 4)
    out = np.empty((height, width, 4), np.uint8)
    at = 0
    for y in range(height):
        if body[at : at + 4] != bytes([2, 2, width >> 8, width & 255]):
            raise ValueError(f"scanline {y} does not start as it should")
        at += 4
        for channel in range(4):
            x = 0
            while x < width:
                if at + 1 >= len(body):
                    raise ValueError("the file ends too early")
                count = body[at]
                run = count > 128
                count = count - 128 if run else count
                values = body[at + 1] if run else np.frombuffer(body[at + 1 : at + 1 + count], np.uint8)
                if count == 0 or x + count > width or (not run and len(values) < count):
                    raise ValueError(f"scanline {y} is broken")
                out[y, x : x + count, channel] = values
                x += count
                at += 2 if run else 1 + count
    return out
