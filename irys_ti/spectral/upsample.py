"""Linear sRGB to smooth spectra: the sigmoid of a parabola (Jakob and Hanika 2019).

    S(lambda) = 1/2 + y / (2 sqrt(1 + y^2)),   y = c0 x^2 + c1 x + c2,   x = (lambda - 360 nm) / 470 nm

A reflectance's colour is the one it has under CIE D65, relative to a white reflector's:
``rgb(S) = integral of S D65 r / integral of D65 r`` per channel, so that a grey is exactly flat. The three
coefficients are solved for in f64 by damped Newton steps instead of read from a table; the whole sRGB
cube can be reached, except that black and white need infinite coefficients and are kept FLOOR away.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from . import cie

FLOOR = 1e-6  # distance of the brightest channel from 0 and of the darkest from 1
_CHUNK = 1024  # rows at a time: the temporaries stay in the cache
_CELLS = 32  # per channel, for the starting points of many colours
_DARK = 0.02  # brightest channel of colours that are reached by way of brighter ones


@cache
def _quadrature() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Nodes' basis (n, 3), weights (n, 3) of rgb(S) and their products (n, 9).

    Two Gauss points in each bin of 5 nm, in which D65 times the response is a parabola.
    """
    nodes = cie.wavelengths()
    offsets = np.array([0.5 - np.sqrt(1 / 12), 0.5 + np.sqrt(1 / 12)]) * cie.STEP
    lambdas = (nodes[:-1, None] + offsets).ravel()
    response = np.array([np.interp(lambdas, nodes, r) for r in cie.response()])
    weights = (response * np.interp(lambdas, nodes, cie.d65())).T
    weights /= weights.sum(0)
    keep = np.abs(weights).max(1) > 1e-9
    weights = weights[keep] / weights[keep].sum(0)
    x = (lambdas[keep] - cie.wavelengths()[0]) / (nodes[-1] - nodes[0])
    basis = np.stack([x * x, x, np.ones_like(x)], 1)
    return basis, weights, (weights[:, :, None] * basis[:, None, :]).reshape(-1, 9)


def evaluate(coeffs: np.ndarray, lambdas: np.ndarray) -> np.ndarray:
    """Spectra (n, m) of coefficients (n, 3) at wavelengths (m,) nm."""
    x = (np.asarray(lambdas, np.float64) - 360.0) / 470.0
    y = np.atleast_2d(coeffs) @ np.stack([x * x, x, np.ones_like(x)])
    return 0.5 + y / (2 * np.sqrt(1 + y * y))


def to_rgb(coeffs: np.ndarray) -> np.ndarray:
    """Linear sRGB (n, 3) of coefficients (n, 3): the inverse of ``coefficients``."""
    basis, weights, _ = _quadrature()
    y = np.asarray(coeffs, np.float64) @ basis.T
    return (0.5 + y / (2 * np.sqrt(1 + y * y))) @ weights


def coefficients(rgb: np.ndarray) -> np.ndarray:
    """Coefficients (n, 3) of linear sRGB reflectances (n, 3), clamped to [0, 1].

    ``to_rgb`` of the result agrees to 1e-9; black and white are FLOOR away.
    """
    rgb = np.asarray(rgb, np.float64).reshape(-1, 3)
    distinct, inverse = _distinct(_clamp(rgb))
    if len(distinct) <= 2 * _CELLS**2:
        return _solve(distinct, _grey_start(distinct))[inverse]
    # Many colours (an image): solve one colour for each occupied cell of the cube, spaced evenly in the
    # square root, and start all others from the one in their cell.
    cell = np.minimum((np.sqrt(distinct) * _CELLS).astype(np.int64), _CELLS - 1) @ [_CELLS**2, _CELLS, 1]
    _, first, member = np.unique(cell, return_index=True, return_inverse=True)
    seeds = distinct[first]
    solved = _solve(seeds, _grey_start(seeds))
    slope = jacobian(solved)
    start = solved[member] + np.einsum("nij,nj->ni", slope[member], distinct - seeds[member])
    dark = distinct.max(1) < _DARK  # there the coefficients change too much within a cell
    start[dark] = _grey_start(distinct[dark])
    return _solve(distinct, start)[inverse]


