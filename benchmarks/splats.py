"""Splats beside triangles: seconds to read and to build, rays per second. Run ``python -m benchmarks.splats FILE``.

The set (a capture, or made at random) against a mesh of as many triangles within the same sphere, and against one small
triangle where each splat is. Rays of one kernel: from cameras around (primary), from points within in random directions
(bounce). The trees' rays run in turns, and the ratio is of each turn; the middle of all is told. JSON where --out
names a file.
"""

import argparse
import json
import time

import numpy as np

import irys_ti as it
from benchmarks.bvh import bumpy_sphere
from irys_ti import runtime
from irys_ti.device.geometry import Geometry
from irys_ti.kernels import bvh
from irys_ti.kernels.geometry.splats import ray_key
from irys_ti.runtime import ti
from irys_ti.scene import Camera, Film, Material, Mesh, Scene
from irys_ti.scene.transform import look_at


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
    kinds: ti.template(),
    width: ti.template(),
):
    for i in range(n):
        o = ti.Vector([rays[6 * i], rays[6 * i + 1], rays[6 * i + 2]])
        d = ti.Vector([rays[6 * i + 3], rays[6 * i + 4], rays[6 * i + 5]])
        stack = ti.Vector.zero(ti.i32, bvh.stack_sizes(width)[0])
        stack_t = ti.Vector.zero(float, bvh.stack_sizes(width)[1])
        t, prim, u, v, inst = bvh.intersect(
            reals, ints, nodes, node_refs, blocks, block_prims, o, d, 1e30, 0, kinds, width, stack, stack_t,
            ray_key(ti.u32(1), i, 0, False),
        )  # fmt: skip
        out[i] = t


def scene_of(shape) -> Scene:
    return Scene(
        camera=Camera(look_at([0, 0, 9], [0, 0, 0], [0, 1, 0]), 40, film=Film(8, 8)), shapes=[shape],
        materials=[Material("m", "diffuse", {"reflectance": 0.5})],
    )  # fmt: skip


def meshes(splats, seed: int = 0) -> dict:
    """The two meshes to compare with."""
    n, rng = len(splats), np.random.default_rng(seed)
    center, radius = sphere_of(splats)
    out = {"mesh": bumpy_sphere(n) * radius + center}
    size = splats.scale.mean(1)[:, None, None]
    out["pieces"] = splats.position[:, None] + 2 * size * rng.normal(size=(n, 3, 3))
    return {
        k: Mesh(id=k, material="m", vertices=v.reshape(-1, 3), faces=np.arange(3 * len(v)).reshape(-1, 3)) for k, v in out.items()
    }


def sphere_of(splats) -> tuple[np.ndarray, float]:
    """Centre and radius of most of a set."""
    center = np.median(splats.position, 0)
    return center, float(np.quantile(np.linalg.norm(splats.position - center, axis=1), 0.9))


def ray_sets(center, radius: float, n: int) -> dict:
    """{name: (n, 6)}; neighbours in a primary set look at neighbouring points, as pixels do."""
    rng, side = np.random.default_rng(1), int(np.sqrt(n / 4))
    primary = []
    for turn in range(4):
        a = 0.4 + turn * np.pi / 2
        to_world = look_at(center + radius * 3.0 * np.array([np.sin(a), 0.3, np.cos(a)]), center, [0, 1, 0])
        x, y = np.meshgrid(*[np.linspace(-0.38, 0.38, side)] * 2)
        d = np.stack([x, y, np.ones_like(x)], -1).reshape(-1, 3) @ to_world[:3, :3].T
        primary.append(np.c_[np.broadcast_to(to_world[:3, 3], d.shape), d / np.linalg.norm(d, axis=1, keepdims=True)])
    d = rng.standard_normal((n, 3))
    inside = center + radius * 0.5 * rng.standard_normal((n, 3))
    return {"primary": np.concatenate(primary), "bounce": np.c_[inside, d / np.linalg.norm(d, axis=1, keepdims=True)]}


def tracer(shape, rays: np.ndarray):
    """(work, hits): a call that traces all rays, and what it finds."""
    from irys_ti.device.compile import compiled

    device = compiled(scene_of(shape))
    device.config("primal")
    accel, out, sent = device.geometry.accel, runtime.zeros(len(rays)), runtime.array(rays.reshape(-1))
    arrays = accel.device()

    def work():
        trace(device.reals, device.ints, *arrays, sent, out, len(rays), accel.kinds, accel.width)
        ti.sync()

    return work, out


def measure(splats, n_rays: int, repeats: int) -> dict:
    """Rates of one set, in millions of rays per second (of CPU time on the CPU), and their ratios to the meshes'."""
    clock = time.perf_counter if runtime.is_gpu() else time.process_time
    shapes, row = {"splats": splats, **meshes(splats)}, {"splats": len(splats)}
    for name, rays in ray_sets(*sphere_of(splats), n_rays).items():
        works = {k: tracer(shape, rays) for k, shape in shapes.items()}
        times = {k: [] for k in works}
        for turn in range(repeats + 1):
            for k, (work, _) in works.items():
                began = clock()
                work()
                if turn:
                    times[k].append(clock() - began)
        t = {k: np.array(x) for k, x in times.items()}
        for k in works:
            row[f"{name} {k} Mrays/s"] = round(len(rays) / float(np.median(t[k])) / 1e6, 3)
            row[f"{name} {k} hits"] = float((works[k][1].to_numpy() > 0).mean())
        for k in ("mesh", "pieces"):
            row[f"{name} rate over {k}"] = round(float(np.median(t[k] / t["splats"])), 4)
    return row


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", nargs="?", help="a capture; none: 90,000 splats at random")
    parser.add_argument("--arch", default="cpu")
    parser.add_argument("--rays", type=int, default=1 << 17)
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--out", help="JSON file to write")
    args = parser.parse_args()
    arch = runtime.init(args.arch)
    began = time.perf_counter()
    if args.file:
        splats = it.read_splats(args.file)
        it.relight(splats)
    else:
        rng, n = np.random.default_rng(0), 90_000
        splats = it.Splats(id="s", position=rng.normal(size=(n, 3)), scale=rng.uniform(0.004, 0.02, (n, 3)),
                           rotation=rng.normal(size=(n, 4)), opacity=rng.uniform(0.1, 1, n), albedo=np.full((n, 3), 0.5))  # fmt: skip
    read = time.perf_counter() - began
    began = time.perf_counter()
    Geometry(scene_of(splats)).build()
    row = {"read s": round(read, 3), "tree s": round(time.perf_counter() - began, 3), **measure(splats, args.rays, args.repeats)}
    for k, v in row.items():
        print(f"{k:28} {v}")
    if args.out:
        with open(args.out, "w") as file:
            json.dump({"arch": arch, **row}, file, indent=1)


if __name__ == "__main__":
    main()
