"""The table that light selection draws from, and the lights' records."""

from __future__ import annotations

import numpy as np

from irys_ti.errors import SceneError
from irys_ti.kernels import layout
from irys_ti.kernels.light import LIGHTS
from irys_ti.scene import Light, Scene, Texture
from irys_ti.spectral.cie import integrate_product, wavelengths, xyz, y_integral

UNIFORM = 0.1  # share of selection that ignores power, so that a light of power 0 still gets its derivative


class LightTable:
    """Lights of a scene in record order: shapes' area lights first, then the others."""

    def __init__(self, scene: Scene, geometry):
        self.geometry = geometry
        self.shapes = [s for s in scene.shapes if s.light is not None]
        self.lights: list[Light] = [s.light for s in self.shapes] + list(scene.lights)
        for s in self.shapes:
            if s.group is not None:
                raise SceneError(
                    f"{scene.file}: shape '{s.id}'", "an area light inside a shape group",
                    "instances of lights are not supported: place the light in the scene itself",
                )
            if s.light.kind != "area":
                raise SceneError(f"{scene.file}: shape '{s.id}'", f"light kind '{s.light.kind}'", "a shape takes 'area'")
        environments = [i for i, x in enumerate(self.lights) if LIGHTS[x.kind].CLASS == "environment"]
        if len(environments) > 1:
            names = ", ".join(f"'{self.lights[i].id}'" for i in environments)
            raise SceneError(f"{scene.file}: lights {names}", "more than one environment", "keep one")
        self.environment = environments[0] if environments else -1
        self.brightness = 1.0

    def changed(self, scene: Scene) -> bool:
        """Whether lights were added, removed or moved since."""
        now = [s.light for s in scene.shapes if s.light is not None] + list(scene.lights)
        if [id(x) for x in now] != [id(x) for x in self.lights]:
            return True
        return any(not np.array_equal(x.to_world, m) for x, m in zip(self.lights, self._placed))

    def lay_out(self, h, reals, ints, first: dict) -> None:
        """Reserve records, the selection table and what environments keep."""
        kinds = list(LIGHTS)
        records = np.zeros((max(1, len(self.lights)), layout.LIGHT_STRIDE), np.int64)
        entries, self.entry_light, self.entry_share, first_entry = [], [], [], []
        self.tables = {}
        self._placed = [np.array(x.to_world, np.float64) for x in self.lights]
        for i, light in enumerate(self.lights):
            m = np.linalg.inv(self._placed[i])
            data, width, height = m[:3].reshape(-1), 0, 0
            if light.kind == "envmap":
                pixels = _pixels(light)
                height, width = pixels.shape[:2]
                data = np.r_[data, np.zeros(height + 1 + height * (width + 1))]
            at = reals.add(data)
            if light.kind == "envmap":
                self.tables[i] = at + layout.LIGHT_DATA
            records[i] = (
                kinds.index(light.kind), first[id(light)], len(LIGHTS[light.kind].PARAMS), -1, at, width, height, 0,
            )
            first_entry.append(len(entries))
            if i < len(self.shapes):
                shape = self.shapes[i]
                prim0, areas = self.geometry.areas(shape)
                total = areas.sum()
                for k, a in enumerate(areas):
                    entries.append((i, prim0 + k))
                    self.entry_light.append(i)
                    self.entry_share.append(a / total if total > 0 else 0.0)
            else:
                entries.append((i, -1))
                self.entry_light.append(i)
                self.entry_share.append(1.0)
        self.records = records
        self.records_at = h[layout.H_LIGHTS] = ints.add(records)
        h[layout.H_ENTRIES] = ints.add(np.array(entries or [(0, -1)], np.int64))
        h[layout.H_ENTRY_OF_LIGHT] = ints.add(np.array(first_entry or [0], np.int64))
        self.n_entries = h[layout.H_N_ENTRIES] = len(entries)
        self.cdf_at = h[layout.H_ENTRY_CDF] = reals.add(np.zeros(len(entries) + 1))
        self.entry_light = np.array(self.entry_light, np.int64)
        self.entry_share = np.array(self.entry_share)

    def write(self, device) -> None:
        """Selection probabilities and environment tables from the lights' present values."""
        powers = np.zeros(len(self.lights))
        peak = 0.0
        radius = self.geometry.radius
        for i, light in enumerate(self.lights):
            mean = {}
            for name in LIGHTS[light.kind].PARAMS:
                mean[name] = _mean(device.by_path[f"{light.id}.{name}"])
            area = self.geometry.areas(self.shapes[i])[1].sum() if i < len(self.shapes) else 0.0
            powers[i] = max(0.0, LIGHTS[light.kind].power(mean, light, area, radius))
            falloff = 1.0 / radius**2 if light.kind in ("point", "spot") else 1.0
            peak = max(peak, float(np.abs(device.by_path[self._main(light)].encoded.host).max()) * falloff)
            if light.kind == "envmap":
                self._write_environment(device, i)
        self.brightness = peak if peak > 0 else 1.0
        if len(self.lights):
            share = np.full(len(powers), 1.0 / len(powers))
            if powers.sum() > 0:
                share = UNIFORM * share + (1 - UNIFORM) * powers / powers.sum()
            pmf = share[self.entry_light] * self.entry_share
            total = pmf.sum()
            cdf = np.r_[0.0, np.cumsum(pmf / total)] if total > 0 else np.zeros(self.n_entries + 1)
            cdf[cdf > 1] = 1.0
            device.mirror_reals[self.cdf_at : self.cdf_at + cdf.size] = cdf
        at = self.records_at
        device.mirror_ints[at : at + self.records.size] = self.records.reshape(-1)

    def want(self, device, owners: set) -> None:
        """Mark the lights whose gradients are asked for."""
        for i, light in enumerate(self.lights):
            self.records[i, layout.LIGHT_WANTED] = int(id(light) in owners)
        at = self.records_at
        device.mirror_ints[at : at + self.records.size] = self.records.reshape(-1)

    def set_shape(self, i: int, record_at: int) -> None:
        """Tell an area light where its shape's record is."""
        self.records[i, layout.LIGHT_SHAPE] = record_at

    @staticmethod
    def _main(light: Light) -> str:
        """Path of the light's first parameter: what it emits."""
        return f"{light.id}.{next(iter(LIGHTS[light.kind].PARAMS))}"

    def _write_environment(self, device, i: int) -> None:
        pixels = _pixels(self.lights[i])
        h, w = pixels.shape[:2]
        weight = cell_means(pixels.mean(2))
        # A black texel has a derivative too: keep a floor.
        weight = weight + 0.05 * max(weight.mean(), 1e-12) * np.sin(np.pi * (np.arange(h) + 0.5) / h)[:, None]
        rows = np.r_[0.0, np.cumsum(weight.sum(1))]
        cells = np.c_[np.zeros(h), np.cumsum(weight, 1)]
        table = np.r_[rows / rows[-1], (cells / cells[:, -1:]).reshape(-1)]
        device.mirror_reals[self.tables[i] : self.tables[i] + table.size] = table


