"""Sun and sky: the model against its formulas, its light by rendering against quadrature, its derivatives by z-test."""

from dataclasses import replace

import numpy as np
import pytest

import irys_ti as it
from irys_ti.device.compile import compiled
from irys_ti.device.lights import LightTable
from irys_ti.kernels import layout
from irys_ti.scene import Camera, Film, Light, constant, cube, rectangle, transform
from irys_ti.spectral import skymodel
from tests.helpers.statistics import assert_z, sample, z_scores
from tests.lights.scenes import NOON, floor, gloss, irradiance
from tests.test_gradients import kernels_compiled

STEPS = {
    "turbidity": 0.05, "albedo": 0.05, "sun_elevation": 1.0, "sun_azimuth": 1.0, "sky_scale": 0.05, "sun_scale": 0.05,
}  # fmt: skip
PATHS = [f"sky.{name}" for name in STEPS]


def by_hand(d, turbidity, albedo, elevation, azimuth):
    """Hosek and Wilkie's sky as the papers write it, one number at a time."""
    data = skymodel._data()
    e, a = np.deg2rad([elevation, azimuth])
    gamma = np.arccos(np.dot(d, [np.cos(e) * np.sin(a), np.sin(e), -np.cos(e) * np.cos(a)]))
    x, low = (elevation / 90) ** (1 / 3), int(turbidity)
    bezier = [(1 - x) ** 5, 5 * (1 - x) ** 4 * x, 10 * (1 - x) ** 3 * x**2, 10 * (1 - x) ** 2 * x**3, 5 * (1 - x) * x**4, x**5]
    out = []
    for i in range(11):
        c = np.zeros(10)
        for t, weight in ((low - 1, low + 1 - turbidity), (low, turbidity - low)):
            for ground in range(2):
                share = weight * (albedo if ground else 1 - albedo)
                for k in range(6):
                    c[:9] += share * bezier[k] * data["shape"][t, ground, k, i]
                    c[9] += share * bezier[k] * data["radiance"][t, ground, k, i]
        chi = (1 + np.cos(gamma) ** 2) / (1 + c[8] ** 2 - 2 * c[8] * np.cos(gamma)) ** 1.5
        first = 1 + c[0] * np.exp(c[1] / (d[1] + 0.01))
        second = c[2] + c[3] * np.exp(c[4] * gamma) + c[5] * np.cos(gamma) ** 2 + c[6] * chi + c[7] * np.sqrt(d[1])
        out.append(first * second * c[9])
    return out


@pytest.mark.parametrize("case", [(3.5, 0.3, 50.2, 143.0), (1.0, 0.0, 5.0, -20.0), (9.7, 1.0, 89.0, 300.0)])
def test_the_sky_follows_its_formula(case):
    for d in ([0.1, 0.9, -0.2], [-0.5, 0.05, 0.3], [0.0, 1.0, 0.0]):
        d = np.array(d) / np.linalg.norm(d)
        sky, _ = skymodel.radiance(d[None], *case[:3], case[3])
        np.testing.assert_allclose(sky[0], by_hand(d, *case), rtol=1e-10)


def test_numbers_of_another_program():
    """Mitsuba 3.9.1's sunsky (complex_sun), turbidity 3.5, albedo 0.3, at 400, 455, 560 and 700 nm."""
    turn = np.array([[1.0, 0, 0], [0, 0, 1], [0, -1, 0]])  # its z is up
    d = np.array([[0.1, 0.2, 0.9], [-0.5, 0.2, 0.1], [0.3, 0.4, 0.6]])
    d = (d / np.linalg.norm(d, axis=1)[:, None]) @ turn.T
    sun = d[2]
    place = np.rad2deg([np.arcsin(sun[1]), np.arctan2(sun[0], -sun[2])])
    sky, disc = skymodel.radiance(d, 3.5, 0.3, *place)
    expected = [[0.12391815, 0.12181184, 0.06887873, 0.03526359], [0.19220911, 0.21862668, 0.12251997, 0.05343412]]
    np.testing.assert_allclose(skymodel.at(sky[:2], [400, 455, 560, 700]), expected, rtol=2e-6)
    np.testing.assert_allclose(skymodel.at(disc[2], [400, 560, 700]), [11007.169, 20653.947, 18549.432], rtol=2e-6)
    assert np.all(disc[:2] == 0)


