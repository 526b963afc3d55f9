"""Random small scenes for derivatives by place, drawn by hypothesis: one set of kinds, one part that moves.

Parts float in cells of their own, so that none touches another: where things touch, derivatives by place have no finite
variance (docs/design/geometry_gradients.md), which is another test's matter.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

import irys_ti as it
from irys_ti.scene import Instance, Light, Material, Mesh, Scene, Sphere, cube, rectangle
from irys_ti.scene.transform import look_at, rotate, scale, translate

from .scenes import camera
from .stage import with_kinds

LIGHTS = ("lamp", "glow", "sky", "bulb", "beam", "sun")
CELLS = [(x, 0.7, z) for x in (-1.1, 0.0, 1.1) for z in (-0.6, 0.5)]
PIXELS = 16


@dataclass
class Moving:
    """A scene, the parameter of it that moves, by what step, and a seed for the direction it takes."""

    scene: Scene
    path: str
    step: float
    seed: int
    said: str
    kind: tuple  # what a scene must differ in to count as another one

    def moves(self) -> np.ndarray:
        """(k, *shape) ways in which the parameter moves, of length 1: each number, or for vertices an affine map's."""
        x = it.parameters(self.scene)[self.path]
        if not self.path.endswith("vertices"):
            return np.eye(x.size).reshape(x.size, *x.shape)
        arm = (x - x.mean(0)) / np.abs(x - x.mean(0)).max()
        columns = np.concatenate([np.ones((len(x), 1)), arm], 1)
        moves = np.stack([np.outer(c, axis) for c in columns.T for axis in np.eye(3)])
        return moves / np.sqrt((moves**2).sum((1, 2), keepdims=True))

    def along(self) -> np.ndarray:
        """Coefficients of a random way among ``moves``, of length 1."""
        x = np.random.default_rng(self.seed).standard_normal(len(self.moves()))
        return x / np.linalg.norm(x)

    def __repr__(self):
        return self.said


def weight_image(seed: int) -> np.ndarray:
    """A smooth weight of both signs (height, width, channels), whose waves are about as long as a part is wide."""
    rng = np.random.default_rng(seed)
    y, x = np.mgrid[0:PIXELS, 0:PIXELS] / PIXELS
    waves = [np.cos(2 * np.pi * (rng.uniform(-1.5, 1.5) * x + rng.uniform(-1.5, 1.5) * y + rng.random())) for _ in range(6)]
    return np.stack([waves[c] + waves[3 + c] for c in range(3)], -1) / PIXELS**2


def loss_weight(moving: Moving, steps: float = 6.0, seed: int = 900) -> np.ndarray:
    """What a fit sees that is to move the part a few steps: two pictures' difference, averaged over 3 x 3 pixels."""
    params = it.parameters(moving.scene)
    start, way = params[moving.path], np.tensordot(moving.along(), moving.moves(), 1)
    images = []
    for far in (steps, 0.0):
        params[moving.path] = start + far * moving.step * way
        images.append(it.render(moving.scene, 256, seed).astype(np.float64))
    params[moving.path] = start
    padded = np.pad(images[0] - images[1], ((1, 1), (1, 1), (0, 0)))
    mean = sum(padded[i : i + PIXELS, j : j + PIXELS] for i in range(3) for j in range(3)) / 9
    return mean / np.abs(mean).max() / PIXELS


def ball_mesh(n: int = 6) -> tuple[np.ndarray, np.ndarray]:
    """A coarse ball: vertices on the unit sphere, and faces that look outwards."""
    theta, phi = np.pi * np.arange(1, n) / n, 2 * np.pi * np.arange(2 * n) / (2 * n)
    t, p = np.meshgrid(theta, phi, indexing="ij")
    v = np.stack([np.sin(t) * np.cos(p), np.cos(t), np.sin(t) * np.sin(p)], -1).reshape(-1, 3)
    v, m, top = np.r_[v, [[0, 1, 0], [0, -1, 0]]], 2 * n, (n - 1) * 2 * n
    faces = []
    for j in range(m):
        k = (j + 1) % m
        faces += [[top, k, j], [top + 1, (n - 2) * m + j, (n - 2) * m + k]]
        for i in range(n - 2):
            a, b, c, d = i * m + j, i * m + k, (i + 1) * m + j, (i + 1) * m + k
            faces += [[a, b, d], [a, d, c]]
    return v, np.array(faces, np.int32)


