"""Curves: what rays meet, what is there, where light goes on, and what is refused."""

import numpy as np
import pytest

import irys_ti as it
from irys_ti import runtime
from irys_ti.errors import SceneError
from irys_ti.kernels import bvh, geometry
from irys_ti.kernels.geometry import curve
from irys_ti.scene import curves as host
from tests.hair.strands import furnace, hit_balls, on_curve, strands
from tests.helpers.rays import Pools, trace
from tests.kernels.test_geometry import surface

KIND = "curve"


def laid_out(pieces, width=None):
    """(pools, tree) of one shape's pieces."""
    pools = Pools()
    prims = pools.records_of(KIND, pieces)
    pools.finish()
    kinds = np.full(len(prims), geometry.kind_index(KIND))
    world = bvh.PrimSet(
        other_bounds=curve.bounds(pieces), other_prims=prims, other_kinds=kinds, other_lanes=curve.lane_numbers(pieces)
    )
    return pools, bvh.build_scene(world, [], [], width)


def rays_at(pieces, n, seed=0, spread=1.2):
    """Rays towards places near the curves."""
    rng = np.random.default_rng(seed)
    o = rng.standard_normal((n, 3))
    o *= 4 / np.linalg.norm(o, axis=1, keepdims=True)
    x = on_curve(pieces, rng.integers(0, len(pieces["p0"]), n), rng.random(n))
    d = x[:, :3] + spread * x[:, 3:] * rng.uniform(-1, 1, (n, 3)) - o
    d /= np.linalg.norm(d, axis=1, keepdims=True)
    return o.astype(np.float32).astype(np.float64), d.astype(np.float32).astype(np.float64)


@pytest.mark.parametrize("tier", ["f64", "f32"])
@pytest.mark.parametrize("basis,radius", [("catmull-rom", 0.004), ("bspline", 0.04)])
def test_tubes_are_unions_of_balls(basis, radius, tier):
    """Distances of first hits, against balls along the axis: a tube of one radius, half balls at its ends, is their hull."""
    runtime.init("cpu", tier)
    pieces = strands(12, radius=radius, basis=basis).pieces()
    pools, tree = laid_out(pieces)
    o, d = rays_at(pieces, 700)
    unit = d / np.linalg.norm(d, axis=1, keepdims=True)
    got = trace(pools, tree, o, d)
    want, depth = hit_balls(pieces, radius, o, unit)
    # Within a thousandth of the silhouette the balls' bumps decide.
    assert (got.prim[depth > 0.02] >= 0).mean() > 0.999
    assert (got.prim[depth < -0.02] < 0).all()
    both = (got.prim >= 0) & (depth > 0.02)
    assert both.sum() > 400
    error = np.abs(got.t - want)[both] / radius
    assert np.quantile(error, 0.99) < 0.1 and np.median(error) < 2e-3


def test_hits_fulfil_the_tube_s_equations(f64):
    """(q - c) . c' = 0 and |q - c| = r, where the radius varies too."""
    rng = np.random.default_rng(2)
    shape = strands(12, radius=0.02)
    shape.radii = shape.radii * rng.uniform(0.4, 1.6, shape.radii.shape)
    pieces = shape.pieces()
    pools, tree = laid_out(pieces)
    o, d = rays_at(pieces, 2000)
    hit = trace(pools, tree, o, d)
    side = (hit.prim >= 0) & (hit.v == 0)
    q, c = (o + hit.t[:, None] * d)[side], on_curve(pieces, hit.prim[side], hit.u[side])
    h = 1e-6
    ahead = (on_curve(pieces, hit.prim[side], hit.u[side] + h) - c)[:, :3] / h
    ahead /= np.linalg.norm(ahead, axis=1, keepdims=True)
    assert side.sum() > 1000
    assert np.abs(((q - c[:, :3]) * ahead).sum(1) / c[:, 3]).max() < 2e-2
    assert np.abs(np.linalg.norm(q - c[:, :3], axis=1) / c[:, 3] - 1).max() < 2e-3


def test_a_tube_is_left_unhindered(f64):
    """From inside nothing is met; from just inside its surface, outward, nothing either."""
    pieces = strands(1, k=2, radius=0.1, basis="linear").pieces()
    pools, tree = laid_out(pieces)
    rng = np.random.default_rng(0)
    c = on_curve(pieces, rng.integers(0, len(pieces["p0"]), 200), rng.random(200))
    d = rng.standard_normal((200, 3))
    assert (trace(pools, tree, c[:, :3], d).prim < 0).all()


