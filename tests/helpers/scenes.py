"""Small scenes with known answers, built in Python."""

from __future__ import annotations

import numpy as np

from irys_ti.scene import Camera, Film, Integrator, Light, Material, Mesh, Scene, Sphere, constant, points, rectangle
from irys_ti.scene.transform import look_at, rotate, scale, translate

FLAT = 1.0 / np.array([1.20484, 0.94827, 0.90885])  # a constant spectrum's colour, to be divided out


def camera(origin, target, fov, resolution, up=(0, 1, 0), **more) -> Camera:
    """A square perspective camera."""
    film = Film(resolution, resolution)
    return Camera(look_at(origin, target, up), fov, film=film, **more)


def inside_sphere(albedo: float, radiance: float, depth: int = 300) -> Scene:
    """A camera inside a diffuse sphere that also emits: L = Le / (1 - a) everywhere."""
    return Scene(
        camera=camera([0, 0, 0], [0, 0, 1], 60, 8),
        materials=[Material("wall", "diffuse", {"reflectance": constant(albedo)})],
        shapes=[
            Sphere(
                id="ball", material="wall", radius=1.0, flip_normals=True,
                light=Light("ball", "area", {"radiance": constant(radiance)}),
            )
        ],
        integrator=Integrator(depth, depth if depth < 20 else 5),
    )  # fmt: skip


def disk(radius: float, n: int, to_world: np.ndarray, **common) -> Mesh:
    """A disk of n triangles in z = 0, facing +z, whose area is exactly pi radius^2."""
    a = 2 * np.pi * np.arange(n) / n
    r = radius * np.sqrt(2 * np.pi / n / np.sin(2 * np.pi / n))
    v = np.c_[r * np.cos(a), r * np.sin(a), np.zeros(n)]
    v = np.r_[[[0, 0, 0]], v] @ to_world[:3, :3].T + to_world[:3, 3]
    faces = [[0, 1 + i, 1 + (i + 1) % n] for i in range(n)]
    return Mesh(vertices=v, faces=np.array(faces, np.int32), **common)


def disk_light(radius: float, height: float) -> Scene:
    """A white diffuse floor seen at the point below a coaxial disk light: L = rho E / pi."""
    down = translate(0, height, 0) @ rotate([1, 0, 0], 90)
    return Scene(
        camera=camera([0, 1e-2, 0], [0, 0, 0], 1e-3, 4, up=[0, 0, 1], near_clip=1e-4),
        materials=[Material("white", "diffuse", {"reflectance": constant(1.0)}), Material("black", "diffuse", {"reflectance": 0.0})],
        shapes=[
            rectangle(rotate([1, 0, 0], -90) @ scale(5), id="floor", material="white"),
            disk(radius, 256, down, id="lamp", material="black", light=Light("lamp", "area", {"radiance": constant(1.0)})),
        ],
        integrator=Integrator(2, 100),
    )  # fmt: skip


def half_plane(offset: float, height: float) -> Scene:
    """A floor point under a unit sky, half of which a black plane hides whose edge is at the given place.

    E = (pi / 2) (1 + u / sqrt(u^2 + z^2)), u the distance from the point to the edge, z the edge's height.
    """
    # The plane reaches from its edge at x = offset towards +x, far enough to look infinite.
    far = 300.0
    plane = translate(offset + far, height, 0) @ rotate([1, 0, 0], -90) @ scale(far)
    return Scene(
        camera=camera([0, 1e-2, 0], [0, 0, 0], 1e-3, 4, up=[0, 0, 1], near_clip=1e-4),
        materials=[Material("white", "diffuse", {"reflectance": constant(1.0)}), Material("black", "diffuse", {"reflectance": 0.0})],
        shapes=[
            rectangle(rotate([1, 0, 0], -90), id="floor", material="white"),
            rectangle(plane, id="plane", material="black"),
        ],
        lights=[Light("sky", "constant", {"radiance": constant(1.0)})],
        integrator=Integrator(2, 100),
    )  # fmt: skip


def two_faces(adjacent: bool) -> Scene:
    """Two faces of the unit cube, one emitting, the other white; the camera sees all of the white one evenly.

    The eye is so far away that its rays are parallel; they start inside the cube.
    """
    if adjacent:
        lamp = translate(0.5, 0.5, 0) @ rotate([0, 1, 0], -90) @ scale(0.5)
    else:
        lamp = translate(0, 1, 0) @ rotate([1, 0, 0], 90) @ scale(0.5)
    far = 2000.0
    return Scene(
        camera=camera([0, far, 0], [0, 0, 0], np.rad2deg(2 * np.arctan(0.5 / far)), 16, up=[0, 0, 1], near_clip=far - 0.5),
        materials=[Material("white", "diffuse", {"reflectance": constant(1.0)}), Material("black", "diffuse", {"reflectance": 0.0})],
        shapes=[
            rectangle(rotate([1, 0, 0], -90) @ scale(0.5), id="floor", material="white"),
            rectangle(lamp, id="lamp", material="black", light=Light("lamp", "area", {"radiance": constant(1.0)})),
        ],
        integrator=Integrator(2, 100),
    )  # fmt: skip


def gold_ball(resolution: int = 32) -> Scene:
    """A rough gold ball on a floor under a lamp and a sky: every main feature in three shapes."""
    from irys_ti.spectral.metals import metal

    eta, k = metal("Au")
    down = translate(0, 3.5, 0) @ rotate([1, 0, 0], 90)
    return Scene(
        camera=camera([0, 1.6, 4], [0, 0.8, 0], 36, resolution),
        materials=[
            Material("floor", "diffuse", {"reflectance": points([400, 550, 700], [0.3, 0.5, 0.6])}),
            Material("metal", "roughconductor", {"eta": eta, "k": k, "alpha": 0.25}),
            Material("black", "diffuse", {"reflectance": 0.0}),
        ],
        shapes=[
            rectangle(rotate([1, 0, 0], -90) @ scale(3), id="ground", material="floor"),
            Sphere(id="ball", material="metal", center=np.array([0, 0.9, 0]), radius=0.9),
            rectangle(
                down, id="lamp", material="black",
                light=Light("lamp", "area", {"radiance": points([400, 700], [6, 9])}),
            ),
        ],
        lights=[Light("sky", "constant", {"radiance": points([400, 550, 700], [0.5, 0.4, 0.3])})],
        integrator=Integrator(6, 4),
    )  # fmt: skip
