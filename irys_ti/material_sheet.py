"""``irys-ti material``: materials on the preview ball, one picture or a labelled sheet of many."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from .api import render
from .errors import SceneError
from .io.images import WRITES, linear_to_srgb, srgb_to_linear, write_image
from .io.materialx import load_materials
from .io.openpbr import Imported
from .kernels.bsdf import BSDFS
from .scene.preview_ball import ball_of, preview_ball

LABEL = 0.12  # height of a label, by that of its picture
PAPER, INK = 0.08, 0.9  # sRGB
# Of the ball, in the materials' unit of length. The published presets give mean free paths in centimetres (skin's are
# those of Jensen et al. 2001), so theirs is a ball ten across; one of two would glow through.
RADIUS = 5.0


@dataclass
class Ball:
    """A material's name and picture, (size, size, 3) linear sRGB."""

    name: str
    image: np.ndarray


def balls(
    materials: list[Imported], size: int, spp: int, seed: int = 1, progress: Callable | None = None, radius: float = RADIUS
) -> list[Ball]:
    """A picture of each material on a ball of ``radius`` of its own unit of length.

    All materials are in one scene and the ball wears them in turn, so that kernels are compiled once: for at most
    four versions of OpenPBR, whatever the number of materials. progress(fraction, text) hears of each picture.
    Raises SheetInterrupted on Ctrl-C, with the pictures made so far.
    """
    if not materials:
        return []
    scene = preview_ball(materials[0].material, size)
    own = scene.materials[1:]
    scene.materials = [*_distinct(materials, {m.id for m in own} | {s.id for s in scene.shapes}), *own]
    ball, made = ball_of(scene), []
    try:
        for i, (material, imported) in enumerate(zip(scene.materials, materials)):
            if progress:
                progress(i / len(materials), imported.material.id)
            imported.light(ball)
            ball.material = material.id
            material.values = {**material.values, **lengths(material.values, radius)}
            image = render(scene, spp, seed)
            made.append(Ball(imported.material.id, image))
    except KeyboardInterrupt:
        raise SheetInterrupted(made, len(materials)) from None
    return made


def lengths(values: dict, radius: float) -> dict:
    """What of a material's values are lengths, where the ball of radius 1 stands for one of ``radius``."""
    out = {name: values[name] / radius for name in ("subsurface_radius", "transmission_depth") if np.isscalar(values.get(name))}
    if "subsurface_weight" in values:
        out.setdefault("subsurface_radius", BSDFS["openpbr"].PARAMS["subsurface_radius"].default / radius)
    return out


class SheetInterrupted(KeyboardInterrupt):
    """Ctrl-C between or within pictures; those that are whole are kept in ``made``."""

    def __init__(self, made: list[Ball], wanted: int):
        super().__init__(f"stopped after {len(made)} of {wanted} materials")
        self.made = made


def _distinct(materials: list[Imported], taken: set[str]) -> list:
    """The materials, under ids of which no two are the same."""
    from dataclasses import replace

    out, taken = [], set(taken)
    for imported in materials:
        id, i = imported.material.id, 2
        while id in taken:
            id, i = f"{imported.material.id}_{i}", i + 1
        taken.add(id)
        out.append(replace(imported.material, id=id))
    return out


