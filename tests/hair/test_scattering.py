"""The hair model: what it keeps, what it is called after, and its derivatives through whole pictures."""

import numpy as np
import pytest
from scipy import special

import irys_ti as it
from irys_ti import graph as g
from irys_ti import runtime
from irys_ti.kernels.bsdf import hair
from tests.bsdf.cases import WAVELENGTHS, full, model, sphere
from tests.hair.strands import furnace, strands

WHITE = {k: full(q, q.default) for k, q in hair.PARAMS.items()}


def at(theta, phi) -> np.ndarray:
    """Direction of inclination theta to the fibre's normal plane, at azimuth phi from the normal."""
    return np.stack([np.sin(theta) + 0 * phi, np.cos(theta) * np.sin(phi), np.cos(theta) * np.cos(phi)], -1)


def everywhere(n=240, m=360, around=0.0):
    """Directions in rings around the cone of reflection, and their solid angles."""
    # Denser near the lobe: theta = around + sinh-spaced offsets within the half circle.
    x = np.linspace(-1, 1, n + 1)
    low, high = -np.pi / 2 - around, np.pi / 2 - around
    stretch = np.sinh(5 * x) / np.sinh(5)
    edges = around + np.where(stretch < 0, -stretch * low, stretch * high)
    theta, phi = (edges[1:] + edges[:-1]) / 2, (np.arange(m) + 0.5) / m * 2 * np.pi
    weight = np.repeat(np.diff(np.sin(edges)), m) * 2 * np.pi / m
    t, p = np.meshgrid(theta, phi, indexing="ij")
    return at(t.ravel(), p.ravel()), weight


@pytest.mark.parametrize("beta_m", [0.05, 0.3, 1.0])
@pytest.mark.parametrize("beta_n", [0.05, 0.3, 1.0])
def test_albedo_is_1_without_absorption(beta_m, beta_n):
    """At all inclinations and offsets, and all roughnesses; with 1 % of absorption it is not: the control."""
    m = model("hair")
    for tilt, thetas in ((0.0, (0.6, -1.2)), (4.0, (0.0, 1.5))):
        for theta in thetas:
            wo, weight = everywhere(around=-theta)
            for h in (0.0, 0.6, -0.97):
                p = WHITE | {"beta_m": beta_m, "beta_n": beta_n, "tilt": tilt}
                value, density = m.run([m.eval, m.pdf], p, at(theta, np.arcsin(h)), wo)
                assert abs(weight @ value[:, 0] - 1) < 0.01 and abs(weight @ density - 1) < 0.01
    p = WHITE | {"sigma_a": np.full(4, 0.05)}
    wo, weight = everywhere()
    assert weight @ m.run([m.eval], p, at(0.0, np.array(0.0)), wo)[0][:, 0] < 0.96


