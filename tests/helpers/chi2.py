"""Chi-squared tests of samplers of directions, and integrals over the sphere to test against."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from scipy import stats

# Cells of the sphere: equal in z and azimuth, with a border at the horizon.
N_Z, N_PHI = 12, 20
FAMILY_LEVEL = 0.01
PLOTS = Path("build/chi2")


def sidak(n_tests: int) -> float:
    """The level of one of n tests that are to fail by chance together with FAMILY_LEVEL."""
    return 1.0 - (1.0 - FAMILY_LEVEL) ** (1.0 / n_tests)


def directions(z, phi) -> np.ndarray:
    """Unit vectors of height z at azimuth phi."""
    r = np.sqrt(np.maximum(0.0, 1.0 - z * z))
    return np.stack([r * np.cos(phi), r * np.sin(phi), z], -1)


def integrate_cells(fn, tolerance=1e-6, depth=8) -> np.ndarray:
    """Integrals of ``fn`` (directions (n, 3) -> (n,)) over the N_Z by N_PHI cells of the sphere.

    Gauss-Legendre in each cell; a cell whose four quarters sum to something else is split again.
    """
    x, w = np.polynomial.legendre.leggauss(4)
    x, w = (x + 1.0) / 2.0, w / 2.0

    def rule(boxes):
        z0, z1, p0, p1 = boxes.T
        z = z0[:, None, None] + (z1 - z0)[:, None, None] * x[None, :, None]
        phi = p0[:, None, None] + (p1 - p0)[:, None, None] * x[None, None, :]
        z, phi = np.broadcast_arrays(z, phi)
        values = fn(directions(z.ravel(), phi.ravel())).reshape(z.shape)
        return np.einsum("nij,i,j->n", values, w, w) * (z1 - z0) * (p1 - p0)

    z_edges, p_edges = np.linspace(-1, 1, N_Z + 1), np.linspace(-np.pi, np.pi, N_PHI + 1)
    cells = [(i, j) for i in range(N_Z) for j in range(N_PHI)]
    boxes = np.array([[z_edges[i], z_edges[i + 1], p_edges[j], p_edges[j + 1]] for i, j in cells])
    owner = np.arange(len(boxes))
    total = np.zeros(len(boxes))
    coarse = rule(boxes)
    for level in range(depth):
        z0, z1, p0, p1 = boxes.T
        zm, pm = (z0 + z1) / 2, (p0 + p1) / 2
        parts = np.stack(
            [np.stack(q, -1) for q in ((z0, zm, p0, pm), (zm, z1, p0, pm), (z0, zm, pm, p1), (zm, z1, pm, p1))], 1
        )
        fine = rule(parts.reshape(-1, 4)).reshape(-1, 4)
        # The first two levels always split: a narrow peak may lie between the points of both rules.
        rough = (np.abs(fine.sum(1) - coarse) > tolerance / (1 + level)) | (level < 2)
        if level == depth - 1:
            rough[:] = False
        np.add.at(total, owner[~rough], fine[~rough].sum(1))
        boxes, owner, coarse = parts[rough].reshape(-1, 4), np.repeat(owner[rough], 4), fine[rough].ravel()
        if not len(boxes):
            break
    return total


def counts(wo: np.ndarray) -> np.ndarray:
    """How many directions fall in each cell."""
    i = np.clip(((wo[:, 2] + 1.0) / 2.0 * N_Z).astype(int), 0, N_Z - 1)
    j = np.clip(((np.arctan2(wo[:, 1], wo[:, 0]) / np.pi + 1.0) / 2.0 * N_PHI).astype(int), 0, N_PHI - 1)
    return np.bincount(i * N_PHI + j, minlength=N_Z * N_PHI)


def pooled(observed: np.ndarray, expected: np.ndarray, least=5.0) -> tuple[np.ndarray, np.ndarray]:
    """Cells in order of expectation, the smallest pooled until at least ``least`` are expected."""
    order = np.argsort(expected)
    o, e = observed[order].astype(float), expected[order]
    cut = int(np.searchsorted(np.cumsum(e), least)) + 1
    # The cell after the pool may still be small: it joins too.
    while cut < len(e) and e[cut] < least:
        cut += 1
    return np.r_[o[:cut].sum(), o[cut:]], np.r_[e[:cut].sum(), e[cut:]]


def check(wo: np.ndarray, pdf, level: float, name: str, discrete=0.0) -> None:
    """Fail unless directions ``wo`` (n, 3) are distributed by ``pdf`` (directions -> density).

    Samples at which the density is 0 count as absorbed; 1 minus the density's integral must be that
    mass (``discrete``: probability of delta lobes, whose samples are left out of ``wo``).
    """
    alive = pdf(wo) > 0.0
    mass = integrate_cells(pdf)
    n = len(wo) / (1.0 - discrete)
    absorbed = 1.0 - discrete - mass.sum()
    assert absorbed > -1e-4, f"{name}: the density integrates to {mass.sum() + discrete:.6f}, more than 1"
    observed = np.r_[counts(wo[alive]), (~alive).sum()]
    expected = n * np.r_[np.maximum(mass, 0.0), max(absorbed, 0.0)]
    o, e = pooled(observed, expected)
    statistic = ((o - e) ** 2 / np.maximum(e, 1e-9)).sum()
    p_value = stats.chi2.sf(statistic, max(len(o) - 1, 1))
    if p_value < level:
        path = _plot(observed[:-1], expected[:-1], name)
        raise AssertionError(
            f"{name}: chi2 {statistic:.1f} with {len(o) - 1} degrees of freedom, p {p_value:.1e} < {level:.1e}; "
            f"absorbed {observed[-1]} against {expected[-1]:.1f}; plot in {path}"
        )


def _plot(observed, expected, name) -> Path:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(12, 3))
    axes = figure.subplots(1, 3)
    difference = (observed - expected) / np.sqrt(np.maximum(expected, 1.0))
    for ax, x, title in zip(axes, (observed, expected, difference), ("observed", "expected", "z"), strict=True):
        image = ax.imshow(x.reshape(N_Z, N_PHI), origin="lower", aspect="auto")
        figure.colorbar(image, ax=ax)
        ax.set_title(title)
    PLOTS.mkdir(parents=True, exist_ok=True)
    path = PLOTS / (name.replace(" ", "_").replace("/", "-") + ".png")
    figure.savefig(path)
    return path
