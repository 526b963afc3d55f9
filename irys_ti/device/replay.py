"""Gradients: pass 0 of all paths, then their replay against the derivative of the loss, summed exactly."""

from __future__ import annotations

import numpy as np

from irys_ti import runtime
from irys_ti.kernels import layout
from irys_ti.kernels.accumulate import FAULTS, HEAD, MISMATCHES, NOT_FINITE, TOO_LARGE, WORDS, differences
from irys_ti.kernels.config import D_DENSITY, D_OPACITY, D_SHAPE, REVERSE
from irys_ti.kernels.splat_light import sum_bands

from .launch import Launcher, Tile
from .sums import exact_totals

KEEP_PATHS = 1 << 23  # paths whose radiance a gradient keeps between its passes; above, pass 0 runs again
HOT_WORDS = 1 << 22  # words that replicas of accumulators may take
SMALL = 1 << 14  # accumulators whose words the host reads as they are
REPLICAS = 64  # of each accumulator and group, so that threads seldom meet


class Replay(Launcher):
    """A gradient of one device scene.

    n_accumulators: what ``DeviceScene.want`` returned. replay_seed: seed of pass 1; other than ``seed`` only to
    show that the replay then fails. mask: (pixels, spp), which paths deposit; None for all.
    After ``deposit``, ``equal`` of ``traced`` paths were met again bit for bit (masked-out ones not counted).
    """

    def __init__(
        self, device, spp, seed, groups=1, n_accumulators=1, max_lanes=None, replay_seed=None, mask=None, replicas=REPLICAS
    ):
        super().__init__(device, spp, seed, groups, max_lanes)
        self.n, self.replay_seed, self.mask, self.replicas = n_accumulators, replay_seed, mask, replicas
        if mask is not None and np.shape(mask) != (self.n_pixels, self.spp):
            raise ValueError(f"mask has shape {np.shape(mask)}, there are ({self.n_pixels}, {self.spp}) paths")
        self.kept: list[tuple] = []  # (record, signature) of each tile, once ``radiance`` has run
        self.equal = self.traced = 0
        self.bands = None  # pixels' sums for splats' baselines, once ``radiance`` has run

    def radiance(self) -> np.ndarray:
        """Pass 0: the image. Each path's radiance is kept for ``deposit`` where it fits."""
        film, samples = self.film(), self.borrow(self.most * self.channels)
        self.drop()
        keep = self.n_pixels * self.spp <= KEEP_PATHS
        self.bands = runtime.zeros(6 * self.n_pixels) if self._chances() else None
        for tile in self.tiles:
            record, signature = self._borrow(tile)
            self.trace(REVERSE, tile, 0, 1, samples, record, signature=signature)
            self.develop(tile, samples, film)
            if self.bands is not None:
                sum_bands(
                    self.device.reals, self.device.ints, record, self.bands, tile.pixel0, tile.n_pixels, tile.n_samples
                )
            if keep:
                self.kept.append((record, signature))
            else:
                self.give_back(record, signature)
        image = self.image(film)
        self.give_back(samples, film)
        return image

    def _baseline(self) -> np.ndarray:
        """What kernels.splat_light.baseline reads behind d_film, where chances of splats or densities have derivatives."""
        if not self._chances():
            return np.zeros(0)
        if self.bands is None:
            self.radiance()
        return self.bands.to_numpy()[: 6 * self.n_pixels]

    def _chances(self) -> bool:
        config = self.device.config(REVERSE)
        return bool(config.splats & (D_OPACITY | D_SHAPE) or config.media & D_DENSITY)

    def decisions(self) -> np.ndarray:
        """Hash of each path's discrete decisions (hits, visibility, lobes, roulette), (pixels, spp) uint32."""
        out, samples = np.zeros((self.n_pixels, self.spp), np.uint32), self.borrow(self.most * self.channels)
        for tile in self.tiles:
            record, signature = self._borrow(tile)
            self.trace(REVERSE, tile, 0, 1, samples, record, signature=signature)
            part = tile.of(out)
            part[:] = self._words(tile, signature)[:, 1].reshape(part.shape)
            self.give_back(record, signature)
        self.give_back(samples)
        return out

    def deposit(self, d_image: np.ndarray, progress=None) -> tuple[list[np.ndarray], list[int]]:
        """Replay against d_image (height, width, channels).

        Returns the gradient of each group, in accumulator order, and the number of samples a pixel of each.
        Runs pass 0 first where ``radiance`` has not kept it. Raises ArithmeticError for a deposit that does not
        fit the exact sums.
        """
        d_film = self.device.scratch.lend(np.r_[np.reshape(d_image, -1), self._baseline()])
        replicas = self.groups * max(1, min(self.replicas, HOT_WORDS // (self.n * WORDS * self.groups)))
        samples = self.borrow(1 if self.kept else self.most * self.channels)
        acc = self.borrow(FAULTS + replicas * self.n * WORDS, np.uint32)
        acc.fill(0)
        for i, tile in enumerate(self.tiles):
            mask = None if self.mask is None else tile.of(self.mask).astype(np.int32).reshape(-1)
            if self.kept:
                record, signature = self.kept[i]
            else:
                # A launch of its own: in one with the replay, a GPU's neighbouring lanes would be in different passes.
                record, signature = self._borrow(tile)
                self.trace(REVERSE, tile, 0, 1, samples, record, signature=signature)
            self.trace(
                REVERSE, tile, 1, 2, samples, record, signature=signature, d_film=d_film, acc=acc,
                mask=None if mask is None else runtime.array(mask), replay_seed=self.replay_seed,
                d_scale=1.0 / self.spp, n_accumulators=self.n, n_replicas=replicas,
            )  # fmt: skip
            self.traced += tile.lanes if mask is None else int(np.count_nonzero(mask))
            if not self.kept:
                self.give_back(record, signature)
            if progress is not None:
                progress((i + 1) / len(self.tiles))
        self.drop()
        self.give_back(samples, d_film)
        words, totals = self._sums(acc, replicas)
        self.give_back(acc)
        check_faults(words)
        self.equal = self.traced - int(words[MISMATCHES])
        units = self.device.units_of(self.n)
        # Each group holds a share of the samples; d_scale divided by all of them.
        sizes = [len(range(g, self.spp, self.groups)) for g in range(self.groups)]
        return [t * (self.spp / size / units) for t, size in zip(totals, sizes)], sizes

    def _sums(self, acc, replicas: int) -> tuple[np.ndarray, list[np.ndarray]]:
        """The words ahead of the accumulators, and every group's totals."""
        n = self.groups * self.n
        if replicas == self.groups and n > SMALL:  # of a texture: most of the work is to read them
            out = self.borrow(HEAD + 2 * n, np.uint32)
            out.fill(0)
            differences(acc, out, n)
            found = out.to_numpy()[: HEAD + 2 * n]
            self.give_back(out)
            if found[0] == 0:
                return found[1:HEAD], list(found[HEAD:].view("<i8").reshape(self.groups, self.n).astype(np.float64))
        words = acc.to_numpy()[: FAULTS + replicas * self.n * WORDS]
        return words, exact_totals(words[FAULTS:], replicas, self.n, self.groups)

    def drop(self) -> None:
        """Let go of what pass 0 kept."""
        for arrays in self.kept:
            self.give_back(*arrays)
        self.kept = []

    def _borrow(self, tile: Tile):
        return self.borrow(tile.lanes * layout.RECORD_STRIDE), self.borrow(4 * tile.lanes, np.uint32)

    @staticmethod
    def _words(tile: Tile, signature) -> np.ndarray:
        """(lanes, 4): hash of everything met and of the decisions, for pass 0, then for pass 1."""
        return signature.to_numpy()[: 4 * tile.lanes].reshape(-1, 4)


def check_faults(words: np.ndarray) -> None:
    """Raise where a deposit could not be added: it was too large for its accumulator, or not finite."""
    too_large, not_finite = int(words[TOO_LARGE]), int(words[NOT_FINITE])
    if too_large or not_finite:
        raise ArithmeticError(
            f"{too_large} gradient deposits were too large for the exact sums and {not_finite} were not finite; "
            "look for a light or a derivative that is extremely large (a roughness near 0, d_image not scaled)"
        )
