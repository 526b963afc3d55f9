"""16-bit PNG: Pillow, which imageio reads with, silently keeps 8 bits of 16-bit colour images."""

from __future__ import annotations

import struct
import zlib

import numpy as np

_CHANNELS = {0: 1, 2: 3, 4: 2, 6: 4}  # colour type -> samples per pixel


def read_png16(data: bytes) -> np.ndarray:
    """(h, w, c) uint16 of a non-interlaced 16-bit PNG (PNG specification, third edition). ValueError if broken."""
    width, height, depth, colour, _, _, interlaced = struct.unpack(">IIBBBBB", data[16:29])
    if depth != 16 or colour not in _CHANNELS or interlaced:
        raise ValueError("only plain 16-bit PNG is read here: save it without interlacing")
    if width * height > 2**28:
        raise ValueError("larger than 2^28 pixels")
    stride = width * _CHANNELS[colour] * 2
    inflater = zlib.decompressobj()
    rows = inflater.decompress(b"".join(_chunks(data, b"IDAT")), height * (stride + 1))
    if len(rows) < height * (stride + 1):
        raise ValueError("the image data is too short")
    table = np.frombuffer(rows, np.uint8).reshape(height, stride + 1)
    out = np.empty((height, stride), np.uint8)
    above = np.zeros(stride, np.uint8)
    for y in range(height):
        above = out[y] = _unfilter(int(table[y, 0]), table[y, 1:], above, _CHANNELS[colour] * 2)
    return out.view(">u2").reshape(height, width, -1).astype(np.uint16)


def _chunks(data: bytes, name: bytes):
    at = 8
    while at + 8 <= len(data):
        (length,) = struct.unpack(">I", data[at : at + 4])
        if data[at + 4 : at + 8] == name:
            yield data[at + 8 : at + 8 + length]
        at += 12 + length


def _unfilter(kind: int, row: np.ndarray, above: np.ndarray, step: int) -> np.ndarray:
    """Undo a row's filter; bytes wrap at 256, ``step`` bytes make a pixel."""
    if kind == 0:
        return row
    if kind == 1:  # difference to the left
        return np.add.accumulate(row.reshape(-1, step), axis=0, dtype=np.uint8).reshape(-1)
    if kind == 2:  # difference to the row above
        return row + above
    if kind not in (3, 4):
        raise ValueError(f"unknown row filter {kind}")
    line, up = bytearray(row.tobytes()), above.tobytes()
    for i in range(len(line)):
        left = line[i - step] if i >= step else 0
        if kind == 3:  # the mean of left and above
            line[i] = (line[i] + (left + up[i]) // 2) & 255
        else:  # Paeth: whichever of left, above and upper left is nearest to left + above - upper left
            corner = up[i - step] if i >= step else 0
            guess = left + up[i] - corner
            a, b, c = abs(guess - left), abs(guess - up[i]), abs(guess - corner)
            line[i] = (line[i] + (left if a <= b and a <= c else up[i] if b <= c else corner)) & 255
    return np.frombuffer(bytes(line), np.uint8)
