"""Spectra and textures as a scene file gives them: plain arrays, no sampling."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

LAMBDA_MIN, LAMBDA_MAX = 360.0, 830.0  # nm, the range that is rendered


@dataclass
class Spectrum:
    """A spectrum over wavelength.

    kind: "constant" (one value at all wavelengths), "points" (linear between the points, zero outside
    the first and last, or with ``extend`` as they are), "rgb" (the smooth spectrum of a linear sRGB colour,
    Jakob and Hanika 2019; ``illuminant`` multiplies it by CIE D65 scaled to luminance 1, which is what a
    light's colour means).
    values: (1,), (n,) or (3,) float64. wavelengths: (n,) nm, increasing, for "points".
    """

    kind: str
    values: np.ndarray
    wavelengths: np.ndarray | None = None
    illuminant: bool = False
    extend: bool = False

    def __post_init__(self):
        self.values = np.atleast_1d(np.asarray(self.values, np.float64)).copy()
        if self.kind == "points":
            self.wavelengths = np.asarray(self.wavelengths, np.float64).copy()


def constant(value: float) -> Spectrum:
    """The same value at every wavelength."""
    return Spectrum("constant", [value])


def points(wavelengths, values, extend: bool = False) -> Spectrum:
    """Linear between the points (nm); outside them zero, or with ``extend`` the nearest point's value."""
    return Spectrum("points", values, wavelengths, extend=extend)


def rgb(r: float, g: float, b: float, illuminant: bool = False) -> Spectrum:
    """The smooth spectrum of a linear sRGB colour."""
    return Spectrum("rgb", [r, g, b], illuminant=illuminant)


@dataclass
class Texture:
    """An image that drives a parameter.

    pixels: (h, w, c) float, c = 1 (a scalar or a flat spectrum) or 3 (linear sRGB); row 0 is the top of
    the image, which is v = 1. filter: "bilinear" or "nearest". wrap: "repeat", "clamp" or "mirror".
    to_uv: (3, 3) transform applied to the surface's uv. illuminant: whether a light's colours are lit by D65, as an
    rgb light's are; on a surface they never are.
    """

    pixels: np.ndarray
    filter: str = "bilinear"
    wrap: str = "repeat"
    to_uv: np.ndarray = field(default_factory=lambda: np.eye(3))
    source: str = ""
    illuminant: bool = True


Value = float | Spectrum | Texture
