"""Trees: time to build and to refit, rays per second, rays that leak. Run ``python -m benchmarks.bvh``.

The scene is a bumpy closed sphere of about the given number of triangles. Rays: ``primary`` from a camera
outside, ``bounce`` from inside in random directions, ``shadow`` any-hit rays that start at a sphere around
it. Prints a table, and writes JSON where --out names a file.
"""

import argparse
import json
import time

import numpy as np

from irys_ti import runtime
from irys_ti.kernels import bvh
from irys_ti.runtime import ti

NOTHING = (np.zeros((0, 6)), np.zeros(0, np.int32), np.zeros(0, np.int32))


@ti.kernel
def trace(
    reals: ti.types.ndarray(ndim=1),
    ints: ti.types.ndarray(ndim=1),
    nodes: ti.types.ndarray(ndim=1),
    node_refs: ti.types.ndarray(ndim=1),
    blocks: ti.types.ndarray(ndim=1),
    block_prims: ti.types.ndarray(ndim=1),
    rays: ti.types.ndarray(ndim=1),
    out: ti.types.ndarray(ndim=1),
    n: int,
    any_hit: int,
    kinds: ti.template(),
    width: ti.template(),
):
    for i in range(n):
        o = ti.Vector([rays[6 * i], rays[6 * i + 1], rays[6 * i + 2]])
        d = ti.Vector([rays[6 * i + 3], rays[6 * i + 4], rays[6 * i + 5]])
        stack = ti.Vector.zero(ti.i32, bvh.stack_sizes(width)[0])
        stack_t = ti.Vector.zero(float, bvh.stack_sizes(width)[1])
        t, prim, u, v, inst = bvh.intersect(
            reals, ints, nodes, node_refs, blocks, block_prims, o, d, 1e30, any_hit, kinds, width, stack, stack_t
        )
        out[i] = t


def bumpy_sphere(n: int) -> np.ndarray:
    """(about n, 3, 3) corners of a closed mesh whose shared vertices are the same to the bit."""
    m = max(3, int(np.sqrt(n / 4)))
    theta, phi = np.linspace(0, np.pi, m + 1), 2 * np.pi * (np.arange(2 * m + 1) % (2 * m)) / (2 * m)
    t, p = np.meshgrid(theta, phi, indexing="ij")
    r = 1 + 0.1 * np.sin(9 * t) * np.sin(7 * p) * np.sin(t)
    x = np.stack([r * np.sin(t) * np.cos(p), r * np.sin(t) * np.sin(p), r * np.cos(t)], -1)
    x[0], x[-1] = (0, 0, 1), (0, 0, -1)
    x = x.astype(np.float32)
    a, b, c, d = x[:-1, :-1], x[1:, :-1], x[1:, 1:], x[:-1, 1:]
    return np.concatenate([np.stack([a, b, c], 2), np.stack([a, c, d], 2)], 2).reshape(-1, 3, 3)


def ray_sets(n: int) -> dict:
    """{name: (rays (n, 6), any_hit)}."""
    rng = np.random.default_rng(1)
    around = rng.standard_normal((n, 3))
    around /= np.linalg.norm(around, axis=1, keepdims=True)
    away = rng.standard_normal((n, 3))
    side = int(np.sqrt(n))
    cell = np.arange(n)
    y, z = (((cell // side + 0.5) / side) * 2.4 - 1.2, ((cell % side + 0.5) / side) * 2.4 - 1.2)
    eye = np.tile([3.0, 0.0, 0.0], (n, 1))
    return {
        "primary": (np.c_[eye, np.c_[np.zeros(n), y, z] - eye], 0),
        "bounce": (np.c_[0.3 * around, away], 0),
        "shadow": (np.c_[1.15 * around, away], 1),
    }


def best_of(times: int, work) -> float:
    """Shortest of several runs, in seconds."""
    best = np.inf
    for _ in range(times):
        start = time.perf_counter()
        work()
        ti.sync()
        best = min(best, time.perf_counter() - start)
    return best


def measure(n: int, width: int, n_rays: int) -> dict:
    """All figures of one size."""
    corners = bumpy_sphere(n)
    prims = np.arange(len(corners), dtype=np.int32)
    times = 3 if n < 1e5 else 1
    row = {"triangles": len(corners), "build_s": best_of(times, lambda: bvh.build(corners, prims, *NOTHING, width))}
    accel = bvh.build(corners, prims, *NOTHING, width)
    row["refit_s"] = best_of(times, lambda: accel.refit(corners))
    arrays, none, none_int = accel.device(), runtime.zeros(1), runtime.zeros(1, np.int32)
    row["refit_and_upload_s"] = best_of(times, lambda: accel.refit(corners))
    out = runtime.zeros(n_rays)
    for name, (rays, any_hit) in ray_sets(n_rays).items():
        device_rays = runtime.array(rays)

        def run(device_rays=device_rays, any_hit=any_hit):
            trace(none, none_int, *arrays, device_rays, out, n_rays, any_hit, accel.kinds, width)

        first = best_of(1, run)
        row[f"{name}_rays_per_s"] = n_rays / best_of(5, run)
        row.setdefault("first_call_s", first)
        if name == "bounce":
            row["leaks"] = int(np.count_nonzero(out.to_numpy() < 0))
    row["stack_need"] = accel.stack_need
    return row


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--arch", default="cpu")
    parser.add_argument("--precision", default="f32")
    parser.add_argument("--threads", type=int)
    parser.add_argument("--width", type=int, choices=(2, 8), help="children per node; default: what suits the backend")
    parser.add_argument("--sizes", type=int, nargs="+", default=[36, 40_000, 983_000, 2_430_000])
    parser.add_argument("--rays", type=int, default=1 << 20)
    parser.add_argument("--out", help="JSON file to write")
    args = parser.parse_args()
    arch = runtime.init(args.arch, args.precision, args.threads)
    width = args.width or bvh.default_width()
    rows = []
    print(f"{arch} {args.precision}, width {width}; rays in millions per second")
    print("triangles    build    refit  first call  primary   bounce   shadow  leaks  stack")
    for n in args.sizes:
        row = measure(n, width, args.rays)
        rows.append(row)
        speeds = "".join(f"{row[f'{name}_rays_per_s'] / 1e6:9.2f}" for name in ("primary", "bounce", "shadow"))
        print(
            f"{row['triangles']:9d} {row['build_s']:8.3f} {row['refit_s']:8.3f} {row['first_call_s']:11.2f}"
            f"{speeds} {row['leaks']:6d} {row['stack_need']:6d}"
        )
    if args.out:
        with open(args.out, "w") as file:
            json.dump({"arch": arch, "precision": args.precision, "width": width, "rows": rows}, file, indent=1)


if __name__ == "__main__":
    main()
