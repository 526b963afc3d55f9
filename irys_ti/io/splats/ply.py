"""Splats in .ply files: 3D Gaussian splatting's own properties, and SuperSplat's compressed form.

Plain (Kerbl et al. 2023): x, y, z; f_dc_0..2 the constant harmonic; f_rest_* the others, colour by colour; opacity
before the logistic function; scale_0..2 logarithms; rot_0..3 as w, x, y, z. Compressed (PlayCanvas): chunks of 256
splats with their ranges; positions and scales of 11 + 10 + 11 bits, colours and opacity of 8 bits, rotations as the
three smaller components of 10 bits behind the place of the largest; a further element holds harmonics in bytes.
"""

from __future__ import annotations

import numpy as np

from ...errors import SceneError
from ...scene import Splats
from .. import splat_checks

C0 = 0.28209479177387814
TYPES = {
    "char": "i1", "int8": "i1", "uchar": "u1", "uint8": "u1", "short": "i2", "int16": "i2", "ushort": "u2",
    "uint16": "u2", "int": "i4", "int32": "i4", "uint": "u4", "uint32": "u4", "float": "f4", "float32": "f4",
    "double": "f8", "float64": "f8",
}  # fmt: skip
CHUNK = 256
PLAIN = ("x", "y", "z", "opacity", "scale_0", "scale_1", "scale_2", "rot_0", "rot_1", "rot_2", "rot_3", "f_dc_0")


def read(data: bytes, where: str) -> Splats:
    """The splats as the file has them."""
    elements = parse(data, where)
    vertex = elements.get("vertex")
    if vertex is None:
        raise SceneError(where, "has no element 'vertex'", "export it again as splats")
    if "packed_position" in (vertex.dtype.names or ()):
        return unpack(elements, where)
    missing = [name for name in PLAIN if name not in (vertex.dtype.names or ())]
    if missing:
        raise SceneError(where, f"is no file of splats: it lacks {', '.join(missing)}", "read a mesh with it.load")
    rest = sorted((n for n in vertex.dtype.names if n.startswith("f_rest_")), key=lambda n: int(n[7:]))
    n = len(vertex)
    sh = columns(vertex, ["f_dc_0", "f_dc_1", "f_dc_2"])[:, None]
    if rest:
        if len(rest) not in (9, 24, 45):
            raise SceneError(where, f"has {len(rest)} properties f_rest_*", "there are 9, 24 or 45 for degrees 1 to 3")
        sh = np.concatenate([sh, columns(vertex, rest).reshape(n, 3, -1).transpose(0, 2, 1)], 1)
    return Splats(
        position=columns(vertex, ["x", "y", "z"]),
        scale=np.exp(columns(vertex, ["scale_0", "scale_1", "scale_2"])),
        rotation=columns(vertex, ["rot_0", "rot_1", "rot_2", "rot_3"]),
        opacity=1.0 / (1.0 + np.exp(-vertex["opacity"].astype(np.float64))),
        sh=sh,
    )


def is_splats(data: bytes) -> bool:
    """Whether the head of a .ply names splats rather than a mesh."""
    head = data[: data.find(b"end_header") + 1]
    return b" packed_position" in head or (b" scale_0" in head and b" rot_0" in head)


def parse(data: bytes, where: str) -> dict[str, np.ndarray]:
    """The elements of a binary little-endian .ply without lists, as structured arrays."""
    end = data.find(b"end_header")
    if not data.startswith(b"ply") or end < 0:
        raise SceneError(where, "is not a PLY file, or its header is cut off", "export it again")
    lines = data[:end].decode("ascii", "replace").split("\n")
    at = data.find(b"\n", end) + 1
    layout: list[tuple[str, int, list]] = []
    for words in (line.split() for line in lines[1:]):
        if words[:1] == ["format"] and words[1] != "binary_little_endian":
            raise SceneError(where, f"PLY format {words[1]}", "splats are read from binary_little_endian files")
        if words[:1] == ["element"]:
            layout.append((words[1], int(words[2]), []))
        elif words[:1] == ["property"]:
            if words[1] not in TYPES or not layout:
                raise SceneError(where, f"PLY property {' '.join(words[1:])}", "splats have plain numbers only")
            layout[-1][2].append((words[2], "<" + TYPES[words[1]]))
    out = {}
    for name, count, fields in layout:
        row = np.dtype(fields)
        if name == "vertex":
            if count == 0:
                raise SceneError(where, "holds no splats", "export it with its splats")
            splat_checks.require_memory(count, 0, where)
        there = max(0, len(data) - at) // max(row.itemsize, 1)
        if there < count:
            raise SceneError(where, f"is truncated: {there} of {count} rows of {name!r} are there", "copy it again")
        out[name] = np.frombuffer(data, row, count, at)
        at += count * row.itemsize
    return out


