"""The clear sky and the sun of Hosek and Wilkie, spectral, as expression graphs.

Hosek and Wilkie 2012, "An Analytic Model for Full Spectral Sky-Dome Radiance": at each of eleven wavelengths the sky's
radiance is R (1 + A exp(B / (cos theta + 0.01))) (C + D exp(E gamma) + F cos^2 gamma + G chi + I sqrt(cos theta)), theta
from the zenith, gamma from the sun, chi = (1 + cos^2 gamma) / (1 + H^2 - 2 H cos gamma)^1.5. The nine coefficients and
the mean radiance R are Bezier curves of degree 5 in the cube root of the sun's elevation, linear in turbidity and in the
ground's albedo. The sun (2013): cubic pieces in its elevation, times a polynomial of degree 5 in the cosine on its disc,
which darkens its limb. Units: W / (m^2 sr nm).

Between the eleven wavelengths (320 to 720 nm, every 40) the radiance is linear, as published; beyond 720 nm, where the
data end, it stays as it is there.
"""

from __future__ import annotations

from functools import cache
from math import comb, pi
from pathlib import Path

import numpy as np

from ..graph import (
    Expr,
    atan2,
    constant,
    cos,
    cross,
    dot,
    evaluate,
    exp,
    jvp,
    leaf,
    maximum,
    power,
    safe_sqrt,
    select,
    sin,
    stop_gradient,
    vec3,
)

FIRST, STEP, N = 320.0, 40.0, 11  # nm
SHAPE, LIMB = 9, 6  # coefficients of the sky's distribution; of the sun's disc
SKY = SHAPE + 1  # and the mean radiance
ROWS = SKY + LIMB  # numbers at each wavelength
INPUTS = ("turbidity", "albedo", "sun_elevation")  # what these numbers depend on
SUN_DIAMETER = 0.5358  # degrees, for which the sun's radiance was published
LOWEST = 0.01  # degrees: below it the sun stands still, since the cube root's slope is infinite at the horizon
RADIANS = pi / 180.0
SEGMENTS = 45


@cache
def _data() -> dict[str, np.ndarray]:
    with np.load(Path(__file__).parents[1] / "data" / "sky.npz") as file:
        return {name: file[name] for name in file.files if name != "source"}


@cache
def _curve() -> tuple:
    """A sky coefficient as a graph: (its inputs, its 24 control numbers, value, tangents by the inputs)."""
    t, albedo, elevation = inputs = [leaf(f"sky.{name}") for name in INPUTS]
    floor = leaf("sky.floor")
    points = {(i, j, k): leaf(f"sky.point{i}{j}{k}") for i in range(2) for j in range(2) for k in range(6)}
    x = power(maximum(elevation, LOWEST) * (1.0 / 90.0), 1.0 / 3.0)
    value = constant(0.0)
    for (i, j, k), point in points.items():
        w = (t - floor if i else 1.0 - (t - floor)) * (albedo if j else 1.0 - albedo)
        value = value + w * comb(5, k) * power(x, float(k)) * power(1.0 - x, float(5 - k)) * point
    return inputs, floor, points, value, _slopes(value, inputs)


@cache
def _sun() -> tuple:
    """The sun's radiance likewise, from the cubics of two turbidities in one segment."""
    t, albedo, elevation = inputs = [leaf(f"sky.{name}") for name in INPUTS]
    floor, start = leaf("sky.floor"), leaf("sky.start")
    points = {(i, k): leaf(f"sky.cubic{i}{k}") for i in range(2) for k in range(4)}
    x = maximum(elevation, LOWEST) * RADIANS - start
    value = constant(0.0)
    for (i, k), point in points.items():
        value = value + (t - floor if i else 1.0 - (t - floor)) * power(x, float(k)) * point
    return inputs, floor, start, points, value, _slopes(value, inputs)


def _slopes(value: Expr, inputs) -> list[Expr]:
    return [jvp([value], inputs, [1.0 if x is y else 0.0 for y in inputs])[0] for x in inputs]


def coefficients(turbidity: float, albedo: float, elevation: float) -> tuple[np.ndarray, np.ndarray]:
    """The model's numbers at each wavelength, (11, ROWS), and their derivatives by INPUTS, (3, 11, ROWS).

    turbidity: 1 to 10. albedo: 0 to 1, of the ground. elevation: degrees, 0 to 90. Where the turbidity is a whole
    number the derivative is that towards the next.
    """
    data = _data()
    low = int(np.clip(np.floor(turbidity), 1, 9))
    out, slopes = np.zeros((N, ROWS)), np.zeros((3, N, ROWS))

    inputs, floor, points, value, by = _curve()
    given = dict(zip(inputs, (turbidity, albedo, elevation))) | {floor: low}
    control = np.concatenate([data["shape"], data["radiance"][..., None]], -1)[low - 1 : low + 1]
    given |= {point: control[i, j, k] for (i, j, k), point in points.items()}
    found = evaluate([value, *by], given)
    out[:, :SKY], slopes[:, :, :SKY] = found[0], found[1:]

    inputs, floor, start, points, value, by = _sun()
    degrees = max(elevation, LOWEST)
    segment = min(int((degrees / 90.0) ** (1 / 3) * SEGMENTS), SEGMENTS - 1)
    given = dict(zip(inputs, (turbidity, albedo, elevation))) | {floor: low, start: pi / 2 * (segment / SEGMENTS) ** 3}
    given |= {point: data["sun"][low - 1 + i, segment, :, k] for (i, k), point in points.items()}
    found = evaluate([value, *by], given)
    out[:, SKY:], slopes[:, :, SKY:] = found[0][:, None] * data["limb"], np.array(found[1:])[:, :, None] * data["limb"]
    return out, slopes


