"""Materials and lights: a registered kind and its values."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from .pose import rotation_matrix
from .spectrum import Value


@dataclass
class Material:
    """A BSDF: ``kind`` names an entry of kernels.bsdf.BSDFS, ``values`` its PARAMS (defaults fill the rest).

    two_sided: the same from behind (only for kinds that do not transmit).
    """

    id: str
    kind: str
    values: dict[str, Value] = field(default_factory=dict)
    two_sided: bool = False


@dataclass
class Light:
    """A light: ``kind`` names an entry of kernels.light.LIGHTS ("area", "constant", "point", ...).

    to_world: (4, 4); a spot shines along its +z, a directional light along its +z. An area light lives in its
    Shape's ``light`` and has that shape's id in parameter paths. angles: of an "ies" light, its table's vertical and
    horizontal angles in degrees, (n,) and (m,), increasing. translation (3,), rotation (3,) (axis times radians, about
    the light's place): where it stands away from ``to_world``; an area light's are its shape's.
    """

    id: str
    kind: str
    values: dict[str, Value] = field(default_factory=dict)
    to_world: np.ndarray = field(default_factory=lambda: np.eye(4))
    angles: tuple[np.ndarray, np.ndarray] | None = None
    translation: np.ndarray = field(default_factory=lambda: np.zeros(3))
    rotation: np.ndarray = field(default_factory=lambda: np.zeros(3))

    def placed(self) -> np.ndarray:
        """(4, 4) of where it stands now, translation and rotation included."""
        m = np.array(self.to_world, np.float64)
        if np.any(self.rotation):
            m[:3, :3] = rotation_matrix(self.rotation) @ m[:3, :3]
        m[:3, 3] += self.translation
        return m