@pytest.mark.parametrize("width", [2, 8])
def test_ribbons_face_the_ray(width, f64):
    """Met where the ray is within a radius of the axis, at the axis's depth; not within two radii of the start."""
    points = np.array([[-1.0, 0, 0], [1.0, 0, 0]])
    pieces = it.Curves(points=points, radii=0.1, style="ribbon", basis="linear").pieces()
    pools, tree = laid_out(pieces, width)
    y = np.array([-0.11, -0.099, 0.0, 0.05, 0.099, 0.11])
    o = np.c_[np.full(6, 0.3), y, np.full(6, 2.0)]
    d = np.tile([0.0, 0.0, -1.0], (6, 1))
    hit = trace(pools, tree, o, d)
    assert (hit.prim >= 0).tolist() == [False, True, True, True, True, False]
    np.testing.assert_allclose(hit.t[1:5], 2.0, rtol=1e-12)
    assert (trace(pools, tree, o - [0, 0, 1.85], d).prim < 0).all()
    assert (trace(pools, tree, o - [0, 0, 1.75], d).prim >= 0)[1:5].all()
    s = surface(pools, KIND, hit.prim[1:5], o[1:5], d[1:5], hit.t[1:5], hit.u[1:5], hit.v[1:5])
    np.testing.assert_allclose(s.p, o[1:5] + hit.t[1:5, None] * d[1:5], atol=1e-12)
    h = s.ns @ np.array([0, 1, 0.0])
    np.testing.assert_allclose(h, y[1:5] / 0.1, atol=1e-12)


def test_along_and_across(f64):
    """uv: 0 to 1 from root to tip, 0 to 1 across; the normal is the cylinder's, the tangent runs along."""
    points = np.array([[-2.0, 0, 0], [-1.0, 0, 0], [0, 0, 0], [1.0, 0, 0]])
    pieces = it.Curves(points=points, radii=0.1).pieces()
    pools, tree = laid_out(pieces)
    x, y = np.array([-1.9, -0.5, 0.7]), np.array([-0.08, 0.0, 0.06])
    o, d = np.c_[x, y, np.full(3, 3.0)], np.tile([0.0, 0.0, -1.0], (3, 1))
    hit = trace(pools, tree, o, d)
    s = surface(pools, KIND, hit.prim, o, d, hit.t, hit.u, hit.v)
    np.testing.assert_allclose(s.uv[:, 0], (x + 2) / 3, atol=1e-6)
    np.testing.assert_allclose(np.abs(s.uv[:, 1] - 0.5), np.abs(y) / 0.2, atol=1e-9)
    assert np.sign(s.uv[0, 1] - 0.5) == -np.sign(s.uv[2, 1] - 0.5)
    np.testing.assert_allclose(s.ns, np.c_[0 * y, y / 0.1, np.sqrt(1 - (y / 0.1) ** 2)], atol=1e-9)
    np.testing.assert_allclose(s.dp_du, np.tile([1.0, 0, 0], (3, 1)), atol=1e-9)
    np.testing.assert_allclose(s.p, o + hit.t[:, None] * d, atol=1e-9)


@pytest.mark.parametrize("basis,k", [("bspline", 7), ("catmull-rom", 5), ("bezier", 7), ("linear", 4)])
def test_bases(basis, k):
    """Spans join; u runs through; cutting them does not move them; B-splines and Catmull-Rom are what they are called."""
    shape = strands(3, k=k, basis=basis)
    bezier, strand, place = host.spans(shape.points, shape.radii, shape.offsets, basis)
    inner = np.flatnonzero(np.diff(strand) == 0)
    np.testing.assert_allclose(bezier[inner, 3], bezier[inner + 1, 0], atol=1e-14)
    if basis in ("bspline", "catmull-rom"):
        smooth = bezier[inner, 3] - bezier[inner, 2], bezier[inner + 1, 1] - bezier[inner + 1, 0]
        np.testing.assert_allclose(*smooth, atol=1e-14)
    if basis == "bspline":
        p = shape.points[:4]
        np.testing.assert_allclose(bezier[0, 0, :3], (p[0] + 4 * p[1] + p[2]) / 6)
    else:
        step = {"bezier": 3}.get(basis, 1)
        np.testing.assert_allclose(bezier[strand == 0][:, 0, :3], shape.points[: k - 1 : step])
        np.testing.assert_allclose(bezier[strand == 0][-1, 3, :3], shape.points[k - 1])
    pieces = shape.pieces()
    u = pieces["span"].reshape(-1)
    assert u.min() == 0 and u.max() == 1 and (np.diff(u) < 0).sum() == 2  # strands begin anew
    at = np.repeat(np.arange(len(bezier)), shape.splits)
    j = np.arange(len(at)) - np.repeat(np.cumsum(shape.splits) - shape.splits, shape.splits)
    whole = {f"p{i}": bezier[:, i] for i in range(4)}
    want = on_curve(whole, at, (j + 0.3) / shape.splits[at])
    np.testing.assert_allclose(on_curve(pieces, np.arange(len(at)), np.full(len(at), 0.3)), want, atol=1e-13)


