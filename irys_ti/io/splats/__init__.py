"""Files of Gaussian splats: .ply (plain and SuperSplat's compressed), .splat and .spz; .ply is also written.

Captures are emissive sets when they are read: their baked colours as spherical harmonics. ``relight`` makes them
scatterers. What is read has +y up; .ply and .splat files have it down, and are turned about x on the way in and out.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from ...errors import SceneError
from ...scene import Light, Scene, Splats, rgb
from ...scene.splats import to_display
from .. import splat_checks
from ..geometry import frame
from . import dotsplat, ply, spz

C0 = 0.28209479177387814  # the constant harmonic
READERS = {".ply": ply.read, ".splat": dotsplat.read, ".spz": spz.read}
# Signs of the 16 harmonics under y -> -y, z -> -z.
TURN = np.array([1, -1, -1, 1, -1, 1, 1, -1, 1, -1, 1, -1, -1, 1, -1, 1.0])


def read_splats(path: str | Path, id: str | None = None) -> Splats:
    """The splats of a file, as an emissive set with +y up.

    Raises SceneError, in one line, for a file that is truncated or of another kind, holds no splats or values that
    are not finite, or more splats than fit this machine's memory.
    """
    path = Path(path)
    reader = READERS.get(path.suffix.lower())
    if reader is None:
        raise SceneError(str(path), f"no splats in files ending in {path.suffix!r}", f"use one of {', '.join(READERS)}")
    try:
        data = path.read_bytes()
    except OSError as error:
        raise SceneError(str(path), error.strerror or "cannot be read", "check the path") from None
    with np.errstate(all="ignore"):  # what is not finite is refused below
        out = reader(data, str(path))
    if path.suffix.lower() != ".spz":
        turn(out)
    out.id = id or path.name.split(".")[0].replace(" ", "_") or "splats"
    splat_checks.check(out, str(path))
    return out


def write_splats(path: str | Path, splats: Splats) -> None:
    """Write a .ply as 3D Gaussian splatting has it, which other viewers open.

    A scatterer's albedo becomes the constant harmonic: it looks the same under white light of radiance 1.
    """
    path = Path(path)
    if path.suffix.lower() != ".ply":
        raise SceneError(str(path), "only .ply is written", "end the name in .ply")
    out = Splats(
        position=splats.position, scale=splats.scale, rotation=splats.rotation, opacity=splats.opacity, sh=splats.sh
    )
    if out.sh is None or not splats.encoded:
        linear = splats.albedo if splats.sh is None else np.maximum(0.5 + C0 * splats.sh[:, 0], 0)
        out.sh = ((to_display(linear) - 0.5) / C0)[:, None]
    turn(out)
    path.write_bytes(ply.encode(out))


def load(path: str | Path, **parameters) -> Scene:
    """A splat file alone as a scene: a camera that frames it and a sky, which emissive sets do not need."""
    if parameters:
        raise SceneError(str(path), f"has no parameter {next(iter(parameters))!r}", "only scene files have some")
    splats = read_splats(path)
    scene = Scene(shapes=[splats], file=str(path))
    if splats.id == "sky":
        splats.id = "splats"
    scene.lights.append(Light("sky", "constant", {"radiance": rgb(1, 1, 1, illuminant=True)}))
    # The outermost hundredth is mostly stray.
    low, high = np.quantile(splats.position, [0.01, 0.99], axis=0)
    scene.camera = frame(np.array([low, high]))
    return scene


def turn(splats: Splats) -> None:
    """Turn a set by half a turn about x, in place: y and z change their signs."""
    splats.position = splats.position * [1.0, -1.0, -1.0]
    w, x, y, z = splats.rotation.T
    splats.rotation = np.stack([-x, w, -z, y], 1)
    if splats.sh is not None:
        splats.sh = splats.sh * TURN[: splats.sh.shape[1], None]
