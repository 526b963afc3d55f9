"""Noise of sun and sky at equal time, against uniform sampling. Run ``python -m benchmarks.sky``.

A ball on a floor under the sky, one bounce. The same kernel renders it by the light's own tables and by tables that draw
every direction of the sphere alike, with no samples for the sun of its own. The noise is the root of the mean variance over
independent seeds, of linear sRGB, against the picture's mean; what counts is noise times the root of time. Interleaved runs
of one process. Writes JSON where --out names a file.
"""

import argparse
import json
import platform
import time
from datetime import datetime, timezone
from pathlib import Path

import numpy as np

import irys_ti as it
from irys_ti import runtime
from irys_ti.device.compile import compiled
from irys_ti.device.environment import SKY_HEIGHT, SKY_WIDTH, cumulative
from irys_ti.kernels.light import sky
from irys_ti.runtime import ti
from irys_ti.scene import Camera, Film, Integrator, Light, Material, Scene, Sphere, rectangle
from irys_ti.scene.transform import look_at, rotate, scale


def ball(size: int, **values) -> Scene:
    """A grey ball on a white floor."""
    return Scene(
        camera=Camera(look_at([0, 2.4, 6], [0, 0.8, 0], [0, 1, 0]), 38, film=Film(size, size)),
        materials=[Material("white", "diffuse", {"reflectance": 0.8}), Material("grey", "diffuse", {"reflectance": 0.4})],
        shapes=[
            rectangle(rotate([1, 0, 0], -90) @ scale(30), id="floor", material="white"),
            Sphere(id="ball", material="grey", center=np.array([0.0, 1.0, 0.0]), radius=1.0),
        ],
        lights=[Light("sky", "sky", values)],
        integrator=Integrator(2, 100),
    )  # fmt: skip


def make_uniform(scene: Scene) -> None:
    """Draw every direction of the sphere alike, until a value of the scene changes."""
    device = compiled(scene)
    at = device.lights.cdf_at
    device.mirror_reals[at : at + 3] = 0.0, 1.0, 1.0  # all samples to the first part
    edges = np.cos(np.pi * np.arange(SKY_HEIGHT + 1) / SKY_HEIGHT)
    table = cumulative(np.repeat((edges[:-1] - edges[1:])[:, None], SKY_WIDTH, 1))
    at = device.lights.data_at[0] + sky.DATA_CELLS
    device.mirror_reals[at : at + table.size] = table
    device.upload_head()


def measure(name: str, values: dict, size: int, spp: int, seeds: int, uniform_seeds: int) -> dict:
    """Noise and time of both ways of sampling."""
    ours, uniform = ball(size, **values), ball(size, **values)
    it.render(ours, 1)
    make_uniform(uniform)
    found = {"own tables": (ours, seeds), "uniform": (uniform, uniform_seeds)}
    out = {"sky": values, "size": size, "spp": spp}
    pictures = {way: [] for way in found}
    seconds = {way: [] for way in found}
    for seed in range(max(seeds, uniform_seeds)):
        for way, (scene, n) in found.items():
            if seed < n:
                ti.sync()
                began = time.perf_counter()
                pictures[way].append(it.render(scene, spp, 100 + seed))
                seconds[way].append(time.perf_counter() - began)
    for way in found:
        x = np.array(pictures[way], np.float64)
        noise = float(np.sqrt(x.var(0, ddof=1).mean()) / x.mean())
        out[way] = {"relative noise": noise, "mean": float(x.mean()), "seconds": float(np.median(seconds[way]))}
    a, b = out["own tables"], out["uniform"]
    out["noise of uniform / own, equal time"] = (
        b["relative noise"] / a["relative noise"] * float(np.sqrt(b["seconds"] / a["seconds"]))
    )
    print(name, json.dumps({k: v for k, v in out.items() if k not in ("sky", "size", "spp")}))
    return {"case": name, **out}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=int, default=48)
    parser.add_argument("--spp", type=int, default=64)
    parser.add_argument("--seeds", type=int, default=12)
    parser.add_argument("--uniform-seeds", type=int, default=48, help="more, since the sun is met once in 200,000 samples")
    parser.add_argument("--arch", default="cpu")
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    runtime.init(args.arch, "f32")
    clear = {"turbidity": 3.0, "sun_elevation": 35.0, "sun_azimuth": 120.0}
    cases = {"sun and sky": clear, "low sun": {**clear, "sun_elevation": 8.0}, "sky alone": {**clear, "sun_scale": 0.0}}
    rows = [measure(n, v, args.size, args.spp, args.seeds, args.uniform_seeds) for n, v in cases.items()]
    if args.out:
        head = {"date": datetime.now(timezone.utc).isoformat(timespec="seconds"), "machine": platform.machine()}
        facts = {"arch": args.arch, "precision": "f32", "irys_ti": it.__version__}
        args.out.write_text(json.dumps({**head, **facts, "cases": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
