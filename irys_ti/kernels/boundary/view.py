"""The film as a function of points in space: projection, its adjoint, and the loss's weight of a film point."""

from irys_ti.kernels import rng
from irys_ti.kernels.layout import (
    CAMERA_ASPECT,
    CAMERA_NEAR,
    CAMERA_POINT,
    CAMERA_TAN,
    H_CAMERA,
    H_CHANNELS,
    H_FILM,
    H_FILTER,
    MOVER_CENTER,
    MOVER_ROTATION,
    MOVER_SCALE,
    MOVER_TRANSLATION,
    MOVER_WANTED,
)
from irys_ti.kernels.motion import ROWS, add_rows, camera_axis, camera_mover, set_row
from irys_ti.kernels.wavelength import response, sample_wavelengths
from irys_ti.runtime import ti


@ti.func
def local_point(reals: ti.template(), ints: ti.template(), p):
    """A world point in the camera's frame."""
    v = p - camera_axis(reals, ints, 3)
    return ti.Vector(
        [v.dot(camera_axis(reals, ints, 0)), v.dot(camera_axis(reals, ints, 1)), v.dot(camera_axis(reals, ints, 2))]
    )


@ti.func
def film_of(reals: ti.template(), ints: ti.template(), p):
    """(film point in pixels, 1 where p lies before the camera and in the rendered window's reach)."""
    c = ints[H_CAMERA]
    q = local_point(reals, ints, p)
    before = q[2] > reals[c + CAMERA_NEAR]
    z = ti.select(before, q[2], 1.0)
    t = reals[c + CAMERA_TAN]
    sx, sy = q[0] / (z * t), q[1] / (z * t * reals[c + CAMERA_ASPECT])
    u = ti.Vector(
        [
            ti.cast(ints[H_FILM], float) * (0.5 * (1.0 - sx) + reals[c + CAMERA_POINT]),
            ti.cast(ints[H_FILM + 1], float) * (0.5 * (1.0 - sy) + reals[c + CAMERA_POINT + 1]),
        ]
    )
    x0, y0 = ti.cast(ints[H_FILM + 2], float), ti.cast(ints[H_FILM + 3], float)
    x1, y1 = x0 + ti.cast(ints[H_FILM + 4], float), y0 + ti.cast(ints[H_FILM + 5], float)
    # Filters reach two pixels at most.
    margin = ti.select(ints[H_FILTER] == 0, 0.0, 2.0)
    inside = u[0] > x0 - margin and u[0] < x1 + margin and u[1] > y0 - margin and u[1] < y1 + margin
    return u, ti.select(before and inside, 1, 0)


@ti.func
def film_step(reals: ti.template(), ints: ti.template(), p, dp):
    """How the film point of p moves when p moves by dp."""
    c = ints[H_CAMERA]
    q = local_point(reals, ints, p)
    v = ti.Vector(
        [dp.dot(camera_axis(reals, ints, 0)), dp.dot(camera_axis(reals, ints, 1)), dp.dot(camera_axis(reals, ints, 2))]
    )
    t = reals[c + CAMERA_TAN]
    sx, sy = (v[0] - q[0] / q[2] * v[2]) / (q[2] * t), (v[1] - q[1] / q[2] * v[2]) / (q[2] * t * reals[c + CAMERA_ASPECT])
    return ti.Vector([-0.5 * ti.cast(ints[H_FILM], float) * sx, -0.5 * ti.cast(ints[H_FILM + 1], float) * sy])


@ti.func
def film_adjoint(reals: ti.template(), ints: ti.template(), p, g_u):
    """Adjoint of the world point p, from that of its film point."""
    c = ints[H_CAMERA]
    q = local_point(reals, ints, p)
    t = reals[c + CAMERA_TAN]
    gx = -0.5 * ti.cast(ints[H_FILM], float) * g_u[0] / (q[2] * t)
    gy = -0.5 * ti.cast(ints[H_FILM + 1], float) * g_u[1] / (q[2] * t * reals[c + CAMERA_ASPECT])
    gz = -(gx * q[0] + gy * q[1]) / q[2]
    return gx * camera_axis(reals, ints, 0) + gy * camera_axis(reals, ints, 1) + gz * camera_axis(reals, ints, 2)


