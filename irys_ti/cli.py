"""irys-ti: render, fit, preview, demo, check, devices, selftest from the command line. Imports nothing heavy until it must."""

from __future__ import annotations

import argparse
import os
import sys
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path

# Commands that live in a module of their own, with ``add_arguments(parser)`` and ``main(args) -> exit code``.
ELSEWHERE = {
    "demo": ("demos", "the ball, the bush, the room, the room that settles: in a window, or as a film"),
    "check": ("check", "compare a scene's gradients with f64 and with finite differences"),
    "material": ("material_sheet", "pictures of OpenPBR materials on a ball"),
    "selftest": ("selftest", "prove replay, exact sums and closed forms on this machine's backends"),
}


def main(argv: list[str] | None = None) -> int:
    """Run a command; returns the exit code: 0, 1 (a check failed), 2 (the input is wrong) or 130 (Ctrl-C)."""
    argv = sys.argv[1:] if argv is None else list(argv)
    args = parser(argv[0] if argv else None).parse_args(argv)
    try:
        return args.run(args) or 0
    except KeyboardInterrupt as stopped:
        print(f"irys-ti: {stopped or 'stopped'}", file=sys.stderr)
        return 130
    except BrokenPipeError:  # whoever read our output has gone, as `head` does
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except (ValueError, ArithmeticError, OSError) as error:  # SceneError is a ValueError
        if args.debug:
            raise
        print(f"irys-ti: {' '.join(str(error).split())}", file=sys.stderr)
        return 2


def parser(command: str | None = None) -> argparse.ArgumentParser:
    """All commands; one that lives elsewhere is imported only if it is the one that runs."""
    top = argparse.ArgumentParser("irys-ti", description="A spectral, differentiable path tracer.")
    commands = top.add_subparsers(metavar="COMMAND", required=True)

    sub = commands.add_parser("render", help="make a picture of a scene")
    scene_arguments(sub)
    sub.add_argument("-o", "--out", type=Path, help="EXR or PNG to write (default: the scene's name, .exr)")
    sub.add_argument("--spp", type=int, help="samples per pixel (default: the scene's own, else 64)")
    sub.set_defaults(run=render)

    sub = commands.add_parser("fit", help="change parameters until the scene looks like a picture")
    scene_arguments(sub)
    sub.add_argument("target", metavar="TARGET", help="EXR or PNG of the film's size")
    sub.add_argument("--params", required=True, metavar="PATH,PATH", help="what to fit: metal.alpha,floor.reflectance")
    sub.add_argument("--start", action="append", default=[], metavar="PATH=VALUE", help="where to start: metal.alpha=0.6")
    sub.add_argument("--bounds", action="append", default=[], metavar="PATH=LOW,HIGH", help="keep a parameter between these")
    sub.add_argument("--steps", type=int, default=60)
    sub.add_argument("--spp", default="8", metavar="N or N,M", help="samples per pixel of each half, or a ramp (default 8)")
    sub.add_argument("--loss", default="l2", help="l2, relative_l2, log_l2 or l1")
    sub.add_argument("--lr", type=float, help="step length in units of a parameter's range")
    sub.add_argument("--method", default="adam", choices=("adam", "newton"), help="newton: for a few numbers that look alike")
    sub.add_argument("-o", "--out", type=Path, default=Path("fit"), help="folder for what is made (default: fit)")
    sub.add_argument("--every", type=int, default=10, help="steps between pictures (default 10)")
    sub.add_argument("--fresh", action="store_true", help="do not go on with a fit that is in the folder")
    sub.set_defaults(run=fit)

    sub = commands.add_parser("preview", help="a live view of a scene, or of a fit")
    scene_arguments(sub)
    sub.add_argument("--save-as", type=Path, default=Path("preview"), metavar="NAME", help="where key s writes NAME.exr, .png")
    sub.add_argument("--fit", metavar="TARGET", help="fit --params to this picture, live")
    sub.add_argument("--params", metavar="PATH,PATH", default="", help="what --fit changes")
    sub.add_argument("--steps", type=int, default=60, help="steps of --fit")
    sub.add_argument("--frames", type=int, help="close after so many frames")
    sub.set_defaults(run=preview)

    sub = commands.add_parser("devices", help="what this machine can run on")
    sub.set_defaults(run=devices)

    for name, (module, text) in ELSEWHERE.items():
        sub = commands.add_parser(name, help=text)
        if name == command:
            implementation = import_module(f".{module}", __package__)
            implementation.add_arguments(sub)
            sub.set_defaults(run=implementation.main)
    for sub in commands.choices.values():
        sub.add_argument("--debug", action="store_true", help="show where an error came from")
    return top


