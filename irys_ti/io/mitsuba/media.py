"""<medium> elements with their phase functions."""

from __future__ import annotations

from ...scene import Medium, Texture
from ..suggest import nearest
from .props import Props
from .textures import reflectance, value
from .xml import Node


def medium(node: Node, context, id: str) -> Medium:
    """A homogeneous medium with its phase function."""
    if node.type != "homogeneous":
        raise node.error(f"unknown medium {node.type!r}", nearest(node.type, ("homogeneous",)))
    props = Props(node, context)
    values = {
        "sigma_t": value(props, "sigma_t", 1.0),
        "albedo": reflectance(props, "albedo", 0.75),
        "scale": props.float("scale", 1.0, low=0.0),
    }
    for name in ("sigma_t", "albedo"):
        if isinstance(values[name], Texture):
            raise props.node.error(f"{name} is a texture", "a homogeneous medium has one spectrum")
    props.boolean("has_spectral_extinction", True)
    props.boolean("sample_emitters", True)
    phase = props.one("phase")
    props.finish()
    if phase is None:
        return Medium(id, "homogeneous", values)
    inner = Props(phase, context)
    if phase.type == "hg":
        result = Medium(id, "homogeneous", {**values, "g": inner.float("g", 0.8, -0.99, 0.99)}, "hg")
    elif phase.type == "isotropic":
        result = Medium(id, "homogeneous", values)
    else:
        raise phase.error(f"unknown phase function {phase.type!r}", nearest(phase.type, ("hg", "isotropic")))
    inner.finish()
    return result
