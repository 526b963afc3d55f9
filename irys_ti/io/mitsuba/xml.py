"""Mitsuba XML as a tree of nodes that know their line: defaults, ``$parameters``, includes and aliases resolved."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from xml.sax import SAXException, SAXParseException, handler

from ...errors import SceneError
from ..suggest import nearest

MAX_DEPTH = 40  # of elements within elements, and of files within files
OBJECTS = (
    "bsdf", "emitter", "film", "integrator", "medium", "phase", "rfilter", "sampler", "sensor", "shape", "spectrum",
    "texture", "volume",
)  # fmt: skip


@dataclass(eq=False)
class Node:
    """An element: tag, attributes, children, and where it stands."""

    tag: str
    attributes: dict[str, str]
    file: str
    line: int
    children: list[Node] = field(default_factory=list)
    folder: Path = Path()

    @property
    def type(self) -> str:
        return self.attributes.get("type", "")

    @property
    def id(self) -> str:
        return self.attributes.get("id", "")

    @property
    def name(self) -> str:
        return self.attributes.get("name", "")

    @property
    def where(self) -> str:
        """``file:line: <tag ...>`` as errors show it."""
        shown = "".join(f' {k}="{self.attributes[k]}"' for k in ("type", "id", "name") if self.attributes.get(k))
        return f"{self.file}:{self.line}: <{self.tag}{shown}>"

    def error(self, problem: str, mend: str = "") -> SceneError:
        return SceneError(self.where, problem, mend)


class _Builder(handler.ContentHandler):
    """Collects the nodes of one file."""

    def __init__(self, path: Path):
        super().__init__()
        self.path, self.root, self.open = path, None, []
        self.locator = None

    def setDocumentLocator(self, locator):
        self.locator = locator

    def startElement(self, name, attrs):
        line = (self.locator.getLineNumber() if self.locator else 0) or 0
        node = Node(name, dict(attrs.items()), self.path.name, line, folder=self.path.parent)
        if len(self.open) >= MAX_DEPTH:
            raise node.error(f"elements are nested more than {MAX_DEPTH} deep", "check for unclosed elements")
        if self.open:
            self.open[-1].children.append(node)
        else:
            self.root = node
        self.open.append(node)

    def endElement(self, name):
        self.open.pop()

    def characters(self, content):
        if content.strip():
            text = content.strip()[:40]
            raise self.open[-1].error(f"text {text!r} between elements", 'values go into value="..." attributes')


def parse(path: Path) -> Node:
    """The root <scene> of one file, nothing resolved yet."""
    import defusedxml
    import defusedxml.sax

    builder = _Builder(path)
    try:
        parser = defusedxml.sax.make_parser()
        parser.forbid_dtd = True
        parser.setContentHandler(builder)
        with path.open("rb") as file:
            parser.parse(file)
    except SceneError:
        raise
    except defusedxml.DefusedXmlException as error:
        kind = type(error).__name__
        raise SceneError(str(path), f"refused: {kind}", "remove the DOCTYPE and its entities") from None
    except SAXParseException as error:
        where = f"{path.name}:{error.getLineNumber()}"
        raise SceneError(where, f"not well-formed XML: {error.getMessage()}", "close every element and quote") from None
    except (SAXException, ValueError, LookupError) as error:
        raise SceneError(str(path), f"cannot be read as XML: {error}", "save it as UTF-8 XML") from None
    except OSError as error:
        raise SceneError(str(path), f"cannot be read: {error.strerror}", "check the path") from None
    root = builder.root
    if root is None or root.tag != "scene":
        found = "nothing" if root is None else f"<{root.tag}>"
        raise SceneError(path.name, f"the outermost element is {found}", 'it must be <scene version="3.0.0">')
    version = root.attributes.get("version", "")
    if not re.fullmatch(r"[23](\.\d+)*", version):
        raise root.error(f"version {version!r}", 'Mitsuba 2 and 3 scenes are read: version="3.0.0"')
    return root


def read(path: Path, parameters: dict) -> Node:
    """The root with includes spliced in, aliases and defaults applied and every ``$name`` replaced.

    parameters: values for ``$name``, before the file's own <default>s; one that nothing uses is an error.
    """
    root = parse(path)
    _include(root, path, 0)
    values = {key: _text(value) for key, value in parameters.items()}
    for node in [c for c in root.children if c.tag == "default"]:
        _attributes(node, ("name", "value"))
        values.setdefault(node.attributes["name"], node.attributes["value"])
        root.children.remove(node)
    used: set[str] = set()
    _substitute(root, values, used)
    unused = [key for key in parameters if key not in used]
    if unused:
        raise SceneError(path.name, f"nothing uses the parameter {unused[0]!r}", nearest(unused[0], used))
    return root


def _text(value) -> str:
    """A parameter as an attribute's text: True is "true", a sequence is comma-separated."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return value
    try:
        return ",".join(repr(float(v)) for v in value)
    except TypeError:
        return str(value)


def _attributes(node: Node, names: tuple[str, ...]) -> None:
    """Exactly these attributes must be there."""
    for name in names:
        if name not in node.attributes:
            raise node.error(f"lacks the attribute {name!r}", f"a <{node.tag}> has " + " and ".join(names))
    for name in node.attributes:
        if name not in names:
            raise node.error(f"unknown attribute {name!r}", nearest(name, names))


def _include(root: Node, path: Path, depth: int) -> None:
    """Replace every <include> below the root by the children of its file."""
    children = []
    for node in root.children:
        if node.tag != "include":
            children.append(node)
            continue
        _attributes(node, ("filename",))
        target = node.folder / node.attributes["filename"]
        if depth >= MAX_DEPTH:
            raise node.error("files include each other without end", "remove the circle")
        if not target.is_file():
            raise node.error(f"no such file: {target}", "filename is relative to the scene file")
        included = parse(target)
        _include(included, target, depth + 1)
        children += included.children
    root.children = children


def _substitute(node: Node, values: dict[str, str], used: set[str]) -> None:
    def replacement(match: re.Match) -> str:
        name = match[1]
        if name not in values:
            raise node.error(f"${name} has no value", f'add <default name="{name}" value="..."/> or pass {name}=...')
        used.add(name)
        return values[name]

    for key, value in node.attributes.items():
        if "$" in value:
            node.attributes[key] = re.sub(r"\$(\w+)", replacement, value)
    for child in node.children:
        _substitute(child, values, used)


def index_ids(root: Node) -> dict[str, Node]:
    """id -> node for every object of the file; aliases too. Two of one name are an error."""
    ids: dict[str, Node] = {}

    def add(key: str, node: Node) -> None:
        if key in ids:
            first = ids[key]
            raise node.error(f"id {key!r} is taken, by line {first.line} of {first.file}", "give each its own id")
        ids[key] = node

    def walk(node: Node) -> None:
        for child in node.children:
            if child.tag in OBJECTS and "id" in child.attributes:
                if not child.id:
                    raise child.error("the id is empty", "name it or leave it out")
                if "." in child.id:
                    raise child.error("the id has a dot", "parameter paths are split at dots: use another character")
                add(child.id, child)
            walk(child)

    walk(root)
    for node in [c for c in root.children if c.tag == "alias"]:
        _attributes(node, ("id", "as"))
        target = ids.get(node.id)
        if target is None:
            raise node.error(f"no object has the id {node.id!r}", nearest(node.id, ids))
        add(node.attributes["as"], target)
        root.children.remove(node)
    return ids
