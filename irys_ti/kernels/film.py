"""The film: each pixel's samples are added by one thread, in sample order, as two-float sums.

So the image has the same bits however the samples are cut into launches.
"""

from irys_ti.runtime import ti


@ti.func
def two_sum(a, b):
    """a + b and its rounding error (Knuth)."""
    s = a + b
    c = s - a
    return s, (a - (s - c)) + (b - c)


@ti.kernel
def develop(
    samples: ti.types.ndarray(ndim=1),
    film: ti.types.ndarray(ndim=1),
    n_channels: int,
    pixel0: int,
    n_pixels: int,
    n_samples: int,
):
    """Add one launch's samples, (pixel, sample, channel), to the film, (pixel, channel, sum | its rounding)."""
    for i in range(n_pixels * n_channels):
        pixel = i // n_channels
        at = pixel * n_samples * n_channels + i - pixel * n_channels
        b = 2 * (pixel0 * n_channels + i)
        high, low = film[b], film[b + 1]
        for s in range(n_samples):
            high, rounding = two_sum(high, samples[at + s * n_channels])
            low += rounding
        film[b], film[b + 1] = high, low
