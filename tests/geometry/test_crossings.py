"""Segments in which triangles cross, against what is known."""

import time

import numpy as np
import pytest
import trimesh

from irys_ti.device.crossings import crossing_segments

UP = np.array([[[-1, -1, 0], [1, -1, 0], [0, 2, 0]]], float)


def test_two_triangles():
    standing = np.array([[[0, 0, -1], [0, 0, 1], [0, 5, 0]]], float)
    i, j, ends = crossing_segments(UP, standing)
    assert i.tolist() == j.tolist() == [0]
    np.testing.assert_allclose(np.sort(ends[0, :, 1]), [0, 2], atol=1e-12)  # from its foot to the other's tip
    np.testing.assert_allclose(ends[0][:, [0, 2]], 0, atol=1e-12)


@pytest.mark.parametrize("other", [UP + [0, 0, 1], UP, UP + [0.5, 0, 0], UP + [9, 0, 0], UP[:, :, [0, 2, 1]] + [0, 0, -2]])
def test_parallel_coplanar_apart_or_touching(other):
    assert len(crossing_segments(UP, other)[0]) == 0


def test_a_ball_through_a_plate():
    """The circle in which they cross: its length and its points."""
    ball = trimesh.creation.icosphere(5, 1.0)
    plate = trimesh.creation.box((4, 4, 0.2))
    _, _, ends = crossing_segments(ball.triangles, plate.triangles)
    radius = np.sqrt(1 - 0.1**2)
    length = np.linalg.norm(ends[:, 1] - ends[:, 0], axis=1).sum()
    assert length == pytest.approx(4 * np.pi * radius, rel=2e-3)  # above and below
    assert np.abs(np.linalg.norm(ends[..., :2], axis=-1) - radius).max() < 2e-3
    assert np.abs(np.abs(ends[..., 2]) - 0.1).max() < 1e-12


def test_in_time():
    """Two balls of 80,000 triangles each, in a second."""
    ball = trimesh.creation.icosphere(6, 1.0).triangles
    began = time.process_time()
    _, _, ends = crossing_segments(ball, ball + [0.7, 0.2, 0.1])
    assert len(ends) > 500 and time.process_time() - began < 1.0
