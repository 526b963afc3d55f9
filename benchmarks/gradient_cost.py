"""What a gradient costs in forward renders. Run ``python -m benchmarks.gradient_cost SCENE.xml [...]``.

For each scene, at one sample count: a forward render (it.render), one backward pass (it.backward) and one estimate of
it.gradient, which makes two; and the kernels alone. Interleaved runs of one process, medians and spreads; the ratio is
what counts. Writes JSON where --out names a file.
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


def once(function) -> float:
    """Seconds of one call, the device idle before and after."""
    ti.sync()
    began = time.perf_counter()
    function()
    ti.sync()
    return time.perf_counter() - began


def cost(path: str, size: int, spp: int, repeats: int) -> dict:
    """Times of one scene file and their ratios."""
    scene = it.load(path)
    scene.camera.film.width = scene.camera.film.height = size
    ones = np.ones((size, size, 3))
    paths = [p for p in it.parameters(scene).differentiable() if p.split(".")[1] in ("alpha", "reflectance")]
    work = {
        "render": lambda: it.render(scene, spp),
        "backward": lambda: it.backward(scene, ones, spp, params=paths),
        "gradient": lambda: it.gradient(scene, it.L2(0 * ones), spp, params=paths),
    }
    for function in work.values():
        function()
    seconds = {name: [] for name in work}
    for _ in range(repeats):
        for name, function in work.items():
            seconds[name].append(once(function))
    render, backward, gradient = (np.array(seconds[name]) for name in work)
    return {
        "scene": Path(path).stem,
        "parameters": paths,
        "seconds": {name: [min(x), float(np.median(x)), max(x)] for name, x in seconds.items()},
        "million paths a second": size * size * spp / float(np.median(render)) / 1e6,
        "backward / render": spread(backward / render),
        "one of two estimates / render": spread(gradient / 2 / render),
    }


def spread(x: np.ndarray) -> list:
    """Smallest, median and largest."""
    return [round(float(v), 3) for v in (x.min(), np.median(x), x.max())]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("scenes", nargs="+")
    parser.add_argument("--arch", default="auto")
    parser.add_argument("--size", type=int, default=256)
    parser.add_argument("--spp", type=int, default=64)
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--machine", default=platform.processor() or platform.machine())
    parser.add_argument("--out")
    args = parser.parse_args()
    arch = runtime.init(args.arch)
    rows = [cost(path, args.size, args.spp, args.repeats) for path in args.scenes]
    for row in rows:
        print(json.dumps(row))
    if args.out:
        when = datetime.now(timezone.utc).strftime("%Y-%m-%d")
        head = {"machine": args.machine, "arch": arch, "date": when, "size": args.size, "spp": args.spp}
        Path(args.out).write_text(json.dumps({**head, "rows": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
