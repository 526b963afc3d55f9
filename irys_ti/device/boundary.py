"""Boundary terms of a gradient: their samples, launched group by group, summed exactly."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from irys_ti import runtime
from irys_ti.kernels import layout
from irys_ti.kernels.accumulate import FAULTS, WORDS
from irys_ti.kernels.boundary.farther import deposit_farther
from irys_ti.kernels.boundary.outline import deposit_outlines, sample_outlines
from irys_ti.kernels.boundary.shadow import BOUNCED, DIRECT, TRACE, deposit_shadows
from irys_ti.kernels.config import PRIMAL

from .crossings import Crossings
from .edge_table import EdgeTable, table_of
from .launch import MAX_LANES, Launcher, Tile, as_i32
from .replay import HOT_WORDS, REPLICAS, check_faults
from .sums import exact_totals

# Edges that the camera sees; shadows it sees, in the light of lights, and in that of surfaces; shadows seen by way of a surface.
TERMS = ("outlines", "shadows", "bounces", "farther")
# Samples of each, over those asked for; ``farther`` has two parts, the lights' and the surfaces'. About as standard error
# over the root of the cost goes, measured in three scenes: outlines and bounces trace whole paths.
SHARES = {"outlines": 0.5, "shadows": 1.5, "bounces": 0.5, "farther": 0.75, "farther bounced": 0.25}


def terms_of(boundary) -> tuple[str, ...]:
    """The terms that an argument ``boundary`` names: "all", "off", one of TERMS, or several."""
    if boundary == "all":
        return TERMS
    names = () if boundary == "off" else (boundary,) if isinstance(boundary, str) else tuple(boundary)
    for name in names:
        if name not in TERMS:
            raise ValueError(f"boundary {name!r} is not one of 'all', 'off', {', '.join(map(repr, TERMS))}")
    return names


class Boundary(Launcher):
    """Boundary terms of one device scene, of ``spp`` samples a pixel in each term, times its share (SHARES).

    terms: of TERMS. n_accumulators: what ``DeviceScene.want`` returned.
    """

    def __init__(self, device, spp, seed, groups, n_accumulators, terms):
        super().__init__(device, spp, seed, 1)
        self.n, self.sets, self.terms = n_accumulators, groups, terms
        self.per_set = max(1, self.n_pixels * self.spp // groups)
        if device.edges is None:
            device.edges = EdgeTable(device.geometry, int(device.mirror_ints[layout.H_SHAPES]))
        device.edges.update()
        self.edges = device.edges
        self.crossings = self._crossings()
        self.records = self.edges.records(self.crossings.records)
        self.moving = device.movers.moving()

    def deposit(self, d_image: np.ndarray) -> list[np.ndarray]:
        """The gradient of each set, in accumulator order."""
        d_film = runtime.array(np.asarray(d_image, np.float64))
        out = []
        for index in range(self.sets):
            acc, replicas = self._accumulators()
            if "outlines" in self.terms:
                self._outlines(index, d_film, acc, replicas)
            if "shadows" in self.terms:
                self._shadows(index, d_film, acc, replicas, False)
            if "bounces" in self.terms:
                self._shadows(index, d_film, acc, replicas, True)
            if "farther" in self.terms:
                self._farther(index, d_film, acc, replicas, False)
                self._farther(index, d_film, acc, replicas, True)
            words = acc.to_numpy()
            check_faults(words)
            out.append(exact_totals(words[FAULTS:], replicas, self.n, 1)[0] / self.device.units_of(self.n))
        return out

    def _accumulators(self):
        replicas = max(1, min(REPLICAS, HOT_WORDS // (self.n * WORDS)))
        return runtime.zeros(FAULTS + replicas * self.n * WORDS, np.uint32), replicas

    def _seed(self, index: int, term: int) -> int:
        """A seed of its own for every set and term."""
        return as_i32((self.seed & 0xFFFFFFFF) * 0x9E3779B1 + (8 * index + term) * 0x85EBCA77 + 0x27D4EB2F)

    def _total(self, term: str) -> int:
        """Samples of a term in a set."""
        return max(1, int(SHARES[term] * self.per_set))

    @staticmethod
    def _chunks(total: int):
        """(first, count) of launches of ``total`` samples."""
        most = MAX_LANES["gpu" if runtime.is_gpu() else "cpu"] // 2
        for first in range(0, total, most):
            yield first, min(most, total - first)

    def _outlines(self, index: int, d_film, acc, replicas: int) -> None:
        device = self.device
        camera = device.scene().camera
        moving = self.moving if not self.moving[device.movers.camera] else np.ones_like(self.moving)
        crossings = self.crossings

        def table():
            weights = np.r_[self.edges.seen_from(camera, moving), crossings.seen_from(camera, moving)]
            return runtime.array(np.r_[table_of(weights), crossings.ends.reshape(-1)]) if weights.sum() > 0 else None

        film = camera.film
        view = camera.placed().tobytes(), camera.fov_x(), *camera.principal_point, *film.window, film.width, film.height
        table = self.edges.kept("outlines", (moving.tobytes(), *view), table)
        if table is None:
            return
        accel, n_edges = device.geometry.accel.device(), len(self.edges) + len(crossings.records)
        seed = self._seed(index, 0)
        config, total = device.config(PRIMAL, rays=True), self._total("outlines")
        for first, n in self._chunks(total):
            rays, points = self.borrow(2 * n * layout.RAY_STRIDE), self.borrow(n * layout.POINT_STRIDE)
            samples = self.borrow(8 * n)
            sample_outlines(
                device.reals, device.ints, *accel, self.records, table, rays, points, n_edges, first, n, seed, config
            )
            self.trace(PRIMAL, Tile(0, n, 0, 2), 0, 1, samples, rays=rays, seed=seed)
            deposit_outlines(
                device.reals, device.ints, accel[2], self.records, table, points, samples, d_film, acc, n_edges, n, seed,
                1.0 / total, self.n, replicas, config,
            )  # fmt: skip
            self.give_back(rays, points, samples)

    def _crossings(self) -> Crossings:
        """The lines in which declared pairs cross now."""
        pairs = tuple(map(tuple, self.device.scene().crossings))

        def find() -> Crossings:
            found = Crossings(self.device.geometry, pairs, int(self.device.mirror_ints[layout.H_SHAPES]))
            found.records[:, layout.EDGE_OPPOSITE] = np.arange(len(found.records))  # where the table has its ends
            return found

        return self.edges.kept("crossings", pairs, find)

    def _shadows(self, index: int, d_film, acc, replicas: int, bounced: bool) -> None:
        """Shadow edges in the light of lights, or in that of surfaces, of which the path kernel tells."""
        device = self.device
        depth = 3 if bounced else 2
        if bounced and not device.movers.surfaces_move:
            return
        if device.mirror_ints[layout.H_MAX_DEPTH] < depth or not device.lights.lights or not len(self.edges):
            return
        table, seed = self._throwing(), self._seed(index, 2 if bounced else 1)
        accel, config = device.geometry.accel.device(), device.config(PRIMAL)
        if device.lights.riding and not bounced:
            config = replace(config, riding=2)
        total = self._total("bounces" if bounced else "shadows")
        for first, n in self._chunks(total):
            rays, near = self.borrow(n * layout.RAY_STRIDE if bounced else 1), self.borrow(n * layout.RAY_STRIDE if bounced else 1)
            samples, samples_near = self.borrow(4 * n if bounced else 1), self.borrow(4 * n if bounced else 1)
            given = {TRACE: (rays, near), BOUNCED: (samples_near, samples), DIRECT: (rays, samples)}
            for phase in (TRACE, BOUNCED) if bounced else (DIRECT,):
                deposit_shadows(
                    device.reals, device.ints, *accel, self.records, table, d_film, acc, *(given[phase]), len(self.edges), first, n,
                    seed, 1.0 / total, self.n, replicas, config, phase,
                )  # fmt: skip
                if phase == TRACE:
                    self.trace(PRIMAL, Tile(0, n, 0, 1), 0, 1, samples, rays=rays, seed=seed)
                    self.trace(PRIMAL, Tile(0, n, 0, 1), 0, 1, samples_near, rays=near, seed=seed)
            self.give_back(rays, near, samples, samples_near)

    def _throwing(self):
        """Table of edges as ones that throw shadows."""
        return self.edges.kept(
            "throwing", (self.moving.tobytes(),), lambda: runtime.array(table_of(self.edges.throwing(self.moving)))
        )

    def _farther(self, index: int, d_film, acc, replicas: int, bounced: bool) -> None:
        """Shadow edges that the camera sees by way of another surface, in the light of lights, or of surfaces."""
        device = self.device
        if device.mirror_ints[layout.H_MAX_DEPTH] < (4 if bounced else 3) or not device.lights.lights:
            return
        if not device.movers.wanted or not len(self.edges):
            return
        total = self._total("farther bounced" if bounced else "farther")
        table, seed = self._throwing(), self._seed(index, 4 if bounced else 3)
        accel, config = device.geometry.accel.device(), device.config(PRIMAL)
        for first, n in self._chunks(total):
            rays, near = self.borrow(n * layout.RAY_STRIDE if bounced else 1), self.borrow(n * layout.RAY_STRIDE if bounced else 1)
            samples, samples_near = self.borrow(4 * n if bounced else 1), self.borrow(4 * n if bounced else 1)
            given = {TRACE: (rays, near), BOUNCED: (samples_near, samples), DIRECT: (rays, samples)}
            for phase in (TRACE, BOUNCED) if bounced else (DIRECT,):
                deposit_farther(
                    device.reals, device.ints, *accel, self.records, table, d_film, acc, *(given[phase]), len(self.edges), first, n,
                    seed, 1.0 / total, self.n, replicas, config, phase,
                )  # fmt: skip
                if phase == TRACE:
                    self.trace(PRIMAL, Tile(0, n, 0, 1), 0, 1, samples, rays=rays, seed=seed)
                    self.trace(PRIMAL, Tile(0, n, 0, 1), 0, 1, samples_near, rays=near, seed=seed)
            self.give_back(rays, near, samples, samples_near)
