"""Wavefront OBJ: vertices, normals, texture coordinates, polygons, and the colours of its material file.

trimesh takes a face that names texture coordinate 7 of 1, or vertex 0, without a word; here every index is
checked, with its line.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from ..errors import SceneError
from ..scene import Mesh
from .meshes import Look, Part, _normalised

_LISTS = {"v": "vertex", "vt": "texture coordinate", "vn": "normal"}
_IGNORED = ("o", "g", "s", "l", "p", "vp", "usemap", "maplib", "lod", "cstype", "end")


class _File:
    """The lines of a file, sorted by what they are."""

    def __init__(self, path: Path):
        self.path = path
        self.values: dict[str, list[str]] = {key: [] for key in _LISTS}
        self.faces: list[list[str]] = []
        self.face_lines: list[int] = []
        self.counts: list[tuple[int, int, int]] = []  # of v, vt, vn when a face stood there
        self.face_material: list[int] = []
        self.materials: list[str] = [""]
        self.libraries: list[str] = []
        self._read()

    def error(self, line: int, problem: str, mend: str) -> SceneError:
        return SceneError(f"{self.path}:{line}", problem, mend)

    def _read(self) -> None:
        text = self.path.read_text("utf-8", errors="replace").replace("\\\n", "  ")
        v, vt, vn = (self.values[key] for key in _LISTS)
        material = 0
        for number, line in enumerate(text.split("\n"), 1):
            word, _, rest = line.strip().partition(" ")
            if word in self.values:
                self.values[word].append(rest)
            elif word == "f":
                self.faces.append(rest.split("#")[0].split())
                self.face_lines.append(number)
                self.counts.append((len(v), len(vt), len(vn)))
                self.face_material.append(material)
            elif word == "usemtl":
                name = rest.strip()
                if name not in self.materials:
                    self.materials.append(name)
                material = self.materials.index(name)
            elif word == "mtllib":
                self.libraries.append(rest.strip())
            elif word and not word.startswith("#") and word not in _IGNORED:
                raise self.error(number, f"unknown statement {word[:20]!r}", "an OBJ line starts with v, vt, vn or f")

    def array(self, key: str, columns: int) -> np.ndarray:
        """(n, columns) of the numbers after v, vt or vn; further columns (weights, colours) are dropped."""
        rows = self.values[key]
        if not rows:
            return np.zeros((0, columns))
        try:
            table = np.array(" ".join(rows).split(), np.float64).reshape(len(rows), -1)
        except ValueError:
            table = np.array([self._row(key, i, row, columns) for i, row in enumerate(rows)])
        if table.shape[1] < columns:
            raise SceneError(str(self.path), f"a {_LISTS[key]} has {table.shape[1]} numbers", f"it needs {columns}")
        return table[:, :columns]

    def _row(self, key: str, i: int, row: str, columns: int) -> list[float]:
        try:
            values = [float(x) for x in row.split("#")[0].split()]
        except ValueError:
            values = []
        if len(values) < columns:
            raise SceneError(str(self.path), f"{_LISTS[key]} {i + 1} is {row[:40]!r}", f"write {columns} numbers")
        return values[:columns]


def read(path: Path) -> list[Part]:
    """One Part for each material that faces use."""
    file = _File(path)
    if not file.faces:
        return []
    corners, owner = _corners(file)
    tables = [file.array(key, columns) for key, columns in (("v", 3), ("vt", 2), ("vn", 3))]
    material = np.array(file.face_material)[owner]
    looks = _looks(file)
    parts = []
    for i, name in enumerate(file.materials):
        mine = corners[material == i]
        if len(mine):
            parts.append(Part(_mesh(mine, tables), name, looks.get(name)))
    return parts


def _corners(file: _File) -> tuple[np.ndarray, np.ndarray]:
    """((m, 3, 3) indices of triangles' corners into v, vt, vn, -1 where absent; (m,) the face each is from)."""
    n_corners = np.array([len(face) for face in file.faces])
    short = n_corners < 3
    if short.any():
        i = int(np.flatnonzero(short)[0])
        raise file.error(file.face_lines[i], f"a face has {n_corners[i]} corners", "a face needs three or more")
    tokens = [token for face in file.faces for token in face]
    indices = _indices(file, tokens, n_corners)
    # Polygons become fans around their first corner.
    first = np.cumsum(n_corners) - n_corners
    owner = np.repeat(np.arange(len(n_corners)), n_corners - 2)
    step = np.arange(len(owner)) - np.repeat(np.cumsum(n_corners - 2) - (n_corners - 2), n_corners - 2)
    pick = first[owner][:, None] + np.stack([np.zeros_like(step), step + 1, step + 2], 1)
    return indices[pick], owner


def _indices(file: _File, tokens: list[str], n_corners: np.ndarray) -> np.ndarray:
    """(n, 3) zero-based indices of corners such as 1, 1/2, 1//3 and 1/2/3; negative ones count from the end."""
    owner = np.repeat(np.arange(len(n_corners)), n_corners)
    out = np.zeros((len(tokens), 3), np.int64)  # 0: absent, as no index is
    slashes = {token.count("/") for token in tokens}
    try:
        if slashes == {0}:
            out[:, 0] = np.array(tokens, np.int64)
        elif len(slashes) == 1 and not any("//" in t or t.endswith("/") for t in tokens):
            n = slashes.pop() + 1
            out[:, :n] = np.array(" ".join(tokens).replace("/", " ").split(), np.int64).reshape(-1, n)
        else:
            raise ValueError
    except (ValueError, OverflowError):
        for i, token in enumerate(tokens):
            out[i] = _corner(file, token, file.face_lines[owner[i]])
    counts = np.array(file.counts, np.int64)[owner]
    resolved = np.where(out > 0, out - 1, np.where(out < 0, counts + out, -1))
    totals = np.array([len(file.values[key]) for key in _LISTS])
    bad = (out != 0) & ((resolved < 0) | (resolved >= totals))
    bad[:, 0] |= out[:, 0] == 0
    if bad.any():
        row = int(np.flatnonzero(bad.any(1))[0])
        column = int(np.flatnonzero(bad[row])[0])
        what = list(_LISTS.values())[column]
        problem = f"the face names {what} {out[row, column]}"
        raise file.error(file.face_lines[owner[row]], problem, f"the file has {totals[column]}, counted from 1")
    return resolved


def _corner(file: _File, token: str, line: int) -> list[int]:
    parts = token.split("/")
    try:
        if len(parts) > 3 or not parts[0]:
            raise ValueError
        values = [int(p) if p else 0 for p in parts]
        if any(abs(v) > 2**31 for v in values):
            raise ValueError
    except ValueError:
        raise file.error(line, f"a face's corner is {token[:30]!r}", "write v, v/vt, v//vn or v/vt/vn") from None
    if any(p and v == 0 for p, v in zip(parts, values, strict=True)):
        raise file.error(line, f"a face's corner is {token[:30]!r}", "OBJ counts from 1")
    return values + [0] * (3 - len(values))


def _mesh(corners: np.ndarray, tables: list[np.ndarray]) -> Mesh:
    """One vertex for each different (v, vt, vn); uvs and normals only where every corner has them."""
    flat = corners.reshape(-1, 3)
    use = [True, *(bool((flat[:, k] >= 0).all()) for k in (1, 2))]
    key = flat[:, 0]
    for k in (1, 2):
        if use[k]:
            key = key * len(tables[k]) + flat[:, k]
    _, first, inverse = np.unique(key, return_index=True, return_inverse=True)
    chosen = flat[first]
    return Mesh(
        vertices=tables[0][chosen[:, 0]],
        faces=inverse.reshape(-1, 3).astype(np.int32),
        uvs=tables[1][chosen[:, 1]] if use[1] else None,
        normals=_normalised(tables[2][chosen[:, 2]]) if use[2] else None,
    )


def _looks(file: _File) -> dict[str, Look]:
    """Kd, Ke and map_Kd of the material files that are there."""
    from .images import read_image

    looks: dict[str, Look] = {}
    for name in file.libraries:
        path = file.path.parent / name
        if not path.is_file():
            continue  # the geometry is whole without its colours
        current = None
        for line in path.read_text("utf-8", errors="replace").splitlines():
            word, _, rest = line.strip().partition(" ")
            if word == "newmtl":
                current = looks.setdefault(rest.strip(), Look(rest.strip()))
            elif current is not None and word in ("Kd", "Ke"):
                try:
                    values = np.array(rest.split(), np.float64)
                except ValueError:
                    values = np.zeros(0)
                if values.shape != (3,) or not np.isfinite(values).all():
                    raise SceneError(str(path), f"{word} is {rest[:30]!r}", "write three numbers")
                setattr(current, "color" if word == "Kd" else "emission", values)
            elif current is not None and word == "map_Kd":
                image = read_image(path.parent / rest.split()[-1].replace("\\", "/"))
                current.image = np.broadcast_to(image[:, :, : 3 if image.shape[2] > 2 else 1], (*image.shape[:2], 3))
                current.color = np.ones(3)
    return looks
