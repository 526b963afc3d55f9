"""Splats in .spz files (Niantic), versions 2 and 3: a gzip stream of one attribute after the other; +y is up.

Header of 16 bytes; positions of 24-bit fixed point; opacities of a byte; colours of a byte, 0.15 times the constant
harmonic around 1/2; scales of a byte, 16 times (logarithm + 10); rotations as x, y, z bytes (version 2) or the three
smaller components of 9 bits and a sign behind the place of the largest (version 3); harmonics of a byte around 128.
"""

from __future__ import annotations

import zlib

import numpy as np

from ...errors import SceneError
from ...scene import Splats
from .. import splat_checks
from .ply import with_largest

HEADER = np.dtype(
    [("magic", "<u4"), ("version", "<u4"), ("n", "<u4"), ("degree", "u1"), ("bits", "u1"), ("flags", "u1"), ("zero", "u1")]
)
MAGIC = 0x5053474E


def read(data: bytes, where: str) -> Splats:
    """The splats as the file has them."""
    data = inflate(data, where)
    head = np.frombuffer(data, HEADER, 1)[0] if len(data) >= HEADER.itemsize else None
    if head is None or head["magic"] != MAGIC:
        raise SceneError(where, "is not an SPZ file", "export it again")
    version, n, degree = int(head["version"]), int(head["n"]), int(head["degree"])
    if version not in (2, 3) or degree > 3:
        raise SceneError(where, f"SPZ version {version}, degree {degree}", "versions 2 and 3 to degree 3 are read")
    if n == 0:
        raise SceneError(where, "holds no splats", "export it with its splats")
    splat_checks.require_memory(n, (degree + 1) ** 2, where)
    rest = (degree + 1) ** 2 - 1
    widths = {"position": 9, "alpha": 1, "colour": 3, "scale": 3, "rotation": 3 if version == 2 else 4, "sh": 3 * rest}
    need, at, parts = HEADER.itemsize + n * sum(widths.values()), HEADER.itemsize, {}
    if len(data) < need:
        raise SceneError(where, f"is truncated: {len(data)} of {need} bytes are there", "copy it again")
    for name, width in widths.items():
        parts[name] = np.frombuffer(data, np.uint8, n * width, at).reshape(n, width)
        at += n * width
    sh = np.empty((n, 1 + rest, 3))
    sh[:, 0] = (parts["colour"] / 255.0 - 0.5) / 0.15
    sh[:, 1:] = (parts["sh"].reshape(n, rest, 3) - 128.0) / 128.0
    return Splats(
        position=fixed(parts["position"]) / 2.0 ** int(head["bits"]),
        scale=np.exp(parts["scale"] / 16.0 - 10.0),
        rotation=three_bytes(parts["rotation"]) if version == 2 else smallest_three(parts["rotation"]),
        opacity=parts["alpha"][:, 0] / 255.0,
        sh=sh,
    )


def inflate(data: bytes, where: str) -> bytes:
    """The stream, as far as it goes: what is cut off is told by its length."""
    try:
        return zlib.decompressobj(16 + zlib.MAX_WBITS).decompress(data)
    except zlib.error as error:
        raise SceneError(where, f"is not an SPZ file ({error})", "export it again") from None


def fixed(raw: np.ndarray) -> np.ndarray:
    """(n, 3) from 24-bit signed integers of three bytes, lowest first."""
    b = raw.reshape(len(raw), 3, 3).astype(np.int64)
    value = b[..., 0] | b[..., 1] << 8 | b[..., 2] << 16
    return np.where(value & 0x800000, value - 0x1000000, value).astype(np.float64)


def three_bytes(raw: np.ndarray) -> np.ndarray:
    """(n, 4) w, x, y, z of version 2."""
    xyz = raw / 127.5 - 1.0
    w = np.sqrt(np.maximum(0.0, 1.0 - (xyz**2).sum(1)))
    return np.c_[w, xyz]


def smallest_three(raw: np.ndarray) -> np.ndarray:
    """(n, 4) w, x, y, z of version 3: stored in the order x, y, z, w, the last component in the lowest bits."""
    b = raw.astype(np.uint32)
    packed = b[:, 0] | b[:, 1] << np.uint32(8) | b[:, 2] << np.uint32(16) | b[:, 3] << np.uint32(24)
    parts = []
    for shift in (20, 10, 0):
        ten = (packed >> np.uint32(shift)) & np.uint32(1023)
        size = (ten & np.uint32(511)) * (np.sqrt(0.5) / 511.0)
        parts.append(np.where(ten >> np.uint32(9), -size, size))
    return with_largest(np.stack(parts, 1), packed >> np.uint32(30))[:, [3, 0, 1, 2]]
