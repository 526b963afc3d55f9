"""One room, one lamp, light off every wall: the paint of five walls is found from one picture."""

from __future__ import annotations

import numpy as np

from irys_ti.api import render
from irys_ti.fitting import fit
from irys_ti.preview.fitting import FitView
from irys_ti.scene import Camera, Film, Integrator, Light, Material, Mesh, Scene, cube, points, rectangle
from irys_ti.scene.transform import look_at, rotate, scale, translate

from . import Outcome

BANDS = [450, 550, 650]  # nm
PAINT = {
    "floor": [0.55, 0.60, 0.65],
    "ceiling": [0.75, 0.78, 0.80],
    "back": [0.60, 0.55, 0.25],
    "left": [0.12, 0.14, 0.65],
    "right": [0.20, 0.50, 0.15],
}


def wall(name: str, placed: np.ndarray) -> Mesh:
    """A 2 x 2 square, which faces +z before it is placed."""
    return rectangle(placed, id=f"{name} wall", material=name)


def room_scene(paint: dict, size: int) -> Scene:
    """The inside of a 2 x 2 x 2 box with a lamp under its ceiling and a white block on its floor."""
    materials = [Material(n, "diffuse", {"reflectance": points(BANDS, c, extend=True)}) for n, c in paint.items()]
    materials.append(Material("white", "diffuse", {"reflectance": 0.7}))
    return Scene(
        camera=Camera(look_at([0, 0, 3.9], [0, 0, 0], [0, 1, 0]), fov=38, film=Film(size, size)),
        materials=materials,
        shapes=[
            wall("floor", translate(0, -1, 0) @ rotate([1, 0, 0], -90)),
            wall("ceiling", translate(0, 1, 0) @ rotate([1, 0, 0], 90)),
            wall("back", translate(0, 0, -1)),
            wall("left", translate(-1, 0, 0) @ rotate([0, 1, 0], 90)),
            wall("right", translate(1, 0, 0) @ rotate([0, 1, 0], -90)),
            cube(translate(0.2, -0.7, -0.2) @ rotate([0, 1, 0], 25) @ scale(0.3), id="block", material="white"),
            rectangle(
                translate(0, 0.99, 0) @ rotate([1, 0, 0], 90) @ scale(0.35), id="lamp", material="white",
                light=Light("lamp", "area", {"radiance": points([400, 700], [7, 10], extend=True)}),
            ),
        ],  # fmt: skip
        integrator=Integrator(max_depth=6),
        file="demos/room.py",
    )


def play(show, quick: bool = False) -> Outcome:
    """The fit, step by step."""
    size, steps = (24, 24) if quick else (64, 60)
    target = render(room_scene(PAINT, size), 128 if quick else 512, 1000)
    truth = {f"{name}.reflectance": paint for name, paint in PAINT.items()}
    view = FitView(target, truth)
    scene = room_scene({name: [0.5, 0.5, 0.5] for name in PAINT}, size)
    found = fit(scene, target, list(truth), steps, spp=8, callback=lambda s: show(*view.draw(s.image, s.loss, s.values)))
    show(*view.draw(found.images["fitted"], found.losses[-1], found.values))
    errors = {path: float(np.abs(found.values[path] - np.array(true)).max()) for path, true in truth.items()}
    return Outcome(errors, dict.fromkeys(truth, 0.1 if quick else 0.03))
