"""IES photometric files (ANSI/IESNA LM-63, 1986 to 2019), type C, as a light.

After the label lines comes TILT=, then numbers: lamps, lumens of one, a multiplier, how many vertical and horizontal
angles, the photometric type (1 is C), the unit of length, three sizes, the ballast factor, a second factor, watts; then
the angles and, for each horizontal one, the candela at every vertical one. The lamp's size is not used: it is a point.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ..errors import SceneError
from ..scene import Light, Spectrum, Texture, rgb

MOST = 10_000  # angles of one kind: beyond, the count itself must be broken
SYMMETRIES = (0.0, 90.0, 180.0, 360.0)  # last horizontal angle: all around, quadrants, halves, none


@dataclass
class Photometry:
    """vertical (n,) and horizontal (m,): degrees. candela: (n, m), multipliers included. lumens: of all lamps, -1 unknown."""

    vertical: np.ndarray
    horizontal: np.ndarray
    candela: np.ndarray
    lumens: float


def read(path: str | Path) -> Photometry:
    """Read a photometric file. Raises SceneError, one line naming the file, the place and the mend."""
    path = Path(path)
    try:
        text = path.read_bytes().decode("latin-1")
    except OSError as error:
        raise SceneError(str(path), f"cannot be read ({error.strerror})", "check the path") from None
    before, tilt, after = text.partition("TILT=")
    if not tilt:
        raise SceneError(str(path), "has no TILT= line", "it is not an IES photometric file")
    kind, _, rest = after.partition("\n")
    if kind.strip().upper() != "NONE":
        mend = "remove the tilt: a lamp whose output depends on how it hangs is not supported"
        raise SceneError(f"{path}: line {_line(before)}", f"TILT={kind.strip()[:40]}", mend)
    numbers = _Numbers(path, rest, _line(before) + 1)
    lamps, lumens, multiplier = (numbers.take(what) for what in ("number of lamps", "lumens", "multiplier"))
    n, m = numbers.count("vertical angles"), numbers.count("horizontal angles")
    if (photometric := numbers.take("photometric type")) != 1:
        name = {2: "B", 3: "A"}.get(photometric, str(photometric))
        raise SceneError(numbers.where, f"photometric type {name}", "only type C is supported: convert the file")
    for what in ("unit of length", "width", "length", "height"):
        numbers.take(what)
    factor = multiplier * numbers.take("ballast factor") * numbers.take("ballast-lamp factor")
    numbers.take("watts")
    vertical = numbers.increasing("vertical angles", n, 0.0, 180.0)
    horizontal = numbers.increasing("horizontal angles", m, 0.0, 360.0)
    if horizontal[0] != 0 or horizontal[-1] not in SYMMETRIES:
        span = f"horizontal angles from {horizontal[0]:g} to {horizontal[-1]:g}"
        raise SceneError(numbers.where, span, "they go from 0 to 0, 90, 180 or 360")
    candela = numbers.array("candela", n * m).reshape(m, n).T * factor
    if (candela < 0).any():
        raise SceneError(numbers.where, f"candela {candela.min():g}", "intensities and multipliers are 0 or more")
    if numbers.left():
        raise SceneError(numbers.where, f"{numbers.left()} numbers too many", f"{n} x {m} candela were announced")
    return Photometry(vertical, horizontal, candela, lumens if lumens < 0 else lamps * lumens)


def light(path: str | Path, id: str = "lamp", to_world: np.ndarray | None = None, intensity: Spectrum | float | None = None) -> Light:
    """A light of kind "ies" from a photometric file.

    It shines along the +z of ``to_world``, (4, 4), as a spot does. intensity: spectrum of one candela, white (D65) of
    luminance 1 by default, so that lit surfaces have luminances in cd / m^2 where lengths are metres.
    """
    data = read(path)
    values = {
        "intensity": rgb(1, 1, 1, illuminant=True) if intensity is None else intensity,
        "candela": Texture(data.candela[:, :, None], "bilinear", "clamp", source=str(path)),
    }
    return Light(
        id, "ies", values, np.eye(4) if to_world is None else np.asarray(to_world, np.float64),
        angles=(data.vertical, data.horizontal),
    )  # fmt: skip


def _line(text: str) -> int:
    return text.count("\n") + 1


class _Numbers:
    """The numbers after TILT=, taken one by one."""

    def __init__(self, path: Path, text: str, line: int):
        self.path, self.at = path, 0
        self.words = [(word, line + i) for i, row in enumerate(text.splitlines()) for word in row.replace(",", " ").split()]

    @property
    def where(self) -> str:
        """The file and the line of what was taken last."""
        if not self.words:
            return str(self.path)
        return f"{self.path}: line {self.words[min(max(self.at - 1, 0), len(self.words) - 1)][1]}"

    def take(self, what: str) -> float:
        if self.at >= len(self.words):
            raise SceneError(self.where, f"ends before the {what}", "the file is cut off")
        word, line = self.words[self.at]
        self.at += 1
        try:
            value = float(word)
        except ValueError:
            raise SceneError(f"{self.path}: line {line}", f"{what} {word[:20]!r}", "write a number") from None
        if not np.isfinite(value):
            raise SceneError(f"{self.path}: line {line}", f"{what} {word[:20]!r} is not finite", "write a finite number")
        return value

    def count(self, what: str) -> int:
        value = self.take(f"number of {what}")
        if value != int(value) or not 1 <= value <= MOST:
            raise SceneError(self.where, f"{value:g} {what}", "a whole number, 1 or more")
        return int(value)

    def array(self, what: str, n: int) -> np.ndarray:
        if self.left() < n:
            raise SceneError(self.where, f"{self.left()} of {n} {what}", "the file is cut off")
        return np.array([self.take(what) for _ in range(n)])

    def increasing(self, what: str, n: int, low: float, high: float) -> np.ndarray:
        values = self.array(what, n)
        if (np.diff(values) <= 0).any():
            raise SceneError(self.where, f"{what} do not increase", "list each once, in order")
        if values[0] < low or values[-1] > high:
            raise SceneError(self.where, f"{what} from {values[0]:g} to {values[-1]:g}", f"they lie in {low:g} to {high:g}")
        return values

    def left(self) -> int:
        return len(self.words) - self.at
