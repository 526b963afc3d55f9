"""Trees: hits against brute force, any-hit, refit, determinism, odd input."""

import os

import numpy as np
import pytest

from irys_ti import runtime
from irys_ti.errors import SceneError
from irys_ti.kernels import bvh, geometry
from irys_ti.kernels.bvh.layout import STACK
from irys_ti.kernels.bvh.ploc import cluster
from tests.helpers.rays import Pools, hit_spheres, hit_triangles, trace

NONE = {"other_bounds": np.zeros((0, 6)), "other_prims": np.zeros(0, int), "other_kinds": np.zeros(0, int)}
WIDTHS = (2, 8)
TIERS = ("f32", "f64")


def soup(n, seed, size=0.15) -> np.ndarray:
    """(n, 3, 3) corners of random triangles in the unit cube, representable in f32."""
    rng = np.random.default_rng(seed)
    corners = rng.random((n, 1, 3)) + size * rng.standard_normal((n, 3, 3))
    return corners.astype(np.float32).astype(np.float64)


def random_rays(n, seed):
    rng = np.random.default_rng(seed)
    o = (rng.random((n, 3)) * 3 - 1).astype(np.float32)
    d = (rng.random((n, 3)) - o + 0.3 * rng.standard_normal((n, 3))).astype(np.float32)
    return o.astype(np.float64), d.astype(np.float64)


def rotation(seed) -> np.ndarray:
    q, r = np.linalg.qr(np.random.default_rng(seed).standard_normal((3, 3)))
    return q * np.sign(np.diag(r))