def test_coefficients_and_their_slopes():
    at = {"turbidity": 3.5, "albedo": 0.3, "elevation": 50.2}
    _, slopes = skymodel.coefficients(**at)
    for slope, name in zip(slopes, at):
        low, high = ({**at, name: at[name] + h} for h in (-1e-4, 1e-4))
        difference = (skymodel.coefficients(**high)[0] - skymodel.coefficients(**low)[0]) / 2e-4
        np.testing.assert_allclose(slope, difference, rtol=1e-6, atol=1e-6 * np.abs(slope).max())


@pytest.mark.parametrize("tier", ["f64", "f32"])
def test_irradiance_of_a_plane(tier, request):
    """Rendering equals quadrature of the model within 0.3 %: sky alone, sun alone, both; the sun low and high."""
    request.getfixturevalue(tier)
    cases = [(NOON, 1, 0), (NOON, 0, 1), (NOON, 1, 1), ({**NOON, "sun_elevation": 8.0, "turbidity": 6.2}, 1, 1)]
    for values, sky_scale, sun_scale in cases:
        sky, sun = irradiance(**values)
        scene = floor(Light("sky", "sky", {**values, "sky_scale": sky_scale, "sun_scale": sun_scale}))
        found = np.pi * sample(lambda seed, scene=scene: it.render(scene, 256, seed).mean((0, 1)))
        expected = sky_scale * sky + sun_scale * sun
        assert_z(found, expected, precise=1e-3)
        np.testing.assert_allclose(found.mean(0), expected, rtol=3e-3)


def test_a_sky_that_is_two_percent_off_is_noticed(f64):
    sky, _ = irradiance(**NOON)
    scene = floor(Light("sky", "sky", {**NOON, "sun_scale": 0.0}))
    found = np.pi * sample(lambda seed: it.render(scene, 256, seed).mean((0, 1)))
    assert np.all(np.abs(z_scores(1.02 * found, sky)) > 6)


def test_the_sun_is_sampled_by_default(f64):
    """One sample a pixel under the open sun: noise of the order of the signal, not a rare firefly."""
    scene = floor(Light("sky", "sky", dict(NOON)), resolution=32)
    pixels = it.render(scene, 1, 1).mean(2)
    assert pixels.std() < pixels.mean()
    device = compiled(scene)
    sun = np.diff(device.mirror_reals[device.lights.cdf_at :][:3])[1]
    assert 0.5 < sun <= 0.75


def lamps() -> list:
    """A lamp that is a shape, a point, a directional and a spot light."""
    down = transform.rotate([1, 0, 0], 90)
    return [
        Light("point", "point", {"intensity": constant(0.4)}, transform.translate(0.5, 1.5, 0)),
        Light("far", "directional", {"irradiance": constant(0.3)}, down),
        Light("spot", "spot", {"intensity": constant(2.0), "cutoff_angle": 40.0}, transform.translate(0, 2, 0.3) @ down),
    ]


def with_lamp(scene):
    """The same scene with an area light over it."""
    down = transform.translate(-0.6, 1.4, 0) @ transform.rotate([1, 0, 0], 90) @ transform.scale(0.4)
    shape = rectangle(down, id="lamp", material="white", light=Light("lamp", "area", {"radiance": constant(2.0)}))
    return replace(scene, shapes=[*scene.shapes, shape])


@pytest.mark.slow
def test_a_choice_of_lights_is_their_sum(f64):
    """One light is chosen at each vertex: the mean is the sum of pictures under each alone, direct light and bounces."""
    scene = with_lamp(floor(Light("sky", "sky", dict(NOON)), *lamps(), depth=4))
    p = it.parameters(scene)
    scales = ["sky.sky_scale", "sky.sun_scale", "point.intensity", "far.irradiance", "spot.intensity", "lamp.radiance"]
    full = {path: float(p[path]) for path in scales}

    def picture(lit, spp):
        for path in scales:
            p[path] = full[path] * (path in lit)
        return sample(lambda seed: it.render(scene, spp, seed).mean((0, 1)), range(8))

    together = picture(scales, 256)
    apart = [picture([path], 128) for path in scales]
    expected = sum(x.mean(0) for x in apart)
    error = np.sqrt(sum(x.var(0, ddof=1) / len(x) for x in apart))
    assert_z(together, expected, error, precise=5e-3)
    assert np.all(np.abs(z_scores(1.05 * together, expected, error)) > 4)


