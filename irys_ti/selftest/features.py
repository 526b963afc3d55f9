"""Proofs of what the renderer carries beyond plain surfaces: OpenPBR, media, splats, hair, the sky, outlines and shadows.

One small scene each. On every backend its paths are replayed bit for bit, two runs give the same bits, and its gradients
are the f64 tier's over the paths that decide alike.
"""

from __future__ import annotations

import numpy as np

from .. import reference, tiers
from ..api import backward, render
from ..check.differences import weight_image
from ..scene import (
    Camera,
    Curves,
    Film,
    Integrator,
    Light,
    Material,
    Medium,
    Scene,
    Sphere,
    Splats,
    constant,
    points,
    rectangle,
    rgb,
)  # fmt: skip
from ..scene.preview_ball import preview_ball
from ..scene.transform import look_at, rotate, scale, translate

SEED, PIXELS, SPP = 5, 24, 16
MOST_DIFFERENCE = 5e-4  # of media, hair and splats; surfaces keep tiers.MOST_DIFFERENCE
MOST_EFFECT = 0.5  # standard errors by which rounding may move a gradient that has sampled edges


def _scene(shapes, materials=(), lights=(), depth=5, **more) -> Scene:
    """On a white floor, under a lamp."""
    above = translate(0.8, 2.5, 0.6) @ rotate([1, 0, 0], 90) @ scale(0.5)
    return Scene(
        camera=Camera(look_at([0, 1.2, 4.2], [0, 0.5, 0], [0, 1, 0]), 30, film=Film(PIXELS, PIXELS)),
        materials=[
            Material("white", "diffuse", {"reflectance": constant(0.7)}),
            Material("black", "diffuse", {"reflectance": constant(0.0)}),
            *materials,
        ],
        shapes=[
            rectangle(rotate([1, 0, 0], -90) @ scale(3), id="ground", material="white"),
            rectangle(above, id="lamp", material="black", light=Light("lamp", "area", {"radiance": points([400, 700], [6, 9])})),
            *shapes,
        ],
        lights=list(lights) or [Light("around", "constant", {"radiance": constant(0.4)})],
        integrator=Integrator(depth, depth),
        **more,
    )  # fmt: skip


def openpbr() -> tuple[Scene, list[str]]:
    """Coated, glinting, fuzzy paint under an environment map."""
    values = {
        "base_color": rgb(0.6, 0.3, 0.1), "base_metalness": 0.3, "specular_roughness": 0.35, "coat_weight": 0.6,
        "coat_roughness": 0.2, "fuzz_weight": 0.3, "fuzz_roughness": 0.5,
    }  # fmt: skip
    return preview_ball(Material("paint", "openpbr", values), PIXELS), [f"paint.{name}" for name in values]


def media() -> tuple[Scene, list[str]]:
    """A cloud of coloured fog whose density is a grid."""
    rng = np.random.default_rng(3)
    values = {"sigma_t": points([400, 700], [1.8, 1.2]), "albedo": points([400, 700], [0.8, 0.7]), "g": 0.4, "emission": 0.1}
    values["density"] = rng.uniform(0, 2, (8, 8, 8))
    box = translate(-0.7, 0.0, -0.7) @ scale(1.4)
    fog = Medium("fog", "grid", values, "hg", to_world=box)
    ball = Sphere(id="cloud", material="open", interior="fog", center=np.array([0.0, 0.7, 0.0]), radius=0.7)
    scene = _scene([ball], [Material("open", "null")], depth=32, media=[fog])
    return scene, [f"fog.{name}" for name in values]


def splats() -> tuple[Scene, list[str]]:
    """A cloud of two hundred overlapping splats."""
    rng = np.random.default_rng(4)
    n = 200
    cloud = Splats(
        id="cloud", position=rng.normal(size=(n, 3)) * 0.3 + [0, 0.7, 0], scale=rng.uniform(0.03, 0.12, (n, 3)),
        rotation=rng.normal(size=(n, 4)), opacity=rng.uniform(0.2, 0.95, n), albedo=rng.uniform(0.1, 0.9, (n, 3)),
    )  # fmt: skip
    return _scene([cloud], depth=4), ["cloud.albedo", "cloud.opacity"]


def hair() -> tuple[Scene, list[str]]:
    """Sixty bent strands, thick and few bounces: each turns a path by many times what rounding moved it."""
    rng = np.random.default_rng(6)
    root = np.c_[rng.uniform(-0.7, 0.7, (60, 1)), np.zeros((60, 1)), rng.uniform(-0.4, 0.4, (60, 1))]
    bend = rng.normal(size=(60, 1, 3)) * [0.15, 0.0, 0.15]
    t = np.linspace(0, 1, 5)[None, :, None]
    p = root[:, None] + t * [0, 1.2, 0] + t * t * bend
    tress = Curves(id="tress", material="hair", points=p.reshape(-1, 3), radii=0.05, offsets=5 * np.arange(61), basis="catmull-rom")
    scene = _scene([tress], [Material("hair", "hair", {"eumelanin": 0.5})], depth=4)
    return scene, [f"hair.{name}" for name in ("eumelanin", "beta_m", "beta_n", "tilt", "ior")]


