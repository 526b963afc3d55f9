"""``irys-ti check SCENE``: are this scene's gradients right?

For each parameter: the fast tier's gradient of sum(weight * image), the f64 tier's, and the finite difference with
its error bar, over the same seeds; how many paths were replayed bit for bit; how far f32 is from f64 on equal
paths; and, for a gradient that is all zeros, why.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field, replace

import numpy as np

from .. import reference, runtime, tiers
from ..api import parameters, wanted
from ..scene import Scene
from .differences import Direction, differences, directions, gradients, weight_image
from .reasons import why_zero

Z_LIMIT = 3.8  # |z| above it fails: 1 in 7,000 lies beyond by chance, whatever the number of seeds
STEP_ERROR = 1e-3  # a central difference's own error, as a share of it: part of the error bar
NOISY = 0.1  # an error bar larger than this share of the gradient decides nothing
MOST_SEEDS = 4  # times the seeds asked for, while the error bar is too large


@dataclass
class Row:
    """One gradient number, or one random direction of a larger parameter.

    fast, exact: means of both tiers' gradients. difference: mean finite difference; bar: standard error of
    exact - difference, seed by seed, and of the step. tier: ||f32 - f64|| / ||f64|| on equal paths.
    verdict: "ok", "zero", "noisy" or "FAIL"; note says why.
    """

    label: str
    path: str
    fast: float
    exact: float
    difference: float
    bar: float
    z: float
    seeds: int
    tier: float
    verdict: str = "ok"
    note: str = ""


@dataclass
class Report:
    """What ``check`` found. replayed: {"fast" | "f64": (paths met again bit for bit, paths)}.

    lanes, different: paths compared between the tiers, and those whose discrete decisions differ.
    """

    scene: str
    arch: str
    rows: list[Row] = field(default_factory=list)
    replayed: dict[str, tuple[int, int]] = field(default_factory=dict)
    lanes: int = 0
    different: int = 0
    problems: list[str] = field(default_factory=list)

    @property
    def ok(self) -> bool:
        """Nothing failed; a row that is only noisy has not."""
        return not self.problems and all(row.verdict != "FAIL" for row in self.rows)

    def as_json(self) -> str:
        """Everything, as JSON; numbers that are not finite become null."""

        def plain(x):
            if isinstance(x, dict):
                return {k: plain(v) for k, v in x.items()}
            if isinstance(x, (list, tuple)):
                return [plain(v) for v in x]
            return None if isinstance(x, float) and not np.isfinite(x) else x

        return json.dumps(plain({**asdict(self), "ok": self.ok}), indent=1)


def check(
    scene: Scene, params=None, spp: int = 16, seeds: int = 16, step: float = 0.02, size: int = 64, tell=lambda f, text="": None
) -> Report:
    """Check the gradients of a scene in this process's tier.

    params: paths, default all that are differentiable. spp, seeds: samples per pixel of each of so many
    independent renders; more seeds are taken (up to 4 times) where the error bar is too large to tell. step: of
    the finite differences, in units of a value's size or its distance from the end of its range. size: the
    film's longer side is made this small, 0 leaves it. tell(fraction, text) hears of the progress.
    """
    runtime.ensure()
    scene = smaller(scene, size)
    paths = wanted(scene, params)
    weight = weight_image(scene)
    report = Report(scene.file, f"{runtime.state.arch} {runtime.state.precision}")

    tell(0.0, "both tiers on the same paths")
    alike = tiers.compare(scene, paths, spp, 1, weight)
    report.lanes, report.different = alike.lanes, alike.different
    if alike.different > max(1, tiers.MOST_LANES * alike.lanes):
        report.problems.append(f"{alike.different} of {alike.lanes} paths take other decisions in f64")

    moves = [move for path in paths for move in directions(scene, path, step)]
    rows = _measure(scene, report, moves, paths, weight, spp, seeds, tell)
    alive = {row.path for row in rows if row.fast or row.exact}
    alive |= {path for path, found in alike.parameters.items() if np.any(found.exact) or np.any(found.fast)}
    for row in rows:
        _judge(scene, row, alike.parameters[row.path], row.path not in alive)
    for tier, (equal, traced) in report.replayed.items():
        if equal != traced:
            report.problems.append(f"{traced - equal} of {traced} paths were not replayed bit for bit ({tier})")
    report.rows = rows
    return report


def smaller(scene: Scene, size: int) -> Scene:
    """A copy of the scene whose film's longer side is at most ``size`` pixels; the scene's arrays are shared."""
    film = scene.camera.film
    if size <= 0 or max(film.width, film.height) <= size:
        return replace(scene)
    k = size / max(film.width, film.height)
    w, h = max(1, round(film.width * k)), max(1, round(film.height * k))
    crop = None
    if film.crop is not None:
        x, y, cw, ch = film.crop
        x, y = min(int(x * k), w - 1), min(int(y * k), h - 1)
        crop = x, y, min(max(1, round(cw * k)), w - x), min(max(1, round(ch * k)), h - y)
    return replace(scene, camera=replace(scene.camera, film=replace(film, width=w, height=h, crop=crop)))


def _measure(scene, report, moves: list[Direction], paths, weight, spp: int, seeds: int, tell) -> list[Row]:
    """A row for each direction; more seeds for those whose error bar is too large."""
    names = {"fast": gradients, "f64": lambda *args: reference.run("irys_ti.check.differences:gradients", *args)}
    found: dict[str, list[np.ndarray]] = {"fast": [], "f64": [], "fd": []}
    rows: dict[int, Row] = {}
    todo = list(range(len(moves)))
    for batch in range(MOST_SEEDS):
        picked = [1000 + batch * seeds + i for i in range(seeds)]
        for name, function in names.items():
            tell(batch / MOST_SEEDS, f"{name} gradients")
            grads, replayed = function(scene, paths, weight, spp, picked)
            before = report.replayed.get(name, (0, 0))
            report.replayed[name] = (before[0] + replayed[0], before[1] + replayed[1])
            along = [(grads[m.path] * m.along).reshape(seeds, -1).sum(1) for m in moves]
            found[name].append(np.array(along))
        fd = np.full((len(moves), seeds), np.nan)
        fd[todo] = reference.run(
            "irys_ti.check.differences:differences", scene, [moves[i] for i in todo], weight, spp, picked,
            lambda f, done=batch: tell((done + f) / MOST_SEEDS, "finite differences"),
        )  # fmt: skip
        found["fd"].append(fd)
        fast, exact, fd = (np.concatenate(found[name], 1) for name in ("fast", "f64", "fd"))
        for i in todo:
            rows[i] = _row(moves[i], fast[i], exact[i], fd[i])
        todo = [i for i in todo if rows[i].bar > NOISY * max(abs(rows[i].exact), abs(rows[i].difference))]
        if not todo:
            break
    return [rows[i] for i in range(len(moves))]


def _row(move: Direction, fast, exact, fd) -> Row:
    """Means over the seeds, per unit of the parameter for a single number, and the z-score."""
    count = np.count_nonzero(move.along)
    unit = move.along[move.along != 0].item() if count == 1 else np.linalg.norm(move.along)
    fast, exact, fd = fast / unit, exact / unit, fd / unit
    gap = exact - fd
    noise = gap.std(ddof=1) / np.sqrt(len(gap)) if len(gap) > 1 else np.inf
    bar = float(np.hypot(noise, STEP_ERROR * abs(fd.mean())))
    t = float(gap.mean() / bar) if bar > 0 else (0.0 if gap.mean() == 0 else float("inf"))
    z = normal_score(t, len(gap) - 1)
    return Row(
        move.label, move.path, float(fast.mean()), float(exact.mean()), float(fd.mean()), bar, z, len(gap), float("nan")
    )


def normal_score(t: float, dof: int) -> float:
    """The normal deviate as improbable as Student's t: an error known from few seeds is often too small.

    Wallace 1959, "Bounds on normal approximations to Student's and the chi-square distributions"; within 0.1 up to 6.
    """
    if not np.isfinite(t) or dof < 1:
        return t
    return float(np.sign(t) * (8 * dof + 1) / (8 * dof + 3) * np.sqrt(dof * np.log1p(t * t / dof)))


def _judge(scene: Scene, row: Row, tier: tiers.Difference, zero: bool) -> None:
    """Verdict and note of a row. zero: the whole parameter's gradient is, in both tiers."""
    row.tier = tier.difference
    notes = []
    if not np.isfinite([row.fast, row.exact, row.difference]).all():
        row.verdict, notes = "FAIL", ["not finite"]
    elif abs(row.z) > Z_LIMIT:
        row.verdict, notes = "FAIL", ["the gradient is not the finite difference"]
    elif not tier.ok:
        what = f"differs from f64 by {tier.difference:.1e} of its size, more than {tiers.MOST_DIFFERENCE:.1e}"
        if tier.effect > 1:
            what = f"paths that decide otherwise in f64 change it by {tier.effect:.1f} standard errors"
        row.verdict, notes = "FAIL", [f"{runtime.state.arch} {what}"]
    elif zero:
        row.verdict, notes = "zero", [why_zero(scene, row.path)]
    elif row.exact == row.difference == 0:
        notes = ["this number has no effect here; others of the parameter have"]
    elif row.bar > NOISY * max(abs(row.exact), abs(row.difference)):
        row.verdict, notes = "noisy", ["too noisy to tell; raise --spp or --seeds"]
    if row.verdict == "FAIL" and zero:
        notes.append("it is zero in every number")
    row.note = "; ".join(notes)


