"""OpenPBR's lobes one by one: published values, limits, and other derivations of the same."""

from types import SimpleNamespace

import numpy as np
import pytest

from irys_ti import graph as g
from irys_ti.kernels.bsdf import fresnel as plain
from irys_ti.kernels.bsdf import ggx
from irys_ti.kernels.bsdf import openpbr_diffuse as diffuse
from irys_ti.kernels.bsdf import openpbr_facets as facets
from irys_ti.kernels.bsdf import openpbr_film as film
from irys_ti.kernels.bsdf import openpbr_fresnel as fresnel
from irys_ti.kernels.bsdf import openpbr_metal as metal
from irys_ti.kernels.bsdf.openpbr_coat import internal_reflection
from tests.bsdf.cases import WI, WO, direction, sphere

A, B, C = g.leaf("a"), g.leaf("b"), g.leaf("c")
ALPHA = (A, B)


def disk(n: int) -> np.ndarray:
    """Directions (n * n, 3) whose footprints are even on the unit disk."""
    t = (np.arange(n) + 0.5) / n
    r, phi = np.sqrt(t)[:, None], 2 * np.pi * t[None, :]
    x, y = (r * np.cos(phi)).ravel(), (r * np.sin(phi)).ravel()
    return np.stack([x, y, np.sqrt(1 - x * x - y * y)], 1)


# GGX directional albedos with F = 1 and height-correlated masking, at mu = .1, .5, 1 (as in test_physics).
GGX = {0.25: (0.8916, 0.8573, 0.9158), 0.5: (0.8601, 0.6983, 0.6878), 1.0: (0.7602, 0.4507, 0.3069)}


@pytest.mark.parametrize("alpha", GGX)
def test_what_visible_normals_keep_is_the_directional_albedo(alpha):
    """The mean over the disk of what is not lost is the albedo of the lobe: layers split it exactly."""
    lost = facets.visible(facets.facets(WI, ALPHA), facets.disk_of_cosine(WO)).lost
    for mu, want in zip((0.1, 0.5, 1.0), GGX[alpha], strict=True):
        (x,) = g.evaluate([lost], {WI: direction(mu), WO: disk(500), A: alpha, B: alpha})
        assert abs(1.0 - x.mean() - want) < 3e-4


def test_mean_albedo_of_ggx_is_fitted():
    """Averages of the same table: .8823, .7002, .4091."""
    lost = metal.lost(ALPHA)
    for alpha, want in ((0.25, 0.8823), (0.5, 0.7002), (1.0, 0.4091)):
        assert abs(1.0 - g.evaluate([lost], {A: alpha, B: alpha})[0] - want) < 2e-3


def test_maps_to_the_disk_keep_areas():
    """Moments of anything over the disk and over visible normals agree: x^2 and cos_i by samples of the lobe."""
    f = facets.facets(WI, ALPHA)
    v = facets.visible(f, facets.disk_of_cosine(WO))
    u = g.leaf("u", (3,))
    h = ggx.sample_visible(WI, ALPHA, u)
    rng = np.random.default_rng(0)
    for mu in (0.95, 0.4, 0.1):
        values = {WI: direction(mu), A: 0.6, B: 0.2}
        want = g.evaluate([v.h[0], v.h[1], v.cos_i], values | {WO: disk(400)})
        (got,) = g.evaluate([h], values | {u: rng.random((200_000, 3))})
        cos_i = got @ direction(mu)
        for x, y in ((want[0], got[:, 0]), (want[1] ** 2, got[:, 1] ** 2), (want[2], cos_i), (want[2] ** 2, cos_i**2)):
            assert abs(x.mean() - y.mean()) < 6 * y.std() / np.sqrt(len(y)) + 1e-4


def test_disk_point_of_a_normal_is_the_inverse():
    f = facets.facets(WI, ALPHA)
    q = facets.disk_of_cosine(WO)
    v = facets.visible(f, q)
    back = facets.disk_of_normal(f, v.h, v.cos_i)
    rng = np.random.default_rng(1)
    values = {WI: sphere(rng, 300, True), WO: sphere(rng, 300, True), A: rng.uniform(0.01, 1, 300), B: 0.3}
    for a, b in zip(g.evaluate(list(back), values), g.evaluate(list(q), values), strict=True):
        np.testing.assert_allclose(a, b, atol=1e-7)


