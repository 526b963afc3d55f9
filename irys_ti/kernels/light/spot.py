"""Spot light: a point light inside a cone along its +z, fading linearly in angle from beam width to cutoff.

The fade is Mitsuba 3's (documentation, "Spot light source"): full inside beam_width, then
(cutoff - angle) / (cutoff - beam_width).
"""

from irys_ti.graph import Param, arccos, clamp, constant, maximum
from irys_ti.kernels.light.point import sample  # noqa: F401 - the same position and falloff

CLASS = "delta"
PARAMS = {
    "intensity": Param("spectrum", 1.0, 0.0, float("inf")),
    "cutoff_angle": Param("scalar", 20.0, 0.0, 180.0),
    "beam_width": Param("scalar", 15.0, 0.0, 180.0),
}


def emit(p, w):
    """Intensity towards w."""
    angle = arccos(w.z) * constant(57.29577951308232)
    width = maximum(p.cutoff_angle - p.beam_width, constant(1e-4))
    return p.intensity * clamp((p.cutoff_angle - angle) / width, 0.0, 1.0)


def power(mean: dict, light, area: float, radius: float) -> float:
    """Flux of a uniform cone as wide as the mean of beam and cutoff."""
    from math import cos, radians

    half = radians(min(180.0, 0.5 * (mean["cutoff_angle"] + mean["beam_width"])))
    return 6.2831853 * (1.0 - cos(half)) * mean["intensity"]
