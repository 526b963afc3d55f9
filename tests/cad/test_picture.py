"""A picture's derivative by a dimension, against pictures of parts that were made anew at other dimensions."""

import numpy as np
import pytest

import irys_ti as it
from tests.helpers.statistics import assert_z, mean_and_error, z_scores
from tests.test_examples import load

SIZE, SEEDS = 20, range(5)


def weight_image() -> np.ndarray:
    y, x = np.mgrid[0:SIZE, 0:SIZE] / SIZE
    return np.stack([np.cos(5 * x + k) + np.sin(4 * y - k) for k in range(3)], -1) / SIZE**2


@pytest.mark.parametrize("dimension", ["bore_diameter", *(pytest.param(n, marks=pytest.mark.slow) for n in ("thickness", "bore_x"))])
def test_against_meshing_anew(dimension, f32):
    """Each end of the difference is a plate triangulated for itself: reverse mode knows the frozen mesh alone."""
    example, weight, h = load("bearing_plate"), weight_image(), 0.04

    def value(offset, seed):
        scene, _ = example.plate_scene({**example.TRUTH, dimension: example.TRUTH[dimension] + offset}, SIZE)
        return float((weight * it.render(scene, 1024, seed)).sum())

    fd = np.array([(value(h, seed) - value(-h, seed)) / (2 * h) for seed in SEEDS])
    scene, path = example.plate_scene(example.TRUTH, SIZE)[0], f"plate.{dimension}"
    found = [it.backward(scene, weight, 32, 50 + seed, [path], boundary_spp=1024)[path] for seed in SEEDS]
    mean, error = mean_and_error(fd)
    assert error < 0.05 * abs(mean) and mean_and_error(np.array(found))[1] < 0.06 * abs(mean)
    assert_z(np.array(found), mean, np.hypot(error, 0.005 * mean))
    inside = np.array([it.backward(scene, weight, 64, 50 + seed, [path], boundary="off")[path] for seed in SEEDS])
    assert abs(z_scores(inside, mean, error)) > 8


@pytest.mark.slow
def test_a_bore_is_found_to_a_thousandth(f32):
    """From one picture of 80 x 80 pixels; thickness and place are unknown too."""
    example = load("bearing_plate")
    target = it.render(example.plate_scene(example.TRUTH, 80)[0], 2048, 1000)
    scene, paths = example.plate_scene(example.START, 80)[0], [f"plate.{name}" for name in example.TRUTH]
    found = it.fit(scene, target, paths, 60, spp=(8, 96), lr=example.RATES, bounds=example.BOUNDS).values
    assert found["plate.bore_diameter"] == pytest.approx(example.TRUTH["bore_diameter"], rel=1e-3)
    assert found["plate.thickness"] == pytest.approx(example.TRUTH["thickness"], rel=5e-3)