def test_ggx_reflection_is_reciprocal():
    value = facets.mirror(facets.facets(WI, ALPHA), WO).value / WO.z
    back = facets.mirror(facets.facets(WO, ALPHA), WI).value / WI.z
    rng = np.random.default_rng(2)
    values = {WI: sphere(rng, 500, True), WO: sphere(rng, 500, True), A: 0.5, B: 0.15}
    np.testing.assert_allclose(*g.evaluate([value, back], values), rtol=1e-9)


def test_anisotropy_is_the_specification_s():
    """alpha_t^2 + alpha_b^2 = 2 r^4 and alpha_b = (1 - a) alpha_t, the floor apart."""
    x, y = (g.evaluate([e], {A: 0.4**4, B: 0.7})[0] for e in facets.alphas(A, B))
    assert abs(x**2 + y**2 - 2 * 0.4**4 - 2e-6) < 1e-12 and abs(y / x - 0.3) < 1e-4


def interface(n: float, weight: float = 1.0, coat: float = 0.0, **more) -> fresnel.Interface:
    p = SimpleNamespace(
        specular_ior=g.constant(n), specular_weight=g.constant(weight), coat_weight=g.constant(coat),
        coat_ior=g.constant(1.6), transmission_dispersion_scale=g.constant(0.0), **more,
    )  # fmt: skip
    return fresnel.base_interface(p)


@pytest.mark.parametrize("n", [1.5, 2.4, 1.0, 0.7])
def test_fresnel_is_fresnel(n):
    mu = np.linspace(0.01, 1.0, 60)
    got, want = g.evaluate([fresnel.reflectance(interface(n), C), plain.dielectric(C, g.constant(n))], {C: mu})
    np.testing.assert_allclose(got, want, rtol=2e-5, atol=1e-9)


def test_specular_weight_scales_normal_reflectance():
    for weight in (0.0, 0.3, 1.0, 4.0, 100.0):
        (got,) = g.evaluate([fresnel.reflectance(interface(1.5, weight), C)], {C: 1.0})
        assert abs(got - min(0.04 * weight, fresnel.LIMIT**2)) < 1e-5


def test_coat_index_matters_to_the_base():
    """Coat and base of one index: nothing is reflected between them; and never a total reflection from outside."""
    (same,) = g.evaluate([fresnel.reflectance(interface(1.6, coat=1.0), C)], {C: 0.5})
    assert same < 1e-12
    (low,) = g.evaluate([fresnel.reflectance(interface(1.2, coat=1.0), C)], {C: np.linspace(0.02, 1, 50)})
    assert low.max() < 0.5


def test_dispersion_meets_the_abbe_number():
    lines = np.array([486.1, 587.6, 656.3, 587.6])
    lam = g.leaf("lambdas", (4,))
    p = SimpleNamespace(
        specular_ior=g.constant(1.7), specular_weight=g.constant(1.0), coat_weight=g.constant(0.0), lambdas=lam,
        transmission_dispersion_scale=g.constant(0.5), transmission_dispersion_abbe_number=g.constant(30.0),
    )  # fmt: skip
    (n,) = g.evaluate([fresnel.base_interface(p).eta], {lam: lines})
    assert abs(n[1] - 1.7) < 1e-12 and abs((n[1] - 1.0) / (n[0] - n[2]) - 60.0) < 1e-9


def airy(n0, n1, n2, mu, d, lam):
    """The Airy sum by complex amplitudes of both sides, unpolarised (Born and Wolf, section 7.6)."""
    s2 = (n0 * np.sqrt(1 - mu * mu)) ** 2
    c = [np.sqrt(1 - s2 / np.asarray(n, complex) ** 2) for n in (n0, n1, n2)]
    phase = np.exp(1j * 4 * np.pi * n1 * d * 1000 * c[1] / lam)

    def amplitude(a, b):
        return (a - b) / (a + b)

    n = (n0, n1, n2)
    s = [amplitude(n[k] * c[k], n[k + 1] * c[k + 1]) for k in (0, 1)]
    p = [amplitude(n[k + 1] * c[k], n[k] * c[k + 1]) for k in (0, 1)]
    return sum(abs((r01 + r12 * phase) / (1 + r01 * r12 * phase)) ** 2 for r01, r12 in (s, p)) / 2


LAMBDAS = np.array([420.0, 500.0, 580.0, 680.0])


def film_at(n0, n1, thickness):
    lam = g.leaf("lambdas", (4,))
    i = interface(1.5)
    p = SimpleNamespace(thin_film_ior=g.constant(n1), thin_film_thickness=g.constant(thickness), lambdas=lam)
    return lam, i, film.film(p, i, C)


