"""Rays per second among a million hair segments, and among as many triangles, in one run.

    python benchmarks/curves.py [--segments 1000000] [--rays 1000000] [--arch cpu]

Hair: strands of 16 Catmull-Rom spans on a ball, seen from outside. Triangles: a bumpy ball of the same size, and the same
hair as strips of triangles. Rays: from a camera, in rows of the picture. Every launch runs thrice; the fastest counts.
"""

import argparse
import time

import numpy as np

import irys_ti as it
from irys_ti import runtime
from irys_ti.kernels import bvh, geometry
from irys_ti.kernels.geometry import curve
from irys_ti.runtime import array, zeros
from tests.helpers.rays import Pools, trace_rays


def hair(n: int, style: str, radius: float = 0.0005) -> it.Curves:
    """About n spans."""
    rng, m, k = np.random.default_rng(0), n // 16, 17
    root = rng.standard_normal((m, 3))
    root /= np.linalg.norm(root, axis=1, keepdims=True)
    ahead, points = root.copy(), [root]
    for _ in range(k - 1):
        ahead = ahead + [0.0, -0.12, 0.0] + 0.1 * rng.standard_normal((m, 3))
        ahead /= np.linalg.norm(ahead, axis=1, keepdims=True)
        points.append(points[-1] + 0.03 * ahead)
    return it.Curves(points=np.stack(points, 1).reshape(-1, 3), radii=radius, offsets=np.arange(m + 1) * k, style=style)


def ball(n: int) -> np.ndarray:
    """About n triangles (n, 3, 3)."""
    rows = int(np.sqrt(n / 4))
    theta, phi = np.meshgrid(np.linspace(0, np.pi, rows + 1), np.linspace(0, 2 * np.pi, 2 * rows + 1), indexing="ij")
    r = 1.25 + 0.05 * np.sin(40 * phi) * np.sin(40 * theta)
    p = r[..., None] * np.stack([np.sin(theta) * np.cos(phi), np.cos(theta), np.sin(theta) * np.sin(phi)], -1)
    a, b, c, d = p[:-1, :-1], p[1:, :-1], p[1:, 1:], p[:-1, 1:]
    return np.concatenate([np.stack([a, b, c], -2).reshape(-1, 3, 3), np.stack([a, c, d], -2).reshape(-1, 3, 3)])


def strips(shape: it.Curves) -> np.ndarray:
    """The same strands as flat strips of triangles (n, 3, 3), two for each span: every other strand, so that there are
    as many triangles as spans."""
    k = int(shape.offsets[1])
    p = shape.points.reshape(-1, k, 3)[::2]
    along = np.gradient(p, axis=1)
    across = np.cross(along, [0.0, 0.0, 1.0])
    across *= shape.radii[0] / np.maximum(np.linalg.norm(across, axis=2, keepdims=True), 1e-12)
    a, b, c, d = (p - across)[:, :-1], (p + across)[:, :-1], (p + across)[:, 1:], (p - across)[:, 1:]
    return np.concatenate([np.stack([a, b, c], -2).reshape(-1, 3, 3), np.stack([a, c, d], -2).reshape(-1, 3, 3)])


def rate(pools, tree, o, d) -> tuple[float, float]:
    """(rays per second, share that hit)."""
    n, best = len(o), np.inf
    rays, reach, hits, found = array(np.c_[o, d]), array(np.full(n, 1e30)), zeros(3 * n), zeros(2 * n, np.int32)
    for _ in range(4):  # the first compiles
        start = time.perf_counter()
        trace_rays(pools.reals, pools.ints, *tree.device(), rays, reach, hits, found, n, 0, tree.kinds, tree.width)
        prims = found.to_numpy()[: 2 * n : 2]
        best = min(best, time.perf_counter() - start)
    return n / best, float((prims >= 0).mean())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--segments", type=int, default=1_000_000)
    parser.add_argument("--rays", type=int, default=1_000_000)
    parser.add_argument("--arch", default="cpu")
    args = parser.parse_args()
    runtime.init(args.arch, "f32")
    side = int(np.sqrt(args.rays))
    x, y = np.meshgrid(np.linspace(-0.4, 0.4, side), np.linspace(-0.4, 0.4, side))
    d = np.stack([x.ravel(), y.ravel(), -np.ones(side * side)], 1)
    d /= np.linalg.norm(d, axis=1, keepdims=True)
    o = np.tile([0.0, 0.0, 4.0], (len(d), 1))
    bases = []
    for what, corners in (("a ball of", ball(args.segments)), ("hair of", strips(hair(args.segments, "round")))):
        pools = Pools()
        prims = pools.triangles(corners)
        pools.finish()
        none = np.zeros(0, np.int32)
        found, share = rate(pools, bvh.build(corners, prims, np.zeros((0, 6)), none, none), o, d)
        bases.append(found)
        print(f"{what} {len(prims):,} triangles: {found / 1e6:.2f} M rays/s, {share:.0%} hit")
    for style in ("round", "ribbon"):
        shape = hair(args.segments, style)
        start = time.perf_counter()
        pieces = shape.pieces()
        cut = time.perf_counter() - start
        pools = Pools()
        prims = pools.records_of("curve", pieces)
        pools.finish()
        start = time.perf_counter()
        kinds = np.full(len(prims), geometry.kind_index("curve"))
        world = bvh.PrimSet(other_bounds=curve.bounds(pieces), other_prims=prims, other_kinds=kinds, other_lanes=curve.lane_numbers(pieces))
        tree = bvh.build_scene(world, [], [])
        built = time.perf_counter() - start
        found, share = rate(pools, tree, o, d)
        print(
            f"{len(shape.splits):,} spans in {len(prims):,} pieces, {style}: {found / 1e6:.2f} M rays/s, {share:.0%} hit, "
            f"{found / bases[0]:.2f} and {found / bases[1]:.2f} of the triangles' rates; cut in {cut:.1f} s, tree in {built:.1f} s"
        )


if __name__ == "__main__":
    main()
