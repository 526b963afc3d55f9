"""Hero wavelengths: four per path, importance-sampled, and the film's response to them.

Wilkie et al. 2014, "Hero wavelength spectral sampling": one random number places all four at equal
distances of the cumulative density, so that they share one path.
"""

from irys_ti.kernels.layout import H_LAMBDA, H_RESPONSE, LAMBDA_MIN, LAMBDA_STEP, N_LAMBDA
from irys_ti.runtime import ti


@ti.func
def sample_wavelengths(reals: ti.template(), ints: ti.template(), u):
    """Four wavelengths in nm and their densities per nm."""
    cdf = ints[H_LAMBDA]
    lambdas = ti.Vector([0.0, 0.0, 0.0, 0.0])
    pdf = ti.Vector([0.0, 0.0, 0.0, 0.0])
    for k in range(4):
        x = u + 0.25 * ti.cast(k, float)
        x -= ti.floor(x)
        low, high = 0, N_LAMBDA - 1
        while high - low > 1:
            middle = (low + high) // 2
            if reals[cdf + middle] <= x:
                low = middle
            else:
                high = middle
        mass = reals[cdf + low + 1] - reals[cdf + low]
        place = ti.math.clamp((x - reals[cdf + low]) / mass, 0.0, 1.0)
        lambdas[k] = LAMBDA_MIN + LAMBDA_STEP * (ti.cast(low, float) + place)
        pdf[k] = reals[cdf + N_LAMBDA + low]
    return lambdas, pdf


@ti.func
def response(reals: ti.template(), ints: ti.template(), channel, lam):
    """What a film channel makes of unit radiance at a wavelength, per nm."""
    x = ti.math.clamp((lam - LAMBDA_MIN) / LAMBDA_STEP, 0.0, N_LAMBDA - 1.0)
    i = ti.min(ti.cast(ti.floor(x), ti.i32), N_LAMBDA - 2)
    w = x - ti.cast(i, float)
    base = ints[H_RESPONSE] + channel * N_LAMBDA + i
    return (1.0 - w) * reals[base] + w * reals[base + 1]
