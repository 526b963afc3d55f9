"""The test that a CPU's leaves make of eight splats at once leaves out none that a ray may meet."""

import numpy as np
import pytest

from irys_ti import runtime
from irys_ti.kernels.geometry import pack, splats
from irys_ti.kernels.geometry.splats import crossing, may_meet
from irys_ti.runtime import ti

LANES = 8


@ti.kernel
def both(
    reals: ti.types.ndarray(ndim=1), blocks: ti.types.ndarray(ndim=1), rays: ti.types.ndarray(ndim=1),
    out: ti.types.ndarray(ndim=1), n: int, t_max: float,
):  # fmt: skip
    for i in range(n):
        o = ti.Vector([rays[6 * i], rays[6 * i + 1], rays[6 * i + 2]])
        d = ti.Vector([rays[6 * i + 3], rays[6 * i + 4], rays[6 * i + 5]])
        response, t_star, half = crossing(reals, i * splats.STRIDE, o, d)
        met = response > 0.0 and t_star + half > 0.0 and t_star - half < t_max
        maybe = may_meet(blocks, (i // LANES) * 9 * LANES, i - (i // LANES) * LANES, LANES, o, d, t_max)
        out[2 * i], out[2 * i + 1] = ti.select(met, 1.0, 0.0), ti.select(maybe, 1.0, 0.0)


def cases(n: int, stretch: float, away: float, rng):
    """Splats, and rays that pass them at 3.4 to 4.1 standard deviations or start or end beside them; (fields, rays)."""
    scale = 0.1 * stretch ** -rng.random((n, 3))
    values = {"position": rng.normal(size=(n, 3)), "scale": scale, "rotation": rng.normal(size=(n, 4)), "opacity": np.full(n, 0.5)}
    fields = splats.fields(values, False)
    turn, unit = splats.matrices(values["rotation"]), rng.normal(size=(n, 2, 3))
    unit /= np.linalg.norm(unit, axis=2, keepdims=True)
    foot = unit[:, 0] * rng.uniform(3.4, 4.1, (n, 1))
    along = np.cross(unit[:, 0], unit[:, 1])
    d = np.einsum("nij,nj->ni", turn, scale * along)
    d *= rng.uniform(0.5, 2, (n, 1)) / np.linalg.norm(d, axis=1, keepdims=True)
    p = values["position"] + np.einsum("nij,nj->ni", turn, scale * foot)
    return fields, np.c_[p - d * away * rng.uniform(-0.2, 1, (n, 1)), d]


@pytest.mark.parametrize("stretch, away, misses", [(1, 1, 0.8), (30, 5, 0.8), (1e4, 5, 0.4), (30, 1e3, 0.3)])
def test_none_is_left_out(f32, stretch, away, misses):
    """misses: the share of what is not met that the test sees; rounding leaves less of it for needles and from afar."""
    n = 40_000
    fields, rays = cases(n, stretch, away, np.random.default_rng(int(stretch + away)))
    lanes = splats.lane_numbers(fields).reshape(-1, LANES, 9).transpose(0, 2, 1)
    out = runtime.zeros(2 * n)
    for t_max in (1e30, 0.5 * away):
        arrays = (runtime.array(pack(splats, fields)), runtime.array(lanes.reshape(-1)), runtime.array(rays.reshape(-1)))
        both(*arrays, out, n, t_max)
        met, maybe = out.to_numpy().reshape(n, 2).T > 0
        assert 0.02 * n < met.sum() < 0.98 * n
        assert not (met & ~maybe).any()
        assert (~maybe)[~met].mean() >= misses
