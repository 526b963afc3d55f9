"""What a texture's gradient costs beside a constant's. Run ``python -m benchmarks.texture_gradient``.

The same lit floor, its colour (or roughness) once a constant and once a texture: a backward pass by that one
parameter, of the same kernel, in turns within one process; the ratio is what counts. Writes JSON where --out names a file.
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
from irys_ti.runtime import ti
from irys_ti.scene import Material, Texture, rgb
from irys_ti.scene.preview_ball import ball_of, preview_ball


def scenes(parameter: str, size: int, film: int) -> dict:
    """The ball in a constant, and in a texture that has that value all over, beside a second material that keeps the
    kernel the same for both."""
    out = {}
    grey = parameter != "base_color"
    texture = Texture(np.full((size, size, 1 if grey else 3), 0.5, np.float32))
    for name, value in (("constant", 0.5 if grey else rgb(0.5, 0.5, 0.5)), ("texture", texture)):
        scene = preview_ball(Material("m", "openpbr", {"base_metalness": 0.3, parameter: value}), film)
        scene.materials.append(Material("other", "openpbr", {"base_metalness": 0.3, parameter: texture}))
        scene.integrator.max_depth = 6
        assert ball_of(scene).material == "m"
        out[name] = scene
    return out


def seconds(scene, weights, spp: int, parameter: str) -> float:
    """Of one backward pass, the device idle before and after."""
    ti.sync()
    began = time.process_time() if not runtime.is_gpu() else time.perf_counter()
    it.backward(scene, weights, spp, params=[f"m.{parameter}"])
    ti.sync()
    return (time.process_time() if not runtime.is_gpu() else time.perf_counter()) - began


def row(parameter: str, size: int, film: int, spp: int, repeats: int) -> dict:
    """Ratio of texture to constant; seconds are of CPU time on the CPU."""
    pair, weights = scenes(parameter, size, film), np.ones((film, film, 3))
    for scene in pair.values():
        seconds(scene, weights, spp, parameter)
    found = np.array([[seconds(scene, weights, spp, parameter) for scene in pair.values()] for _ in range(repeats)])
    ratio = found[:, 1] / found[:, 0]
    return {
        "parameter": parameter, "texture": f"{size}x{size}", "constant s": float(np.median(found[:, 0])),
        "texture s": float(np.median(found[:, 1])),
        "ratio (least, median, largest)": [round(float(x), 3) for x in (ratio.min(), np.median(ratio), ratio.max())],
    }  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--arch", default="auto")
    parser.add_argument("--size", type=int, default=512, help="texels of the texture's side")
    parser.add_argument("--film", type=int, default=128)
    parser.add_argument("--spp", type=int, default=32)
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--machine", default=platform.processor() or platform.machine())
    parser.add_argument("--out")
    args = parser.parse_args()
    arch = runtime.init(args.arch)
    rows = [row(p, args.size, args.film, args.spp, args.repeats) for p in ("base_color", "specular_roughness")]
    for r in rows:
        print(json.dumps(r))
    if args.out:
        when = datetime.now(timezone.utc).strftime("%Y-%m-%d")
        head = {"machine": args.machine, "arch": arch, "date": when, "film": args.film, "spp": args.spp}
        Path(args.out).write_text(json.dumps({**head, "rows": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
