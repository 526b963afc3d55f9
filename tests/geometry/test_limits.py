"""What a mesh tends to: the gradient of a ball of triangles is that of the ball."""

import numpy as np
import pytest
import trimesh

import irys_ti as it
from irys_ti.scene import Mesh, Sphere
from tests.helpers.random_stages import weight_image
from tests.helpers.stage import stage
from tests.helpers.statistics import assert_z, mean_and_error

CENTER, RADIUS, PATHS = np.array([0.5, 0.75, 0.2]), 0.45, ["ball.translation", "ball.scale"]


def with_ball(subdivisions: int | None, smooth: bool = False):
    """The stage with a ball: analytic, or an icosphere with flat or smooth normals."""
    scene = stage("lamp", parts=["box"])
    if subdivisions is None:
        scene.shapes.append(Sphere(id="ball", material="red", center=CENTER, radius=RADIUS))
    else:
        ball = trimesh.creation.icosphere(subdivisions, 1.0)
        v, faces = np.asarray(ball.vertices), np.asarray(ball.faces, np.int32)
        normals = v.copy() if smooth else None
        scene.shapes.append(Mesh(id="ball", material="red", vertices=CENTER + RADIUS * v, faces=faces, normals=normals, origin=CENTER))
    return scene


def slopes(scene, spp, boundary_spp, seeds=6):
    """(seeds, 4): by translation and by the logarithm of the size."""
    found = [it.backward(scene, weight_image(5), spp, s, PATHS, boundary_spp=boundary_spp) for s in range(seeds)]
    return np.array([np.r_[g[PATHS[0]], g[PATHS[1]]] for g in found])


@pytest.mark.slow
@pytest.mark.parametrize("smooth", [False, True])
def test_a_ball_of_triangles_is_a_ball(smooth, f64):
    """Interior, outlines (in flat shading every edge is one) and shadows, on 1,280 triangles; on 20 it is another shape."""
    mean, error = mean_and_error(slopes(with_ball(None), 128, 512))
    size = np.abs(mean).max()
    fine = slopes(with_ball(3, smooth), 128, 1024)
    assert (np.hypot(error, mean_and_error(fine)[1]) < 0.04 * size).all()
    assert_z(fine, mean, np.hypot(error, 0.01 * size), 4.5)
    coarse = slopes(with_ball(0, smooth), 128, 512)
    with pytest.raises(AssertionError):
        assert_z(coarse, mean, np.hypot(error, 0.01 * size), 4.5)
