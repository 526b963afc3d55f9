"""Spectra of scene files: floats, rgb, points, and the spectrum plugins."""

from __future__ import annotations

import re

import numpy as np

from ...scene import Spectrum, constant, points, rgb
from ...spectral import cie
from ..suggest import nearest
from .props import REQUIRED, Props, number, numbers
from .xml import Node

PLUGINS = ("uniform", "regular", "irregular", "d65", "blackbody")


def spectrum(node: Node, context, emitter: bool, high: float = np.inf) -> Spectrum:
    """The spectrum of a <float>, <rgb> or <spectrum>; values outside [0, high] are an error.

    emitter: a light's colour or plain number means that colour times D65, as in Mitsuba.
    """
    if node.tag in ("float", "integer"):
        value = _single(node)
        result = rgb(value, value, value, illuminant=True) if emitter else constant(value)
    elif node.tag in ("rgb", "color"):
        if "value" not in node.attributes:
            raise node.error("lacks the attribute 'value'", 'write value="r,g,b"')
        values = numbers(node, node.attributes["value"])
        if len(values) not in (1, 3):
            raise node.error(f"value has {len(values)} numbers", 'write value="r,g,b"')
        result = rgb(*np.broadcast_to(values, 3), illuminant=emitter)
    else:
        result = _spectrum_element(node, context)
    checked(node, result.values, high)
    return result


def checked(node: Node, values: np.ndarray, high: float) -> None:
    """Values must be finite and within [0, high]."""
    what = node.name or "value"
    if not np.isfinite(values).all():
        raise node.error(f"{what} is not finite", "write finite numbers")
    if values.min(initial=0) < 0:
        raise node.error(f"{what} is {values.min():g}, below 0", "a spectrum is 0 or more at every wavelength")
    if values.max(initial=0) > high:
        problem = f"{what} is {values.max():g}, above {high:g}"
        raise node.error(problem, "a surface cannot reflect or transmit more than it receives")


def _single(node: Node) -> float:
    if "value" not in node.attributes:
        raise node.error("lacks the attribute 'value'", 'write value="0.5"')
    return number(node, node.attributes["value"])


def _spectrum_element(node: Node, context) -> Spectrum:
    given = [key for key in ("value", "filename", "type") if key in node.attributes]
    if len(given) != 1:
        raise node.error("needs one of value, filename and type", 'write value="400:0.2,700:0.6" or value="0.5"')
    if given == ["type"]:
        return plugin(node, context)
    if node.children:
        raise node.children[0].error("cannot stand inside a <spectrum>", "close the element before it")
    if given == ["filename"]:
        return from_file(node, node.attributes["filename"])
    text = node.attributes["value"]
    if ":" not in text:
        return constant(_single(node))
    pairs = [pair.split(":") for pair in re.split(r"[\s,]+", re.sub(r"\s*:\s*", ":", text.strip())) if pair]
    for pair in pairs:
        if len(pair) != 2:
            raise node.error(f"{':'.join(pair)[:40]!r} is not wavelength:value", 'write value="400:0.2,700:0.6"')
    table = np.array([[number(node, w, "wavelength"), number(node, v)] for w, v in pairs])
    return from_points(node, table[:, 0], table[:, 1])


def from_points(node: Node, wavelengths: np.ndarray, values: np.ndarray) -> Spectrum:
    """A spectrum of points, at least two, at increasing wavelengths."""
    if len(wavelengths) != len(values):
        raise node.error(f"{len(wavelengths)} wavelengths for {len(values)} values", "give as many of each")
    if len(wavelengths) < 2:
        raise node.error("a spectrum needs at least two points", 'for one value at all wavelengths write value="0.5"')
    if (np.diff(wavelengths) <= 0).any():
        at = wavelengths[1:][np.diff(wavelengths) <= 0][0]
        raise node.error(f"the wavelength {at:g} does not follow a smaller one", "sort the points, each once")
    return points(wavelengths, values)


def from_file(node: Node, filename: str) -> Spectrum:
    """Two columns of wavelength (nm) and value; # starts a comment."""
    path = node.folder / filename
    try:
        lines = path.read_text("utf-8").splitlines()
    except OSError:
        raise node.error(f"no such file: {path}", "filename is relative to the scene file") from None
    except UnicodeDecodeError:
        raise node.error(f"{path} is not text", "two columns, wavelength and value") from None
    rows = []
    for i, line in enumerate(lines, 1):
        parts = line.split("#")[0].replace(",", " ").split()
        if not parts:
            continue
        if len(parts) != 2:
            raise node.error(f"{path} line {i} has {len(parts)} columns", "two columns, wavelength and value")
        rows.append([number(node, part, f"{path.name} line {i}:") for part in parts])
    table = np.array(rows, np.float64).reshape(-1, 2)
    return from_points(node, table[:, 0], table[:, 1])


def plugin(node: Node, context) -> Spectrum:
    """<spectrum type="..."> or <texture type="..."> that is the same everywhere on the surface."""
    props = Props(node, context)
    if node.type == "uniform":
        result = constant(props.float("value", 1.0))
    elif node.type == "irregular":
        result = from_points(node, _list(props, "wavelengths"), _list(props, "values"))
    elif node.type == "regular":
        values = _list(props, "values")
        low, high = props.float("wavelength_min"), props.float("wavelength_max")
        result = from_points(node, np.linspace(low, high, len(values)), values)
    elif node.type == "d65":
        result = points(cie.wavelengths(), cie.d65() * props.float("scale", 1.0))
    elif node.type == "blackbody":
        kelvin = props.float("temperature", low=0, strict=True)
        result = points(cie.wavelengths(), planck(cie.wavelengths(), kelvin) * props.float("scale", 1.0))
    else:
        raise node.error("unknown spectrum", nearest(node.type, PLUGINS))
    props.finish()
    return result


def planck(nm: np.ndarray, kelvin: float) -> np.ndarray:
    """Radiance of a black body, W / (m^2 sr nm), at wavelengths in nm (Planck's law, CODATA 2018)."""
    h, c, k = 6.62607015e-34, 299792458.0, 1.380649e-23
    m = np.asarray(nm) * 1e-9
    with np.errstate(over="ignore"):
        return 1e-9 * 2 * h * c**2 / (m**5 * np.expm1(h * c / (m * k * kelvin)))


def _list(props: Props, name: str) -> np.ndarray:
    child = props._value(name, REQUIRED, "string")
    return numbers(child, child.attributes["value"], name)
