"""Scenes built in Python: each mistake is one line naming the object."""

import copy

import numpy as np
import pytest

from irys_ti.errors import SceneError
from irys_ti.io.validate import validate
from irys_ti.scene import (
    Camera,
    Film,
    Instance,
    Light,
    Material,
    Primitives,
    Scene,
    Sphere,
    Texture,
    constant,
    cube,
    points,
    rectangle,
)


def good() -> Scene:
    lamp = rectangle(np.eye(4), id="lamp", material="grey")
    lamp.light = Light("lamp", "area", {"radiance": points([400, 700], [1, 2])})
    picture = Texture(np.ones((2, 2, 3)))
    return Scene(
        camera=Camera(film=Film(8, 6, crop=(1, 1, 3, 3))),
        shapes=[
            lamp,
            Sphere("ball", "paper"),
            cube(np.eye(4), id="box", material="grey", group="g"),
            Primitives("own", "grey", kind="disk", fields={"radius": np.ones(3)}),
        ],
        lights=[Light("sky", "constant", {"radiance": constant(1.0)})],
        materials=[Material("grey", "diffuse", {"reflectance": constant(0.5)}), Material("paper", "diffuse", {"reflectance": picture})],
        instances=[Instance("g", id="copy")],
    )  # fmt: skip


def test_a_good_scene_passes():
    validate(good())


def put(path, value):
    """A function that sets scene.<path> to a value; an integer picks from a list."""

    def apply(scene):
        *head, last = path.split(".")
        thing = scene
        for key in head:
            thing = thing[int(key)] if key.isdigit() else thing[key] if isinstance(thing, dict) else getattr(thing, key)
        if isinstance(thing, dict):
            thing[last] = value
        else:
            setattr(thing, last, value)

    return apply


NAN = float("nan")
MIRRORED = np.diag([-1.0, 1, 1, 1])
CASES = [
    (put("shapes.1.id", "grey"), "'grey' of a material is that of a shape"),
    (put("lights.0.id", "ball"), "'ball' of a light is that of a shape"),
    (put("lights.0.id", ""), "a light has no id"),
    (put("shapes.1.id", "a.b"), "'a.b' has a dot"),
    (put("shapes.1.material", "papper"), "shape 'ball': there is no material 'papper'; did you mean 'paper'"),
    (put("shapes.1.radius", -1.0), "shape 'ball': radius is -1"),
    (put("shapes.1.radius", NAN), "radius is nan"),
    (put("shapes.1.center", np.array([0, NAN, 0])), "center"),
    (put("shapes.0.faces", np.array([[0, 1, 9]])), "shape 'lamp': faces[0] names vertex 9; there are vertices 0 to 3"),
    (put("shapes.0.faces", np.array([[0, 1, -1]])), "faces[0] names vertex -1"),
    (put("shapes.0.faces", np.zeros((0, 3), int)), "the mesh is empty"),
    (put("shapes.0.faces", np.zeros((2, 3))), "faces has shape"),
    (put("shapes.0.vertices", np.full((4, 3), NAN)), "vertices[0] is not finite"),
    (put("shapes.0.normals", np.ones((3, 3))), "normals has shape (3, 3); it must be (4, 3)"),
    (put("shapes.0.uvs", np.ones((4, 3))), "uvs has shape"),
    (put("shapes.0.light.id", "other"), "its light has the id 'other'"),
    (put("shapes.0.light.kind", "point"), "not an area light"),
    (put("shapes.2.light", Light("box", "area")), "shape 'box': a light cannot stand in a group"),
    (put("shapes.3.fields", {"radius": np.array([NAN])}), "shape 'own': radius is not finite"),
    (put("instances.0.group", "h"), "instance 'copy': there is no group 'h'"),
    (put("instances.0.to_world", np.zeros((4, 4))), "singular"),
    (put("instances.0.to_world", np.eye(3)), "not a finite 4x4"),
    (put("materials.0.values.reflectance", constant(NAN)), "material 'grey', reflectance: values are"),
    (put("materials.0.values.reflectance", constant(-1.0)), "finite and 0 or more"),
    (put("materials.0.values.reflectance", points([500, 400], [1, 1])), "wavelengths are"),
    (put("materials.0.values.reflectance", points([400], [1, 1])), "wavelengths are"),
    (put("materials.0.values.reflectance", points([], [])), "points spectrum"),
    (put("materials.0.values.reflectance", "red"), "is 'red'; give a finite number"),
    (put("materials.0.values.reflectance", NAN), "is nan"),
    (put("materials.0.values.reflectance.kind", "blue"), "spectrum kind 'blue'"),
    (put("materials.1.values.reflectance.pixels", np.ones((2, 2))), "pixels have shape (2, 2)"),
    (put("materials.1.values.reflectance.pixels", np.full((2, 2, 1), NAN)), "pixels are not finite"),
    (put("materials.1.values.reflectance.filter", "cubic"), "filter 'cubic'"),
    (put("materials.1.values.reflectance.wrap", "clip"), "wrap 'clip'"),
    (put("materials.1.values.reflectance.to_uv", np.eye(4)), "to_uv"),
    (put("camera.fov", 180.0), "camera: fov is 180"),
    (put("camera.fov", NAN), "camera: fov is nan"),
    (put("camera.fov_axis", "horizontal"), "fov_axis"),
    (put("camera.near_clip", 0.0), "near_clip"),
    (put("camera.principal_point", (NAN, 0)), "principal_point"),
    (put("camera.to_world", np.diag([2.0, 2, 2, 1])), "scales or mirrors"),
    (put("camera.to_world", MIRRORED), "scales or mirrors"),
    (put("camera.film.width", 0), "0x6 pixels"),
    (put("camera.film.crop", (6, 0, 3, 3)), "leaves the film"),
    (put("camera.film.crop", (0, 0, 0, 3)), "leaves the film"),
    (put("camera.film.filter", "lanczos"), "filter 'lanczos'"),
    (put("integrator.max_depth", 0), "max_depth 0"),
]  # fmt: skip


@pytest.mark.parametrize(("spoil", "message"), CASES, ids=[m[:40] for _, m in CASES])
def test_each_mistake_is_named(spoil, message):
    scene = copy.deepcopy(good())
    scene.file = "built.py"
    spoil(scene)
    with pytest.raises(SceneError) as caught:
        validate(scene)
    assert message in str(caught.value) and "built.py" in str(caught.value) and "\n" not in str(caught.value)
