"""OpenPBR's samplers: chi-squared on the versions of named materials and on the published presets."""

import numpy as np
import pytest

from tests.bsdf.cases import direction, model
from tests.bsdf.openpbr_cases import MATERIALS, albedo, complete, preset, version
from tests.helpers import chi2

N = 60_000
PRESETS = ["gold", "glass", "diamond", "pearl", "velvet", "soapbubble", "carpaint", "aluminum_brushed", "skin_iii"]
CASES = [(name, z) for name in MATERIALS for z in (0.8, 0.15)] + [(name, -0.6) for name in ("frosted glass", "prism")]
LEVEL = chi2.sidak(len(CASES) + len(PRESETS))


def check(m, p, wi, name):
    """chi-squared, weight times pdf, and no light where there is no density."""
    # Lobes of alpha 0.001 slip through the cells' quadrature; their furnaces are in test_openpbr_energy.
    least = {"specular_roughness": 0.25, "coat_roughness": 0.25, "specular_ior": 1.4}
    p = p | {k: max(p[k], v) for k, v in least.items() if k in p}
    wo, delta = m.draw(p, wi, np.random.default_rng(len(name)).random((N, 3)))
    smooth = 1.0
    if m.delta:
        smooth -= m.run([m.pdf_delta], p, wi, -wi[None])[0][0]
        np.testing.assert_allclose(wo[delta], np.broadcast_to(-wi, wo[delta].shape))
    wo = wo[~delta]
    chi2.check(wo, lambda w: m.run([m.pdf], p, wi, w)[0] / smooth, LEVEL, name)
    value, pdf = m.run([m.eval, m.pdf], p, wi, wo)
    assert np.isfinite(value).all() and (value >= 0).all() and (pdf >= 0).all()
    alive = pdf > 0
    assert (value[~alive] == 0).all()
    np.testing.assert_allclose(value[alive] / pdf[alive, None] * pdf[alive, None], value[alive], rtol=1e-12)
    rng = np.random.default_rng(1)
    anywhere = rng.standard_normal((4000, 3))
    anywhere /= np.linalg.norm(anywhere, axis=1, keepdims=True)
    value, pdf = m.run([m.eval, m.pdf], p, wi, anywhere)
    assert (value >= 0).all() and (pdf[(value > 0).any(1)] > 0).all()


@pytest.mark.parametrize("name,z", CASES)
def test_materials(name, z):
    check(*version(MATERIALS[name]), direction(z), f"openpbr {name} {z}")


@pytest.mark.parametrize("name", PRESETS)
def test_presets(name, data):
    m, p = version(preset(data / "openpbr_presets" / f"open_pbr_{name}.mtlx"))
    check(m, p, direction(0.6), f"openpbr {name}")


def test_every_preset_is_finite_and_loses_light_only(data):
    """All of the folder, in the whole model: one kernel."""
    files = sorted((data / "openpbr_presets").glob("*.mtlx"))
    assert len(files) == 83
    m, rng = model("openpbr"), np.random.default_rng(0)
    for path in files:
        p = complete(m, preset(path))
        for z in (0.9, 0.2):
            mean, error = albedo(m, p, direction(z), 2000, rng)
            assert np.isfinite(mean).all() and (mean >= 0).all() and (mean < 1 + 5 * error + 1e-3).all(), path.name
