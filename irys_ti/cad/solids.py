"""Solids of everyday parts. Lengths are in the scene's unit; the axis of what is round is z."""

from __future__ import annotations

import math
from collections.abc import Callable
from types import SimpleNamespace

import numpy as np

from irys_ti.errors import SceneError

from .planar import Loop, bridge, cap, circle, triangulate, walls
from .solid import Dimension, Patch, Solid

LENGTH = 1e-9  # the smallest that a length may become


def _length(x: float) -> Dimension:
    return Dimension(x, LENGTH)


def box(id: str, length: float, width: float, height: float) -> Solid:
    """A box about the z axis, standing on z = 0."""
    signs = np.array([[x, y, z] for z in (0, 1) for y in (-0.5, 0.5) for x in (-0.5, 0.5)])

    def corner(d, a):
        return a.x * d.length, a.y * d.width, a.z * d.height

    faces = [[0, 2, 3], [0, 3, 1], [4, 5, 7], [4, 7, 6]]  # down, up
    for a, b in ((0, 1), (1, 3), (3, 2), (2, 0)):
        faces += [[a, b, b + 4], [a, b + 4, a + 4]]
    dimensions = {"length": _length(length), "width": _length(width), "height": _length(height)}
    return Solid(id, dimensions, [Patch(corner, dict(zip("xyz", signs.T)))], faces)


def plate(
    id: str, length: float, width: float, thickness: float, bores: dict[str, tuple[float, float, float]], segments: int = 96
) -> Solid:
    """A rectangular plate about the z axis, from z = 0 to its thickness, with round bores through it.

    bores: {name: (x, y, diameter)}; their dimensions are "<name>_x", "<name>_y" and "<name>_diameter".
    segments: corners of a bore. A bore of n corners has the area of the circle: its corners stand out a little.
    """
    dimensions = {"length": _length(length), "width": _length(width), "thickness": _length(thickness)}
    loops = [Loop(lambda d, a: (a.u * d.length, a.v * d.width), {"u": [-0.5, 0.5, 0.5, -0.5], "v": [-0.5, -0.5, 0.5, 0.5]})]
    for name, (x, y, diameter) in bores.items():
        dimensions |= {f"{name}_x": Dimension(x), f"{name}_y": Dimension(y), f"{name}_diameter": _length(diameter)}
        loops.append(_bore(name, segments))
    return _prism(id, dimensions, loops, "thickness")


def _bore(name: str, segments: int) -> Loop:
    def point(d, a):
        r = 0.5 * getattr(d, f"{name}_diameter")
        return getattr(d, f"{name}_x") + r * a.u, getattr(d, f"{name}_y") + r * a.v

    return Loop(point, circle(segments))


def extrusion(
    id: str, profile: Callable, height: float, dimensions: dict[str, Dimension], holes: tuple[Callable, ...] = ()
) -> Solid:
    """A profile in the xy plane, drawn up from z = 0 to ``height`` (a dimension of that name).

    profile(d) -> [(x, y), ...] corners, anticlockwise, numbers or graphs of the dimensions in d. holes: the like.
    """
    loops = [Loop.of_corners(f, dimensions) for f in (profile, *holes)]
    return _prism(id, {**dimensions, "height": _length(height)}, loops, "height")


def _prism(id: str, dimensions: dict[str, Dimension], loops: list[Loop], rise: str) -> Solid:
    """Loops (an outline and holes) as bottom, top and walls."""
    flat = triangulate(id, loops, {n: d.value for n, d in dimensions.items()})
    n = sum(loop.n for loop in loops)

    def lifted(point, level):
        return lambda d, a: (*point(d, a), level * getattr(d, rise))

    patches = [Patch(lifted(p.point, level), p.attributes) for level in (0.0, 1.0) for loop in loops for p in loop.patches]
    faces = [flat[:, ::-1], flat + n, walls(loops, n)]
    return Solid(id, dimensions, patches, np.concatenate(faces), cap(loops, flat))


