"""OpenPBR's fuzz: fibres along the normal, as a linearly transformed cosine (Zeltner, Burley and Chiang 2022).

With M^-1 = [[A, 0, B], [0, A, 0], [0, 0, 1]] in the frame of wi, the lobe's density is A^2 z / (pi |M^-1 wo|^4).
Width A, shear B and albedo are closed forms fitted to random walks by ``irys_ti/data/make_openpbr_fits.py``. The
lobe is normalised whatever they are, and the layer below gets exactly 1 - albedo.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from irys_ti.graph import Expr, exp, normalize, vec3
from irys_ti.kernels.bsdf.openpbr_fits import FITS
from irys_ti.kernels.bsdf.warp import cosine_hemisphere

OFFSET = 0.01


class Fuzz(NamedTuple):
    """The lobe seen from wi; shear: B over the sine of wi."""

    wi: Expr
    albedo: Expr
    width: Expr
    shear: Expr


def fuzz(p, wi: Expr) -> Fuzz:
    r, mu = p.fuzz_roughness, wi.z
    c = FITS["fuzz"]["albedo"]
    x = mu / (r + OFFSET)
    e = c[0] + r * (c[1] + r * c[2]) + x * (c[3] + r * (c[4] + r * c[5]) + x * (c[6] + r * (c[7] + r * c[8])))
    a = FITS["fuzz"]["width"]
    width = OFFSET + r * (a[0] + r * (a[1] + r * a[2]) + mu / (mu + a[6]) * (a[3] + r * (a[4] + r * a[5])))
    b = FITS["fuzz"]["shear"]
    shear = (r - 1.0) * (b[0] + r * (b[1] + r * b[2])) / (1.0 + b[3] * x)
    return Fuzz(wi, exp(-e), width, shear)


def pdf(f: Fuzz, wo: Expr) -> Expr:
    """The lobe's density at wo above the surface: its value, too, for albedo 1."""
    b = f.shear * wo.z
    x, y = f.width * wo.x + b * f.wi.x, f.width * wo.y + b * f.wi.y
    length2 = x * x + y * y + wo.z * wo.z
    ratio = f.width / length2
    return ratio * ratio * wo.z * (1.0 / math.pi)


def sample(f: Fuzz, u: Expr) -> Expr:
    w = cosine_hemisphere(u)
    b = f.shear * w.z
    return normalize(vec3((w.x - b * f.wi.x) / f.width, (w.y - b * f.wi.y) / f.width, w.z))
