"""Derivatives of every BSDF: against finite differences, finite everywhere, and the same on the device."""

import os

import numpy as np
import pytest

from irys_ti import graph as g
from irys_ti import runtime
from irys_ti.kernels.bsdf import ggx
from irys_ti.kernels.bsdf import openpbr_frame as frames
from tests.bsdf.cases import DELTA, NAMES, SMOOTH, WI, WO, Model, direction, full, incident, seed_of, sphere
from tests.helpers.graphs import check_derivatives, check_lowering, run_lowered

PARTS = [(n, "eval") for n in SMOOTH] + [(n, "eval_delta") for n in DELTA]
N = 48


def differentiable(m: Model) -> list:
    return [m.leaves[k] for k, q in m.params.items() if q.kind != "flag"]


def random_params(m: Model, rng, n=N) -> dict:
    """n settings inside the ranges, one per row."""
    out = {}
    for k, q in m.params.items():
        t = rng.integers(0, 2, n) if q.kind == "flag" else rng.uniform(0.1, 0.9, (n, *q.shape))
        low, high = m.range(k)
        out[k] = low + t * (high - low)
    return out


def params_near_an_end(m: Model, rng, n=N) -> tuple[dict, dict]:
    """n settings a little inside either end of the ranges, and how far inside each is."""
    out, margin = {}, {}
    for i, (k, q) in enumerate(m.params.items()):
        low, high = m.range(k)
        inside = 0.0 if q.kind == "flag" else (0.002 + 0.003 * (i % 5)) * (high - low)
        out[k] = np.where(rng.integers(0, 2, (n, *q.shape)) == 1, low + inside, high - inside)
        margin[k] = inside
    return out, margin


def lit_pairs(m: Model, p: dict, rng, n=N) -> dict:
    """wi anywhere that is lit, wo as the BSDF samples it, so that narrow lobes are met; strictly non-grazing."""
    wi = sphere(rng, n, not m.transmissive)
    wi[:, 2] = np.where(np.abs(wi[:, 2]) < 0.05, 0.3, wi[:, 2])
    wi /= np.linalg.norm(wi, axis=1, keepdims=True)
    wo, _ = m.draw(p, wi, rng.random((n, 3)))
    # A failed sample lies on the horizon, where eval jumps.
    inner = wo[:, 2:]
    if "geometry_normal_x" in m.params:  # that of the turned frame
        (inner,) = g.evaluate([frames.into(frames.frame(m.p, WI), WO).z], m.values(p) | {WI: wi, WO: wo})
        inner = inner[:, None]
    wo = np.where((np.abs(wo[:, 2:]) < 0.02) | (np.abs(inner) < 0.02), np.array([0.6, 0.0, 0.8]), wo)
    return {WI: wi, WO: wo}


@pytest.mark.parametrize("name,part", PARTS)
def test_parameters_inside_the_ranges(name, part):
    m, rng = Model(name), np.random.default_rng(seed_of(name))
    p = random_params(m, rng)
    check_derivatives([getattr(m, part)], m.values(p) | lit_pairs(m, p, rng), differentiable(m), step=1e-5)


@pytest.mark.parametrize("name,part", PARTS)
def test_parameters_near_an_end(name, part):
    m, rng = Model(name), np.random.default_rng(seed_of(name) + 1)
    p, margin = params_near_an_end(m, rng)
    scale = {m.leaves[k]: 0.1 * v for k, v in margin.items()}
    values = m.values(p) | lit_pairs(m, p, rng)
    check_derivatives([getattr(m, part)], values, differentiable(m), step=1e-4, scale=scale)


@pytest.mark.parametrize("name,part", PARTS)
def test_directions(name, part, monkeypatch):
    """Derivatives by wi and wo, as free vectors, which the geometry's adjoint needs."""
    monkeypatch.setattr(ggx, "HORIZON", 1e-9)  # the step's derivative is right on the mean alone (test_refraction_edge.py)
    m, rng = Model(name), np.random.default_rng(seed_of(name) + 2)
    p = random_params(m, rng)
    values = m.values(p) | lit_pairs(m, p, rng)
    check_derivatives([getattr(m, part)], values, [WI, WO], scale={WI: 1e-2, WO: 1e-2}, step=1e-3)


def test_check_rejects_a_wrong_derivative():
    """The control: a parameter's derivative that is off by 1 in 1,000 must be found out."""
    m, rng = Model("diffuse"), np.random.default_rng(0)
    p = random_params(m, rng)
    wrong = m.eval + 1e-3 * g.stop_gradient(m.leaves["reflectance"])
    with pytest.raises(AssertionError, match="finite difference"):
        check_derivatives([wrong], m.values(p) | lit_pairs(m, p, rng), differentiable(m))


