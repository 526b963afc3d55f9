"""The folder of a fit: its state for resuming, loss.csv, pictures and plots. Every file is replaced whole."""

from __future__ import annotations

import csv
import io
import os
import zipfile
from pathlib import Path

import numpy as np

from irys_ti.errors import SceneError
from irys_ti.io.images import write_image


class Folder:
    """Writes into ``path``, which is made if it is not there. exposure: factor on the pictures (not on data)."""

    STATE = "state.npz"

    def __init__(self, path):
        self.path = Path(path)
        try:
            self.path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise SceneError(str(path), f"cannot be made a folder: {error.strerror}", "choose another one") from None
        self.exposure = 1.0

    def expose(self, target: np.ndarray) -> None:
        """Make all pictures dark enough to show all but the target's brightest 5 %, such as lamps."""
        top = float(np.quantile(target, 0.95))
        self.exposure = 1.0 if top <= 1.0 else 1.0 / top

    # -- state -------------------------------------------------------------------------------------------

    def load(self) -> dict[str, np.ndarray] | None:
        """The state that an earlier run left, or None."""
        path = self.path / self.STATE
        if not path.is_file():
            return None
        try:
            with np.load(path, allow_pickle=False) as file:
                return {name: file[name] for name in file.files}
        except (OSError, ValueError, zipfile.BadZipFile):
            raise SceneError(str(path), "it is broken", "delete it, or fit with resume=False") from None

    def save(self, state: dict) -> None:
        """Keep a state; an interrupted write leaves the one before."""
        data = io.BytesIO()
        np.savez(data, **state)
        self._replace(self.STATE, data.getvalue())

    def _replace(self, name: str, data: bytes) -> None:
        part = self.path / f".{name}.part"
        part.write_bytes(data)
        os.replace(part, self.path / name)

    # -- tables and pictures ---------------------------------------------------------------------------------

    def table(self, losses, seconds, history: dict[str, list[np.ndarray]]) -> None:
        """loss.csv: a row per step with the loss and the parameters it was found at. Textures give their mean."""
        text = io.StringIO()
        rows = csv.writer(text, lineterminator="\n")
        rows.writerow(["step", "loss", "seconds", *column_names(history)])
        for i, (loss, time) in enumerate(zip(losses, seconds)):
            numbers = [f"{x:.9g}" for values in history.values() for x in np.ravel(values[i])]
            rows.writerow([i, f"{loss:.9g}", f"{time:.4f}", *numbers])
        self._replace("loss.csv", text.getvalue().encode())

    def picture(self, name: str, image: np.ndarray) -> None:
        """A PNG of a linear image, as bright as the target's."""
        write_image(self.path / name, np.asarray(image) * self.exposure)

    def plot(self, losses, history: dict[str, list[np.ndarray]]) -> None:
        """loss.png: the loss and the parameters over the steps."""
        figure, (left, right) = _figure(2, 10, 4)
        left.semilogy(np.abs(losses), lw=1)
        left.set(xlabel="step", ylabel="|loss|", title="loss")
        for name, lines in zip(column_names(history), _columns(history)):
            first = lines[0] or 1.0
            wide = np.max(np.abs(lines)) > 2
            right.plot(lines / first if wide else lines, lw=1, label=f"{name} / {first:.3g}" if wide else name)
        right.set(xlabel="step", title="parameters")
        if 0 < len(right.lines) <= 16:
            right.legend(fontsize=7)
        self._save_figure("loss.png", figure)

    def compare(self, images: dict[str, np.ndarray]) -> None:
        """comparison.png: pictures side by side, and the difference of the last two."""
        shown = {name: _to_screen(image * self.exposure) for name, image in images.items()}
        a, b = list(images.values())[-2:]
        difference = (a - b).mean(-1) * self.exposure
        aspect = a.shape[0] / a.shape[1]
        figure, axes = _figure(len(shown) + 1, 3.2 * (len(shown) + 1), 3.2 * aspect + 0.4)
        for axis, (name, image) in zip(axes, shown.items()):
            axis.imshow(image, interpolation="nearest")
            axis.set_title(name)
        span = max(float(np.quantile(np.abs(difference), 0.99)), 1e-6)
        axes[-1].imshow(difference, cmap="RdBu_r", vmin=-span, vmax=span, interpolation="nearest")
        axes[-1].set_title(f"difference, +-{span:.2g}")
        for axis in axes:
            axis.axis("off")
        self._save_figure("comparison.png", figure)

    def _save_figure(self, name: str, figure) -> None:
        data = io.BytesIO()
        figure.savefig(data, format="png", dpi=100)
        self._replace(name, data.getvalue())


def column_names(history: dict[str, list[np.ndarray]]) -> list[str]:
    """Column headings: the path, with [i] where a parameter has several numbers."""
    names = []
    for path, values in history.items():
        shape = np.shape(values[0]) if len(values) else ()
        names += [path] if shape == () else [f"{path}{list(i)}" for i in np.ndindex(shape)]
    return names


def _columns(history) -> list[np.ndarray]:
    return [column for values in history.values() for column in np.stack(values).reshape(len(values), -1).T]


def _figure(n: int, width: float, height: float):
    """A figure without a window, and without pyplot's global state."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure, figure.subplots(1, n)


def _to_screen(image: np.ndarray) -> np.ndarray:
    from irys_ti.io.images import linear_to_srgb

    return linear_to_srgb(np.nan_to_num(image))
