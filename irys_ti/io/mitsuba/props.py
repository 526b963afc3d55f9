"""An element's properties: taken one by one with their type; what is left at the end is an error."""

from __future__ import annotations

import re

import numpy as np

from ..suggest import nearest
from .xml import OBJECTS, Node

REQUIRED = object()
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
_VALUES = ("float", "integer", "boolean", "string", "point", "vector", "rgb", "transform", "color")
_KEYED = ("spectrum", "texture", "volume", "medium")
_ATTRIBUTES = {
    "float": ("name", "value"),
    "integer": ("name", "value"),
    "boolean": ("name", "value"),
    "string": ("name", "value"),
    "point": ("name", "value", "x", "y", "z"),
    "vector": ("name", "value", "x", "y", "z"),
    "rgb": ("name", "value"),
    "color": ("name", "value"),
    "transform": ("name",),
    "ref": ("name", "id"),
    "spectrum": ("name", "value", "type", "id", "filename"),
}


def number(node: Node, text: str, what: str = "value") -> float:
    """A finite float."""
    text = text.strip()
    if not _NUMBER.fullmatch(text):
        problem = f"{what} {text[:40]!r} is not a number"
        if text.lower().lstrip("+-") in ("nan", "inf", "infinity"):
            problem = f"{what} {text!r} is not finite"
        raise node.error(problem, "write a finite number such as 0.5")
    value = float(text)
    if not np.isfinite(value):
        raise node.error(f"{what} {text!r} is not finite", "write a finite number such as 0.5")
    return value


def numbers(node: Node, text: str, what: str = "value") -> np.ndarray:
    """Finite floats separated by commas or spaces."""
    return np.array([number(node, part, what) for part in re.split(r"[\s,]+", text.strip()) if part], np.float64)


def vector3(node: Node, default: float = 0.0, what: str = "value") -> np.ndarray:
    """(3,) from value="x,y,z" (one number stands for all three) or from x="", y="", z=""."""
    attributes = node.attributes
    axes = [a for a in ("x", "y", "z") if a in attributes]
    if "value" in attributes:
        if axes:
            raise node.error("has both value and x, y, z", "keep one of them")
        values = numbers(node, attributes["value"], what)
        if len(values) not in (1, 3):
            raise node.error(f"{what} has {len(values)} numbers", 'write three, as in value="0,1,0"')
        return np.full(3, values[0]) if len(values) == 1 else values
    if not axes:
        raise node.error(f"lacks {what}", 'write value="0,1,0" or x="0" y="1" z="0"')
    return np.array([number(node, attributes[a], a) if a in attributes else default for a in ("x", "y", "z")])