# -- the graphs in a direction ------------------------------------------------------------------------------------


def sun_direction(elevation, azimuth) -> Expr:
    """Unit vector to the sun, +y up: azimuth in degrees from -z (north) towards +x (east)."""
    e, a = elevation * RADIANS, azimuth * RADIANS
    return vec3(cos(e) * sin(a), sin(e), -(cos(e) * cos(a)))


def place(d, sun, diameter) -> tuple:
    """What both radiances need of direction d: (height, cosine and angle from the sun, cosine on the disc, sun's factor).

    The factor is 0 off the disc and below the horizon, and keeps the sun's irradiance for another diameter than the
    published one. The cosine on the disc has no derivative by the sun's direction: a place on the disc keeps its
    radiance as the sun moves, which is the derivative for light that rides with it.
    """
    normal = cross(d, sun)
    square, along = dot(normal, normal), dot(d, sun)
    gamma = atan2(safe_sqrt(square), along)
    sine, quarter = sin(diameter * (0.5 * RADIANS)), sin(diameter * (0.25 * RADIANS))
    mu = safe_sqrt(1.0 - stop_gradient(square) / (sine * sine))
    # By the chord between the two unit vectors, which f32 resolves where a cosine does not.
    chord = d - stop_gradient(sun)
    shines = (dot(chord, chord) < 4.0 * quarter * quarter) & (d.y > 0.0)
    factor = select(shines, np.sin(SUN_DIAMETER * 0.25 * RADIANS) ** 2 / (quarter * quarter), 0.0)
    return d.y, along, gamma, mu, factor


def sky_radiance(rows, height, along, gamma) -> Expr:
    """The sky at one table wavelength; rows: its SKY coefficients. 0 below the horizon."""
    a, b, c, d, e, f, g, i, h, mean = rows  # the published order
    up = maximum(height, 0.0)
    q = 1.0 + h * h - 2.0 * h * along
    chi = (1.0 + along * along) / (q * safe_sqrt(q))
    glow = 1.0 + a * exp(b / (up + 0.01))
    value = mean * glow * (c + d * exp(e * gamma) + f * (along * along) + g * chi + i * safe_sqrt(up))
    return select(height > 0.0, maximum(value, 0.0), 0.0)


def sun_radiance(rows, mu) -> Expr:
    """The sun's disc at one table wavelength, mu the cosine on it; rows: its LIMB coefficients."""
    value = rows[-1]
    for row in reversed(rows[:-1]):
        value = value * mu + row
    return maximum(value, 0.0)


def ride(d, elevation, azimuth) -> Expr:
    """d itself, with the derivative of a direction that moves with the sun as if fixed to its disc."""
    out = constant([0.0, 0.0, 0.0])
    here, there = (_frame(e, a) for e, a in ((stop_gradient(elevation), stop_gradient(azimuth)), (elevation, azimuth)))
    for then, now in zip(here, there):
        out = out + now * dot(d, then)
    return out


def _frame(elevation, azimuth) -> tuple[Expr, Expr, Expr]:
    """The sun's direction, a horizontal one, and the third."""
    a = azimuth * RADIANS
    sun, level = sun_direction(elevation, azimuth), vec3(cos(a), 0.0, sin(a))
    return sun, level, cross(level, sun)


# -- NumPy --------------------------------------------------------------------------------------------------------


@cache
def _radiance() -> tuple:
    d, sun, diameter = leaf("d", (3,)), leaf("sun", (3,)), leaf("diameter")
    rows = [leaf(f"row{i}") for i in range(ROWS)]
    height, along, gamma, mu, factor = place(d, sun, diameter)
    sky, disc = sky_radiance(rows[:SKY], height, along, gamma), sun_radiance(rows[SKY:], mu) * factor
    return d, sun, diameter, rows, sky, disc


def radiance(
    directions: np.ndarray, turbidity: float, albedo: float, elevation: float, azimuth: float = 0.0,
    diameter: float = SUN_DIAMETER,
) -> tuple[np.ndarray, np.ndarray]:  # fmt: skip
    """(sky, sun) at the eleven wavelengths, (n, 11) each, towards unit directions (n, 3), +y up."""
    table, _ = coefficients(turbidity, albedo, elevation)
    e, a = leaf("e"), leaf("a")
    (towards,) = evaluate([sun_direction(e, a)], {e: elevation, a: azimuth})
    d, sun, size, rows, sky, disc = _radiance()
    given = {d: np.asarray(directions, np.float64)[:, None, :], sun: towards, size: diameter}
    given |= {row: table[None, :, i] for i, row in enumerate(rows)}
    return tuple(evaluate([sky, disc], given))


def at(values: np.ndarray, lambdas) -> np.ndarray:
    """Values (..., 11) of the table's wavelengths, linear in between, held beyond them: (..., m)."""
    x = np.clip((np.asarray(lambdas, np.float64) - FIRST) / STEP, 0.0, N - 1.0)
    i = np.minimum(x.astype(int), N - 2)
    t = x - i
    return values[..., i] * (1 - t) + values[..., i + 1] * t
