"""Gradients of whole scenes: forward against reverse mode, against finite differences, and their plumbing."""

import numpy as np
import pytest

import irys_ti as it
from irys_ti.kernels.path import trace_paths
from irys_ti.scene import constant
from tests.helpers.scenes import gold_ball
from tests.helpers.statistics import assert_z, sample

PATHS = ["metal.alpha", "metal.eta", "metal.k", "metal.specular_reflectance", "floor.reflectance", "lamp.radiance", "sky.radiance"]


def smooth_weight(n=32):
    """A fixed weight image without symmetry."""
    y, x = np.mgrid[0:n, 0:n] / n
    return np.stack([np.sin(3 * x + y), np.cos(2 * y - x), 0.5 + x * y], -1)


@pytest.mark.parametrize("tier", ["f64", "f32"])
def test_forward_mode_is_the_transpose_of_reverse_mode(tier, request):
    """<J v, u> = <v, J' u> on the same seeds, for every parameter at once and each alone."""
    request.getfixturevalue(tier)
    scene, u = gold_ball(), smooth_weight()
    rng = np.random.default_rng(3)
    p = it.parameters(scene)
    v = {path: rng.standard_normal(p[path].shape) for path in PATHS}
    reverse = it.backward(scene, u, 8, 5, PATHS)
    tolerance = 1e-9 if tier == "f64" else 3e-4
    total = 0.0
    for path in PATHS:
        left = float((it.forward(scene, {path: v[path]}, 8, 5) * u).sum())
        right = float((v[path] * reverse[path]).sum())
        total += right
        assert left == pytest.approx(right, rel=tolerance, abs=tolerance * np.abs(v[path] * reverse[path]).sum()), path
    assert float((it.forward(scene, v, 8, 5) * u).sum()) == pytest.approx(total, rel=10 * tolerance)


STEPS = {
    "metal.alpha": 0.01, "metal.specular_reflectance": 0.05, "floor.reflectance": 0.02, "lamp.radiance": 0.2,
    "sky.radiance": 0.02,
}  # fmt: skip


@pytest.mark.parametrize("path", STEPS)
def test_finite_differences(path, f64):
    """Reverse mode against central differences of the rendered loss, each from independent seeds."""
    scene, u = gold_ball(16), smooth_weight(16)
    scene.materials[1].values["specular_reflectance"] = constant(0.9)
    p = it.parameters(scene)
    start, direction = p[path], np.linspace(1.0, 0.5, p[path].size).reshape(p[path].shape)

    def difference(seed):
        ends = []
        for sign in (1, -1):
            p[path] = start + sign * STEPS[path] * direction
            ends.append(float((u * it.render(scene, 64, seed)).sum()))
        p[path] = start
        return (ends[0] - ends[1]) / (2 * STEPS[path])

    fd = sample(difference, range(16))
    reverse = sample(lambda seed: (it.backward(scene, u, 64, seed, [path])[path] * direction).sum(), range(50, 66))
    assert_z(reverse, fd.mean(), fd.std(ddof=1) / 4)
    assert abs(reverse.std(ddof=1) / 4) < 0.1 * np.abs(fd.mean()), "too noisy to tell"


def test_a_crop_has_the_gradient_of_the_same_pixels_to_the_bit(f32):
    u = smooth_weight()
    inside = np.zeros_like(u)
    inside[8:20, 4:28] = u[8:20, 4:28]
    whole = it.backward(gold_ball(), inside, 8, 3, PATHS)
    scene = gold_ball()
    scene.camera.film.crop = (4, 8, 24, 12)
    part = it.backward(scene, u[8:20, 4:28], 8, 3, PATHS)
    for path in PATHS:
        assert np.array_equal(whole[path], part[path]), path
    assert np.array_equal(it.render(scene, 4), it.render(gold_ball(), 4)[8:20, 4:28])


def test_assigning_its_own_value_changes_nothing(f32):
    scene = gold_ball()
    before = it.render(scene, 4)
    p = it.parameters(scene)
    for path in p:
        p[path] = p[path]
    assert np.array_equal(before, it.render(scene, 4))
    p["metal.alpha"] = 0.5
    assert not np.array_equal(before, it.render(scene, 4))


