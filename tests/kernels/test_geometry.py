"""Geometry kinds: what lies at a hit, sampling by area, a kind registered from outside the package."""

from types import SimpleNamespace

import numpy as np
import pytest

from irys_ti.errors import SceneError
from irys_ti.kernels import bvh, geometry, layout
from irys_ti.runtime import array, ti, zeros
from tests.helpers import disk
from tests.helpers.rays import Pools, hit_triangles, trace


@pytest.fixture
def disk_kind():
    geometry.register("disk", disk)
    yield geometry.kind_index("disk")
    del geometry.GEOMETRIES["disk"]


@ti.kernel
def surfaces(
    reals: ti.types.ndarray(ndim=1),
    ints: ti.types.ndarray(ndim=1),
    places: ti.types.ndarray(ndim=1),
    rays: ti.types.ndarray(ndim=1),
    hits: ti.types.ndarray(ndim=1),
    out: ti.types.ndarray(ndim=1),
    n: int,
    kind: ti.template(),
):
    for i in range(n):
        o = ti.Vector([rays[6 * i], rays[6 * i + 1], rays[6 * i + 2]])
        d = ti.Vector([rays[6 * i + 3], rays[6 * i + 4], rays[6 * i + 5]])
        p, ng, ns, uv, dp_du = geometry.GEOMETRIES[kind].surface_at(
            reals, ints, places[2 * i], places[2 * i + 1], o, d, hits[3 * i], hits[3 * i + 1], hits[3 * i + 2]
        )
        for k in ti.static(range(3)):
            out[14 * i + k], out[14 * i + 3 + k] = p[k], ng[k]
            out[14 * i + 6 + k], out[14 * i + 11 + k] = ns[k], dp_du[k]
        out[14 * i + 9], out[14 * i + 10] = uv[0], uv[1]


def surface(pools, kind, prims, o, d, t, u, v) -> SimpleNamespace:
    """surface_at of hits; all arguments arrays of n."""
    n = len(prims)
    places = array(np.c_[[pools.shape_offset(p) for p in prims], prims].astype(np.int32))
    out = zeros(14 * n)
    hits = array(np.c_[t, u, v])
    surfaces(pools.reals, pools.ints, places, array(np.c_[o, d]), hits, out, n, kind)
    x = out.to_numpy()[: 14 * n].reshape(n, 14)
    return SimpleNamespace(p=x[:, :3], ng=x[:, 3:6], ns=x[:, 6:9], uv=x[:, 9:11], dp_du=x[:, 11:])


@ti.kernel
def area_samples(
    reals: ti.types.ndarray(ndim=1),
    ints: ti.types.ndarray(ndim=1),
    u: ti.types.ndarray(ndim=1),
    out: ti.types.ndarray(ndim=1),
    shape: int,
    prim: int,
    x: float,
    y: float,
    z: float,
    n: int,
    kind: ti.template(),
):
    for i in range(n):
        ref = ti.Vector([x, y, z])
        at = ti.Vector([u[2 * i], u[2 * i + 1]])
        p, normal, _, pdf = geometry.GEOMETRIES[kind].sample_area(reals, ints, shape, prim, ref, at)
        again = geometry.GEOMETRIES[kind].pdf_area(reals, ints, shape, prim, ref, p, normal)
        for k in ti.static(range(3)):
            out[8 * i + k], out[8 * i + 3 + k] = p[k], normal[k]
        out[8 * i + 6], out[8 * i + 7] = pdf, again


def sample(pools, kind, prim, ref, n=1 << 16, seed=0) -> SimpleNamespace:
    """n samples of one primitive seen from ref; u in strata."""
    side = int(np.sqrt(n))
    rng = np.random.default_rng(seed)
    cells = np.stack(np.meshgrid(np.arange(side), np.arange(side), indexing="ij"), -1).reshape(-1, 2)
    u = (cells + rng.random(cells.shape)) / side
    out = zeros(8 * len(u))
    area_samples(pools.reals, pools.ints, array(u), out, pools.shape_offset(prim), prim, *ref, len(u), kind)
    x = out.to_numpy()[: 8 * len(u)].reshape(-1, 8)
    return SimpleNamespace(p=x[:, :3], n=x[:, 3:6], pdf=x[:, 6], again=x[:, 7])


