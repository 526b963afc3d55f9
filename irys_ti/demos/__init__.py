"""Four demonstrations: ``irys-ti demo ball | bush | room | progressive``, in a window or as a GIF or MP4.

A demonstration is a module with ``play(show, quick) -> Outcome``; show(picture, texts) draws one frame and returns
True where the person has seen enough.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

from irys_ti.errors import SceneError

# name -> what it shows; the module has the same name
DEMOS = {
    "ball": "a grey ball becomes the gold one of a picture",
    "bush": "a green bush of Gaussian splats turns to its autumn colours",
    "room": "the paint of five walls is found from one picture, light off every wall",
    "progressive": "a room settles from noise, is repainted, and settles again",
}


@dataclass
class Outcome:
    """How far what was found is from the truth. errors: {what: size}; allowed: {what: size}."""

    errors: dict[str, float]
    allowed: dict[str, float]

    @property
    def ok(self) -> bool:
        """Whether every error is within what is allowed."""
        return all(self.errors[what] <= limit for what, limit in self.allowed.items())


def play(name: str, show, quick: bool = False) -> Outcome:
    """Run a demonstration. Raises SceneError for an unknown name."""
    if name not in DEMOS:
        raise SceneError("demo", f"there is none called '{name}'", f"choose among {', '.join(DEMOS)}")
    return import_module(f".{name}", __package__).play(show, quick)


def add_arguments(parser) -> None:
    """Arguments of ``irys-ti demo``."""
    parser.add_argument("name", choices=list(DEMOS), help="; ".join(f"{n}: {text}" for n, text in DEMOS.items()))
    parser.add_argument("--arch", default="auto", help="auto, cpu, cuda, vulkan or metal")
    parser.add_argument("--quick", action="store_true", help="small pictures and few steps")
    parser.add_argument("--headless", action="store_true", help="write a film instead of opening a window")
    parser.add_argument("--out", type=Path, help="the film to write, .gif or .mp4 (default: NAME.gif)")


def main(args) -> int:
    """``irys-ti demo``: exit code 1 where the last frame is not what it should be."""
    from irys_ti import runtime
    from irys_ti.preview.window import NoDisplay, require_display

    from .film import Film

    headless = args.headless or args.out is not None
    if not headless:
        try:
            require_display()
        except NoDisplay as error:
            print(f"{error.problem}: writing a film instead", file=sys.stderr)
            headless = True
    film = Film(args.out or Path(f"{args.name}.gif")) if headless else None
    print(f"{args.name}: {DEMOS[args.name]}; on {runtime.init(args.arch)}, after its kernels are compiled")
    if film is not None:
        with film:
            outcome = play(args.name, film.show, args.quick)
        print(f"wrote {film.path} ({film.count} frames)")
    else:
        from .live import Live

        with Live(f"irys_ti demo {args.name}") as live:
            outcome = play(args.name, live.show, args.quick)
            live.linger()
    for what, error in outcome.errors.items():
        print(f"{what}: error {error:.4f}, allowed {outcome.allowed[what]:.4f}")
    return 0 if outcome.ok else 1
