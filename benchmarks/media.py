"""What media cost: a homogeneous one, the same as a constant grid, an uneven grid, and walks below a surface.

    python benchmarks/media.py [--size 128] [--spp 64] [--arch cpu]

The first three are a ball of scattering fog in a box over a floor, on the same paths but for what decides collisions: their
pictures agree within noise. They take turns, and medians count, so that what else runs on the machine slows all alike.
"""

import argparse
import time

import numpy as np

import irys_ti as it
from irys_ti import runtime
from tests.helpers.media import blob, smoke
from tests.helpers.walks import SKIN, on_floor


def timed(scene, spp: int, seed: int) -> tuple[float, float, float]:
    """(seconds, seconds of all cores, mean) of a picture."""
    began, worked = time.perf_counter(), time.process_time()
    image = it.render(scene, spp, seed=seed)
    return time.perf_counter() - began, time.process_time() - worked, float(image.mean())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--size", type=int, default=128)
    parser.add_argument("--spp", type=int, default=64)
    parser.add_argument("--arch", default="auto")
    parser.add_argument("--rounds", type=int, default=7)
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
    found = {name: [] for name in scenes}
    for scene in scenes.values():
        timed(scene, 1, 0)
    for k in range(args.rounds):
        for name, scene in scenes.items():
            found[name].append(timed(scene, args.spp, k))
    first = np.median(found["homogeneous"], 0)
    for name, rows in found.items():
        seconds, worked, mean = np.median(rows, 0)
        paths = n * n * args.spp / seconds
        print(
            f"{name:22s} {seconds:8.3f} s  {paths / 1e6:7.2f} M paths/s  {seconds / first[0]:5.2f} times the first, "
            f"{worked / first[1]:5.2f} of the cores' time  mean {mean:.4f}"
        )


if __name__ == "__main__":
    main()