# -- command line ---------------------------------------------------------------------------------------------


def add_arguments(parser) -> None:
    """Arguments of ``irys-ti check``."""
    parser.add_argument("scene", metavar="SCENE", help="a scene file")
    parser.add_argument("--params", metavar="PATH,PATH", help="what to check (default: all that have a gradient)")
    parser.add_argument("--arch", default="auto", help="backend of the fast tier: auto, cpu, cuda, vulkan or metal")
    parser.add_argument("--spp", type=int, default=16, help="samples per pixel of each render (default 16)")
    parser.add_argument("--seeds", type=int, default=16, help="independent renders behind an error bar (default 16)")
    parser.add_argument("--steps", type=float, default=0.02, dest="step", help="relative step of the differences (default 0.02)")
    parser.add_argument("--size", type=int, default=64, help="longer side of the film in pixels, 0 for the scene's own (default 64)")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    parser.add_argument("-D", action="append", default=[], metavar="NAME=VALUE", help="value of $NAME in the scene file")


def main(args) -> int:
    """``irys-ti check``: 0 where nothing failed, else 1."""
    from ..io import load
    from .table import progress, show

    if min(args.spp, args.seeds - 1, args.step) <= 0:
        raise ValueError("--spp and --steps must be positive, --seeds at least 2")
    scene = load(args.scene, **dict(text.split("=", 1) for text in args.D if "=" in text))
    runtime.init(args.arch, "f32")
    params = None if args.params is None else [p.strip() for p in args.params.split(",") if p.strip()]
    with progress(f"checking {args.scene}", args.json) as tell:
        report = check(scene, params, args.spp, args.seeds, args.step, args.size, tell)
    print(report.as_json()) if args.json else show(report)
    return 0 if report.ok else 1