# Meshes.


def one_triangle(corners, **more):
    pools = Pools()
    pools.triangles(np.asarray([corners], float), **more)
    return pools.finish()


def at_triangle(pools, u, v, d=(0.0, 0.0, -1.0)):
    return surface(pools, "mesh", [0], np.zeros((1, 3)), np.array([d]), [1.0], [u], [v])


RIGHT = [[0, 0, 0], [2, 0, 0], [0, 3, 0]]


def test_flat_triangle(f64):
    s = at_triangle(one_triangle(RIGHT), 0.25, 0.5)
    assert np.allclose(s.p, [[0.5, 1.5, 0]])
    assert np.allclose(s.ng, [[0, 0, 1]]) and np.allclose(s.ns, s.ng)
    assert np.allclose(s.uv, [[0.25, 0.5]])
    assert np.allclose(s.dp_du, [[2, 0, 0]])


def test_flipped_triangle(f64):
    normals = [[0.0, 0.6, 0.8]] * 3
    s = at_triangle(one_triangle(RIGHT, normals=normals, flags=layout.FLAG_FLIP), 0.25, 0.5)
    assert np.allclose(s.ng, [[0, 0, -1]])
    assert np.allclose(s.ns, [[0, -0.6, -0.8]])


def test_interpolated_normal_and_uvs(f64):
    normals = np.array([[0, 0, 1], [1, 0, 1], [0, 1, 1]], float)
    uvs = np.array([[0, 0], [1, 0], [0, 2]], float)
    s = at_triangle(one_triangle(RIGHT, normals=normals, uvs=uvs), 0.25, 0.5)
    expected = 0.25 * normals[0] + 0.25 * normals[1] + 0.5 * normals[2]
    expected /= np.linalg.norm(expected)
    assert np.allclose(s.ns, [expected])
    assert np.allclose(s.uv, [[0.25, 1.0]])
    assert np.allclose((s.dp_du * s.ng).sum(1), 0)
    assert np.allclose(s.dp_du, [[2, 0, 0]])


def test_normals_against_the_winding_stay(f64):
    """Shading follows the normals, as in Mitsuba; loaders wind triangles after them (io/meshes.py)."""
    s = at_triangle(one_triangle(RIGHT, normals=[[0.0, 0.6, -0.8]] * 3), 0.25, 0.5)
    assert np.allclose(s.ng, [[0, 0, 1]])
    assert np.allclose(s.ns, [[0, 0.6, -0.8]])


@pytest.mark.parametrize(
    "corners, normals, uvs",
    [
        (RIGHT, np.zeros((3, 3)), np.zeros((3, 2))),
        ([[0, 0, 0], [1, 1, 1], [2, 2, 2]], np.zeros((3, 3)), None),
        ([[1, 1, 1]] * 3, [[0, 0, 1], [0, 0, -1], [0, 0, 0]], [[1, 1]] * 3),
        (np.array(RIGHT) * 1e-12, None, np.array([[0, 0], [1, 1], [2, 2]])),
    ],
)
def test_degenerate_triangles_stay_finite(corners, normals, uvs, f32):
    pools = one_triangle(corners, normals=normals, uvs=uvs)
    s = at_triangle(pools, 0.25, 0.5)
    for name, x in vars(s).items():
        assert np.isfinite(x).all(), name
    for x in (s.ng, s.ns):
        assert np.allclose(np.linalg.norm(x, axis=1), 1, atol=1e-6)
    drawn = sample(pools, "mesh", 0, (0.0, 0.0, 5.0), 256)
    assert np.isfinite(drawn.p).all() and np.isfinite(drawn.pdf).all() and np.isfinite(drawn.n).all()


# Spheres.


def one_sphere(center, radius, flags=0):
    pools = Pools()
    pools.records_of("sphere", {"center": np.array([center], float), "radius": np.array([radius])}, flags)
    return pools.finish()


