"""The table that light selection draws from, and the lights' records."""

from __future__ import annotations

import numpy as np

from irys_ti.errors import SceneError
from irys_ti.kernels import layout
from irys_ti.kernels.light import LIGHTS
from irys_ti.scene import Light, Mesh, Scene, Sphere
from irys_ti.spectral.cie import integrate_product, wavelengths, xyz, y_integral

from . import environment

AT_A_PLACE = ("point", "spot", "ies")
SMALL = 0.05  # radius of a light, over the scene's, that is taken for a point by what is drawn near to it
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
        if any(x.angles is not None and (x.angles[0].size, x.angles[1].size) != n for x, n in zip(self.lights, self._sizes)):
            return True
        return any(not np.array_equal(x.to_world, m) for x, m in zip(self.lights, self._placed))

    def moved(self) -> bool:
        """Whether a light stands elsewhere than when ``write`` last ran."""
        return self._stand() != self._stood

    def _stand(self) -> bytes:
        return b"".join(x.placed().tobytes() for x in self.lights)

    def lay_out(self, h, reals, ints, first: dict) -> None:
        """Reserve records, the selection table and what environments keep."""
        kinds = list(LIGHTS)
        records = np.zeros((max(1, len(self.lights)), layout.LIGHT_STRIDE), np.int64)
        entries, self.entry_light, self.entry_share, first_entry = [], [], [], []
        self.to_local_at, self.data_at = [], []
        self._placed = [np.array(x.to_world, np.float64) for x in self.lights]
        self._sizes = [None if x.angles is None else (x.angles[0].size, x.angles[1].size) for x in self.lights]
        for i, light in enumerate(self.lights):
            kept, width, height = environment.size(light)
            at = reals.add(np.zeros(layout.LIGHT_DATA + kept))
            self.to_local_at.append(at)
            self.data_at.append(at + layout.LIGHT_DATA)
            records[i] = (
                kinds.index(light.kind), first[id(light)], len(LIGHTS[light.kind].PARAMS), -1, at, width, height, 0,
            )
            first_entry.append(len(entries))
            if i < len(self.shapes):
                shape = self.shapes[i]
                prim0, areas = self.geometry.areas(shape)
                for k in range(areas.size):
                    entries.append((i, prim0 + k))
                    self.entry_light.append(i)
                    self.entry_share.append(0.0)
            else:
                parts = getattr(LIGHTS[light.kind], "PARTS", 1)
                for part in range(parts):
                    entries.append((i, part))
                    self.entry_light.append(i)
                    self.entry_share.append(1.0 / parts)
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
        self._stood = self._stand()
        self._measure()
        radius = self.geometry.radius
        for i, light in enumerate(self.lights):
            mean = {}
            for name in LIGHTS[light.kind].PARAMS:
                mean[name] = _mean(device.by_path[f"{light.id}.{name}"])
            at = self.to_local_at[i]
            device.mirror_reals[at : at + layout.LIGHT_DATA] = environment.orientation(light, mean)
            if light.kind == "sky":
                powers[i], bright = self._write_sky(device, i, mean)
                peak = max(peak, bright)
                continue
            area = self.geometry.areas(self.shapes[i])[1].sum() if i < len(self.shapes) else 0.0
            powers[i] = max(0.0, LIGHTS[light.kind].power(mean, light, area, radius))
            falloff = 1.0 / radius**2 if light.kind in ("point", "spot", "ies") else 1.0
            if light.kind == "ies":
                falloff *= max(1.0, float(device.by_path[f"{light.id}.candela"].encoded.host.max()))
                angles = np.concatenate(light.angles)
                device.mirror_reals[self.data_at[i] : self.data_at[i] + angles.size] = angles
            peak = max(peak, float(np.abs(device.by_path[self._main(light)].encoded.host).max()) * falloff)
            if light.kind == "envmap":
                numbers = environment.of_map(light)
                device.mirror_reals[self.data_at[i] : self.data_at[i] + numbers.size] = numbers
        self.brightness = peak if peak > 0 else 1.0
        self.share = powers / powers.sum() if powers.sum() > 0 else np.zeros(len(powers))  # of all power
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

    @property
    def stand(self) -> bool:
        """Whether some light stands at one place, or is a shape, which may be small."""
        return bool(self.shapes) or any(x.kind in AT_A_PLACE for x in self.lights)

    def _place_of(self, i: int):
        """Where a light stands, None where it is no place: a shape's middle, if it is small."""
        if i >= len(self.shapes):
            return self.lights[i].placed()[:3, 3] if self.lights[i].kind in AT_A_PLACE else None
        s = next(s for s in self.geometry.placed if s.id == self.shapes[i].id)
        if isinstance(s, Sphere):
            return np.asarray(s.center) if s.radius < SMALL * self.geometry.radius else None
        ends = np.array([np.min(s.vertices, 0), np.max(s.vertices, 0)]) if isinstance(s, Mesh) else np.array([[0.0], [np.inf]])
        return ends.mean(0) if np.linalg.norm(ends[1] - ends[0]) < 2 * SMALL * self.geometry.radius else None

    def aims(self) -> np.ndarray:
        """(n, 4) places of the brightest lights that stand at one, and how large a share of scatterings is drawn near to each.

        It is half of their share of all power.
        """
        places = {i: self._place_of(i) for i in np.argsort(-self.share) if self.share[i] > 0}
        best = [i for i, at in places.items() if at is not None][: layout.MOST_AIMS]
        return np.array([[*places[i], 0.5 * self.share[i]] for i in best]).reshape(-1, layout.AIM_STRIDE)

    def _measure(self) -> None:
        """Shares of the primitives in their light, from the present areas."""
        at = 0
        for shape in self.shapes:
            areas = self.geometry.areas(shape)[1]
            total = areas.sum()
            self.entry_share[at : at + areas.size] = areas / total if total > 0 else 0.0
            at += areas.size

    def want(self, device, paths) -> None:
        """Mark the lights whose gradients are asked for, and those of which a part moves with a parameter asked for."""
        for i, light in enumerate(self.lights):
            names = {p[len(light.id) + 1 :] for p in paths if p.startswith(f"{light.id}.")}
            rides = names & set(getattr(LIGHTS[light.kind], "RIDES", ()))
            self.records[i, layout.LIGHT_WANTED] = int(bool(names)) | (layout.RIDING if rides else 0)
        at = self.records_at
        device.mirror_ints[at : at + self.records.size] = self.records.reshape(-1)

    @property
    def riding(self) -> bool:
        """Whether the derivative asked for is by a parameter that moves a part of a light."""
        return bool((self.records[:, layout.LIGHT_WANTED] & layout.RIDING).any())

    def set_shape(self, i: int, record_at: int) -> None:
        """Tell an area light where its shape's record is."""
        self.records[i, layout.LIGHT_SHAPE] = record_at

    @staticmethod
    def _main(light: Light) -> str:
        """Path of the light's first parameter: what it emits."""
        return f"{light.id}.{next(iter(LIGHTS[light.kind].PARAMS))}"

    def _write_sky(self, device, i: int, values: dict) -> tuple[float, float]:
        """What a sky keeps, and the shares of its two parts; returns (its power, its brightness)."""
        numbers, (sky, sun), peak = environment.of_sky(values)
        device.mirror_reals[self.data_at[i] : self.data_at[i] + numbers.size] = numbers
        sky, sun = sky * values["sky_scale"], sun * values["sun_scale"]
        total = sky + sun
        share = float(np.clip(sun / total if total > 0 else 0.5, environment.LEAST, environment.MOST))
        self.entry_share[self.entry_light == i] = 1 - share, share
        return total * np.pi * self.geometry.radius**2, max(peak * values["sky_scale"], sun)


def _mean(slot) -> float:
    """A parameter's mean: over a texture's pixels, luminance-weighted over wavelengths for a spectrum."""
    e = slot.encoded
    if e.kind == layout.GRID:
        x = (wavelengths() - e.lambda0) * e.inv_step
        values = np.interp(x, np.arange(e.n), e.data, left=0.0, right=0.0)
        return float(integrate_product(values, xyz()[:, 1] / y_integral()))
    return float(e.host.mean())
