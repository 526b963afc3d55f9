"""A participating medium as a scene file gives it."""

from __future__ import annotations

from dataclasses import dataclass, field

from .spectrum import Value


@dataclass
class Medium:
    """What fills a shape's inside.

    kind: "homogeneous". values: sigma_t (per unit of length), albedo, scale (a factor on sigma_t).
    phase: "isotropic" or "hg" (Henyey and Greenstein), with phase_values.
    """

    id: str
    kind: str
    values: dict[str, Value] = field(default_factory=dict)
    phase: str = "isotropic"
    phase_values: dict[str, Value] = field(default_factory=dict)
