"""Area light: a shape that emits the same radiance from every point of its outer side."""

from irys_ti.graph import Param

CLASS = "area"
PARAMS = {"radiance": Param("spectrum", 1.0, 0.0, float("inf"))}


def emit(p, w):
    """Radiance towards w (local direction from the light to the receiver)."""
    return p.radiance


def power(mean: dict, light, area: float, radius: float) -> float:
    """Flux for light selection: pi A L."""
    return 3.14159265 * area * mean["radiance"]
