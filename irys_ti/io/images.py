"""Image files: EXR (linear), PNG and JPEG (sRGB), Radiance HDR (linear, read only)."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from ..errors import SceneError

READS = (".exr", ".png", ".jpg", ".jpeg", ".hdr")
WRITES = (".exr", ".png", ".jpg", ".jpeg")


def srgb_to_linear(x: np.ndarray) -> np.ndarray:
    """sRGB values in [0, 1] to linear ones (IEC 61966-2-1)."""
    return np.where(x <= 0.04045, x / 12.92, ((np.maximum(x, 0.04045) + 0.055) / 1.055) ** 2.4).astype(x.dtype)


def linear_to_srgb(x: np.ndarray) -> np.ndarray:
    """Linear values, clipped to [0, 1], to sRGB ones."""
    x = np.clip(x, 0, 1)
    return np.where(x <= 0.0031308, 12.92 * x, 1.055 * np.maximum(x, 0.0031308) ** (1 / 2.4) - 0.055)


def read_image(path: str | Path, raw: bool = False) -> np.ndarray:
    """(h, w, c) float32, linear, row 0 the top; c is 1, 2 (grey, alpha), 3 or 4 (RGB, alpha), EXR any.

    8- and 16-bit integers are sRGB unless ``raw``; alpha never is. EXR channels R, G, B, A or Y come first, the
    others after them by name. Raises SceneError for a file that is missing or broken.
    """
    path = Path(path)
    kind = path.suffix.lower()
    if not path.is_file():
        raise SceneError(str(path), "no such image file", "check the path")
    if kind not in READS:
        raise SceneError(str(path), f"images ending in {kind!r} are not read", "use one of " + ", ".join(READS))
    try:
        if kind == ".exr":
            return _read_exr(path)
        if kind == ".hdr":
            from .rgbe import read_hdr

            return read_hdr(path.read_bytes())
        stored = _read_integers(path)
    except SceneError:
        raise
    except Exception as error:  # noqa: BLE001 - whatever the reader of a broken file runs into
        problem = f"cannot be read as {kind[1:].upper()} ({type(error).__name__}: {str(error)[:100]})"
        raise SceneError(str(path), problem, "export it again") from None
    pixels = stored.astype(np.float32) / np.float32(np.iinfo(stored.dtype).max)
    colours = pixels.shape[2] - (pixels.shape[2] % 2 == 0)
    if not raw:
        pixels[:, :, :colours] = srgb_to_linear(pixels[:, :, :colours])
    return pixels


def write_image(path: str | Path, image: np.ndarray, channels: list[str] | None = None) -> None:
    """Write (h, w) or (h, w, c): EXR as float32; PNG (8 bits, c of 1 to 4) and JPEG sRGB-encoded and clipped.

    channels: EXR names; by default Y, YA, RGB or RGBA by their number. Raises SceneError.
    """
    path = Path(path)
    image = np.asarray(image, np.float32)
    image = image[:, :, None] if image.ndim == 2 else image
    kind = path.suffix.lower()
    if image.ndim != 3 or 0 in image.shape:
        raise SceneError(str(path), f"an image of shape {image.shape}", "it must be (h, w) or (h, w, c)")
    if kind not in WRITES:
        raise SceneError(str(path), f"images ending in {kind!r} are not written", "use one of " + ", ".join(WRITES))
    if not path.parent.is_dir():
        raise SceneError(str(path), "its folder does not exist", f"make {path.parent} first")
    try:
        if kind == ".exr":
            _write_exr(path, image, channels)
        else:
            _write_integers(path, image)
    except OSError as error:
        raise SceneError(str(path), f"cannot be written: {error.strerror or error}", "check the folder") from None


def _read_exr(path: Path) -> np.ndarray:
    import OpenEXR

    with OpenEXR.File(str(path), separate_channels=True) as file:
        planes = {name: np.asarray(channel.pixels, np.float32) for name, channel in file.channels().items()}
    order = [name for name in ("R", "G", "B", "Y", "A") if name in planes]
    order += sorted(name for name in planes if name not in order)
    if not order or len({planes[name].shape for name in order}) != 1:
        raise SceneError(str(path), "its channels have different sizes", "save it without subsampled chroma")
    return np.stack([planes[name] for name in order], -1)


def _write_exr(path: Path, image: np.ndarray, channels: list[str] | None) -> None:
    import OpenEXR

    names = channels or {1: ["Y"], 2: ["Y", "A"], 3: ["R", "G", "B"], 4: ["R", "G", "B", "A"]}.get(image.shape[2])
    if names is None or len(names) != image.shape[2] or len(set(names)) != len(names):
        raise SceneError(str(path), f"{image.shape[2]} channels", "name each of them in channels=[...]")
    header = {"compression": OpenEXR.ZIP_COMPRESSION, "type": OpenEXR.scanlineimage}
    planes = {name: np.ascontiguousarray(image[:, :, i]) for i, name in enumerate(names)}
    try:
        OpenEXR.File(header, planes).write(str(path))
    except RuntimeError as error:
        raise SceneError(str(path), f"cannot be written: {error}", "check the folder") from None


def _read_integers(path: Path) -> np.ndarray:
    """(h, w, c) uint8 or uint16 of a PNG or JPEG."""
    import imageio.v3 as iio

    data = path.read_bytes()
    if data[:8] == b"\x89PNG\r\n\x1a\n" and data[24:25] == b"\x10":
        from .png16 import read_png16

        return read_png16(data)
    pixels = iio.imread(data, extension=path.suffix.lower(), plugin="pillow")
    if data[:2] == b"\xff\xd8" and pixels.ndim == 3 and pixels.shape[2] == 4:
        raise SceneError(str(path), "is a CMYK image", "save it as RGB")
    if pixels.dtype == bool:
        pixels = pixels.astype(np.uint8) * 255
    return pixels[:, :, None] if pixels.ndim == 2 else pixels


def _write_integers(path: Path, image: np.ndarray) -> None:
    import imageio.v3 as iio

    c = image.shape[2]
    jpeg = path.suffix.lower() != ".png"
    if c not in ((1, 3) if jpeg else (1, 2, 3, 4)):
        raise SceneError(str(path), f"{c} channels", "write EXR, or the first three channels")
    colours = c - (c % 2 == 0)
    encoded = np.nan_to_num(image).clip(0, 1)
    encoded[:, :, :colours] = linear_to_srgb(encoded[:, :, :colours])
    pixels = np.round(encoded * 255).astype(np.uint8)
    iio.imwrite(path, pixels[:, :, 0] if c == 1 else pixels, plugin="pillow", **({"quality": 95} if jpeg else {}))