def jacobian(coeffs: np.ndarray) -> np.ndarray:
    """(n, 3, 3): derivative d coeffs[i] / d rgb[j], by inverting d rgb / d coeffs."""
    basis, _, products = _quadrature()
    coeffs = np.asarray(coeffs, np.float64).reshape(-1, 3)
    out = np.empty((len(coeffs), 3, 3))
    for i in range(0, len(coeffs), _CHUNK):
        part = slice(i, i + _CHUNK)
        y = coeffs[part] @ basis.T
        slope = 0.5 / ((1 + y * y) * np.sqrt(1 + y * y))
        out[part] = np.linalg.inv((slope @ products).reshape(-1, 3, 3))
    return out


def illuminant(rgb: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """A light's colour: (scale (n,), coefficients (n, 3)) with spectrum ``scale * S * cie.d65()``.

    The scale is twice the largest channel, so that S is smooth (largest channel 1/2), as in Mitsuba.
    """
    rgb = np.asarray(rgb, np.float64).reshape(-1, 3)
    scale = 2 * rgb.max(1)
    safe = np.where(scale > 0, scale, 1.0)
    return scale, coefficients(np.where(scale[:, None] > 0, rgb / safe[:, None], 0.5))


def illuminant_jacobian(rgb: np.ndarray, coeffs: np.ndarray) -> np.ndarray:
    """(n, 4, 3): derivatives of (scale, c0, c1, c2) of ``illuminant`` with respect to rgb.

    At black, where the colour has no direction, a grey's: the luminance's derivative is then right.
    """
    rgb = np.asarray(rgb, np.float64).reshape(-1, 3)
    out = np.zeros((len(rgb), 4, 3))
    scale = 2 * rgb.max(1)
    lit = scale > 0
    out[~lit, 0] = 2 * cie.LUMINANCE
    out[lit] = _scaled_jacobian(rgb[lit], coeffs[lit], scale[lit], 2 * np.eye(3)[rgb[lit].argmax(1)])
    return out


def emission(rgb: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """A colour that shines without an illuminant, (scale (n,), coefficients (n, 3)): spectrum ``scale * S``.

    Up to 1 the spectrum that a surface of this colour reflects, as in Mitsuba's textured lights; beyond, that of
    the same hue with largest channel 1, scaled.
    """
    rgb = np.asarray(rgb, np.float64).reshape(-1, 3)
    scale = np.maximum(rgb.max(1), 1.0)
    return scale, coefficients(rgb / scale[:, None])


def emission_jacobian(rgb: np.ndarray, coeffs: np.ndarray) -> np.ndarray:
    """(n, 4, 3): derivatives of (scale, c0, c1, c2) of ``emission`` with respect to rgb."""
    rgb = np.asarray(rgb, np.float64).reshape(-1, 3)
    peak = rgb.max(1)
    d_scale = np.where(peak[:, None] > 1, np.eye(3)[rgb.argmax(1)], 0.0)
    return _scaled_jacobian(rgb, coeffs, np.maximum(peak, 1.0), d_scale)


def _scaled_jacobian(rgb, coeffs, scale, d_scale) -> np.ndarray:
    """(n, 4, 3) for coefficients of rgb / scale, given the scale and its derivative (n, 3)."""
    s, d_s = scale[:, None, None], d_scale[:, None, :]
    by_rgb = jacobian(coeffs) @ (np.eye(3) / s - rgb[:, :, None] * d_s / s**2)
    return np.concatenate([d_s, by_rgb], 1)


def _clamp(rgb: np.ndarray) -> np.ndarray:
    rgb = np.clip(rgb, 0.0, 1.0)
    rgb = rgb + np.maximum(FLOOR - rgb.max(1, keepdims=True), 0.0)
    return rgb - np.maximum(rgb.min(1, keepdims=True) - (1 - FLOOR), 0.0)


def _distinct(rgb: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Different rows and the index of each row among them; channel by channel, faster than sorting rows."""
    key = np.zeros(len(rgb), np.int64)
    for channel in rgb.T:
        values, index = np.unique(channel, return_inverse=True)
        _, key = np.unique(key * len(values) + index, return_inverse=True)
    first = np.empty(key.max(initial=-1) + 1, np.int64)
    first[key] = np.arange(len(rgb))
    return rgb[first], key


def _grey_start(rgb: np.ndarray) -> np.ndarray:
    """Coefficients to start from: the grey of the same luminance; for dark colours the solution of a
    brighter colour of the same hue, since far from y = 0 the sigmoid is 1 / (4 y^2)."""
    grey = np.clip(rgb @ cie.LUMINANCE, 1e-3, 1 - 1e-3)
    start = np.zeros_like(rgb)
    start[:, 2] = (grey - 0.5) / np.sqrt(grey * (1 - grey))
    dark = np.flatnonzero(rgb.max(1) < _DARK)
    if len(dark):
        bright = rgb[dark] * 8
        start[dark] = _solve(bright, _grey_start(bright)) * np.sqrt(8)
    return start


def _solve(rgb: np.ndarray, start: np.ndarray) -> np.ndarray:
    out = np.empty_like(rgb)
    done = np.empty(len(rgb), bool)
    with np.errstate(all="ignore"):  # a wild start may overflow: such rows start again
        for i in range(0, len(rgb), _CHUNK):
            part = slice(i, i + _CHUNK)
            out[part], done[part] = _newton(rgb[part], start[part])
        if not done.all():
            again = rgb[~done]
            out[~done], _ = _newton(again, _grey_start(again))
    grey = (rgb[:, 0] == rgb[:, 1]) & (rgb[:, 1] == rgb[:, 2])
    value = rgb[grey, 0]
    out[grey] = 0.0
    out[grey, 2] = (value - 0.5) / np.sqrt(value * (1 - value))
    return out


def _newton(rgb: np.ndarray, start: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Damped Newton: a step is halved until the error falls by a third of what Newton's model promises.

    Returns (coefficients, which rows converged).
    """
    basis, weights, products = _quadrature()
    coeffs, done = start.copy(), np.zeros(len(rgb), bool)
    peak = rgb.max(1)
    active = np.arange(len(rgb))
    for _ in range(60):
        c, target = coeffs[active], rgb[active]
        y = c @ basis.T
        inverse_root = 1 / np.sqrt(1 + y * y)
        y *= inverse_root
        residual = (0.5 + 0.5 * y) @ weights - target
        error = np.abs(residual).max(1) / peak[active]
        slope = inverse_root * inverse_root
        slope *= inverse_root
        step = -2 * _solve3((slope @ products).reshape(-1, 3, 3), residual)
        length = np.ones((len(active), 1))
        todo = np.flatnonzero(error > 1e-3)  # nearer than that full steps converge
        for _ in range(12):
            if not len(todo):
                break
            new = np.abs(to_rgb(c[todo] + length[todo] * step[todo]) - target[todo]).max(1) / peak[active[todo]]
            todo = todo[~(new < error[todo] * (1 - 0.3 * length[todo, 0]))]
            length[todo] *= 0.5
        coeffs[active] = c + length * step
        # Convergence is quadratic: from here the step just made ends below 1e-10.
        done[active[error < 3e-6]] = True
        active = active[(error >= 3e-6) & np.isfinite(coeffs[active]).all(1)]
        if not len(active):
            break
    return coeffs, done


def _solve3(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Cramer's rule for (n, 3, 3) systems, several times faster than LAPACK on a batch."""
    x = np.cross(a[:, :, 1], a[:, :, 2])
    det = np.einsum("ni,ni->n", a[:, :, 0], x)
    y, z = np.cross(a[:, :, 2], a[:, :, 0]), np.cross(a[:, :, 0], a[:, :, 1])
    return np.stack([np.einsum("ni,ni->n", b, v) for v in (x, y, z)], 1) / det[:, None]
