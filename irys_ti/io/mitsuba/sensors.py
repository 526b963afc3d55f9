"""<sensor>, <film> and <integrator> elements."""

from __future__ import annotations

import numpy as np

from ...scene import Camera, Film, Integrator
from ..suggest import nearest
from .props import Props
from .transforms import is_rigid, matrix
from .xml import Node

FILTERS = {"box": None, "tent": ("radius", 1.0), "gaussian": ("stddev", 0.5)}
INTEGRATORS = ("path", "volpath", "volpathmis", "prb", "prbvolpath")
UNLIMITED = 1000  # Mitsuba's -1
FOV_AXES = ("x", "y", "diagonal", "smaller", "larger")


def camera(node: Node, context) -> tuple[Camera, int | None, float | None]:
    """(the camera, samples per pixel, far_clip) of a <sensor>; None for what it does not give."""
    if node.type != "perspective":
        raise node.error(f"unknown sensor {node.type!r}", nearest(node.type, ("perspective",)))
    props = Props(node, context)
    placed = props.named.get("to_world")
    to_world = matrix(props)
    if not is_rigid(to_world):
        raise placed.error("a camera cannot be scaled or mirrored", "use lookat, rotate and translate")
    fov, axis = _fov(props)
    # Mitsuba's offset moves the film; here the optical axis moves over it.
    offset = tuple(0.0 - props.float(f"principal_point_offset_{a}", 0.0) for a in "xy")
    near = props.float("near_clip", 1e-2, low=0.0, strict=True)
    far = props.float("far_clip", None, low=near, strict=True)
    spp = _sampler(props.one("sampler"), context)
    film_node = props.one("film")
    film_of = _film(film_node, context) if film_node is not None else Film(768, 576, "gaussian")
    props.string("srf", "")
    inside = props.take("medium", "medium") or props.one("medium")
    if inside is not None:
        context.camera_medium = context.medium(inside, "camera_medium")
    props.finish()
    return Camera(to_world, fov, axis, offset, near, film_of), spp, far


def _fov(props: Props) -> tuple[float, str]:
    axis = props.string("fov_axis", "x", FOV_AXES)
    if props.has("fov"):
        if props.has("focal_length"):
            raise props.node.error("has both fov and focal_length", "keep one")
        return props.float("fov", low=0.0, high=180.0, strict=True), axis
    # A focal length is that of 35 mm film, whose diagonal sees the angle.
    text = props.string("focal_length", "50mm")
    try:
        millimetres = float(text.removesuffix("mm"))
    except ValueError:
        millimetres = 0.0
    if not (np.isfinite(millimetres) and millimetres > 0):
        raise props.node.error(f"focal_length {text!r}", 'write millimetres such as "50mm"')
    return float(np.rad2deg(2 * np.arctan(0.5 * np.hypot(36, 24) / millimetres))), "diagonal"


def _film(node: Node, context) -> Film:
    if node.type != "hdrfilm":
        raise node.error(f"unknown film {node.type!r}", nearest(node.type, ("hdrfilm",)))
    props = Props(node, context)
    width, height = (props.integer(n, d, 1, 65536) for n, d in (("width", 768), ("height", 576)))
    x, y = (props.integer(f"crop_offset_{a}", 0, 0) for a in "xy")
    w = props.integer("crop_width", width - x, 1)
    h = props.integer("crop_height", height - y, 1)
    if w < 1 or h < 1 or x + w > width or y + h > height:
        raise node.error(f"the crop {x}+{w}, {y}+{h} leaves the film of {width}x{height}", "make it smaller")
    # How Mitsuba writes its file does not concern the picture.
    for name in ("pixel_format", "component_format", "file_format"):
        props.string(name, "")
    props.boolean("sample_border", False)
    props.boolean("compensate", False)
    filter_node = props.one("rfilter")
    name = "gaussian" if filter_node is None else _filter(filter_node, context)
    props.finish()
    crop = None if (x, y, w, h) == (0, 0, width, height) else (x, y, w, h)
    return Film(width, height, name, crop)


def _filter(node: Node, context) -> str:
    if node.type not in FILTERS:
        raise node.error(f"unknown filter {node.type!r}", nearest(node.type, FILTERS))
    props = Props(node, context)
    if FILTERS[node.type] is not None:
        name, only = FILTERS[node.type]
        if props.float(name, only) != only:
            raise node.error(f"only {name} = {only:g} is supported", "remove it")
    props.finish()
    return node.type


def _sampler(node: Node | None, context) -> int | None:
    """Samplers are all the same here: their number of samples is kept."""
    if node is None:
        return None
    props = Props(node, context)
    count = props.integer("sample_count", None, 1)
    props.integer("seed", 0)
    props.boolean("jitter", True)
    props.finish()
    return count


def integrator(node: Node, context) -> Integrator:
    """Path tracing with next-event estimation; how Mitsuba differentiates is not kept."""
    if node.type not in INTEGRATORS:
        mend = 'write <integrator type="path">' if node.type in ("direct", "aov", "moment", "ptracer") else ""
        raise node.error(f"unknown integrator {node.type!r}", mend or nearest(node.type, INTEGRATORS))
    props = Props(node, context)
    depth = props.integer("max_depth", -1, -1)
    if depth == 0:
        raise props.node.error("max_depth 0 is a black picture", "1 shows what shines itself, -1 is unlimited")
    roulette = props.integer("rr_depth", 5, 1)
    if props.boolean("hide_emitters", False):
        raise node.error("hide_emitters is not supported", "remove it")
    props.finish()
    return Integrator(UNLIMITED if depth < 0 else depth, roulette)