def test_light_sampling_against_brute_force(f64):
    """With no light ever chosen, directions of the surface alone must find the same; a sun 15 degrees wide, to be found."""
    scene = with_lamp(floor(Light("sky", "sky", {**NOON, "sun_aperture": 15.0})))
    chosen = sample(lambda seed: it.render(scene, 256, seed).mean((0, 1)), range(8))
    device = compiled(scene)
    at = device.lights.cdf_at
    device.mirror_reals[at : at + device.lights.n_entries + 1] = 0.0
    device.upload_head()
    brute = sample(lambda seed: it.render(scene, 1024, seed).mean((0, 1)), range(8))
    assert device.mirror_reals[at + device.lights.n_entries] == 0.0
    assert_z(chosen, brute.mean(0), brute.std(0, ddof=1) / np.sqrt(8), precise=5e-3)
    assert brute.std(0).mean() > chosen.std(0).mean()


def differences(scene, weight, seeds=range(100, 112)):
    """{path: (n,) finite differences of the weighted picture}."""
    p, out = it.parameters(scene), {}
    for name, h in STEPS.items():
        path, found = f"sky.{name}", []
        start = float(p[path])
        for seed in seeds:
            ends = []
            for sign in (1, -1):
                p[path] = start + sign * h
                ends.append(float((weight * it.render(scene, 128, seed)).sum()))
            found.append((ends[0] - ends[1]) / (2 * h))
        p[path] = start
        out[path] = np.array(found)
    return out


def test_gradients(f64, monkeypatch):
    """Every parameter of the sky against finite differences, where nothing casts a shadow; without the light that rides
    with the sun its direction's derivative is wrong, and noticed."""
    scene = gloss(**NOON)
    weight = np.random.default_rng(0).random((8, 8, 3)) / 192
    fd = differences(scene, weight)
    found = [it.backward(scene, weight, 64, seed, PATHS, boundary="off") for seed in range(12)]
    assert all(g.replayed[0] == g.replayed[1] for g in found)
    for path in PATHS:
        x = np.array([g[path] for g in found])
        error = fd[path].std(ddof=1) / np.sqrt(len(fd[path]))
        assert_z(x, fd[path].mean(), error)
        assert np.hypot(x.std(ddof=1) / np.sqrt(len(x)), error) < 0.06 * np.abs(x.mean()), path
        assert bool(found[0].notes.get(path)) == ("sun_e" in path or "sun_az" in path)

    want = LightTable.want

    def still(self, device, paths):
        want(self, device, paths)
        self.records[:, layout.LIGHT_WANTED] &= ~layout.RIDING
        device.mirror_ints[self.records_at : self.records_at + self.records.size] = self.records.reshape(-1)

    monkeypatch.setattr(LightTable, "want", still)
    monkeypatch.setattr(LightTable, "riding", True)  # the same kernel
    for path in ("sky.sun_elevation", "sky.sun_azimuth"):
        x = np.array([it.backward(scene, weight, 64, seed, [path], boundary="off")[path] for seed in range(12)])
        assert np.abs(z_scores(x, fd[path].mean(), fd[path].std(ddof=1) / np.sqrt(12))) > 4


@pytest.mark.slow
def test_the_shadow_moves_with_the_sun(f64):
    """A box throws its shadow on a floor: with the shadow's edges the sun's direction has its derivative, without not."""
    n = 24
    scene = floor(Light("sky", "sky", {**NOON, "sun_aperture": 3.0, "sun_azimuth": 70.0}))
    scene.camera = Camera(transform.look_at([0, 6, 6], [0, 0.3, 0], [0, 1, 0]), 34, film=Film(n, n))
    box = transform.translate(0, 0.8, 0) @ transform.rotate([0, 1, 0], 30) @ transform.scale(0.5)
    scene.shapes.append(cube(box, id="box", material="white"))
    x, y = np.meshgrid(np.linspace(-1, 1, n), np.linspace(-1, 1, n))
    weight = np.stack([np.sin(2 * x + y) + 0.3] * 3, -1) / (3 * n * n)
    paths, p = ["sky.sun_elevation", "sky.sun_azimuth"], it.parameters(scene)
    whole, shading = ([it.backward(scene, weight, 64, k, paths, boundary=b) for k in range(8)] for b in ("all", "off"))
    for path in paths:
        start, ends = float(p[path]), []
        for sign in (1, -1):
            p[path] = start + sign
            ends.append(sample(lambda seed: (weight * it.render(scene, 256, seed)).sum(), range(50, 58)))
        p[path] = start
        fd = (ends[0] - ends[1]) / 2
        error = fd.std(ddof=1) / np.sqrt(len(fd))
        assert_z(np.array([g[path] for g in whole]), fd.mean(), error, precise=0.05)
        assert np.abs(z_scores(np.array([g[path] for g in shading]), fd.mean(), error)) > 6


