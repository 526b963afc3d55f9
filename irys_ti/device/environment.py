"""What lights keep in the pool beside their parameters: tables to sample from, the sky model's numbers, angles."""

from __future__ import annotations

import numpy as np

from irys_ti.kernels.light import sky
from irys_ti.scene import Light, Texture
from irys_ti.scene.transform import rotate
from irys_ti.spectral import skymodel
from irys_ti.spectral.cie import integrate_product, wavelengths, xyz, y_integral

SKY_WIDTH, SKY_HEIGHT = 64, 64  # cells of the sky's table, the lower half of them empty
SPLIT = 3  # points each way at which the model is evaluated in a cell
BLACK = 0.05  # share of a map's samples that ignores its brightness, so that a black texel has a derivative too
LEAST, MOST = 0.1, 0.75  # bounds on the share of samples that the sun gets of its light's


def pixels(light: Light) -> np.ndarray:
    """An environment's pixels; one pixel where it has no texture."""
    value = light.values.get("radiance")
    return np.asarray(value.pixels, np.float64) if isinstance(value, Texture) else np.ones((1, 1, 1))


def size(light: Light) -> tuple[int, int, int]:
    """(numbers that a light keeps after to_local, width and height of its table)."""
    if light.kind == "envmap":
        height, width = pixels(light).shape[:2]
        return height + 1 + height * (width + 1), width, height
    if light.kind == "sky":
        return sky.DATA_CELLS + SKY_HEIGHT + 1 + SKY_HEIGHT * (SKY_WIDTH + 1), SKY_WIDTH, SKY_HEIGHT
    if light.kind == "ies":
        vertical, horizontal = light.angles
        return len(vertical) + len(horizontal), len(horizontal), len(vertical)
    return 0, 0, 0


def orientation(light: Light, values: dict) -> np.ndarray:
    """to_local, (3, 4) row-major: a map's rotation about its up axis included."""
    m = light.placed()
    if light.kind == "envmap" and values["rotation"]:
        m = m @ rotate([0, 1, 0], -float(values["rotation"]))
    return np.linalg.inv(m)[:3].reshape(-1)


def of_map(light: Light) -> np.ndarray:
    """The sampling table of an environment map."""
    image = pixels(light)
    h = len(image)
    weight = cell_means(image.mean(2))
    weight = weight + BLACK * max(weight.mean(), 1e-12) * np.sin(np.pi * (np.arange(h) + 0.5) / h)[:, None]
    return cumulative(weight)


def of_sky(values: dict) -> tuple[np.ndarray, tuple[float, float], float]:
    """(numbers kept, (irradiance of the sky, of the sun) weighted by luminance, the sky's largest radiance).

    The sky's is summed over all directions, the sun's is that of a plane that faces it.
    """
    elevation, azimuth = float(values["sun_elevation"]), float(values["sun_azimuth"])
    args = float(values["turbidity"]), float(values["albedo"]), elevation
    table, slopes = skymodel.coefficients(*args)
    e, a = np.deg2rad([elevation, azimuth])
    sun = np.array([np.cos(e) * np.sin(a), np.sin(e), -np.cos(e) * np.cos(a)])
    cap = 2 * np.sin(np.deg2rad(values["sun_aperture"]) / 4) ** 2

    n = SPLIT
    theta = np.pi * (np.arange(SKY_HEIGHT // 2 * n) + 0.5) / (SKY_HEIGHT * n)
    phi = 2 * np.pi * (np.arange(SKY_WIDTH * n) + 0.5) / (SKY_WIDTH * n)
    theta, phi = np.meshgrid(theta, phi, indexing="ij")
    d = np.stack([np.sin(theta) * np.sin(phi), np.cos(theta), -np.sin(theta) * np.cos(phi)], -1)
    seen, _ = skymodel.radiance(d.reshape(-1, 3), *args, azimuth)
    bright = (seen @ luminance()).reshape(theta.shape)
    cells = (bright * np.sin(theta)).reshape(SKY_HEIGHT // 2, n, SKY_WIDTH, n).mean((1, 3))
    weight = np.zeros((SKY_HEIGHT, SKY_WIDTH))
    weight[: SKY_HEIGHT // 2] = cells + 1e-3 * cells.mean()
    disc = luminance() @ (table[:, skymodel.SKY :] @ (2.0 / (np.arange(skymodel.LIMB) + 2.0)))  # mean over the disc
    power = float(cells.mean() * np.pi**2), float(disc * 2 * np.pi * (1 - np.cos(np.deg2rad(skymodel.SUN_DIAMETER / 2))))
    return np.r_[sun, cap, table.reshape(-1), slopes.reshape(-1), cumulative(weight)], power, float(bright.max())


def luminance() -> np.ndarray:
    """(11,) what each of the model's wavelengths adds to luminance."""
    hats = skymodel.at(np.eye(skymodel.N), wavelengths())
    return integrate_product(hats, xyz()[:, 1] / y_integral())


def cumulative(weight: np.ndarray) -> np.ndarray:
    """The table that kernels/light/table.py draws from, for cells (h, w) of these weights."""
    h, w = weight.shape
    rows = np.r_[0.0, np.cumsum(weight.sum(1))]
    cells = np.c_[np.zeros(h), np.cumsum(weight, 1)]
    last = np.where(cells[:, -1:] > 0, cells[:, -1:], 1.0)
    return np.r_[rows / rows[-1], (cells / last).reshape(-1)]


def cell_means(pixels: np.ndarray) -> np.ndarray:
    """Mean of the interpolated image (h, w) times sin(theta) over each of h by w equal cells of the sphere's map.

    Texels are centred in their columns; rows lie at the ends of the cells' range (kernels/light/envmap.py).
    """
    h, parts = len(pixels), 8
    theta = (np.arange(h * parts) + 0.5) / (h * parts)
    y = theta * (h - 1)
    low = np.minimum(y.astype(int), max(h - 2, 0))
    rows = np.zeros((h * parts, h))
    at = np.arange(h * parts)
    np.add.at(rows, (at, low), 1 - (y - low))
    np.add.at(rows, (at, np.minimum(low + 1, h - 1)), y - low)
    rows = (rows * np.sin(np.pi * theta)[:, None]).reshape(h, parts, h).mean(1)
    across = 0.75 * pixels + 0.125 * (np.roll(pixels, 1, 1) + np.roll(pixels, -1, 1))
    return rows @ across
