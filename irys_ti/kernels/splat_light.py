"""What splats emit, and the baseline that keeps the derivatives of their chances quiet."""

from irys_ti.kernels.geometry.mesh import vec3
from irys_ti.kernels.geometry.splats import STRIDE
from irys_ti.kernels.layout import (
    FLAG_ENCODED,
    H_CHANNELS,
    H_FILM,
    RECORD_LOW,
    RECORD_STRIDE,
    RECORD_TOTAL,
    RECORD_WEIGHT,
    SHAPE_FLAGS,
    SHAPE_HARMONICS,
    SHAPE_N_HARMONICS,
    SHAPE_REALS,
)
from irys_ti.kernels.values import band_at, illuminant
from irys_ti.runtime import ti


@ti.func
def harmonics(d):
    """The 16 real spherical harmonics up to degree 3 towards d, in the order and with the signs of captures.

    Constants: sqrt((2 l + 1) (l - m)! / (4 pi (l + m)!)), twice under the root for m > 0; odd m negative.
    """
    x, y, z = d[0], d[1], d[2]
    xx, yy, zz = x * x, y * y, z * z
    return ti.Vector(
        [
            0.28209479177387814,
            -0.4886025119029199 * y,
            0.4886025119029199 * z,
            -0.4886025119029199 * x,
            1.0925484305920792 * x * y,
            -1.0925484305920792 * y * z,
            0.31539156525252005 * (2.0 * zz - xx - yy),
            -1.0925484305920792 * x * z,
            0.5462742152960396 * (xx - yy),
            -0.5900435899266435 * y * (3.0 * xx - yy),
            2.890611442640554 * x * y * z,
            -0.4570457994644658 * y * (4.0 * zz - xx - yy),
            0.3731763325901154 * z * (2.0 * zz - 3.0 * xx - 3.0 * yy),
            -0.4570457994644658 * x * (4.0 * zz - xx - yy),
            1.445305721320277 * z * (xx - yy),
            -0.5900435899266435 * x * (xx - 3.0 * yy),
        ]
    )


@ti.func
def splat_radiance(reals: ti.template(), ints: ti.template(), shape, i, o, lambdas):
    """Radiance of splat i of an emissive set towards o: its colour there, lit by D65."""
    to_splat = vec3(reals, ints[shape + SHAPE_REALS] + STRIDE * i) - o
    y = harmonics(to_splat / ti.max(to_splat.norm(), 1e-20))
    n = ints[shape + SHAPE_N_HARMONICS]
    at = ints[shape + SHAPE_HARMONICS] + 3 * n * i
    out = ti.Vector([0.0, 0.0, 0.0, 0.0])
    for c in range(3):
        colour = 0.5
        for j in range(n):
            colour += reals[at + 3 * j + c] * y[j]
        colour = ti.max(colour, 0.0)
        if (ints[shape + SHAPE_FLAGS] & FLAG_ENCODED) != 0:
            low = colour * (1.0 / 12.92)
            colour = ti.select(colour <= 0.04045, low, ti.pow((colour + 0.055) * (1.0 / 1.055), 2.4))
        for k in ti.static(range(4)):
            out[k] += colour * band_at(reals, ints, c, lambdas[k])
    for k in ti.static(range(4)):
        out[k] *= illuminant(reals, ints, lambdas[k])
    return out


@ti.kernel
def sum_bands(
    reals: ti.types.ndarray(ndim=1), ints: ti.types.ndarray(ndim=1), record: ti.types.ndarray(ndim=1),
    sums: ti.types.ndarray(ndim=1), pixel0: int, n_pixels: int, n_samples: int,
):  # fmt: skip
    """Add the paths of a launch to their pixels' sums, in order: for each band, radiance times band, and band.

    The paths' wavelengths stand where their weights will.
    """
    for i in range(n_pixels):
        for s in range(n_samples):
            at = (i * n_samples + s) * RECORD_STRIDE
            for k in range(4):
                lam = record[at + RECORD_WEIGHT + k]
                L = record[at + RECORD_TOTAL + k] + record[at + RECORD_LOW + k]
                for c in range(3):
                    band = band_at(reals, ints, c, lam)
                    sums[6 * (pixel0 + i) + c] += L * band
                    sums[6 * (pixel0 + i) + 3 + c] += band


@ti.func
def baseline(reals: ti.template(), ints: ti.template(), record: ti.template(), d_film: ti.template(), lane, pixel, lambdas):
    """What the pixel's other paths give at this path's wavelengths, times the weights of its radiance.

    The expectation of a derivative of ln chance is 0, so this may be taken off what multiplies it: it does not
    depend on the chances of this path. d_film holds the sums of ``sum_bands`` behind the derivative.
    """
    at = ints[H_FILM + 4] * ints[H_FILM + 5] * ints[H_CHANNELS] + 6 * pixel
    out = 0.0
    for c in range(3):
        weighted, bands, up = 0.0, 0.0, 0.0
        for k in range(4):
            i = lane * RECORD_STRIDE + k
            band = band_at(reals, ints, c, lambdas[k])
            weighted += (record[i + RECORD_TOTAL] + record[i + RECORD_LOW]) * band
            bands += band
            up += record[i + RECORD_WEIGHT] * band
        others = d_film[at + 3 + c] - bands
        # Less than a path's worth of band is rounding: the pixel has no other path.
        if others > 1e-3 * d_film[at + 3 + c] and others > 0.01:
            out += up * (d_film[at + c] - weighted) / others
    return out


@ti.func
def baselines(reals: ti.template(), ints: ti.template(), record: ti.template(), d_film: ti.template(), lane, pixel, lambdas):
    """The same for each of the four wavelengths."""
    at = ints[H_FILM + 4] * ints[H_FILM + 5] * ints[H_CHANNELS] + 6 * pixel
    out = ti.Vector([0.0, 0.0, 0.0, 0.0])
    for c in range(3):
        weighted, bands = 0.0, 0.0
        for k in range(4):
            i = lane * RECORD_STRIDE + k
            band = band_at(reals, ints, c, lambdas[k])
            weighted += (record[i + RECORD_TOTAL] + record[i + RECORD_LOW]) * band
            bands += band
        others = d_film[at + 3 + c] - bands
        if others > 1e-3 * d_film[at + 3 + c] and others > 0.01:
            for k in range(4):
                band = band_at(reals, ints, c, lambdas[k])
                out[k] += record[lane * RECORD_STRIDE + k + RECORD_WEIGHT] * band * (d_film[at + c] - weighted) / others
    return out
