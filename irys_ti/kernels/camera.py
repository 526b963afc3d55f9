"""Camera rays and the film point of a path."""

from irys_ti.graph.lowering import sincos
from irys_ti.kernels.frame import affine_vector
from irys_ti.kernels.layout import (
    CAMERA_ASPECT,
    CAMERA_NEAR,
    CAMERA_POINT,
    CAMERA_TAN,
    CAMERA_TO_WORLD,
    H_CAMERA,
    H_FILM,
    H_FILTER,
)
from irys_ti.runtime import ti


@ti.func
def tent(u):
    """Inverse of the tent filter's cumulative distribution on [-1, 1]."""
    low = ti.sqrt(2.0 * u) - 1.0
    high = 1.0 - ti.sqrt(2.0 * (1.0 - u))
    return ti.select(u < 0.5, low, high)


@ti.func
def film_offset(ints: ti.template(), u):
    """Offset from the pixel's centre, distributed as the reconstruction filter: box, tent or gaussian.

    The gaussian (standard deviation 0.5 pixels) is drawn by Box and Muller and cut at 2 pixels.
    """
    kind = ints[H_FILTER]
    out = ti.Vector([u[0] - 0.5, u[1] - 0.5])
    if kind == 1:
        out = ti.Vector([tent(u[0]), tent(u[1])])
    elif kind == 2:
        r = 0.5 * ti.sqrt(-2.0 * ti.log(1.0 - u[0] * 0.99966454))  # 1 - exp(-8): the mass within 2 pixels
        sine, cosine = sincos(6.283185307179586 * u[1])
        out = ti.Vector([r * cosine, r * sine])
    return out


@ti.func
def film_pixel(ints: ti.template(), i):
    """Column and row, in the full film, of pixel i of the crop window."""
    width = ints[H_FILM + 4]
    x = ints[H_FILM + 2] + i - (i // width) * width
    y = ints[H_FILM + 3] + i // width
    return x, y


@ti.func
def eye(reals: ti.template(), ints: ti.template()):
    """Where the camera is."""
    m = ints[H_CAMERA] + CAMERA_TO_WORLD
    return ti.Vector([reals[m + 3], reals[m + 7], reals[m + 11]])


@ti.func
def camera_ray(reals: ti.template(), ints: ti.template(), x, y):
    """Origin and unit direction of the ray through film point (x, y), pixels from the upper left corner.

    Pinhole: the camera looks along its +z, +x points left (scene/transform.py), y up.
    """
    c = ints[H_CAMERA]
    sx = 1.0 - 2.0 * (x / ti.cast(ints[H_FILM], float) - reals[c + CAMERA_POINT])
    sy = 1.0 - 2.0 * (y / ti.cast(ints[H_FILM + 1], float) - reals[c + CAMERA_POINT + 1])
    t = reals[c + CAMERA_TAN]
    local = ti.Vector([sx * t, sy * t * reals[c + CAMERA_ASPECT], 1.0])
    m = c + CAMERA_TO_WORLD
    origin = eye(reals, ints)
    d = affine_vector(reals, m, local)
    return origin + d * reals[c + CAMERA_NEAR], d.normalized()
