"""Participating media: their parameters, by kind, and the graphs of what they do to light.

A kind's first parameters are those of its phase function (kernels/bsdf/hg.py, droplets.py, isotropic.py, table.py), then come TERMS.
``extinction(p)`` is the coefficient per unit of length at density 1; a "grid" multiplies it, and what is emitted, by its
density there.
"""

from irys_ti.graph import Param

TERMS = {
    "sigma_t": Param("spectrum", 1.0, 0.0, float("inf"), doc="extinction per unit of length"),
    "scale": Param("scalar", 1.0, 0.0, float("inf"), doc="a factor on the extinction"),
    "emission": Param("spectrum", 0.0, 0.0, float("inf"), doc="radiance emitted per unit of length"),
}
PHASE = {
    "albedo": Param("reflectance", 0.75, 0.0, 1.0, doc="fraction of light that is scattered"),
    "g": Param("spectrum", 0.0, -0.99, 0.99, doc="mean cosine of the phase function, where it has one"),
    "diameter": Param("scalar", 20.0, 0.1, 50.0, doc="of droplets, in micrometres"),
    "phase_values": Param("spectrum", 1.0, 0.0, float("inf"), doc="a PhaseTable: values of a phase function, in any unit"),
}
DENSITY = Param("scalar", 1.0, 0.0, float("inf"), doc="densities (z, y, x) at the centres of a grid's voxels")


class Kind:
    """One kind of medium: its PARAMS, those that every medium has and more."""

    def __init__(self, **more: Param):
        self.PARAMS = {**PHASE, **TERMS, **more}


MEDIA = {"homogeneous": Kind(), "grid": Kind(density=DENSITY)}


def extinction(p):
    """Per wavelength and unit of length, at density 1."""
    return p.sigma_t * p.scale
