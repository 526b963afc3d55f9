"""4x4 transforms: column vectors, right-handed, angles in degrees as scene files give them."""

from __future__ import annotations

import numpy as np


def translate(x: float, y: float, z: float) -> np.ndarray:
    """(4, 4) translation."""
    m = np.eye(4)
    m[:3, 3] = x, y, z
    return m


def scale(x: float, y: float | None = None, z: float | None = None) -> np.ndarray:
    """(4, 4) scaling; one number scales all axes."""
    return np.diag([x, x if y is None else y, x if z is None else z, 1.0])


def rotate(axis, degrees: float) -> np.ndarray:
    """(4, 4) rotation about an axis through the origin (Rodrigues' formula)."""
    axis = np.asarray(axis, np.float64)
    x, y, z = axis / np.linalg.norm(axis)
    a = np.deg2rad(degrees)
    k = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    m = np.eye(4)
    m[:3, :3] = np.eye(3) + np.sin(a) * k + (1 - np.cos(a)) * (k @ k)
    return m


def look_at(origin, target, up) -> np.ndarray:
    """(4, 4) camera-to-world: the camera looks along its +z, +x is left and +y up, as Mitsuba has it."""
    origin, target, up = (np.asarray(v, np.float64) for v in (origin, target, up))
    forward = target - origin
    forward = forward / np.linalg.norm(forward)
    left = np.cross(up, forward)
    left = left / np.linalg.norm(left)
    m = np.eye(4)
    m[:3, 0], m[:3, 1], m[:3, 2], m[:3, 3] = left, np.cross(forward, left), forward, origin
    return m


def points_to(m: np.ndarray, p: np.ndarray) -> np.ndarray:
    """Transform (n, 3) points."""
    return p @ m[:3, :3].T + m[:3, 3]


def normals_to(m: np.ndarray, n: np.ndarray) -> np.ndarray:
    """Transform (n, 3) normals by the inverse transpose; not normalised."""
    return n @ np.linalg.inv(m[:3, :3])
