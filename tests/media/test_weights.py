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