def kernels_compiled():
    """Number of specialisations of the path kernel in this process."""
    return len(trace_paths._primal.compiled_kernels)


def test_nothing_recompiles(f32):
    """New values, another resolution, more triangles, another texture: the same kernel."""
    scene = gold_ball()
    scene.materials[0].values["reflectance"] = it.Texture(np.full((4, 4, 3), 0.5))
    it.backward(scene, smooth_weight(), 1, 1, ["metal.alpha"])
    it.render(scene, 1)
    before = kernels_compiled()
    it.parameters(scene)["metal.alpha"] = 0.1
    scene.materials[0].values["reflectance"] = it.Texture(np.full((9, 5, 3), 0.25))
    scene.camera.film.width = scene.camera.film.height = 16
    scene.shapes.append(it.scene.cube(0.3 * np.eye(4) + np.diag([0, 0, 0, 0.7]), id="box", material="floor"))
    it.render(scene, 2)
    it.backward(scene, smooth_weight(16), 3, 1, ["floor.reflectance"])
    assert kernels_compiled() == before


@pytest.mark.parametrize("channels", [1, 3])
def test_texture_gradients(channels, f64):
    """The texels' gradients add up to that of the constant colour they all hold, and none of those seen is zero."""
    n = 4
    colour = [0.4, 0.5, 0.3][:channels]
    flat, mapped = gold_ball(16), gold_ball(16)
    flat.materials[0].values["reflectance"] = it.scene.rgb(*colour) if channels == 3 else constant(0.4)
    mapped.materials[0].values["reflectance"] = it.Texture(np.tile(np.array(colour), (n, n, 1)))
    one = it.backward(flat, smooth_weight(16), 16, 1, ["floor.reflectance"])["floor.reflectance"]
    many = it.backward(mapped, smooth_weight(16), 16, 1, ["floor.reflectance"])["floor.reflectance"]
    assert many.shape == (n, n, channels)
    assert np.allclose(many.sum((0, 1)), one, rtol=1e-6)
    assert (np.abs(many).sum(-1) > 0).sum() >= n * n - 4


def test_views_and_lights_accumulate(f64):
    """Two views' gradients add; the gradient of a sum of lights is each light's own."""
    first, second = gold_ball(16), gold_ball(16)
    second.camera.to_world = it.scene.transform.look_at([3, 1.5, 2], [0, 0.8, 0], [0, 1, 0])
    second.materials = first.materials
    first.integrator.rr_depth = second.integrator.rr_depth = 100  # roulette would see the reflectance
    u = smooth_weight(16)
    both = [it.backward(s, u, 1, 1, ["floor.reflectance"])["floor.reflectance"] for s in (first, second)]
    assert not np.allclose(both[0], both[1])
    p = it.parameters(first)
    h = 1e-3
    image = {}
    for sign in (1, -1):
        p["floor.reflectance"] = np.array([0.3, 0.5, 0.6]) + sign * h
        image[sign] = [float((u * it.render(s, 1, 1)).sum()) for s in (first, second)]
    p["floor.reflectance"] = np.array([0.3, 0.5, 0.6])
    # A reflectance does not change what is sampled, so the same paths' difference is the derivative.
    fd = [(a - b) / (2 * h) for a, b in zip(image[1], image[-1])]
    assert np.allclose([g.sum() for g in both], fd, rtol=1e-4)


