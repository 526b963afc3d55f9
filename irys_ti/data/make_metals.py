"""Make metals.npz: ``python -m irys_ti.data.make_metals FOLDER``.

FOLDER holds ``NAME.eta.spd`` and ``NAME.k.spd``, two columns of wavelength (nm) and value, as renderers ship
them. Kept for each name: one array (n, 3) of wavelength, eta and k, from the last point at or below 360 nm to
the first at or above 830 nm. ``source`` names where the numbers were published.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

SOURCE = (
    "Optical constants as published at www.luxpop.com, after 'Handbook of Optical Constants of Solids' I and II, "
    "ed. E. D. Palik, Academic Press, 1985 and 1991, and the other measurements listed there"
)


def main(folder: Path) -> None:
    """Write the table beside this file."""
    tables = {}
    for path in sorted(folder.glob("*.eta.spd")):
        name = path.name.removesuffix(".eta.spd")
        eta, k = np.loadtxt(path), np.loadtxt(path.with_name(f"{name}.k.spd"))
        if not np.array_equal(eta[:, 0], k[:, 0]) or (np.diff(eta[:, 0]) <= 0).any():
            raise ValueError(f"{path}: eta and k must be given at the same increasing wavelengths")
        first = max(0, np.searchsorted(eta[:, 0], 360, side="right") - 1)
        last = np.searchsorted(eta[:, 0], 830, side="left") + 1
        tables[name] = np.c_[eta, k[:, 1]][first:last]
    np.savez_compressed(Path(__file__).with_name("metals.npz"), source=np.array(SOURCE), **tables)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
