"""Energy, reciprocity, and values that anyone can derive."""

import numpy as np
import pytest

from irys_ti import graph as g
from irys_ti.kernels.bsdf import BSDFS, fresnel
from tests.bsdf.cases import DELTA, SMOOTH, Model, direction, incident, model, seed_of, sphere
from tests.helpers import chi2


def albedo(m: Model, p: dict, wi: np.ndarray, band: int = 0) -> float:
    """Directional albedo: what leaves per unit of light that comes along wi, refraction's radiance factor undone."""

    def flux(w):
        (value,) = m.run([m.eval], p, wi, w)
        return value[:, band] * (m.index(p, w[:, 2], band) / m.index(p, wi[2], band)) ** 2

    return chi2.integrate_cells(flux).sum()


def lossless(m: Model) -> dict:
    """The defaults with every reflectance and transmittance at 1."""
    return {k: np.ones(4) if m.params[k].kind == "reflectance" else v for k, v in m.settings()[0].items()}


@pytest.mark.parametrize("name", SMOOTH)
def test_white_furnace(name):
    """No more light leaves than comes."""
    m = model(name)
    for p in [lossless(m), *m.settings()]:
        for wi in [*incident(m), direction(0.02)]:
            a = albedo(m, p, wi)
            assert 0.0 <= a <= 1.0 + 2e-5, (p, wi, a)


@pytest.mark.parametrize("name", DELTA)
def test_delta_furnace(name):
    """Reflection and refraction together: at most 1, and exactly 1 for a lossless dielectric."""
    m = model(name)
    for p in [lossless(m), *m.settings()]:
        for wi in incident(m):
            up = np.array([[-wi[0], -wi[1], wi[2]], [-wi[0], -wi[1], -wi[2]]])
            value, pmf = m.run([m.eval_delta, m.pdf_delta], p, wi, up)
            # What refracts is squeezed; what meets no surface is not.
            factor = (m.index(p, up[:, 2]) / m.index(p, wi[2])) ** 2 if "int_ior" in p else np.ones(2)
            total = (value * (factor * (pmf > 0))[:, None]).sum(0)
            assert (total <= 1.0 + 1e-12).all()
            if p.get("specular_transmittance") is not None and np.all(p["specular_transmittance"] == 1.0):
                np.testing.assert_allclose(total, 1.0, rtol=1e-12)


@pytest.mark.parametrize("name", [n for n in SMOOTH if getattr(BSDFS[n], "RECIPROCAL", True)])
def test_reciprocity(name):
    """eval / |cos theta_o| over n_i^2 is the same both ways, through the interface too."""
    m = model(name)
    rng = np.random.default_rng(seed_of(name))
    for p in m.settings(4):
        a, b = sphere(rng, 500, not m.transmissive), sphere(rng, 500, not m.transmissive)
        (ab,), (ba,) = m.run([m.eval], p, a, b), m.run([m.eval], p, b, a)
        ab /= (np.abs(b[:, 2]) * m.index(p, a[:, 2]) ** 2)[:, None]
        ba /= (np.abs(a[:, 2]) * m.index(p, b[:, 2]) ** 2)[:, None]
        assert (ab > 0).mean() > 0.1
        np.testing.assert_allclose(ab, ba, rtol=1e-9, atol=1e-14 * np.abs(ab).max())


# GGX directional albedos with F = 1 and height-correlated masking, at mu = .1, .5, 1.
GGX = {0.25: (0.8916, 0.8573, 0.9158), 0.5: (0.8601, 0.6983, 0.6878), 1.0: (0.7602, 0.4507, 0.3069)}


def mirror(m: Model, alpha: float, separable: float = 0.0) -> dict:
    """A rough conductor of reflectance 1 at every angle: eta = 0."""
    one = np.ones(4)
    return {"eta": 0 * one, "k": one, "specular_reflectance": one, "alpha": alpha, "separable": separable}


@pytest.mark.parametrize("alpha", GGX)
def test_ggx_directional_albedo(alpha):
    """Quadrature of the definition gives these (D, height-correlated Smith G2 over 4 cos cos)."""
    m = model("roughconductor")
    for mu, want in zip((0.1, 0.5, 1.0), GGX[alpha], strict=True):
        assert abs(albedo(m, mirror(m, alpha), direction(mu)) - want) < 1e-4


def test_ggx_separable_albedo():
    m = model("roughconductor")
    assert abs(albedo(m, mirror(m, 0.5, 1.0), direction(0.1)) - 0.772) < 5e-4


