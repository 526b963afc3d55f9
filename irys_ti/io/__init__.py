"""Importers and image files. A new format is one file with ``load(path, **parameters) -> Scene`` and a line here."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

from ..errors import SceneError
from ..scene import Scene

# Extension -> module of this package, or a function of the same signature as its ``load``.
LOADERS = {
    ".xml": "mitsuba",
    ".mtlx": "materialx",
    ".obj": "geometry",
    ".ply": "geometry",  # of splats too
    ".splat": "splats",
    ".spz": "splats",
    ".stl": "geometry",
    ".hair": "curves",
    ".gltf": "geometry",
    ".glb": "geometry",
}


def load(path: str | Path, **parameters) -> Scene:
    """Read a scene file; ``parameters`` replace ``$name`` in formats that have such places (Mitsuba XML).

    A file that holds geometry alone gets a camera that frames it and a constant light. Raises SceneError,
    one line naming the file, the element and the mend.
    """
    path = Path(path)
    loader = LOADERS.get(path.suffix.lower())
    if loader is None:
        known = ", ".join(sorted(LOADERS))
        raise SceneError(str(path), f"no importer for files ending in {path.suffix!r}", f"use one of {known}")
    if not path.is_file():
        problem = "is not a file" if path.exists() else "no such file"
        raise SceneError(str(path), problem, "check the path")
    if isinstance(loader, str):
        loader = import_module(f"{__name__}.{loader}").load
    return loader(path, **parameters)
