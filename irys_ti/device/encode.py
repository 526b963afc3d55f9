"""Host values (numbers, spectra, textures) to device numbers, with the chain rule in both directions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from irys_ti.kernels import layout
from irys_ti.scene.phase import PhaseTable
from irys_ti.scene.sparse import SparseGrid
from irys_ti.scene.spectrum import Spectrum, Texture
from irys_ti.spectral.grid import to_grid
from irys_ti.spectral.upsample import (
    coefficients,
    emission,
    emission_jacobian,
    illuminant,
    illuminant_jacobian,
    jacobian,
)


@dataclass
class Encoded:
    """One value as the device keeps it.

    data: (n,) float64 for the real pool. kind, n, height, flags, lambda0, inv_step, to_uv: its record.
    host: the host's array. pull(d_data) -> derivative by the host array; push(tangent) -> tangent of data.
    """

    data: np.ndarray
    kind: int
    host: np.ndarray
    n: int = 1
    height: int = 1
    flags: int = 1
    lambda0: float = 0.0
    inv_step: float = 0.0
    to_uv: np.ndarray | None = None
    matrix: np.ndarray | None = None  # data = matrix @ host, or per texel (n, channels, 3)

    def pull(self, d_data: np.ndarray) -> np.ndarray:
        """Derivative by the host's array, from the derivative by the device's numbers."""
        if self.matrix is None:
            return d_data.reshape(self.host.shape)
        if self.matrix.ndim == 2:
            return (self.matrix.T @ d_data).reshape(self.host.shape)
        d = np.einsum("pck,pc->pk", self.matrix, d_data.reshape(len(self.matrix), -1))
        return d.reshape(self.host.shape)

    def push(self, tangent: np.ndarray) -> np.ndarray:
        """Tangent of the device's numbers, from the host array's."""
        if self.matrix is None:
            return tangent.reshape(-1)
        if self.matrix.ndim == 2:
            return self.matrix @ tangent.reshape(-1)
        return np.einsum("pck,pk->pc", self.matrix, tangent.reshape(len(self.matrix), 3)).reshape(-1)


def host_array(value) -> np.ndarray:
    """The numbers that a parameter path shows: () for a number, (n,) for a spectrum, pixels for a texture."""
    if isinstance(value, Spectrum):
        return value.values if value.kind != "constant" else value.values.reshape(())
    if isinstance(value, Texture):
        return np.asarray(value.pixels, np.float64)
    if isinstance(value, PhaseTable):
        return value.values
    if isinstance(value, SparseGrid):
        return value.blocks
    return np.asarray(value, np.float64)  # a number, or a splat set's array


def with_array(value, array: np.ndarray):
    """A value of the same kind holding other numbers."""
    if isinstance(value, Spectrum):
        return Spectrum(value.kind, np.atleast_1d(array), value.wavelengths, value.illuminant, value.extend)
    if isinstance(value, Texture):
        return Texture(array, value.filter, value.wrap, value.to_uv, value.source, value.illuminant)
    if isinstance(value, SparseGrid):
        return SparseGrid(value.size, array, value.corners)
    if isinstance(value, PhaseTable):
        return PhaseTable(value.cosines, array, value.wavelengths)
    return np.asarray(array, np.float64) if isinstance(value, np.ndarray) and value.ndim else float(array)


def encode(value, unbounded: bool) -> Encoded:
    """Encode one value. unbounded: a colour may exceed 1 (a light's), so its scale is kept apart."""
    host = host_array(value)
    if isinstance(value, Texture):
        return _texture(value, host, unbounded)
    if isinstance(value, PhaseTable):
        return _phase_table(value, host)
    if isinstance(value, Spectrum) and value.kind == "points":
        lambda0, step, values, weights = to_grid(value)
        identity = weights.shape[0] == weights.shape[1] and np.array_equal(weights, np.eye(len(weights)))
        return Encoded(
            values, layout.GRID, host, n=len(values), lambda0=lambda0, inv_step=1.0 / step,
            matrix=None if identity else weights,
        )
    if isinstance(value, Spectrum) and value.kind == "rgb":
        data, matrix = _colour(host.reshape(1, 3), unbounded, value.illuminant)
        flags = data.shape[1] | (layout.ILLUMINANT if value.illuminant else 0)
        return Encoded(data.reshape(-1), layout.SIGMOID, host, flags=flags, matrix=matrix)
    if host.ndim == 3 or isinstance(value, SparseGrid):
        return Encoded(host.reshape(-1), layout.VOLUME, host, n=host.shape[2], height=host.shape[1])
    if host.ndim:
        return Encoded(host.reshape(-1), layout.PER_PRIM, host, n=len(host))
    return Encoded(host.reshape(-1), layout.CONSTANT, host)


@dataclass
class EncodedPhase(Encoded):
    """A table of a phase function: its derivatives go through its normalisation. data: see kernels/phase_table.py."""

    shape: tuple = ()  # wavelengths, cosines
    by_value: np.ndarray | None = None  # (n,) each number's share in the integral over the sphere
    whole: np.ndarray | None = None  # (m, 1) the integral over the sphere

    def _densities(self) -> np.ndarray:
        return self.data[: self.host.size].reshape(self.shape)

    def pull(self, d_data: np.ndarray) -> np.ndarray:
        d = d_data[: self.host.size].reshape(self.shape)
        d = (d - self.by_value * (self._densities() * d).sum(1, keepdims=True)) / self.whole
        return d.reshape(self.host.shape)

    def push(self, tangent: np.ndarray) -> np.ndarray:
        t = tangent.reshape(self.shape)
        t = (t - self._densities() * (self.by_value * t).sum(1, keepdims=True)) / self.whole
        return np.r_[t.reshape(-1), np.zeros(self.data.size - t.size)]


EVEN = 1.0 / 32.0  # of even scattering, that directions are drawn by at least: a number that is 0 has a derivative too


def _phase_table(value: PhaseTable, host: np.ndarray) -> EncodedPhase:
    cosines, values = value.cosines, np.atleast_2d(host)
    lambdas = np.zeros(1) if value.wavelengths is None else value.wavelengths
    steps = np.diff(cosines)
    by_value = np.pi * (np.r_[steps, 0.0] + np.r_[0.0, steps])  # by the trapezoidal rule, exact for what is linear
    whole = (values @ by_value)[:, None]
    densities = values / whole
    chances = np.maximum(densities, EVEN * 0.25 / np.pi)
    chances /= (chances @ by_value)[:, None]
    sums = np.cumsum(np.pi * steps * (chances[:, 1:] + chances[:, :-1]), 1)
    sums = np.c_[np.zeros(len(sums)), sums / sums[:, -1:]]
    data = np.concatenate([x.reshape(-1) for x in (densities, chances, sums, cosines, lambdas)])
    return EncodedPhase(
        data, layout.PHASE_TABLE, host, n=len(cosines), height=len(values), shape=values.shape, by_value=by_value, whole=whole
    )


def _texture(value: Texture, host: np.ndarray, unbounded: bool) -> Encoded:
    h, w, channels = host.shape
    flags = {"repeat": 0, "clamp": 1, "mirror": 2}[value.wrap] << layout.WRAP_SHIFT
    flags |= layout.NEAREST if value.filter == "nearest" else 0
    common = {"n": w, "height": h, "to_uv": np.asarray(value.to_uv, np.float64)}
    if channels == 1:
        return Encoded(host.reshape(-1), layout.TEXTURE, host, flags=flags | 1, **common)
    data, matrix = _colour(host.reshape(-1, 3), unbounded, value.illuminant)
    flags |= data.shape[1] | (layout.ILLUMINANT if unbounded and value.illuminant else 0)
    return Encoded(data.reshape(-1), layout.TEXTURE, host, flags=flags, matrix=matrix, **common)


def _colour(rgb: np.ndarray, unbounded: bool, lit: bool) -> tuple[np.ndarray, np.ndarray]:
    """Coefficients (n, 3) and their Jacobian (n, 3, 3) by the colour; unbounded: a scale as fourth column."""
    if not unbounded:
        c = coefficients(rgb)
        return c, jacobian(c)
    scale, c = illuminant(rgb) if lit else emission(rgb)
    by_rgb = (illuminant_jacobian if lit else emission_jacobian)(rgb, c)  # rows: scale, then the coefficients
    return np.c_[c, scale], np.concatenate([by_rgb[:, 1:], by_rgb[:, :1]], 1)
