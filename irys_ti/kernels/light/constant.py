"""Constant environment: the same radiance from every direction."""

from irys_ti.graph import Param
from irys_ti.graph.lowering import sincos
from irys_ti.runtime import ti

CLASS = "environment"
PARAMS = {"radiance": Param("spectrum", 1.0, 0.0, float("inf"))}


def emit(p, w):
    """Radiance towards w."""
    return p.radiance


@ti.func
def sample(reals: ti.template(), ints: ti.template(), light, part, u):
    """A uniform direction of the sphere and its density."""
    z = 1.0 - 2.0 * u[0]
    r = ti.sqrt(ti.max(0.0, 1.0 - z * z))
    sine, cosine = sincos(6.283185307179586 * u[1])
    return ti.Vector([r * cosine, r * sine, z]), 0.07957747154594767


@ti.func
def pdf(reals: ti.template(), ints: ti.template(), light, part, d):
    return 0.07957747154594767


@ti.func
def uv(reals: ti.template(), ints: ti.template(), light, d):
    """Where a texture would be read: nowhere."""
    return ti.Vector([0.5, 0.5])


def power(mean: dict, light, area: float, radius: float) -> float:
    """Flux into the scene's bounding sphere: 4 pi^2 r^2 L."""
    return 39.4784176 * radius**2 * mean["radiance"]
