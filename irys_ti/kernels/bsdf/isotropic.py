"""Isotropic scattering: evenly into all directions, whatever a surface's side; the phase function of splats.

A phase function has no cosine: ``eval`` is albedo / (4 pi).
"""

from __future__ import annotations

import math

from irys_ti.graph import Param, cos, safe_sqrt, sin, vec3
from irys_ti.kernels.bsdf.sample import Sample

PARAMS = {"albedo": Param("reflectance", 0.5, 0.0, 1.0, doc="fraction of light that is scattered")}
TRANSMISSIVE = True
RECIPROCAL = False  # it is, but without the cosine that the test divides out


def eval(p, wi, wo):
    return p.albedo * (0.25 / math.pi)


def pdf(p, wi, wo):
    return wo.z * 0.0 + 0.25 / math.pi


def sample(p, wi, u):
    z = 1.0 - 2.0 * u.x
    r = safe_sqrt(1.0 - z * z)
    phi = 2.0 * math.pi * u.y
    return Sample(vec3(r * cos(phi), r * sin(phi), z))