def sky() -> tuple[Scene, list[str]]:
    """A rough metal ball under sun and sky."""
    sun = Light("sky", "sky", {"turbidity": 3.5, "sun_elevation": 40.0, "sun_azimuth": 120.0})
    ball = Sphere(id="ball", material="metal", center=np.array([0.0, 0.6, 0.0]), radius=0.6)
    scene = _scene([ball], [Material("metal", "roughconductor", {"alpha": 0.3})], [sun])
    return scene, ["sky.turbidity", "sky.sky_scale", "sky.sun_scale", "metal.alpha"]


def alike(make, most: float):
    """A proof: replayed to the bit, the same bits twice, f64's gradients over the paths that decide alike."""

    def prove(quick: bool):
        scene, paths = make()
        weight = weight_image(scene)
        first, second = (backward(scene, weight, SPP, SEED, paths) for _ in range(2))
        same = all(np.array_equal(first[p], second[p]) for p in paths)
        found = tiers.compare(scene, paths, SPP, SEED, weight)
        # A gradient that all but cancels is held against its standard error.
        differences = {p: d.difference * d.size / max(d.size, d.noise) for p, d in found.parameters.items()}
        worst = max(differences, key=differences.get)
        equal, lanes = first.replayed
        zero = [p for p in paths if not np.any(first[p])]
        ok = same and equal == lanes and not zero and differences[worst] <= most and found.different <= max(4, lanes // 1000)
        text = (
            f"{equal} of {lanes} paths replayed bit for bit; two runs {'the same bits' if same else 'DIFFER'}; largest "
            f"difference to f64 {differences[worst]:.1e} ({worst}); {found.different} paths decide otherwise"
        )
        figures = {"lanes": lanes, "equal": equal, "same": same, "zero": zero, "different": found.different}
        return ok, text, {**figures, "difference": differences}

    return prove


def outlines(quick: bool):
    """Outlines and shadows of a part that moves: the same bits twice, and within noise of the f64 tier's."""
    ball = Sphere(id="ball", material="metal", center=np.array([0.0, 0.6, 0.0]), radius=0.6)
    card = rectangle(translate(-0.9, 0.5, 0.6) @ scale(0.4), id="card", material="white")
    scene = _scene([ball, card], [Material("metal", "roughconductor", {"alpha": 0.3})])
    paths = ["ball.translation", "card.translation", "card.rotation"]
    weight = weight_image(scene)
    first, second = (backward(scene, weight, 4 * SPP, SEED, paths) for _ in range(2))
    inside = backward(scene, weight, 4 * SPP, SEED, paths, boundary="off")
    exact = reference.backward(scene, weight, 4 * SPP, SEED, paths)
    same = all(np.array_equal(first[p], second[p]) for p in paths)
    off, edges = (
        max(float(np.linalg.norm(first[p] - x[p]) / np.linalg.norm(exact.stderr[p])) for p in paths) for x in (exact, inside)
    )
    ok = same and off < MOST_EFFECT < edges
    text = (
        f"two runs {'the same bits' if same else 'DIFFER'}; f32 and f64 {off:.2g} standard errors apart; edges make {edges:.0f}"
    )
    return ok, text, {"same": same, "off": off, "edges": edges}


def pictures(quick: bool):
    """Every scene's picture is the f64 tier's but for few pixels, in which a path went another way."""
    worst = {}
    for name, make in SCENES.items():
        scene, _ = make()
        here, there = render(scene, SPP, SEED), reference.render(scene, SPP, SEED)
        worst[name] = float(np.mean(np.abs(here - there) > 1e-3 * there.mean()))
    ok = max(worst.values()) < 0.05
    return ok, "; ".join(f"{n} {x:.2%} of values differ" for n, x in worst.items()), worst


SCENES = {"OpenPBR": openpbr, "media": media, "splats": splats, "hair": hair, "sky": sky}
FEATURES = {
    "OpenPBR": alike(openpbr, tiers.MOST_DIFFERENCE),
    "media": alike(media, MOST_DIFFERENCE),
    "splats": alike(splats, MOST_DIFFERENCE),
    "hair": alike(hair, MOST_DIFFERENCE),
    "sun and sky": alike(sky, tiers.MOST_DIFFERENCE),
    "outlines and shadows": outlines,
    "pictures of all of these": pictures,
}
