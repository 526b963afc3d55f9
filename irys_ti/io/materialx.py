"""MaterialX documents: the ``open_pbr_surface`` nodes of a .mtlx file, by plain XML.

Inputs are values, or come from ``image``, ``tiledimage`` and ``constant`` nodes, in the document or in a nodegraph
(materialx_nodes). What has no counterpart here is dropped and named in the material's notes.
"""

from __future__ import annotations

from pathlib import Path

from ..errors import SceneError
from ..scene import Scene
from ..scene.preview_ball import ball_of, preview_ball
from . import openpbr
from .colorspaces import NOT_A_COLOUR, SPACES, linear
from .materialx_nodes import Unmapped, connected, node_of
from .materialx_xml import Element, parse
from .openpbr import Imported
from .suggest import nearest

SHADER = "open_pbr_surface"
KNOWN = (*openpbr.COLOURS, *openpbr.NUMBERS, *openpbr.FLAGS, *openpbr.EMISSION, *openpbr.FRAMES)
TYPES = {
    **dict.fromkeys((*openpbr.COLOURS, "emission_color"), "color3"),
    **dict.fromkeys(openpbr.FRAMES, "vector3"),
    **dict.fromkeys(openpbr.FLAGS, "boolean"),
}


def load_materials(path: str | Path, nits_per_unit: float = openpbr.NITS) -> list[Imported]:
    """The OpenPBR materials of a MaterialX file, in its order.

    A material is named after its ``surfacematerial``, or after its shader node where it has none. nits_per_unit:
    emission_luminance (cd/m2) of radiance 1. ``notes`` of each say which fields were dropped or changed.
    Raises SceneError, one line naming the file, the element and the mend.
    """
    path = Path(path)
    root = parse(path)
    shaders = [(element, node) for element in root.children for node in _shader_of(element)]
    named = {id(node) for _, node in shaders}
    shaders += [(c, c) for c in root.children if c.tag == SHADER and id(c) not in named]
    if not shaders:
        others = sorted({c.tag for c in root.children if c.type == "surfaceshader"})
        found = f"its surfaces are {', '.join(others)}" if others else "no surface shader in it"
        raise SceneError(str(path), f"no {SHADER} node: {found}", "export the material as OpenPBR Surface")
    out, taken = [], set()
    for element, node in shaders:
        id_ = name = (element.name or "material").replace(".", "_")
        i = 2
        while id_ in taken:
            id_, i = f"{name}_{i}", i + 1
        taken.add(id_)
        notes = [
            f"{c.name}: dropped; a material here is a surface alone"
            for c in element.children
            if element is not node and c.name != "surfaceshader" and (c.attributes.get("nodename") or c.attributes.get("nodegraph"))
        ]
        out.append(_material(id_, node, path, notes, nits_per_unit))
    return out


def load(path: str | Path, **parameters) -> Scene:
    """The preview ball in the file's first material; ``scene.notes`` name what was dropped."""
    if parameters:
        raise SceneError(str(path), f"has no parameter {next(iter(parameters))!r}", "only scene files have some")
    materials = load_materials(path)
    scene = preview_ball(materials[0].material)
    scene.file = str(path)
    materials[0].light(ball_of(scene))
    scene.notes += materials[0].notes
    scene.notes += [f"{other.material.id}: not shown, the ball shows the first material" for other in materials[1:]]
    return scene


def _shader_of(element: Element) -> list[Element]:
    """The open_pbr_surface node that a <surfacematerial> uses, if it does."""
    if element.tag != "surfacematerial":
        return []
    shader = element.child("surfaceshader")
    if shader is None:
        return []
    try:
        node = node_of(shader)
    except Unmapped:
        return []
    return [node] if node is not None and node.tag == SHADER else []


def _material(id: str, node: Element, path: Path, notes: list[str], nits_per_unit: float) -> Imported:
    values = {}
    for child in node.children:
        if child.tag != "input":
            continue
        if child.name not in KNOWN:
            notes.append(f"{child.name}: dropped, not an input of {SHADER}; {nearest(child.name, KNOWN)}".rstrip("; "))
            continue
        need = TYPES.get(child.name, "float")
        try:
            value = _value(child, need, path, notes)
        except Unmapped as reason:
            notes.append(f"{child.name}: dropped; {reason}")
            continue
        if value is not None:
            values[child.name] = value
    return openpbr.build(id, values, notes, nits_per_unit)


def _value(element: Element, need: str, path: Path, notes: list[str]):
    """A number, three linear sRGB numbers, a Texture, or None where the input says nothing."""
    if any(k in element.attributes for k in ("nodename", "nodegraph", "interfacename")):
        return connected(element, need, path)
    if "value" not in element.attributes:
        return None
    if need == "boolean":
        return float(element.flag())
    if need == "float":
        return float(element.numbers(1)[0])
    colour = element.numbers(3)
    if need == "vector3":
        notes.append(f"{element.name}: dropped; a fixed vector in space is no surface's own")
        return None
    space = element.colorspace
    if space and space not in SPACES and space not in NOT_A_COLOUR:
        notes.append(f"{element.name}: colour space {space!r} is unknown, taken as lin_rec709")
        return colour
    return linear(colour, space)