def columns(table: np.ndarray, names: list[str]) -> np.ndarray:
    """(n, len(names)) float64."""
    return np.stack([table[name] for name in names], 1).astype(np.float64)


def unpack(elements: dict[str, np.ndarray], where: str) -> Splats:
    """SuperSplat's compressed form."""
    vertex, chunk = elements["vertex"], elements.get("chunk")
    n = len(vertex)
    if chunk is None or len(chunk) * CHUNK < n:
        raise SceneError(where, f"has {0 if chunk is None else len(chunk)} chunks for {n} splats", "export it again")
    of = np.arange(n) // CHUNK

    def within(bits: np.ndarray, axes: str, prefix: str) -> np.ndarray:
        if f"min_{prefix}{axes[0]}" not in chunk.dtype.names:  # early files have no colour ranges
            return bits
        low = columns(chunk, [f"min_{prefix}{a}" for a in axes])[of]
        high = columns(chunk, [f"max_{prefix}{a}" for a in axes])[of]
        return low + (high - low) * bits

    colour = fields(vertex["packed_color"], (24, 8), (16, 8), (8, 8), (0, 8))
    sh = ((within(colour[:, :3], "rgb", "") - 0.5) / C0)[:, None]
    if "sh" in elements:
        raw = columns(elements["sh"], [f"f_rest_{i}" for i in range(len(elements["sh"].dtype.names))])
        raw = np.where(raw == 0, 0.0, np.where(raw == 255, 1.0, (raw + 0.5) / 256))
        sh = np.concatenate([sh, ((raw - 0.5) * 8).reshape(n, 3, -1).transpose(0, 2, 1)], 1)
    parts = (fields(vertex["packed_rotation"], (20, 10), (10, 10), (0, 10)) - 0.5) * np.sqrt(2.0)
    return Splats(
        position=within(fields(vertex["packed_position"], (21, 11), (11, 10), (0, 11)), "xyz", ""),
        scale=np.exp(within(fields(vertex["packed_scale"], (21, 11), (11, 10), (0, 11)), "xyz", "scale_")),
        rotation=with_largest(parts, vertex["packed_rotation"] >> np.uint32(30)),
        opacity=colour[:, 3],
        sh=sh,
    )


def fields(packed: np.ndarray, *places: tuple[int, int]) -> np.ndarray:
    """(n, k): bits (shift, count) of packed integers as fractions of their largest value."""
    parts = [((packed >> np.uint32(s)) & np.uint32((1 << b) - 1)) / float((1 << b) - 1) for s, b in places]
    return np.stack(parts, 1)


def with_largest(parts: np.ndarray, place: np.ndarray) -> np.ndarray:
    """(n, 4) unit quaternions from three components (n, 3) and the place of the fourth, which is positive."""
    n, place = len(parts), place.astype(np.int64)
    largest = np.sqrt(np.maximum(0.0, 1.0 - (parts**2).sum(1)))
    out = np.empty((n, 4))
    others = np.array([[k for k in range(4) if k != j] for j in range(4)])[place]
    np.put_along_axis(out, others, parts, 1)
    np.put_along_axis(out, place[:, None], largest[:, None], 1)
    return out


def encode(splats: Splats) -> bytes:
    """A plain .ply of an emissive set."""
    n, k = splats.sh.shape[:2]
    opacity = np.clip(splats.opacity, 1e-7, 1 - 1e-7)
    table = {
        "x": splats.position, "nx": np.zeros((n, 3)), "f_dc": splats.sh[:, 0],
        "f_rest": splats.sh[:, 1:].transpose(0, 2, 1).reshape(n, 3 * (k - 1)),
        "opacity": np.log(opacity / (1 - opacity))[:, None], "scale": np.log(splats.scale), "rot": splats.rotation,
    }  # fmt: skip
    names = ["x", "y", "z", "nx", "ny", "nz", "f_dc_0", "f_dc_1", "f_dc_2"]
    names += [f"f_rest_{i}" for i in range(3 * (k - 1))]
    names += ["opacity", "scale_0", "scale_1", "scale_2", "rot_0", "rot_1", "rot_2", "rot_3"]
    head = ["ply", "format binary_little_endian 1.0", f"element vertex {n}"]
    head += [f"property float {name}" for name in names]
    rows = np.concatenate(list(table.values()), 1).astype("<f4")
    return ("\n".join([*head, "end_header"]) + "\n").encode("ascii") + rows.tobytes()
