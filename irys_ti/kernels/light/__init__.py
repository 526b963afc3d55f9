"""Lights: one file each. A new one is a file and a line here.

A file holds PARAMS; CLASS; ``emit(p, w)``, a graph; ``power`` for light selection; and, by class,
"delta": sample(reals, ints, light, ref, radius) -> (direction, distance, factor), and uv(...) if it reads a texture;
"environment": sample(reals, ints, light, part, u) -> (direction, pdf), pdf(..., part, direction), uv(...); PARTS: how
many ways of sampling light selection chooses between;
"area": nothing more, since its shape is sampled.
A light may keep a TABLE of rows beside its parameters, and have parts that move with parameters, RIDES: sky.py has both.
"""

from . import area, constant, directional, envmap, ies, point, sky, spot

LIGHTS = {
    "area": area,
    "constant": constant,
    "point": point,
    "spot": spot,
    "directional": directional,
    "envmap": envmap,
    "sky": sky,
    "ies": ies,
}
