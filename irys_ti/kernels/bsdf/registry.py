"""Validation of a BSDF that is registered from outside the package."""

from __future__ import annotations

from types import SimpleNamespace

from irys_ti.errors import SceneError
from irys_ti.graph import Expr, Param, leaf

LAMBDAS = leaf("lambdas", (4,))


def parameters(module) -> SimpleNamespace:
    """The graph leaves that a BSDF's functions take as p: its PARAMS, and the wavelengths where it needs them."""
    p = SimpleNamespace(**{key: leaf(f"p.{key}", q.shape) for key, q in module.PARAMS.items()})
    if getattr(module, "NEEDS_LAMBDAS", False):
        p.lambdas = LAMBDAS
    return p


def check(name: str, module, registry: dict) -> None:
    """Raise SceneError, in one line, unless ``module`` is a BSDF that ``registry`` can take as ``name``."""
    where = f"bsdf {name!r}"
    if not isinstance(name, str) or not name.isidentifier():
        raise SceneError(where, "is not a valid name", "use letters, digits and underscores")
    if name in registry:
        raise SceneError(where, "is registered already", "choose another name")
    params = getattr(module, "PARAMS", None)
    if not isinstance(params, dict):
        raise SceneError(where, "has no PARAMS", 'add PARAMS = {"reflectance": Param("reflectance", 0.5, 0, 1)}')
    for key, value in params.items():
        if not isinstance(value, Param) or not str(key).isidentifier():
            raise SceneError(where, f"PARAMS[{key!r}] is not a Param under a valid name", "use irys_ti.graph.Param")
    p = parameters(module)
    wi, wo, u = (leaf(n, (3,)) for n in ("wi", "wo", "u"))
    smooth, delta = getattr(module, "HAS_SMOOTH", True), getattr(module, "HAS_DELTA", False)
    if not (smooth or delta):
        raise SceneError(where, "has neither a smooth nor a delta part", "set HAS_SMOOTH or HAS_DELTA to True")
    parts = [("eval", (4,), smooth), ("pdf", (), smooth), ("eval_delta", (4,), delta), ("pdf_delta", (), delta)]
    for part, shape, needed in parts:
        if needed:
            _graph(where, module, part, (p, wi, wo), shape)
    sample = _call(where, module, "sample", (p, wi, u))
    if not isinstance(getattr(sample, "wo", None), Expr) or sample.wo.shape != (3,):
        raise SceneError(where, "sample does not return a Sample with a vec3 wo", "return Sample(wo, delta)")
    is_delta = getattr(sample, "delta", None)
    if not isinstance(is_delta, bool) and not (isinstance(is_delta, Expr) and is_delta.boolean):
        raise SceneError(where, "sample's delta is not a condition", "give True, False or a comparison of graphs")
    if is_delta is not False and not delta:
        raise SceneError(where, "sample makes delta directions but HAS_DELTA is not set", "set HAS_DELTA = True")


def _call(where: str, module, part: str, args: tuple):
    fn = getattr(module, part, None)
    if not callable(fn):
        raise SceneError(where, f"has no function {part}", "see docs/adding_a_bsdf.md")
    try:
        return fn(*args)
    except Exception as error:  # whatever a user's text raises, said as one line
        raise SceneError(where, f"{part} fails while its graph is built: {type(error).__name__}: {error}") from error


def _graph(where: str, module, part: str, args: tuple, shape: tuple) -> None:
    out = _call(where, module, part, args)
    if not isinstance(out, Expr) or out.shape != shape or out.boolean:
        kind = "a spectrum of 4 wavelengths" if shape else "a scalar"
        raise SceneError(where, f"{part} returns {out!r}, not {kind}", "wrap scalars in spectrum(), or use mean()")
