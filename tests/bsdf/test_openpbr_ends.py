"""OpenPBR's derivatives at the very ends of ranges: finite, and the one-sided difference quotient."""

import numpy as np
import pytest

from irys_ti import graph as g
from irys_ti.kernels.bsdf.openpbr import OF_INTERIOR
from tests.bsdf.cases import WI, model
from tests.bsdf.test_gradients import lit_pairs, random_params

N = 150
# What has no one-sided derivative there, or an infinite one, by the specification: such settings are kept away.
APART = {
    "specular_weight": {"thin_film_weight": 0.0, "transmission_weight": 0.0},  # the index takes its root
    "base_color": {"thin_film_weight": 0.0},  # a film mixes amplitudes, roots of the reflectance
    "base_weight": {"thin_film_weight": 0.0},
    "transmission_color": {"geometry_thin_walled": 0.0},  # c^x, x near 1: a quotient converges too slowly
}
# At full anisotropy the narrow alpha is at its floor: the derivative is 0, and quotients are noise.
FLOORS = {("specular_roughness_anisotropy", 1), ("coat_roughness_anisotropy", 1)}
# Of what fills the inside the surface has no derivative (test_openpbr_interior.py).
INNER = set(OF_INTERIOR) - {"subsurface_scatter_anisotropy"}
ENDS = [(k, end) for k, q in model("openpbr").params.items() if q.differentiable and k not in INNER for end in (0, 1)]


@pytest.mark.parametrize("name,end", ENDS)
def test_one_sided(name, end):
    m = model("openpbr")
    rng = np.random.default_rng(17 * end + len(name))
    q, (low, high) = m.params[name], m.range(name)
    p = random_params(m, rng, N)
    p |= {k: np.full(N, v) for k, v in APART.get(name, {}).items()}
    # Where colour stands under a root: not at a depth without a medium.
    p["transmission_depth"] = np.zeros(N)
    p[name] = np.full((N, *q.shape), high if end else low)
    pairs = lit_pairs(m, p, rng, N)
    if name == "transmission_weight":
        # A surface has an inside from the first bit of translucence on.
        pairs[WI][:, 2] = np.abs(pairs[WI][:, 2])
    values = m.values(p) | pairs
    leaf = m.leaves[name]
    (got,) = g.evaluate(g.vjp([m.eval], [1.0], [leaf]), values)
    got = got.reshape(N, -1).sum(1)
    assert np.isfinite(got).all()
    if (name, end) in FLOORS:
        assert (got == 0.0).all()
    if (name, end) in FLOORS or (name, end) == ("coat_color", 0):  # c^x again
        return
    sign, best = (-1.0 if end else 1.0), np.full(N, np.inf)

    def at(h):
        return g.evaluate([m.eval], values | {leaf: p[name] + sign * h})[0].sum(-1)

    start = at(0.0)
    for h in np.array([1e-4, 1e-6, 1e-10]) * (high - low):
        quotient = sign * (-3 * start + 4 * at(h) - at(2 * h)) / (2 * h)
        scale = np.abs(quotient) + np.abs(got) + 1e-5 * np.abs(start) + 1e-9
        best = np.minimum(best, np.abs(quotient - got) / scale)
    # A few directions lie at a kink of their own: the critical angle, or where the clamp of EON begins.
    assert np.quantile(best, 0.97) < 1e-3 and np.median(best) < 1e-4, np.sort(best)[-8:]
