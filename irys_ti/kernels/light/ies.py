"""Photometric light: a point light whose intensity is a measured table over angles (IES files, type C).

Local +z is the nadir, vertical angle 0, so that it shines along +z as a spot does; horizontal angle 0 is +x, and angles
run counter-clockwise seen from above (from -z). The table is bilinear between its angles, mirrored as the last
horizontal angle says (0: the same all around; 90: each quadrant; 180: both halves), and 0 beyond its vertical angles.
The pool holds the numbers of vertical and horizontal angles' tables: the angles themselves, in degrees.
"""

from irys_ti.graph import Param
from irys_ti.kernels.frame import affine_vector
from irys_ti.kernels.layout import LIGHT_DATA, LIGHT_HEIGHT, LIGHT_REALS, LIGHT_WIDTH
from irys_ti.kernels.light import point
from irys_ti.kernels.light.table import search
from irys_ti.runtime import ti

CLASS = "delta"
PARAMS = {
    "intensity": Param("spectrum", 1.0, 0.0, float("inf"), doc="spectrum of one candela"),
    "candela": Param("spectrum", 1.0, 0.0, float("inf"), doc="the table, (vertical, horizontal, 1)"),
}
DEGREES = 57.29577951308232


def emit(p, w):
    """Intensity towards w; the table was looked up at the direction's uv."""
    return p.intensity * p.candela


@ti.func
def vertical(reals: ti.template(), ints: ti.template(), light, d):
    """Degrees from the nadir of the local direction that leaves against the world direction d."""
    w = -affine_vector(reals, ints[light + LIGHT_REALS], d)
    return ti.atan2(ti.sqrt(w[0] * w[0] + w[1] * w[1]), w[2]) * DEGREES


@ti.func
def place(reals: ti.template(), at, n, angle):
    """Where an angle lies among n increasing ones: index and fraction in one number."""
    x = 0.0
    if n > 1:
        i = search(reals, at, n - 1, angle)
        low, high = reals[at + i], reals[at + i + 1]
        x = ti.cast(i, float) + ti.math.clamp((angle - low) / (high - low), 0.0, 1.0)
    return x


@ti.func
def uv(reals: ti.template(), ints: ti.template(), light, d):
    """Texture coordinates of the table for the world direction d to the light."""
    base = ints[light + LIGHT_REALS]
    w = -affine_vector(reals, base, d)
    n, m = ints[light + LIGHT_HEIGHT], ints[light + LIGHT_WIDTH]
    y = place(reals, base + LIGHT_DATA, n, vertical(reals, ints, light, d))
    phi = ti.abs(ti.atan2(-w[1], w[0]) * DEGREES)
    last = reals[base + LIGHT_DATA + n + m - 1]
    if last > 180.5:
        phi = ti.select(w[1] > 0.0, 360.0 - phi, phi)
    elif last < 90.5:
        phi = ti.min(phi, 180.0 - phi)
    x = place(reals, base + LIGHT_DATA + n, m, phi)
    return ti.Vector([(x + 0.5) / ti.cast(m, float), 1.0 - (y + 0.5) / ti.cast(n, float)])


@ti.func
def sample(reals: ti.template(), ints: ti.template(), light, ref, radius):
    """(direction from ref, distance, factor on the emitted value): a point light's, 0 beyond the table."""
    d, distance, factor = point.sample(reals, ints, light, ref, radius)
    at = ints[light + LIGHT_REALS] + LIGHT_DATA
    angle = vertical(reals, ints, light, d)
    if angle < reals[at] or angle > reals[at + ints[light + LIGHT_HEIGHT] - 1]:
        factor = 0.0
    return d, distance, factor


def power(mean: dict, light, area: float, radius: float) -> float:
    """About the flux: 4 pi times the mean intensity."""
    return 12.5663706 * mean["intensity"] * mean["candela"]
