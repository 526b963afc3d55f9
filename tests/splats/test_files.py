"""Files of splats: what is written is read again, other formats decode, and broken ones say so in one line."""

import gzip
import struct

import numpy as np
import pytest

import irys_ti as it
from irys_ti.io import splat_checks
from irys_ti.io.splats import spz
from irys_ti.kernels.geometry.splats import matrices

C0 = 0.28209479177387814


def some(n: int = 7, degree: int = 3, seed: int = 0) -> it.Splats:
    rng = np.random.default_rng(seed)
    return it.Splats(
        id="some", position=rng.normal(size=(n, 3)), scale=rng.uniform(0.01, 0.3, (n, 3)),
        rotation=rng.normal(size=(n, 4)), opacity=rng.uniform(0.05, 0.95, n), albedo=rng.uniform(0.1, 0.9, (n, 3)),
        sh=rng.normal(size=(n, (degree + 1) ** 2, 3)),
    )  # fmt: skip


def same_orientation(a, b, tolerance):
    np.testing.assert_allclose(matrices(a), matrices(b), atol=tolerance)


@pytest.mark.parametrize("degree", [0, 1, 2, 3])
def test_ply_round_trip(tmp_path, degree):
    splats = some(degree=degree)
    it.write_splats(tmp_path / "a.ply", splats)
    again = it.read_splats(tmp_path / "a.ply")
    for name in ("position", "scale", "opacity", "sh"):
        np.testing.assert_allclose(getattr(again, name), getattr(splats, name), rtol=1e-5, atol=1e-6)
    same_orientation(again.rotation, splats.rotation, 1e-6)
    assert again.id == "a" and it.load(tmp_path / "a.ply").shapes[0].kind == "splats"


def test_an_edited_capture_keeps_its_colours(tmp_path):
    """A relit set is written with its albedo as constant colour."""
    splats = it.relight(some())
    assert splats.sh is None
    it.write_splats(tmp_path / "a.ply", splats)
    np.testing.assert_allclose(it.relight(it.read_splats(tmp_path / "a.ply")).albedo, splats.albedo, atol=1e-5)


def test_harmonics_turn_with_the_set(tmp_path):
    """What is written for a y-down viewer has, towards a turned direction, the colour of the original."""
    from irys_ti.io.splats import ply

    splats = some(3)
    it.write_splats(tmp_path / "a.ply", splats)
    raw = ply.read((tmp_path / "a.ply").read_bytes(), "a")
    d = np.array([0.48, -0.6, 0.64])
    np.testing.assert_allclose(basis(d * [1, -1, -1]) @ raw.sh[0], basis(d) @ splats.sh[0], rtol=1e-5)
    turned = np.diag([1.0, -1.0, -1.0])
    np.testing.assert_allclose(matrices(raw.rotation), turned @ matrices(splats.rotation), atol=1e-6)


def basis(d) -> np.ndarray:
    """Real spherical harmonics from their definition (scipy), with the signs of captures."""
    from scipy.special import sph_harm_y

    theta, phi = np.arccos(d[2]), np.arctan2(d[1], d[0])
    out = []
    for n in range(4):
        for m in range(-n, n + 1):
            y = sph_harm_y(n, abs(m), theta, phi)
            out.append(y.real if m == 0 else np.sqrt(2) * (y.real if m > 0 else y.imag))
    return np.array(out)


def test_kernel_harmonics(f64):
    from irys_ti.kernels.splat_light import harmonics
    from irys_ti.runtime import ti, zeros

    @ti.kernel
    def evaluate(out: ti.types.ndarray(ndim=1), x: float, y: float, z: float):
        for _ in range(1):
            found = harmonics(ti.Vector([x, y, z]))
            for k in ti.static(range(16)):
                out[k] = found[k]

    d = np.array([0.48, -0.6, 0.64])
    out = zeros(16)
    evaluate(out, *d)
    np.testing.assert_allclose(out.to_numpy(), basis(d), atol=1e-9)


def test_guitar(data):
    guitar = it.read_splats(data / "splats" / "guitar.compressed.ply")
    assert len(guitar) == 90854 and guitar.sh.shape == (90854, 1, 3)
    assert 0.0039 <= guitar.opacity.min() and guitar.opacity.max() == 1.0
    low, high = np.quantile(guitar.position, [0.01, 0.99], axis=0)
    assert high[1] - low[1] > 3 and high[0] - low[0] < 1.5  # it stands upright
    np.testing.assert_allclose(np.linalg.norm(guitar.rotation, axis=1), 1, atol=1e-6)


def test_splat(tmp_path):
    row = struct.pack("<6f8B", 1, -2, 3, 0.1, 0.2, 0.3, 255, 128, 0, 51, 128 + 64, 128, 128 - 64, 128)
    (tmp_path / "a.splat").write_bytes(3 * row)
    splats = it.read_splats(tmp_path / "a.splat")
    np.testing.assert_allclose(splats.position[2], [1, 2, -3])  # +y up
    np.testing.assert_allclose(splats.scale[1], [0.1, 0.2, 0.3], rtol=1e-6)
    assert splats.opacity[0] == pytest.approx(0.2)
    np.testing.assert_allclose(0.5 + C0 * splats.sh[0, 0], [1, 128 / 255, 0], atol=1e-9)
    same_orientation(splats.rotation[:1], [[0, 0.5, 0, -0.5]], 1e-9)  # i (0.5 - 0.5 j)


