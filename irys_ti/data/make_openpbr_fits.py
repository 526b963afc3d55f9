"""Make openpbr_fits.json: ``python -m irys_ti.data.make_openpbr_fits`` (about two minutes).

Small closed forms that the OpenPBR graphs evaluate instead of tables. None of them decides whether energy is
conserved: the graphs give to the layer below exactly what a fit takes.

- ``fuzz``: reflectance and lobe of a layer of fibres along the normal, of unit optical density and thickness, all
  scattering (Zeltner, Burley and Chiang 2022; microflakes of Heitz et al. 2015 with S = diag(1, 1, roughness^4)),
  from random walks. The lobe is a linearly transformed cosine, inverse matrix [[A, 0, B], [0, A, 0], [0, 0, 1]].
- ``ggx_average``: 1 minus the hemispherical albedo of a GGX mirror, by alpha.
- ``internal``: the internal diffuse reflection coefficient K_r of a smooth dielectric, by (n - 1) / (n + 1).
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
from scipy.optimize import least_squares, minimize


def walk(mu: float, roughness: float, n: int, rng) -> np.ndarray:
    """Directions (k, 3) in which k of n walks leave the fibre layer upward; they enter at cosine mu, towards -x."""
    scale = np.array([1.0, 1.0, roughness * roughness])
    d = np.tile([-np.sqrt(1.0 - mu * mu), 0.0, -mu], (n, 1))
    depth, left = np.zeros(n), []
    while len(d):
        extinction = np.linalg.norm(scale * d, axis=1)
        depth = depth - d[:, 2] * rng.exponential(size=len(d)) / np.maximum(extinction, 1e-12)
        left.append(d[depth < 0.0])
        inside = (depth >= 0.0) & (depth <= 1.0)
        d, depth = d[inside], depth[inside]
        # A visible flake: the normals of an ellipsoid, whose visible half is a disk seen along scale * w.
        axis = scale * -d
        axis /= np.linalg.norm(axis, axis=1, keepdims=True)
        helper = np.where(np.abs(axis[:, 2:]) > 0.9, [1.0, 0.0, 0.0], [0.0, 0.0, 1.0])
        x = np.cross(helper, axis)
        x /= np.linalg.norm(x, axis=1, keepdims=True)
        r2, phi = rng.random((len(d), 1)), 2.0 * np.pi * rng.random((len(d), 1))
        disk = x * np.cos(phi) + np.cross(axis, x) * np.sin(phi)
        normal = scale * (disk * np.sqrt(r2) + axis * np.sqrt(1.0 - r2))
        normal /= np.maximum(np.linalg.norm(normal, axis=1, keepdims=True), 1e-12)
        d = d - 2.0 * (d * normal).sum(1, keepdims=True) * normal
    return np.concatenate(left)


def lobe_of(wo: np.ndarray, start: tuple[float, float]) -> tuple[float, float]:
    """(A, B) of the transformed cosine that gives these directions the greatest likelihood."""
    x, y, z = wo.T

    def cost(v):
        a = np.exp(v[0])
        return 2.0 * (np.log((a * x + v[1] * z) ** 2 + (a * y) ** 2 + z * z).mean() - v[0])

    v = minimize(cost, [np.log(start[0]), start[1]], method="Nelder-Mead", options={"xatol": 1e-4, "fatol": 1e-7}).x
    return float(np.exp(v[0])), float(v[1])


# The closed forms. r: roughness, m: cosine, c: coefficients. openpbr_fuzz.py writes the same as graphs.
OFFSET = 0.01


def albedo(r, m, c):
    x = m / (r + OFFSET)
    e = c[0] + r * (c[1] + r * c[2]) + x * (c[3] + r * (c[4] + r * c[5]) + x * (c[6] + r * (c[7] + r * c[8])))
    return np.exp(-e)


def width(r, m, c):
    return OFFSET + r * (c[0] + r * (c[1] + r * c[2]) + m / (m + c[6]) * (c[3] + r * (c[4] + r * c[5])))


def shear(r, m, c):
    return (r - 1.0) * (c[0] + r * (c[1] + r * c[2])) / (1.0 + c[3] * m / (r + OFFSET))


def fuzz(rng, n=40_000) -> dict:
    roughness, mus = np.linspace(0.05, 1.0, 20), np.r_[0.005, 0.02, np.linspace(0.05, 1.0, 20)]
    r, m = np.meshgrid(roughness, mus, indexing="ij")
    e, a, b = np.zeros(r.shape), np.zeros(r.shape), np.zeros(r.shape)
    for i in np.ndindex(r.shape):
        wo = walk(m[i], r[i], n, rng)
        e[i] = len(wo) / n
        if len(wo) > 60:
            a[i], b[i] = lobe_of(wo, (max(0.3 * r[i], 0.02), -0.03))
    weight = np.where(a > 0.0, np.sqrt(e), 0.0)
    sine = np.sqrt(1.0 - m * m)
    out = {}
    for name, form, target, w, start in (
        ("albedo", albedo, e, 1.0, [0.2, 0.4, -0.4, 2.0, -3.0, 1.5, 0.3, 0.5, -0.8]),
        ("width", width, a, weight, [0.04, 0.9, -0.3, 1.1, -0.6, -0.3, 0.2]),
        ("shear", lambda r, m, c: sine * shear(r, m, c), b, weight, [0.01, 0.9, 0.0, 2.5]),
    ):
        fit = least_squares(lambda c: (w * (form(r, m, c) - target)).ravel(), start)  # noqa: B023
        print(name, "rms", np.sqrt(np.mean(fit.fun**2)), "worst", np.abs(fit.fun).max())
        out[name] = fit.x.tolist()
    return out


def lost(mu: np.ndarray, alpha: float) -> np.ndarray:
    """1 minus the directional albedo of a GGX mirror: what visible normals reflect into the microsurface again."""
    x, w = np.polynomial.legendre.leggauss(96)
    u, phi = np.meshgrid((x + 1) / 2, (x + 1) * np.pi / 2, indexing="ij")
    weight = np.outer(w, w) / 4
    out = np.empty(len(mu))
    for i, z in enumerate(mu):
        s = np.sqrt(1 - z * z)
        slope = np.hypot(alpha * s, z)
        t = u * (1 + z / slope)
        h = np.stack([
            alpha * (np.sqrt(t * (2 - t)) * np.cos(phi) + alpha * s / slope),
            alpha * np.sqrt(t * (2 - t)) * np.sin(phi),
            1 - t + z / slope,
        ])  # fmt: skip
        h /= np.linalg.norm(h, axis=0)
        d = s * h[0] + z * h[2]
        r = 2 * d * h - np.array([s, 0, z])[:, None, None]
        slope_r = np.sqrt(alpha**2 * (r[0] ** 2 + r[1] ** 2) + r[2] ** 2)
        out[i] = (weight * np.where(r[2] > 0, 1 - r[2] * (z + slope) / (r[2] * slope + z * slope_r), 1.0)).sum()
    return out


def ggx_average() -> list[float]:
    """c of lost_average = alpha^2 (c0 + c1 alpha) / (1 + c2 alpha + c3 alpha^2)."""
    x, w = np.polynomial.legendre.leggauss(24)
    mu = (x + 1) / 2
    alphas = np.linspace(0.03, 1.0, 25)
    target = np.array([(w * mu * lost(mu, a)).sum() for a in alphas])
    form = lambda c: alphas**2 * (c[0] + c[1] * alphas) / (1 + c[2] * alphas + c[3] * alphas**2)  # noqa: E731
    fit = least_squares(lambda c: form(c) - target, [2.0, 0.0, 1.0, 1.0])
    print("ggx_average worst", np.abs(fit.fun).max(), "at alpha 1:", target[-1])
    return fit.x.tolist()


def fresnel(mu, eta):
    ct = np.sqrt(np.maximum(0.0, 1.0 - (1.0 - mu * mu) / eta**2))
    return 0.5 * (((mu - eta * ct) / (mu + eta * ct)) ** 2 + ((eta * mu - ct) / (eta * mu + ct)) ** 2)


def internal() -> dict:
    """K_r by e = (n - 1) / (n + 1): e times a polynomial, for n > 1 and for n < 1 (in -e) apart."""
    x, w = np.polynomial.legendre.leggauss(200)
    mu, w = ((x + 1) / 2) ** 2, w * (x + 1) / 2  # points crowd at grazing angles
    e = np.linspace(0.005, 0.8, 60)
    out = {}
    for name, sign, degree in (("denser", 1, 5), ("thinner", -1, 3)):
        n = (1 + e) / (1 - e)
        average = np.array([2 * (w * fresnel(mu, k) * mu).sum() for k in n])
        # The side of the denser medium sees 1 - (1 - average) / n^2; that of the thinner one sees the average.
        target = 1 - (1 - average) / n**2 if sign > 0 else average
        basis = np.stack([e**k for k in range(1, degree + 1)], 1)
        c = np.linalg.lstsq(basis, target, rcond=None)[0]
        print("internal", name, "worst", np.abs(basis @ c - target).max())
        out[name] = c.tolist()
    return out


def main() -> None:
    """Write the coefficients beside this file."""
    fits = {"fuzz": fuzz(np.random.default_rng(2022)), "ggx_average": ggx_average(), "internal": internal()}
    Path(__file__).with_name("openpbr_fits.json").write_text(json.dumps(fits, indent=1) + "\n")


if __name__ == "__main__":
    main()
