"""The film: each pixel's samples are added by one thread, in sample order, as two-float sums.

So the image has the same bits however the samples are cut into launches.
"""

from irys_ti.kernels import rng
from irys_ti.kernels.camera import film_pixel
from irys_ti.kernels.layout import H_CHANNELS
from irys_ti.kernels.wavelength import response, sample_wavelengths
from irys_ti.runtime import ti


@ti.func
def two_sum(a, b):
    """a + b and its rounding error (Knuth)."""
    s = a + b
    c = s - a
    return s, (a - (s - c)) + (b - c)


@ti.kernel
def develop(
    reals: ti.types.ndarray(ndim=1),
    ints: ti.types.ndarray(ndim=1),
    record: ti.types.ndarray(ndim=1),
    film: ti.types.ndarray(ndim=1),
    stride: int,
    pixel0: int,
    n_pixels: int,
    sample0: int,
    n_samples: int,
    n_groups: int,
    seed: int,
):
    """Add the radiance of one launch's paths to the film's channels: film[(pixel, channel, hi | lo)]."""
    for i in range(n_pixels):
        pixel = pixel0 + i
        x, y, number = film_pixel(ints, pixel)
        for s in range(n_samples):
            sample = sample0 + s
            key = rng.stream(seed, sample % n_groups, number)
            u, _ = rng.sample_2d(key, sample // n_groups, rng.PAIR_WAVELENGTH)
            lambdas, pdf = sample_wavelengths(reals, ints, u)
            at = (i * n_samples + s) * stride
            for c in range(ints[H_CHANNELS]):
                value = 0.0
                for k in range(4):
                    value += record[at + k] * response(reals, ints, c, lambdas[k]) / (4.0 * pdf[k])
                b = 2 * (pixel * ints[H_CHANNELS] + c)
                high, low = two_sum(film[b], value)
                film[b] = high
                film[b + 1] += low
