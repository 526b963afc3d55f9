"""Replay, bits and tiers of splats beside meshes, mirrors and lamps."""

import numpy as np
import pytest

import irys_ti as it
from irys_ti import tiers
from irys_ti.check.differences import weight_image
from irys_ti.device.compile import compiled
from irys_ti.scene import (
    Camera,
    Film,
    Instance,
    Integrator,
    Light,
    Material,
    Scene,
    Sphere,
    Splats,
    constant,
    rectangle,
)
from irys_ti.scene.transform import look_at, rotate, scale, translate

CHANCES = ("s.opacity", "s.albedo", "s.position", "s.scale", "s.rotation")


def corner(n: int = 60, resolution: int = 16, seed: int = 1, order=None) -> Scene:
    """Splats over a floor beside a mirror ball, under a lamp and a sky."""
    rng = np.random.default_rng(seed)
    arrays = {
        "position": rng.normal(size=(n, 3)) * 0.35 + [0.5, 0.9, 0],
        "scale": rng.uniform(0.04, 0.2, (n, 3)),
        "rotation": rng.normal(size=(n, 4)),
        "opacity": rng.uniform(0.1, 0.95, n),
        "albedo": rng.uniform(0.1, 0.9, (n, 3)),
    }
    if order is not None:
        arrays = {k: a[order] for k, a in arrays.items()}
    down = translate(0, 3, 0) @ rotate([1, 0, 0], 90)
    return Scene(
        camera=Camera(look_at([0, 1.4, 4], [0, 0.7, 0], [0, 1, 0]), 40, film=Film(resolution, resolution)),
        materials=[
            Material("grey", "diffuse", {"reflectance": 0.5}),
            Material("mirror", "conductor", {"eta": constant(0.2), "k": constant(3.0)}),
        ],
        shapes=[
            rectangle(rotate([1, 0, 0], -90) @ scale(3), id="floor", material="grey"),
            Sphere(id="ball", material="mirror", center=np.array([-0.7, 0.6, 0]), radius=0.6),
            rectangle(
                down @ scale(0.7), id="lamp", material="grey", light=Light("lamp", "area", {"radiance": constant(5.0)})
            ),
            Splats(id="s", **arrays),
        ],
        lights=[Light("sky", "constant", {"radiance": constant(0.4)})],
        integrator=Integrator(6, 4),
    )  # fmt: skip


def test_same_bits_and_every_path_met_again(f32):
    scene = corner()
    runs = [it.backward(scene, weight_image(scene), 16, params=CHANCES) for _ in range(2)]
    assert runs[0].replayed == runs[1].replayed == (4096, 4096)
    for path in CHANCES:
        np.testing.assert_array_equal(runs[0][path], runs[1][path])
        assert np.isfinite(runs[0][path]).all() and np.abs(runs[0][path]).max() > 0


def test_pictures_do_not_depend_on_the_tree(f32, monkeypatch):
    """Chances are keyed by bounce and splat: another tree over the same splats gives the same bits."""
    image = it.render(corner(), 8)
    monkeypatch.setattr("irys_ti.device.geometry.default_width", lambda: 2)
    scene = corner()
    again = it.render(scene, 8)
    assert compiled(scene).geometry.accel.width == 2
    np.testing.assert_array_equal(image, again)


def test_values_and_counts_change_without_compiling(f32, monkeypatch):
    scene = corner(20, 8)
    it.render(scene, 2)
    config = compiled(scene).config("primal")
    params = it.parameters(scene)
    params["s.position"] = params["s.position"] + 0.1
    moved = it.render(scene, 2)
    fresh = corner(20, 8)
    it.parameters(fresh)["s.position"] = params["s.position"]
    np.testing.assert_array_equal(moved, it.render(fresh, 2))
    more = corner(35, 8)
    it.render(more, 2)
    assert compiled(more).config("primal") == config


def test_forward_is_the_transpose_of_reverse(f32):
    """Reverse mode takes a baseline off, so the means agree, not the bits."""
    scene, rng = corner(20, 8), np.random.default_rng(3)
    u = weight_image(scene)
    v = {p: np.abs(rng.normal(size=it.parameters(scene)[p].shape)) for p in CHANCES}
    v["s.position"] *= [0.1, 0, 0]
    reverse = [it.backward(scene, u, 128, seed, CHANCES) for seed in range(8)]
    reverse = [sum((g[p] * v[p]).sum() for p in CHANCES) for g in reverse]
    forward = [(it.forward(scene, v, 128, seed) * u).sum() for seed in range(8)]
    spread = np.hypot(np.std(reverse, ddof=1), np.std(forward, ddof=1)) / np.sqrt(8)
    assert abs(np.mean(forward) - np.mean(reverse)) < 4 * spread < abs(np.mean(forward))


@pytest.mark.slow
def test_instances_of_splats(f32):
    """A moved copy of a group looks as the moved splats do, and its derivatives reach the group's arrays."""
    scene = corner(20, 16)
    turn = translate(0.3, 0.2, -0.2) @ rotate([0.2, 1, 0.1], 70)
    splats = scene.shapes[-1]
    splats.group = "bush"
    scene.instances.append(Instance("bush", turn, "one"))
    copied = np.array([it.render(scene, 256, s).mean() for s in range(4)])
    grads = it.backward(scene, weight_image(scene), 256, params=["s.opacity"])
    scene.instances.clear()
    splats.group = None
    splats.position = splats.position @ turn[:3, :3].T + turn[:3, 3]
    from scipy.spatial.transform import Rotation

    q = (Rotation.from_matrix(turn[:3, :3]) * Rotation.from_quat(splats.rotation[:, [1, 2, 3, 0]])).as_quat()
    splats.rotation = q[:, [3, 0, 1, 2]]
    moved = np.array([it.render(scene, 256, s + 10).mean() for s in range(4)])
    spread = np.hypot(copied.std(ddof=1), moved.std(ddof=1)) / 2
    assert abs(copied.mean() - moved.mean()) < 4 * spread
    again = it.backward(scene, weight_image(scene), 256, seed=9, params=["s.opacity"])
    z = (grads["s.opacity"] - again["s.opacity"]) / np.hypot(grads.stderr["s.opacity"], again.stderr["s.opacity"])
    assert np.abs(z).max() < 5.5


@pytest.mark.slow
def test_tiers_agree(f32):
    scene = corner(200, 32)
    found = tiers.compare(scene, ["s.opacity", "s.albedo"], spp=16, d_image=weight_image(scene))
    rows = {p: d.difference for p, d in found.parameters.items()}
    print(found.different, "of", found.lanes, rows)
    assert found.replayed == (found.lanes, found.lanes) and found.different <= 3
    assert max(rows.values()) < 5e-5


@pytest.mark.slow
@pytest.mark.xfail(reason="about one path in 65,536 has a large derivative by one splat's place that f32 knows to 5 % only")
@pytest.mark.parametrize("seed", range(1, 5))
def test_tiers_agree_on_shapes(seed, f32):
    scene = corner(200, 32)
    found = tiers.compare(scene, list(CHANCES), spp=64, seed=seed, d_image=weight_image(scene))
    rows = {p: d.difference for p, d in found.parameters.items()}
    print(found.different, "of", found.lanes, rows)
    assert max(rows.values()) < 3.5e-4
