"""Gradients at equal variance: irys_ti against Mitsuba 3, on the same scene files, in one run.

python -m benchmarks against_mitsuba --mitsuba PYTHON [--what poses] [--variant llvm_ad_spectral] [--arch cpu]

PYTHON is an interpreter that has Mitsuba; where its variant needs LLVM, DRJIT_LIBLLVM_PATH names it. Material gradients
are compared with its prb, of the film's mean; a part's translation along x with its prb_projective, of the film under a
smooth weight. Every renderer is first checked against its own central differences with common seeds: a row whose |z|
passes 4 is published as failed. Then both take the same number of samples, seed after seed in turn; the figure is
(variance x time) of Mitsuba over ours, the variance summed over a parameter's components. Against an RGB variant
variances are taken relative to the squared mean, since the parameters then are not the same numbers.
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

from benchmarks.scenes import Case, material_cases, pose_cases
from benchmarks.sides import Side

STEP = 0.01  # of the central differences


def check(side: Side, path: str, index: int, way: list | float, seeds: int, spp: int) -> dict:
    """A parameter's gradient along ``way`` against central differences of the same renderer."""
    told = np.array([np.sum(np.multiply(side.ask("gradient", seed=1000 + k, spp=spp)[0][index], way)) for k in range(seeds)])
    seen = []
    for k in range(seeds):
        low, high = (
            side.ask("image", seed=2000 + k, spp=spp, path=path, step=np.multiply(sign * STEP, way).tolist())[0] for sign in (-1, 1)
        )
        seen.append((high - low) / (2 * STEP))
    seen = np.array(seen)
    error = np.hypot(told.std(ddof=1), seen.std(ddof=1)) / np.sqrt(seeds)
    z = (told.mean() - seen.mean()) / max(error, 1e-12)
    return {"gradient": told.mean(), "difference": seen.mean(), "error": error, "z": z}


def compare(case: Case, ours: Side, theirs: Side, args) -> list[dict]:
    """Rows of one scene, a parameter each."""
    spectral = "spectral" in args.variant
    paths = [p for p in case.params if not (spectral and p in case.rgb_only)]
    keys = [case.params[p] for p in paths]
    poses = args.what == "poses"
    way, weight = ([1.0, 0.0, 0.0], "smooth") if poses else (1.0, "flat")
    integrator = {"type": "prb_projective" if poses else "prb"}
    ours.ask("load", file=str(case.file), params=paths, variant=args.arch, weight=weight)
    theirs.ask("load", file=str(case.file), params=keys, variant=args.variant, weight=weight, options=integrator)
    for side in (ours, theirs):  # compile, and warm up
        for seed in (90, 91):
            side.ask("gradient", seed=seed, spp=args.spp)
    checks = [
        [check(side, name, i, way, args.checks, args.spp) for i, name in enumerate(names)]
        for side, names in ((ours, paths), (theirs, keys))
    ]
    drawn, seconds = ([], []), ([], [])
    for seed in range(args.seeds):
        for which, side in enumerate((ours, theirs)):
            answer, took = side.ask("gradient", seed=seed + 1, spp=args.spp)
            drawn[which].append(answer)
            seconds[which].append(took)
    took = [float(np.median(s)) for s in seconds]
    rows = []
    for i, path in enumerate(paths):
        values = [np.array([answer[i] for answer in d], np.float64) for d in drawn]
        if poses:
            values = [v[:, :1] for v in values]
        variances = [v.var(0, ddof=1).sum() for v in values]
        if not spectral:
            variances = [x / max((v.mean(0) ** 2).sum(), 1e-30) for x, v in zip(variances, values)]
        ratio = variances[1] / max(variances[0], 1e-30)
        # Relative error of the ratio of two variances, and that of the times of one run.
        error = np.hypot(np.sqrt(4.0 / (args.seeds - 1)), spread(seconds[0]) + spread(seconds[1]))
        rows.append(
            {
                "scene": case.name, "parameter": path, "variance": variances, "seconds": took,
                "variance ratio": ratio, "time ratio": took[1] / took[0], "figure": ratio * took[1] / took[0],
                "error": float(error), "ours": checks[0][i], "Mitsuba": checks[1][i],
            }
        )  # fmt: skip
    return rows


