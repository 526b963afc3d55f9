"""The camera and its film."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from .pose import rotation_matrix


@dataclass
class Film:
    """Image size and reconstruction filter.

    width, height: pixels of the full image. crop: (x, y, width, height) of the part that is rendered.
    filter: "box", "tent" or "gaussian", sampled per path rather than splatted; radius in pixels
    (box 0.5, tent 1, gaussian cut at 2 with standard deviation 0.5).
    """

    width: int = 256
    height: int = 256
    filter: str = "box"
    crop: tuple[int, int, int, int] | None = None

    @property
    def window(self) -> tuple[int, int, int, int]:
        """(x, y, width, height) of what is rendered."""
        return self.crop or (0, 0, self.width, self.height)


@dataclass
class Camera:
    """A perspective pinhole camera that looks along its +z axis (transform.look_at).

    to_world: (4, 4), rigid. fov: degrees along ``fov_axis`` ("x", "y", "smaller", "larger", "diagonal").
    principal_point: offset of the optical axis, in fractions of the film's width and height.
    near_clip: rays start at this depth along the optical axis.
    rotation: (3,) axis times radians, in the world, about the eye; turns the camera away from ``to_world``.
    """

    to_world: np.ndarray = field(default_factory=lambda: np.eye(4))
    fov: float = 45.0
    fov_axis: str = "x"
    principal_point: tuple[float, float] = (0.0, 0.0)
    near_clip: float = 1e-2
    film: Film = field(default_factory=Film)
    rotation: np.ndarray = field(default_factory=lambda: np.zeros(3))

    def placed(self) -> np.ndarray:
        """(4, 4) camera to world, ``rotation`` included."""
        m = np.array(self.to_world, np.float64)
        if np.any(self.rotation):
            m[:3, :3] = rotation_matrix(self.rotation) @ m[:3, :3]
        return m

    def fov_x(self) -> float:
        """Field of view across the film's width, in degrees."""
        w, h = self.film.width, self.film.height
        axis = {"smaller": "x" if w < h else "y", "larger": "x" if w > h else "y"}.get(self.fov_axis, self.fov_axis)
        half = np.tan(np.deg2rad(self.fov) / 2)
        span = {"x": w, "y": h, "diagonal": np.hypot(w, h)}[axis]
        return float(np.rad2deg(2 * np.arctan(half * w / span)))
