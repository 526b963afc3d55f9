"""Launching the path kernel: cutting samples into launches, films out, gradients out."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from irys_ti import runtime
from irys_ti.kernels import layout
from irys_ti.kernels.accumulate import FAULTS, WORDS
from irys_ti.kernels.config import FORWARD, PRIMAL, REVERSE
from irys_ti.kernels.film import develop
from irys_ti.kernels.path import trace_paths

from .compile import DeviceScene
from .sums import exact_totals

# Paths of one launch: enough to fill the machine, few enough that Ctrl-C and progress come soon.
MAX_LANES = {"cpu": 1 << 18, "gpu": 1 << 22}
KEEP_PATHS = 1 << 23  # paths whose radiance a gradient keeps between its passes; above, pass 0 runs again
HOT_WORDS = 1 << 22  # words that replicas of accumulators may take


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


def tiles(n_pixels: int, spp: int, max_lanes: int | None = None):
    """Cut a render into launches; a pixel's samples come in order."""
    most = max_lanes or MAX_LANES["gpu" if runtime.is_gpu() else "cpu"]
    pixels = min(n_pixels, most)
    samples = max(1, min(spp, most // pixels))
    for s in range(0, spp, samples):
        for p in range(0, n_pixels, pixels):
            yield Tile(p, min(pixels, n_pixels - p), s, min(samples, spp - s))


class Launcher:
    """Runs the path kernel of one device scene. spp, seed, groups: the samples it traces.

    groups: independently scrambled sets that the samples are dealt to, in turn; their spread is the
    standard error.
    """

    def __init__(self, device: DeviceScene, spp: int, seed: int, groups: int = 1, max_lanes: int | None = None):
        if spp < 1:
            raise ValueError(f"spp {spp} must be at least 1")
        self.device, self.spp, self.groups = device, int(spp), min(groups, int(spp))
        self.seed = int(np.int64(seed) & 0xFFFFFFFF)
        self.seed -= (self.seed >> 31) << 32  # as i32
        window = device.mirror_ints[layout.H_FILM : layout.H_FILM + 6]
        self.width, self.height = int(window[4]), int(window[5])
        self.n_pixels = self.width * self.height
        self.channels = int(device.mirror_ints[layout.H_CHANNELS])
        self.tiles = list(tiles(self.n_pixels, self.spp, max_lanes))

    # -- arrays ------------------------------------------------------------------------------------------

    def scratch(self, name: str, n: int, dtype=None):
        """A device array kept by the scene, made larger when it has to be."""
        found = self.device.scratch.get(name)
        if found is None or found.shape[0] < n:
            found = self.device.scratch[name] = runtime.zeros(n, dtype)
        return found

    def film(self):
        """A film of zeros: (pixel, channel, hi | lo)."""
        return runtime.zeros(2 * self.n_pixels * self.channels)

    def image(self, film) -> np.ndarray:
        """What the film holds, averaged: (height, width, channels) float64."""
        sums = film.to_numpy().astype(np.float64).reshape(self.height, self.width, self.channels, 2).sum(-1)
        return sums / self.spp

    # -- kernels -----------------------------------------------------------------------------------------

    def trace(self, mode: str, tile: Tile, first: int, last: int, record, **extra) -> None:
        """One launch of ``trace_paths``."""
        dev, accel = self.device, self.device.geometry.accel.device()
        none_real = self.scratch("none_real", 1)
        none_u32 = self.scratch("none_u32", 1, np.uint32)
        none_i32 = self.scratch("none_i32", 1, np.int32)
        trace_paths(
            dev.reals, dev.ints, *accel,
            extra.get("tangents", none_real), record, extra.get("signature", none_u32), extra.get("mask", none_i32),
            extra.get("d_film", none_real), extra.get("acc", none_u32),
            first, last, tile.pixel0, tile.n_pixels, tile.sample0, tile.n_samples, self.groups,
            self.seed, extra.get("replay_seed", self.seed), extra.get("d_scale", 0.0),
            extra.get("n_accumulators", 0), extra.get("n_replicas", self.groups), int("mask" in extra),
            dev.config(mode),
        )  # fmt: skip

    def develop(self, tile: Tile, record, stride: int, film) -> None:
        """Add one launch's paths to the film."""
        develop(
            self.device.reals, self.device.ints, record, film, stride,
            tile.pixel0, tile.n_pixels, tile.sample0, tile.n_samples, self.groups, self.seed,
        )  # fmt: skip

    # -- whole renders -------------------------------------------------------------------------------------

    def render(self, progress=None) -> np.ndarray:
        """The image (height, width, channels) float64. progress(done, image()) is called after every launch."""
        film = self.film()
        record = self.scratch("primal", max(t.lanes for t in self.tiles) * layout.RECORD_PRIMAL)
        for i, tile in enumerate(self.tiles):
            self.trace(PRIMAL, tile, 0, 1, record)
            self.develop(tile, record, layout.RECORD_PRIMAL, film)
            if progress is not None:
                progress((i + 1) / len(self.tiles))
        return self.image(film)

    def forward(self, tangents, progress=None) -> np.ndarray:
        """The derivative image along the tangents of the pool."""
        film = self.film()
        lanes = max(t.lanes for t in self.tiles)
        record = self.scratch("replay", lanes * layout.RECORD_REPLAY)
        signature = self.scratch("signature", 4 * lanes, np.uint32)
        for i, tile in enumerate(self.tiles):
            self.trace(FORWARD, tile, 0, 2, record, tangents=tangents, signature=signature)
            self.develop(tile, record, layout.RECORD_REPLAY, film)
            if progress is not None:
                progress((i + 1) / len(self.tiles))
        return self.image(film)


class Replay(Launcher):
    """A gradient: pass 0 of all paths, then their replay against the derivative of the loss."""

    def __init__(self, device, spp, seed, groups=1, n_accumulators=1, max_lanes=None, replay_seed=None, masks=None):
        super().__init__(device, spp, seed, groups, max_lanes)
        self.n = n_accumulators
        self.masks = masks
        self.extra = {} if replay_seed is None else {"replay_seed": int(replay_seed)}
        self.keep = self.n_pixels * self.spp <= KEEP_PATHS
        self.records = None
        self.equal = self.traced = 0
        self.signatures: list[np.ndarray] | None = None

    def radiance(self) -> np.ndarray:
        """Pass 0: the image; each path's radiance is kept where it fits."""
        film = self.film()
        self.records = []
        for tile in self.tiles:
            record, signature = self._arrays(tile)
            self.trace(REVERSE, tile, 0, 1, record, signature=signature)
            self.develop(tile, record, layout.RECORD_REPLAY, film)
            if self.keep:
                self.records.append((record, signature))
        return self.image(film)

    def _arrays(self, tile: Tile):
        name = f"{len(self.records or ())}" if self.keep else "again"
        return (
            self.scratch(f"replay {id(self)} {name}" if self.keep else "replay", tile.lanes * layout.RECORD_REPLAY),
            self.scratch(f"signature {id(self)} {name}" if self.keep else "signature", 4 * tile.lanes, np.uint32),
        )

    def deposit(self, d_image: np.ndarray, progress=None) -> list[np.ndarray]:
        """Replay against d_image (height, width, channels); the gradient of each group, in accumulator order.

        Runs pass 0 first where ``radiance`` has not kept its paths.
        """
        device = self.device
        d_film = runtime.array(np.asarray(d_image, np.float64))
        replicas = self.groups * max(1, min(64, HOT_WORDS // (self.n * WORDS * self.groups)))
        acc = runtime.zeros(FAULTS + replicas * self.n * WORDS, np.uint32)
        kept = list(self.records or ())
        for i, tile in enumerate(self.tiles):
            record, signature = kept[i] if kept else self._arrays(tile)
            extra = dict(self.extra)
            if self.masks is not None:
                extra["mask"] = runtime.array(self.masks[i], np.int32)
            self.trace(
                REVERSE, tile, 1 if kept else 0, 2, record, signature=signature, d_film=d_film, acc=acc,
                d_scale=1.0 / self.spp, n_accumulators=self.n, n_replicas=replicas, **extra,
            )  # fmt: skip
            self._compare(tile, signature)
            if progress is not None:
                progress((i + 1) / len(self.tiles))
        words = acc.to_numpy()
        check_faults(words)
        totals = exact_totals(words[FAULTS:], replicas, self.n, self.groups)
        units = np.ones(self.n)
        for path in device.wanted:
            slot = device.by_path[path]
            first = int(device.mirror_ints[device.values_at + slot.index * layout.VALUE_STRIDE + layout.VALUE_GRAD])
            scale = device.mirror_reals[device.metas_at + slot.index * layout.META_STRIDE]
            units[first : first + slot.encoded.data.size] = scale
        self.drop()
        # Each group holds a share of the samples; d_scale divided by all of them.
        sizes = [len(range(g, self.spp, self.groups)) for g in range(self.groups)]
        return [t / units * (self.spp / size) for t, size in zip(totals, sizes)], sizes

    def _compare(self, tile: Tile, signature) -> None:
        words = signature.to_numpy()[: 4 * tile.lanes].reshape(-1, 4)
        same = words[:, 0] == words[:, 2]
        if self.masks is not None:
            same = same[self.masks[len(self.signatures or [])] != 0] if self.signatures is not None else same
        self.equal += int(same.sum())
        self.traced += same.size

    def decisions(self) -> list[np.ndarray]:
        """Hash of the discrete decisions of every path, one array a launch; pass 0 must be kept."""
        return [s.to_numpy()[: 4 * t.lanes].reshape(-1, 4)[:, 1] for t, (_, s) in zip(self.tiles, self.records)]

    def drop(self) -> None:
        """Let go of what pass 0 kept."""
        self.records = None
        for name in [k for k in self.device.scratch if k.startswith((f"replay {id(self)}", f"signature {id(self)}"))]:
            del self.device.scratch[name]


def check_faults(words: np.ndarray) -> None:
    """Raise where a deposit could not be added: it was too large for its accumulator, or not finite."""
    too_large, not_finite = int(words[0]), int(words[1])
    if too_large or not_finite:
        raise ArithmeticError(
            f"{too_large} gradient deposits were too large for the exact sums and {not_finite} were not finite; "
            "look for a light or a derivative that is extremely large (a roughness near 0, d_image not scaled)"
        )
