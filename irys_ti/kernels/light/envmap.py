"""Environment map: radiance by direction, latitude-longitude, importance-sampled by luminance times sin(theta).

Local +y is up; u runs with the azimuth atan2(x, -z). Texels are centred along u; along v the first row is straight
up and the last one straight down (Mitsuba 3's layout), so that the poles need no neighbours.
"""

from irys_ti.graph import Param
from irys_ti.graph.lowering import sincos
from irys_ti.kernels.frame import affine_transposed, affine_vector
from irys_ti.kernels.layout import LIGHT_DATA, LIGHT_HEIGHT, LIGHT_REALS, LIGHT_WIDTH
from irys_ti.runtime import ti

CLASS = "environment"
PARAMS = {
    "radiance": Param("spectrum", 1.0, 0.0, float("inf")),
    "scale": Param("scalar", 1.0, 0.0, float("inf")),
}


def emit(p, w):
    """Radiance towards w; the texture was looked up at the direction's uv."""
    return p.radiance * p.scale


@ti.func
def uv(reals: ti.template(), ints: ti.template(), light, d):
    """Texture coordinates of the world direction d towards the environment."""
    u, y = latitude_longitude(reals, ints, light, d)
    h = ti.cast(ints[light + LIGHT_HEIGHT], float)
    return ti.Vector([u, 1.0 - (y * (h - 1.0) + 0.5) / h])


@ti.func
def latitude_longitude(reals: ti.template(), ints: ti.template(), light, d):
    """(azimuth / 2 pi, polar angle / pi) of the world direction d, both in [0, 1]."""
    w = affine_vector(reals, ints[light + LIGHT_REALS], d)
    u = ti.atan2(w[0], -w[2]) * 0.15915494309189535
    theta = ti.atan2(ti.sqrt(w[0] * w[0] + w[2] * w[2]), w[1])
    return u - ti.floor(u), theta * 0.3183098861837907


@ti.func
def search(reals: ti.template(), base, n, x):
    """Last cell i of a cumulative table of n + 1 numbers with table[i] <= x."""
    low, high = 0, n
    while high - low > 1:
        middle = (low + high) // 2
        if reals[base + middle] <= x:
            low = middle
        else:
            high = middle
    return low


@ti.func
def sample(reals: ti.template(), ints: ti.template(), light, u):
    """A direction by the piecewise-constant density of the table, and its density over solid angle.

    The table (at LIGHT_DATA): rows' cumulative sums (h + 1), then each row's (w + 1).
    """
    base = ints[light + LIGHT_REALS]
    w, h = ints[light + LIGHT_WIDTH], ints[light + LIGHT_HEIGHT]
    rows = base + LIGHT_DATA
    j = search(reals, rows, h, u[1])
    p_row = reals[rows + j + 1] - reals[rows + j]
    y = (ti.cast(j, float) + ti.math.clamp((u[1] - reals[rows + j]) / ti.max(p_row, 1e-30), 0.0, 1.0)) / ti.cast(h, float)
    row = rows + h + 1 + j * (w + 1)
    i = search(reals, row, w, u[0])
    p_cell = reals[row + i + 1] - reals[row + i]
    x = (ti.cast(i, float) + ti.math.clamp((u[0] - reals[row + i]) / ti.max(p_cell, 1e-30), 0.0, 1.0)) / ti.cast(w, float)
    s, up = sincos(y * 3.141592653589793)
    sine, cosine = sincos(x * 6.283185307179586)
    local = ti.Vector([s * sine, up, -s * cosine])
    density = p_row * p_cell * ti.cast(w, float) * ti.cast(h, float) / ti.max(19.739208802178716 * s, 1e-9)
    return affine_transposed(reals, base, local), density


@ti.func
def pdf(reals: ti.template(), ints: ti.template(), light, d):
    """Density of ``sample`` at the world direction d."""
    base = ints[light + LIGHT_REALS]
    w, h = ints[light + LIGHT_WIDTH], ints[light + LIGHT_HEIGHT]
    u, v = latitude_longitude(reals, ints, light, d)
    i = ti.math.clamp(ti.cast(u * ti.cast(w, float), ti.i32), 0, w - 1)
    j = ti.math.clamp(ti.cast(v * ti.cast(h, float), ti.i32), 0, h - 1)
    rows = base + LIGHT_DATA
    row = rows + h + 1 + j * (w + 1)
    p = (reals[rows + j + 1] - reals[rows + j]) * (reals[row + i + 1] - reals[row + i])
    y = affine_vector(reals, base, d)[1]
    s = ti.sqrt(ti.max(0.0, 1.0 - y * y))
    return p * ti.cast(w, float) * ti.cast(h, float) / ti.max(19.739208802178716 * s, 1e-9)


def power(mean: dict, light, area: float, radius: float) -> float:
    """Flux into the scene's bounding sphere: 4 pi^2 r^2 times the mean radiance."""
    return 39.4784176 * radius**2 * mean["radiance"] * mean["scale"]
