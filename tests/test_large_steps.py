"""Vertices in large steps: the solves against dense ones, welding, rims, faces turned over, and a shape from a picture."""

import numpy as np
import pytest

import irys_ti as it
from irys_ti.large_steps import LargeSteps, inverted, laplacian
from tests.test_examples import load

LAMBDA = 3.0


def sheet(n: int = 5, seam: bool = False) -> tuple[np.ndarray, np.ndarray]:
    """A square of n x n vertices; with a seam its middle column is there twice."""
    y, x = np.mgrid[0:n, 0:n]
    v = np.stack([x, y, 0 * x], -1).reshape(-1, 3).astype(float)
    at = np.arange(n * n).reshape(n, n)
    quads = [(at[i, j], at[i, j + 1], at[i + 1, j + 1], at[i + 1, j]) for i in range(n - 1) for j in range(n - 1)]
    f = np.array([t for a, b, c, d in quads for t in ((a, b, c), (a, c, d))])
    if seam:
        again = {k: n * n + i for i, k in enumerate(at[:, n // 2])}
        v = np.concatenate([v, v[list(again)]])
        right = v[f].mean(1)[:, 0] > n // 2
        f[right] = np.vectorize(lambda k: again.get(k, k))(f[right])
    return v, f.astype(np.int32)


def scene(vertices, faces) -> it.Scene:
    return it.Scene(
        it.Camera(film=it.Film(8, 8)), materials=[it.Material("grey", "diffuse", {})],
        shapes=[it.Mesh(id="sheet", material="grey", vertices=vertices, faces=faces)],
        lights=[it.Light("sky", "constant", {"radiance": 1.0})],
    )  # fmt: skip


def dense(faces, n) -> np.ndarray:
    """I + lambda L, written out edge by edge."""
    out = np.eye(n)
    for a, b in {tuple(sorted(p)) for f in faces for p in ((f[0], f[1]), (f[1], f[2]), (f[2], f[0]))}:
        out[a, a] += LAMBDA
        out[b, b] += LAMBDA
        out[a, b] -= LAMBDA
        out[b, a] -= LAMBDA
    return out


def test_a_step_is_the_gradient_smoothed_twice(f32):
    """The first step of Adam is along (I + lambda L)^-2 g, as long as its rate where that is largest before the second solve."""
    v, f = sheet()
    g = np.random.default_rng(0).standard_normal(v.shape)
    shape = LargeSteps(scene(v, f), "sheet", 1e-3, LAMBDA, "free")
    m = dense(f, len(v))
    once = np.linalg.solve(m, g)
    assert np.allclose(shape.smoothed(g), once, atol=1e-12)
    shape.step(g)
    expected = -1e-3 * np.linalg.solve(m, once) / np.abs(once).max()
    assert np.allclose(shape.shape.vertices - v, expected, atol=1e-12) and np.abs(expected).max() > 1e-5


def test_a_seam_is_one_vertex(f32):
    """Duplicated vertices share their gradient and stay together; the sheet moves as the welded one does."""
    (v, f), (w, h) = sheet(), sheet(seam=True)
    g = np.random.default_rng(1).standard_normal((len(w), 3))
    whole = g[: len(v)].copy()
    where = [int(np.flatnonzero((v == p).all(1))[0]) for p in w[len(v) :]]
    np.add.at(whole, where, g[len(v) :])
    one, two = (LargeSteps(scene(*mesh), "sheet", 1e-3, LAMBDA) for mesh in ((v, f), (w, h)))
    one.step(whole)
    two.step(g)
    assert np.allclose(two.shape.vertices[: len(v)], one.shape.vertices, atol=1e-12)
    assert np.array_equal(two.shape.vertices[len(v) :], two.shape.vertices[where])


def test_rims(f32):
    """Along a rim neighbours on the rim alone count; a fixed rim stays; a free one is drawn by the inside."""
    v, f = sheet()
    rim = (v[:, :2] == 0).any(1) | (v[:, :2] == 4).any(1)
    matrix, found = laplacian(f, len(v))
    assert np.array_equal(found, rim) and not matrix.toarray()[np.ix_(rim, ~rim)].any()
    inside = np.where(rim, 0.0, 1.0)[:, None] * np.array([0, 0, 1.0])
    shape = LargeSteps(scene(v, f), "sheet", 0.1, LAMBDA, "fixed")
    shape.step(inside)
    moved = shape.shape.vertices - v
    assert not moved[rim].any() and (moved[~rim][:, 2] < 0).all()
    free = LargeSteps(scene(v, f), "sheet", 0.1, LAMBDA, "free")
    free.step(inside)
    assert (free.shape.vertices[rim][:, 2] < 0).all()


def test_faces_that_turn_over_are_told(f32):
    """A step that folds the sheet is shortened until it does not; where that may not be, its faces are named."""
    v, f = sheet()
    g = np.zeros_like(v)
    g[12, 0] = 1.0  # its middle, against +x
    assert len(inverted(v, v - 1.5 * g, f))
    short = LargeSteps(scene(v, f), "sheet", 1.5, 0.0).step(g)
    assert short.share == 0.5 and not len(short.inverted) and short.moved == pytest.approx(0.75)
    shape = LargeSteps(scene(v, f), "sheet", 1.5, 0.0, shorten=0)
    report = shape.step(g)
    assert np.array_equal(report.inverted, inverted(v, v - 1.5 * g, f)) and shape.inverted == len(report.inverted) > 0


def test_remeshing(f32):
    """The hook's mesh takes the old one's place, is rendered, and goes on; nonsense from it is one clear line."""
    v, f = sheet()
    coarse = sheet(3)
    shape = LargeSteps(scene(v, f), "sheet", 1e-3, LAMBDA, remesh=lambda v, f: (2.0 * coarse[0], coarse[1]), every=2)
    assert not shape.step(np.ones_like(v)).remeshed and shape.step(np.ones_like(v)).remeshed
    assert len(shape.shape.vertices) == 9 and it.parameters(shape.scene)["sheet.vertices"].shape == (9, 3)
    assert not shape.step(np.ones((9, 3))).remeshed
    shape = LargeSteps(scene(v, f), "sheet", 1e-3, remesh=lambda v, f: (v, f[:0]), every=1)
    with pytest.raises(it.SceneError, match=r"remeshed.*return vertices"):
        shape.step(np.ones_like(v))


def test_a_shape_from_a_picture(tmp_path):
    """Large steps find it; the same derivatives taken plainly pull its rim alone. See examples/shape_from_picture.py."""
    found = load("shape_from_picture").main(["--quick", "--arch", "cpu", "--out", str(tmp_path)])
    assert found["large steps"] < 0.13 and found["large steps, inverted"] == 0
    assert found["large steps, off"] < 0.6 * found["start, off"]
    assert found["plain"] > 1.4 * found["large steps"] and found["plain, off"] > 1.5 * found["large steps, off"]
    assert (tmp_path / "shape.png").exists()