def test_spz(tmp_path):
    """Both versions, encoded here by the documented layout."""
    q = np.array([0.1, -0.7, 0.3, 0.64])
    q /= np.linalg.norm(q)  # x, y, z, w
    place = int(np.argmax(np.abs(q)))
    signed = q * np.sign(q[place])
    packed = place
    for i in range(4):
        if i != place:
            packed = packed << 10 | int(signed[i] < 0) << 9 | round(abs(signed[i]) * np.sqrt(2) * 511)
    rotations = {2: bytes(round((x + 1) * 127.5) for x in q[:3] * np.sign(q[3])), 3: struct.pack("<I", packed)}
    for version, rotation in rotations.items():
        body = struct.pack("<IIIBBBB", spz.MAGIC, version, 1, 1, 12, 0, 0)
        body += b"".join((round(x * 4096) & 0xFFFFFF).to_bytes(3, "little") for x in (1.5, -2.25, 0.125))
        body += bytes([51]) + bytes([255, 128, 0]) + bytes([160, 96, 128]) + rotation
        body += bytes(128 + 16 * k for k in range(-4, 5))
        (tmp_path / "a.spz").write_bytes(gzip.compress(body))
        splats = it.read_splats(tmp_path / "a.spz")
        np.testing.assert_allclose(splats.position, [[1.5, -2.25, 0.125]])
        np.testing.assert_allclose(splats.scale, np.exp([[0, -4, -2]]))
        assert splats.opacity[0] == pytest.approx(0.2)
        np.testing.assert_allclose(splats.sh[0, 0], (np.array([1, 128 / 255, 0]) - 0.5) / 0.15)
        np.testing.assert_allclose(splats.sh[0, 1:].reshape(-1), np.arange(-4, 5) / 8)
        same_orientation(splats.rotation, [q[[3, 0, 1, 2]]], 0.02)


def broken(tmp_path, kind: str):
    splats = some()
    if kind == "nan":
        splats.scale[3, 1] = np.nan
    it.write_splats(tmp_path / "a.ply", splats)
    data = (tmp_path / "a.ply").read_bytes()
    name = "a.ply"
    if kind == "truncated":
        data = data[:-100]
    elif kind == "header":
        data = data[:200]
    elif kind == "zero":
        data = data[: data.find(b"end_header") + 11].replace(b"element vertex 7", b"element vertex 0")
    elif kind == "many":
        data = data.replace(b"element vertex 7", b"element vertex 2000000000")
    elif kind == "mesh property":
        data = data.replace(b"property float rot_3", b"property float other")
    elif kind == "splat":
        name, data = "a.splat", data[:33]
    elif kind == "empty splat":
        name, data = "a.splat", b""
    elif kind == "spz":
        name, data = "a.spz", b"no gzip at all"
    elif kind == "short spz":
        name, data = "a.spz", gzip.compress(struct.pack("<IIIBBBB", spz.MAGIC, 3, 1000, 0, 12, 0, 0) + bytes(100))
    elif kind == "spz version":
        name, data = "a.spz", gzip.compress(struct.pack("<IIIBBBB", spz.MAGIC, 4, 1000, 0, 12, 0, 0))
    (tmp_path / name).write_bytes(data)
    return tmp_path / name


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("truncated", "is truncated: 6 of 7 rows"),
        ("header", "header is cut off"),
        ("zero", "holds no splats"),
        ("many", "are free"),
        ("nan", "scale of splat 3 is not finite"),
        ("mesh property", "lacks rot_3"),
        ("splat", "is truncated: 33 bytes"),
        ("empty splat", "holds no splats"),
        ("spz", "is not an SPZ file"),
        ("short spz", "is truncated"),
        ("spz version", "SPZ version 4"),
    ],
)
def test_broken_files(tmp_path, kind, words):
    path = broken(tmp_path, kind)
    with pytest.raises(it.SceneError) as caught:
        it.read_splats(path)
    line = str(caught.value)
    assert words in line and path.name in line and "\n" not in line and ";" in line


def scene_with(splats) -> it.Scene:
    return it.Scene(shapes=[splats], file="test")


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("opacity", -0.1, "opacity of splat 2 is negative"),
        ("opacity", 1.5, "opacity of splat 2 is above 1"),
        ("scale", np.nan, "scale of splat 2 is not finite"),
        ("scale", 0.0, "scale of splat 2 is not above 0"),
        ("albedo", -1.0, "albedo of splat 2 is negative"),
        ("rotation", 0.0, "rotation of splat 2 is zero"),
        ("position", np.inf, "position of splat 2 is not finite"),
    ],
)
def test_bad_arrays(f32, name, value, words):
    splats = some()
    getattr(splats, name)[2] = value
    with pytest.raises(it.SceneError, match=words):
        it.render(scene_with(splats), 1)


def test_no_splats_and_too_many(f32, monkeypatch):
    with pytest.raises(it.SceneError, match="holds no splats"):
        it.render(scene_with(it.Splats(id="none")), 1)
    monkeypatch.setattr(splat_checks, "free_memory", lambda: 8 * 2**30)
    with pytest.raises(it.SceneError, match=r"10,000,000 splats need about \d+\.\d GiB, and 8.0 GiB are free"):
        splat_checks.require_memory(10_000_000, 0, "capture")


def test_gradients_that_are_not_there(f32):
    scene = scene_with(some())
    with pytest.raises(it.MissingGradientError, match="relight"):
        it.backward(scene, np.ones((256, 256, 3)), 1, params=["some.albedo"])
    sheet = it.relight(some())
    sheet.phase = "diffuse"
    with pytest.raises(it.MissingGradientError, match="normal turns"):
        it.backward(scene_with(sheet), np.ones((256, 256, 3)), 1, params=["some.rotation"])