def cell_means(pixels: np.ndarray) -> np.ndarray:
    """Mean of the interpolated image (h, w) times sin(theta) over each of h by w equal cells of the sphere's map.

    Texels are centred in their columns; rows lie at the ends of the cells' range (kernels/light/envmap.py).
    """
    h, parts = len(pixels), 8
    theta = (np.arange(h * parts) + 0.5) / (h * parts)
    y = theta * (h - 1)
    low = np.minimum(y.astype(int), max(h - 2, 0))
    rows = np.zeros((h * parts, h))
    at = np.arange(h * parts)
    np.add.at(rows, (at, low), 1 - (y - low))
    np.add.at(rows, (at, np.minimum(low + 1, h - 1)), y - low)
    rows = (rows * np.sin(np.pi * theta)[:, None]).reshape(h, parts, h).mean(1)
    across = 0.75 * pixels + 0.125 * (np.roll(pixels, 1, 1) + np.roll(pixels, -1, 1))
    return rows @ across


def _pixels(light: Light) -> np.ndarray:
    """An environment's pixels; one pixel where it has no texture."""
    value = light.values.get("radiance")
    return np.asarray(value.pixels, np.float64) if isinstance(value, Texture) else np.ones((1, 1, 1))


def _mean(slot) -> float:
    """A parameter's mean: over a texture's pixels, luminance-weighted over wavelengths for a spectrum."""
    e = slot.encoded
    if e.kind == layout.GRID:
        x = (wavelengths() - e.lambda0) * e.inv_step
        values = np.interp(x, np.arange(e.n), e.data, left=0.0, right=0.0)
        return float(integrate_product(values, xyz()[:, 1] / y_integral()))
    return float(e.host.mean())
