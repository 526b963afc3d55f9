"""Files of curves: Cem Yuksel's .hair, Mitsuba's text files of control points, and .npz of plain arrays.

.hair (www.cemyuksel.com/research/hairmodels): a header of 128 bytes, then, as its bits say, segments of each strand
(u16), points (3 floats), thickness and transparency (a float) and colour (3 floats) of each point. Thickness is a
diameter here. Text: a line "x y z radius" for each control point, an empty line between strands. .npz: arrays
``points``, ``radii``, ``offsets`` as of ``Curves``, the last two optional.
"""

from __future__ import annotations

import zipfile
from pathlib import Path

import numpy as np

from ..errors import SceneError
from ..scene import Curves, Light, Material, Scene, rgb
from . import curve_checks
from .geometry import frame

HEADER = np.dtype(
    [
        ("magic", "S4"), ("strands", "<u4"), ("points", "<u4"), ("bits", "<u4"), ("segments", "<u4"),
        ("thickness", "<f4"), ("transparency", "<f4"), ("color", "<f4", 3), ("info", "S88"),
    ]
)  # fmt: skip
SEGMENTS, POINTS, THICKNESS = 1, 2, 4


def read_curves(
    path: str | Path, id: str | None = None, basis: str | None = None, style: str = "round", radius: float | None = None
) -> Curves:
    """The strands of a file.

    basis: "catmull-rom", through the points, unless it is given; "bspline" for text files, as Mitsuba has it.
    radius: in place of what the file says. Raises SceneError, in one line, for a file that is truncated or of another
    kind, or holds curves that cannot be rendered.
    """
    path = Path(path)
    reader = READERS.get(path.suffix.lower())
    if reader is None:
        raise SceneError(str(path), f"no curves in files ending in {path.suffix!r}", f"use one of {', '.join(READERS)}")
    if not path.is_file():
        raise SceneError(str(path), "no such file", "check the path")
    points, radii, offsets = reader(path)
    default = "bspline" if reader is read_text else "catmull-rom"
    out = Curves(
        id=id or path.name.split(".")[0].replace(" ", "_") or "curves", points=points, basis=basis or default, style=style,
        radii=radii if radius is None else radius, offsets=offsets,
    )  # fmt: skip
    curve_checks.check(out, str(path))
    return out


def read_hair(path: Path) -> tuple:
    """(points, radii, offsets) of a .hair file."""
    data, where = path.read_bytes(), str(path)
    if len(data) < HEADER.itemsize or data[:4] != b"HAIR":
        raise SceneError(where, "is not a HAIR file, or its header is cut off", "it begins with 128 bytes from 'HAIR' on")
    head = np.frombuffer(data, HEADER, 1)[0]
    m, n, bits, at = int(head["strands"]), int(head["points"]), int(head["bits"]), HEADER.itemsize
    if not bits & POINTS or m == 0 or n == 0:
        raise SceneError(where, "the curves are empty", "export it with its points")

    def take(what: str, dtype: str, count: int) -> np.ndarray:
        nonlocal at
        size = np.dtype(dtype).itemsize * count
        if len(data) - at < size:
            raise SceneError(where, f"is truncated: {what} need {size} bytes, {max(0, len(data) - at)} are there", "copy it again")
        at += size
        return np.frombuffer(data, dtype, count, at - size)

    segments = take("segments", "<u2", m).astype(np.int64) if bits & SEGMENTS else np.full(m, int(head["segments"]))
    offsets = np.r_[0, np.cumsum(segments + 1)]
    if offsets[-1] != n:
        raise SceneError(where, f"{m} strands have {offsets[-1]} points, the header says {n}", "export it again")
    points = take("points", "<f4", 3 * n).reshape(n, 3).astype(np.float64)
    thickness = take("thicknesses", "<f4", n) if bits & THICKNESS else np.full(n, head["thickness"])
    return points, 0.5 * thickness.astype(np.float64), offsets


def read_text(path: Path) -> tuple:
    """(points, radii, offsets) of a text file."""
    rows, begins, fresh = [], [], True
    try:
        lines = path.read_text("utf-8").splitlines()
    except UnicodeDecodeError:
        raise SceneError(str(path), "is not text", 'write "x y z radius" in a line for each point') from None
    for i, line in enumerate(lines, 1):
        words = line.split()
        if not words:
            fresh = True
            continue
        try:
            row = [float(word) for word in words]
        except ValueError:
            row = []
        if len(row) != 4:
            raise SceneError(f"{path} line {i}", f"{line.strip()[:40]!r} is not a control point", "write x y z radius")
        if fresh:
            begins.append(len(rows))
            fresh = False
        rows.append(row)
    table = np.array(rows, np.float64).reshape(-1, 4)
    return table[:, :3], table[:, 3], np.array([*begins, len(rows)], np.int64)


def read_npz(path: Path) -> tuple:
    """(points, radii, offsets) of plain arrays."""
    try:
        with np.load(path) as file:
            arrays = {name: file[name] for name in file.files}
    except (ValueError, OSError, EOFError, zipfile.BadZipFile) as error:
        raise SceneError(str(path), f"is not an .npz of plain arrays ({error})", "write it with numpy.savez") from None
    if "points" not in arrays:
        raise SceneError(str(path), "has no array 'points'", "save points, radii and offsets")
    return arrays["points"], arrays.get("radii", 0.01), arrays.get("offsets")


def write_curves(path: str | Path, curves: Curves) -> None:
    """Write a .hair file (of the points, whatever the basis) or an .npz."""
    path = Path(path)
    curve_checks.check(curves, f"curves '{curves.id}'")
    if path.suffix.lower() == ".npz":
        np.savez(path, points=curves.points, radii=curves.radii, offsets=curves.offsets)
        return
    if path.suffix.lower() != ".hair":
        raise SceneError(str(path), f"curves are not written to files ending in {path.suffix!r}", "use .hair or .npz")
    segments = np.diff(curves.offsets) - 1
    if segments.max() > 65535:
        raise SceneError(str(path), f"a strand of {segments.max()} segments", "a .hair file holds at most 65535")
    head = np.zeros(1, HEADER)
    head["magic"], head["strands"], head["points"] = b"HAIR", len(curves), len(curves.points)
    head["bits"], head["thickness"], head["color"] = SEGMENTS | POINTS | THICKNESS, 2 * curves.radii.mean(), 1.0
    parts = (segments.astype("<u2"), curves.points.astype("<f4"), (2 * curves.radii).astype("<f4"))
    path.write_bytes(head.tobytes() + b"".join(part.tobytes() for part in parts))


READERS = {".hair": read_hair, ".txt": read_text, ".npz": read_npz}


def load(path: str | Path, **parameters) -> Scene:
    """A .hair file alone as a scene: brown hair, a camera that frames it and a sky."""
    if parameters:
        raise SceneError(str(path), f"has no parameter {next(iter(parameters))!r}", "only scene files have some")
    curves = read_curves(path)
    taken = {"sky", "hair"}
    curves.id = f"{curves.id}_curves" if curves.id in taken else curves.id
    curves.material = "hair"
    scene = Scene(shapes=[curves], file=str(path))
    scene.materials.append(Material("hair", "hair", {"eumelanin": 1.3, "pheomelanin": 0.2}))
    scene.lights.append(Light("sky", "constant", {"radiance": rgb(1, 1, 1, illuminant=True)}))
    scene.integrator.max_depth = 32
    scene.camera = frame(curves.points)
    return scene