def test_surface_of_a_sphere(f64):
    pools = one_sphere((1, 2, 3), 2.0, layout.FLAG_FLIP)
    o = np.array([[1.0, 2.0, 9.0], [9.0, 2.0, 3.0], [1.0, -7.0, 3.0]])
    d = np.array([1.0, 2.0, 3.0]) - o
    t = 1 - 2 / np.linalg.norm(d, axis=1)
    s = surface(pools, "sphere", [0, 0, 0], o, d, t, 0 * t, 0 * t)
    assert np.allclose(s.p, [[1, 2, 5], [3, 2, 3], [1, 0, 3]])
    assert np.allclose(s.ng, [[0, 0, -1], [-1, 0, 0], [0, 1, 0]])
    assert np.allclose(s.uv[1:], [[0, 0.5], [0.75, 0.5]]) and np.allclose(s.uv[0, 1], 0)
    assert np.isfinite(s.dp_du).all()
    assert np.allclose((s.dp_du * s.ng).sum(1), 0)
    assert np.allclose(s.dp_du[1], [0, 4 * np.pi, 0])


@pytest.mark.parametrize("radius", (1.0, 1e-3, 1e3))
def test_sphere_hits_are_on_the_sphere(radius, f32):
    """From afar, f32 keeps the projected hit within rounding of the sphere, and misses what it must."""
    pools = one_sphere((0.5, 0, 0), radius)
    boxes = geometry.GEOMETRIES["sphere"].bounds({"center": np.array([[0.5, 0, 0]]), "radius": np.array([radius])})
    accel = bvh.build(np.zeros((0, 3, 3)), [], boxes, [0], [geometry.kind_index("sphere")], 8)
    rng = np.random.default_rng(1)
    o = 1e3 * radius * rng.standard_normal((4000, 3))
    aim = rng.standard_normal(o.shape)
    aim -= (aim * o).sum(1, keepdims=True) / (o * o).sum(1, keepdims=True) * o
    aim /= np.linalg.norm(aim, axis=1, keepdims=True)
    inside = np.arange(4000) % 2 == 0
    d = aim * radius * np.where(inside, 0.98, 1.02)[:, None] - o
    o = o + [0.5, 0, 0]
    got = trace(pools, accel, o, d)
    assert np.array_equal(got.prim == 0, inside)
    hit = inside
    s = surface(pools, "sphere", np.zeros(hit.sum(), int), o[hit], d[hit], got.t[hit], got.u[hit], got.v[hit])
    assert np.allclose(np.linalg.norm(s.p - [0.5, 0, 0], axis=1), radius, rtol=1e-6, atol=1e-7)


def test_sphere_of_radius_zero(f32):
    pools = one_sphere((0, 0, 0), 0.0)
    boxes = geometry.GEOMETRIES["sphere"].bounds({"center": np.zeros((1, 3)), "radius": np.zeros(1)})
    accel = bvh.build(np.zeros((0, 3, 3)), [], boxes, [0], [geometry.kind_index("sphere")], 8)
    got = trace(pools, accel, np.array([[0.0, 0, 5]]), np.array([[0.0, 0, -1]]))
    assert got.prim[0] == -1
    for ref in ((0.0, 0.0, 5.0), (0.0, 0.0, 0.0)):
        drawn = sample(pools, "sphere", 0, ref, 256)
        assert np.isfinite(drawn.p).all() and np.all(drawn.pdf == 0)
    s = surface(pools, "sphere", [0], np.zeros((1, 3)), np.array([[0.0, 0, -1]]), [0.0], [0.0], [0.0])
    assert all(np.isfinite(x).all() for x in vars(s).values())


# Sampling: densities against areas and solid angles that are known.


def solid_angle_of_sphere(distance, radius):
    """2 pi (1 - cos) of the cone, without cancellation."""
    s2 = (radius / distance) ** 2
    return 2 * np.pi * s2 / (1 + np.sqrt(1 - s2))