def spread(seconds: list[float]) -> float:
    """Half the middle half of times over their median."""
    low, middle, high = np.quantile(seconds, (0.25, 0.5, 0.75))
    return float((high - low) / (2 * middle * np.sqrt(len(seconds))))


def table(rows: list[dict]) -> str:
    """Markdown."""
    head = "| scene | parameter | variance | time | figure | z of ours | z of Mitsuba |\n" + "| --- " * 7 + "|\n"
    lines = []
    for row in rows:
        z = [f"{row[s]['z']:.1f}" + (" failed" if abs(row[s]["z"]) > 4 else "") for s in ("ours", "Mitsuba")]
        numbers = f"{row['variance ratio']:.2f} | {row['time ratio']:.2f} | **{row['figure']:.2f}** +- {100 * row['error']:.0f} %"
        lines.append(f"| {row['scene']} | `{row['parameter']}` | {numbers} | {z[0]} | {z[1]} |\n")
    figures = np.array([row["figure"] for row in rows])
    mean = np.exp(np.log(figures).mean())
    return head + "".join(lines) + f"\nGeometric mean {mean:.2f}, smallest {figures.min():.2f}, largest {figures.max():.2f}.\n"


def plot(rows: list[dict], path: Path, title: str) -> None:
    """A bar a row, on a logarithmic scale; 1 is a draw."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(8, 0.3 * len(rows) + 1.2))
    names = [f"{row['scene']}: {row['parameter']}" for row in rows]
    axes.barh(names, [row["figure"] for row in rows], color=["C0" if row["figure"] >= 1 else "C3" for row in rows])
    axes.axvline(1, color="black", linewidth=0.8)
    axes.set_xscale("log")
    axes.invert_yaxis()
    axes.set_xlabel("variance x time of Mitsuba over ours")
    axes.set_title(title, loc="right", fontsize=9)
    figure.tight_layout()
    figure.savefig(path, dpi=110)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mitsuba", required=True, metavar="PYTHON", help="an interpreter that has Mitsuba 3")
    parser.add_argument("--what", choices=("materials", "poses"), default="materials")
    parser.add_argument("--variant", default="llvm_ad_spectral")
    parser.add_argument("--arch", default="cpu", help="ours: cpu, cuda or vulkan")
    parser.add_argument("--size", type=int, default=128)
    parser.add_argument("--spp", type=int, default=16)
    parser.add_argument("--seeds", type=int, default=32)
    parser.add_argument("--checks", type=int, default=12, help="seeds of each side's check against differences")
    parser.add_argument("--scenes", help="names, separated by commas")
    parser.add_argument("--machine", default=platform.processor() or platform.machine())
    parser.add_argument("--out", type=Path, help="JSON to write; a table (.md) and a plot (.png) go beside it")
    args = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        cases = {"materials": material_cases, "poses": pose_cases}[args.what](Path(folder), args.size)
        if args.scenes:
            cases = [c for c in cases if c.name in args.scenes.split(",")]
        for case in cases:
            with Side("benchmarks.sides.irys", sys.executable) as ours, Side("benchmarks.sides.mitsuba", args.mitsuba) as theirs:
                rows += compare(case, ours, theirs, args)
                names = [side.ask("facts")[0] for side in (ours, theirs)]
            print(table([row for row in rows if row["scene"] == case.name]), flush=True)
    print(table(rows))
    if args.out:
        head = {
            "machine": args.machine, "cores": os.cpu_count(), "date": datetime.now(timezone.utc).strftime("%Y-%m-%d"),
            "sides": names, "size": args.size, "spp": args.spp, "seeds": args.seeds,
        }  # fmt: skip
        args.out.write_text(json.dumps({**head, "rows": rows}, indent=1) + "\n")
        title = f"{names[0]['renderer']} ({args.arch}) against {names[1]['renderer']} ({args.variant}), {args.machine}"
        args.out.with_suffix(".md").write_text(f"# {title}\n\n{table(rows)}")
        plot(rows, args.out.with_suffix(".png"), title)


if __name__ == "__main__":
    main()
