"""Derivatives by place in scenes that nobody chose, against f64 finite differences; most fail without boundary terms."""

import numpy as np
import pytest

import irys_ti as it
from tests.helpers.random_stages import Moving, drawn, loss_weight
from tests.helpers.statistics import mean_and_error, z_scores

OWN = 0.004  # of the gradient: a central difference's own error, of the order of the step squared


def judge(moving: Moving, spp: int, boundary_spp: int, fd_spp: int, seeds: int) -> tuple[float, float, float, float]:
    """(z against finite differences, z without boundary terms, both standard errors as shares of the gradient).

    The gradient's size is that along the way the parameter moves, or along a typical one where this happens to be less.
    """
    scene, path, weight = moving.scene, moving.path, loss_weight(moving)
    params, ways, along = it.parameters(scene), moving.moves(), moving.along()
    start, way = params[path], np.tensordot(along, ways, 1)

    def value(x, seed):
        params[path] = x
        return float((weight * it.render(scene, fd_spp, seed)).sum())

    h = moving.step
    differences = np.array([value(start + h * way, s) - value(start - h * way, s) for s in range(seeds)]) / (2 * h)
    params[path] = start

    def gradients(boundary, n):
        x = [it.backward(scene, weight, spp, 50 + s, [path], boundary_spp=boundary_spp, boundary=boundary)[path] for s in range(n)]
        return np.reshape(x, (n, -1)) @ ways.reshape(len(ways), -1).T

    whole, inside = gradients("all", seeds), gradients("off", seeds) @ along
    found, (mean, error) = whole @ along, mean_and_error(whole @ along)
    size = max(np.linalg.norm(whole.mean(0)) / np.sqrt(len(along)), abs(mean))
    expected, fd_error = mean_and_error(differences)
    bar = np.hypot(fd_error, OWN * size)
    return float(z_scores(found, expected, bar)), float(z_scores(inside, expected, bar)), error / size, fd_error / size


@pytest.mark.slow
def test_twenty_scenes(f64, capsys):
    """No |z| over 4.5; in 15 of them the standard error is under 3 %; without boundary terms most fail."""
    rows = []
    for moving in drawn(20):
        rows.append(judge(moving, 384, 1536, 2048, 8))
        with capsys.disabled():
            print("z {:+.1f} without {:+.1f}, errors {:.3f} {:.3f}: ".format(*rows[-1]), moving)
    z, without, error, _ = np.array(rows).T
    assert np.abs(z).max() < 4.5
    assert (error < 0.03).sum() >= 15
    assert (np.abs(without) > 4.5).sum() > 10


def test_a_few_scenes(f64):
    """The same, with fewer samples: three scenes, each precise enough to tell."""
    rows = np.array([judge(moving, 64, 512, 512, 5) for moving in drawn(6, plain=True)[1::2]])
    z, without, error, fd_error = rows.T
    assert np.abs(z).max() < 4.5, rows
    assert max(error.max(), fd_error.max()) < 0.15, rows
    assert (np.abs(without) > 4.5).sum() >= 2, rows
