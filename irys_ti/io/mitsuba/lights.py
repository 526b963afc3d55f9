"""<emitter> elements."""

from __future__ import annotations

import numpy as np

from ...scene import Light, Texture, rgb
from ...scene import transform as tf
from ..suggest import nearest
from .props import Props
from .sky import sunsky
from .textures import pixels_of, value
from .transforms import is_rigid, matrix
from .xml import Node

WHITE = rgb(1, 1, 1, illuminant=True)  # Mitsuba's default: D65 of luminance 1


def light(node: Node, context, id: str) -> Light:
    """A light that is no shape."""
    plugin = LIGHTS.get(node.type)
    if plugin is None:
        if node.type == "area":
            raise node.error("an area light needs a shape", "put it inside a <shape>")
        raise node.error(f"unknown emitter {node.type!r}", nearest(node.type, [*LIGHTS, "area"]))
    props = Props(node, context)
    values, to_world = plugin(props)
    props.finish()
    return Light(id, KINDS.get(node.type, node.type), values, to_world)


def area(node: Node, context, shape_id: str) -> Light:
    """The light that a shape is."""
    if node.type != "area":
        raise node.error(f"emitter {node.type!r} inside a shape", 'a shape shines by type="area"')
    props = Props(node, context)
    result = Light(shape_id, "area", {"radiance": value(props, "radiance", WHITE, emitter=True)})
    props.finish()
    return result


def _constant(props: Props):
    return {"radiance": value(props, "radiance", WHITE, emitter=True)}, np.eye(4)


def _point(props: Props):
    values = {"intensity": value(props, "intensity", WHITE, emitter=True)}
    if props.has("position"):
        if props.has("to_world"):
            raise props.node.error("has both position and to_world", "keep one")
        return values, tf.translate(*props.vector("position"))
    return values, tf.translate(*matrix(props)[:3, 3])


def _spot(props: Props):
    cutoff = props.float("cutoff_angle", 20.0, 0.0, 180.0)
    values = {
        "intensity": value(props, "intensity", WHITE, emitter=True),
        "cutoff_angle": cutoff,
        "beam_width": props.float("beam_width", 0.75 * cutoff, 0.0, cutoff),
    }
    if props.has("texture"):
        raise props.named["texture"].error("a spot's texture is not supported", "remove it")
    return values, _rigid(props)


def _directional(props: Props):
    values = {"irradiance": value(props, "irradiance", WHITE, emitter=True)}
    if not props.has("direction"):
        return values, _rigid(props)
    if props.has("to_world"):
        raise props.node.error("has both direction and to_world", "keep one")
    direction = props.vector("direction")
    if not direction.any():
        raise props.node.error("the direction is zero", "say where the light shines to")
    up = np.eye(3)[np.argmin(np.abs(direction))]
    return values, tf.look_at(np.zeros(3), direction, up)


def _sky(props: Props):
    return sunsky(props, _rigid(props))


def _envmap(props: Props):
    name = props.string("filename")
    pixels = pixels_of(props.node, name)
    if pixels.min() < 0 or not np.isfinite(pixels).all():
        raise props.node.error(f"{name} has negative or non-finite pixels", "repair the image")
    scale = props.float("scale", 1.0, low=0.0)
    props.boolean("mis_compensation", False)  # how Mitsuba samples; the picture is the same
    pixels = np.broadcast_to(pixels, (*pixels.shape[:2], 3))  # grey is white light, D65
    return {"radiance": Texture(pixels, source=name), "scale": scale}, _rigid(props)


LIGHTS = {
    "constant": _constant,
    "point": _point,
    "spot": _spot,
    "directional": _directional,
    "envmap": _envmap,
    "sunsky": _sky,
    "sky": _sky,
    "sun": _sky,
}
KINDS = {"sunsky": "sky", "sun": "sky"}  # where this program's name is another


def _rigid(props: Props) -> np.ndarray:
    node = props.named.get("to_world")
    m = matrix(props)
    if not is_rigid(m):
        raise node.error("a light cannot be scaled or mirrored", "use rotate, translate or lookat")
    return m