def by_the_paper(p: dict, wi, wo, band: int) -> float:
    """Chiang et al. 2016 written out for one pair, with SciPy's Bessel function and plain angles."""
    theta_i, theta_o = np.arcsin(wi[0]), np.arcsin(wo[0])
    phi = np.arctan2(wo[1], wo[2]) - np.arctan2(wi[1], wi[2])
    h = wi[1] / np.cos(theta_i)
    gamma = np.arcsin(h)
    eta = np.sqrt(p["ior"] ** 2 - np.sin(theta_i) ** 2) / np.cos(theta_i)
    gamma_t, theta_t = np.arcsin(h / eta), np.arcsin(np.sin(theta_i) / p["ior"])
    lam, b = WAVELENGTHS[band] / 551.0, p["beta_n"]
    sigma = p["sigma_a"][band] + p["eumelanin"] * 0.697 * lam**-3.33 + p["pheomelanin"] * 0.4 * lam**-4.75
    d = 5.969 - 0.215 * b + 2.532 * b**2 - 10.73 * b**3 + 5.574 * b**4 + 0.245 * b**5
    sigma += (np.log(p["color"][band]) / d) ** 2
    t = np.exp(-sigma * 2 * np.cos(gamma_t) / np.cos(theta_t))
    c = np.cos(theta_i) * np.cos(gamma)
    ct = np.sqrt(1 - (1 - c * c) / p["ior"] ** 2)
    f = 0.5 * (((c - p["ior"] * ct) / (c + p["ior"] * ct)) ** 2 + ((p["ior"] * c - ct) / (p["ior"] * c + ct)) ** 2)
    a = [f, (1 - f) ** 2 * t, (1 - f) ** 2 * t * t * f]
    a.append(a[2] * f * t / (1 - f * t))
    bm = p["beta_m"]
    v0 = (0.726 * bm + 0.812 * bm**2 + 3.7 * bm**20) ** 2
    s = np.sqrt(np.pi / 8) * (0.265 * b + 1.194 * b**2 + 5.372 * b**22)
    tilt, total = np.deg2rad(p["tilt"]), 0.0
    for k, v, turn in ((0, v0, -2), (1, v0 / 4, 1), (2, 4 * v0, 4), (3, 4 * v0, 0)):
        ti = theta_i + turn * tilt
        x, y = np.abs(np.cos(ti)) * np.cos(theta_o) / v, np.sin(ti) * np.sin(theta_o) / v
        along = special.ive(0, x) * np.exp(x - y - 1 / v) / (v * (1 - np.exp(-2 / v)))
        if k < 3:
            away = (phi - (2 * k * gamma_t - 2 * gamma + k * np.pi) + np.pi) % (2 * np.pi) - np.pi
            cut = special.expit(np.pi / s) - special.expit(-np.pi / s)
            around = np.exp(-abs(away) / s) / (s * (1 + np.exp(-abs(away) / s)) ** 2) / cut
        else:
            around = 1 / (2 * np.pi)
        total += a[k] * along * around
    return total


def test_values_are_the_paper_s():
    m, rng = model("hair"), np.random.default_rng(5)
    for p in m.settings(6):
        wi, wo = sphere(rng, 40), sphere(rng, 40)
        wi[:, 2] = np.abs(wi[:, 2])
        (got,) = m.run([m.eval], p, wi, wo)
        want = [by_the_paper(p, a, b, 2) for a, b in zip(wi, wo)]
        np.testing.assert_allclose(got[:, 2], want, rtol=2e-6, atol=1e-12)


def test_melanins_have_d_eon_s_colours():
    """(0.419, 0.697, 1.37) and (0.187, 0.4, 1.05) in red, green and blue, at wavelengths within those bands."""
    lam = g.leaf("lambdas", (4,))
    p = model("hair").p
    values = {p.sigma_a: np.zeros(4), p.color: np.ones(4), p.beta_n: 0.3, lam: np.array([645.0, 551.0, 450.0, 551.0])}
    for pigment, want in (("eumelanin", (0.419, 0.697, 1.37)), ("pheomelanin", (0.187, 0.4, 1.05))):
        amounts = {p.eumelanin: float(pigment == "eumelanin"), p.pheomelanin: float(pigment == "pheomelanin")}
        (got,) = g.evaluate([hair.absorption(p)], values | amounts)
        np.testing.assert_allclose(got[:3], want, rtol=0.02)


def test_what_is_reciprocal():
    """The longitudinal lobe is the same both ways, and so is all of R, TT and TRT between mirrored inclinations."""
    m, rng = model("hair"), np.random.default_rng(7)
    a, b, v = rng.uniform(-1.5, 1.5, 200), rng.uniform(-1.5, 1.5, 200), rng.uniform(0.001, 2, 200)
    leaves = [g.leaf(n) for n in ("si", "ci", "so", "co", "v")]
    lobe = hair.longitudinal(*leaves)

    def run(i, o):
        return g.evaluate([lobe], dict(zip(leaves, (np.sin(i), np.cos(i), np.sin(o), np.cos(o), v))))[0]

    np.testing.assert_allclose(run(a, b), run(b, a), rtol=1e-12)
    # The fibre turned over is the same fibre: azimuths and offsets change their sign together.
    wi, wo = sphere(rng, 300), sphere(rng, 300)
    p = m.settings(1)[1]
    (one,), (other,) = m.run([m.eval], p, wi, wo), m.run([m.eval], p, wi * [1, -1, 1], wo * [1, -1, 1])
    np.testing.assert_allclose(one, other, rtol=1e-9)
    # Seen from all offsets, light from theta to -theta goes the other way as well (no tilt).
    p = p | {"tilt": 0.0}
    h = (np.arange(4000) + 0.5) / 2000 - 1

    def far(theta_i, theta_o, phi):
        w = at(theta_i, np.arcsin(h))
        azimuth = np.arctan2(w[:, 1], w[:, 2]) + phi
        return m.run([m.eval], p, w, at(np.full_like(h, theta_o), azimuth))[0].mean(0)

    np.testing.assert_allclose(far(0.4, -0.4, 1.1), far(-0.4, 0.4, -1.1), rtol=1e-6)


