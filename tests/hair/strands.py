"""Random strands, the scene they stand in, and what a tube of one radius is: the union of balls along its axis."""

import numpy as np

import irys_ti as it
from irys_ti.scene.transform import look_at


def strands(n, k=6, radius=0.02, wild=0.3, seed=0, basis="catmull-rom", style="round", **more) -> it.Curves:
    """n strands of k points, a step of 0.25 from one to the next."""
    rng = np.random.default_rng(seed)
    at, ahead = rng.uniform(-0.7, 0.7, (n, 3)), rng.standard_normal((n, 3))
    points = [at]
    for _ in range(k - 1):
        ahead = ahead / np.linalg.norm(ahead, axis=1, keepdims=True) + wild * rng.standard_normal((n, 3))
        points.append(points[-1] + 0.25 * ahead / np.linalg.norm(ahead, axis=1, keepdims=True))
    p = np.stack(points, 1).reshape(-1, 3)
    return it.Curves(points=p, radii=radius, offsets=np.arange(n + 1) * k, basis=basis, style=style, **more)


def furnace(curves, values=None, size=24, depth=100, kind="hair") -> it.Scene:
    """The curves under a sky of radiance 1 from everywhere."""
    curves.id, curves.material = "tress", "keratin"
    film = it.Film(size, size, filter="box")
    return it.Scene(
        camera=it.Camera(look_at([0, 0, 4], [0, 0, 0], [0, 1, 0]), fov=35, film=film),
        materials=[it.Material("keratin", kind, values or {})],
        shapes=[curves],
        lights=[it.Light("sky", "constant", {"radiance": 1.0})],
        integrator=it.Integrator(depth, 10_000),
    )


def on_curve(pieces: dict, piece, s) -> np.ndarray:
    """(n, 4) points and radii of pieces at their parameters s."""
    p = np.stack([pieces[f"p{i}"] for i in range(4)], 1)[piece]
    s = np.asarray(s)[:, None]
    return (1 - s) ** 3 * p[:, 0] + 3 * s * (1 - s) ** 2 * p[:, 1] + 3 * s * s * (1 - s) * p[:, 2] + s**3 * p[:, 3]


def hit_balls(pieces: dict, radius: float, o, d, per_piece=300) -> tuple[np.ndarray, np.ndarray]:
    """(n,) first distance to balls along the axes, inf for none; (n,) how deep the ray goes, 1 through an axis."""
    n = len(pieces["p0"])
    s = np.tile(np.linspace(0, 1, per_piece), n)
    balls = on_curve(pieces, np.repeat(np.arange(n), per_piece), s)[:, :3]
    first, depth = np.empty(len(o)), np.empty(len(o))
    for i in range(len(o)):
        x = balls - o[i]
        z = x @ d[i]
        inside = radius**2 - ((x - z[:, None] * d[i]) ** 2).sum(1)
        first[i] = np.where(inside > 0, z - np.sqrt(np.maximum(inside, 0)), np.inf).min()
        depth[i] = inside.max() / radius**2
    return first, depth
