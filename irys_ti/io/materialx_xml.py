"""MaterialX documents as elements that know their file, name and inherited colour space."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from ..errors import SceneError

MAX_DEPTH = 20


@dataclass(eq=False)
class Element:
    """tag, attributes and children; folder: where file names of it start (with fileprefix)."""

    tag: str
    attributes: dict[str, str]
    file: str
    prefix: str = ""
    colorspace: str = ""
    parent: Element | None = None
    children: list[Element] = field(default_factory=list)

    @property
    def name(self) -> str:
        return self.attributes.get("name", "")

    @property
    def type(self) -> str:
        return self.attributes.get("type", "")

    @property
    def where(self) -> str:
        inside = "" if self.parent is None or self.tag != "input" else f"{self.parent.where_in} "
        return f"{self.file}: {inside}{self.where_in}"

    @property
    def where_in(self) -> str:
        return f"<{self.tag}" + (f' name="{self.name}">' if self.name else ">")

    def error(self, problem: str, mend: str = "") -> SceneError:
        return SceneError(self.where, problem, mend)

    def child(self, name: str) -> Element | None:
        """The child of that name."""
        return next((c for c in self.children if c.name == name), None)

    def numbers(self, n: int) -> np.ndarray:
        """(n,) of the attribute "value"."""
        text = self.attributes.get("value", "")
        try:
            found = np.array([float(part) for part in text.split(",")])
        except ValueError:
            found = np.zeros(0)
        if found.shape != (n,) or not np.isfinite(found).all():
            need = "a finite number" if n == 1 else f"{n} finite numbers with commas between"
            raise self.error(f"value {text[:40]!r}", f"write {need}")
        return found

    def flag(self) -> bool:
        text = self.attributes.get("value", "").strip().lower()
        if text not in ("true", "false"):
            raise self.error(f"value {text[:40]!r} is neither true nor false", "write true or false")
        return text == "true"


def parse(path: Path) -> Element:
    """The root <materialx> of a file. Raises SceneError for what is not well-formed, or holds a DOCTYPE."""
    from xml.etree.ElementTree import ParseError

    import defusedxml
    import defusedxml.ElementTree

    try:
        root = defusedxml.ElementTree.parse(path, forbid_dtd=True).getroot()
    except defusedxml.DefusedXmlException as error:
        mend = "remove the DOCTYPE and its entities"
        raise SceneError(str(path), f"refused: {type(error).__name__}", mend) from None
    except ParseError as error:
        raise SceneError(str(path), f"not well-formed XML: {error}", "close every element and quote") from None
    except (ValueError, LookupError) as error:
        raise SceneError(str(path), f"cannot be read as XML: {error}", "save it as UTF-8 XML") from None
    except OSError as error:
        raise SceneError(str(path), f"cannot be read: {error.strerror}", "check the path") from None
    if root.tag != "materialx":
        raise SceneError(str(path), f"its root is <{root.tag}>", "a MaterialX document starts with <materialx>")
    return _element(root, None, path.name, "", "", 0)


def _element(node, parent: Element | None, file: str, prefix: str, space: str, depth: int) -> Element:
    attributes = dict(node.attrib)
    out = Element(
        node.tag, attributes, file, prefix + attributes.get("fileprefix", ""), attributes.get("colorspace", space), parent
    )
    if depth > MAX_DEPTH:
        raise out.error(f"elements are nested more than {MAX_DEPTH} deep", "flatten the document")
    out.children = [
        _element(child, out, file, out.prefix, out.colorspace, depth + 1) for child in node if isinstance(child.tag, str)
    ]
    return out
