"""Moving a camera about a point with the mouse."""

from __future__ import annotations

import numpy as np

from irys_ti.scene import Camera
from irys_ti.scene.transform import look_at

STEEP = np.deg2rad(89.0)


class Orbit:
    """A camera that circles ``target``. up: the axis that stays upright."""

    def __init__(self, camera: Camera, target, up=(0.0, 1.0, 0.0)):
        self.camera = camera
        self.up = np.asarray(up, np.float64) / np.linalg.norm(up)
        m = np.asarray(camera.to_world, np.float64)
        self.eye, forward = m[:3, 3].copy(), m[:3, 2]
        # Look where the camera looks: the point of its axis that is nearest to the target.
        reach = max(float((np.asarray(target, np.float64) - self.eye) @ forward), 1e-3 * np.linalg.norm(target - self.eye), 1e-6)
        self.target = self.eye + reach * forward
        self._home = self.eye.copy(), self.target.copy()

    def turn(self, dx: float, dy: float) -> None:
        """Circle the target: dx, dy in fractions of the window, one window's width being half a turn."""
        away = self.eye - self.target
        distance, sky = np.linalg.norm(away), self.up
        height = np.arcsin(np.clip(away @ sky / distance, -1.0, 1.0))
        flat = away - (away @ sky) * sky
        flat = flat / np.linalg.norm(flat) if np.linalg.norm(flat) > 1e-9 * distance else self._right()
        angle = -np.pi * dx
        side = np.cross(sky, flat)
        flat = np.cos(angle) * flat + np.sin(angle) * side
        height = np.clip(height - np.pi * dy, -STEEP, STEEP)
        self.eye = self.target + distance * (np.cos(height) * flat + np.sin(height) * sky)
        self._place()

    def shift(self, dx: float, dy: float) -> None:
        """Move eye and target sideways, so that what lies at the target follows the mouse."""
        width = 2.0 * np.linalg.norm(self.eye - self.target) * np.tan(np.deg2rad(self.camera.fov_x()) / 2)
        forward = (self.target - self.eye) / np.linalg.norm(self.target - self.eye)
        right = self._right()
        step = width * (-dx * right - dy * np.cross(right, forward))
        self.eye, self.target = self.eye + step, self.target + step
        self._place()

    def zoom(self, notches: float) -> None:
        """Come nearer (positive) or go away, a tenth of the distance a notch."""
        self.eye = self.target + (self.eye - self.target) * 0.9**notches
        self._place()

    def home(self) -> None:
        """Back to where it began."""
        self.eye, self.target = (x.copy() for x in self._home)
        self._place()

    def _right(self) -> np.ndarray:
        forward = self.target - self.eye
        right = np.cross(forward, self.up)
        length = np.linalg.norm(right)
        return right / length if length > 1e-9 else np.array([1.0, 0.0, 0.0])

    def _place(self) -> None:
        self.camera.to_world = look_at(self.eye, self.target, self.up)
