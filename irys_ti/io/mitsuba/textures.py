"""Values of materials and lights: a spectrum or an image, and named numbers that may be an image."""

from __future__ import annotations

import numpy as np

from ...scene import Spectrum, Texture, Value, constant
from ...spectral import cie
from ..images import read_image
from ..suggest import nearest
from .props import REQUIRED, Props
from .spectra import PLUGINS, checked, plugin, spectrum
from .transforms import to_uv
from .xml import Node

TEXTURES = ("bitmap", "checkerboard")
# Mitsuba's first image row is v = 0, this program's is v = 1.
_FLIP_V = np.array([[1.0, 0, 0], [0, -1, 1], [0, 0, 1]])


def value(props: Props, name: str, default=REQUIRED, emitter: bool = False, high: float = np.inf) -> Value | None:
    """The spectrum or texture named ``name``, with values in [0, high]."""
    node = props.take(name, "float", "integer", "rgb", "color", "spectrum", "texture")
    if node is None:
        if default is REQUIRED:
            raise props.node.error(f"lacks {name!r}", f'add <spectrum name="{name}" value="..."/>')
        return default
    if node.tag == "texture" and node.type in TEXTURES:
        return texture(node, props.context, emitter, high)
    if node.tag == "texture":
        if node.type not in PLUGINS:
            raise node.error("unknown texture", nearest(node.type, (*TEXTURES, *PLUGINS)))
        result = plugin(node, props.context)
        checked(node, result.values, high)
        return result
    return spectrum(node, props.context, emitter, high)


def reflectance(props: Props, name: str, default=REQUIRED) -> Value | None:
    """A value in [0, 1]."""
    return value(props, name, default, high=1.0)


def scalar(props: Props, name: str, default=REQUIRED, low: float = -np.inf, high: float = np.inf):
    """A number, or a texture of one channel (the luminance of a colour image)."""
    node = props.named.get(name)
    if node is not None and node.tag == "ref":
        node = props.context.target(node)
    if node is None or node.tag != "texture":
        return props.float(name, default, low, high)
    props.take(name, "texture")
    if node.type != "bitmap":
        raise node.error("unknown texture", nearest(node.type, ("bitmap",)))
    image = bitmap(node, props.context)
    if image.pixels.shape[2] == 3:
        raw = bool(image.raw)
        weights = np.full(3, 1 / 3) if raw else cie.LUMINANCE
        image.texture.pixels = (image.pixels @ weights)[:, :, None]
    if image.texture.pixels.min() < low or image.texture.pixels.max() > high:
        raise node.error(f"{name} leaves {low:g} to {high:g}", "rescale the image")
    return image.texture


def texture(node: Node, context, emitter: bool, high: float) -> Texture:
    """A colour texture."""
    if node.type == "checkerboard":
        return _checkerboard(node, context, emitter, high)
    image = bitmap(node, context)
    if image.raw and image.pixels.shape[2] == 3:
        raise node.error("raw=true keeps colours from becoming spectra", "remove raw, or give a grey image")
    checked(node, image.pixels, high)
    return image.texture


class Bitmap:
    """A texture together with what its element says of it."""

    def __init__(self, texture: Texture, raw: bool):
        self.texture, self.raw = texture, raw

    @property
    def pixels(self) -> np.ndarray:
        return self.texture.pixels


def bitmap(node: Node, context) -> Bitmap:
    """<texture type="bitmap">: 1 or 3 channels, alpha dropped."""
    props = Props(node, context)
    raw = props.boolean("raw", False)
    name = props.string("filename")
    interpolation = props.string("filter_type", "bilinear", ("bilinear", "nearest"))
    wrap = props.string("wrap_mode", "repeat", ("repeat", "clamp", "mirror"))
    uv = _FLIP_V @ to_uv(props)
    props.string("format", "")
    props.boolean("accel", True)
    props.finish()
    pixels = pixels_of(node, name, raw)
    # On a light too Mitsuba takes the colours as a surface's: D65 does not multiply them.
    return Bitmap(Texture(pixels, interpolation, wrap, uv, source=name, illuminant=False), raw)


def pixels_of(node: Node, filename: str, raw: bool = False) -> np.ndarray:
    """(h, w, 1 or 3) of an image file named in an element."""
    path = node.folder / filename
    if not path.is_file():
        raise node.error(f"no such file: {path}", "filename is relative to the scene file")
    pixels = read_image(path, raw=raw)
    channels = 1 if pixels.shape[2] < 3 else 3
    return np.ascontiguousarray(pixels[:, :, :channels])


def _checkerboard(node: Node, context, emitter: bool, high: float) -> Texture:
    """Two by two texels: the same squares, exactly."""
    props = Props(node, context)
    colours = [value(props, f"color{i}", constant(v), emitter, high) for i, v in enumerate((0.4, 0.2))]
    uv = _FLIP_V @ to_uv(props)
    props.finish()
    for colour in colours:
        if not isinstance(colour, Spectrum) or colour.kind == "points":
            raise node.error("squares must be plain numbers or rgb", "make an image of it and use a bitmap")
    n = max(len(c.values) for c in colours)
    a, b = (np.broadcast_to(c.values, n) for c in colours)
    # u, v both below or both above one half: color0. Row 0 is v from 1/2 to 1 after the flip.
    pixels = np.array([[a, b], [b, a]])
    return Texture(pixels, "nearest", "repeat", uv, source="checkerboard", illuminant=False)
