"""Image files: what is written comes back, in linear light."""

import struct
import zlib

import imageio.v3 as iio
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from irys_ti.errors import SceneError
from irys_ti.io.images import linear_to_srgb, read_image, srgb_to_linear, write_image


@pytest.mark.parametrize("channels", [1, 2, 3, 4])
def test_exr_keeps_every_bit(tmp_path, channels):
    image = np.random.default_rng(0).normal(0, 100, (5, 7, channels)).astype(np.float32)
    image[0, 0] = 0.1
    write_image(tmp_path / "a.exr", image)
    np.testing.assert_array_equal(read_image(tmp_path / "a.exr"), image)


def test_exr_with_named_channels(tmp_path):
    """R, G, B come first, the others by name; another program's half floats are read too."""
    import OpenEXR

    image = np.random.default_rng(1).random((3, 4, 5)).astype(np.float32)
    write_image(tmp_path / "a.exr", image, channels=["B", "depth", "G", "R", "albedo"])
    np.testing.assert_array_equal(read_image(tmp_path / "a.exr"), image[:, :, [3, 2, 0, 4, 1]])
    half = image[:, :, :3].astype(np.float16)
    OpenEXR.File({}, {"RGB": half}).write(str(tmp_path / "h.exr"))
    np.testing.assert_array_equal(read_image(tmp_path / "h.exr"), half.astype(np.float32))


@pytest.mark.parametrize("channels", [1, 2, 3, 4])
def test_png_to_half_a_step(tmp_path, channels):
    image = np.random.default_rng(2).random((6, 5, channels)).astype(np.float32)
    write_image(tmp_path / "a.png", image)
    back = read_image(tmp_path / "a.png")
    assert back.shape == image.shape and back.dtype == np.float32
    colours = channels - (channels % 2 == 0)
    error = np.abs(linear_to_srgb(back) - linear_to_srgb(image))[:, :, :colours]
    assert error.max() <= 0.5 / 255 + 1e-6
    if colours < channels:  # alpha is linear
        assert np.abs(back - image)[:, :, -1].max() <= 0.5 / 255 + 1e-6


def test_all_8_bit_values_survive(tmp_path):
    values = np.arange(256, dtype=np.uint8).reshape(16, 16)
    iio.imwrite(tmp_path / "a.png", values)
    linear = read_image(tmp_path / "a.png")
    assert linear[0, 0, 0] == 0 and linear[15, 15, 0] == 1
    write_image(tmp_path / "b.png", linear)
    np.testing.assert_array_equal(iio.imread(tmp_path / "b.png"), values)
    np.testing.assert_allclose(read_image(tmp_path / "a.png", raw=True)[:, :, 0], values / np.float32(255))


def test_the_transfer_curve():
    """IEC 61966-2-1; both pieces meet."""
    x = np.array([0, 0.04045, 0.0404501, 0.5, 1])
    np.testing.assert_allclose(srgb_to_linear(x), [0, 0.0031308, 0.0031308, 0.214041, 1], atol=1e-6)
    np.testing.assert_allclose(linear_to_srgb(srgb_to_linear(x)), x, atol=1e-6)
    np.testing.assert_allclose(linear_to_srgb(np.array([-1.0, 7.0])), [0, 1], atol=1e-15)


def filtered_png(pixels, colour, kinds):
    """A 16-bit PNG whose row y uses filter kinds[y % len(kinds)] (PNG specification, section 9)."""
    h, w, c = pixels.shape
    raw = pixels.astype(">u2").reshape(h, -1).view(np.uint8).astype(int)
    step, out = 2 * c, b""
    for y in range(h):
        kind, up = kinds[y % len(kinds)], raw[y - 1] if y else np.zeros_like(raw[0])
        left = np.r_[np.zeros(step, int), raw[y][:-step]]
        corner = np.r_[np.zeros(step, int), up[:-step]]
        p = left + up - corner
        a, b, d = abs(p - left), abs(p - up), abs(p - corner)
        paeth = np.where((a <= b) & (a <= d), left, np.where(b <= d, up, corner))
        guess = [0 * up, left, up, (left + up) // 2, paeth][kind]
        out += bytes([kind]) + ((raw[y] - guess) % 256).astype(np.uint8).tobytes()

    def chunk(name, data):
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    head = struct.pack(">IIBBBBB", w, h, 16, colour, 0, 0, 0)
    packed = zlib.compress(out)
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", head)
        + chunk(b"IDAT", packed[:20])
        + chunk(b"IDAT", packed[20:])
        + chunk(b"IEND", b"")
    )


@pytest.mark.parametrize(("colour", "channels"), [(0, 1), (4, 2), (2, 3), (6, 4)])
def test_png_of_16_bits(tmp_path, colour, channels):
    """Every row filter; a reader that keeps 8 bits would be off by up to 255."""
    pixels = np.random.default_rng(3).integers(0, 65536, (11, 9, channels))
    (tmp_path / "a.png").write_bytes(filtered_png(pixels, colour, [0, 1, 2, 3, 4, 4]))
    np.testing.assert_allclose(read_image(tmp_path / "a.png", raw=True) * 65535, pixels, atol=0.01)


