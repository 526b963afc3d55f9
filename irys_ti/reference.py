"""The reference tier: the same renderer in f64 on the CPU, in a process of its own beside the fast one.

    image = it.reference.render(scene, spp=64)
    grads = it.reference.backward(scene, d_image, params=["metal.alpha"])

The process starts with the first call and is used again. It gets the scene as data, so that it works from a GPU
process, from a notebook, and from a script without an ``if __name__ == "__main__"``. Kinds registered from
outside the package are imported there too; they must live in a module, not in the script itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

from .api import Gradients
from .optim.losses import Loss, as_loss
from .process import Process, ProcessDied
from .scene import Scene

__all__ = ["ProcessDied", "backward", "close", "deposits", "decisions", "forward", "gradient", "render", "run"]

_process = Process(("cpu", "f64"), "reference process")


def run(function: str, scene: Scene | None, *args, **kwargs):
    """Call ``function`` ("module:name") there with the scene and the arguments; its result."""
    return _process.call(function, *args, scene=scene, **kwargs)


def close() -> None:
    """End the process; the next call starts another."""
    _process.close()


def render(scene: Scene, spp: int = 64, seed: int = 1, *, bands=None, progress: Callable | None = None) -> np.ndarray:
    """``it.render`` in f64: float32 (H, W, 3), or (H, W, n) of the bands."""
    return run("irys_ti.api:render", scene, spp, seed, bands=bands, progress=progress)


def forward(scene: Scene, tangents: dict, spp: int = 64, seed: int = 2, *, progress=None) -> np.ndarray:
    """``it.forward`` in f64: the derivative image (H, W, 3)."""
    return run("irys_ti.api:forward", scene, tangents, spp, seed, progress=progress)


def backward(
    scene: Scene, d_image, spp: int = 64, seed: int = 2, params: Iterable[str] | None = None, *, progress=None,
    boundary="all", boundary_spp: int | None = None,
) -> Gradients:  # fmt: skip
    """``it.backward`` in f64."""
    more = {"progress": progress, "boundary": boundary, "boundary_spp": boundary_spp}
    return run("irys_ti.api:backward", scene, np.asarray(d_image), spp, seed, _listed(params), **more)


class _LossHere(Loss):
    """A loss whose functions run in the process that asked."""

    def __init__(self, value, derivative):
        self.value, self.derivative = value, derivative


def gradient(
    scene: Scene,
    loss: Loss | Callable,
    spp: int = 8,
    seeds: tuple[int, int] = (1, 2),
    params: Iterable[str] | None = None,
    *,
    boundary="all",
    boundary_spp: int | None = None,
) -> tuple[float, Gradients]:
    """``it.gradient`` in f64. The loss itself is evaluated in this process, so it may be any function."""
    loss = as_loss(loss)
    more = {"boundary": boundary, "boundary_spp": boundary_spp}
    return run("irys_ti.reference:_gradient", scene, loss.value, loss.derivative, spp, tuple(seeds), _listed(params), **more)


def _gradient(scene, value, derivative, spp, seeds, params, **more):
    """What ``gradient`` runs in the reference process."""
    from .api import gradient

    return gradient(scene, _LossHere(value, derivative), spp, seeds, params, **more)


def decisions(
    scene: Scene, spp: int = 16, seed: int = 2, params: Iterable[str] | None = None, groups: int = 1
) -> np.ndarray:
    """``tiers.decisions`` in f64: a hash of each path's discrete decisions, (pixels, spp) uint32."""
    return run("irys_ti.tiers:decisions", scene, spp, seed, _listed(params), groups)


def deposits(
    scene: Scene, d_image, spp: int = 16, seed: int = 2, params: Iterable[str] | None = None, groups: int = 1, mask=None
) -> Gradients:
    """``tiers.deposits`` in f64: a gradient of the masked paths alone."""
    return run("irys_ti.tiers:deposits", scene, np.asarray(d_image), spp, seed, _listed(params), groups, mask)


def _listed(params):
    return params if params is None or isinstance(params, str) else list(params)
