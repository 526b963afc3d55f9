"""The fitted coefficients, made by ``irys_ti/data/make_openpbr_fits.py``."""

from __future__ import annotations

import json
from importlib.resources import files

FITS: dict = json.loads(files("irys_ti.data").joinpath("openpbr_fits.json").read_text())
