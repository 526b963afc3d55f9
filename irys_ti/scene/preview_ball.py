"""The preview ball: one scene in which materials can be told apart.

A ball on a checked floor, before a dark backdrop, under a lamp and a sky. The floor shows through glass, the backdrop
sets off films and fuzz at the edge, and metals mirror the lamp, a strip of light and the horizon.
"""

from __future__ import annotations

import numpy as np

from .camera import Camera, Film
from .material import Light, Material
from .scene import Integrator, Scene
from .shapes import Shape, Sphere, rectangle
from .spectrum import Texture, rgb
from .transform import look_at, rotate, scale, translate

BALL = "ball"
SKY_WIDTH, SKY_HEIGHT = 128, 64


def preview_ball(material: Material, size: int = 256) -> Scene:
    """A square picture of a ball of radius 1 in that material; the ball's Shape is ``ball_of(scene)``.

    Other materials may be added to ``scene.materials`` and given to the ball in turn: nothing is compiled again.
    """
    lamp_at = look_at([-3.2, 5.2, 3.0], [0, 1, 0], [0, 1, 0])
    return Scene(
        camera=Camera(look_at([0, 2.1, 6.4], [0, 0.92, 0], [0, 1, 0]), fov=24, film=Film(size, size, "tent")),
        materials=[
            material,
            Material("preview_floor", "diffuse", {"reflectance": _checks()}),
            Material("preview_backdrop", "diffuse", {"reflectance": 0.06}),
            Material("preview_lamp_bsdf", "diffuse", {"reflectance": 0.0}),
        ],
        shapes=[
            Sphere(id=BALL, material=material.id, center=np.array([0.0, 1.0, 0.0]), radius=1.0),
            rectangle(rotate([1, 0, 0], -90) @ scale(8), id="preview_ground", material="preview_floor"),
            rectangle(translate(0, 2, -3.5) @ scale(8, 2.6, 1), id="preview_wall", material="preview_backdrop"),
            rectangle(
                lamp_at @ scale(1.3), id="preview_lamp", material="preview_lamp_bsdf",
                light=Light("preview_lamp", "area", {"radiance": rgb(8.5, 8.5, 8.5, illuminant=True)}),
            ),
        ],
        lights=[Light("preview_sky", "envmap", {"radiance": _sky()})],
        integrator=Integrator(max_depth=12, rr_depth=6),
        file="preview ball",
    )  # fmt: skip


def ball_of(scene: Scene) -> Shape:
    """The ball of a ``preview_ball``."""
    return next(s for s in scene.shapes if s.id == BALL)


def _checks() -> Texture:
    """Squares of half a unit: exactly two by two texels, repeated."""
    light, dark = 0.42, 0.16
    turns = 16.0  # uv spans 16 units
    to_uv = np.array([[turns, 0, 0], [0, turns, 0], [0, 0, 1.0]])
    return Texture(np.array([[[light], [dark]], [[dark], [light]]]), "nearest", "repeat", to_uv, "checks")


def _sky() -> Texture:
    """(64, 128, 3) linear sRGB: brighter overhead, a pale horizon, dim ground, and a strip light to the right."""
    up = np.cos(np.pi * (np.arange(SKY_HEIGHT) + 0.5) / SKY_HEIGHT)[:, None, None]  # y of each row
    # Nearly grey, so that a metal shows its own colour.
    zenith, horizon, ground = np.array([0.56, 0.57, 0.58]), np.array([0.61, 0.60, 0.58]), np.array([0.10, 0.097, 0.095])
    above = horizon + (zenith - horizon) * np.sqrt(np.maximum(up, 0))
    pixels = np.where(up > 0, above, ground) * np.ones((1, SKY_WIDTH, 1))
    azimuth = 2 * np.pi * (np.arange(SKY_WIDTH) + 0.5) / SKY_WIDTH  # atan2(x, -z): a quarter turn is +x
    strip = (np.abs(azimuth - np.deg2rad(115)) < np.deg2rad(9))[None, :] & (up[:, :, 0] > 0.05) & (up[:, :, 0] < 0.75)
    pixels[strip] = (5.0, 4.9, 4.7)
    return Texture(pixels, "bilinear", "repeat", source="preview sky")