def revolution(
    id: str, profile: Callable, dimensions: dict[str, Dimension], segments: int = 96, closed: bool = False
) -> Solid:
    """A profile turned about the z axis.

    profile(d) -> [(r, z), ...], numbers or graphs of the dimensions in d, in the order that has the solid on its left
    as r grows to the right and z up. An open profile begins and ends at r = 0 (the number); a closed one goes around.
    Raises SceneError for an open profile that ends off the axis.
    """
    values = {n: d.value for n, d in dimensions.items()}
    count = len(profile(SimpleNamespace(**values)))
    ring = circle(segments)
    pole = {"u": np.zeros(1), "v": np.zeros(1)}
    patches, firsts, first = [], [], 0
    for k in range(count):
        on_axis = not closed and k in (0, count - 1)
        if on_axis and abs(float(profile(SimpleNamespace(**values))[k][0])) > 0:
            raise SceneError(f"solid '{id}'", f"the profile's end {k} is off the axis", "end it at r = 0, or give closed=True")

        def point(d, a, k=k):
            r, z = profile(d)[k]
            return r * a.u, r * a.v, z + 0.0 * a.u

        patches.append(Patch(point, pole if on_axis else ring))
        firsts.append(first)
        first += 1 if on_axis else segments
    faces = []
    for k in range(count if closed else count - 1):
        j = (k + 1) % count
        faces.append(bridge(firsts[k], patches[k].n, firsts[j], patches[j].n))
    return Solid(id, dimensions, patches, np.concatenate(faces))


def shaft(id: str, steps: list[tuple[float, float]], segments: int = 96) -> Solid:
    """A stepped shaft standing on z = 0. steps: (diameter, length) from below.

    Dimensions "diameter_1", "length_1", ... in that order.
    """
    if not steps:
        raise SceneError(f"solid '{id}'", "a shaft without steps", "give (diameter, length) pairs")
    dimensions = {}
    for i, (diameter, length) in enumerate(steps, 1):
        dimensions |= {f"diameter_{i}": _length(diameter), f"length_{i}": _length(length)}

    def profile(d):
        out, z = [(0.0, 0.0)], 0.0
        for i in range(1, len(steps) + 1):
            r = 0.5 * getattr(d, f"diameter_{i}")
            out.append((r, z))
            z = z + getattr(d, f"length_{i}")
            out.append((r, z))
        return [*out, (0.0, z)]

    return revolution(id, profile, dimensions, segments)


def bearing_seat(
    id: str, outer: float, height: float, bore: float, seat: float, depth: float, segments: int = 96
) -> Solid:
    """A round housing on z = 0 with a through bore and, from above, a wider seat for a bearing.

    Diameters ``outer``, ``bore`` and ``seat`` (dimensions "<name>_diameter"), ``height`` and the seat's ``depth``.
    """
    dimensions = {
        "outer_diameter": _length(outer), "height": _length(height), "bore_diameter": _length(bore),
        "seat_diameter": _length(seat), "depth": _length(depth),
    }  # fmt: skip

    def profile(d):
        bore, seat, outer = 0.5 * d.bore_diameter, 0.5 * d.seat_diameter, 0.5 * d.outer_diameter
        floor = d.height - d.depth
        return [(bore, 0.0), (outer, 0.0), (outer, d.height), (seat, d.height), (seat, floor), (bore, floor)]

    return revolution(id, profile, dimensions, segments, closed=True)


def fillet_ring(id: str, diameter: float, radius: float, segments: int = 96, steps: int = 12) -> Solid:
    """The concave fillet between a plane z = 0 and a shaft of this diameter that stands on it."""
    dimensions = {"diameter": _length(diameter), "radius": _length(radius)}
    angles = np.linspace(0.0, math.pi / 2, steps + 1)

    def profile(d):
        r, f = 0.5 * d.diameter, d.radius
        arc = [(r + f * (1.0 - math.sin(t)), f * (1.0 - math.cos(t))) for t in angles]
        return [(r, 0.0), *arc]

    return revolution(id, profile, dimensions, segments, closed=True)
