"""Every parameter of OpenPBR by itself: reverse mode against difference quotients of the f64 graph, to 1e-6.

At three random settings inside the ranges and at both ends of the parameter's range, for pairs of directions that the
lobes make. A difference quotient has the best of several steps, since a narrow lobe bends within a step that rounding
allows elsewhere.
"""

import numpy as np
import pytest

from irys_ti import graph as g
from irys_ti.kernels.bsdf.openpbr import OF_INTERIOR
from tests.bsdf.cases import WI, model
from tests.bsdf.test_gradients import lit_pairs, random_params

SETTINGS, PAIRS = 3, 24
# What fills the inside is in test_openpbr_interior.py.
INNER = set(OF_INTERIOR) - {"subsurface_scatter_anisotropy"}
PARAMETERS = [k for k, q in model("openpbr").params.items() if q.differentiable and k not in INNER]
# What has no one-sided derivative at an end, or an infinite one, by the specification: such settings are kept away.
APART = {
    "specular_weight": {"thin_film_weight": 0.0, "transmission_weight": 0.0},  # the index takes its root
    "base_color": {"thin_film_weight": 0.0},  # a film mixes amplitudes, roots of the reflectance
    "base_weight": {"thin_film_weight": 0.0},
}
# c^x at c = 0 with x below 1: infinite. Full anisotropy: alpha at its floor, derivative 0.
NO_QUOTIENT = {
    ("coat_color", "low"), ("transmission_color", "low"), ("specular_roughness_anisotropy", "high"),
    ("coat_roughness_anisotropy", "high"),
}  # fmt: skip
# The index takes the root of specular_weight, so that there a quotient converges as the root of its step.
ROUGH = {("specular_weight", "low"): 1e-3}
INSIDE = np.array([1.0, -8.0, 8.0, -1.0]) / 12.0, np.array([-2.0, -1.0, 1.0, 2.0])
ONE_SIDED = np.array([-25.0, 48.0, -36.0, 16.0, -3.0]) / 12.0, np.arange(5.0)


def rows(name: str, where: str):
    """(model, values, leaf, range) of SETTINGS settings of all parameters, PAIRS pairs of directions each."""
    m, rng = model("openpbr"), np.random.default_rng([len(name), PARAMETERS.index(name), len(where)])
    n = SETTINGS * PAIRS
    p = {k: np.repeat(v, PAIRS, axis=0) for k, v in random_params(m, rng, SETTINGS).items()}
    if where != "inside":
        p |= {k: np.full(n, v) for k, v in APART.get(name, {}).items()}
        p["transmission_depth"] = np.zeros(n)
        q, (low, high) = m.params[name], m.range(name)
        p[name] = np.full((n, *q.shape), low if where == "low" else high)
    if name == "subsurface_scatter_anisotropy":
        p["geometry_thin_walled"] = np.ones(n)  # the only walls that have it: why_no_gradient
    pairs = lit_pairs(m, p, rng, n)
    if name == "transmission_weight" and where == "low":
        pairs[WI][:, 2] = np.abs(pairs[WI][:, 2])  # a surface has an inside from the first bit of translucence on
    return m, m.values(p) | pairs, m.leaves[name], m.range(name)


@pytest.mark.parametrize("where", ["inside", "low", "high"])
@pytest.mark.parametrize("name", PARAMETERS)
def test_against_difference_quotients(name, where):
    m, values, leaf, (low, high) = rows(name, where)
    (got,) = g.evaluate(g.vjp([m.eval], [1.0], [leaf]), values)
    n = SETTINGS * PAIRS
    got = got.reshape(n, -1).sum(1)
    assert np.isfinite(got).all()
    if (name, where) in NO_QUOTIENT:
        return
    (weights, at), sign = (INSIDE, 1.0) if where == "inside" else (ONE_SIDED, 1.0 if where == "low" else -1.0)
    steps = (high - low) * 10.0 ** -np.arange(2.0, 7.5, 0.5)
    offsets = np.r_[0.0, (steps[:, None] * at * sign).reshape(-1)]
    # All quotients in one evaluation.
    many = {k: np.tile(v, (len(offsets),) + (1,) * (np.ndim(v) - 1)) if len(np.atleast_1d(v)) == n else v for k, v in values.items()}
    moved = np.repeat(offsets, n).reshape((-1,) + (1,) * (values[leaf].ndim - 1))
    found = g.evaluate([m.eval], many | {leaf: many[leaf] + moved})[0].sum(-1).reshape(len(offsets), n)
    size, found = np.abs(found[0]), found[1:].reshape(len(steps), len(at), n)
    quotients = np.einsum("k,skn->sn", weights, found) * (sign / steps)[:, None]
    # What is small beside the value's own size is rounding.
    off = np.abs(quotients - got) / (np.abs(quotients) + np.abs(got) + 1e-4 * size / (high - low) + 1e-12)
    best, best_quotient = off.min(0), np.take_along_axis(quotients, off.argmin(0)[None], 0)[0]
    # One pair in twenty may lie at a kink of its own: a critical angle, a wavelength's edge, the clamp of EON.
    assert np.quantile(best, 0.95) < ROUGH.get((name, where), 1e-6), np.sort(best)[-8:]
    # No silent zero: where the quotients see something, so does the derivative.
    assert (got != 0.0).sum() >= 0.95 * (np.abs(best_quotient) > 1e-6 * size).sum()
    if where == "inside":
        assert (np.abs(got) > 0.0).any(), f"{name} has no effect at all"