def scene_arguments(sub: argparse.ArgumentParser) -> None:
    """A scene, the machine to run on, and changes to the scene."""
    sub.add_argument("scene", metavar="SCENE", help="a scene or mesh file")
    sub.add_argument("--arch", default="auto", help="auto, cpu, cuda, vulkan or metal")
    sub.add_argument("--precision", default="f32", choices=("f32", "f64"))
    sub.add_argument("--threads", type=int, help="CPU threads (default: all)")
    sub.add_argument("--seed", type=int, default=1)
    sub.add_argument("--size", metavar="WxH", help="size of the film in pixels")
    sub.add_argument("-D", action="append", default=[], metavar="NAME=VALUE", help="value of $NAME in the scene file")
    sub.add_argument("--set", action="append", default=[], metavar="PATH=VALUE", help="value of a parameter")


# -- commands ------------------------------------------------------------------------------------------------


def render(args) -> int:
    """``irys-ti render``."""
    out = args.out or Path(Path(args.scene).stem + ".exr")
    require_folder(out)
    scene = open_scene(args)
    spp = args.spp if args.spp is not None else scene.spp or 64
    from .api import render as trace
    from .interrupt import RenderInterrupted
    from .io.images import write_image

    try:
        with progress(f"rendering {Path(args.scene).name}") as tell:
            image = trace(scene, spp=spp, seed=args.seed, progress=tell)
    except RenderInterrupted as stopped:
        if stopped.image is None:
            raise KeyboardInterrupt("stopped before the first samples; nothing was written") from None
        write_image(out, stopped.image)
        raise KeyboardInterrupt(f"{stopped}; what there is was written to {out}") from None
    write_image(out, image)
    print(f"wrote {out}")
    return 0


def fit(args) -> int:
    """``irys-ti fit``."""
    scene = open_scene(args)
    from .api import parameters
    from .fitting import fit as run

    params = [path.strip() for path in args.params.split(",") if path.strip()]
    for text in args.start:
        assign(parameters(scene), text)
    bounds = {path: tuple(numbers(value, text)) for text in args.bounds for path, value in [pair(text)]}
    for path, ends in bounds.items():
        if len(ends) != 2:
            raise ValueError(f"--bounds {path}: give two numbers, LOW,HIGH")
    spp = [int(n) for n in numbers(args.spp, f"--spp {args.spp}")]
    with progress("fitting") as tell:
        result = run(
            scene, args.target, params, args.steps, spp=spp[0] if len(spp) == 1 else tuple(spp), loss=args.loss,
            lr=args.lr, method=args.method, bounds=bounds, seed=args.seed, out=args.out, resume=not args.fresh, every=args.every,
            callback=lambda s: tell((s.step + 1) / s.steps, f"loss {s.loss:.3g}"),
        )  # fmt: skip
    for path, value in result.values.items():
        print(f"{path} = {', '.join(f'{x:.5g}' for x in value.reshape(-1)[:16])}{' ...' if value.size > 16 else ''}")
    print(f"{len(result.losses)} steps in {result.seconds:.1f} s; pictures and numbers are in {result.folder}")
    return 0


