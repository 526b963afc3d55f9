"""irys_ti: a spectral, differentiable path tracer whose every kernel is Taichi.

    import irys_ti as it
    scene = it.load("cornell.xml")
    image = it.render(scene, spp=64)
    loss, grads = it.gradient(scene, it.L2(target), params=["red.reflectance"])

Names are loaded on first use, so that importing the package costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

__version__ = "0.1.0"

# public name -> module that defines it
_PUBLIC = {
    "init": "runtime",
    "load": "io",
    "render": "api",
    "backward": "api",
    "forward": "api",
    "gradient": "api",
    "parameters": "api",
    "Gradients": "api",
    "progressive": "passes",
    "view": "preview",
    "fit": "fitting",
    "FitInterrupted": "fitting",
    "LargeSteps": "large_steps",
    "L2": "optim.losses",
    "Coarser": "optim.losses",
    "RelativeL2": "optim.losses",
    "LogL2": "optim.losses",
    "L1": "optim.losses",
    "Scene": "scene",
    "Camera": "scene",
    "Film": "scene",
    "Integrator": "scene",
    "Material": "scene",
    "Light": "scene",
    "Medium": "scene",
    "PhaseTable": "scene",
    "SparseGrid": "scene",
    "Mesh": "scene",
    "Sphere": "scene",
    "Curves": "scene",
    "Primitives": "scene",
    "Instance": "scene",
    "Spectrum": "scene",
    "Splats": "scene",
    "relight": "scene",
    "Texture": "scene",
    "SceneError": "errors",
    "MissingGradientError": "errors",
    "register_bsdf": "kernels.bsdf",
    "register_geometry": "kernels.geometry",
    "sun_position": "spectral.sun",
    "ies_light": "io.ies",
    "read_image": "io.images",
    "read_curves": "io.curves",
    "write_curves": "io.curves",
    "read_splats": "io.splats",
    "write_splats": "io.splats",
    "write_image": "io.images",
    "read_volume": "io.volumes",
    "write_volume": "io.volumes",
}
_RENAMED = {"register_bsdf": "register", "register_geometry": "register", "ies_light": "light"}
_MODULES = {"cad", "kinematics", "runtime", "scene", "io", "graph", "reference", "optim", "spectral"}

if TYPE_CHECKING:
    from . import cad, graph, io, kinematics, optim, reference, runtime, scene, spectral
    from .api import Gradients, backward, forward, gradient, parameters, render
    from .errors import MissingGradientError, SceneError
    from .fitting import FitInterrupted, fit
    from .io import load
    from .io.curves import read_curves, write_curves
    from .io.ies import light as ies_light
    from .io.images import read_image, write_image
    from .io.splats import read_splats, write_splats
    from .io.volumes import read_volume, write_volume
    from .kernels.bsdf import register as register_bsdf
    from .kernels.geometry import register as register_geometry
    from .large_steps import LargeSteps
    from .optim.losses import L1, L2, Coarser, LogL2, RelativeL2
    from .runtime import init
    from .scene import (
        Camera,
        Curves,
        Film,
        Instance,
        Integrator,
        Light,
        Material,
        Medium,
        Mesh,
        PhaseTable,
        Primitives,
        Scene,
        SparseGrid,
        Spectrum,
        Sphere,
        Splats,
        Texture,
        relight,
    )
    from .spectral.sun import sun_position

__all__ = sorted({*_PUBLIC, *_MODULES})


def __getattr__(name: str):
    if name in _PUBLIC:
        value = getattr(import_module(f".{_PUBLIC[name]}", __name__), _RENAMED.get(name, name))
        globals()[name] = value
        return value
    if name in _MODULES:
        return import_module(f".{name}", __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__():
    return __all__
