"""Hair: a dielectric cylinder with rough, tilted scales and absorbing inside, seen from near by.

Chiang, Bitterli, Tappan and Burley 2016, "A Practical and Controllable Hair and Fur Model for Production Path
Tracing": light that is reflected (R), that passes (TT), that is reflected once inside (TRT), and all that is left.
Each of the four is attenuation times a longitudinal lobe M (d'Eon et al. 2011, "An Energy-Conserving Hair Reflectance
Model") times an azimuthal lobe N, a logistic on the circle. Without absorption the attenuations sum to 1 at every
offset and angle, and every M and N integrates to 1: nothing is lost. The attenuation is that of the direction the
path came by, as the paper has it, so the value is not the same both ways.

The frame: x along the fibre from root to tip, z the cylinder's normal where it is met. So the offset h across the
fibre, -1 to 1, is the sine of the azimuth of wi; kernels/geometry/curve.py makes that true of flat ribbons too. The
model counts light per projected area and has no cosine of its own.

Absorption, per fibre radius, is the sum of ``sigma_a``, of what the two melanins absorb and of what ``color`` stands
for. The melanins' cross sections are the power laws that d'Eon's figures for red, green and blue lie on (Donner and
Jensen 2006); a color c stands for (ln c / D(beta_n))^2, equation 9 of Chiang et al.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from irys_ti.graph import (
    Expr,
    Param,
    atan2,
    clamp,
    cos,
    exp,
    floor,
    log,
    maximum,
    mean,
    minimum,
    safe_sqrt,
    select,
    sin,
    spectrum,
    sqrt,
    vec3,
)  # fmt: skip
from irys_ti.kernels.bsdf import fresnel
from irys_ti.kernels.bsdf.sample import Sample

PARAMS = {
    "sigma_a": Param("spectrum", 0.0, 0.0, 1e4, doc="absorption per fibre radius, added to the pigments'"),
    "eumelanin": Param("scalar", 0.0, 0.0, 20.0, doc="concentration of the brown pigment: blond 0.3, brown 1.3, black 8"),
    "pheomelanin": Param("scalar", 0.0, 0.0, 20.0, doc="concentration of the red pigment"),
    "color": Param("reflectance", 1.0, 0.0, 1.0, doc="colour of a dense tress; 1 absorbs nothing"),
    "beta_m": Param("scalar", 0.3, 0.02, 1.0, doc="roughness along the fibre"),
    "beta_n": Param("scalar", 0.3, 0.02, 1.0, doc="roughness around the fibre"),
    "tilt": Param("scalar", 2.0, -20.0, 20.0, doc="angle of the scales in degrees, towards the root"),
    "ior": Param("scalar", 1.55, 1.05, 3.0, doc="index of refraction of the fibre"),
}
NORM = {
    "sigma_a": (0.0, 2.0), "eumelanin": (0.0, 2.0), "pheomelanin": (0.0, 2.0), "color": (0.05, 1.0), "beta_m": (0.12, 1.0),
    "beta_n": (0.12, 1.0), "tilt": (-5.0, 5.0), "ior": (1.2, 2.2),
}  # fmt: skip
TRANSMISSIVE = True
RECIPROCAL = False
NEEDS_LAMBDAS = True

EUMELANIN, PHEOMELANIN = (0.697, -3.33), (0.4, -4.75)  # cross section at GREEN, and its power of the wavelength
GREEN = 551.0  # nm
LEAST_COLOR = 1e-6
FLOOR = 0.02  # least chance of a lobe, so that one of weight 0 shows its derivative
LOBES = 4
# exp(-x) I0(x): Abramowitz and Stegun 9.8.1, in (x / 3.75)^2, and 9.8.2, in 3.75 / x, over sqrt(x).
NEAR = (1.0, 3.5156229, 3.0899424, 1.2067492, 0.2659732, 0.0360768, 0.0045813)
FAR = (0.39894228, 0.01328592, 0.00225319, -0.00157565, 0.00916281, -0.02057706, 0.02635537, -0.01647633, 0.00392377)
BREAK = 3.75


class Fibre(NamedTuple):
    """What wi alone decides. side: -1 where wi lies below, whose frame is mirrored; gamma, gamma_t: azimuths of wi
    outside and inside; chances: of the four lobes."""

    side: Expr
    sin_i: Expr
    cos_i: Expr
    gamma: Expr
    gamma_t: Expr
    attenuation: list[Expr]
    chances: list[Expr]


def polynomial(coefficients, x: Expr) -> Expr:
    out = coefficients[-1]
    for c in reversed(coefficients[:-1]):
        out = out * x + c
    return out


def absorption(p) -> Expr:
    """Spectrum, per fibre radius."""
    lam = log(p.lambdas * (1.0 / GREEN))
    melanin = p.eumelanin * (EUMELANIN[0] * exp(EUMELANIN[1] * lam)) + p.pheomelanin * (PHEOMELANIN[0] * exp(PHEOMELANIN[1] * lam))
    depth = log(maximum(p.color, LEAST_COLOR)) / polynomial((5.969, -0.215, 2.532, -10.73, 5.574, 0.245), p.beta_n)
    return p.sigma_a + melanin + depth * depth


def fibre(p, wi: Expr) -> Fibre:
    side = select(wi.z < 0.0, -1.0, 1.0)
    cos_i = sqrt(maximum(wi.y * wi.y + wi.z * wi.z, 1e-14))
    # Refraction by the index that the fibre's normal plane sees (Marschner et al. 2003).
    sin_t = wi.y / sqrt(p.ior * p.ior - wi.x * wi.x)
    cos_t = safe_sqrt(1.0 - sin_t * sin_t)
    chord = 2.0 * cos_t / safe_sqrt(1.0 - wi.x * wi.x / (p.ior * p.ior))
    passed = exp(-(absorption(p) * chord))
    f = fresnel.dielectric(abs(wi.z), p.ior)
    in_out = (1.0 - f) * (1.0 - f)
    tt = passed * in_out
    trt = tt * passed * f
    rest = trt * passed * (f / maximum(1.0 - passed * f, 1e-6))
    attenuation = [spectrum(f), tt, trt, rest]
    weights = [mean(a) for a in attenuation]
    share = (1.0 - LOBES * FLOOR) / maximum(weights[0] + weights[1] + weights[2] + weights[3], 1e-6)
    chances = [FLOOR + w * share for w in weights]
    return Fibre(side, wi.x, cos_i, atan2(wi.y, abs(wi.z)), atan2(sin_t, cos_t), attenuation, chances)


def variances(p) -> list[Expr]:
    """Of the longitudinal lobes (equation 7 of Chiang et al., d'Eon's ratios)."""
    b = p.beta_m
    b4 = b * b * b * b
    b20 = b4 * b4 * b4 * b4 * b4
    root = b * 0.726 + b * b * 0.812 + b20 * 3.7
    v = root * root
    return [v, 0.25 * v, 4.0 * v, 4.0 * v]


def spread(p) -> Expr:
    """Scale of the azimuthal logistic (equation 8)."""
    b = p.beta_n
    b2 = b * b
    b4 = b2 * b2
    b22 = b4 * b4 * b4 * b4 * b4 * b2
    return math.sqrt(math.pi / 8.0) * (b * 0.265 + b2 * 1.194 + b22 * 5.372)


def tilted(p, f: Fibre) -> list[tuple[Expr, Expr]]:
    """(sine, cosine) of the inclination that each lobe sees: shifted by -2, 1 and 4 tilts."""
    s1, c1 = sin(p.tilt * (math.pi / 180.0)), cos(p.tilt * (math.pi / 180.0))
    s2, c2 = 2.0 * (s1 * c1), c1 * c1 - s1 * s1
    s4, c4 = 2.0 * (s2 * c2), c2 * c2 - s2 * s2
    turned = [
        (f.sin_i * c + f.cos_i * s, abs(f.cos_i * c - f.sin_i * s)) for s, c in ((-s2, c2), (s1, c1), (s4, c4))
    ]
    return [*turned, (f.sin_i, f.cos_i)]


def longitudinal(sin_i: Expr, cos_i: Expr, sin_o: Expr, cos_o: Expr, v: Expr) -> Expr:
    """M: a spherical Gaussian around the cone of reflection, per solid angle of inclination (d'Eon et al. 2011).

    exp(-s_i s_o / v) I0(c_i c_o / v) / (2 v sinh(1 / v)), arranged so that nothing overflows and, for a small v,
    nothing cancels: the exponents add up to minus half the squared distance of two points on the circle over v.
    """
    x = cos_i * cos_o / v
    near = minimum(x, BREAK)
    near = polynomial(NEAR, near * near * (1.0 / BREAK**2)) * exp(-near)
    far = maximum(x, BREAK)
    far = polynomial(FAR, BREAK / far) / sqrt(far)
    dc, ds = cos_i - cos_o, sin_i + sin_o
    return exp(-((dc * dc + ds * ds) * 0.5 / v)) * select(x < BREAK, near, far) / (v * (1.0 - exp(-2.0 / v)))


def azimuthal(angle: Expr, s: Expr) -> Expr:
    """N: a logistic of scale s on the circle, cut at half a turn from its middle; per radian."""
    x = angle - 2.0 * math.pi * floor((angle + math.pi) * (0.5 / math.pi))
    e, end = exp(-(abs(x) / s)), exp(-(math.pi / s))
    return e / (s * ((1.0 + e) * (1.0 + e))) * ((1.0 + end) / (1.0 - end))


def exits(f: Fibre) -> list[Expr]:
    """Azimuth from wi to where a smooth cylinder sends the light of the first three lobes."""
    return [2.0 * k * f.gamma_t - 2.0 * f.gamma + k * math.pi for k in range(LOBES - 1)]


def lobes(p, f: Fibre, wi: Expr, wo: Expr) -> list[Expr]:
    """M N of each lobe: densities over the sphere."""
    sin_o, cos_o = wo.x, sqrt(maximum(wo.y * wo.y + wo.z * wo.z, 1e-14))
    angle = atan2((wo.y * wi.z - wo.z * wi.y) * f.side, wo.z * wi.z + wo.y * wi.y)
    s = spread(p)
    around = [azimuthal(angle - at, s) for at in exits(f)] + [0.5 / math.pi]
    along = [longitudinal(si, ci, sin_o, cos_o, v) for (si, ci), v in zip(tilted(p, f), variances(p))]
    return [m * n for m, n in zip(along, around)]


def eval(p, wi, wo):
    f = fibre(p, wi)
    terms = [a * d for a, d in zip(f.attenuation, lobes(p, f, wi, wo))]
    return terms[0] + terms[1] + terms[2] + terms[3]


def pdf(p, wi, wo):
    f = fibre(p, wi)
    terms = [c * d for c, d in zip(f.chances, lobes(p, f, wi, wo))]
    return terms[0] + terms[1] + terms[2] + terms[3]


def sample(p, wi, u):
    """One lobe by its chance; what is left of that number turns the longitudinal sample (d'Eon et al. 2013)."""
    f = fibre(p, wi)
    firsts = [f.chances[0], f.chances[0] + f.chances[1], f.chances[0] + f.chances[1] + f.chances[2]]
    is_lobe = [u.x < firsts[0], u.x < firsts[1], u.x < firsts[2]]

    def of_lobe(values):
        return select(is_lobe[0], values[0], select(is_lobe[1], values[1], select(is_lobe[2], values[2], values[3])))

    rest = clamp((u.x - of_lobe([0.0, *firsts])) / of_lobe(f.chances), 0.0, 1.0)
    angles, v = tilted(p, f), of_lobe(variances(p))
    sin_i, cos_i = of_lobe([a[0] for a in angles]), of_lobe([a[1] for a in angles])
    # 1 - cos of the angle to the lobe's axis, itself, which is small where v is.
    down = clamp(-(v * log(maximum(u.y + (1.0 - u.y) * exp(-2.0 / v), 2.0**-26))), 0.0, 2.0)
    sin_o = safe_sqrt(down * (2.0 - down)) * cos(2.0 * math.pi * rest) * cos_i - (1.0 - down) * sin_i
    sin_o = clamp(sin_o, -1.0, 1.0)
    cos_o = safe_sqrt(1.0 - sin_o * sin_o)
    s = spread(p)
    low = 1.0 / (1.0 + exp(math.pi / s))
    y = maximum(low + u.z * (1.0 - 2.0 * low), 2.0**-26)
    logistic = clamp(s * log(y / (1.0 - minimum(y, 1.0 - 2.0**-24))), -math.pi, math.pi)
    around = f.gamma + select(is_lobe[2], of_lobe([*exits(f), 0.0]) + logistic, 2.0 * math.pi * u.z)
    return Sample(vec3(sin_o, cos_o * sin(around), cos_o * cos(around) * f.side))
