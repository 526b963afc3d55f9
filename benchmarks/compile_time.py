"""How long the first picture and the first gradient take. Run ``python -m benchmarks.compile_time [--row NAME ...]``.

Each row is a scene and a kernel. It is run in a process of its own with an empty kernel cache (cold), then in another
with the cache that the first left (warm). Seconds are counted from ``init`` to the first result of a tiny picture, so
they hold the graphs, Taichi's walk over the Python code, its passes and LLVM, but not the imports; ``process`` is all of
the second process, imports included. CPU seconds stand beside, for machines that do other things as well.
Writes JSON where --out names a file.
"""

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from datetime import datetime, timezone
from pathlib import Path

# name -> (OpenPBR values, or None for a scene with plain diffuse surfaces; the numbers that a gradient asks for)
FULL = {
    "base_metalness": 0.3, "base_diffuse_roughness": 0.4, "specular_roughness": 0.3, "specular_roughness_anisotropy": 0.3,
    "transmission_weight": 0.4, "transmission_dispersion_scale": 0.5, "subsurface_weight": 0.3, "coat_weight": 0.5,
    "coat_roughness": 0.2, "coat_roughness_anisotropy": 0.2, "fuzz_weight": 0.3, "thin_film_weight": 0.5,
    "geometry_opacity": 0.8,
}  # fmt: skip
SCENES = {
    "diffuse": (None, ["m.reflectance"]),
    "openpbr diffuse and metal": ({"base_metalness": 0.5}, ["m.base_color", "m.specular_roughness"]),
    "openpbr base and coat": (
        {"base_metalness": 0.5, "coat_weight": 0.5},
        ["m.base_color", "m.specular_roughness", "m.coat_weight"],
    ),
    "openpbr glass": ({"transmission_weight": 1.0}, ["m.specular_ior", "m.specular_roughness"]),
    "openpbr whole": (FULL, ["m.base_color", "m.specular_roughness", "m.coat_weight"]),
}
MODES = ("forward", "gradient")


def once(name: str, mode: str, arch: str) -> dict:
    """Seconds of the first result, in this process."""
    import numpy as np

    import irys_ti as it
    from irys_ti.scene import Material
    from irys_ti.scene.preview_ball import preview_ball

    values, params = SCENES[name]
    kind, values = ("diffuse", {"reflectance": 0.5}) if values is None else ("openpbr", values)
    began, cpu = time.perf_counter(), time.process_time()
    it.init(arch)
    scene = preview_ball(Material("m", kind, dict(values)), 8)
    if mode == "forward":
        it.render(scene, 1)
    else:
        it.backward(scene, np.ones((8, 8, 3)), 1, params=params)
    return {"wall": time.perf_counter() - began, "cpu": time.process_time() - cpu}


def row(name: str, mode: str, arch: str) -> dict:
    """Cold and warm start of one scene and kernel, each in a process of its own."""
    found = {"scene": name, "kernel": mode}
    with tempfile.TemporaryDirectory() as cache:
        env = {**os.environ, "TI_OFFLINE_CACHE_FILE_PATH": cache}
        command = [sys.executable, "-m", "benchmarks.compile_time", "--once", name, mode, "--arch", arch]
        for start in ("cold", "warm"):
            began = time.perf_counter()
            out = subprocess.run(command, env=env, capture_output=True, text=True, check=True).stdout
            seconds = json.loads(out.splitlines()[-1])
            found[start] = {**seconds, "process": time.perf_counter() - began}
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--arch", default="cpu")
    parser.add_argument("--row", action="append", choices=list(SCENES), help="scenes to run (default: all)")
    parser.add_argument("--machine", default=platform.processor() or platform.machine())
    parser.add_argument("--out")
    parser.add_argument("--once", nargs=2, metavar=("SCENE", "KERNEL"), help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.once:
        print(json.dumps(once(*args.once, args.arch)))
        return
    rows = []
    for name in args.row or SCENES:
        for mode in MODES:
            rows.append(row(name, mode, args.arch))
            r = rows[-1]
            cold, warm = r["cold"], r["warm"]
            print(f"{name:28} {mode:9} cold {cold['wall']:6.1f} s ({cold['cpu']:6.1f} s of CPU)   "
                  f"warm {warm['wall']:5.1f} s, process {warm['process']:5.1f} s", flush=True)  # fmt: skip
    if args.out:
        when = datetime.now(timezone.utc).strftime("%Y-%m-%d")
        head = {"machine": args.machine, "arch": args.arch, "cores": os.cpu_count(), "date": when}
        Path(args.out).write_text(json.dumps({**head, "rows": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
