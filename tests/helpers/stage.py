"""A small stage for derivatives by place: one set of kinds, so that every test finds its kernels compiled."""

from __future__ import annotations

import numpy as np

from irys_ti.scene import Integrator, Light, Material, Scene, Sphere, constant, cube, rectangle
from irys_ti.scene.transform import look_at, rotate, scale, translate

from .scenes import camera

LIGHTS = ("lamp", "glow", "sky", "bulb", "beam", "sun")  # a square, a ball, an environment, point, spot, distant
OFF = 1e-9  # nearly dark: the light's kind stays, and so does the kernel


def smooth_weight(height: int, width: int | None = None, seed: int = 0) -> np.ndarray:
    """A smooth weight image without symmetry, of size about 1 / pixels."""
    width = width or height
    y, x = np.mgrid[0:height, 0:width] / max(height, width)
    rng = np.random.default_rng(seed)
    waves = [1 + np.sin(3 * x * rng.normal() + 3 * y * rng.normal() + k) for k in range(3)]
    return np.stack(waves, -1) / (height * width)


def stage(*on: str, depth: int = 2, resolution: int = 16, parts=("box", "ball")) -> Scene:
    """A floor, a box and a ball above it, under the lights named (all are there, the others dark)."""
    power = {"lamp": 8.0, "glow": 20.0, "sky": 0.5, "bulb": 3.0, "beam": 9.0, "sun": 2.0}
    power = {name: constant(power[name] if name in on else OFF) for name in LIGHTS}
    shapes = [
        rectangle(rotate([1, 0, 0], -90) @ scale(3), id="floor", material="grey"),
        rectangle(
            translate(-0.7, 2.6, 0.4) @ rotate([1, 0, 0.2], 97) @ scale(0.35), id="lamp", material="black",
            light=Light("lamp", "area", {"radiance": power["lamp"]}),
        ),
        Sphere(
            id="glow", material="black", center=np.array([1.3, 2.2, 0.9]), radius=0.2,
            light=Light("glow", "area", {"radiance": power["glow"]}),
        ),
    ]  # fmt: skip
    if "box" in parts:
        shapes.append(cube(translate(-0.35, 0.75, -0.1) @ rotate([1, 1, 0.3], 35) @ scale(0.25), id="box", material="red"))
    if "ball" in parts:
        shapes.append(Sphere(id="ball", material="red", center=np.array([0.6, 0.7, 0.2]), radius=0.3))
    return Scene(
        camera=camera([0.2, 2.6, 3.0], [0, 0.3, 0], 45, resolution),
        materials=[
            Material("grey", "diffuse", {"reflectance": constant(0.6)}),
            Material("red", "diffuse", {"reflectance": constant(0.3)}),
            Material("black", "diffuse", {"reflectance": constant(0.0)}),
        ],
        shapes=shapes,
        lights=[
            Light("sky", "constant", {"radiance": power["sky"]}),
            Light("bulb", "point", {"intensity": power["bulb"]}, translate(0.5, 2.4, 0.6)),
            Light(
                "beam", "spot", {"intensity": power["beam"], "cutoff_angle": 50.0, "beam_width": 20.0},
                look_at([-0.6, 2.5, 1.0], [0, 0.3, 0], [0, 1, 0]),
            ),
            Light("sun", "directional", {"irradiance": power["sun"]}, look_at([0.5, 2.5, 0.8], [0, 0, 0], [0, 1, 0])),
        ],
        integrator=Integrator(depth, 100),
    )  # fmt: skip


def with_kinds(scene: Scene) -> Scene:
    """The scene with every kind of the stage in it: what it lacks is nearly dark, and far below."""
    have = {light.kind for light in scene.lights}
    black = Material("hidden_black", "diffuse", {"reflectance": constant(0.0)})
    scene.materials.append(black)
    scene.shapes.append(
        Sphere(
            id="hidden", material=black.id, center=np.array([0.0, -1e3, 0.0]), radius=1e-3,
            light=Light("hidden", "area", {"radiance": constant(OFF)}),
        )
    )  # fmt: skip
    dark = {"constant": "radiance", "point": "intensity", "spot": "intensity", "directional": "irradiance"}
    down = translate(0, -1e3, 0)
    scene.lights += [Light(f"dark_{k}", k, {v: constant(OFF)}, down) for k, v in dark.items() if k not in have]
    return scene


def moved(scene: Scene, path: str, way, step: float, render) -> float:
    """(f(x + step) - f(x - step)) / (2 step) of render(scene) by a parameter, which is put back.

    way: the number of it that moves, or how all of them do.
    """
    import irys_ti as it

    p = it.parameters(scene)
    start, ends = p[path], []
    for sign in (1, -1):
        x = start.copy().reshape(-1)
        x += sign * step * (np.arange(x.size) == way if np.ndim(way) == 0 else np.asarray(way))
        p[path] = x.reshape(start.shape)
        ends.append(render(scene))
    p[path] = start
    return (ends[0] - ends[1]) / (2 * step)
