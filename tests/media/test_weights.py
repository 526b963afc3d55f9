"""The weights of a path that scatters ten thousand times in a coloured medium of albedo 1."""

import numpy as np
import pytest

from irys_ti import runtime
from irys_ti.device.compile import compiled
from irys_ti.kernels.config import PRIMAL
from irys_ti.kernels.layout import H_MEDIA
from irys_ti.kernels.media_walk import walk_media
from irys_ti.kernels.rng import combine, mix, unit
from irys_ti.runtime import ti
from irys_ti.spectral.cie import response
from tests.helpers.media import foggy_room, smoke


@ti.kernel
def scatter(
    reals: ti.types.ndarray(ndim=1), ints: ti.types.ndarray(ndim=1), acc: ti.types.ndarray(ndim=1),
    out: ti.types.ndarray(ndim=1), n_lanes: int, steps: int, length: float, config: ti.template(),
):  # fmt: skip
    """Throughput of each lane's four wavelengths after so many pieces, of which most end in a scattering; their number."""
    for lane in range(n_lanes):
        T, zeros, scatterings = ti.Vector([1.0, 1.0, 1.0, 1.0]), ti.Vector([0, 0, 0, 0]), 0
        none = ti.Vector([0.0, 0.0, 0.0, 0.0])
        sigma = ti.Vector([0.5, 1.0, 2.0, 4.0])
        o, d = ti.Vector([-0.69, 0.11, -0.69]), ti.Vector([0.577, 0.577, 0.577])
        for step in range(steps):
            h = combine(ti.cast(lane, ti.u32), ti.cast(step, ti.u32))
            u = ti.Vector([unit(mix(h)), unit(mix(h ^ ti.u32(77)))])
            t, F, own, E, g, k, m, _ = walk_media(
                reals, ints, acc, reals, ints[H_MEDIA], o, d, length, h, u, T, zeros, 0, sigma, none, none, none, none, none, 0,
                config, False,
            )  # fmt: skip
            T *= F
            scatterings += ti.select(t >= 0.0, 1, 0)
        for j in ti.static(range(4)):
            out[5 * lane + j] = T[j]
        out[5 * lane + 4] = ti.cast(scatterings, float)


@pytest.mark.parametrize("kind", ["homogeneous", "grid"])
def test_no_weight_runs_away(kind, f32):
    """The four weights' mean stays 1, so that none outgrows 4."""
    scene = foggy_room() if kind == "homogeneous" else smoke(1.0 + np.indices((8, 8, 8)).sum(0) % 3.0)
    device = compiled(scene)
    device.set_channels(response())
    lanes, steps = 512, 10000
    out = runtime.zeros(5 * lanes)
    length = 1e30 if kind == "homogeneous" else 2.4
    scatter(device.reals, device.ints, runtime.zeros(8, np.uint32), out, lanes, steps, length, device.config(PRIMAL))
    found = out.to_numpy().reshape(lanes, 5)
    assert found[:, 4].min() >= 0.5 * steps
    assert np.abs(found[:, :4].mean(1) - 1).max() < 3e-3
    assert np.isfinite(found).all() and found[:, :4].max() <= 4.02 and found.min() >= 0.0


@ti.kernel
def first_piece(
    reals: ti.types.ndarray(ndim=1), ints: ti.types.ndarray(ndim=1), acc: ti.types.ndarray(ndim=1),
    out: ti.types.ndarray(ndim=1), first: float, config: ti.template(),
):  # fmt: skip
    """Where a piece through all of a grid scatters, and its first weight, by the draw that gives its optical depth."""
    for lane in range(1):
        none, one = ti.Vector([0.0, 0.0, 0.0, 0.0]), ti.Vector([1.0, 1.0, 1.0, 1.0])
        o, d = ti.Vector([-0.69, 0.11, -0.69]), ti.Vector([0.577, 0.577, 0.577])
        t, F, own, E, g, k, m, _ = walk_media(
            reals, ints, acc, reals, ints[H_MEDIA], o, d, 2.4, ti.u32(7 + lane), ti.Vector([first, 0.5]), one,
            ti.Vector([0, 0, 0, 0]), 0, one, none, none, none, none, none, 0, config, False,
        )  # fmt: skip
        out[0], out[1] = t, F[0]


def test_an_optical_depth_of_zero_is_met_where_there_is_something(f32):
    """A draw of exactly 0 comes once in 16 million, and often in an empty cell, where it has nothing to meet."""
    density = np.zeros((24, 24, 24))
    density[12:, 12:, 12:] = 50.0  # the ray begins cells away from it
    device = compiled(smoke(density))
    device.set_channels(response())
    out = runtime.zeros(2)
    first_piece(device.reals, device.ints, runtime.zeros(8, np.uint32), out, 0.0, device.config(PRIMAL))
    t, weight = out.to_numpy()
    assert t > 0.3 and np.isfinite(weight)
