"""Launching the path kernel: samples cut into launches, images out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from irys_ti import runtime
from irys_ti.interrupt import RenderInterrupted, uninterrupted
from irys_ti.kernels import layout
from irys_ti.kernels.config import FORWARD, PRIMAL
from irys_ti.kernels.film import develop
from irys_ti.kernels.path import trace_paths

from .compile import DeviceScene

# Paths of one launch: enough to fill the machine, few enough that Ctrl-C and progress come soon.
MAX_LANES = {"cpu": 1 << 18, "gpu": 1 << 22}


@dataclass(frozen=True)
class Tile:
    """A launch: n_pixels pixels from pixel0, n_samples samples of each from sample0."""

    pixel0: int
    n_pixels: int
    sample0: int
    n_samples: int

    @property
    def lanes(self) -> int:
        return self.n_pixels * self.n_samples

    def of(self, table: np.ndarray) -> np.ndarray:
        """This tile's part of a (pixels, samples) table; flattened, it is in the order of the lanes."""
        rows = slice(self.pixel0, self.pixel0 + self.n_pixels)
        return table[rows, self.sample0 : self.sample0 + self.n_samples]


def tiles(n_pixels: int, spp: int, max_lanes: int | None = None):
    """Cut a render into launches; a pixel's samples come in order."""
    most = max_lanes or MAX_LANES["gpu" if runtime.is_gpu() else "cpu"]
    pixels = min(n_pixels, most)
    samples = max(1, min(spp, most // pixels))
    for s in range(0, spp, samples):
        for p in range(0, n_pixels, pixels):
            yield Tile(p, min(pixels, n_pixels - p), s, min(samples, spp - s))


class Done(float):
    """The fraction of a render that is done; ``image``: what there is, float64 (height, width, channels)."""

    def __new__(cls, fraction: float, image: Callable):
        self = super().__new__(cls, fraction)
        self._image = image
        return self

    @property
    def image(self) -> np.ndarray:
        return self._image()

    def __reduce__(self):  # to another process goes what it would show
        return _done, (float(self), self.image)


def _done(fraction: float, image: np.ndarray) -> Done:
    return Done(fraction, lambda: image)


class Launcher:
    """Runs the path kernel of one device scene.

    spp, seed: the samples it traces. groups: independently scrambled sets that the samples are dealt to, in
    turn; their spread is the standard error. max_lanes: paths of one launch at most; no result depends on it.
    """

    def __init__(self, device: DeviceScene, spp: int, seed: int, groups: int = 1, max_lanes: int | None = None):
        if spp < 1:
            raise ValueError(f"spp {spp} must be at least 1")
        self.device, self.spp, self.groups = device, int(spp), min(groups, int(spp))
        self.borrow, self.give_back = device.scratch.borrow, device.scratch.give_back
        self.seed = as_i32(seed)
        window = device.mirror_ints[layout.H_FILM : layout.H_FILM + 6]
        self.width, self.height = int(window[4]), int(window[5])
        self.n_pixels = self.width * self.height
        self.pixel_bits = pixel_bits(-(-self.spp // self.groups), device.mirror_ints[layout.H_FILM : layout.H_FILM + 2])
        self.channels = int(device.mirror_ints[layout.H_CHANNELS])
        self.tiles = list(tiles(self.n_pixels, self.spp, max_lanes))
        self.most = max(tile.lanes for tile in self.tiles)

    # -- arrays ------------------------------------------------------------------------------------------

    def film(self):
        """A film of zeros, (pixel, channel, hi | lo), to be given back."""
        film = self.borrow(2 * self.n_pixels * self.channels)
        film.fill(0)
        return film

    def image(self, film) -> np.ndarray:
        """What the film holds, averaged: (height, width, channels) float64."""
        sums = film.to_numpy()[: 2 * self.n_pixels * self.channels].astype(np.float64)
        return (sums[0::2] + sums[1::2]).reshape(self.height, self.width, self.channels) / self.spp

    # -- kernels -----------------------------------------------------------------------------------------

    def trace(
        self, mode: str, tile: Tile, first: int, last: int, samples, record=None, *, tangents=None, signature=None, mask=None,
        d_film=None, acc=None, replay_seed=None, d_scale=0.0, n_accumulators=0, n_replicas=0, rays=None, seed=None,
    ) -> None:  # fmt: skip
        """One launch of ``trace_paths``; what is left out, the mode does not read. rays: first rays of the paths."""
        none = {dtype: self.borrow(1, dtype) for dtype in (None, np.uint32, np.int32)}

        def given(array, dtype=None):
            return none[dtype] if array is None else array

        trace_paths(
            self.device.reals, self.device.ints, *self.device.geometry.accel.device(),
            given(tangents if rays is None else rays), given(samples), given(record), given(signature, np.uint32), given(mask, np.int32),
            given(d_film), given(acc, np.uint32),
            first, last, tile.pixel0, tile.n_pixels, tile.sample0, tile.n_samples, self.groups, self.pixel_bits,
            self.seed if seed is None else seed, self.seed if replay_seed is None else as_i32(replay_seed), d_scale,
            n_accumulators, n_replicas or self.groups, int(mask is not None), self.device.config(mode, rays is not None),
        )  # fmt: skip
        self.give_back(*none.values())

    def develop(self, tile: Tile, samples, film) -> None:
        """Add one launch's samples to the film."""
        develop(samples, film, self.channels, tile.pixel0, tile.n_pixels, tile.n_samples)

    # -- whole renders -------------------------------------------------------------------------------------

    def render(self, progress=None) -> np.ndarray:
        """The image (height, width, channels) float64. progress(done), a Done, is called after every launch.

        Raises RenderInterrupted, with the image so far, on Ctrl-C.
        """
        film, samples, done = self.film(), self.borrow(self.most * self.channels), 0
        try:
            for tile in self.tiles:
                self.trace(PRIMAL, tile, 0, 1, samples)
                with uninterrupted():
                    self.develop(tile, samples, film)
                    done += 1
                if progress is not None:
                    progress(Done(done / len(self.tiles), lambda n=done: self.partial(film, n)[0]))
        except KeyboardInterrupt:
            raise RenderInterrupted(*self.partial(film, done)) from None
        image = self.image(film)
        self.give_back(samples, film)
        return image

    def partial(self, film, done: int) -> tuple[np.ndarray | None, float]:
        """The image after ``done`` launches, each pixel averaged over its own samples; what part of all they are."""
        counts = np.zeros(self.n_pixels)
        for tile in self.tiles[:done]:
            counts[tile.pixel0 : tile.pixel0 + tile.n_pixels] += tile.n_samples
        scale = self.spp / np.maximum(counts, 1).reshape(self.height, self.width, 1)
        return (self.image(film) * scale if done else None), float(counts.mean() / self.spp)

    def forward(self, tangents, progress=None) -> np.ndarray:
        """The derivative image along the tangents of the pool."""
        film, samples = self.film(), self.borrow(self.most * self.channels)
        record = self.borrow(self.most * layout.RECORD_STRIDE)
        for i, tile in enumerate(self.tiles):
            for step in range(2):
                self.trace(FORWARD, tile, step, step + 1, samples, record, tangents=tangents)
            self.develop(tile, samples, film)
            if progress is not None:
                progress((i + 1) / len(self.tiles))
        image = self.image(film)
        self.give_back(samples, record, film)
        return image


def pixel_bits(samples: int, film) -> int:
    """Bits of the points that a pixel takes in turn: all of its samples, as far as 32 bits number the film's points."""
    place = 2 * int(max(film) - 1).bit_length()
    return max(0, min(int(samples - 1).bit_length(), 32 - place))


def as_i32(seed: int) -> int:
    """Any integer's low 32 bits, as the i32 that kernels take."""
    low = int(seed) & 0xFFFFFFFF
    return low - ((low >> 31) << 32)