class Props:
    """The properties and nested objects of one element."""

    def __init__(self, node: Node, context):
        self.node, self.context = node, context
        self.named: dict[str, Node] = {}
        self.objects: list[Node] = []
        self.known: list[str] = []
        allowed = ("type", "id", "name") if node.tag in OBJECTS else _ATTRIBUTES.get(node.tag, ())
        for key in node.attributes:
            if key not in allowed:
                raise node.error(f"unknown attribute {key!r}", nearest(key, allowed))
        for child in node.children:
            self._add(child)

    def _add(self, child: Node) -> None:
        if child.tag not in (*_VALUES, *OBJECTS, "ref"):
            raise child.error("unknown element", nearest(child.tag, (*_VALUES, *OBJECTS, "ref")))
        for key in child.attributes:
            if key not in _ATTRIBUTES.get(child.tag, (key,)):
                raise child.error(f"unknown attribute {key!r}", nearest(key, _ATTRIBUTES[child.tag]))
        if child.tag in _VALUES and not child.name:
            raise child.error("lacks the attribute 'name'", f"say what it is of <{self.node.tag}>")
        if child.tag not in (*OBJECTS, "ref") and child.tag != "transform" and child.children:
            raise child.children[0].error(f"cannot stand inside a <{child.tag}>", "close the element before it")
        # Values, textures and media are told apart by name, other nested objects by their tag.
        tag = self.context.target(child).tag if child.tag == "ref" else child.tag
        if child.name and tag in (*_VALUES, *_KEYED):
            if child.name in self.named:
                raise child.error(f"{child.name!r} is given twice", "remove one")
            self.named[child.name] = child
        else:
            self.objects.append(child)

    def take(self, name: str, *tags: str) -> Node | None:
        """The named child, None where absent; its tag must be one of ``tags``. A <ref> gives its target."""
        self.known.append(name)
        child = self.named.pop(name, None)
        if child is None:
            return None
        if child.tag == "ref" and "ref" not in tags:
            child = self.context.target(child)
        if child.tag not in tags:
            raise child.error(f"{name!r} cannot be a <{child.tag}>", "write it as <" + "> or <".join(tags) + ">")
        return child

    def has(self, name: str) -> bool:
        return name in self.named

    def _value(self, name: str, default, *tags: str) -> Node | None:
        child = self.take(name, *tags)
        if child is None:
            if default is REQUIRED:
                raise self.node.error(f"lacks {name!r}", f'add <{tags[0]} name="{name}" value="..."/>')
            return None
        if "value" not in child.attributes:
            raise child.error("lacks the attribute 'value'", 'write value="..."')
        return child

    def float(self, name: str, default=REQUIRED, low: float = -np.inf, high: float = np.inf, strict=False):
        """A finite number in [low, high]; ``strict``: the ends are excluded."""
        child = self._value(name, default, "float", "integer")
        if child is None:
            return default
        value = number(child, child.attributes["value"])
        if not low <= value <= high or (strict and value in (low, high)):
            raise child.error(f"{name} is {value:g}", "it must be " + _range(low, high, strict))
        return value

    def integer(self, name: str, default=REQUIRED, low: int = -(2**31), high: int = 2**31 - 1):
        """A whole number in [low, high]."""
        child = self._value(name, default, "integer")
        if child is None:
            return default
        text = child.attributes["value"].strip()
        if not re.fullmatch(r"[+-]?\d{1,18}", text):
            raise child.error(f"value {text[:40]!r} is not a whole number", "write one such as 8")
        if not low <= int(text) <= high:
            raise child.error(f"{name} is {text}", "it must be " + _range(low, high))
        return int(text)

    def boolean(self, name: str, default=REQUIRED):
        child = self._value(name, default, "boolean")
        if child is None:
            return default
        text = child.attributes["value"].strip().lower()
        if text not in ("true", "false"):
            raise child.error(f"value {text[:40]!r} is neither true nor false", "write true or false")
        return text == "true"

    def string(self, name: str, default=REQUIRED, choices=None):
        """A string; one of ``choices`` if they are given."""
        child = self._value(name, default, "string")
        if child is None:
            return default
        text = child.attributes["value"].strip()
        if choices is not None and text not in choices:
            raise child.error(f"{name} {text!r} is not supported", nearest(text, choices))
        return text

    def vector(self, name: str, default=REQUIRED):
        """(3,) of a <point> or <vector>."""
        child = self.take(name, "point", "vector")
        if child is None:
            if default is REQUIRED:
                raise self.node.error(f"lacks {name!r}", f'add <point name="{name}" value="0,0,0"/>')
            return default
        return vector3(child)

    def nested(self, *tags: str) -> list[Node]:
        """The unnamed (or freely named) nested objects with these tags, references resolved."""
        found = []
        for child in list(self.objects):
            node = self.context.target(child) if child.tag == "ref" else child
            if node.tag in tags:
                self.objects.remove(child)
                found.append(node)
        return found

    def one(self, *tags: str) -> Node | None:
        """At most one nested object."""
        found = self.nested(*tags)
        if len(found) > 1:
            raise self.node.error(f"has {len(found)} <{tags[0]}> elements", "keep one")
        return found[0] if found else None

    def finish(self) -> None:
        """Whatever was not taken is a mistake."""
        for name, child in self.named.items():
            kind = f'<{self.node.tag} type="{self.node.type}">' if self.node.type else f"<{self.node.tag}>"
            raise child.error(f"{kind} has no property {name!r}", nearest(name, self.known))
        for child in self.objects:
            raise child.error(f'cannot stand inside <{self.node.tag} type="{self.node.type}">', "remove it")


def _range(low, high, strict=False) -> str:
    if np.isfinite(low) and np.isfinite(high) and high < 2**31 - 1:
        return f"between {low:g} and {high:g}" + (", both excluded" if strict else "")
    if np.isfinite(low):
        return f"{'above' if strict else 'at least'} {low:g}"
    return f"{'below' if strict else 'at most'} {high:g}"
