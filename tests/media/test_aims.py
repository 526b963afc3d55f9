"""Scatterings drawn near to lights that stand at a place: light scattered once, against its integral along the ray."""

import numpy as np
import pytest
from scipy.integrate import quad

import irys_ti as it
from irys_ti.device import media
from irys_ti.device.compile import compiled
from irys_ti.kernels.config import AIMED, PRIMAL
from irys_ti.kernels.layout import H_AIMS
from irys_ti.scene import Sphere, constant, rectangle
from irys_ti.scene.transform import scale, translate
from tests.helpers.media import ball
from tests.helpers.scenes import FLAT
from tests.helpers.statistics import assert_z, mean_and_error, sample

LIGHTS = {"bulb": ([0.0, 0.05, 0.3], 0.5), "lamp": ([0.0, -0.5, -0.4], 0.4)}


def scene(sigma=0.4):
    """A ray through the middle of a ball of thin fog with two point lights in it, and a sky that is seen through it."""
    out = ball({"sigma_t": sigma, "albedo": 0.8}, [0, 0, 4], sky=0.05, depth=2)
    out.lights[1:] = [it.Light(k, "point", {"intensity": constant(i)}, translate(*at)) for k, (at, i) in LIGHTS.items()]
    return out


def expected(sigma):
    """Along z = 1 - t: exp(-sigma (t + r)) / r^2 of each light, evenly scattered; and the sky, scattered and as it is."""
    total = 0.05 * np.exp(-2 * sigma)
    for at, intensity in LIGHTS.values():
        def shown(t, at=at, intensity=intensity):
            r = np.linalg.norm(np.array([0, 0, 1 - t]) - at)
            return sigma * 0.8 / (4 * np.pi) * intensity * np.exp(-sigma * (t + r)) / r**2
        total += quad(shown, 0, 2, points=[0.7, 1.4], epsabs=1e-10)[0]

    def sky(t, mu):  # the way out of the ball from z at cosine mu
        z = 1 - t
        return np.exp(-sigma * (t + np.sqrt(1 - z * z * (1 - mu * mu)) - z * mu))
    nodes, w = np.polynomial.legendre.leggauss(16)
    for mu, weight in zip(nodes, w):
        total += 0.05 * sigma * 0.8 * 0.5 * weight * quad(sky, 0, 2, args=(mu,))[0]
    return total


def seen(where, spp=64):
    return lambda seed: (it.render(where, spp, seed).mean((0, 1)) * FLAT).mean()


def test_light_scattered_once(f32):
    """The picture, its derivative by extinction, and how much less noise there is than by free flight alone."""
    fog, sigma, h = scene(), 0.4, 1e-3
    x = sample(seen(fog), range(16))
    assert_z(x, expected(sigma), precise=0.01)
    with pytest.raises(AssertionError):
        assert_z(x, 1.08 * expected(sigma))
    slope = (expected(sigma + h) - expected(sigma - h)) / (2 * h)
    weight = np.tile(FLAT / 3 / 64, (8, 8, 1))
    g = sample(lambda seed: float(it.backward(fog, weight, 64, seed, ["fog.sigma_t"])["fog.sigma_t"]), range(16))
    assert_z(g, slope, precise=0.02)
    with pytest.raises(AssertionError):
        assert_z(g, 1.2 * slope)


def test_small_lamps_are_aimed_at(f32):
    """Lights' places and shares: a small ball and a small card with their points, a large one and the sky without."""
    fog = scene()
    lamps = [Sphere(id="ball2", material="black", center=np.array([0.1, 0.2, 0.3]), radius=0.01)]
    lamps += [rectangle(translate(0, -0.3, 0) @ scale(s), id=f"card{int(100 * s)}", material="black") for s in (0.01, 0.5)]
    for s in lamps:
        s.light = it.Light(s.id, "area", {"radiance": 3.0})
    fog.shapes += lamps
    device = compiled(fog)
    found = device.lights.aims()
    assert len(found) == 4 and device.media.bits(PRIMAL, device) & AIMED
    for at in ([0.1, 0.2, 0.3], [0, -0.3, 0], *(at for at, _ in LIGHTS.values())):
        assert np.abs(found[:, :3] - at).sum(1).min() < 1e-6
    assert 0 < found[:, 3].sum() < 0.5 and np.array_equal(found[:, 3], np.sort(found[:, 3])[::-1])
    at = device.mirror_ints[H_AIMS]
    assert device.mirror_reals[at] == 4 and np.array_equal(device.mirror_reals[at + 1 : at + 17], found.reshape(-1))


@pytest.mark.slow
def test_less_noise_than_by_free_flight(f32, monkeypatch):
    """Variance of the picture and of the derivative, samples alike; another kernel each, so it is not run by default."""
    weight, found = np.tile(FLAT / 3 / 64, (8, 8, 1)), {}
    for aiming in (True, False):
        monkeypatch.setattr(media, "AIMING", aiming)
        fog = scene()
        x = sample(seen(fog, 16), range(64))
        g = sample(lambda seed: float(it.backward(fog, weight, 16, seed, ["fog.sigma_t"])["fog.sigma_t"]), range(64))  # noqa: B023
        found[aiming] = x, g
        assert_z(x, expected(0.4))
    print([(mean_and_error(x), mean_and_error(g)) for x, g in found.values()])
    for which in (0, 1):
        assert found[True][which].var() < 0.5 * found[False][which].var()
