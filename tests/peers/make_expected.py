"""Renders the scenes with Mitsuba 3 and writes its mean colours: python -m tests.peers.make_expected

Needs ``mitsuba`` (3.9.1) beside irys_ti, and LLVM for its variant (DRJIT_LIBLLVM_PATH).
"""

import json
import sys
import tempfile
from pathlib import Path

import mitsuba as mi
import numpy as np

from tests.peers.scenes import write_scenes

mi.set_variant("llvm_ad_spectral")
OUT = Path(__file__).with_name("expected.json")
result = {"renderer": f"Mitsuba {mi.__version__}, llvm_ad_spectral, 16 seeds of 256 samples"}
with tempfile.TemporaryDirectory() as folder:
    for name, file in write_scenes(Path(folder)).items():
        scene = mi.load_file(str(file))
        means = np.array([np.array(mi.render(scene, spp=256, seed=k)).mean((0, 1)) for k in range(16)], np.float64)
        error = means.std(0, ddof=1) / np.sqrt(len(means))
        result[name] = {"mean": means.mean(0).tolist(), "stderr": error.tolist()}
        print(name, result[name], file=sys.stderr)
OUT.write_text(json.dumps(result, indent=1) + "\n")