@pytest.mark.parametrize("distance", (1.01, 1.3, 5.0, 1e3, 1e6))
def test_sphere_seen_from_outside_is_sampled_by_its_cone(distance, f32):
    """The weight cos / (distance^2 pdf) is the solid angle, the same for every sample, to f32's rounding."""
    direction = np.array([0.48, -0.6, 0.64])
    pools = one_sphere((0.2, 0.1, -0.3), 1.0)
    ref = np.array([0.2, 0.1, -0.3]) + distance * direction
    s = sample(pools, "sphere", 0, ref)
    assert np.array_equal(s.pdf, s.again)
    to_ref = ref.astype(np.float32) - s.p
    squared = (to_ref.astype(np.float64) ** 2).sum(1)
    cosine = (to_ref * s.n).sum(1) / np.sqrt(squared)
    ok = s.pdf > 0
    assert ok.mean() > 0.995
    weight = cosine[ok] / (squared[ok] * s.pdf[ok])
    assert np.allclose(weight, solid_angle_of_sphere(distance, 1.0), rtol=2e-3)
    assert np.allclose(np.linalg.norm(s.p - [0.2, 0.1, -0.3], axis=1), 1, atol=2e-6)


@pytest.mark.parametrize("distance", (0.0, 0.5, 0.9999, 1.0, 1.0005, 1.01, 2.0))
def test_sphere_densities_integrate_to_the_visible_area(distance, f64):
    """E[1 / pdf] is the area that is sampled, and E[z / pdf] its first moment (Archimedes: area is uniform in z)."""
    pools = one_sphere((0, 0, 0), 1.0)
    s = sample(pools, "sphere", 0, (0.0, 0.0, distance), 1 << 18)
    assert np.array_equal(s.pdf, s.again)
    ok = s.pdf > 0
    low = -1.0 if distance <= 1.001 else 1.0 / distance  # the cap that ref sees begins here
    area, moment = 2 * np.pi * (1 - low), np.pi * (1 - low * low)
    got = np.sum(1 / s.pdf[ok]) / len(s.pdf), np.sum(s.p[ok, 2] / s.pdf[ok]) / len(s.pdf)
    assert np.allclose(got, (area, moment), rtol=0.02, atol=0.02 * area)


def test_samples_fill_the_cap_as_the_density_says(f64):
    """chi^2 of z = cos(angle at the centre): counts against the density integrated over equal-area rings."""
    from scipy.stats import chi2

    distance = 1.5
    pools = one_sphere((0, 0, 0), 1.0)
    rng = np.random.default_rng(4)
    u, n = rng.random((40000, 2)), 40000
    out = zeros(8 * n)
    kind = "sphere"
    area_samples(pools.reals, pools.ints, array(u), out, pools.shape_offset(0), 0, 0.0, 0.0, distance, n, kind)
    z = out.to_numpy().reshape(-1, 8)[:, 2]
    edges = np.linspace(1 / distance, 1, 21)
    fine = np.linspace(edges[:-1], edges[1:], 400)
    cosine = (distance * fine - 1) / np.sqrt(1 + distance**2 - 2 * distance * fine)
    squared = 1 + distance**2 - 2 * distance * fine
    density = cosine / squared / solid_angle_of_sphere(distance, 1.0) * 2 * np.pi  # per dz
    expected = np.trapezoid(density, fine, axis=0) * n
    assert np.isclose(expected.sum(), n, rtol=1e-4)
    observed = np.histogram(z, edges)[0]
    statistic = ((observed - expected) ** 2 / expected).sum()
    assert chi2.sf(statistic, 19) > 1e-4
    assert chi2.sf((((observed * 1.05) - expected) ** 2 / expected).sum(), 19) < 1e-4  # the test has power


