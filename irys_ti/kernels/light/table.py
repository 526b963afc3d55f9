"""Directions drawn from a piecewise-constant table over the sphere, latitude by longitude, +y up.

The table has the rows' cumulative sums (h + 1 numbers), then each row's (w + 1): device/environment.py writes it.
"""

from irys_ti.graph.lowering import sincos
from irys_ti.runtime import ti

CELL = 19.739208802178716  # 2 pi^2: density over (u, v) to density over solid angle, together with sin(theta)


@ti.func
def latitude_longitude(w):
    """(azimuth / 2 pi, polar angle / pi) of a local direction, both in [0, 1]."""
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
def sample_table(reals: ti.template(), rows, w, h, u):
    """A local direction and its density over solid angle; rows: where the table starts."""
    j = search(reals, rows, h, u[1])
    p_row = reals[rows + j + 1] - reals[rows + j]
    y = (ti.cast(j, float) + ti.math.clamp((u[1] - reals[rows + j]) / ti.max(p_row, 1e-30), 0.0, 1.0)) / ti.cast(h, float)
    row = rows + h + 1 + j * (w + 1)
    i = search(reals, row, w, u[0])
    p_cell = reals[row + i + 1] - reals[row + i]
    x = (ti.cast(i, float) + ti.math.clamp((u[0] - reals[row + i]) / ti.max(p_cell, 1e-30), 0.0, 1.0)) / ti.cast(w, float)
    s, up = sincos(y * 3.141592653589793)
    sine, cosine = sincos(x * 6.283185307179586)
    density = p_row * p_cell * ti.cast(w, float) * ti.cast(h, float) / ti.max(CELL * s, 1e-9)
    return ti.Vector([s * sine, up, -s * cosine]), density


@ti.func
def pdf_table(reals: ti.template(), rows, w, h, d):
    """Density of ``sample_table`` at the local direction d."""
    u, v = latitude_longitude(d)
    i = ti.math.clamp(ti.cast(u * ti.cast(w, float), ti.i32), 0, w - 1)
    j = ti.math.clamp(ti.cast(v * ti.cast(h, float), ti.i32), 0, h - 1)
    row = rows + h + 1 + j * (w + 1)
    p = (reals[rows + j + 1] - reals[rows + j]) * (reals[row + i + 1] - reals[row + i])
    s = ti.sqrt(ti.max(0.0, 1.0 - d[1] * d[1]))
    return p * ti.cast(w, float) * ti.cast(h, float) / ti.max(CELL * s, 1e-9)