def corners(m: Model) -> dict:
    """Every mix of parameter ends and defaults with directions from normal to exactly grazing."""
    zs = [1.0, 0.4, 1e-3, 1e-6, 0.0, -1e-6, -0.4, -1.0]
    wi, wo = np.meshgrid(range(len(zs)), range(len(zs)))
    wi = np.array([direction(zs[i], 0.0) for i in wi.ravel()])
    # In the plane of incidence, mirrored, and askew.
    wo = np.concatenate([[direction(zs[i], a) for i in wo.ravel()] for a in (np.pi, 0.0, 2.0)])
    rng = np.random.default_rng(0)
    n = len(wo)
    rows: dict = {k: [] for k in m.params}
    for end in ("low", "high", "mixed", "mixed", "default"):
        for k, q in m.params.items():
            pick = {"mixed": rng.choice([q.low, q.default, q.high])}.get(end, getattr(q, end, q.default))
            rows[k].append(np.broadcast_to(full(q, pick), (n, *q.shape)))
    wi = np.tile(wi, (3, 1))
    p = {k: np.concatenate(v) for k, v in rows.items()}
    p = m.values(p) | m.values_of_one(p)
    return p | {WI: np.tile(wi, (5, 1)), WO: np.tile(wo, (5, 1))}


def everything(m: Model) -> list:
    """Value, density, adjoint and tangent of each part."""
    out, wrt = [], differentiable(m)
    for value, pdf, there in (("eval", "pdf", m.smooth), ("eval_delta", "pdf_delta", m.delta)):
        if there:
            e = getattr(m, value)
            out += [e, getattr(m, pdf), *g.vjp([e], [1.0], wrt), *g.jvp([e], wrt, [1.0] * len(wrt))]
    return out


def lowered(m: Model) -> list:
    """The same, for kernels; of a large model the adjoint at one wavelength, for its compile time's sake."""
    if m.one is None:
        return everything(m)
    wrt = [m.ones[k] for k, q in m.params.items() if q.differentiable]
    return [m.eval, m.pdf, m.eval_delta, m.pdf_delta, *g.vjp([m.one], [1.0], wrt)]


@pytest.mark.parametrize("name", NAMES)
def test_finite_at_the_corners(name):
    m = Model(name)
    values = corners(m)
    parts = everything(m)
    for e, x in zip(parts, g.evaluate(parts, values), strict=True):
        bad = ~np.isfinite(x.reshape(len(x), -1)).all(1)
        assert not bad.any(), f"{e!r}: {[(k, np.asarray(v)[bad][0]) for k, v in values.items()]}"


@pytest.mark.parametrize("name", NAMES)
def test_finite_at_the_corners_f32(name, f32):
    m = Model(name)
    values = corners(m)
    parts = lowered(m)
    for e, x in zip(parts, run_lowered(parts, values), strict=True):
        bad = ~np.isfinite(x.reshape(len(x), -1)).all(1)
        assert not bad.any(), f"{e!r}: {[(k, np.asarray(v)[bad][0]) for k, v in values.items()]}"


@pytest.mark.parametrize("name", NAMES)
def test_lowered_f64(name, f64):
    m, rng = Model(name), np.random.default_rng(seed_of(name) + 3)
    p = random_params(m, rng)
    check_lowering(lowered(m), m.values(p) | m.values_of_one(p) | lit_pairs(m, p, rng), rtol=1e-10)


@pytest.mark.parametrize("name", NAMES)
def test_lowered_f32(name, f32):
    m, rng = Model(name), np.random.default_rng(seed_of(name) + 4)
    p = random_params(m, rng)
    check_lowering(lowered(m), m.values(p) | m.values_of_one(p) | lit_pairs(m, p, rng), rtol=2e-4)


@pytest.mark.parametrize("name", NAMES)
def test_sample_lowered_f64(name, f64):
    m, rng = Model(name), np.random.default_rng(seed_of(name) + 5)
    p = random_params(m, rng)
    for wi in incident(m):
        values = m.values(p) | {WI: np.broadcast_to(wi, (N, 3)), g.leaf("u", (3,)): rng.random((N, 3))}
        check_lowering([m.sample.wo], values, rtol=1e-9)


@pytest.fixture
def gpu():
    """A GPU backend; Vulkan counts where a driver is named, since the loader alone is everywhere."""
    named = "VK_DRIVER_FILES" in os.environ
    found = [a for a in runtime.available_archs() if a != "cpu" and (a != "vulkan" or named)]
    if not found:
        pytest.skip("no GPU backend: set VK_DRIVER_FILES to a Vulkan driver's ICD file to run on it")
    runtime.init(found[0], "f32")


@pytest.mark.parametrize("name", NAMES)
def test_lowered_gpu(name, gpu):
    m, rng = Model(name), np.random.default_rng(seed_of(name) + 4)
    p = random_params(m, rng)
    check_lowering(lowered(m), m.values(p) | m.values_of_one(p) | lit_pairs(m, p, rng), rtol=2e-4)
    for x in run_lowered(lowered(m), corners(m)):
        assert np.isfinite(x).all()