def test_triangles_are_sampled_uniformly(f64):
    pools = one_triangle(RIGHT, flags=layout.FLAG_FLIP)
    s = sample(pools, "mesh", 0, (0.0, 0.0, 1.0))
    assert np.allclose(s.pdf, 1 / 3) and np.array_equal(s.pdf, s.again)
    assert np.allclose(s.n, [0, 0, -1])
    x, y = s.p[:, 0] / 2, s.p[:, 1] / 3
    assert np.all(x >= 0) and np.all(y >= 0) and np.all(x + y <= 1 + 1e-12)
    assert np.allclose(s.p.mean(0), [2 / 3, 1, 0], atol=2e-3)
    assert np.allclose([(x * x).mean(), (x * y).mean()], [1 / 6, 1 / 12], atol=1e-3)


def test_areas_and_bounds():
    mesh, sphere = geometry.GEOMETRIES["mesh"], geometry.GEOMETRIES["sphere"]
    arrays = {"vertices": np.array(RIGHT, float), "faces": np.array([[0, 1, 2]])}
    assert np.allclose(mesh.area(arrays), 3) and np.allclose(mesh.bounds(arrays), [[0, 0, 0, 2, 3, 0]])
    arrays = {"center": np.array([[1.0, 2, 3]]), "radius": np.array([2.0])}
    assert np.allclose(sphere.area(arrays), 16 * np.pi)
    assert np.allclose(sphere.bounds(arrays), [[-1, 0, 1, 3, 4, 5]])
    assert np.allclose(geometry.pack(sphere, arrays), [1, 2, 3, 2])


# A kind from outside.


@pytest.mark.parametrize("width", (2, 8))
def test_a_registered_kind_is_hit_shaded_and_sampled(width, disk_kind, f64):
    rng = np.random.default_rng(5)
    n = 40
    normal = rng.standard_normal((n, 3))
    normal /= np.linalg.norm(normal, axis=1, keepdims=True)
    arrays = {"center": rng.random((n, 3)) * 2, "normal": normal, "radius": 0.1 + 0.2 * rng.random(n)}
    corners = rng.random((20, 3, 3)) + 0.5
    pools = Pools()
    tris = pools.triangles(corners)
    disks = pools.records_of("disk", arrays)
    pools.finish()
    accel = bvh.build(corners, tris, disk.bounds(arrays), disks, np.full(n, disk_kind), width)
    o = rng.random((3000, 3)) * 6 - 2
    d = rng.random((3000, 3)) * 2 - o
    got = trace(pools, accel, o, d)

    slope = d @ normal.T
    t = ((arrays["center"] * normal).sum(1) - o @ normal.T) / slope
    off = o[:, None] + t[..., None] * d[:, None] - arrays["center"]
    t = np.where(((off**2).sum(-1) <= arrays["radius"] ** 2) & (t > 0), t, np.inf)
    every = np.concatenate([hit_triangles(corners, o, d), t], 1)
    nearest = every.min(1)
    hit = np.isfinite(nearest)
    assert np.array_equal(got.prim >= 0, hit)
    assert np.allclose(got.t[hit], nearest[hit])
    assert np.array_equal(got.prim[hit], every.argmin(1)[hit])
    at_disk = got.prim >= 20
    assert 100 < at_disk.sum() < 2900

    zero = np.zeros(np.count_nonzero(at_disk))
    s = surface(pools, "disk", got.prim[at_disk], o[at_disk], d[at_disk], got.t[at_disk], zero, zero)
    assert np.allclose(s.ng, normal[got.prim[at_disk] - 20])
    assert np.allclose(s.p, (o + got.t[:, None] * d)[at_disk])
    drawn = sample(pools, "disk", 20, (0.0, 0.0, 0.0), 1 << 12)
    assert np.allclose(drawn.pdf, 1 / disk.area(arrays)[0])
    assert np.allclose(drawn.p.mean(0), arrays["center"][0], atol=0.01)


def test_an_incomplete_kind_is_refused():
    with pytest.raises(SceneError, match="lacks surface_at"):
        parts = ("FIELDS", "intersect", "sample_area", "pdf_area", "bounds", "area")
        geometry.register("half", SimpleNamespace(**dict.fromkeys(parts)))
    with pytest.raises(SceneError, match="not registered"):
        geometry.kind_index("half")
