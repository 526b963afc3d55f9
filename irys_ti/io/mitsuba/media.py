"""<medium> elements with their phase functions, and the <volume>s of heterogeneous ones."""

from __future__ import annotations

import numpy as np

from ...scene import Medium, PhaseTable, Texture, constant
from ..suggest import nearest
from ..volumes import read_volume
from .props import Props
from .textures import reflectance, value
from .transforms import matrix
from .xml import Node

KINDS = ("homogeneous", "heterogeneous")
VOLUMES = ("gridvolume", "constvolume")


def medium(node: Node, context, id: str) -> Medium:
    """A medium with its phase function."""
    if node.type not in KINDS:
        raise node.error(f"unknown medium {node.type!r}", nearest(node.type, KINDS))
    props = Props(node, context)
    kind, values, to_world = "homogeneous", {}, np.eye(4)
    grid = _volume(props, "sigma_t")
    if grid is not None:
        kind, values["density"], to_world = _grid(grid, context)
        values["sigma_t"] = constant(1.0)
    else:
        values["sigma_t"] = _flat(props, "sigma_t", 1.0, np.inf)
    values["albedo"] = _flat(props, "albedo", 0.75, 1.0)
    values["scale"] = props.float("scale", 1.0, low=0.0)
    for name in ("has_spectral_extinction", "sample_emitters"):
        props.boolean(name, True)
    phase = props.one("phase")
    props.finish()
    phase_name, of_phase = ("isotropic", {}) if phase is None else _phase(phase, context)
    return Medium(id, kind, {**values, **of_phase}, phase_name, to_world=to_world)


def _phase(node: Node, context) -> tuple[str, dict]:
    inner = Props(node, context)
    values = {}
    if node.type == "hg":
        values["g"] = inner.float("g", 0.8, -0.99, 0.99)
    elif node.type == "tabphase":
        values["phase_values"] = _table(node, inner.string("values"))
    elif node.type != "isotropic":
        raise node.error(f"unknown phase function {node.type!r}", nearest(node.type, ("hg", "isotropic", "tabphase")))
    inner.finish()
    return {"tabphase": "table"}.get(node.type, node.type), values


def _table(node: Node, text: str) -> PhaseTable:
    """Numbers at evenly spaced cosines from -1 to 1."""
    try:
        numbers = np.array([float(x) for x in text.replace(",", " ").split()])
    except ValueError as error:
        raise node.error(f"values: {error}", "give numbers with commas between") from None
    if len(numbers) < 2 or not np.isfinite(numbers).all() or numbers.min() < 0 or numbers.max() == 0:
        raise node.error("values", "give two or more numbers, none below 0 and not all 0")
    return PhaseTable(np.linspace(-1.0, 1.0, len(numbers)), numbers)


def _volume(props: Props, name: str) -> Node | None:
    """The <volume> that gives a value, None where it is given otherwise or by a constant volume."""
    node = props.named.get(name)
    if node is not None and node.tag == "ref":
        node = props.context.target(node)
    if node is None or node.tag != "volume" or node.type == "constvolume":
        return None
    if node.type != "gridvolume":
        raise node.error(f"unknown volume {node.type!r}", nearest(node.type, VOLUMES))
    props.take(name, "volume")
    return node


def _flat(props: Props, name: str, default, high: float):
    """A value that is the same everywhere, in [0, high], by itself or as a constant volume."""
    node = props.named.get(name)
    if node is not None and node.tag == "ref":
        node = props.context.target(node)
    if node is not None and node.tag == "volume":
        if node.type == "gridvolume":
            raise node.error(f"{name} is a grid", "only sigma_t can be one: give one albedo for all of it")
        props.take(name, "volume")
        inside = Props(node, props.context)
        found = value(inside, "value", high=high)
        inside.finish()
    else:
        found = reflectance(props, name, default) if high == 1.0 else value(props, name, default)
    if isinstance(found, Texture):
        raise props.node.error(f"{name} is a texture", "a medium has no surface: give a number or a spectrum")
    return found


def _grid(node: Node, context):
    """("grid", densities, where they stand) of a gridvolume."""
    props = Props(node, context)
    density, box = read_volume(node.folder / props.string("filename"))
    to_world = matrix(props)
    if props.boolean("use_grid_bbox", False):
        to_world = to_world @ box
    props.string("filter_type", "trilinear", ("trilinear",))
    props.string("wrap_mode", "clamp", ("clamp",))
    props.boolean("raw", True)
    props.boolean("accel", True)
    props.finish()
    if density.min() < 0:
        raise node.error(f"the grid holds {density.min():.6g}", "densities are 0 or more")
    return "grid", density, to_world
