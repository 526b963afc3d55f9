"""Make rgb_bands.npz: ``python -m irys_ti.spectral.make_rgb_bands`` (needs scipy).

Holds ``bands`` (3, 95): three spectra over 360 to 830 nm, none negative, whose sum is 1 at every wavelength, and
whose colours under D65 are pure red, green and blue of linear sRGB. A mixture of them is the smooth spectrum of a
colour and is linear in it; mixtures of weights within [0, 1] stay within [0, 1]. Found as the least-squares smoothest
under these conditions, which is the problem that Mallett and Yuksel pose (EGSR 2019, "Spectral Primary
Decomposition for Rendering with sRGB Reflectance").
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from irys_ti.spectral.cie import d65, response, wavelengths

EXACT = 1e4  # weight of what must hold against what should


def conditions() -> np.ndarray:
    """(3, 95): the matrix from a reflectance at the nodes to its linear sRGB under D65, by fine quadrature."""
    nodes = wavelengths()
    fine = np.arange(nodes[0], nodes[-1], 0.25) + 0.125
    hat = np.maximum(0.0, 1.0 - np.abs(fine[:, None] - nodes) / (nodes[1] - nodes[0]))
    seen = 0.25 * (hat @ d65())[:, None] * (hat @ response().T)
    return seen.T @ hat


def main() -> None:
    """Solve for the three spectra and write the table into irys_ti/data."""
    from scipy.optimize import lsq_linear

    to_rgb, n = conditions(), len(wavelengths())
    white = to_rgb.sum(1)
    eye = np.eye(3)
    smooth = np.kron(eye, np.diff(np.eye(n), axis=0))
    colours = np.kron(eye, to_rgb)
    wanted = (eye * white).T.reshape(-1)  # colour of band k: white's k-th component alone
    whole = np.kron(np.ones((1, 3)), np.eye(n))
    a = np.concatenate([smooth, EXACT * colours, EXACT * whole])
    b = np.concatenate([np.zeros(len(smooth)), EXACT * wanted, EXACT * np.ones(n)])
    bands = lsq_linear(a, b, (0.0, 1.0), tol=1e-14, max_iter=2000).x.reshape(3, n)
    bands /= bands.sum(0)
    worst = np.abs(bands @ to_rgb.T - eye * white).max()
    print(f"worst colour error {worst:.1e}, smallest value {bands.min():.1e}")
    np.savez_compressed(Path(__file__).parents[1] / "data" / "rgb_bands.npz", bands=bands)


if __name__ == "__main__":
    main()