@pytest.mark.parametrize("alpha,want", [(0.25, 0.8823), (0.5, 0.7002), (1.0, 0.4091)])
def test_ggx_average_albedo(alpha, want):
    """2 times the integral of albedo(mu) mu over mu."""
    m = model("roughconductor")
    x, w = np.polynomial.legendre.leggauss(8)
    mu = (x + 1) / 2
    values = [albedo(m, mirror(m, alpha), direction(z)) for z in mu]
    assert abs(np.sum(w * values * mu) - want) < 3e-4


C, E = g.leaf("c"), g.leaf("e")


def reflectance(cos_i, eta):
    return g.evaluate([fresnel.dielectric(C, E)], {C: cos_i, E: eta})[0]


@pytest.mark.parametrize("eta,want", [(1.5, 0.09178), (1 / 1.5, 0.59635)])
def test_fresnel_hemispherical_average(eta, want):
    """2 times the integral of F(mu) mu; split at the critical angle, where F has a kink."""
    critical = np.sqrt(max(0.0, 1.0 - eta * eta))
    x, w = np.polynomial.legendre.leggauss(400)
    total = 0.0
    for a, b in ((0.0, critical), (critical, 1.0)):
        mu = a + (b - a) * (x + 1) / 2
        total += (w * reflectance(mu, eta) * mu).sum() * (b - a)
    assert abs(total - want) < 1e-5


def test_fresnel_special_values():
    assert abs(reflectance(1.0, 1.5) - 0.04) < 1e-15
    assert reflectance(0.0, 1.5) == 1.0
    assert reflectance(0.5, 1.0) == 0.0 and reflectance(0.0, 1.0) == 0.0
    assert reflectance(0.3, 1 / 1.5) == 1.0
    brewster = np.cos(np.arctan(1.5))
    r_s = (1 - 1.5**2) / (1 + 1.5**2)
    assert abs(reflectance(brewster, 1.5) - r_s**2 / 2) < 1e-12


def test_conductor_fresnel_limits():
    """k = 0 is the dielectric; at normal incidence ((eta-1)^2 + k^2) / ((eta+1)^2 + k^2)."""
    eta, k, c = g.leaf("eta", (4,)), g.leaf("k", (4,)), g.leaf("c")
    f = fresnel.conductor(c, eta, k)
    n = np.array([0.4, 0.9, 1.5, 2.5])
    for mu in (0.05, 0.3, 0.8, 1.0):
        (got,) = g.evaluate([f], {eta: n, k: np.zeros(4), c: mu})
        np.testing.assert_allclose(got, [reflectance(mu, e) for e in n], atol=1e-12)
    kk = np.array([0.0, 2.0, 3.9, 8.0])
    (got,) = g.evaluate([f], {eta: n, k: kk, c: 1.0})
    np.testing.assert_allclose(got, ((n - 1) ** 2 + kk**2) / ((n + 1) ** 2 + kk**2), rtol=1e-12)
    # Against the complex Fresnel equations.
    mu, index = 0.35, n + 1j * (kk + 0.1)
    (got,) = g.evaluate([f], {eta: n, k: kk + 0.1, c: mu})
    ct = np.sqrt(1 - (1 - mu * mu) / index**2)
    r_s, r_p = (mu - index * ct) / (mu + index * ct), (index * mu - ct) / (index * mu + ct)
    np.testing.assert_allclose(got, (abs(r_s) ** 2 + abs(r_p) ** 2) / 2, rtol=1e-12)


def test_rough_approaches_smooth():
    """At alpha = 1e-3 the rough interface sends out what the smooth one does, to 1 part in 1,000."""
    rough, smooth = model("roughdielectric"), model("dielectric")
    wi = direction(0.6)
    p = lossless(rough) | {"alpha": 1e-3}
    u = np.random.default_rng(0).random((40_000, 3))
    wo, _ = rough.draw(p, wi, u)
    value, pdf = rough.run([rough.eval, rough.pdf], p, wi, wo)
    reflected = np.where(wo[:, 2] > 0, value[:, 0] / pdf, 0.0)
    q = lossless(smooth)
    (want,) = smooth.run([smooth.eval_delta], q, wi, np.array([-wi[0], -wi[1], wi[2]]))
    error = reflected.std() / np.sqrt(len(u))
    assert abs(reflected.mean() - want[0]) < 5 * error + 1e-3 * want[0]
    eta = p["int_ior"] / p["ext_ior"]
    np.testing.assert_allclose(wo[wo[:, 2] < 0][:, :2].mean(0), -wi[:2] / eta, atol=2e-3)
