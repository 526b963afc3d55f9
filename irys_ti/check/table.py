"""The report of a check, for a terminal."""

from __future__ import annotations

import sys
from contextlib import contextmanager

from rich.console import Console
from rich.table import Table

COLOURS = {"ok": "green", "zero": "yellow", "noisy": "yellow", "FAIL": "bold red"}


@contextmanager
def progress(title: str, quiet: bool = False):
    """A bar on standard error, if that is a terminal: yields tell(fraction, text='')."""
    if quiet or not sys.stderr.isatty():
        yield lambda fraction, text="": None
        return
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn(), TextColumn("{task.fields[text]}"))
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(title, total=1.0, text="compiling")
        yield lambda fraction, text="": bar.update(task, completed=fraction, text=text)


def show(report, console: Console | None = None) -> None:
    """Print a report."""
    console = console or Console(width=None if sys.stdout.isatty() else 160, highlight=False)
    table = Table(title=f"gradients of sum(weight * image): {report.scene}, {report.arch} against f64")
    table.add_column("parameter", overflow="fold")
    for name in ("fast", "f64", "finite difference", "z", "f32 - f64", "seeds"):
        table.add_column(name, justify="right")
    table.add_column("")
    for row in report.rows:
        colour = COLOURS[row.verdict]
        table.add_row(
            row.label, f"{row.fast:.5g}", f"{row.exact:.5g}", f"{row.difference:.5g} +- {row.bar:.1g}", f"{row.z:+.1f}",
            "-" if row.tier != row.tier else f"{row.tier:.0e}", str(row.seeds), f"[{colour}]{row.verdict}[/]",
        )  # fmt: skip
    console.print(table)
    for row in report.rows:
        if row.note:
            console.print(f"[{COLOURS[row.verdict]}]{row.verdict}[/] {row.label}: {row.note}", markup=True)
    for tier, (equal, traced) in report.replayed.items():
        console.print(f"{tier}: {equal} of {traced} paths replayed bit for bit")
    console.print(f"{report.different} of {report.lanes} paths take another decision in f64 (hit, visibility, lobe, roulette)")
    for problem in report.problems:
        console.print(f"[bold red]FAIL[/] {problem}")
    failed = sum(row.verdict == "FAIL" for row in report.rows) + len(report.problems)
    console.print("[green]nothing failed[/]" if report.ok else f"[bold red]{failed} failed[/]")
