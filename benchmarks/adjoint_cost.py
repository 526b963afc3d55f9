"""A tape, radiative backpropagation and path replay on one scene, as depth grows: memory and time of each.

python -m benchmarks adjoint_cost [--out docs/theory/adjoint_cost.json]: a table, and a plot beside the JSON.
"""

from __future__ import annotations

import argparse
import json
import platform
import time
from datetime import datetime, timezone
from pathlib import Path

import numpy as np

from benchmarks import adjoints
from irys_ti import runtime
from irys_ti.device.sums import exact_totals
from irys_ti.kernels.accumulate import FAULTS, WORDS
from irys_ti.runtime import ti

DEPTHS = (2, 4, 8, 16, 32, 64)
ALBEDO = (0.8, 0.7, 0.9, 0.6, 0.85, 0.75)
METHODS = ("tape", "radiative", "replay")


class Room:
    """The three adjoints of one number of paths; ``bytes``: what the last gradient kept on the device."""

    def __init__(self, n: int, albedo=ALBEDO):
        self.n, self.bytes = n, 0
        self.albedo = runtime.array(np.array(albedo, np.float64))

    def gradient(self, method: str, depth: int, seed: int) -> np.ndarray:
        """d(mean radiance) / d(albedo) of the six walls."""
        words = FAULTS + adjoints.REPLICAS * adjoints.WALLS * WORDS
        acc = runtime.zeros(words, np.uint32)
        self.bytes = 4 * words
        if method == "tape":
            reals = self.n * depth * adjoints.TAPE_REALS
            self.bytes += reals * np.dtype(runtime.real_dtype()).itemsize
            adjoints.tape(self.albedo, runtime.zeros(reals), acc, self.n, depth, seed)
        else:
            getattr(adjoints, method)(self.albedo, acc, self.n, depth, seed)
        sums = acc.to_numpy()[FAULTS:].reshape(adjoints.REPLICAS, adjoints.WALLS, WORDS)
        return exact_totals(sums, adjoints.REPLICAS, adjoints.WALLS, 1)[0] / adjoints.UNIT / self.n

    def loss(self, depth: int, seed: int) -> float:
        """The mean radiance."""
        out = runtime.zeros(self.n)
        adjoints.forward(self.albedo, out, self.n, depth, seed)
        return float(out.to_numpy().astype(np.float64).mean())


def measure(n: int, repeats: int, depths=DEPTHS) -> list[dict]:
    """A row a depth: median seconds of a forward pass and of each gradient, run in turn, and the bytes each keeps."""
    room, rows = Room(n), []
    work = {"forward": lambda depth, seed: room.loss(depth, seed)}
    work |= {m: lambda depth, seed, m=m: room.gradient(m, depth, seed) for m in METHODS}
    for run in work.values():  # compile
        run(2, 0)
    for depth in depths:
        seconds, kept = {name: [] for name in work}, {}
        for seed in range(repeats):
            for name, run in work.items():
                ti.sync()
                began = time.perf_counter()
                run(depth, seed + 1)
                ti.sync()
                seconds[name].append(time.perf_counter() - began)
                kept[name] = room.bytes
        rows.append({"depth": depth, "seconds": {k: float(np.median(v)) for k, v in seconds.items()},
                     "bytes": {m: kept[m] for m in METHODS}})  # fmt: skip
    return rows


def table(rows: list[dict]) -> str:
    """Markdown: time in forward passes of the same depth, and memory in MiB."""
    head = "| depth | " + " | ".join(f"{m}, time" for m in METHODS) + " | " + " | ".join(f"{m}, MiB" for m in METHODS) + " |\n"
    lines = [head, "| --- " * 7 + "|\n"]
    for row in rows:
        times = [f"{row['seconds'][m] / row['seconds']['forward']:.2f}" for m in METHODS]
        memory = [f"{row['bytes'][m] / 2**20:.2f}" for m in METHODS]
        lines.append(f"| {row['depth']} | {' | '.join(times + memory)} |\n")
    return "".join(lines)


def plot(rows: list[dict], path: Path) -> None:
    """Time and memory by depth."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(1, 2, figsize=(9, 3.6))
    depths = [row["depth"] for row in rows]
    for m in METHODS:
        axes[0].plot(depths, [row["seconds"][m] for row in rows], "o-", label=m)
        axes[1].plot(depths, [row["bytes"][m] / 2**20 for row in rows], "o-", label=m)
    axes[0].plot(depths, [row["seconds"]["forward"] for row in rows], "k--", label="forward alone")
    for ax, text in zip(axes, ("seconds", "MiB kept")):
        ax.set_xscale("log", base=2)
        ax.set_yscale("log")
        ax.set_xlabel("depth")
        ax.set_ylabel(text)
        ax.legend()
    figure.tight_layout()
    figure.savefig(path, dpi=110)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--arch", default="cpu")
    parser.add_argument("--paths", type=int, default=1 << 16)
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--machine", default=platform.processor() or platform.machine())
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    arch = runtime.init(args.arch)
    rows = measure(args.paths, args.repeats)
    print(table(rows))
    if args.out:
        when = datetime.now(timezone.utc).strftime("%Y-%m-%d")
        head = {"machine": args.machine, "arch": arch, "date": when, "paths": args.paths}
        args.out.write_text(json.dumps({**head, "rows": rows}, indent=1) + "\n")
        args.out.with_suffix(".md").write_text(table(rows))
        plot(rows, args.out.with_suffix(".png"))


if __name__ == "__main__":
    main()
