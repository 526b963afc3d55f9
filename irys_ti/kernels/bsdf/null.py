"""No surface at all: the boundary of a medium. Paths go on through it and do not count it (kernels/media_path.py)."""

from __future__ import annotations

from irys_ti.graph import select, spectrum
from irys_ti.kernels.bsdf.sample import Sample

PARAMS: dict = {}
HAS_DELTA = True
HAS_SMOOTH = False
TRANSMISSIVE = True


def eval_delta(p, wi, wo):
    return spectrum(select(wi.z * wo.z < 0.0, 1.0, 0.0))


def pdf_delta(p, wi, wo):
    return select(wi.z * wo.z < 0.0, 1.0, 0.0)


def sample(p, wi, u):
    return Sample(-wi, True)
