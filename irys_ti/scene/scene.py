"""Scene: everything that is rendered, on the host, as NumPy arrays."""

from __future__ import annotations

from dataclasses import dataclass, field

from .camera import Camera
from .material import Light, Material
from .medium import Medium
from .shapes import Instance, Shape


@dataclass
class Integrator:
    """How far paths go.

    max_depth: number of edges of the longest path, as Mitsuba counts it (1: only what shines itself; 2: one
    bounce). rr_depth: Russian roulette from this depth on.
    """

    max_depth: int = 8
    rr_depth: int = 5


@dataclass(eq=False)
class Scene:
    """A scene on the host. ``file`` is named in errors; ``it.load`` fills it in.

    ``controls``: what steers other parameters (controls.py): parts with dimensions, robots.
    ``crossings``: pairs of ids of meshes that pass through each other; their common lines are outlines that move.
    ``spp``: samples per pixel that the file asks for, if it does. ``notes``: what of the file was dropped or
    changed, a line each.
    media: what shapes name as their interior; ``medium``: the id of the one that fills the world, if one does.
    Ids of shapes, materials, media and lights are the first part of parameter paths and must differ.
    """

    camera: Camera = field(default_factory=Camera)
    shapes: list[Shape] = field(default_factory=list)
    lights: list[Light] = field(default_factory=list)
    materials: list[Material] = field(default_factory=list)
    instances: list[Instance] = field(default_factory=list)
    media: list[Medium] = field(default_factory=list)
    medium: str | None = None
    controls: list = field(default_factory=list)
    crossings: list[tuple[str, str]] = field(default_factory=list)
    integrator: Integrator = field(default_factory=Integrator)
    file: str = "scene"
    spp: int | None = None
    notes: list[str] = field(default_factory=list)