@pytest.mark.parametrize("n1,thickness", [(1.4, 0.5), (2.3, 0.2), (1.33, 1.0), (1.9, 0.0)])
def test_film_on_glass(n1, thickness):
    lam, i, f = film_at(1.0, n1, thickness)
    for mu in (1.0, 0.7, 0.2, 0.05):
        (got,) = g.evaluate([film.on_dielectric(i, f)], {lam: LAMBDAS, C: mu})
        np.testing.assert_allclose(got, airy(1.0, n1, 1.5, mu, thickness, LAMBDAS), rtol=1e-5, atol=1e-7)


def test_film_on_metal():
    """A metal of index i K, of which the film knows the reflectance: lossless, as is a dimmer one's part."""
    lam, _, f = film_at(1.0, 1.8, 0.3)
    for mu in (1.0, 0.6, 0.1):
        (got,) = g.evaluate([film.on_metal(g.constant(1.0), f)], {lam: LAMBDAS, C: mu})
        np.testing.assert_allclose(got, 1.0, atol=1e-9)
    # Extinction decides the phase alone: with reflectance from the true index 0.4 + 3 i the fringes are close.
    index = 0.4 + 3j
    bare = airy(1.0, 1.0, index, 1.0, 0.0, LAMBDAS)
    (got,) = g.evaluate([film.on_metal(g.constant(bare), f)], {lam: LAMBDAS, C: 1.0})
    np.testing.assert_allclose(got, airy(1.0, 1.8, index, 1.0, 0.3, LAMBDAS), atol=0.05)
    # Without thickness it is the metal.
    lam, _, f = film_at(1.0, 1.8, 0.0)
    (got,) = g.evaluate([film.on_metal(g.constant(bare), f)], {lam: LAMBDAS, C: 0.4})
    np.testing.assert_allclose(got, bare, rtol=1e-9)


def test_metal_meets_its_colours():
    """F82-tint: base_color at normal incidence, specular_color times Schlick at cosine 1/7."""
    p = SimpleNamespace(
        base_weight=g.constant(0.9), base_color=g.constant((0.9, 0.6, 0.3, 0.1)), specular_weight=g.constant(1.0),
        specular_color=g.constant((0.5, 0.8, 1.0, 0.2)),
    )  # fmt: skip
    f = metal.reflectance(metal.metal(p), C)
    f0 = 0.9 * np.array([0.9, 0.6, 0.3, 0.1])
    np.testing.assert_allclose(g.evaluate([f], {C: 1.0})[0], f0)
    schlick = f0 + (1 - f0) * (6 / 7) ** 5
    np.testing.assert_allclose(g.evaluate([f], {C: 1 / 7})[0], schlick * [0.5, 0.8, 1.0, 0.2])


def eon(sigma, rho):
    e = diffuse.eon(WI, sigma)
    single, double = diffuse.shape(e, WO)
    return rho * single + diffuse.bounces(e, rho) * double, diffuse.albedo(e, rho, diffuse.bounces(e, rho))


def test_eon_is_reciprocal_and_keeps_energy():
    f, albedo = eon(A, B)
    e = diffuse.eon(WO, A)
    swapped = list(diffuse.shape(e, WI))
    back = B * swapped[0] + diffuse.bounces(e, B) * swapped[1]
    rng = np.random.default_rng(3)
    values = {WI: sphere(rng, 500, True), WO: sphere(rng, 500, True), A: rng.random(500), B: rng.random(500)}
    np.testing.assert_allclose(*g.evaluate([f, back], values), rtol=1e-10)
    for sigma in (0.0, 0.4, 1.0):
        for mu in (0.05, 0.5, 1.0):
            for rho in (0.3, 1.0):
                x, want = g.evaluate([f, albedo], {WI: direction(mu), WO: disk(700), A: sigma, B: rho})
                assert abs(x.mean() - want.mean()) < 1e-3
                assert rho < 1.0 or abs(want.mean() - 1.0) < 1e-12


@pytest.mark.parametrize("n,want", [(1.5, 0.59635), (1 / 1.5, 0.09178), (2.0, None)])
def test_internal_reflection_is_fitted(n, want):
    (got,) = g.evaluate([internal_reflection(fresnel.amplitude(C))], {C: n})
    if want is None:
        x, w = np.polynomial.legendre.leggauss(400)
        mu = (x + 1) / 2
        outside = (w * mu * g.evaluate([plain.dielectric(C, g.constant(n))], {C: mu})[0]).sum()
        want = 1.0 - (1.0 - outside) / n**2
    assert abs(got - want) < 4e-3