@ti.func
def deposit_camera(reals: ti.template(), ints: ti.template(), acc: ti.template(), replica, p, g, g_u):
    """The camera's part of a film point's adjoint g_u; g is the adjoint of the world point p behind it."""
    mover = camera_mover(ints)
    if ints[mover + MOVER_WANTED] != 0:
        c = ints[H_CAMERA]
        values = ti.Matrix.zero(float, ROWS, 3)
        at = ti.Vector.zero(ti.i32, ROWS) - 1
        at[0], at[1] = ints[mover + MOVER_TRANSLATION], ints[mover + MOVER_ROTATION]
        at[2], at[3] = ints[mover + MOVER_SCALE], ints[mover + MOVER_CENTER]
        arm, q = p - camera_axis(reals, ints, 3), local_point(reals, ints, p)
        t = reals[c + CAMERA_TAN]
        w, h = ti.cast(ints[H_FILM], float), ti.cast(ints[H_FILM + 1], float)
        set_row(values, 0, -g)
        set_row(values, 1, -arm.cross(g))
        values[2, 0] = 0.5 * (g_u[0] * w * q[0] + g_u[1] * h * q[1] / reals[c + CAMERA_ASPECT]) / (q[2] * t * t)
        values[3, 0], values[3, 1] = w * g_u[0], h * g_u[1]
        add_rows(reals, ints, acc, mover, replica, values, at)


@ti.func
def ray_wavelengths(reals: ti.template(), ints: ti.template(), seed, index):
    """The four wavelengths that the path kernel takes for given ray pair number ``index``, and their densities."""
    u_lambda, unused = rng.sample_2d(rng.stream(seed, 0, -1), index, rng.PAIR_WAVELENGTH)
    return sample_wavelengths(reals, ints, u_lambda)


@ti.func
def loss_weight(reals: ti.template(), ints: ti.template(), d_film: ti.template(), u, lam, pdf_lam):
    """Derivative of the loss by radiance at a film point and wavelength, of which four are drawn."""
    out = 0.0
    for c in range(ints[H_CHANNELS]):
        out += film_weight(ints, d_film, u, c) * response(reals, ints, c, lam)
    return out / (4.0 * pdf_lam)


@ti.func
def filter_value(ints: ti.template(), x):
    """The reconstruction filter's density at an offset of x pixels along one axis."""
    kind = ints[H_FILTER]
    a = ti.abs(x)
    out = ti.select(a < 0.5, 1.0, 0.0)
    if kind == 1:
        out = ti.max(0.0, 1.0 - a)
    return out


@ti.func
def film_weight(ints: ti.template(), d_film: ti.template(), u, channel):
    """What the loss's derivative weighs radiance at film point u with: the filters of the pixels around it."""
    n, w, h = ints[H_CHANNELS], ints[H_FILM + 4], ints[H_FILM + 5]
    x, y = u[0] - ti.cast(ints[H_FILM + 2], float), u[1] - ti.cast(ints[H_FILM + 3], float)
    reach = ti.select(ints[H_FILTER] == 0, 0, 2)
    i0, j0 = ti.cast(ti.floor(x), ti.i32), ti.cast(ti.floor(y), ti.i32)
    out = 0.0
    for k in range((2 * reach + 1) * (2 * reach + 1)):
        i, j = i0 - reach + k % (2 * reach + 1), j0 - reach + k // (2 * reach + 1)
        if i >= 0 and i < w and j >= 0 and j < h:
            dx, dy = x - (ti.cast(i, float) + 0.5), y - (ti.cast(j, float) + 0.5)
            density = 1.0
            if ints[H_FILTER] == 1:
                density = filter_value(ints, dx) * filter_value(ints, dy)
            elif ints[H_FILTER] == 2:  # a gaussian of standard deviation 0.5, cut at 2
                r2 = dx * dx + dy * dy
                density = ti.select(r2 < 4.0, ti.exp(-2.0 * r2) * 0.6366197723675814 / 0.99966454, 0.0)
            out += density * d_film[(j * w + i) * n + channel]
    return out