PATHS = [f"keratin.{n}" for n in ("eumelanin", "pheomelanin", "sigma_a", "color", "beta_m", "beta_n", "tilt", "ior")]
VALUES = {
    "eumelanin": 0.3, "pheomelanin": 0.2, "sigma_a": 0.1, "color": 0.8, "beta_m": 0.35, "beta_n": 0.4, "tilt": 3.0, "ior": 1.5,
}  # fmt: skip
STEP = {"tilt": 0.2}


def lit(**change) -> it.Scene:
    """A tress under a sky and a lamp, few bounces."""
    scene = furnace(strands(40, radius=0.03), VALUES | change, size=12, depth=4)
    scene.lights = [it.Light("sky", "constant", {"radiance": 0.3})]
    scene.lights.append(it.Light("lamp", "directional", {"irradiance": 3.0}, _towards([-0.4, -0.7, -0.6])))
    return scene


def _towards(d) -> np.ndarray:
    from irys_ti.scene.transform import look_at

    return look_at([0, 0, 0], d, [0, 1, 0])


def test_gradients_against_differences(f64):
    """Every parameter's derivative, reverse and forward, within 4.5 standard errors of difference quotients of independent
    pictures; the control: a third more is found out for those that are known best."""
    weight = np.random.default_rng(0).uniform(0.2, 1.0, (12, 12, 3)) / 432
    grads = it.backward(lit(), weight, 1600, seed=3, params=PATHS)
    found_out = 0
    for path in PATHS:
        name = path.split(".")[1]
        h = STEP.get(name, 0.02)
        quotients = []
        for seed in range(16):  # an error known from few seeds is often too small
            high, low = (it.render(lit(**{name: VALUES[name] + s * h}), 250, 100 + seed) for s in (1, -1))
            quotients.append((weight * (high.astype(np.float64) - low)).sum() / (2 * h))
        q, error = np.mean(quotients), np.std(quotients, ddof=1) / 4
        got, own = float(grads[path]), float(grads.stderr[path])
        sigma = np.hypot(error, own) + 1e-3 * abs(q)
        assert abs(got - q) < 4.5 * sigma, f"{path}: {got} +- {own}, differences {q} +- {error}"
        found_out += abs(4 / 3 * got - q) > 4.5 * sigma
        forward = (weight * it.forward(lit(), {path: 1.0}, 1600, seed=3)).sum()
        np.testing.assert_allclose(forward, got, rtol=1e-5, atol=1e-9)
    assert found_out >= 4
    assert grads.replayed[0] == grads.replayed[1]


def test_same_picture_in_both_tiers():
    """f32 against f64, over pixels whose paths decide alike: the mean within 5e-4."""
    images = []
    for tier in ("f64", "f32"):
        runtime.init("cpu", tier)
        images.append(it.render(lit(), 64))
    assert abs(images[1].mean() / images[0].mean() - 1) < 5e-4
    assert np.median(np.abs(images[1] / images[0] - 1)) < 5e-4


def test_gradients_at_the_ends_are_finite(f32):
    ends = {"beta_m": (0.02, 1.0), "beta_n": (0.02, 1.0), "ior": (1.05, 3.0), "tilt": (-20.0, 20.0), "color": (0.0, 1.0)}
    ends |= {"eumelanin": (0.0, 20.0), "sigma_a": (0.0, 1e4)}
    for which in (0, 1):
        scene = lit(**{name: float(pair[which]) for name, pair in ends.items()})
        grads = it.backward(scene, np.full((12, 12, 3), 1e-2), 16, params=PATHS)
        assert all(np.isfinite(grads[p]).all() for p in PATHS)
