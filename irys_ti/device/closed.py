"""Which shapes have an inside: spheres, and meshes whose faces close up and look outward."""

from __future__ import annotations

import weakref

import numpy as np

from irys_ti.scene import Mesh, Scene, Shape, Sphere, Splats

from .edges import weld
from .encode import host_array

_known: dict[int, tuple] = {}  # id of faces -> (a reference to them, whether they close)


def is_closed(shape: Shape) -> bool:
    """Whether a shape has an inside behind its normals."""
    if isinstance(shape, Sphere):
        return not shape.flip_normals
    if not isinstance(shape, Mesh):
        return False
    if shape.flip_normals:
        return False
    faces = shape.faces
    number = id(faces)
    known = _known.get(number)
    if known is None or known[0]() is not faces:
        known = _known[number] = weakref.ref(faces, lambda _: _known.pop(number, None)), _closes(shape)
    return known[1]


def _closes(mesh: Mesh) -> bool:
    """Whether every edge has as many faces that go along it one way as the other, and the volume is above 0."""
    v, faces = np.asarray(mesh.vertices, np.float64), np.asarray(mesh.faces, np.int64)
    if not len(faces):
        return False
    same = weld(v)[faces]
    same = same[(same[:, 0] != same[:, 1]) & (same[:, 1] != same[:, 2]) & (same[:, 2] != same[:, 0])]
    a, b = same.reshape(-1), np.roll(same, -1, 1).reshape(-1)
    n = len(v)
    keys, counts = np.unique(np.minimum(a, b) * n + np.maximum(a, b), return_inverse=True)
    balance = np.bincount(counts.reshape(-1), np.where(a < b, 1.0, -1.0), len(keys))
    p = v[faces] - v.mean(0)
    return bool((balance == 0).all() and np.einsum("ij,ij->", p[:, 0], np.cross(p[:, 1], p[:, 2])) > 0.0)


def closed_materials(scene: Scene, wanted: tuple[str, ...] = ()) -> set[str]:
    """Ids of OpenPBR materials that may have a medium inside and are worn by closed shapes alone.

    wanted: parameters whose gradient is asked for. A shape with an interior of its own keeps that. Splats and media do not
    go together, so where there are splats there are none.
    """
    if any(isinstance(s, Splats) for s in scene.shapes):
        return set()
    asked = {p.partition(".")[0] for p in wanted if p.partition(".")[2].startswith(("subsurface_", "transmission_"))}
    found = {m.id for m in scene.materials if m.kind == "openpbr" and (m.id in asked or _may_fill(m.values))}
    worn = set()
    for s in scene.shapes:
        if s.material in found:
            worn.add(s.material)
            if s.interior is not None or not is_closed(s):
                found.discard(s.material)
    return found & worn


def _may_fill(values: dict) -> bool:
    """Whether a material scatters light below its surface, or transmits it to a depth."""
    return any(np.any(host_array(values.get(name, 0.0)) != 0.0) for name in ("subsurface_weight", "transmission_depth"))
