"""Render, differentiate: the whole way on one screen.

scene -> pools -> paths -> film -> image -> loss -> d_image -> replay -> exact sums -> gradients by path.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, MutableMapping

import numpy as np

from .controls import ControlSlot, plain_paths, pull
from .device.boundary import Boundary, terms_of
from .device.compile import check_paths, compiled
from .device.launch import Launcher
from .device.replay import Replay
from .device.slots import Slot
from .errors import MissingGradientError, SceneError
from .optim.losses import Loss, as_loss
from .scene import Scene
from .spectral.bands import band_responses
from .spectral.cie import response

GROUPS = 8  # independently scrambled sets behind a standard error


class Gradients(dict):
    """{path: float64 array}, shaped like the parameter.

    stderr: {path: array}, the standard error of each number, from independent scramble seeds (NaN where there
    was one sample only). replayed: (paths that the replay met again bit for bit, paths). notes: {path: what a
    gradient leaves out}, where it leaves something out.
    """

    def __init__(self, values=(), stderr=None, replayed=(0, 0)):
        super().__init__(values)
        self.stderr: dict[str, np.ndarray] = stderr or {}
        self.replayed: tuple[int, int] = replayed
        self.notes: dict[str, str] = {}


class Parameters(MutableMapping):
    """Mapping "red.reflectance" -> float64 array. Assigning updates the scene, and its device copy, in place."""

    def __init__(self, scene: Scene):
        self._scene = scene

    def _slots(self):
        return compiled(self._scene).parameters()

    def __getitem__(self, path: str) -> np.ndarray:
        return self.slot(path).encoded.host.copy()

    def __setitem__(self, path: str, value) -> None:
        self.slot(path).assign(value, self._scene.file)

    def __delitem__(self, path: str) -> None:
        raise TypeError("parameters cannot be removed from a scene")

    def __iter__(self):
        return iter(self._slots())

    def __len__(self):
        return len(self._slots())

    def slot(self, path: str):
        """Where a parameter lies; its ``param`` has range and meaning. Unknown paths name the nearest."""
        from .device.slots import find

        return find(self._slots(), path, self._scene.file)

    def differentiable(self, motion: bool = True) -> list[str]:
        """Paths that have a gradient; without ``motion``, of materials and lights alone (the default of every verb)."""
        from .device.slots import why_none

        slots = self._slots()

        def has(slot) -> bool:
            if isinstance(slot, ControlSlot):
                return all(p in slots and not slots[p].why_no_gradient for p in slot.steered)
            return not why_none(slot, self._scene)

        return [p for p, s in slots.items() if (motion or isinstance(s, Slot)) and has(s)]


def parameters(scene: Scene) -> Parameters:
    """All parameters of a scene, by path."""
    return Parameters(scene)


def render(scene: Scene, spp: int = 64, seed: int = 1, *, bands=None, progress: Callable | None = None) -> np.ndarray:
    """Render: float32 (H, W, 3), linear sRGB; with ``bands`` (H, W, n), mean radiance of each band.

    spp: samples per pixel. seed: any integer; the same seed gives the same bits. bands: [(low, high), ...] in nm,
    within 360 to 830, at most 32. progress(done) is called now and then: a float, whose ``done.image`` is the picture
    so far.
    Raises SceneError for a scene that cannot be rendered.
    """
    device = compiled(scene)
    device.set_channels(response() if bands is None else band_responses(bands))
    return Launcher(device, spp, seed).render(progress).astype(np.float32)


def forward(scene: Scene, tangents: dict, spp: int = 64, seed: int = 2, *, progress=None) -> np.ndarray:
    """The derivative image (H, W, 3) along a direction: {path: tangent of the parameter's shape, or one number}."""
    device = compiled(scene)
    device.set_channels(response())
    slots = check_paths(device, list(tangents))
    device.want(list(tangents))  # a lobe of weight 0, or a factor of 0, must be there to have a derivative
    pool = np.zeros(device.mirror_reals.size)
    for slot in slots:
        if not isinstance(slot, Slot):
            raise MissingGradientError(f"{scene.file}: '{slot.path}' has no forward mode yet: use it.backward")
        t = np.asarray(tangents[slot.path], np.float64)
        if t.size != 1 and t.shape != slot.encoded.host.shape:
            raise SceneError(
                f"{scene.file}: tangent of '{slot.path}'", f"shape {t.shape}", f"give {slot.encoded.host.shape} or a number"
            )
        pushed = slot.encoded.push(np.broadcast_to(t, slot.encoded.host.shape).astype(np.float64))
        pool[slot.offset : slot.offset + pushed.size] = pushed
    from . import runtime

    return Launcher(device, spp, seed, groups_of(spp)).forward(runtime.array(pool), progress)


def backward(
    scene: Scene, d_image, spp: int = 64, seed: int = 2, params: Iterable[str] | None = None, *, progress=None,
    boundary="all", boundary_spp: int | None = None,
) -> Gradients:  # fmt: skip
    """The vector-Jacobian product: sum over pixels of d_image * d image / d parameter.

    d_image: (H, W, 3), the derivative of your loss by the image. params: paths, default all of materials and
    lights; poses, vertices and the camera are asked for by name. boundary: which parts of their derivatives come from
    edges, "all", "off", or some of ("outlines", "shadows", "bounces", "farther") (device/boundary.py); boundary_spp:
    samples a pixel of each (times device.boundary.SHARES), default two fifths of ``spp``. Returns Gradients, with the
    standard error of every number in ``.stderr``.
    Raises SceneError for an unknown path or a d_image of another size, MissingGradientError for a parameter that
    has no gradient, ArithmeticError where a deposit outgrew the exact sums.
    """
    device = compiled(scene)
    device.set_channels(response())
    paths = wanted(scene, params, device)
    d_image = check_image(scene, d_image, "d_image")
    n = device.want(paths)
    device.scale_deposits(float(np.abs(d_image).max()) / spp)
    replay = Replay(device, spp, seed, groups=groups_of(spp), n_accumulators=n)
    groups, sizes = replay.deposit(d_image, progress)
    groups = add_boundary(device, groups, d_image, boundary_spp or max(1, 2 * spp // 5), seed, n, boundary)
    return collect(device, paths, groups, sizes, (replay.equal, replay.traced))


def add_boundary(device, groups: list[np.ndarray], d_image, spp: int, seed: int, n: int, boundary) -> list[np.ndarray]:
    """Each group's gradient with a set of boundary samples of its own, where something moves."""
    terms = terms_of(boundary)
    if not (terms and (device.movers.wanted or device.lights.riding)):
        return groups
    return [a + b for a, b in zip(groups, Boundary(device, spp, seed, len(groups), n, terms).deposit(d_image))]


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
    """Loss and gradient from two independent halves of ``spp`` samples each (design decision D6).

    The image of half A gives the derivative that half B is replayed against, and the other way round, so both
    gradients are unbiased for a loss that is quadratic in the image. loss: it.L2(target) and the like, or your
    function image -> (loss, d_image). boundary, boundary_spp: as in ``backward``.
    """
    device = compiled(scene)
    device.set_channels(response())
    paths, loss = wanted(scene, params, device), as_loss(loss)
    n = device.want(paths)  # before the primal pass: it decides which zero factors a path survives
    halves = [Replay(device, spp, seed, n_accumulators=n) for seed in seeds]
    images = [half.radiance() for half in halves]
    share_baselines(halves)
    value = loss.value(*images)
    # Half B is replayed against half A's derivative and the other way round.
    d_images = [check_image(scene, loss.derivative(image), "the loss's d_image") for image in images]
    device.scale_deposits(max(float(np.abs(d).max()) for d in d_images) / spp)
    found, equal, traced = [], 0, 0
    for half, d_image in zip(halves, reversed(d_images)):
        groups, _ = half.deposit(d_image)
        found += add_boundary(device, groups, d_image, boundary_spp or max(1, 2 * spp // 5), half.seed, n, boundary)
        equal, traced = equal + half.equal, traced + half.traced
    return value, collect(device, paths, found, [spp, spp], (equal, traced))


def share_baselines(halves: list[Replay]) -> None:
    """Let every half's baseline be what all the pixel's other paths gave, of the other half too."""
    if all(half.bands is not None for half in halves):
        total = sum(half.bands.to_numpy() for half in halves)
        for half in halves:
            half.bands.from_numpy(total)


def groups_of(spp: int) -> int:
    """Scrambled sets that derivatives deal their samples to; forward and reverse mode see the same paths."""
    return max(1, min(GROUPS, spp // 2))


def wanted(scene: Scene, params: Iterable[str] | None, device=None) -> list[str]:
    """The paths asked for, checked; all differentiable ones by default. device: the scene's, where it is at hand."""
    if isinstance(params, str):
        params = [params]
    paths = Parameters(scene).differentiable(motion=False) if params is None else list(params)
    check_paths(device or compiled(scene), paths)
    return paths


def check_image(scene: Scene, image, what: str) -> np.ndarray:
    """An image of the film's size, finite, as float64."""
    image = np.asarray(image, np.float64)
    _, _, w, h = scene.camera.film.window
    if image.shape != (h, w, 3):
        raise SceneError(f"{scene.file}: {what}", f"shape {image.shape}", f"the film makes ({h}, {w}, 3)")
    if not np.isfinite(image).all():
        raise SceneError(f"{scene.file}: {what}", "it holds NaN or infinity", "give finite numbers")
    return image


def collect(device, paths, groups: list[np.ndarray], sizes: list[int], replayed) -> Gradients:
    """Gradients by path from the accumulators of independent groups, each weighted by its samples."""
    out, scene = Gradients(replayed=replayed), device.scene()
    share = np.asarray(sizes, np.float64) / sum(sizes)
    found = {}  # path -> (groups, ...)
    for path in plain_paths(scene, paths):
        encoded, first = device.by_path[path].encoded, device.first[path]
        found[path] = np.stack([encoded.pull(g[first : first + encoded.data.size]) for g in groups])
    found |= pull(scene, paths, found)
    for path in paths:
        for plain in plain_paths(scene, [path]):
            if note := device.by_path[plain].note:
                out.notes[path] = note
        each = found[path]
        mean = out[path] = np.asarray(sum(w * g for w, g in zip(share, each)))  # group by group: they may be large
        if len(groups) > 1:
            spread = sum(w * np.square(g - mean) for w, g in zip(share, each)) / (len(groups) - 1)
            out.stderr[path] = np.sqrt(spread)
        else:
            out.stderr[path] = np.full(mean.shape, np.nan)
    return out
