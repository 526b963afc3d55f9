"""Forward paths per second by scene size: irys_ti against Mitsuba 3, on the same scene files, in one run.

python -m benchmarks throughput --mitsuba PYTHON [--variant llvm_ad_spectral] [--arch cpu]

A room lit by one lamp, empty or around a bumpy sphere of so many triangles. Both make the same number of samples turn by
turn; the figure is Mitsuba's time over ours, medians and half the middle half of the times. Without --mitsuba our own
paths per second stand alone.
"""

import argparse
import json
import os
import platform
import sys
import tempfile
import time
from contextlib import ExitStack
from datetime import datetime, timezone
from pathlib import Path

import numpy as np

from benchmarks.against_mitsuba import spread
from benchmarks.bvh import bumpy_sphere
from benchmarks.scenes import HEAD, room
from benchmarks.sides import Side

VIEW = {"fov": 45, "eye": "0,1,3.4", "target": "0,1,0", "depth": 8, "rr": 1000}


def scene_file(folder: Path, triangles: int, size: int) -> Path:
    """The room with two balls (triangles 0), or with a bumpy sphere of about so many triangles in its middle."""
    body = room(balls=triangles == 0)
    if triangles:
        import trimesh

        corners = (0.6 * bumpy_sphere(triangles) + [0, 0.7, 0]).reshape(-1, 3)
        points, faces = np.unique(corners, axis=0, return_inverse=True)
        trimesh.Trimesh(points, faces.reshape(-1, 3), process=False).export(folder / f"sphere{triangles}.ply")
        body += f'<shape type="ply"><string name="filename" value="sphere{triangles}.ply"/><ref id="white"/></shape>\n'
    file = folder / f"room{triangles}.xml"
    file.write_text(HEAD.format(size=size, **VIEW) + body + "</scene>\n")
    return file


def measure(sides: dict[str, Side], variants: dict[str, str], file: Path, size: int, spp: int, repeats: int) -> dict:
    row = {"first picture": {}, "million paths a second": {}}
    seconds = {name: [] for name in sides}
    for name, side in sides.items():
        began = time.perf_counter()
        side.ask("load", file=str(file), params=[], variant=variants[name])
        side.ask("forward", seed=1, spp=1)
        row["first picture"][name] = time.perf_counter() - began
        side.ask("forward", seed=2, spp=spp)
    for k in range(repeats):
        for name, side in sides.items():
            seconds[name].append(side.ask("forward", seed=3 + k, spp=spp)[1])
    medians = {name: float(np.median(s)) for name, s in seconds.items()}
    row["million paths a second"] = {name: size * size * spp / m / 1e6 for name, m in medians.items()}
    if len(sides) > 1:
        row["time ratio"] = medians["Mitsuba"] / medians["irys_ti"]
        row["error"] = sum(spread(s) for s in seconds.values())
    return row


def table(rows: list[dict]) -> str:
    """Markdown."""
    names = list(rows[0]["first picture"])
    head = ["triangles", *(f"{n}: million paths/s" for n in names), *(f"{n}: load and first picture, s" for n in names)]
    lines = []
    for row in rows:
        cells = [f"{row['triangles']:,}"]
        cells += [f"{row['million paths a second'][n]:.2f}" for n in names] + [f"{row['first picture'][n]:.1f}" for n in names]
        if "time ratio" in row:
            cells.append(f"**{row['time ratio']:.2f}** +- {100 * row['error']:.0f} %")
        lines.append(f"| {' | '.join(cells)} |\n")
    head += ["Mitsuba's time over ours"] if len(names) > 1 else []
    return f"| {' | '.join(head)} |\n{'| --- ' * len(head)}|\n" + "".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mitsuba", metavar="PYTHON", help="an interpreter that has Mitsuba 3")
    parser.add_argument("--variant", default="llvm_ad_spectral")
    parser.add_argument("--arch", default="cpu", help="ours: cpu, cuda or vulkan")
    parser.add_argument("--size", type=int, default=256)
    parser.add_argument("--spp", type=int, default=32)
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--triangles", type=int, nargs="+", default=[0, 36_000, 1_000_000, 10_000_000])
    parser.add_argument("--machine", default=platform.processor() or platform.machine())
    parser.add_argument("--out", type=Path, help="JSON to write; a table (.md) goes beside it")
    args = parser.parse_args()
    rows, variants = [], {"irys_ti": args.arch, "Mitsuba": args.variant}
    with tempfile.TemporaryDirectory() as folder:
        for triangles in args.triangles:
            file = scene_file(Path(folder), triangles, args.size)
            with ExitStack() as stack:
                sides = {"irys_ti": stack.enter_context(Side("benchmarks.sides.irys", sys.executable))}
                if args.mitsuba:
                    sides["Mitsuba"] = stack.enter_context(Side("benchmarks.sides.mitsuba", args.mitsuba))
                row = measure(sides, variants, file, args.size, args.spp, args.repeats)
                facts = [side.ask("facts")[0] for side in sides.values()]
            rows.append({"triangles": triangles, **row})
            print(json.dumps(rows[-1]), flush=True)
    text = table(rows)
    print(text)
    if args.out:
        head = {
            "machine": args.machine, "cores": os.cpu_count(), "date": datetime.now(timezone.utc).strftime("%Y-%m-%d"),
            "sides": facts, "size": args.size, "spp": args.spp, "repeats": args.repeats,
        }  # fmt: skip
        args.out.write_text(json.dumps({**head, "rows": rows}, indent=1) + "\n")
        args.out.with_suffix(".md").write_text(f"# Throughput, {args.machine}\n\n{text}")


if __name__ == "__main__":
    main()