@st.composite
def stagings(draw, plain: bool = False) -> Moving:
    """A floor, two or three parts above it, one or two lights; one thing of them moves.

    plain: of the kinds that the stage of tests/helpers/stage.py has, whose kernels other tests compile anyway.
    """
    number = lambda low, high: round(draw(st.floats(low, high)), 3)  # noqa: E731
    materials = [
        Material("grey", "diffuse", {"reflectance": 0.6}),
        Material("red", "diffuse", {"reflectance": 0.3}),
        Material("black", "diffuse", {"reflectance": 0.0}),
    ]
    if not plain:
        materials.append(Material("shiny", "roughconductor", {"alpha": 0.35}))
    shapes = [rectangle(rotate([1, 0, 0], -90) @ scale(3), id="floor", material="grey")]
    cells = draw(st.permutations(CELLS))[: draw(st.integers(2, 3))]
    said, movable = [], []
    for i, cell in enumerate(cells):
        kind = draw(st.sampled_from(["box", "ball", "facets"]))
        material = draw(st.sampled_from(["grey", "red"] if plain else ["grey", "red", "shiny"]))
        place = translate(*(c + number(-0.05, 0.05) for c in cell))
        size, id = number(0.22, 0.3), f"{kind}{i}"
        if kind == "ball":
            shapes.append(Sphere(id=id, material=material, center=place[:3, 3], radius=size))
            movable += [(id, n) for n in ("center", "radius", "translation", "scale")]
        else:
            turned = place @ rotate([number(-1, 1), 1, number(-1, 1)], number(0, 180))
            if kind == "box":
                shapes.append(cube(turned @ scale(size, size * number(0.5, 1), size * number(0.5, 1)), id=id, material=material))
            else:
                v, faces = ball_mesh(4)
                m = turned @ scale(1.2 * size)
                shapes.append(Mesh(id=id, material=material, vertices=v @ m[:3, :3].T + m[:3, 3], faces=faces))
            movable += [(id, n) for n in ("translation", "rotation", "scale", "vertices")]
        said.append(f"{kind}/{material}")
    names = draw(st.lists(st.sampled_from(LIGHTS), min_size=1, max_size=2, unique=True))
    lights = _add_lights(draw, number, names, shapes, movable)
    movable += [("camera", n) for n in ("position", "rotation", "fov", "principal_point")]
    instances, seen = [], ""
    if not plain and draw(st.integers(0, 3)) == 0:  # one part is seen through an instance
        shapes[1].group = "group"
        instances, seen = [Instance("group", np.eye(4), "placed")], f", {shapes[1].id} seen through 'placed'"
        movable = [m for m in movable if m[0] != shapes[1].id] + [("placed", n) for n in ("translation", "rotation", "scale")]
    owner, name = draw(st.sampled_from(sorted(movable)))
    path = f"{owner}.{name}"
    scene = with_kinds(
        Scene(
            camera=camera([number(-0.5, 0.5), number(2.0, 2.8), 3.0], [0, 0.4, 0], 40, PIXELS),
            materials=materials, shapes=shapes, lights=lights, instances=instances,
        )
    )  # fmt: skip
    scene.integrator.max_depth, scene.integrator.rr_depth = draw(st.integers(2, 3)), 100
    if not plain:
        _add_hidden(scene)
    step = {"fov": 0.6, "principal_point": 0.006, "vertices": 0.08, "rotation": 0.06}.get(name, 0.03)
    if path == "camera.rotation":
        step = 0.01
    how = f"{path} in {' '.join(said)} under {'+'.join(names)}, depth {scene.integrator.max_depth}{seen}"
    return Moving(scene, path, step, draw(st.integers(0, 2**31)), how, (owner.rstrip("0123456789"), name, *sorted(names)))


def _add_lights(draw, number, names, shapes, movable) -> list[Light]:
    lights = []
    for name in names:
        at = np.array([number(-0.8, 0.8), number(2.1, 2.6), number(-0.3, 0.9)])
        down = look_at(at, [number(-0.3, 0.3), 0.3, number(-0.3, 0.3)], [0.1, 0, 1])
        if name == "lamp":
            shapes.append(
                rectangle(down @ scale(number(0.2, 0.5)), id="lamp", material="black", light=Light("lamp", "area", {"radiance": 8.0}))
            )
            movable += [("lamp", n) for n in ("translation", "rotation", "scale", "vertices")]
        elif name == "glow":
            shapes.append(
                Sphere(id="glow", material="black", center=at, radius=number(0.1, 0.25), light=Light("glow", "area", {"radiance": 20.0}))
            )
            movable += [("glow", n) for n in ("center", "radius", "translation")]
        elif name == "sky":
            lights.append(Light("sky", "constant", {"radiance": 0.5}))
        elif name == "bulb":
            lights.append(Light("bulb", "point", {"intensity": 3.0}, translate(*at)))
            movable.append(("bulb", "translation"))
        elif name == "beam":
            lights.append(Light("beam", "spot", {"intensity": 9.0, "cutoff_angle": 50.0, "beam_width": 20.0}, down))
            movable += [("beam", "translation"), ("beam", "rotation")]
        else:
            lights.append(Light("sun", "directional", {"irradiance": 2.0}, down))
            movable.append(("sun", "rotation"))
    return lights


def _add_hidden(scene: Scene) -> None:
    """What a scene may lack of the kinds, so that all scenes share their kernels: far below, black."""
    used = {s.material for s in scene.shapes}
    below = translate(0, -900, 0)
    for material in scene.materials:
        if material.id not in used:
            scene.shapes.append(rectangle(below @ scale(1e-3), id=f"below_{material.id}", material=material.id))
    if not scene.instances:
        scene.shapes.append(rectangle(scale(1e-3), id="below_part", material="black", group="hidden"))
        scene.instances.append(Instance("hidden", below))


def drawn(n: int, plain: bool = False) -> list[Moving]:
    """n scenes, the same in every run, no two of which move the same thing under the same lights."""
    found: dict[tuple, Moving] = {}

    @seed(1)
    @settings(
        max_examples=10 * n, derandomize=False, database=None, deadline=None, phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )  # fmt: skip
    @given(stagings(plain))
    def collect(staging):
        found.setdefault(staging.kind, staging)

    collect()
    return list(found.values())[:n]
