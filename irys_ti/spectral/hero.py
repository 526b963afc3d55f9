"""Host side of wavelength sampling: the density that hero wavelengths are drawn from.

For a flat spectrum the estimate of colour channel c has variance ``integral of r_c^2 / p - I_c^2`` (r_c the
response, I_c its integral), so the sum of the relative variances is smallest for p proportional to
``sqrt(sum_c (r_c / I_c)^2)``, here its root mean square over each bin. A uniform share keeps deep violet and
red sampled, where the response is 1e-5 of its peak.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from . import cie

UNIFORM_SHARE = 0.02


@cache
def density() -> tuple[np.ndarray, np.ndarray]:
    """Piecewise constant over the 94 bins of 5 nm from 360 to 830 nm.

    Returns (cdf, pdf): cdf (95,) at the nodes, from 0 to 1; pdf (94,) per nm, positive everywhere.
    """
    response = cie.response()
    relative = response / np.trapezoid(response, dx=cie.STEP)[:, None]
    a, b = relative[:, :-1], relative[:, 1:]
    mean_square = ((a * a + a * b + b * b) / 3).sum(0)  # of a linear function over its bin
    pdf = np.sqrt(mean_square)
    pdf /= pdf.sum() * cie.STEP
    pdf = (1 - UNIFORM_SHARE) * pdf + UNIFORM_SHARE / (len(pdf) * cie.STEP)
    cdf = np.concatenate([[0.0], np.cumsum(pdf * cie.STEP)])
    cdf /= cdf[-1]
    for values in (cdf, pdf):
        values.flags.writeable = False
    return cdf, pdf
