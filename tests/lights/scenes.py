"""A floor under one light, seen from above, and what the sky model says of it by quadrature."""

from __future__ import annotations

import numpy as np
from numpy.polynomial.legendre import leggauss

from irys_ti.scene import Camera, Film, Integrator, Light, Material, Scene, rectangle
from irys_ti.scene.transform import look_at, rotate, scale
from irys_ti.spectral import skymodel
from irys_ti.spectral.cie import response

NOON = {"turbidity": 3.5, "albedo": 0.3, "sun_elevation": 40.0, "sun_azimuth": 30.0}


def floor(*lights: Light, resolution: int = 8, at=(0.0, 0.0), fov: float = 1.0, depth: int = 2) -> Scene:
    """A white floor in y = 0 seen at one place from 1 above it: radiance = irradiance / pi."""
    x, z = at
    return Scene(
        camera=Camera(look_at([x, 1, z], [x, 0, z], [0, 0, 1]), fov, film=Film(resolution, resolution)),
        materials=[Material("white", "diffuse", {"reflectance": 1.0})],
        shapes=[rectangle(rotate([1, 0, 0], -90) @ scale(9), id="ground", material="white")],
        lights=list(lights),
        integrator=Integrator(depth, 100),
    )  # fmt: skip


def gloss(**sky) -> Scene:
    """A tilted glossy plane under a turned sky: no shadows, so that the sun's direction has its whole derivative."""
    light = Light("sky", "sky", sky, to_world=rotate([0, 1, 0], 20) @ rotate([1, 0, 0], 5))
    return Scene(
        camera=Camera(look_at([0, 8, 3], [0, 0, 0], [0, 0, 1]), 8.0, film=Film(8, 8)),
        materials=[Material("gloss", "roughconductor", {"alpha": 0.3})],
        shapes=[rectangle(rotate([1, 0, 0], -70) @ scale(5), id="ground", material="gloss")],
        lights=[light],
        integrator=Integrator(3, 100),
    )


def irradiance(turbidity, albedo, sun_elevation, sun_azimuth) -> tuple[np.ndarray, np.ndarray]:
    """Linear sRGB irradiance of a horizontal plane by (sky, sun): Gauss points in height, even ones around."""
    x, w = leggauss(200)
    height, weight = (x + 1) / 2, w / 2
    phi = 2 * np.pi * (np.arange(360) + 0.5) / 360
    y, a = np.meshgrid(height, phi, indexing="ij")
    s = np.sqrt(1 - y * y)
    d = np.stack([s * np.sin(a), y, -s * np.cos(a)], -1).reshape(-1, 3)
    sky, _ = skymodel.radiance(d, turbidity, albedo, sun_elevation, sun_azimuth)
    by_height = sky.reshape(len(x), len(phi), -1).mean(1)
    sky = 2 * np.pi * (by_height * (height * weight)[:, None]).sum(0)

    table, _ = skymodel.coefficients(turbidity, albedo, sun_elevation)
    size = np.deg2rad(skymodel.SUN_DIAMETER / 2)
    angle, weight = height * size, weight * size
    mu = np.sqrt(1 - (np.sin(angle) / np.sin(size)) ** 2)
    disc = np.stack([mu**k for k in range(skymodel.LIMB)], -1) @ table[:, skymodel.SKY :].T
    # The mean over a circle around the sun of the cosine to the zenith is cos(angle) sin(elevation).
    sun = 2 * np.pi * (disc * (np.sin(angle) * np.cos(angle) * weight)[:, None]).sum(0) * np.sin(np.deg2rad(sun_elevation))
    return to_rgb(sky), to_rgb(sun)


def to_rgb(values: np.ndarray) -> np.ndarray:
    """Linear sRGB of the model's eleven wavelengths, by fine steps."""
    lambdas = np.linspace(360, 830, 4701)
    seen = [np.interp(lambdas, np.arange(360, 831, 5), r) for r in response()]
    return np.trapezoid(skymodel.at(values, lambdas) * seen, lambdas)
