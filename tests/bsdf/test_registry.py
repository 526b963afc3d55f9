"""BSDFs from outside the package, what is refused, and that no file holds a derivative."""

import ast
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from irys_ti import graph as g
from irys_ti.errors import SceneError
from irys_ti.kernels import bsdf
from tests.bsdf import cases, outside


def test_outside_bsdf_is_in_the_matrices():
    assert bsdf.BSDFS[cases.OUTSIDE] is outside
    assert cases.OUTSIDE in cases.NAMES and cases.OUTSIDE in cases.SMOOTH


def variant(**changes):
    parts = {k: getattr(outside, k) for k in ("PARAMS", "eval", "pdf", "sample")} | changes
    return SimpleNamespace(**{k: v for k, v in parts.items() if v is not None})


def scalar_eval(p, wi, wo):
    return wo.z


def broken_eval(p, wi, wo):
    return p.colour * wo.z


REFUSED = {
    "no PARAMS": ("x", {"PARAMS": None}, "has no PARAMS"),
    "a bare number": ("x", {"PARAMS": {"reflectance": 0.5}}, "is not a Param"),
    "no pdf": ("x", {"pdf": None}, "has no function pdf"),
    "scalar eval": ("x", {"eval": scalar_eval}, "not a spectrum"),
    "unknown parameter": ("x", {"eval": broken_eval}, "colour"),
    "sample not a Sample": ("x", {"sample": lambda p, wi, u: u}, "Sample"),
    "delta undeclared": ("x", {"sample": lambda p, wi, u: bsdf.Sample(wi, True)}, "HAS_DELTA"),
    "delta without eval_delta": ("x", {"HAS_DELTA": True}, "eval_delta"),
    "nothing": ("x", {"HAS_SMOOTH": False}, "neither"),
    "taken name": ("diffuse", {}, "registered already"),
    "bad name": ("two words", {}, "not a valid name"),
}


@pytest.mark.parametrize("why", REFUSED)
def test_refused_in_one_line(why):
    name, changes, message = REFUSED[why]
    before = dict(bsdf.BSDFS)
    with pytest.raises(SceneError, match=message) as error:
        bsdf.register(name, variant(**changes))
    assert "\n" not in str(error.value) and name in str(error.value)
    assert bsdf.BSDFS == before


def test_no_bsdf_file_holds_a_derivative():
    """The files build values only: they name no differentiation, and no function or variable is a d_x."""
    for path in Path(bsdf.__file__).parent.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            names = [getattr(node, k, None) for k in ("id", "attr", "name", "arg")]
            for name in filter(lambda n: isinstance(n, str), names):
                assert name not in ("vjp", "jvp") and not name.startswith("d_"), (path.name, name)


def test_defaults_are_legal():
    for name, module in bsdf.BSDFS.items():
        for key, q in module.PARAMS.items():
            assert q.low <= q.default <= q.high and q.doc, (name, key)


def test_lobe_of_weight_zero_is_sampled():
    """Matched media reflect nothing, but the reflection lobe keeps a chance to show its derivative."""
    m = cases.Model("dielectric")
    p = m.settings()[0] | {"int_ior": 1.2, "ext_ior": 1.2}
    wi = cases.direction(0.7)
    up = np.array([-wi[0], -wi[1], wi[2]])
    value, pmf = m.run([m.eval_delta, m.pdf_delta], p, wi, up)
    assert (value == 0).all() and pmf >= 0.01


def test_equal_indices_are_finite_and_still_have_a_derivative():
    m = cases.Model("roughdielectric")
    p = m.settings()[0] | {"int_ior": 1.3, "ext_ior": 1.3, "alpha": 0.3}
    wi = cases.direction(0.7)
    wo, _ = m.draw(p, wi, np.random.default_rng(0).random((500, 3)))
    d = g.vjp([m.eval], [1.0], [m.leaves["int_ior"], m.leaves["alpha"]])
    value, pdf, *grads = m.run([m.eval, m.pdf, *d], p, wi, wo)
    for x in (value, pdf, *grads):
        assert np.isfinite(x).all()
    assert np.abs(grads[0]).max() > 0
    # Light goes straight through.
    through = wo[wo[:, 2] < 0]
    np.testing.assert_allclose(through, np.broadcast_to(-wi, through.shape), atol=0.02)
