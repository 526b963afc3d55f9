"""Scenes of the self-test, built in Python. All hold the same kinds, so that each kernel is compiled once.

Those with a closed form say how it is derived; what they do not need of the common kinds lies out of sight.
"""

from __future__ import annotations

import numpy as np

from ..scene import Camera, Film, Integrator, Light, Material, Mesh, Scene, Sphere, constant, points, rectangle
from ..scene.transform import look_at, rotate, scale, translate
from ..spectral.cie import integrate_product, response


def white() -> np.ndarray:
    """Linear sRGB of a constant spectrum of 1, by the film's own response: what closed forms are divided by."""
    responses = response()
    return np.array([integrate_product(np.ones_like(r), r) for r in responses])


def room(resolution: int = 64) -> Scene:
    """A box with coloured walls, a rough metal ball, a glass ball and a lamp, open to a dim sky."""
    down = translate(0, 0.99, 0) @ rotate([1, 0, 0], 90) @ scale(0.3)
    warm, cold = points([400, 550, 700], [0.1, 0.3, 0.7]), points([400, 550, 700], [0.6, 0.4, 0.1])
    walls = [
        ("ground", "white", translate(0, -1, 0) @ rotate([1, 0, 0], -90)),
        ("ceiling", "white", translate(0, 1, 0) @ rotate([1, 0, 0], 90)),
        ("back", "white", translate(0, 0, -1)),
        ("left", "warm", translate(-1, 0, 0) @ rotate([0, 1, 0], 90)),
        ("right", "cold", translate(1, 0, 0) @ rotate([0, 1, 0], -90)),
    ]
    return Scene(
        camera=_camera([0, 0, 3.9], [0, 0, 0], 38, resolution),
        materials=[
            Material("white", "diffuse", {"reflectance": constant(0.7)}),
            Material("warm", "diffuse", {"reflectance": warm}),
            Material("cold", "diffuse", {"reflectance": cold}),
            Material("metal", "roughconductor", {"alpha": 0.2}),
            Material("glass", "dielectric", {"int_ior": 1.5}),
            Material("black", "diffuse", {"reflectance": constant(0.0)}),
        ],
        shapes=[
            *(rectangle(m, id=name, material=material) for name, material, m in walls),
            Sphere(id="ball", material="metal", center=np.array([-0.4, -0.6, -0.2]), radius=0.4),
            Sphere(id="drop", material="glass", center=np.array([0.45, -0.65, 0.2]), radius=0.35),
            rectangle(down, id="lamp", material="black", light=Light("lamp", "area", {"radiance": points([400, 700], [6, 9])})),
        ],
        lights=[Light("sky", "constant", {"radiance": constant(0.1)})],
        integrator=Integrator(6, 4),
    )  # fmt: skip


def inside_sphere(albedo: float = 0.5, radiance: float = 0.5) -> Scene:
    """Inside a diffuse sphere that shines: L = Le + a L, so L = Le / (1 - a), dL/da = Le / (1 - a)^2."""
    scene = _with_every_kind([Material("wall", "diffuse", {"reflectance": constant(albedo)})])
    scene.camera = _camera([0, 0, 0], [0, 0, 1], 60, 8)
    light = Light("around", "area", {"radiance": constant(radiance)})
    scene.shapes.append(Sphere(id="around", material="wall", radius=1.0, flip_normals=True, light=light))
    scene.integrator = Integrator(300, 5)
    return scene


def disk_light(radius: float = 1.0, height: float = 2.0, n: int = 256) -> Scene:
    """A white floor below a coaxial disk of unit radiance: E = pi R^2 / (R^2 + h^2), and the floor shows E / pi.

    The disk is a polygon of n corners with the disk's area.
    """
    a = 2 * np.pi * np.arange(n) / n
    r = radius * np.sqrt(2 * np.pi / n / np.sin(2 * np.pi / n))
    ring = np.c_[r * np.cos(a), np.full(n, height), r * np.sin(a)]
    faces = np.c_[np.full(n, n), np.arange(n), np.roll(np.arange(n), -1)]
    light = Light("lamp", "area", {"radiance": constant(1.0)})
    scene = _with_every_kind([Material("white", "diffuse", {"reflectance": constant(1.0)})])
    scene.camera = _camera([0, 1e-2, 0], [0, 0, 0], 1e-3, 8, [0, 0, 1], 1e-4)
    scene.shapes += [
        rectangle(rotate([1, 0, 0], -90), id="floor", material="white"),
        Mesh(vertices=np.r_[ring, [[0, height, 0]]], faces=faces.astype(np.int32), id="lamp", material="unseen", light=light),
    ]
    scene.integrator = Integrator(2, 100)
    return scene


def opposite_faces() -> Scene:
    """One face of the unit cube shines with radiance 1, the opposite one is white: its mean is their form factor.

    The camera is so far away that its rays are parallel; they start inside the cube.
    """
    far = 2000.0
    light = Light("lamp", "area", {"radiance": constant(1.0)})
    scene = _with_every_kind([Material("white", "diffuse", {"reflectance": constant(1.0)})])
    scene.camera = _camera([0, far, 0], [0, 0, 0], np.rad2deg(2 * np.arctan(0.5 / far)), 16, [0, 0, 1], far - 0.5)
    scene.shapes += [
        rectangle(rotate([1, 0, 0], -90) @ scale(0.5), id="floor", material="white"),
        rectangle(translate(0, 1, 0) @ rotate([1, 0, 0], 90) @ scale(0.5), id="lamp", material="unseen", light=light),
    ]
    scene.integrator = Integrator(2, 100)
    return scene


def white_sky() -> Scene:
    """Nothing but a sky of radiance 1 at all wavelengths: linear sRGB (1.205, 0.948, 0.909)."""
    scene = _with_every_kind([])
    scene.camera = _camera([0, 0, 0], [0, 0, 1], 40, 8)
    scene.lights[0].values["radiance"] = constant(1.0)
    return scene


def _camera(origin, target, fov, resolution, up=(0, 1, 0), near=1e-2) -> Camera:
    return Camera(look_at(origin, target, up), fov, film=Film(resolution, resolution), near_clip=near)


def _with_every_kind(materials: list[Material]) -> Scene:
    """A scene that holds the kinds of ``room``, on specks below everything, under a black sky."""
    speck = translate(0, -5, 0) @ rotate([1, 0, 0], 90) @ scale(1e-3)
    grey = points([400, 700], [0.5, 0.5])
    return Scene(
        materials=[
            *materials,
            Material("unseen", "diffuse", {"reflectance": grey}),
            Material("metal", "roughconductor"),
            Material("glass", "dielectric"),
        ],
        shapes=[
            rectangle(speck, id="speck", material="metal", light=Light("speck", "area", {"radiance": constant(0.0)})),
            Sphere(id="grain", material="glass", center=np.array([0.0, -5.0, 0.1]), radius=1e-3),
        ],
        lights=[Light("sky", "constant", {"radiance": constant(0.0)})],
    )
