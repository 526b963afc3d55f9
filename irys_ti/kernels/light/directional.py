"""Directional light: parallel light along its +z, given as irradiance on a plane that faces it."""

from irys_ti.graph import Param
from irys_ti.kernels.layout import LIGHT_REALS
from irys_ti.runtime import ti

CLASS = "delta"
PARAMS = {"irradiance": Param("spectrum", 1.0, 0.0, float("inf"))}


def emit(p, w):
    """Irradiance of a plane that faces the light."""
    return p.irradiance


@ti.func
def sample(reals: ti.template(), ints: ti.template(), light, ref, radius):
    """(direction from ref, distance past everything, factor on the emitted value)."""
    base = ints[light + LIGHT_REALS]
    along = ti.Vector([reals[base + 8], reals[base + 9], reals[base + 10]])
    return -along, 4.0 * radius, 1.0


def power(mean: dict, light, area: float, radius: float) -> float:
    """Flux into the scene's bounding sphere: pi r^2 E."""
    return 3.14159265 * radius**2 * mean["irradiance"]
