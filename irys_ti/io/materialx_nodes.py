"""What a MaterialX input is connected to: constants and images, through nodegraphs."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from ..scene import Texture
from .colorspaces import NOT_A_COLOUR, SPACES, SRGB, linear
from .images import read_image
from .materialx_xml import Element
from .openpbr import FrameMap

WRAPS = {"periodic": "repeat", "clamp": "clamp", "mirror": "mirror"}
PASSING = ("dot", "convert")


class Unmapped(Exception):
    """A connection that has no counterpart here; its text says why."""


def node_of(element: Element) -> Element | None:
    """The node that an input or output is connected to; None if it holds a value.

    Raises Unmapped for a name that is not there.
    """
    for _ in range(20):
        scope = element.parent
        while scope is not None and scope.tag not in ("nodegraph", "materialx"):
            scope = scope.parent
        root = scope
        while root is not None and root.parent is not None:
            root = root.parent
        if "interfacename" in element.attributes:
            element = _there(scope.child(element.attributes["interfacename"]), element, "interfacename")
        elif "nodegraph" in element.attributes:
            graph = _there(root.child(element.attributes["nodegraph"]), element, "nodegraph")
            outputs = [c for c in graph.children if c.tag == "output"]
            wanted = element.attributes.get("output")
            found = next((o for o in outputs if wanted in (None, o.name)), None)
            element = _there(found, element, "output" if wanted else "nodegraph")
        elif "nodename" in element.attributes:
            return _there(scope.child(element.attributes["nodename"]), element, "nodename")
        else:
            return element if element.tag == "input" and "value" in element.attributes else None
    raise Unmapped("its connections run in a circle")


def _there(found: Element | None, element: Element, attribute: str) -> Element:
    if found is None:
        raise Unmapped(f"{attribute} {element.attributes.get(attribute)!r} is not in the document")
    return found


def connected(element: Element, need: str, path: Path):
    """The value behind a connection: a number, three linear sRGB numbers, or a Texture. Raises Unmapped."""
    node, channel = node_of(element), None
    if need == "vector3":
        return _frame(element, node, path)
    for _ in range(20):
        if node is None:
            raise Unmapped("it is connected to nothing")
        if node.tag in PASSING or node.tag == "extract":
            if node.tag == "extract":
                index = node.child("index")
                channel = 0 if index is None else int(index.numbers(1)[0])
            inside = node.child("in")
            if inside is None:
                raise Unmapped(f"<{node.tag}> has no input")
            node = node_of(inside)
            continue
        break
    if node.tag == "constant":
        node = node.child("value")
        if node is None:
            raise Unmapped("a <constant> without a value")
    if node.tag == "input":
        if need == "boolean":
            return float(node.flag())
        n = 3 if "3" in node.type else 1
        numbers = node.numbers(n)
        if need == "float":
            return float(numbers[channel or 0] if (channel or 0) < n else numbers[0])
        numbers = np.broadcast_to(numbers, 3)
        return linear(numbers, node.colorspace) if _known(node.colorspace) else numbers
    if node.tag not in ("image", "tiledimage"):
        raise Unmapped(f"<{node.tag}> nodes are not read; bake them to an image")
    if need == "boolean":
        raise Unmapped("an image cannot drive it")
    return _image(node, need, channel, path)


def _frame(element: Element, node: Element | None, path: Path):
    """A <normalmap> of an image, or a tangent that a <rotate3d> turns about the normal."""
    name = element.attributes.get("name", "")
    if node is None:
        raise Unmapped("it is connected to nothing")
    if node.tag == "normalmap" and name == "geometry_normal":
        inside = node.child("in")
        image = None if inside is None else node_of(inside)
        if image is None or image.tag not in ("image", "tiledimage"):
            raise Unmapped("a <normalmap> is read from an image alone")
        if _string(node, "space", "tangent") != "tangent":
            raise Unmapped("only tangent-space normal maps are read")
        texture, scale = _image(image, "vector3", None, path), node.child("scale")
        if texture.pixels.shape[2] != 3:
            raise Unmapped("its image has no three channels")
        if scale is not None and "value" not in scale.attributes:
            raise Unmapped("the scale of <normalmap> is not a constant")
        return FrameMap(texture, 1.0 if scale is None else float(scale.numbers(1)[0]))
    if node.tag == "rotate3d" and name == "geometry_tangent":
        amount = node.child("amount")
        if amount is None or "value" not in amount.attributes:
            raise Unmapped("the amount of <rotate3d> is not a constant")
        a = np.deg2rad(float(amount.numbers(1)[0]))  # clockwise, as MaterialX's shaders do
        return np.array([np.cos(a), -np.sin(a), 0.0])
    raise Unmapped(f"<{node.tag}> nodes are not read there")


def _known(space: str) -> bool:
    return not space or space in SPACES or space in NOT_A_COLOUR


def _image(node: Element, need: str, channel: int | None, path: Path) -> Texture:
    file = node.child("file")
    if file is None or not file.attributes.get("value"):
        raise Unmapped(f"<{node.tag}> names no file")
    source = path.parent / (file.prefix + file.attributes["value"])
    space = file.colorspace if node.type.startswith("color") else ""
    if not _known(space):
        raise Unmapped(f"its image is in the unknown colour space {space!r}")
    decode = space in SPACES and SPACES[space][1] == SRGB
    if not source.is_file():
        raise file.error(f"no such image: {source}", "file names are relative to the document")
    pixels = read_image(source, raw=not decode).astype(np.float64)
    n = pixels.shape[2]
    if need == "float":
        pixels = pixels[:, :, [min(channel or 0, n - 1)]]
    else:
        pixels = pixels[:, :, :3] if n >= 3 else pixels[:, :, :1]
        if pixels.shape[2] == 3 and space in SPACES:
            pixels = _to_srgb(pixels, space, decoded=decode)
    wrap = _string(node, "uaddressmode", "periodic")
    if _string(node, "vaddressmode", "periodic") != wrap or wrap not in WRAPS:
        raise Unmapped("only the address modes periodic, clamp and mirror are read, the same for u and v")
    filter_ = "nearest" if _string(node, "filtertype", "linear") == "closest" else "bilinear"
    return Texture(pixels.astype(np.float32), filter_, WRAPS[wrap], _to_uv(node), str(source))


def _to_srgb(pixels: np.ndarray, space: str, decoded: bool) -> np.ndarray:
    from .colorspaces import to_srgb

    return pixels @ to_srgb(SPACES[space][0]).T if decoded else linear(pixels, space)


def _string(node: Element, name: str, default: str) -> str:
    child = node.child(name)
    return default if child is None else child.attributes.get("value", default)


def _pair(node: Element, name: str, default: float) -> np.ndarray:
    child = node.child(name)
    if child is None:
        return np.full(2, default)
    if "value" not in child.attributes:
        raise Unmapped(f"{name} of <{node.tag}> is not a constant")
    return child.numbers(2)


def _to_uv(node: Element) -> np.ndarray:
    """(3, 3): the surface's uv to the image's."""
    m = np.eye(3)
    texcoord = node.child("texcoord")
    at = None if texcoord is None else node_of(texcoord)
    if at is not None and at.tag == "place2d":
        m = _place2d(at)
        inner = at.child("texcoord")
        at = None if inner is None else node_of(inner)
    if at is not None and at.tag != "texcoord":
        raise Unmapped(f"texture coordinates by <{at.tag}> are not read")
    index = None if at is None else at.child("index")
    if index is not None and index.numbers(1)[0] != 0:
        raise Unmapped("only the first set of texture coordinates is read")
    if node.tag == "tiledimage":
        size = _pair(node, "realworldtilesize", 1.0) / _pair(node, "realworldimagesize", 1.0)
        scale, offset = _pair(node, "uvtiling", 1.0) * size, _pair(node, "uvoffset", 0.0) * size
        m = np.array([[scale[0], 0, -offset[0]], [0, scale[1], -offset[1]], [0, 0, 1]]) @ m
    return m


def _place2d(node: Element) -> np.ndarray:
    """((uv - pivot) / scale, turned clockwise by rotate) - offset + pivot; the second order turns last."""
    pivot, scale, offset = (_pair(node, k, d) for k, d in (("pivot", 0.0), ("scale", 1.0), ("offset", 0.0)))
    if not scale.all():
        raise node.error("scale is 0", "give another")
    rotate, order = node.child("rotate"), node.child("operationorder")
    a = np.deg2rad(0.0 if rotate is None else rotate.numbers(1)[0])
    turn = np.array([[np.cos(a), np.sin(a), 0], [-np.sin(a), np.cos(a), 0], [0, 0, 1]])
    shrink = np.diag([1 / scale[0], 1 / scale[1], 1.0])

    def shift(by):
        return np.array([[1, 0, by[0]], [0, 1, by[1]], [0, 0, 1.0]])

    steps = [shrink, turn, shift(-offset)]
    if order is not None and order.numbers(1)[0] == 1:
        steps.reverse()
    return shift(pivot) @ steps[2] @ steps[1] @ steps[0] @ shift(-pivot)