def preview(args) -> int:
    """``irys-ti preview``."""
    from .preview.window import require_display

    require_display()  # before anything is loaded
    scene = open_scene(args)
    if args.fit:
        from .preview.fitting import watch

        params = [path.strip() for path in args.params.split(",") if path.strip()]
        for path, value in watch(scene, args.fit, params, args.steps, seed=args.seed).values.items():
            print(f"{path} = {', '.join(f'{x:.5g}' for x in value.reshape(-1)[:16])}")
    else:
        from .preview import view as show

        show(scene, args.save_as, args.seed, args.frames)
    return 0


def devices(args) -> int:
    """``irys-ti devices``."""
    import platform
    from importlib.metadata import version

    from . import __version__, runtime

    print(f"irys_ti {__version__}, Taichi {version('taichi')}, NumPy {version('numpy')}, Python {platform.python_version()}")
    print(f"{platform.system()} {platform.machine()}, {os.cpu_count()} CPU cores")
    there = runtime.available_archs()
    for arch in runtime.ARCHS:
        print(f"{arch}: {'there' if arch in there else 'not there'}")
    print(f"--arch auto takes {runtime.init()}", flush=True)
    return 0


# -- helpers -------------------------------------------------------------------------------------------------


def open_scene(args):
    """Load a scene, start the backend, make the changes asked for."""
    from . import runtime
    from .api import parameters
    from .io import load

    scene = load(args.scene, **dict(pair(text) for text in args.D))
    for note in scene.notes:
        print(f"{Path(args.scene).name}: {note}", file=sys.stderr)
    if args.size:
        scene.camera.film.width, scene.camera.film.height = size(args.size)
        scene.camera.film.crop = None
    runtime.init(args.arch, args.precision, args.threads)
    for text in args.set:
        assign(parameters(scene), text)
    return scene


def size(text: str) -> tuple[int, int]:
    """WxH as two numbers."""
    w, _, h = text.lower().partition("x")
    if not (w.isdecimal() and h.isdecimal() and int(w) and int(h)):
        raise ValueError(f"--size {text}: give the film's width and height, as in 640x480")
    return int(w), int(h)


def pair(text: str) -> tuple[str, str]:
    """NAME=VALUE as two texts."""
    name, equals, value = text.partition("=")
    if not (name and equals and value):
        raise ValueError(f"'{text}' is not of the form NAME=VALUE")
    return name.strip(), value.strip()


def numbers(text: str, where: str) -> list[float]:
    """Numbers between commas."""
    try:
        return [float(number) for number in text.split(",")]
    except ValueError:
        raise ValueError(f"{where}: '{text}' is not a number, nor several with commas between") from None


def assign(params, text: str) -> None:
    """PATH=VALUE: a number for each of the parameter's, or one for all."""
    import numpy as np

    path, value = pair(text)
    old = params[path]
    new = np.array(numbers(value, path))
    params[path] = np.full(old.shape, new[0]) if new.size == 1 else new.reshape(old.shape) if new.size == old.size else new


def require_folder(out: Path) -> None:
    """Refuse an output whose folder or format will not do, before any work is done."""
    from .io.images import WRITES

    if not out.parent.is_dir():
        raise ValueError(f"{out}: its folder does not exist; make {out.parent} first")
    if out.suffix.lower() not in WRITES:
        raise ValueError(f"{out}: images ending in '{out.suffix}' are not written; use one of {', '.join(WRITES)}")


@contextmanager
def progress(title: str):
    """A bar on standard error, if that is a terminal: yields tell(fraction, text='')."""
    if not sys.stderr.isatty():
        yield lambda fraction, text="": None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TimeRemainingColumn(), TextColumn("{task.fields[text]}"))
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(title, total=1.0, text="compiling")
        yield lambda fraction, text="": bar.update(task, completed=fraction, text=text)


if __name__ == "__main__":
    sys.exit(main())