def sheet(pictures: list[Ball], columns: int | None = None) -> np.ndarray:
    """(h, w, 3) linear sRGB: the pictures in rows, each over its name."""
    from PIL import Image, ImageDraw, ImageFont

    size = pictures[0].image.shape[0]
    columns = columns or int(np.ceil(np.sqrt(1.4 * len(pictures))))
    columns, rows = min(columns, len(pictures)), -(-len(pictures) // columns)
    label = max(11, round(LABEL * size))
    gap = max(2, size // 48)
    page = Image.new(
        "RGB", (columns * (size + gap) + gap, rows * (size + label + gap) + gap), (round(255 * PAPER),) * 3
    )
    draw, font = ImageDraw.Draw(page), ImageFont.load_default(size=max(9, round(0.72 * label)))
    for i, ball in enumerate(pictures):
        x, y = gap + (i % columns) * (size + gap), gap + (i // columns) * (size + label + gap)
        pixels = np.round(255 * linear_to_srgb(np.nan_to_num(ball.image))).astype(np.uint8)
        page.paste(Image.fromarray(pixels), (x, y))
        name = _shortened(ball.name.replace("_", " "), lambda text: draw.textlength(text, font=font), size)
        draw.text((x + size / 2, y + size + label / 2), name, (round(255 * INK),) * 3, font=font, anchor="mm")
    return srgb_to_linear(np.asarray(page, np.float32) / 255)


def _shortened(text: str, width: Callable, most: float) -> str:
    while len(text) > 1 and width(text) > most:
        text = text[:-2] + "\N{HORIZONTAL ELLIPSIS}" if not text.endswith("\N{HORIZONTAL ELLIPSIS}") else text[:-2] + text[-1]
    return text


# -- the command ------------------------------------------------------------------------------------------------


def add_arguments(parser) -> None:
    """Arguments of ``irys-ti material``."""
    parser.add_argument("file", metavar="FILE.mtlx", nargs="?", type=Path, help="a MaterialX document")
    parser.add_argument("--presets", metavar="DIR", type=Path, help="a folder of documents: make a labelled sheet of all")
    parser.add_argument("-o", "--out", type=Path, help="EXR or PNG to write (default: the file's or folder's name, .png)")
    parser.add_argument("--spp", type=int, help="samples per pixel (default 256, for a sheet 96)")
    parser.add_argument("--size", type=int, help="pixels of a ball's side (default 384, for a sheet 128)")
    parser.add_argument("--columns", type=int, help="pictures in a row of the sheet")
    parser.add_argument(
        "--radius", type=float, default=RADIUS, help="the ball's radius in the material's unit of length (default %(default)g)"
    )
    parser.add_argument("--arch", default="auto", help="auto, cpu, cuda, vulkan or metal")
    parser.add_argument("--precision", default="f32", choices=("f32", "f64"))
    parser.add_argument("--threads", type=int, help="CPU threads (default: all)")
    parser.add_argument("--seed", type=int, default=1)


def main(args) -> int:
    """``irys-ti material``: what was dropped goes to standard error, a line each."""
    import sys

    from . import runtime
    from .check.table import progress

    if (args.file is None) == (args.presets is None):
        raise ValueError("irys-ti material: give either FILE.mtlx or --presets DIR")
    for name in ("spp", "size", "columns"):
        value = getattr(args, name)
        if value is not None and value < 1:
            raise ValueError(f"--{name} {value}: give a whole number of 1 or more")
    if not 0 < args.radius < np.inf:
        raise ValueError(f"--radius {args.radius:g}: give a length above 0")
    source = args.file or args.presets
    out = args.out or Path(f"{source.resolve().stem}.png")
    if not out.parent.is_dir():
        raise ValueError(f"{out}: its folder does not exist; make {out.parent} first")
    if out.suffix.lower() not in WRITES:
        raise ValueError(f"{out}: images ending in '{out.suffix}' are not written; use one of {', '.join(WRITES)}")
    materials = load_materials(args.file) if args.file else load_folder(args.presets)
    for imported in materials:
        for note in imported.notes:
            print(f"{imported.material.id}: {note}", file=sys.stderr)
    single = len(materials) == 1 and args.file is not None
    size, spp = args.size or (384 if single else 128), args.spp or (256 if single else 96)
    runtime.init(args.arch, args.precision, args.threads)
    stopped = None
    try:
        with progress("rendering") as tell:
            made = balls(materials, size, spp, args.seed, tell, args.radius)
    except SheetInterrupted as error:
        made, stopped = error.made, error
        if not made:
            raise KeyboardInterrupt(f"{error}; nothing was written") from None
    write_image(out, made[0].image if single else sheet(made, args.columns))
    if stopped:
        raise KeyboardInterrupt(f"{stopped}; what there is was written to {out}")
    print(f"wrote {out}")
    return 0


def load_folder(folder: Path) -> list[Imported]:
    """The materials of all .mtlx files of a folder, by file name."""
    if not folder.is_dir():
        raise SceneError(str(folder), "no such folder", "check the path")
    files = sorted(folder.glob("*.mtlx"))
    if not files:
        raise SceneError(str(folder), "holds no .mtlx file", "name a folder of MaterialX documents")
    return [imported for file in files for imported in load_materials(file)]