@pytest.mark.slow
def test_forward_mode_is_the_transpose(f64):
    scene = gloss(**NOON)
    weight = np.random.default_rng(0).random((8, 8, 3)) / 192
    found = it.backward(scene, weight, 64, 3, PATHS, boundary="off")
    for path in PATHS:
        forward = float((weight * it.forward(scene, {path: 1.0}, 64, 3)).sum())
        np.testing.assert_allclose(forward, found[path], rtol=1e-9)


def test_f32_gradients_are_those_of_f64(f64):
    """Same seeds, same paths: the tiers agree to rounding."""
    scene = gloss(**NOON)
    weight = np.random.default_rng(0).random((8, 8, 3)) / 192
    exact = it.backward(scene, weight, 32, 5, PATHS, boundary="off")
    it.init("cpu", "f32")
    fast = it.backward(scene, weight, 32, 5, PATHS, boundary="off")
    for path in PATHS:
        np.testing.assert_allclose(fast[path], exact[path], rtol=2e-4, err_msg=path)


@pytest.mark.parametrize("elevation", [0.0, 90.0])
def test_horizon_and_zenith_are_finite(elevation, f32):
    scene = gloss(**{**NOON, "sun_elevation": elevation, "turbidity": 10.0, "albedo": 1.0})
    g = it.backward(scene, np.full((8, 8, 3), 1 / 192), 8, params=PATHS, boundary="off")
    assert g["sky.sky_scale"] > 0
    assert all(np.isfinite(g[p]).all() for p in PATHS)


def test_values_change_without_compiling(f32):
    scene = floor(Light("sky", "sky", dict(NOON)))
    bright = it.render(scene, 16).mean()
    before = kernels_compiled()
    p = it.parameters(scene)
    p["sky.sun_elevation"], p["sky.turbidity"], p["sky.sun_scale"] = 5.0, 8.0, 0.0
    assert it.render(scene, 16).mean() < 0.7 * bright
    assert kernels_compiled() == before


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [("turbidity", 11.0, "[1, 10]"), ("sun_elevation", -1.0, "negative"), ("albedo", 1.2, "[0, 1]"), ("haze", 1.0, "haze")],
)
def test_what_the_model_does_not_cover_is_refused(name, value, words, f32):
    with pytest.raises(it.SceneError) as error:
        it.render(floor(Light("sky", "sky", {name: value})), 1)
    assert words in str(error.value) and "\n" not in str(error.value)


def test_the_rim_declines(f32):
    with pytest.raises(it.MissingGradientError, match="rim"):
        it.backward(floor(Light("sky", "sky")), np.ones((8, 8, 3)), 1, params=["sky.sun_aperture"])


def test_the_sun_by_place_and_time():
    """At solar noon of a solstice the sun stands 90 - latitude + 23.44 degrees high, in the south; astral's refraction
    is below 0.03 degrees there."""
    pytest.importorskip("astral")
    found = it.sun_position(51.5, 0.0, "2026-06-21T12:02+00:00")
    assert abs(found["sun_elevation"] - (90 - 51.5 + 23.44)) < 0.05
    assert abs(found["sun_azimuth"] - 180) < 0.3
    morning = it.sun_position(51.5, 0.0, "2026-06-21T08:00:00Z")
    assert 60 < morning["sun_azimuth"] < 120
    floor(Light("sky", "sky", {"turbidity": 2.0, **found}))
    for time, words in (("2026-06-21T12:02", "zone"), ("noon", "ISO"), ("2026-06-21T00:02Z", "below the horizon")):
        with pytest.raises(it.SceneError, match=words):
            it.sun_position(51.5, 0.0, time)
    with pytest.raises(it.SceneError, match="globe"):
        it.sun_position(151.5, 0.0, "2026-06-21T12:02Z")
