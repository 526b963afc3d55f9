"""Point light: the same radiant intensity in every direction."""

from irys_ti.graph import Param
from irys_ti.kernels.layout import LIGHT_REALS
from irys_ti.runtime import ti

CLASS = "delta"
PARAMS = {"intensity": Param("spectrum", 1.0, 0.0, float("inf"))}


def emit(p, w):
    """Intensity towards w."""
    return p.intensity


@ti.func
def sample(reals: ti.template(), ints: ti.template(), light, ref, radius):
    """(direction from ref, distance, factor on the emitted value): falls off with the distance squared."""
    base = ints[light + LIGHT_REALS]
    # to_local is rigid: its translation t sends the position to the origin, so position = -R^T t.
    t = ti.Vector([reals[base + 3], reals[base + 7], reals[base + 11]])
    position = ti.Vector([0.0, 0.0, 0.0])
    for i in ti.static(range(3)):
        position[i] = -(reals[base + i] * t[0] + reals[base + 4 + i] * t[1] + reals[base + 8 + i] * t[2])
    d = position - ref
    squared = ti.max(d.norm_sqr(), 1e-20)
    distance = ti.sqrt(squared)
    return d / distance, distance, 1.0 / squared


def power(mean: dict, light, area: float, radius: float) -> float:
    """Flux: 4 pi I."""
    return 12.5663706 * mean["intensity"]
