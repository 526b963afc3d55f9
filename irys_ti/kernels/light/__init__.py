"""Lights: one file each. A new one is a file and a line here.

A file holds PARAMS; CLASS; ``emit(p, w)``, a graph; ``power`` for light selection; and, by class,
"delta": sample(reals, ints, light, ref, radius) -> (direction, distance, factor);
"environment": sample(reals, ints, light, u) -> (direction, pdf), pdf(...), uv(...);
"area": nothing more, since its shape is sampled.
"""

from . import area, constant, directional, envmap, point, spot

LIGHTS = {
    "area": area,
    "constant": constant,
    "point": point,
    "spot": spot,
    "directional": directional,
    "envmap": envmap,
}
