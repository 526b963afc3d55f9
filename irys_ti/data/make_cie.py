"""Make cie1931.npz from the colour-science package: ``python -m irys_ti.data.make_cie``.

Holds ``wavelengths`` (95,) nm, 360 to 830 step 5; ``xyz`` (95, 3), the CIE 1931 2 degree colour matching
functions; ``d65`` (95,), CIE standard illuminant D65, 100 at 560 nm.
Sources: CIE 018:2019, table 6 (colour matching functions); CIE 015:2018 (D65). The package tabulates D65
to 780 nm; the rest comes from the CIE daylight series at 6500 K times 1.4388 / 1.4380, which gives the
tabulated part too, to four digits.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np


def main() -> None:
    """Write the table beside this file."""
    import colour

    wavelengths = np.arange(360.0, 831.0, 5.0)
    observer = colour.MSDS_CMFS["CIE 1931 2 Degree Standard Observer"]
    xyz = np.array([observer[w] for w in wavelengths])
    table = colour.SDS_ILLUMINANTS["D65"]
    series = colour.sd_CIE_illuminant_D_series(colour.temperature.CCT_to_xy_CIE_D(6500 * 1.4388 / 1.4380))
    d65 = np.array([table[w] if w <= 780 else round(float(series[w]), 4) for w in wavelengths])
    np.savez_compressed(Path(__file__).with_name("cie1931.npz"), wavelengths=wavelengths, xyz=xyz, d65=d65)


if __name__ == "__main__":
    main()
