"""A rough grey metal ball becomes a gold one: its roughness and colour are found from one picture."""

from __future__ import annotations

import numpy as np

from irys_ti.api import render
from irys_ti.fitting import fit
from irys_ti.preview.fitting import FitView
from irys_ti.scene import Camera, Film, Integrator, Light, Material, Scene, Sphere, points, rectangle
from irys_ti.scene.transform import look_at, rotate, scale, translate
from irys_ti.spectral.metals import metal

from . import Outcome

COLOUR_AT = [450, 550, 650]  # nm
ROUGHNESS = 0.25


def ball_scene(alpha: float, colour, size: int) -> Scene:
    """A metal ball on a coloured floor, under a lamp and a bluish sky."""
    eta, k = metal("none")  # reflects everything, so that the colour is all in specular_reflectance
    colour = points(COLOUR_AT, colour, extend=True)
    return Scene(
        camera=Camera(look_at([0, 1.6, 4], [0, 0.8, 0], [0, 1, 0]), fov=36, film=Film(size, size)),
        materials=[
            Material("metal", "roughconductor", {"eta": eta, "k": k, "specular_reflectance": colour, "alpha": alpha}),
            Material("floor", "diffuse", {"reflectance": points([400, 550, 700], [0.3, 0.5, 0.6])}),
            Material("black", "diffuse", {"reflectance": 0.0}),
        ],
        shapes=[
            Sphere(id="ball", material="metal", center=np.array([0, 0.9, 0]), radius=0.9),
            rectangle(rotate([1, 0, 0], -90) @ scale(3), id="ground", material="floor"),
            rectangle(
                translate(0, 3.5, 0) @ rotate([1, 0, 0], 90), id="lamp", material="black",
                light=Light("lamp", "area", {"radiance": points([400, 700], [6, 9])}),
            ),
        ],  # fmt: skip
        lights=[Light("sky", "constant", {"radiance": points([400, 550, 700], [0.5, 0.4, 0.3])})],
        integrator=Integrator(max_depth=6),
        file="demos/ball.py",
    )


def gold_colour() -> np.ndarray:
    """Gold's reflectance at normal incidence, from its measured refractive index."""
    eta, k = metal("Au")
    n, kappa = (np.interp(COLOUR_AT, s.wavelengths, s.values) for s in (eta, k))
    return ((n - 1) ** 2 + kappa**2) / ((n + 1) ** 2 + kappa**2)


TRUTH = {"metal.alpha": ROUGHNESS, "metal.specular_reflectance": gold_colour()}


def play(show, quick: bool = False) -> Outcome:
    """The fit, step by step."""
    size, steps, spp = (32, 24, 8) if quick else (96, 60, 8)
    target = render(ball_scene(ROUGHNESS, gold_colour(), size), 128 if quick else 512, 1000)
    view = FitView(target, TRUTH)
    scene = ball_scene(0.6, [0.5, 0.5, 0.5], size)
    found = fit(
        scene, target, list(TRUTH), steps, spp=spp, callback=lambda s: show(*view.draw(s.image, s.loss, s.values))
    )
    show(*view.draw(found.images["fitted"], found.losses[-1], found.values))
    errors = {path: float(np.abs(found.values[path] - true).max()) for path, true in TRUTH.items()}
    allowed = (0.04, 0.06) if quick else (0.012, 0.006)
    return Outcome(errors, dict(zip(TRUTH, allowed)))