@pytest.mark.parametrize("style", ["round", "ribbon"])
def test_nothing_is_lost_among_white_hairs(style, f32):
    """Hairs that absorb nothing under a sky of 1 cannot be seen: the mean is 1, however often light scatters."""
    scene = furnace(strands(60, style=style))
    images = [it.render(scene, 48, seed, bands=[(500, 520)]) for seed in range(4)]
    means = np.array([image.mean() for image in images])
    assert abs(means.mean() - 1) < 0.004 and means.std() < 0.006
    scene.integrator.max_depth = 2
    assert it.render(scene, 48, 1, bands=[(500, 520)]).mean() < 0.97  # the control: light that is cut off is missed


def test_same_bits_again_and_moved(f32):
    """Two runs agree to the bit; a pose is the same as curves that were made there."""
    a = furnace(strands(30), {"eumelanin": 0.5})
    first = it.render(a, 8)
    np.testing.assert_array_equal(first, it.render(furnace(strands(30), {"eumelanin": 0.5}), 8))
    it.parameters(a)["tress.translation"] = [0.3, -0.1, 0.2]
    moved = it.render(a, 8)
    there = strands(30)
    there.points = there.points + [0.3, -0.1, 0.2]
    np.testing.assert_allclose(moved.mean(), it.render(furnace(there, {"eumelanin": 0.5}), 8).mean(), rtol=2e-3)
    assert np.abs(moved - first).max() > 0.05
    it.parameters(a)["tress.translation"] = [0.0, 0.0, 0.0]
    np.testing.assert_array_equal(first, it.render(a, 8))


BAD = {
    "the curves are empty": {"points": np.zeros((0, 3))},
    "strand 1 has 1 point": {"offsets": np.array([0, 5, 6])},
    "radius at point 2 .strand 0. is zero": {"radii": np.array([1, 1, 0, 1, 1, 1.0])},
    "radius at point 3 .strand 0. is negative": {"radii": np.array([1, 1, 1, -1, 1, 1.0])},
    "radius at point 0 .strand 0. is not finite": {"radii": np.array([np.nan, 1, 1, 1, 1, 1.0])},
    "point at point 4": {"points": np.array([[i, 0, np.nan if i == 4 else 0] for i in range(6)])},
    "points have shape": {"points": np.zeros((6, 2))},
    "radii have shape": {"radii": np.ones(5)},
    "offsets do not cover": {"offsets": np.array([0, 4])},
    "basis 'spline'": {"basis": "spline"},
    "style 'flat'": {"style": "flat"},
    "needs at least 4": {"offsets": np.array([0, 3, 6]), "basis": "bspline"},
    "needs 3 k . 1": {"basis": "bezier"},
}


@pytest.mark.parametrize("line", BAD)
def test_bad_curves_say_so_in_one_line(line, f32):
    points = np.array([[i, 0.0, 0.0] for i in range(6)])
    with pytest.raises(SceneError, match=line) as caught:
        it.render(furnace(it.Curves(**{"points": points, "radii": 0.1, **BAD[line]})), 1)
    assert "\n" not in str(caught.value) and "tress" in str(caught.value)


def test_glass_curves_and_shining_curves_are_refused(f32):
    with pytest.raises(SceneError, match="no inside"):
        it.render(furnace(strands(2), kind="dielectric"), 1)
    scene = furnace(strands(2))
    scene.shapes[0].interior = "fog"
    scene.media.append(it.Medium("fog"))
    with pytest.raises(SceneError, match="do not bound a medium"):
        it.render(scene, 1)
    scene = furnace(strands(2))
    scene.shapes[0].light = it.Light("tress", "area", {"radiance": 1.0})
    with pytest.raises(SceneError, match="cannot be an area light"):
        it.render(scene, 1)


def test_bits_mean_the_same_on_both_sides():
    assert (host.RIBBON, host.FIRST_END, host.LAST_END) == (curve.RIBBON, curve.FIRST_END, curve.LAST_END)
