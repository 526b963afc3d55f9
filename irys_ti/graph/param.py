"""Declarations of parameters: plain data that the scene, the device and the docs read."""

from __future__ import annotations

from dataclasses import dataclass

KINDS = ("spectrum", "reflectance", "scalar", "flag")


@dataclass(frozen=True)
class Param:
    """One parameter of a model.

    kind: "spectrum" (non-negative, per wavelength), "reflectance" (a spectrum within [0, 1]), "scalar",
    or "flag" (an option that is 0 or 1 and has no derivative).
    default: a number (spectra: constant over wavelength). low, high: the closed range of valid values.
    differentiable: whether gradients exist; ``why_not`` tells a person who asks why there is none.
    doc: one line for the parameter table.
    """

    kind: str
    default: float
    low: float
    high: float
    differentiable: bool = True
    doc: str = ""
    why_not: str = ""

    def __post_init__(self):
        if self.kind not in KINDS:
            raise ValueError(f"Param kind {self.kind!r} is not one of {', '.join(KINDS)}")
        if not self.low <= self.default <= self.high:
            raise ValueError(f"Param default {self.default} is outside its range [{self.low}, {self.high}]")
        if self.kind == "flag" and self.differentiable:
            object.__setattr__(self, "differentiable", False)

    @property
    def shape(self) -> tuple:
        """The shape of its graph leaf: (4,) for spectra, () otherwise."""
        return (4,) if self.kind in ("spectrum", "reflectance") else ()