def test_jpeg(tmp_path):
    y, x = np.mgrid[:32, :32] / 31
    image = np.stack([x, y, 0.5 + 0 * x], -1).astype(np.float32)
    write_image(tmp_path / "a.jpg", image)
    assert np.abs(linear_to_srgb(read_image(tmp_path / "a.jpg")) - linear_to_srgb(image)).max() < 0.1


def hdr(body, w, h):
    return b"#?RADIANCE\nFORMAT=32-bit_rle_rgbe\n\n-Y %d +X %d\n" % (h, w) + body


def test_radiance_hdr(tmp_path):
    """(m + 1/2) * 2^(e - 136), flat and run-length encoded."""
    pixel = bytes([100, 50, 200, 130])
    (tmp_path / "a.hdr").write_bytes(hdr(pixel * 6, 3, 2))
    expected = np.array([100.5, 50.5, 200.5]) * 2.0 ** (130 - 136)
    np.testing.assert_allclose(read_image(tmp_path / "a.hdr"), np.broadcast_to(expected, (2, 3, 3)), rtol=1e-6)
    row = (
        bytes([2, 2, 0, 10])
        + bytes([138, 100])
        + bytes([128 + 4, 50, 6, *range(6)])
        + bytes([138, 200])
        + bytes([138, 130])
    )
    (tmp_path / "b.hdr").write_bytes(hdr(row * 2, 10, 2))
    image = read_image(tmp_path / "b.hdr")
    np.testing.assert_allclose(image[1, :, 0], 100.5 / 64)
    np.testing.assert_allclose(image[1, :, 1], (np.array([50] * 4 + list(range(6))) + 0.5) / 64)


@pytest.mark.parametrize("name", ["a.exr", "a.png", "a.jpg", "a.hdr"])
@pytest.mark.parametrize("content", [b"", b"junk", b"\x89PNG\r\n\x1a\n" + b"\0" * 8, b"#?R\n\n-Y 9 +X 9\nx"])
def test_a_broken_file_is_one_line(tmp_path, name, content):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(SceneError, match=rf"{name}: cannot be read as") as caught:
        read_image(tmp_path / name)
    assert "\n" not in str(caught.value)


def test_a_file_cut_short_is_refused(tmp_path):
    rng = np.random.default_rng(4)
    pixels = rng.integers(0, 65536, (11, 9, 3))
    (tmp_path / "w.png").write_bytes(filtered_png(pixels, 2, [4])[:300])
    write_image(tmp_path / "a.png", rng.random((40, 40, 3)))
    (tmp_path / "v.png").write_bytes((tmp_path / "a.png").read_bytes()[:600])
    write_image(tmp_path / "a.exr", rng.random((40, 40, 3)))
    (tmp_path / "u.exr").write_bytes((tmp_path / "a.exr").read_bytes()[:600])
    (tmp_path / "t.hdr").write_bytes(hdr(b"1234" * 3, 4, 4))
    for name in ("w.png", "v.png", "u.exr", "t.hdr"):
        with pytest.raises(SceneError, match=name):
            read_image(tmp_path / name)


def test_what_cannot_be_read_or_written(tmp_path):
    for name in ("none.exr", "none.png"):
        with pytest.raises(SceneError, match=f"{name}: no such image"):
            read_image(tmp_path / name)
    (tmp_path / "a.bmp").write_bytes(b"BM")
    with pytest.raises(SceneError, match=r"'\.bmp' are not read; use one of \.exr"):
        read_image(tmp_path / "a.bmp")
    image = np.zeros((2, 2, 3))
    for name, picture, message in (
        ("a.bmp", image, "not written"),
        ("no/a.png", image, "folder does not exist"),
        ("a.png", np.zeros((2, 2, 5)), "5 channels"),
        ("a.exr", np.zeros((2, 2, 5)), "name each"),
        ("a.exr", np.zeros((0, 2, 3)), "shape"),
        ("a.jpg", np.zeros((2, 2, 4)), "4 channels"),
    ):
        with pytest.raises(SceneError, match=message):
            write_image(tmp_path / name, picture)


def test_not_a_number_is_written_black(tmp_path):
    write_image(tmp_path / "a.png", np.full((2, 2, 3), np.nan))
    assert not read_image(tmp_path / "a.png").any()


@settings(max_examples=60, deadline=None)
@given(st.binary(max_size=200), st.integers(0, 150), st.sampled_from([".png", ".exr", ".hdr", ".jpg"]))
def test_any_bytes_raise_nothing_else(tmp_path_factory, junk, at, kind):
    folder = tmp_path_factory.mktemp("fuzz")
    whole = folder / f"a{kind}"
    if kind == ".hdr":
        whole.write_bytes(hdr(b"1234" * 64, 8, 8))
    else:
        write_image(whole, np.full((8, 8, 3), 0.3))
    data = whole.read_bytes()
    (folder / f"b{kind}").write_bytes(data[:at] + junk + data[at + len(junk) :])
    try:
        assert read_image(folder / f"b{kind}").ndim == 3
    except SceneError as error:
        assert "\n" not in str(error)
