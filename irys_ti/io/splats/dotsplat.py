"""Splats in .splat files: 32 bytes each and no header (antimatter15's viewer).

Three f32 of position, three of scale (standard deviations), four bytes of colour and opacity, four bytes of the
rotation w, x, y, z as 128 + 128 times the component.
"""

from __future__ import annotations

import numpy as np

from ...errors import SceneError
from ...scene import Splats
from .. import splat_checks

C0 = 0.28209479177387814
ROW = np.dtype([("position", "<f4", 3), ("scale", "<f4", 3), ("colour", "u1", 4), ("rotation", "u1", 4)])


def read(data: bytes, where: str) -> Splats:
    """The splats as the file has them."""
    if not data:
        raise SceneError(where, "holds no splats", "export it with its splats")
    if len(data) % ROW.itemsize:
        problem = f"is truncated: {len(data)} bytes are no multiple of {ROW.itemsize}"
        raise SceneError(where, problem, "copy it again")
    splat_checks.require_memory(len(data) // ROW.itemsize, 0, where)
    rows = np.frombuffer(data, ROW)
    colour = rows["colour"] / 255.0
    return Splats(
        position=rows["position"], scale=rows["scale"], rotation=(rows["rotation"].astype(np.float64) - 128.0) / 128.0,
        opacity=colour[:, 3], sh=((colour[:, :3] - 0.5) / C0)[:, None],
    )  # fmt: skip
