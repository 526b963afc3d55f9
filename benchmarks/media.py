"""What media cost: a homogeneous one, the same as a constant grid, an uneven grid, and walks below a surface.

    python benchmarks/media.py [--size 128] [--spp 64] [--arch cpu]

The first three are a ball of scattering fog in a box over a floor, on the same paths but for what decides collisions: their
pictures agree within noise. Every picture is made thrice; the fastest counts. Run it alone on the machine.
"""

import argparse
import time

import numpy as np

import irys_ti as it
from irys_ti import runtime
from tests.helpers.media import blob, smoke
from tests.helpers.walks import SKIN, on_floor


def fastest(scene, spp: int) -> tuple[float, float]:
    """(seconds of the fastest of three pictures, mean of the last)."""
    it.render(scene, 1)
    times = []
    for k in range(3):
        began = time.perf_counter()
        image = it.render(scene, spp, seed=k)
        times.append(time.perf_counter() - began)
    return min(times), float(image.mean())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--size", type=int, default=128)
    parser.add_argument("--spp", type=int, default=64)
    parser.add_argument("--arch", default="auto")
    args = parser.parse_args()
    runtime.init(args.arch)
    n = args.size
    scenes = {
        "homogeneous": smoke(None, n),
        "constant grid, 16^3": smoke(np.ones((16, 16, 16)), n),
        "constant grid, 128^3": smoke(np.ones((128, 128, 128)), n),
        "uneven grid, 64^3": smoke(blob(64), n),
        "skin": on_floor(SKIN, n),
    }
    first = None
    for name, scene in scenes.items():
        seconds, mean = fastest(scene, args.spp)
        first = first or seconds
        paths = n * n * args.spp / seconds
        print(f"{name:22s} {seconds:8.3f} s  {paths / 1e6:7.2f} M paths/s  {seconds / first:5.2f} times the first  mean {mean:.4f}")


if __name__ == "__main__":
    main()
