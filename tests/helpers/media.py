"""Scenes of media. All have the same kinds of everything, so that one kernel a tier and mode serves them all."""

from __future__ import annotations

import numpy as np

from irys_ti.scene import (
    Integrator,
    Light,
    Material,
    Medium,
    PhaseTable,
    Scene,
    Sphere,
    constant,
    cube,
    points,
    rectangle,
)
from irys_ti.scene.transform import look_at, rotate, scale, translate
from tests.helpers.scenes import camera

MATERIALS = [("none", "null", {}), ("white", "diffuse", {"reflectance": 0.7}), ("black", "diffuse", {"reflectance": 0.0})]
COLOURED = points([400, 700], [1.8, 1.2])


def scene(cam, shapes, media, sky=1.0, depth=64, rr=1000, **more) -> Scene:
    """A scene under a constant sky. A speck and a second medium nobody meets keep the set of kinds the same."""
    speck = rectangle(translate(0, 0, 0.1) @ scale(1e-4), id="speck", material="none")
    spare = [
        Medium("spare", values={"sigma_t": COLOURED, "emission": 1.0}, phase="isotropic"),
        Medium("spare_hg", phase="hg"),
        Medium("spare_droplets", phase="droplets"),
        Medium("spare_table", phase="table", values={"phase_values": PhaseTable([-1.0, 1.0], [1.0, 1.0])}),
    ]
    return Scene(
        camera=cam, shapes=[*shapes, speck], media=[*media, *spare],
        materials=[Material(id, kind, dict(values)) for id, kind, values in MATERIALS],
        lights=[Light("sky", "constant", {"radiance": constant(sky)}), Light("bulb", "point", {"intensity": constant(0.0)})],
        integrator=Integrator(depth, rr), **more,
    )  # fmt: skip


def ball(values, eye, target=(0, 0, 0), phase="isotropic", radius=1.0, pixels=8, fov=0.5, **more) -> Scene:
    """A ball of a medium with nothing around it."""
    fog = Medium("fog", values=values, phase=phase)
    shape = Sphere(id="ball", material="none", interior="fog", radius=radius)
    return scene(camera(eye, target, fov, pixels, near_clip=1e-4), [shape], [fog], **more)


def half_space(albedo, size=60.0) -> Scene:
    """A wide slab without end below, seen from straight above: by reciprocity its plane albedo at normal incidence.

    Roulette comes once next to nothing is left: played at weights that tell, it is most of the noise of long paths.
    """
    top = rectangle(translate(7, 3, 0) @ scale(size), id="top", material="none", interior="fog")
    fog = Medium("fog", values={"sigma_t": 1.0, "albedo": albedo})
    return scene(camera([0, 0, 1], [0, 0, 0], 0.01, 8), [top], [fog], depth=100000, rr=int(16 / (1 - albedo)))


def foggy_room(pixels=16, phase="hg", **values) -> Scene:
    """A ball of coloured fog that glows a little, over a floor, under a point light and a sky; a black card casts a shadow."""
    values = {"sigma_t": COLOURED, "albedo": points([400, 700], [0.8, 0.7]), "g": 0.3, "emission": 0.1, **values}
    if phase == "isotropic":
        values.pop("g")
    shapes = [
        rectangle(rotate([1, 0, 0], -90) @ scale(3), id="floor", material="white"),
        Sphere(id="ball", material="none", interior="fog", center=np.array([0, 0.8, 0]), radius=0.7),
        rectangle(translate(0.5, 2.2, 0) @ rotate([1, 0, 0], 90) @ scale(0.4), id="card", material="black"),
    ]
    out = scene(camera([0, 1.2, 3.6], [0, 0.7, 0], 40, pixels), shapes, [Medium("fog", values=values, phase=phase)], sky=0.5)
    out.lights[1] = Light("bulb", "point", {"intensity": constant(6.0)}, look_at([1, 3, 1], [0, 0, 0], [0, 1, 0]))
    return out


FOG = [f"fog.{name}" for name in ("albedo", "g", "sigma_t", "scale", "emission")]


def blob(n=8) -> np.ndarray:
    """An uneven cloud on a grid of n^3 voxels, empty at its rim."""
    z, y, x = (np.arange(n) + 0.5)[:, None, None] / n, (np.arange(n) + 0.5)[None, :, None] / n, (np.arange(n) + 0.5) / n
    r2 = (x - 0.5) ** 2 + (y - 0.4) ** 2 + (z - 0.5) ** 2
    return np.maximum(0.0, 1.5 - 9 * r2) * (1 + 0.5 * np.sin(9 * x + 5 * y))


def smoke(density=None, pixels=16, **values) -> Scene:
    """A grid of densities in a box over a floor, under a point light and a sky."""
    values = {"sigma_t": points([400, 700], [3.0, 2.0]), "albedo": 0.8, "g": 0.3, **values}
    if density is not None:
        values["density"] = density
    box = translate(0, 0.8, 0) @ scale(0.7)
    shapes = [
        rectangle(rotate([1, 0, 0], -90) @ scale(3), id="floor", material="white"),
        cube(box, id="box", material="none", interior="fog"),
    ]
    fog = Medium("fog", "homogeneous" if density is None else "grid", values, "hg", to_world=box @ translate(-1, -1, -1) @ scale(2))
    out = scene(camera([0, 1.2, 3.6], [0, 0.7, 0], 40, pixels), shapes, [fog], sky=0.3)
    out.media = [m for m in out.media if m.id != "spare"]  # which would bring another phase function and emission
    out.media.append(Medium("spare_grid", "grid", {"density": np.ones((2, 2, 2))}, "hg"))
    out.lights[1] = Light("bulb", "point", {"intensity": constant(10.0)}, look_at([1, 3, 1], [0, 0, 0], [0, 1, 0]))
    return out
