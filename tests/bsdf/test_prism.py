"""A prism of OpenPBR glass splits light: a white strip behind it becomes a band of colours, blue bent most."""

import numpy as np
import pytest

import irys_ti as it
from irys_ti.scene import Camera, Film, Integrator, Light, Material, Mesh, Scene, rectangle, rgb
from irys_ti.scene.transform import look_at, scale

INDEX, APEX = 1.6, np.deg2rad(60)
DEVIATION = 2 * np.arcsin(INDEX * np.sin(APEX / 2)) - APEX  # the least, of a ray along the prism's base


def prism() -> Mesh:
    """Apex up z, base along x, edges along y."""
    half, height = 1.0, 1.0 / np.tan(APEX / 2)
    corners = [(-half, -height / 2), (half, -height / 2), (0.0, height / 2)]
    vertices = np.array([[x, y, z] for y in (-1.2, 1.2) for x, z in corners])
    faces = np.array([[0, 2, 1], [3, 4, 5], [0, 1, 4], [0, 4, 3], [1, 2, 5], [1, 5, 4], [2, 0, 3], [2, 3, 5]])
    for k, face in enumerate(faces):
        p = vertices[face]
        if np.cross(p[1] - p[0], p[2] - p[0]) @ (p.mean(0) - vertices.mean(0)) < 0:
            faces[k] = face[::-1]
    return Mesh(id="prism", material="glass", vertices=vertices, faces=faces)


def strip_through_prism(dispersion: float) -> Scene:
    """The camera looks through the prism at a bright strip, along the ray of least deviation."""
    d = np.array([np.cos(DEVIATION / 2), 0.0, -np.sin(DEVIATION / 2)])
    glass = {
        "transmission_weight": 1.0, "specular_roughness": 0.0, "specular_ior": INDEX,
        "transmission_dispersion_scale": dispersion, "transmission_dispersion_abbe_number": 20.0,
    }  # fmt: skip
    lamp = Light("strip", "area", {"radiance": rgb(6, 6, 6, illuminant=True)})
    return Scene(
        camera=Camera(look_at(6 * d * [-1, 1, 1], [0, 0, 0], [0, 1, 0]), fov=26, film=Film(96, 8, "box")),
        materials=[Material("glass", "openpbr", glass), Material("black", "diffuse", {"reflectance": 0.0})],
        shapes=[
            prism(),
            rectangle(look_at(14 * d, [0, 0, 0], [0, 1, 0]) @ scale(0.06, 1, 1), id="strip", material="black", light=lamp),
        ],
        integrator=Integrator(max_depth=8, rr_depth=8),
        file="prism",
    )


@pytest.mark.slow
def test_a_prism_splits_light(f32):
    def centres(dispersion):
        columns = it.render(strip_through_prism(dispersion), 128).mean(0)  # (96, 3)
        seen = np.maximum(columns[40:], 0.0)  # right of the reflection off the prism's face
        return (seen * np.arange(40, 96)[:, None]).sum(0) / seen.sum(0)

    red, green, blue = centres(0.0)
    assert max(red, green, blue) - min(red, green, blue) < 0.3
    red, green, blue = centres(1.0)
    # Snell's law: n - 1 falls by a twentieth over the visible range; a degree of deviation is 96 / 26 pixels times 14 / 20.
    assert red + 1.0 < green < blue - 1.0
