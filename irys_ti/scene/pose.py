"""Poses: how a shape, an instance or the camera stands away from where it was loaded.

A point p goes to origin + translation + scale * R(rotation) (p - origin); ``rotation`` is an axis times an angle in
radians. All zero (scale 1) means "as loaded", to the bit.
"""

from __future__ import annotations

import numpy as np


def cross_matrix(v) -> np.ndarray:
    """(3, 3) matrix of the cross product with v."""
    x, y, z = np.asarray(v, np.float64)
    return np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])


def rotation_matrix(v) -> np.ndarray:
    """(3, 3) rotation by |v| radians about v (Rodrigues' formula)."""
    angle, k = float(np.linalg.norm(v)), cross_matrix(v)
    a = np.sinc(angle / np.pi)  # sin(x) / x
    b = 0.5 * np.sinc(angle / (2 * np.pi)) ** 2  # (1 - cos(x)) / x^2
    return np.eye(3) + a * k + b * (k @ k)


def left_jacobian(v) -> np.ndarray:
    """(3, 3) J with angular velocity = J dv/dt, for R(v(t)) seen from the world."""
    angle, k = float(np.linalg.norm(v)), cross_matrix(v)
    b = 0.5 * np.sinc(angle / (2 * np.pi)) ** 2
    c = 1 / 6 - angle**2 / 120 if angle < 1e-2 else (angle - np.sin(angle)) / angle**3
    return np.eye(3) + b * k + c * (k @ k)


def pose_matrix(thing, origin) -> np.ndarray:
    """(4, 4) of something with ``translation``, ``rotation`` and ``scale``, about its origin."""
    origin = np.asarray(origin, np.float64)
    m = np.eye(4)
    m[:3, :3] = thing.scale * rotation_matrix(thing.rotation)
    m[:3, 3] = origin + np.asarray(thing.translation, np.float64) - m[:3, :3] @ origin
    return m


def is_posed(thing) -> bool:
    """Whether it stands anywhere but as loaded."""
    return bool(np.any(thing.translation) or np.any(thing.rotation) or thing.scale != 1.0)
