"""How a tube's surface moves with its control points, and its outline, against differences in NumPy (f64)."""

import numpy as np
import pytest

from irys_ti.kernels.geometry import curve, pack, tube
from irys_ti.runtime import array, ti, zeros
from irys_ti.scene.curves import controls_adjoint
from tests.hair.strands import strands

N = 40


@ti.kernel
def adjoints(reals: ti.types.ndarray(ndim=1), given: ti.types.ndarray(ndim=1), out: ti.types.ndarray(ndim=1), n: int):
    for i in range(n):
        v = ti.Matrix.zero(float, 5, 3)
        for j in range(15):
            v[j // 3, j % 3] = given[15 * i + j]
        p, ns = ti.Vector([v[0, 0], v[0, 1], v[0, 2]]), ti.Vector([v[1, 0], v[1, 1], v[1, 2]])
        g, turn = ti.Vector([v[2, 0], v[2, 1], v[2, 2]]), ti.Vector([v[3, 0], v[3, 1], v[3, 2]])
        area = ti.Vector([v[4, 0], v[4, 1], v[4, 2]])
        found = tube.adjoint_of_controls(reals, curve.STRIDE * i, p, ns, g, turn, area)
        step = tube.adjoint_of_step(reals, curve.STRIDE * i, p, ns, turn)
        for j in range(16):
            out[20 * i + j] = found[j]
        for j in ti.static(range(3)):
            out[20 * i + 16 + j] = step[j]


@ti.kernel
def outlines(reals: ti.types.ndarray(ndim=1), given: ti.types.ndarray(ndim=1), out: ti.types.ndarray(ndim=1), n: int):
    for i in range(n):
        at = 6 * i
        source = ti.Vector([given[at + 1], given[at + 2], given[at + 3]])
        finite = ti.cast(given[at + 5], ti.i32)
        p, along, normal = tube.outline_at(reals, curve.STRIDE * i, given[at], given[at + 4], source, finite)
        for j in ti.static(range(3)):
            out[9 * i + j], out[9 * i + 3 + j], out[9 * i + 6 + j] = p[j], along[j], normal[j]


def pieces(seed=0):
    """N thick pieces of control points (N, 4, 4), bent and tapering; every fourth one ends its strand."""
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((N, 1, 3)) + np.arange(4)[None, :, None] * np.array([0.4, 0.2, -0.3]) + 0.07 * rng.standard_normal((N, 4, 3))
    r = 0.12 + 0.04 * rng.standard_normal((N, 4))
    bits = np.where(np.arange(N) % 4 == 0, curve.LAST_END, 0)
    q = np.concatenate([x, r[:, :, None]], 2)
    arrays = {f"p{i}": q[:, i] for i in range(4)} | {"span": np.zeros((N, 2)), "reach": np.ones(N), "bits": bits}
    return q, bits, pack(curve, arrays)


def bernstein(s):
    """Weights of the four points, and their derivatives by s."""
    w = np.array([(1 - s) ** 3, 3 * s * (1 - s) ** 2, 3 * s * s * (1 - s), s**3])
    low = np.array([(1 - s) ** 2, 2 * s * (1 - s), s * s])
    return w, 3 * (np.r_[0, low] - np.r_[low, 0])


def unit(x):
    return x / np.linalg.norm(x)


def point(q, s, e):
    """The tube's point at s, e projected across the axis; and the unit tangent."""
    w, w1 = bernstein(s)
    t = unit(w1 @ q[:, :3])
    return w @ q[:, :3] + (w @ q[:, 3]) * unit(e - t * (e @ t)), t


def surface(q, s, e, b, h=1e-4):
    """p, N, ns, t, the shading frame's second vector; e, b: carried along and turned about the axis, at first order."""

    def at(ds, phi):
        return point(q, s + ds, np.cos(phi) * e + np.sin(phi) * b)[0]

    p, t = point(q, s, e)
    along = (at(h, 0) - at(-h, 0)) / (2 * h)
    around = (at(0, h) - at(0, -h)) / (2 * h)
    n = np.cross(around, along)
    ns = unit(n)
    return p, n, ns, t, unit(t - ns * (ns @ t))


def turned(frame, other):
    """Infinitesimal rotation (times a step) from one frame (ns, x) to the other."""
    (n, x), (m, y) = frame, other
    return np.cross(n, m - n) + n * (np.cross(n, x) @ (y - x))


def test_adjoints_by_control_points_and_by_steps(f64):
    q, bits, reals = pieces()
    rng = np.random.default_rng(1)
    s, given, frames = rng.random(N), np.zeros((N, 5, 3)), []
    for i in range(N):
        _, t = point(q[i], s[i], np.ones(3))
        e = unit(np.cross(t, rng.standard_normal(3)))
        frames.append((e, np.cross(t, e)))
        p, n, ns, t, x = surface(q[i], s[i], *frames[i])
        given[i] = p, ns, *rng.standard_normal((3, 3))
    out = zeros(20 * N)
    adjoints(array(reals), array(given.reshape(-1)), out, N)
    got = out.to_numpy()[: 20 * N].reshape(N, 20)
    for i in range(N):
        p, n, ns, t, x = surface(q[i], s[i], *frames[i])
        g, turn, area = given[i, 2:]

        def value(moved, i=i, n=n, ns=ns, x=x, g=g, turn=turn, area=area):
            p1, n1, ns1, t1, x1 = surface(moved, s[i], *frames[i])
            return g @ p1 + area @ n1 / np.linalg.norm(n) + turn @ turned((ns, x), (ns1, x1))

        want, h = np.zeros((4, 4)), 1e-5
        for j in np.ndindex(4, 4):
            d = np.zeros((4, 4))
            d[j] = h
            want[j] = (value(q[i] + d) - value(q[i] - d)) / (2 * h)
        scale = np.abs(want).max()
        np.testing.assert_allclose(got[i, :12].reshape(4, 3), want[:, :3], atol=2e-5 * scale)
        np.testing.assert_allclose(got[i, 12:16], want[:, 3], atol=2e-5 * scale)
        # A step along the axis and one around it, over the surface as it is.
        for ds, phi in ((1e-4, 0.0), (0.0, 1e-4)):
            ends = []
            for sign in (1, -1):
                e, b = frames[i]
                a = sign * phi
                _, t1 = point(q[i], s[i] + sign * ds, e)
                e1 = unit((np.cos(a) * e + np.sin(a) * b) - t1 * ((np.cos(a) * e + np.sin(a) * b) @ t1))
                p1, _, ns1, _, x1 = surface(q[i], s[i] + sign * ds, e1, np.cross(t1, e1))
                ends.append((p1, turn @ turned((ns, x), (ns1, x1))))
            (p1, v1), (p2, v2) = ends
            np.testing.assert_allclose(got[i, 16:19] @ (p1 - p2), v1 - v2, atol=3e-5 * 1e-4 * 50)


def ball(q, angle, e):
    """Of the ball at the end of a piece: the point at a share ``angle`` of the rim's angle from the axis, towards e; normal,
    the shading frame's second vector, its radius, the rim's angle."""
    w, w1 = bernstein(1.0)
    a, r, r1 = w1 @ q[:, :3], q[3, 3], w1 @ q[:, 3]
    t, taper = unit(a), min(r1 / np.linalg.norm(a), 0.0)
    e = unit(e - t * (e @ t))
    rim = np.pi / 2 + np.arctan(taper)
    n = np.cos(angle * rim) * t + np.sin(angle * rim) * e
    radius = r * np.hypot(1.0, taper)
    return q[3, :3] + r * taper * t + radius * n, n, unit(t - n * (n @ t)), radius, rim


def test_adjoints_on_the_ball_at_an_end(f64):
    """Its points keep their azimuth and their share of the rim's angle; tapering and widening ends."""
    q, bits, reals = pieces()
    rng = np.random.default_rng(2)
    given, ends = np.zeros((N, 5, 3)), np.flatnonzero(bits)
    frames = np.zeros((N, 2, 3))
    angle = rng.uniform(0.2, 0.95, N)
    for i in ends:
        t = unit(bernstein(1.0)[1] @ q[i, :, :3])
        e = unit(np.cross(t, rng.standard_normal(3)))
        frames[i] = e, np.cross(t, e)
        given[i, :2] = ball(q[i], angle[i], e)[:2]
        given[i, 2:] = rng.standard_normal((3, 3))
    out = zeros(20 * N)
    adjoints(array(reals), array(given.reshape(-1)), out, N)
    got = out.to_numpy()[: 20 * N].reshape(N, 20)
    tapers = []
    for i in ends:
        g, turn, area = given[i, 2:]
        e, b = frames[i]
        p, n, x, radius, rim = ball(q[i], angle[i], e)
        tapers.append(rim < np.pi / 2)

        def big(moved, i=i, e=e, b=b, h=1e-5):
            """The area vector per step of the share and of the azimuth."""
            ups = [ball(moved, angle[i] + d, e)[0] for d in (h, -h)]
            t = unit(bernstein(1.0)[1] @ moved[:, :3])
            e1 = unit(e - t * (e @ t))
            rounds = [ball(moved, angle[i], np.cos(d) * e1 + np.sin(d) * np.cross(t, e1))[0] for d in (h, -h)]
            return np.cross(ups[0] - ups[1], rounds[0] - rounds[1]) / (4 * h * h)

        size = np.linalg.norm(big(q[i]))

        def value(moved, i=i, e=e, n=n, x=x, size=size, g=g, turn=turn, area=area):
            p1, n1, x1, _, _ = ball(moved, angle[i], e)
            return g @ p1 + area @ big(moved) / size + turn @ turned((n, x), (n1, x1))

        assert np.dot(big(q[i]), n) > 0
        want, h = np.zeros((4, 4)), 1e-5
        for j in np.ndindex(4, 4):
            d = np.zeros((4, 4))
            d[j] = h
            want[j] = (value(q[i] + d) - value(q[i] - d)) / (2 * h)
        np.testing.assert_allclose(got[i, :12].reshape(4, 3), want[:, :3], atol=1e-4 * np.abs(want).max())
        np.testing.assert_allclose(got[i, 12:16], want[:, 3], atol=1e-4 * np.abs(want).max())
        m = unit(n + 1e-6 * unit(np.cross(n, rng.standard_normal(3))))
        t = unit(bernstein(1.0)[1] @ q[i, :, :3])
        there = m, unit(t - m * (m @ t))
        np.testing.assert_allclose(got[i, 16:19] @ (radius * (m - n)), turn @ turned((n, x), there), atol=1e-10)
    assert {*tapers} == {True, False}


@pytest.mark.parametrize("finite", [1, 0])
def test_outlines_touch_what_sees_them(finite, f64):
    """The normal is across the line of sight there; the derivative runs along the outline; so near an end as far from one."""
    q, bits, reals = pieces()
    rng = np.random.default_rng(3)
    source = 3 * rng.standard_normal((N, 3)) + (finite == 1) * np.array([4.0, 0, 0])
    side = np.where(rng.random(N) < 0.5, 1.0, -1.0)
    s, h, found = rng.random(N), 1e-5, []
    for ds in (0.0, h, -h):
        out = zeros(9 * N)
        outlines(array(reals), array(np.c_[s + ds, source, side, np.full(N, finite)].reshape(-1)), out, N)
        found.append(out.to_numpy()[: 9 * N].reshape(N, 3, 3))
    shown = np.linalg.norm(found[0][:, 1], axis=1) > 0
    assert shown.mean() > 0.8
    for i in np.flatnonzero(shown):
        p, along, normal = found[0][i]
        _, t = point(q[i], s[i], np.ones(3))
        x = p - bernstein(s[i])[0] @ q[i, :, :3]
        assert abs(x @ t) < 1e-9 and abs(np.linalg.norm(x) - bernstein(s[i])[0] @ q[i, :, 3]) < 1e-9
        e = unit(x)
        _, n, _, _, _ = surface(q[i], s[i], e, np.cross(t, e))
        np.testing.assert_allclose(normal, unit(n), atol=1e-6)
        assert abs(normal @ unit(p - source[i] if finite else source[i])) < 1e-6
        step = (found[1][i, 0] - found[2][i, 0]) / (2 * h)
        np.testing.assert_allclose(along, step, atol=1e-4 * max(1.0, np.linalg.norm(step)))


@pytest.mark.parametrize("basis,k", [("bspline", 7), ("catmull-rom", 5), ("bezier", 7), ("linear", 4)])
def test_pieces_hand_on_to_points(basis, k):
    """What a change of the control points does to the pieces, and its transpose; radii held from swinging below 0 too."""
    rng = np.random.default_rng(4)
    shape = strands(3, k=k, basis=basis, radius=0.02)
    shape.radii = 0.02 * np.exp(1.5 * rng.standard_normal(len(shape.points)))

    def all_pieces(s):
        found = s.pieces()
        return np.stack([found[f"p{i}"] for i in range(4)], 1)

    d = rng.standard_normal(all_pieces(shape).shape)
    ways, h = (rng.standard_normal(shape.points.shape), 0.02 * rng.standard_normal(shape.radii.shape)), 1e-6
    ends = []
    for sign in (1, -1):
        other = strands(3, k=k, basis=basis, radius=0.02)
        other.splits = shape.splits
        other.points, other.radii = shape.points + sign * h * ways[0], shape.radii + sign * h * ways[1]
        ends.append(all_pieces(other))
    change = (ends[0] - ends[1]) / (2 * h)
    np.testing.assert_allclose((d[:, :, :3] * change[:, :, :3]).sum(), (controls_adjoint(shape, d[:, :, :3]) * ways[0]).sum(), rtol=1e-6)
    by_radii = controls_adjoint(shape, d[:, :, 3:], shape.radii)[:, 0]
    np.testing.assert_allclose((d[:, :, 3] * change[:, :, 3]).sum(), by_radii @ ways[1], rtol=1e-6)