def test_gradient_of_two_halves(f32):
    """``it.gradient`` is unbiased: its loss at the truth is 0 on average and so is its gradient."""
    scene = gold_ball(16)
    target = np.mean([it.render(scene, 256, 900 + k) for k in range(8)], 0)
    found = [it.gradient(scene, it.L2(target), 8, (2 * k, 2 * k + 1), ["metal.alpha"]) for k in range(24)]
    assert_z(np.array([loss for loss, _ in found]), 0.0)
    assert_z(np.array([g["metal.alpha"] for _, g in found]), 0.0)
    it.parameters(scene)["metal.alpha"] = 0.4
    away = [it.gradient(scene, it.L2(target), 8, (2 * k, 2 * k + 1), ["metal.alpha"]) for k in range(8)]
    assert np.mean([loss for loss, _ in away]) > 1e-5
    assert np.mean([g["metal.alpha"] for _, g in away]) > 0


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda s: it.backward(s, np.ones((32, 32, 3)), 1, params=["metal.alfa"]), ["metal.alpha"]),
        (lambda s: it.backward(s, np.ones((31, 32, 3)), 1), ["d_image", "(31, 32, 3)", "(32, 32, 3)"]),
        (lambda s: it.backward(s, np.full((32, 32, 3), np.nan), 1), ["d_image", "NaN"]),
        (lambda s: it.parameters(s).__setitem__("floor.reflectance", [0.1, -0.2, 0.3]), ["floor.reflectance", "negative"]),
        (lambda s: it.parameters(s).__setitem__("floor.reflectance", [0.1, 1.2, 0.3]), ["floor.reflectance", "[0, 1]"]),
        (lambda s: it.parameters(s).__setitem__("floor.reflectance", [0.1, 0.2]), ["floor.reflectance", "shape"]),
        (lambda s: it.gradient(s, it.L2(np.zeros((4, 4, 3))), 1), ["target", "(4, 4, 3)"]),
    ],
)
def test_refusals_are_one_clear_line(call, words, f32):
    with pytest.raises(it.SceneError) as error:
        call(gold_ball())
    message = str(error.value)
    assert "\n" not in message and all(w in message for w in words), message


def test_the_index_of_smooth_glass_declines_and_says_so(f32):
    """It bends the ray: what Fresnel's factors alone give would be wrong, so nothing is given."""
    scene = gold_ball()
    scene.materials[1] = it.Material("metal", "dielectric")
    with pytest.raises(it.MissingGradientError, match="bends the refracted ray"):
        it.backward(scene, np.ones((32, 32, 3)), 1, params=["metal.int_ior"])
    assert "metal.int_ior" not in it.parameters(scene).differentiable()


@pytest.mark.parametrize("thin", [0.0, 1.0])
def test_a_parameter_without_effect_in_its_material_declines(thin, f32):
    """OpenPBR's subsurface anisotropy acts on thin walls and on walks of some length: else it is refused, not called zero."""
    scene, path = gold_ball(), "metal.subsurface_scatter_anisotropy"
    values = {"subsurface_weight": 0.8, "geometry_thin_walled": thin, "subsurface_radius": 0.0}
    scene.materials[1] = it.Material("metal", "openpbr", values)
    assert (path in it.parameters(scene).differentiable()) == bool(thin)
    if not thin:
        with pytest.raises(it.MissingGradientError, match="radius 0"):
            it.backward(scene, np.ones((32, 32, 3)), 1, params=[path])
        values["subsurface_radius"] = 0.1
        assert path in it.parameters(scene).differentiable()
    else:
        assert it.backward(scene, np.ones((32, 32, 3)), 8, params=[path])[path] != 0.0


@pytest.mark.parametrize("name", ["coat_weight", "base_metalness"])
def test_a_lobe_of_weight_0_has_its_derivative_in_both_modes(name, f32):
    """The version of OpenPBR that is compiled has the lobes that a derivative asks for, used or not."""
    scene, path = gold_ball(16), f"metal.{name}"
    scene.materials[1] = it.Material("metal", "openpbr", {"specular_roughness": 0.5})
    u = smooth_weight(16)
    it.render(scene, 1)  # without that lobe
    forward = float((it.forward(scene, {path: 1.0}, 16, 5) * u).sum())
    assert forward != 0.0 and forward == pytest.approx(float(it.backward(scene, u, 16, 5, [path])[path]), rel=1e-3)


def test_an_option_has_no_gradient_and_says_so(f32):
    with pytest.raises(it.MissingGradientError, match="metal.separable"):
        it.backward(gold_ball(), np.ones((32, 32, 3)), 1, params=["metal.separable"])
