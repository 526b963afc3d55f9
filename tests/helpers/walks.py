"""Scenes of materials with an inside. All have the same kinds of everything, so that one kernel a tier and mode serves them."""

from __future__ import annotations

import numpy as np

from irys_ti.scene import Integrator, Light, Material, Scene, Sphere, constant, points, rectangle
from irys_ti.scene.transform import look_at, rotate, scale, translate
from tests.helpers.scenes import camera

SKIN = {
    "subsurface_weight": 0.8, "subsurface_color": points([360, 830], [0.2, 0.5]), "subsurface_radius": 0.2,
    "subsurface_radius_scale": points([360, 830], [0.3, 0.8]), "subsurface_scatter_anisotropy": 0.3,
    "base_color": 0.4, "specular_roughness": 0.25,
}  # fmt: skip
MILK = {
    "transmission_weight": 1.0, "transmission_color": points([360, 830], [0.2, 0.4]), "transmission_depth": 0.8,
    "transmission_scatter": points([360, 830], [0.7, 0.4]), "transmission_scatter_anisotropy": 0.2, "specular_roughness": 0.25,
}  # fmt: skip
STEPS = {
    "subsurface_weight": 0.1, "subsurface_color": 0.05, "subsurface_radius": 0.05, "subsurface_radius_scale": 0.15,
    "subsurface_scatter_anisotropy": 0.2, "transmission_color": 0.1, "transmission_depth": 0.2,
    "transmission_scatter": 0.1, "transmission_scatter_anisotropy": 0.2,
}  # fmt: skip


def scene(cam, shapes, materials, sky, bulb, depth, rr) -> Scene:
    """Shapes among a white diffuse one, under a constant sky and a point light."""
    return Scene(
        camera=cam, shapes=shapes, materials=[*materials, Material("white", "diffuse", {"reflectance": 0.6})],
        lights=[
            Light("sky", "constant", {"radiance": constant(sky)}),
            Light("bulb", "point", {"intensity": constant(bulb)}, look_at([1, 3, 1.5], [0, 0, 0], [0, 1, 0])),
        ],
        integrator=Integrator(depth, rr),
    )  # fmt: skip


def ball(values, eye=(0, 0, 4), target=(0, 0, 0), sky=1.0, fov=1.0, radius=1.0, pixels=8, depth=10000, rr=10000) -> Scene:
    """A ball with nothing around it but a speck behind the camera, under a sky."""
    cam = camera(list(eye), list(target), fov, pixels, near_clip=1e-4)
    speck = rectangle(translate(0, 0, 50) @ scale(1e-4), id="speck", material="white")
    shapes = [Sphere(id="ball", material="m", radius=radius), speck]
    return scene(cam, shapes, [Material("m", "openpbr", dict(values))], sky, 0.0, depth, rr)


def on_floor(values, pixels=12, depth=8, bulb=0.0, **more) -> Scene:
    """A ball of a material "m" on a floor, under a sky and, if asked for, a point light."""
    shape = Sphere(id="ball", material="m", center=np.array([0, 0.7, 0]), radius=0.7)
    cam = camera([0, 1.2, 3.6], [0, 0.7, 0], 30, pixels)
    floor = rectangle(rotate([1, 0, 0], -90) @ scale(3), id="floor", material="white")
    return scene(cam, [floor, shape], [Material("m", "openpbr", values | more)], 1.0, bulb, depth, 5)


def paths(values) -> list[str]:
    """What the material is made of below its surface."""
    start = "subsurface_" if "subsurface_weight" in values else "transmission_"
    return [f"m.{name}" for name in STEPS if name.startswith(start)]
