"""What a path kernel is compiled for: the kinds a scene uses, never its values or sizes."""

from __future__ import annotations

from dataclasses import dataclass

PRIMAL, REVERSE, FORWARD = "primal", "reverse", "forward"

# Bits of Config.splats: some scatter or emit at all; some emit; derivatives by opacity, by position, scale, rotation.
SPLATS, EMISSIVE, D_OPACITY, D_SHAPE = 1, 2, 4, 8

# Bits of Config.media: boundaries or media at all; some emit; derivatives by extinction, emission or density; grids;
# derivatives by density; walks through what materials put behind their surfaces, and derivatives by that.
MEDIA, GLOWING, D_MEDIA, GRIDS, D_DENSITY, WALKS, D_WALKS = 1, 2, 4, 8, 16, 32, 64
SPARSE = 256  # some grids keep blocks alone
AIMED = 128  # there are homogeneous media, and lights that stand at a place


@dataclass(frozen=True)
class Config:
    """mode: PRIMAL, REVERSE or FORWARD. bsdfs, lights, geometries: (registry index, name) pairs.

    values: kinds of parameter values (layout.CONSTANT ...). kinds: the tree's kinds beside triangles, as bits;
    width: children of its nodes.
    bsdf_rows, light_rows: most parameters of one BSDF, of one light.
    splats: bits of SPLATS and what else there is; 0 where there are none.
    media: bits of MEDIA and what else there is; 0 where there are none.
    motion: derivatives by where things are are asked for. rays: paths start with rays that are given, in pairs that
    share their random numbers (kernels/boundary), instead of at the camera.
    riding: derivatives by a parameter that moves a part of a light (kernels/riding.py): 1 in the path loop, 2 for the
    edges of its shadows.
    """

    mode: str
    bsdfs: tuple[tuple[int, str], ...]
    lights: tuple[tuple[int, str], ...]
    geometries: tuple[tuple[int, str], ...]
    values: tuple[int, ...]
    kinds: int
    width: int
    bsdf_rows: int
    light_rows: int
    splats: int = 0
    media: int = 0
    motion: bool = False
    rays: bool = False
    riding: int = 0
