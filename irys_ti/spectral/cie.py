"""CIE 1931 colour matching, D65 and linear sRGB, piecewise linear over 95 nodes from 360 to 830 nm.

Conventions: a spectrum L(lambda) per nm has the colour ``integral of L * response() dlambda``; since the
response is divided by the integral of ybar (106.857 nm), a constant spectrum of 1 has luminance 1 and is
linear sRGB (1.205, 0.948, 0.909).
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np

N_NODES = 95
STEP = 5.0  # nm


def _rgb_to_xyz() -> np.ndarray:
    """(3, 3), from the primaries and the white point of IEC 61966-2-1."""
    x, y = np.array([[0.64, 0.30, 0.15, 0.3127], [0.33, 0.60, 0.06, 0.3290]])
    xyz = np.array([x / y, np.ones(4), (1 - x - y) / y])
    return xyz[:, :3] * np.linalg.solve(xyz[:, :3], xyz[:, 3])


XYZ_TO_SRGB = np.linalg.inv(_rgb_to_xyz())  # (3, 3), XYZ to linear sRGB
LUMINANCE = _rgb_to_xyz()[1]  # (3,), luminance of linear sRGB


@cache
def _table() -> dict[str, np.ndarray]:
    with np.load(Path(__file__).parents[1] / "data" / "cie1931.npz") as file:
        table = {name: file[name] for name in file.files}
    for values in table.values():
        values.flags.writeable = False
    return table


def wavelengths() -> np.ndarray:
    """(95,) nm: 360, 365, ..., 830."""
    return _table()["wavelengths"]


def xyz() -> np.ndarray:
    """(95, 3) colour matching functions as tabulated (CIE 018:2019)."""
    return _table()["xyz"]


def y_integral() -> float:
    """Integral of ybar over wavelength, nm: 106.857."""
    return float(np.trapezoid(xyz()[:, 1], dx=STEP))


@cache
def response() -> np.ndarray:
    """(3, 95) linear sRGB response per nm, divided by the integral of ybar."""
    values = XYZ_TO_SRGB @ xyz().T / y_integral()
    values.flags.writeable = False
    return values


@cache
def d65() -> np.ndarray:
    """(95,) CIE D65, scaled to luminance 1: its colour under ``response`` is white, (1, 1, 1) to 5e-4."""
    relative = _table()["d65"]
    values = relative / integrate_product(relative, xyz()[:, 1] / y_integral())
    values.flags.writeable = False
    return values


def integrate_product(f: np.ndarray, g: np.ndarray) -> np.ndarray:
    """Integral over 360 to 830 nm of the product of two functions linear between the nodes, exact.

    f, g: (..., 95), broadcast together.
    """
    f0, f1, g0, g1 = f[..., :-1], f[..., 1:], g[..., :-1], g[..., 1:]
    return (2 * (f0 * g0 + f1 * g1) + f0 * g1 + f1 * g0).sum(-1) * (STEP / 6)