class Mixed:
    """Triangles and spheres in the world, and two groups (triangles; triangles and spheres) seen through instances."""

    def __init__(self, width, n=60, seed=0):
        rng = np.random.default_rng(seed)
        pools = self.pools = Pools()
        self.corners = [soup(n, seed), soup(n // 2, seed + 1), soup(n // 3, seed + 2)]
        self.center = [rng.random((7, 3)), None, rng.random((3, 3))]
        self.radius = [0.05 + 0.1 * rng.random(7), None, 0.1 + 0.1 * rng.random(3)]
        self.tri_prims, self.sphere_prims, sets = [], [], []
        for corners, center, radius in zip(self.corners, self.center, self.radius):
            prims = pools.triangles(corners)
            self.tri_prims.append(prims)
            others = np.zeros(0, int)
            boxes = np.zeros((0, 6))
            if center is not None:
                arrays = {"center": center, "radius": radius}
                others = pools.records_of("sphere", arrays)
                boxes = geometry.GEOMETRIES["sphere"].bounds(arrays)
            self.sphere_prims.append(others)
            kinds = np.full(len(others), geometry.kind_index("sphere"))
            sets.append(bvh.PrimSet(corners, prims, boxes, others, kinds))
        pools.finish()
        self.instances = []
        for i, group in enumerate((0, 0, 1, 1, 1)):
            m = np.eye(4)
            m[:3, :3] = rotation(i) @ np.diag(0.3 + 0.7 * rng.random(3))
            m[:3, 3] = 2 * rng.random(3) - 1
            self.instances.append((group, m))
        self.accel = bvh.build_scene(sets[0], sets[1:], self.instances, width)

    def columns(self, part, o, d):
        """Distances to all primitives of one part and their numbers."""
        t, prims = [hit_triangles(self.corners[part], o, d)], [self.tri_prims[part]]
        if self.center[part] is not None:
            t.append(hit_spheres(self.center[part], self.radius[part], o, d))
            prims.append(self.sphere_prims[part])
        return np.concatenate(t, 1), np.concatenate(prims)

    def brute(self, o, d):
        """t, prim, inst of the nearest hits, and the gap to the next ones."""
        t, prim = self.columns(0, o, d)
        all_t, all_prim, all_inst = [t], [prim], [np.full(len(prim), -1)]
        for i, (group, m) in enumerate(self.instances):
            inverse = np.linalg.inv(m)
            t, prim = self.columns(group + 1, o @ inverse[:3, :3].T + inverse[:3, 3], d @ inverse[:3, :3].T)
            all_t.append(t)
            all_prim.append(prim)
            all_inst.append(np.full(len(prim), i))
        t, prim, inst = np.concatenate(all_t, 1), np.concatenate(all_prim), np.concatenate(all_inst)
        best = np.argmin(t, axis=1)
        two = np.partition(t, 1, axis=1)
        with np.errstate(invalid="ignore"):
            gap = np.nan_to_num(two[:, 1] - two[:, 0], nan=0.0, posinf=np.inf)
        return two[:, 0], prim[best], inst[best], gap


def assert_matches(got, t, prim, inst, gap, tol, allowed):
    """Hits agree but for at most ``allowed`` rays, those that graze an edge within rounding."""
    miss = ~np.isfinite(t)
    wrong_miss = (got.prim < 0) != miss
    both = ~miss & (got.prim >= 0)
    far = both & (np.abs(got.t - np.where(miss, 0, t)) > tol * (1 + np.where(miss, 0, t)))
    other = both & (gap > 10 * tol) & ((got.prim != prim) | (got.inst != inst))
    assert np.count_nonzero(wrong_miss | far | other) <= allowed
    assert np.all(got.t[got.prim < 0] == -1)
    assert np.all(got.inst[got.prim < 0] == -1)


@pytest.mark.parametrize("tier", TIERS)
@pytest.mark.parametrize("width", WIDTHS)
def test_mixed_scene_against_brute_force(width, tier):
    runtime.init("cpu", tier)
    scene = Mixed(width)
    o, d = random_rays(4000, 5)
    t, prim, inst, gap = scene.brute(o, d)
    assert 0.3 < np.isfinite(t).mean() < 0.99
    assert len(np.unique(inst[np.isfinite(t)])) == 6
    got = trace(scene.pools, scene.accel, o, d)
    f32 = tier == "f32"
    assert_matches(got, t, prim, inst, gap, 3e-5 if f32 else 1e-11, allowed=4 if f32 else 0)
    # Any hit exists exactly where the closest does, within any reach.
    reach = np.where(np.arange(len(o)) % 2 == 0, 1e30, np.where(np.isfinite(t), t, 1.0) * 0.98)
    closest = trace(scene.pools, scene.accel, o, d, reach)
    some = trace(scene.pools, scene.accel, o, d, reach, any_hit=True)
    assert np.array_equal(some.prim >= 0, closest.prim >= 0)
    assert np.all(some.t[some.prim >= 0] < reach[some.prim >= 0])
    assert np.all((closest.prim < 0) | (some.t >= closest.t))


def test_hits_do_not_depend_on_the_width(f32):
    narrow, wide = Mixed(2, 300, 3), Mixed(8, 300, 3)
    o, d = random_rays(20000, 6)
    a, b = trace(narrow.pools, narrow.accel, o, d), trace(wide.pools, wide.accel, o, d)
    for name in ("t", "prim", "u", "v", "inst"):
        assert np.array_equal(getattr(a, name), getattr(b, name)), name


@pytest.mark.parametrize("width", WIDTHS)
def test_ties_take_the_smallest_number(width, f32):
    corners = np.repeat(soup(20, 9), 3, axis=0)
    order = np.random.default_rng(1).permutation(60)
    pools = Pools()
    pools.triangles(corners)
    pools.finish()
    accel = bvh.build(corners[order], order, width=width, **NONE)
    o, d = random_rays(500, 2)
    got = trace(pools, accel, o, d)
    hit = got.prim >= 0
    assert hit.any()
    assert np.all(got.prim[hit] % 3 == 0)


@pytest.mark.parametrize("width", WIDTHS)
def test_barycentrics_give_the_point(width, f64):
    corners = soup(50, 4)
    pools = Pools()
    prims = pools.triangles(corners)
    pools.finish()
    accel = bvh.build(corners, prims, width=width, **NONE)
    o, d = random_rays(500, 3)
    got = trace(pools, accel, o, d)
    hit = got.prim >= 0
    a, b, c = (corners[got.prim[hit], i] for i in range(3))
    u, v = got.u[hit, None], got.v[hit, None]
    assert np.allclose(a + u * (b - a) + v * (c - a), o[hit] + got.t[hit, None] * d[hit], atol=1e-11)


@pytest.mark.parametrize("width", WIDTHS)
def test_refit_equals_rebuild(width, f32):
    scene = Mixed(width, 200, 7)
    scene.accel.device()
    rng = np.random.default_rng(8)
    scene.corners[0] = scene.corners[0] + 0.05 * rng.standard_normal(scene.corners[0].shape)
    scene.corners[1] = scene.corners[1] * 1.3 - 0.2
    scene.center[2] = scene.center[2] + 0.3
    fresh = Mixed(width, 200, 7)  # the same numbers for the same primitives
    fresh.corners, fresh.center = scene.corners, scene.center
    sets = []
    for part in range(3):
        center = scene.center[part]
        arrays = {"center": np.zeros((0, 3)) if center is None else center, "radius": scene.radius[part]}
        boxes = np.zeros((0, 6)) if center is None else geometry.GEOMETRIES["sphere"].bounds(arrays)
        others = scene.sphere_prims[part]
        kinds = np.full(len(others), geometry.kind_index("sphere"))
        sets.append(bvh.PrimSet(scene.corners[part], scene.tri_prims[part], boxes, others, kinds))
    pools = Pools()
    for part in range(3):
        pools.triangles(scene.corners[part])
        if scene.center[part] is not None:
            pools.records_of("sphere", {"center": scene.center[part], "radius": scene.radius[part]})
    pools.finish()
    moved = [(g, np.diag([1.1, 1.1, 1.1, 1.0]) @ m) for g, m in scene.instances]
    rebuilt = bvh.build_scene(sets[0], sets[1:], moved, width)
    scene.accel.refit(sets[0].tri_vertices, None, {0: sets[1].tri_vertices}, {1: sets[2].other_bounds})
    scene.accel.move_instances(range(5), [m for _, m in moved])
    o, d = random_rays(4000, 9)
    a, b = trace(pools, scene.accel, o, d), trace(pools, rebuilt, o, d)
    assert (a.prim >= 0).mean() > 0.3
    for name in ("t", "prim", "u", "v", "inst"):
        assert np.array_equal(getattr(a, name), getattr(b, name)), name


def test_same_tree_and_hits_for_any_number_of_threads():
    results = []
    for threads in (1, 2):
        runtime.init("cpu", "f32", threads=threads)
        scene = Mixed(8, 3000, 11)
        got = trace(scene.pools, scene.accel, *random_rays(3000, 12))
        accel = scene.accel
        results.append((accel.nodes, accel.node_refs, accel.blocks, accel.block_prims, got.t, got.prim, got.u))
    for a, b in zip(*results):
        assert np.array_equal(a, b)


@pytest.mark.parametrize("width", WIDTHS)
def test_axis_parallel_rays(width, f32):
    """Rays along axes, from inside boxes, on their faces and in the plane of a triangle."""
    axis = np.arange(5) / 4.0
    square = np.array([[[0, 0, 0], [1, 0, 0], [1, 1, 0]], [[0, 0, 0], [1, 1, 0], [0, 1, 0]]], float)
    corners = np.concatenate([square + np.array([0, 0, z]) for z in axis])
    pools = Pools()
    prims = pools.triangles(corners)
    pools.finish()
    accel = bvh.build(corners, prims, width=width, **NONE)
    grid = np.stack(np.meshgrid(axis, axis, indexing="ij"), -1).reshape(-1, 2)
    o = np.c_[grid, np.full(len(grid), 0.1)]
    up = trace(pools, accel, o, np.tile([0.0, 0.0, 1.0], (len(o), 1)))
    down = trace(pools, accel, o, np.tile([0.0, -0.0, -2.0], (len(o), 1)))
    assert np.allclose(up.t, 0.15, atol=1e-6)
    assert np.allclose(down.t, 0.05, atol=1e-6)
    along = trace(pools, accel, np.c_[grid, np.zeros(len(grid))] - [2.0, 0, 0], np.tile([1.0, 0, 0], (len(grid), 1)))
    assert np.all(along.prim == -1)  # edge-on: no area, no hit, no NaN


@pytest.mark.parametrize("width", WIDTHS)
def test_degenerate_triangles_are_never_hit(width, f32):
    good = soup(30, 13)
    point, line = np.zeros((5, 3, 3)), soup(5, 14)
    line[:, 2] = (line[:, 0] + line[:, 1]) / 2
    same = np.tile(soup(1, 15), (40, 1, 1)) * 0 + 0.5
    corners = np.concatenate([good, point, line, same])
    pools = Pools()
    prims = pools.triangles(corners)
    pools.finish()
    accel = bvh.build(corners, prims, width=width, **NONE)
    o, d = random_rays(2000, 16)
    d[:200] = -o[:200]  # through the points at the origin
    got = trace(pools, accel, o, d)
    t = hit_triangles(good, o, d).min(1)
    assert np.all(got.prim < 30)
    assert np.isfinite(got.t).all() and np.isfinite(got.u).all()
    assert_matches(got, t, got.prim, got.inst, np.zeros(len(t)), 3e-5, allowed=2)
    still = trace(pools, accel, o[:10], np.zeros((10, 3)))
    assert np.all(still.prim == -1)


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("n", (0, 1, 2, 9))
def test_tiny_scenes(width, n, f32):
    corners = soup(n, 17, 0.5)
    pools = Pools()
    prims = pools.triangles(corners)
    pools.finish()
    accel = bvh.build(corners, prims, width=width, **NONE)
    o, d = random_rays(500, 18)
    got = trace(pools, accel, o, d)
    t = hit_triangles(corners, o, d).min(1, initial=np.inf)
    assert_matches(got, t, got.prim, got.inst, np.zeros(len(t)), 3e-5, allowed=1)


def test_closed_mesh_does_not_leak(f32):
    """Rays from inside a closed mesh, aimed at its vertices and at points of its edges too, always hit."""
    corners = sphere_mesh(48)
    pools = Pools()
    prims = pools.triangles(corners)
    pools.finish()
    rng = np.random.default_rng(19)
    edge = corners[rng.integers(0, len(corners), 20000)]
    w = rng.random((20000, 1))
    targets = np.concatenate([edge[:, 0], edge[:, 0] * w + edge[:, 1] * (1 - w), edge[:, 2]])
    o = 0.3 * rng.standard_normal(targets.shape) / 3
    for width in WIDTHS:
        accel = bvh.build(corners, prims, width=width, **NONE)
        got = trace(pools, accel, o, targets - o)
        assert np.all(got.prim >= 0)


def sphere_mesh(m) -> np.ndarray:
    """(8 m^2 or so, 3, 3) corners of a closed, bumpy sphere with bit-equal shared vertices."""
    theta, phi = np.linspace(0, np.pi, m + 1), 2 * np.pi * (np.arange(2 * m + 1) % (2 * m)) / (2 * m)
    t, p = np.meshgrid(theta, phi, indexing="ij")
    r = 1 + 0.1 * np.sin(9 * t) * np.sin(7 * p) * np.sin(t)
    x = np.stack([r * np.sin(t) * np.cos(p), r * np.sin(t) * np.sin(p), r * np.cos(t)], -1)
    x[0], x[-1] = (0, 0, 1), (0, 0, -1)
    x = x.astype(np.float32)
    a, b, c, d = x[:-1, :-1], x[1:, :-1], x[1:, 1:], x[:-1, 1:]
    quads = [np.stack([a, b, c], 2).reshape(-1, 3, 3), np.stack([a, c, d], 2).reshape(-1, 3, 3)]
    return np.concatenate(quads).astype(np.float64)


@pytest.mark.parametrize("width", WIDTHS)
def test_odd_scenes_fit_the_stack(width, f64):
    """Nested and exponentially growing boxes: the tree's depth stays within the traversal's stack."""
    size = np.concatenate([1.5 ** np.arange(-60, 60), np.linspace(1, 2, 500)])[:, None, None]
    corners = size * np.array([[-1.0, -1, 0], [1, -1, 0], [0, 1, 1e-3]])
    prims = np.arange(len(corners))
    accel = bvh.build(corners, prims, width=width, **NONE)
    assert accel.stack_need <= STACK[width]
    pools = Pools()
    pools.triangles(corners)
    pools.finish()
    o, d = random_rays(300, 20)
    got = trace(pools, accel, o, d)
    t = hit_triangles(corners, o, d).min(1)
    assert_matches(got, t, got.prim, got.inst, np.zeros(len(t)), 1e-9, allowed=0)


def test_copies_of_one_box_cluster_quickly():
    for box in ([0, 0, 0, 1, 1, 1], [2, 2, 2, 2, 2, 2]):
        tree = cluster(np.tile(np.array([box], np.float32).T, 1 << 13))
        assert len(tree.rounds) == 13


@pytest.mark.parametrize("bad", (np.nan, np.inf))
def test_values_that_are_not_finite_are_refused(bad, f32):
    corners = soup(3, 21)
    corners[1, 2, 0] = bad
    with pytest.raises(SceneError, match="not finite"):
        bvh.build(corners, np.arange(3), width=8, **NONE)


def test_a_transform_that_cannot_be_inverted_is_refused(f32):
    part = bvh.PrimSet(soup(3, 22), np.arange(3))
    with pytest.raises(SceneError, match="cannot be inverted"):
        bvh.build_scene(bvh.PrimSet(), [part], [(0, np.zeros((4, 4)))], 8)


def test_refit_refuses_another_number_of_triangles(f32):
    accel = bvh.build(soup(3, 23), np.arange(3), width=8, **NONE)
    with pytest.raises(SceneError, match="build again"):
        accel.refit(soup(4, 23))


@pytest.mark.vulkan
def test_vulkan_against_brute_force():
    """The GPU backends' tree and traversal, on whatever Vulkan driver VK_DRIVER_FILES names."""
    if "VK_DRIVER_FILES" not in os.environ or "vulkan" not in runtime.available_archs():
        pytest.skip("no Vulkan driver is named: set VK_DRIVER_FILES to its ICD file")
    runtime.init("vulkan", "f32")
    scene = Mixed(2, 40)
    o, d = random_rays(400, 5)
    t, prim, inst, gap = scene.brute(o, d)
    assert 0.3 < np.isfinite(t).mean() < 0.99
    got = trace(scene.pools, scene.accel, o, d)
    assert_matches(got, t, prim, inst, gap, 3e-5, allowed=1)
    some = trace(scene.pools, scene.accel, o, d, any_hit=True)
    assert np.array_equal(some.prim >= 0, got.prim >= 0)
