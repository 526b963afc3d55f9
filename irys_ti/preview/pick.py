"""Which shape a pixel shows, and where everything is."""

from __future__ import annotations

import numpy as np

from irys_ti import runtime
from irys_ti.device.compile import compiled
from irys_ti.kernels.config import PRIMAL
from irys_ti.kernels.pick import pick
from irys_ti.scene import Scene


def shape_at(scene: Scene, x: float, y: float) -> str:
    """Id of the shape at film position (x, y), in pixels from the upper left corner; "" where there is none."""
    device = compiled(scene)
    found = runtime.array(np.array([-1, -1]), np.int32)
    pick(device.reals, device.ints, *device.geometry.accel.device(), found, float(x), float(y), device.config(PRIMAL))
    number = int(found.to_numpy()[0])
    return scene.shapes[number].id if number >= 0 else ""


def bounds_of(scene: Scene) -> tuple[np.ndarray, np.ndarray]:
    """Two corners of a box around everything (at least a point)."""
    geometry = compiled(scene).geometry
    return geometry.center - geometry.radius, geometry.center + geometry.radius
