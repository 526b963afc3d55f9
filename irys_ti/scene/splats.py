"""Sets of Gaussian splats."""

from __future__ import annotations

from collections.abc import MutableMapping
from dataclasses import dataclass, field

import numpy as np

from .shapes import Shape

ARRAYS = {"position": (3,), "scale": (3,), "rotation": (4,), "opacity": (), "albedo": (3,)}
PHASES = ("isotropic", "diffuse")


@dataclass(eq=False)
class Splats(Shape):
    """n anisotropic Gaussians that a path meets by chance (docs/design/splats.md).

    position: (n, 3). scale: (n, 3) standard deviations along the splat's own axes, above 0. rotation: (n, 4)
    quaternions (w, x, y, z) of any length. opacity: (n,), in [0, 1]: a ray through a centre meets its splat with
    this probability. albedo: (n, 3) in [0, 1], linear sRGB: the weights of three spectra that sum to 1
    (spectral/primaries.py). opacity, scale and albedo may be one number for all, scale and albedo one for each splat.
    phase: "isotropic" scatters evenly into all directions; "diffuse" is a Lambertian sheet across the shortest axis,
    turned to the side it is met from. A set needs no material: its phase is its material.
    sh: None for scatterers. (n, 1, 4, 9 or 16, 3) coefficients of spherical harmonics make it emissive: the colour
    max(0, 1/2 + sum of coefficients times harmonics) towards the viewer, and no scattering. encoded: whether those
    colours are display values (sRGB's curve), as captures have them, or linear.
    """

    position: np.ndarray = field(default_factory=lambda: np.zeros((0, 3)))
    scale: np.ndarray | float = 1.0
    rotation: np.ndarray | None = None
    opacity: np.ndarray | float = 0.5
    albedo: np.ndarray | float = 0.5
    phase: str = "isotropic"
    sh: np.ndarray | None = None
    encoded: bool = True
    kind: str = "splats"

    def __post_init__(self):
        self.position = np.atleast_2d(np.asarray(self.position, np.float64))
        n = len(self.position)
        if self.rotation is None:
            self.rotation = np.tile([1.0, 0.0, 0.0, 0.0], (n, 1))
        for name, shape in ARRAYS.items():
            value = np.asarray(getattr(self, name), np.float64)
            if shape == (3,) and value.shape == (n,) and n != 3:
                value = value[:, None]
            if value.size == 1 or (value.shape == (n, 1) and shape == (3,)) or value.shape == shape:
                value = np.broadcast_to(value if value.size > 1 else value.reshape(()), (n, *shape))
            setattr(self, name, np.array(value))

    def __len__(self) -> int:
        return len(self.position)

    @property
    def values(self) -> MutableMapping:
        """The arrays by name, live: what parameter paths ``<id>.<name>`` read and write."""
        return _Arrays(self)


class _Arrays(MutableMapping):
    """A splat set's arrays as the values of an owner of parameters."""

    def __init__(self, shape: Splats):
        self._shape = shape

    def __getitem__(self, name: str) -> np.ndarray:
        if name not in ARRAYS:
            raise KeyError(name)
        return getattr(self._shape, name)

    def __setitem__(self, name: str, value) -> None:
        if name not in ARRAYS:
            raise KeyError(name)
        setattr(self._shape, name, value)

    def __delitem__(self, name: str) -> None:
        raise TypeError("a splat set keeps its arrays")

    def __iter__(self):
        return iter(ARRAYS)

    def __len__(self) -> int:
        return len(ARRAYS)


def relight(scene):
    """Turn the emissive splat sets of a scene (or one Splats) into scatterers of their mean baked colour, in place.

    The harmonics' constant term, made linear and kept within [0, 1], becomes the albedo: what light the capture had
    stays in it, as no single capture tells colour and light apart. Returns its argument.
    """
    for shape in [scene] if isinstance(scene, Splats) else scene.shapes:
        if isinstance(shape, Splats) and shape.sh is not None:
            shape.albedo = np.clip(base_colour(shape), 0.0, 1.0)
            shape.sh = None
    return scene


def base_colour(shape: Splats) -> np.ndarray:
    """(n, 3) linear sRGB of the harmonics' constant term."""
    colour = np.maximum(0.5 + 0.28209479177387814 * np.asarray(shape.sh, np.float64)[:, 0], 0.0)
    return to_linear(colour) if shape.encoded else colour


def to_linear(x: np.ndarray) -> np.ndarray:
    """Display values to linear (IEC 61966-2-1), continued above 1."""
    return np.where(x <= 0.04045, x / 12.92, ((np.maximum(x, 0.0) + 0.055) / 1.055) ** 2.4)


def to_display(x: np.ndarray) -> np.ndarray:
    """The inverse of ``to_linear``."""
    return np.where(x <= 0.0031308, 12.92 * x, 1.055 * np.maximum(x, 1e-9) ** (1 / 2.4) - 0.055)
