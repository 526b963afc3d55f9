"""Error at equal time: irys_ti against Cycles, on scenes that both build from one description, without a denoiser.

python -m benchmarks against_cycles --cycles PYTHON

PYTHON is an interpreter that has bpy. Each renderer's pictures are held against a converged picture of its own, since
sky models and colours differ a little; the noise of that picture, known from its two halves, is taken off. A budget is a
render's wall time, from the call to the file; each renderer takes as many samples as fit, and the error is put to the
exact time by its inverse proportion. Error: mean of (picture - converged)^2 / (converged^2 + 0.01 mean^2).
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import tempfile
from datetime import datetime, timezone
from pathlib import Path

import numpy as np

import irys_ti as it
from benchmarks.rooms import ROOMS, neutral, write_xml
from benchmarks.sides import Side


class Renderer:
    """One side: pictures by number of samples, and how long they take."""

    def __init__(self, side: Side, folder: Path):
        self.side, self.file, self.seed = side, str(folder / "picture.exr"), 0

    def picture(self, spp: int) -> tuple[np.ndarray, float]:
        self.seed += 1
        _, seconds = self.side.ask("render", spp=spp, seed=self.seed, out=self.file)
        return it.read_image(self.file)[..., :3].astype(np.float64), seconds

    def speed(self) -> tuple[float, float]:
        """Seconds of a picture without samples, and of each sample: from a small and a larger picture."""
        self.picture(1)  # compiles, builds the tree
        few = np.median([self.picture(1)[1] for _ in range(3)])
        many = np.median([self.picture(9)[1] for _ in range(3)])
        each = max((many - few) / 8, 1e-4)
        return max(few - each, 0.0), each

    def converged(self, seconds: float, spent: tuple[float, float]) -> tuple[np.ndarray, np.ndarray]:
        """Two independent pictures, of half the time each."""
        spp = max(16, int(0.5 * seconds / spent[1]))
        return self.picture(spp)[0], self.picture(spp)[0]


def error(picture: np.ndarray, a: np.ndarray, b: np.ndarray) -> float:
    """Relative mean squared error against the mean of two converged pictures, less that mean's own noise."""
    mean = 0.5 * (a + b)
    scale = 1.0 / (mean**2 + 0.01 * np.mean(mean) ** 2)
    noise = 0.25 * np.mean((a - b) ** 2 * scale)
    return float(np.mean((picture - mean) ** 2 * scale) - noise)


def compare(name: str, sides: dict[str, Renderer], budgets: list[float], long: float) -> list[dict]:
    """A row a budget."""
    spent = {who: r.speed() for who, r in sides.items()}
    best = {who: r.converged(long, spent[who]) for who, r in sides.items()}
    rows = []
    for budget in budgets:
        row = {"scene": name, "seconds": budget}
        for who, r in sides.items():
            spp = max(1, int((budget - spent[who][0]) / spent[who][1]))
            repeats = 3 if budget < 1 else 1
            seen = [r.picture(spp) for _ in range(repeats)]
            took, wrong = np.median([t for _, t in seen]), np.mean([error(p, *best[who]) for p, _ in seen])
            row[who] = {"spp": spp, "took": float(took), "error": float(wrong), "error at budget": float(wrong * took / budget)}
        row["ratio"] = row["Cycles"]["error at budget"] / row["irys_ti"]["error at budget"]
        rows.append(row)
    return rows


def table(rows: list[dict]) -> str:
    """Markdown; a ratio over 1 is ours."""
    text = "| scene | seconds | samples, ours | Cycles | error, ours | Cycles | ratio |\n" + "| --- " * 7 + "|\n"
    for row in rows:
        a, b = row["irys_ti"], row["Cycles"]
        text += f"| {row['scene']} | {row['seconds']:g} | {a['spp']} | {b['spp']} | {a['error at budget']:.3g} | "
        text += f"{b['error at budget']:.3g} | **{row['ratio']:.2f}** |\n"
    ours = sum(row["ratio"] > 1 for row in rows)
    return text + f"\nLower error at {ours} of {len(rows)} budgets.\n"


def plot(rows: list[dict], path: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    names = list(dict.fromkeys(row["scene"] for row in rows))
    figure, axes = pyplot.subplots(1, len(names), figsize=(3.4 * len(names), 3.2), squeeze=False)
    for ax, name in zip(axes[0], names):
        for who in ("irys_ti", "Cycles"):
            mine = [row for row in rows if row["scene"] == name]
            ax.loglog([r["seconds"] for r in mine], [r[who]["error at budget"] for r in mine], "o-", label=who)
        ax.set_title(name)
        ax.set_xlabel("seconds")
        ax.legend()
    axes[0][0].set_ylabel("relative squared error")
    figure.tight_layout()
    figure.savefig(path, dpi=110)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cycles", required=True, metavar="PYTHON", help="an interpreter that has bpy")
    parser.add_argument("--arch", default="cpu")
    parser.add_argument("--size", type=int, default=128)
    parser.add_argument("--shortest", type=float, default=0.125, help="seconds; eight more budgets double it")
    parser.add_argument("--long", type=float, default=60.0, help="seconds of each converged picture")
    parser.add_argument("--scenes", default=",".join(ROOMS))
    parser.add_argument("--machine", default=platform.processor() or platform.machine())
    parser.add_argument("--out", type=Path, help="JSON to write; a table (.md) and a plot (.png) go beside it")
    args = parser.parse_args()
    budgets, rows = [args.shortest * 2**k for k in range(9)], []
    with tempfile.TemporaryDirectory() as name, Side("benchmarks.sides.irys", sys.executable) as ours:
        with Side("benchmarks.sides.cycles", args.cycles) as theirs:
            folder = Path(name)
            for scene in args.scenes.split(","):
                room = ROOMS[scene]
                ours.ask("load", file=str(write_xml(room, folder, args.size)), params=[], variant=args.arch)
                theirs.ask("load", room=neutral(room), size=args.size)
                sides = {"irys_ti": Renderer(ours, folder), "Cycles": Renderer(theirs, folder)}
                rows += compare(scene, sides, budgets, args.long)
                print(table([row for row in rows if row["scene"] == scene]), flush=True)
            names = [side.ask("facts")[0] for side in (ours, theirs)]
    print(table(rows))
    if args.out:
        when = datetime.now(timezone.utc).strftime("%Y-%m-%d")
        head = {"machine": args.machine, "cores": os.cpu_count(), "date": when, "sides": names, "size": args.size}
        args.out.write_text(json.dumps({**head, "rows": rows}, indent=1) + "\n")
        args.out.with_suffix(".md").write_text(table(rows))
        plot(rows, args.out.with_suffix(".png"))


if __name__ == "__main__":
    main()
