"""Derivatives by strands' control points and radii against finite differences, in f64; without boundary terms they fail."""

import numpy as np
import pytest

import irys_ti as it
from irys_ti import tiers
from irys_ti.errors import MissingGradientError, SceneError
from irys_ti.scene import Sphere, origin_of
from tests.hair.scenes import PATHS, PIXELS, above_a_floor, before_the_sky, bent, compare, tress
from tests.hair.strands import furnace, strands
from tests.helpers.stage import smooth_weight, stage

NOISY = "a few boundary samples, by the sun's shadow lines on strands themselves as it seems, make it too noisy to tell"


@pytest.mark.slow
def test_a_strand_before_a_bright_sky(f64):
    """Its outline, by points and radii: the strand is black, so that nothing else tells."""
    compare(before_the_sky(values={"reflectance": 0.0}), spp=1, precise=0.05)


@pytest.mark.slow
@pytest.mark.xfail(reason=NOISY)
def test_a_painted_strand_before_the_sky(f64):
    """With shading too."""
    compare(before_the_sky(sky=0.3))


def test_the_shadow_of_a_strand(f64):
    """On a floor, in the light of the sun: outline, shading and shadow; without the shadow alone it fails too."""
    scene = above_a_floor()
    compare(scene, n=1, fd_spp=256, precise=0.3)
    compare(scene, ["tress.radii"], n=1, fd_spp=256, off="outlines", spp=16)


@pytest.mark.slow
@pytest.mark.xfail(reason=NOISY)
def test_several_strands(f64):
    compare(above_a_floor(tress()), fd_spp=1024)


def test_poses_of_curves_and_what_stands_among_them(f64):
    """A tress's translation and scale are what its points and radii add up to; a floor and a camera beside it."""
    scene = above_a_floor(tress())
    paths = ["tress.translation", "tress.scale", "floor.translation", "camera.position", *PATHS]
    g = it.backward(scene, smooth_weight(PIXELS), 16, 1, paths)
    shape = scene.shapes[0]
    np.testing.assert_allclose(g["tress.points"].sum(0), g["tress.translation"], rtol=1e-5, atol=1e-9)
    middle = origin_of(shape)
    grown = (g["tress.points"] * (shape.points - middle)).sum() + (g["tress.radii"] * shape.radii).sum()
    np.testing.assert_allclose(grown, g["tress.scale"], rtol=1e-5, atol=1e-9)
    whole = g["tress.translation"] + g["camera.position"] + g["floor.translation"]
    size = np.abs(g["tress.translation"]).max()
    np.testing.assert_allclose(whole, 0.0, atol=1e-6 * size)  # when all moves together nothing changes
    again = it.backward(scene, smooth_weight(PIXELS), 16, 1, paths)
    for path in paths:
        np.testing.assert_array_equal(g[path], again[path])


def test_moved_in_place(f64):
    """New points and radii are seen at once, as in a scene made with them, and the gradient after them too."""
    scene, other = above_a_floor(tress()), above_a_floor(tress())
    weight = smooth_weight(PIXELS)
    it.render(scene, 4)
    splits = scene.shapes[0].splits
    rng = np.random.default_rng(1)
    points = scene.shapes[0].points + 0.03 * rng.standard_normal(scene.shapes[0].points.shape)
    it.parameters(scene)["tress.points"] = points
    it.parameters(scene)["tress.radii"] = 1.2 * scene.shapes[0].radii
    other.shapes[0].points, other.shapes[0].radii, other.shapes[0].splits = points, 1.2 * other.shapes[0].radii, splits
    np.testing.assert_allclose(it.render(scene, 4), it.render(other, 4), rtol=1e-6, atol=1e-9)
    a, b = (it.backward(s, weight, 4, 1, PATHS) for s in (scene, other))
    for path in PATHS:
        np.testing.assert_allclose(a[path], b[path], rtol=1e-6, atol=1e-9)


def test_what_has_no_derivative_says_why(f64):
    def declined(scene, path):
        with pytest.raises(MissingGradientError) as caught:
            it.backward(scene, np.ones((24, 24, 3)), 4, params=[path])
        assert "\n" not in str(caught.value)
        return str(caught.value)

    for path in ("tress.points", "tress.radii", "tress.translation", "camera.position"):
        assert "style 'round'" in declined(furnace(strands(3, style="ribbon")), path)
    grouped = furnace(strands(3, group="lock"))
    grouped.instances = [it.Instance("lock", id="one")]
    assert "instances" in declined(grouped, "one.translation")
    furry = furnace(strands(3))
    furry.shapes.append(Sphere(id="ball", material="keratin", center=np.zeros(3), radius=0.1))
    assert "fibres" in declined(furry, "tress.points")
    with pytest.raises(MissingGradientError, match="forward mode"):
        it.forward(furnace(strands(3)), {"tress.points": 1.0}, 4)
    for path, value, text in (("tress.radii", -1.0, "out of range"), ("tress.points", np.nan, "not finite")):
        scene = furnace(strands(3))
        with pytest.raises(SceneError, match=text):
            it.parameters(scene)[path] = np.full(it.parameters(scene)[path].shape, value)


# -- slow: other lights, other bases, more bounces, hair -------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("light", ["lamp", "glow", "sky", "bulb", "beam"])
def test_shadows_of_strands_in_every_light(light, f64):
    scene = stage(light, parts=[])
    scene.shapes.append(tress())
    scene.shapes[-1].material = "red"
    compare(scene, spp=128, boundary_spp=256, fd_spp=1024, precise=0.25)


@pytest.mark.slow
@pytest.mark.parametrize("light", ["bulb", "lamp"])
def test_strands_in_bounced_light(light, f64):
    scene = stage(light, parts=[], depth=4)
    scene.shapes.append(tress())
    scene.shapes[-1].material = "red"
    compare(scene, spp=256, boundary_spp=512, fd_spp=2048, precise=0.25)


@pytest.mark.slow
@pytest.mark.parametrize("basis", ["bspline", "bezier"])
def test_other_bases(basis, f64):
    shape = bent(basis=basis)
    if basis == "bezier":
        shape.points, shape.radii, shape.offsets = shape.points[:4], shape.radii[:4], np.array([0, 4])
    compare(before_the_sky(shape, sky=0.3), fd_spp=1024)


@pytest.mark.slow
@pytest.mark.parametrize("depth", [2, 5])
def test_hair(depth, f64):
    """Rough hair under the sun, light through the fibres too."""
    values = {"eumelanin": 0.3, "beta_m": 0.7, "beta_n": 0.7, "tilt": 3.0}
    compare(above_a_floor(tress(), depth=depth, kind="hair", values=values, sky=0.05), spp=512, boundary_spp=256, fd_spp=2048, precise=0.3)


@pytest.mark.slow
def test_same_gradients_in_both_tiers(f32):
    """f32 against f64 over the paths that decide alike, within 5e-4."""
    found = tiers.compare(above_a_floor(tress()), PATHS, 64, d_image=smooth_weight(PIXELS))
    for path, d in found.parameters.items():
        print(f"{path}: {d.difference:.1e} over paths alike, {found.different} of {found.lanes} paths decide differently")
        assert d.difference < 5e-4
