"""``irys-ti selftest``: does this machine compute what it should?

For each backend, in a process of its own: bit-for-bit replay, exact sums, results that do not depend on threads,
tiling or crop, closed forms, and gradients against the f64 tier. Figures go to a JSON file, which shows what a
machine that nobody else has can do.
"""

from __future__ import annotations

import json
import time
from dataclasses import asdict, dataclass, field
from datetime import datetime, timezone
from pathlib import Path

from ..process import Process
from .machine import backends, facts
from .proofs import PROOFS, Proof

ARCHS = ("cpu", "cuda", "vulkan", "metal")
THREADS = "threads"  # the one proof that needs two processes
DEFAULT_FILE = "irys_ti_selftest.json"


@dataclass
class Backend:
    """One backend's proofs."""

    arch: str
    precision: str
    proofs: list[Proof] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def ok(self) -> bool:
        return all(p.ok for p in self.proofs)


def selftest(archs=None, quick: bool = False, only=None, tell=lambda backend, proof: None) -> list[Backend]:
    """Prove every backend (``archs``: these alone; ``only``: these proofs); tell(backend, proof) hears of each."""
    unknown = [name for name in only or () if name not in (*PROOFS, THREADS)]
    if unknown:
        raise ValueError(f"there is no proof named {unknown[0]!r}; there are: {', '.join((*PROOFS, THREADS))}")
    out = []
    for arch, precision in backends(archs):
        backend, began = Backend(arch, precision), time.perf_counter()

        def note(proof: Proof, backend=backend):
            backend.proofs.append(proof)
            tell(backend, proof)

        process = Process((arch, precision), f"{arch} {precision} process")
        try:
            process.call("irys_ti.selftest.proofs:run", quick, only, note)
            if arch == "cpu" and (not only or THREADS in only):
                note(_threads(precision, quick))
        except (RuntimeError, ValueError) as error:
            note(Proof("start", False, str(error)))
        finally:
            process.close()
        backend.seconds = round(time.perf_counter() - began, 1)
        out.append(backend)
    return out


def _threads(precision: str, quick: bool) -> Proof:
    """One thread and two give the same bits, each in a process of its own."""
    began, prints = time.perf_counter(), {}
    for threads in (1, 2):
        process = Process(("cpu", precision, threads), f"process of {threads} thread(s)")
        try:
            prints[f"{threads} thread(s)"] = process.call("irys_ti.selftest.proofs:fingerprint", quick)
        finally:
            process.close()
    ok = len(set(prints.values())) == 1
    text = f"one thread and two: {'the same bits' if ok else 'DIFFERENT bits'}"
    return Proof(THREADS, ok, text, {"fingerprints": prints}, round(time.perf_counter() - began, 2))


def as_json(results: list[Backend], quick: bool) -> str:
    """Everything that was found, and where."""
    return json.dumps(
        {
            "date": datetime.now(timezone.utc).isoformat(timespec="seconds"),
            "ok": all(b.ok for b in results),
            "quick": quick,
            **facts(),
            "backends": [{**asdict(b), "ok": b.ok} for b in results],
        },
        indent=1,
    )


# -- command line ---------------------------------------------------------------------------------------------


def add_arguments(parser) -> None:
    """Arguments of ``irys-ti selftest``."""
    parser.add_argument("--arch", action="append", choices=ARCHS, help="test this backend only; may be given again")
    parser.add_argument("--only", action="append", metavar="NAME", help="run this proof only; may be given again")
    parser.add_argument("--quick", action="store_true", help="fewer paths: a minute or two in place of several")
    parser.add_argument(
        "-o", "--out", type=Path, default=Path(DEFAULT_FILE), help=f"JSON file to write (default {DEFAULT_FILE})"
    )


def main(args) -> int:
    """``irys-ti selftest``: 0 where every proof held, else 1."""
    from rich.console import Console

    if not args.out.resolve().parent.is_dir():
        raise ValueError(f"{args.out}: its folder does not exist; make {args.out.parent} first")
    console = Console(highlight=False, soft_wrap=True)
    shown: list[Backend] = []

    def tell(backend: Backend, proof: Proof) -> None:
        if backend not in shown:
            shown.append(backend)
            console.print(f"[bold]{backend.arch} {backend.precision}[/]")
        word = "[green]ok  [/]" if proof.ok else "[bold red]FAIL[/]"
        console.print(f"  {word} {proof.name:26s} {proof.text} [dim]({proof.seconds:.1f} s)[/]")

    results = selftest(args.arch, args.quick, args.only, tell)
    args.out.write_text(as_json(results, args.quick) + "\n", encoding="utf-8")
    failed = sum(not p.ok for b in results for p in b.proofs)
    console.print(f"[bold red]{failed} failed[/]" if failed else "[green]every proof held[/]", f"; figures are in {args.out}", sep="")
    return 1 if failed else 0
