"""Geometry kinds: one module each, and the registry that names them.

A kind is a module (or any object) with

- ``FIELDS``: record field -> shape, ``()`` for a number. A primitive's record is its fields in that order,
  flat; ``STRIDE`` (reals per record) follows from it. ``mesh`` keeps vertices and faces instead.
- ``intersect(reals, base, o, d, t_max) -> (t, u, v)``: nearest hit with 0 < t < t_max, t = -1 if none;
  ``d`` need not be of unit length, ``base`` is where the record begins.
- ``surface_at(reals, ints, shape, prim, o, d, t, u, v) -> (p, ng, ns, uv, dp_du)``: what lies at a hit.
- ``sample_area(reals, ints, shape, prim, ref, u) -> (p, n, uv, pdf_area)``: a point on primitive ``prim`` to
  light ``ref`` from, ``u`` two uniforms, uv as in ``surface_at``; ``pdf_area(reals, ints, shape, prim, ref, p, n)`` its density.
- optional ``STOCHASTIC = True``: hits are chance; ``intersect`` also takes the ray's key and the numbers of
  primitive and instance, and any-hit rays leave the kind out.
- optional ``may_meet(blocks, at, lane, lanes, o, d, t_max) -> bool`` and ``lane_numbers(arrays) -> (n, 9)``, in NumPy:
  on CPUs a leaf's blocks hold those numbers, number after number of all lanes, and only primitives that may be met are
  intersected. It must not branch.
- optional ``PARAMS``: arrays of a set that are parameters, one number or colour for each primitive.
- ``bounds(arrays) -> (n, 6)``, lower then upper corner, and ``area(arrays) -> (n,)``, in NumPy.

``shape`` is the offset of the shape record in ``ints`` (kernels/layout.py), ``prim`` the scene's number of
the primitive. The device functions are ``ti.func``s that return plain values; ``reals`` and ``ints`` are
``ti.template()`` parameters of theirs (Taichi takes arrays no other way).
"""

from __future__ import annotations

import numpy as np

from irys_ti.errors import SceneError

from . import curve, mesh, sphere, splats, tube  # noqa: F401  (tube: how a curve's surface moves)

GEOMETRIES = {"mesh": mesh, "sphere": sphere, "splats": splats, "curve": curve}

# The number of a kind shares an integer with a leaf's place (kernels/bvh), and the two numbers after
# these are taken.
MAX_KINDS = 14


def register(name: str, module) -> None:
    """Add a geometry kind under ``name``; it must hold what this package's docstring lists.

    Registering a name again replaces it in place. Raises SceneError where a part is missing.
    """
    needed = ("FIELDS", "intersect", "surface_at", "sample_area", "pdf_area", "bounds", "area")
    missing = [part for part in needed if not hasattr(module, part)]
    if missing:
        raise SceneError(f"geometry kind {name!r}", f"lacks {', '.join(missing)}", "see kernels/geometry/__init__.py")
    if name not in GEOMETRIES and len(GEOMETRIES) >= MAX_KINDS:
        raise SceneError(f"geometry kind {name!r}", f"there are {MAX_KINDS} kinds already", "register fewer kinds")
    GEOMETRIES[name] = module


def kind_index(name: str) -> int:
    """The number by which device code knows a kind: its place in the registry."""
    if name not in GEOMETRIES:
        raise SceneError(f"geometry kind {name!r}", "is not registered", f"use one of {', '.join(GEOMETRIES)}")
    return list(GEOMETRIES).index(name)


def has_curves(config) -> bool:
    """Whether a kernel is compiled for a scene with curves (kernels/config.py)."""
    return any(name == "curve" for _, name in config.geometries)


def stride(module) -> int:
    """Reals per primitive record of a kind."""
    return sum(int(np.prod(shape, dtype=int)) for shape in module.FIELDS.values())


def pack(module, arrays: dict) -> np.ndarray:
    """Records of n primitives as a flat array (n * stride,), from {field: (n, *shape)}."""
    n = len(next(iter(arrays.values())))
    columns = [np.asarray(arrays[name], np.float64).reshape(n, -1) for name in module.FIELDS]
    return np.concatenate(columns, axis=1).reshape(-1)
