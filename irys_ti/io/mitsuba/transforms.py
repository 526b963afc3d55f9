"""<transform> elements: the product of their steps, the first applied first."""

from __future__ import annotations

import numpy as np

from ...scene import transform as tf
from .props import Props, number, numbers, vector3
from .xml import Node

STEPS = {
    "translate": ("value", "x", "y", "z"),
    "scale": ("value", "x", "y", "z"),
    "rotate": ("value", "x", "y", "z", "angle"),
    "lookat": ("origin", "target", "up"),
    "matrix": ("value",),
}


def matrix(props: Props, name: str = "to_world") -> np.ndarray:
    """(4, 4) of the named transform, identity where absent; a singular one is an error."""
    node = props.take(name, "transform")
    if node is None:
        return np.eye(4)
    m = np.eye(4)
    for step in node.children:
        m = _step(step) @ m
    size = np.abs(m[:3, :3]).max()
    if not np.isfinite(m).all() or size == 0 or abs(np.linalg.det(m[:3, :3] / size)) < 1e-12:
        raise node.error("the matrix is singular", "no scale may be 0 and no axis lie along another")
    return m


def is_rigid(m: np.ndarray) -> bool:
    """Rotation and translation alone."""
    return np.allclose(m[:3, :3] @ m[:3, :3].T, np.eye(3), atol=1e-4) and np.linalg.det(m[:3, :3]) > 0


def to_uv(props: Props) -> np.ndarray:
    """(3, 3) on (u, v, 1) from the planar part of ``to_uv``."""
    node = props.named.get("to_uv")
    m = matrix(props, "to_uv")
    planar = m.copy()
    planar[2], planar[:, 2] = 0, 0
    planar[2, 2] = m[2, 2]
    if node is not None and not np.allclose(planar, m):
        raise node.error("moves uv out of its plane", "use scale x y, rotate z and translate x y")
    return m[np.ix_([0, 1, 3], [0, 1, 3])]


def _step(node: Node) -> np.ndarray:
    from ..suggest import nearest

    if node.tag not in STEPS:
        raise node.error("unknown step of a transform", nearest(node.tag, STEPS))
    for key in node.attributes:
        if key not in STEPS[node.tag]:
            raise node.error(f"unknown attribute {key!r}", nearest(key, STEPS[node.tag]))
    if node.children:
        raise node.children[0].error(f"cannot stand inside a <{node.tag}>", "close the element before it")
    return {"translate": _translate, "scale": _scale, "rotate": _rotate, "lookat": _look_at, "matrix": _matrix}[
        node.tag
    ](node)


def _translate(node: Node) -> np.ndarray:
    return tf.translate(*vector3(node, 0.0))


def _scale(node: Node) -> np.ndarray:
    return tf.scale(*vector3(node, 1.0))


def _rotate(node: Node) -> np.ndarray:
    if "angle" not in node.attributes:
        raise node.error("lacks the attribute 'angle'", "in degrees")
    axis = vector3(node, 0.0, "axis")
    if not axis.any():
        raise node.error("the axis is zero", 'write for example y="1"')
    # The axis is normalised; Mitsuba 3.9 shears where it is not of unit length.
    return tf.rotate(axis, number(node, node.attributes["angle"], "angle"))


def _look_at(node: Node) -> np.ndarray:
    given = {}
    for key in ("origin", "target", "up"):
        if key not in node.attributes:
            raise node.error(f"lacks the attribute {key!r}", 'write origin="0,0,5" target="0,0,0" up="0,1,0"')
        given[key] = numbers(node, node.attributes[key], key)
        if len(given[key]) != 3:
            raise node.error(f"{key} has {len(given[key])} numbers", "write three")
    origin, target, up = given["origin"], given["target"], given["up"]
    forward = target - origin
    length = np.linalg.norm(forward)
    if length == 0:
        raise node.error("origin and target are the same point", "move one of them")
    if np.linalg.norm(np.cross(up, forward)) <= 1e-9 * length * max(np.linalg.norm(up), 1e-300):
        raise node.error("up lies along the line of sight", "choose another up, such as 0,0,1")
    return tf.look_at(origin, target, up)


def _matrix(node: Node) -> np.ndarray:
    values = numbers(node, node.attributes.get("value", ""))
    if len(values) == 16:
        m = values.reshape(4, 4)
        if not np.allclose(m[3], [0, 0, 0, 1]):
            raise node.error("the last row is not 0 0 0 1", "perspective matrices are not supported")
        return m
    if len(values) == 9:
        m = np.eye(4)
        m[:3, :3] = values.reshape(3, 3)
        return m
    raise node.error(f"value has {len(values)} numbers", "write 16 (rows of a 4x4 matrix) or 9 (3x3)")
