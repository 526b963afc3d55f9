"""Parametric solids: meshes whose vertices are expression graphs of their dimensions.

    plate = it.cad.plate("plate", length=0.12, width=0.08, thickness=0.01, bores={"bore": (0.0, 0.0, 0.03)})
    plate.add_to(scene, material="steel")
    grads = it.backward(scene, d_image, params=["plate.bore_diameter", "plate.thickness"])

Topology stays as it was made while dimensions move; every vertex has exact derivatives by every dimension.
"""

from .compose import assembly, moved
from .external import External
from .part import Part
from .solid import Dimension, Patch, Solid
from .solids import bearing_seat, box, extrusion, fillet_ring, plate, revolution, shaft

__all__ = [
    "Dimension", "External", "Part", "Patch", "Solid", "assembly", "bearing_seat", "box", "extrusion", "fillet_ring", "moved", "plate",
    "revolution", "shaft",
]  # fmt: skip
