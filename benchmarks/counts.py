"""What does not depend on a machine's speed, counted: operations, launches, bytes, kernels. CI compares them.

python -m benchmarks counts [--write]: print what differs from benchmarks/results/counts.json, or write it anew. A
change that raises a count has to write the file, so that it is seen and meant.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path
from unittest import mock

import numpy as np

import irys_ti as it
from benchmarks.scenes import material_cases
from irys_ti import runtime
from irys_ti.graph.expr import Expr, count
from irys_ti.kernels.dispatch import bsdf_graphs
from irys_ti.kernels.path import trace_paths
from irys_ti.runtime import ti

FILE = Path(__file__).parent / "results" / "counts.json"
SIZE, SPP = 16, 16
MATERIALS = ("diffuse", "roughconductor", "dielectric", "roughdielectric", "openpbr")


def operations() -> dict:
    """Operations of each material's graphs: value and density, with sampling, and the adjoint by all parameters."""
    out = {}
    for name in MATERIALS:
        graphs = bsdf_graphs(name)
        part = "smooth" if graphs.smooth else "delta"
        parts = {"value": getattr(graphs, part), "sample": graphs.sample, "adjoint": getattr(graphs, part + "_vjp")}
        out[name] = {k: count([e for e in v if isinstance(e, Expr)]) for k, v in parts.items()}
    return out


@contextmanager
def watched(seen: dict):
    """Count the kernel launches and the bytes of new device arrays while the context lasts."""
    made, launched = ti.ndarray, ti.lang.kernel_impl.Kernel.__call__

    def ndarray(dtype, shape, **more):
        size = int(np.prod(shape)) * (8 if dtype in (ti.f64, ti.i64, ti.u64) else 4)
        seen["bytes"] = seen.get("bytes", 0) + size
        return made(dtype, shape, **more)

    def call(self, *args, **more):
        seen["launches"] = seen.get("launches", 0) + 1
        return launched(self, *args, **more)

    with mock.patch.object(ti, "ndarray", ndarray), mock.patch.object(ti.lang.kernel_impl.Kernel, "__call__", call):
        yield


def runs(folder: Path) -> dict:
    """A first and a second render and gradient of one scene, and what a changed value costs."""
    case = material_cases(folder, SIZE)[0]
    scene = it.load(case.file)
    weight, values, out = np.ones((SIZE, SIZE, 3)), it.parameters(scene), {}
    work = {
        "first render": lambda: it.render(scene, SPP),
        "render": lambda: it.render(scene, SPP),
        "first gradient": lambda: it.backward(scene, weight, SPP, params=list(case.params)),
        "gradient": lambda: it.backward(scene, weight, SPP, params=list(case.params)),
        "render of a changed value": lambda: (values.__setitem__("metal.alpha", 0.3), it.render(scene, SPP)),
    }
    for name, run in work.items():
        before, seen = len(trace_paths._primal.compiled_kernels), {"launches": 0, "bytes": 0}
        with watched(seen):
            run()
        out[name] = {**seen, "kernels compiled": len(trace_paths._primal.compiled_kernels) - before}
    return out


def counts() -> dict:
    """All of them, of the f32 tier on the CPU."""
    runtime.init("cpu", "f32")
    with tempfile.TemporaryDirectory() as folder:
        return {"operations": operations(), "runs": runs(Path(folder))}


def differences(told: dict, seen: dict, where: str = "") -> list[str]:
    """Lines 'where: told -> seen' for every number that differs."""
    lines = []
    for key in sorted(told.keys() | seen.keys()):
        a, b = told.get(key), seen.get(key)
        if isinstance(a, dict) and isinstance(b, dict):
            lines += differences(a, b, f"{where}{key}: ")
        elif a != b:
            lines.append(f"{where}{key}: {a} -> {b}")
    return lines


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true")
    found = counts() if parser.parse_args().write or not FILE.exists() else None
    if found is not None:
        FILE.write_text(json.dumps(found, indent=1) + "\n")
        return 0
    lines = differences(json.loads(FILE.read_text()), counts())
    print("\n".join(lines) or "as they were")
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main())
