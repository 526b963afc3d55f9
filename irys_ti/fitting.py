"""Fit a scene's parameters to a picture: gradient, Adam, and everything that is kept on the way."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from . import api
from .controls import plain_paths
from .device.compile import compiled
from .device.replay import Replay
from .errors import SceneError
from .interrupt import uninterrupted
from .optim.folder import Folder
from .optim.losses import LOSSES, Loss, as_loss
from .optim.newton import MOST_NUMBERS
from .optim.progress import Progress
from .optim.schedule import rate, samples
from .optim.settings import settings
from .scene import Scene
from .spectral.cie import response

METHODS = ("adam", "newton")
FAULTY_STEPS = 5  # faulty gradients in a row that end a fit


class FitInterrupted(KeyboardInterrupt):
    """Ctrl-C during a fit; the message says what was kept, and where. ``result`` holds it."""

    def __init__(self, message: str, result: FitResult):
        super().__init__(message)
        self.result = result


@dataclass
class FitStep:
    """What a callback sees after every step: the loss and image found at ``values``, seconds since the start."""

    step: int
    steps: int
    loss: float
    values: dict[str, np.ndarray]
    image: np.ndarray
    seconds: float


@dataclass
class FitResult:
    """What a fit found.

    values: {path: array}, the weighted mean of the last iterates, which the scene now holds too.
    losses: of every step, at the values before it. history: {path: (steps, ...)} of those values (their mean, for
    parameters of more than 64 numbers). stderr: {path: array}, standard error of the last step's gradient.
    images: "start", "fitted" and, where there is one, "target"; (H, W, 3) linear. seconds: of all steps, those of
    earlier runs included. skipped: steps left out because their gradient was faulty. folder: where files are.
    """

    values: dict[str, np.ndarray]
    losses: list[float]
    history: dict[str, np.ndarray]
    stderr: dict[str, np.ndarray]
    images: dict[str, np.ndarray] = field(default_factory=dict)
    seconds: float = 0.0
    skipped: int = 0
    folder: Path | None = None


def fit(
    scene: Scene,
    target=None,
    params: Iterable[str] | str = (),
    steps: int = 60,
    *,
    spp: int | tuple[int, int] = 8,
    loss: str | Loss | Callable = "l2",
    lr: float | Mapping[str, float] | None = None,
    bounds: Mapping[str, tuple[float, float]] | None = None,
    seeds: str = "fresh",
    method: str = "adam",
    seed: int = 1,
    out: str | Path | None = None,
    resume: bool = True,
    every: int = 10,
    callback: Callable[[FitStep], object] | None = None,
) -> FitResult:
    """Change ``params`` until the scene's picture is the target's; the scene keeps what was found.

    target: (H, W, 3) array, linear sRGB, of the film's size, or the path of an EXR or PNG file; not needed where
    ``loss`` knows it. params: paths such as "metal.alpha". spp: samples per pixel of each of the two halves of a
    step (design decision D6), or (first, last) for a geometric ramp.
    loss: "l2", "relative_l2", "log_l2", "l1", a Loss, or a function image -> (loss, d_image).
    lr: step length in units of a parameter's range (of its own size where it has none), one number or {path: lr};
    it falls over the last part of the fit. bounds: {path: (low, high)}, by default the parameter's range.
    seeds: "fresh" random numbers every step, or "fixed"; both follow from ``seed``.
    method: "adam", or "newton" for a few numbers (32 at most) whose effects on the picture are alike, such as joint
    angles: steps of Gauss and Newton, shaped by differences of pictures, four a number (irys_ti/optim/newton.py).
    out: a folder for loss.csv, target.png, iter_NNN.png, loss.png, comparison.png and state.npz; with ``resume``,
    a fit that is found there goes on from its last step and ends with the same bits as an uninterrupted one.
    every: steps between pictures and saved states. callback(FitStep) after every step; True ends the fit there.

    Raises SceneError, before anything is traced, for a target of another size, an unknown path or a folder that
    holds another fit; FitInterrupted on Ctrl-C, with everything kept.
    """
    job = _Fit(scene, target, params, int(steps), spp, loss, seeds, int(seed), max(1, int(every)), method)
    job.settings = settings({p: job.parameters.slot(p).param for p in job.params}, lr, bounds)
    if out is not None:
        job.open(out, resume)
    return job.run(callback)


def read_target(scene: Scene, target) -> np.ndarray:
    """A target as (H, W, 3) float64, refused unless it is finite and of the film's size."""
    name = "target"
    if isinstance(target, (str, Path)):
        from .io.images import read_image

        name, target = str(target), read_image(target)
    target = np.asarray(target, np.float64)
    target = target[:, :, None] if target.ndim == 2 else target
    _, _, w, h = scene.camera.film.window
    if target.ndim != 3 or target.shape[2] < 1:
        raise SceneError(name, f"shape {target.shape}", f"a target for this film is ({h}, {w}, 3)")
    if target.shape[:2] != (h, w):
        mend = f"make it {w}x{h}, or give the film the target's size (film.width and height; --size for irys-ti)"
        raise SceneError(name, f"{target.shape[1]}x{target.shape[0]} pixels, but the film has {w}x{h}", mend)
    target = np.repeat(target[:, :, :1], 3, 2) if target.shape[2] < 3 else target[:, :, :3]
    if not np.isfinite(target).all():
        raise SceneError(name, "it holds NaN or infinity", "replace those pixels")
    return np.ascontiguousarray(target)


def picture(scene: Scene, spp: int, seed: int) -> np.ndarray:
    """The scene's image by the gradient's kernel, which a fit has compiled already."""
    device = compiled(scene)
    device.set_channels(response())
    half = Replay(device, spp, seed)
    image = half.radiance()
    half.drop()
    return image


class _Watched(Loss):
    """A loss that remembers the image it saw: the mean of both halves."""

    def __init__(self, loss: Loss):
        self.loss, self.image = loss, None

    def value(self, a, b):
        self.image = 0.5 * (a + b)
        return self.loss.value(a, b)

    def derivative(self, image):
        return self.loss.derivative(image)


class _Fit:
    """One fit: its checked arguments, its progress, its folder."""

    def __init__(self, scene, target, params, steps, spp, loss, seeds, seed, every, method):
        if steps < 1:
            raise ValueError(f"steps {steps} must be at least 1")
        if np.shape(spp) not in ((), (2,)) or np.min(spp) < 1:
            raise ValueError(f"spp {spp} must be a number from 1 up, or two of them: (first, last)")
        if seeds not in ("fresh", "fixed"):
            raise ValueError(f"seeds {seeds!r} is not one of 'fresh', 'fixed'")
        if method not in METHODS:
            raise ValueError(f"method {method!r} is not one of {', '.join(map(repr, METHODS))}")
        self.scene, self.steps, self.spp, self.seed, self.every = scene, steps, spp, seed, every
        self.method = method
        self.fresh = seeds == "fresh"
        self.target = None if target is None else read_target(scene, target)
        self.loss_name = loss if isinstance(loss, str) else type(loss).__name__
        self.loss = _Watched(self.find_loss(loss))
        self.parameters = api.parameters(scene)
        self.params = self.find_params(params)
        start = {p: self.parameters[p] for p in self.params}
        numbers = sum(np.size(x) for x in start.values())
        if method == "newton" and numbers > MOST_NUMBERS:
            raise ValueError(f"method 'newton' is for {MOST_NUMBERS} numbers at most, and these are {numbers}: use 'adam'")
        self.progress = Progress(start, steps)
        self.folder: Folder | None = None

    def find_loss(self, loss) -> Loss:
        """A loss by name or as given."""
        if not isinstance(loss, str):
            return as_loss(loss)
        if loss not in LOSSES:
            raise ValueError(f"loss {loss!r} is not one of {', '.join(LOSSES)}")
        if self.target is None:
            raise ValueError(f"loss {loss!r} needs a target")
        return LOSSES[loss](self.target)

    def find_params(self, params) -> list[str]:
        """Paths, each with a gradient."""
        params = [params] if isinstance(params, str) else list(params)
        if not params:
            there = ", ".join(self.parameters.differentiable())
            raise SceneError(f"{self.scene.file}: fit", "no parameters are named", f"choose among {there}")
        return api.wanted(self.scene, params)

    # -- the loop --------------------------------------------------------------------------------------------

    def run(self, callback) -> FitResult:
        """All steps that are left, then the mean of the last iterates."""
        self.assign(self.progress.values)
        faults = 0
        try:
            while self.progress.done < self.steps:
                fault = self.step()
                faults = faults + 1 if fault else 0
                if faults == FAULTY_STEPS:
                    raise ArithmeticError(f"{faults} steps in a row had a faulty gradient: {fault}")
                self.write_step()
                if callback is not None and callback(self.seen()) is True:
                    break
            return self.finish()
        except KeyboardInterrupt:
            raise FitInterrupted(*self.interrupted()) from None

    def step(self) -> ArithmeticError | None:
        """One gradient and one update; a faulty gradient changes nothing and is returned."""
        began, progress, step = time.perf_counter(), self.progress, self.progress.done
        numbers = np.random.SeedSequence([self.seed % 2**63, step if self.fresh else 0]).generate_state(4)
        spp = samples(self.spp, step, self.steps)
        loss, grads, fault = float("nan"), None, None
        try:
            # Few samples a step: outlines and shadows, which pull on poses most, take as many as paths do.
            seeds = tuple(int(n) for n in numbers[:2])
            self.measure(step, spp, tuple(int(n) for n in numbers[2:]))
            loss, grads = api.gradient(self.scene, self.loss, spp, seeds, self.params, boundary_spp=spp)
        except ArithmeticError as error:
            fault = error
        with uninterrupted():
            new = progress.values
            if grads is not None:
                new = self.moved(new, grads, step)
                progress.stderr = dict(grads.stderr)
            progress.skipped += fault is not None
            if progress.start_image is None:
                progress.start_image = self.loss.image
            progress.take(new, loss, time.perf_counter() - began)
            self.assign(new)
        return fault

    def measure(self, step: int, spp: int, seeds: tuple[int, int]) -> None:
        """A new metric for steps of Gauss and Newton, where one is due."""
        progress, rules = self.progress, self.settings
        if self.method != "newton" or not progress.newton.due(step):
            return

        def image_at(values, which):
            self.assign(values)
            return picture(self.scene, spp, seeds[which])

        lengths = rules.lengths(progress.values, 1.0)
        progress.newton.measure(image_at, progress.values, lengths, rules.low, rules.high, self.loss.derivative)
        self.assign(progress.values)

    def moved(self, values: dict, grads, step: int) -> dict[str, np.ndarray]:
        """The values after a step with these gradients."""
        rules, progress = self.settings, self.progress
        if self.method == "newton":
            lengths = rules.lengths(values, 1.0)
            return progress.newton.step(values, grads, lengths, rules.low, rules.high, step, self.steps)
        return progress.adam.step(values, grads, rules.lengths(values, rate(step, self.steps)), rules.low, rules.high)

    def assign(self, values) -> None:
        """Give the scene these values."""
        for path, x in values.items():
            self.parameters[path] = x

    def seen(self) -> FitStep:
        """The last step, for a callback."""
        p = self.progress
        values = {path: h[-1] for path, h in p.history.items()}
        return FitStep(p.done - 1, self.steps, p.losses[-1], values, self.loss.image, float(sum(p.seconds)))

    def finish(self) -> FitResult:
        """Give the scene what was found, and picture it."""
        found = {p: x.copy() for p, x in self.progress.found().items()}
        self.assign(found)
        result = self.result(found)
        result.images["fitted"] = picture(self.scene, max(32, 2 * int(np.max(self.spp))), self.seed)
        if self.target is not None:
            result.images["target"] = self.target
        if self.folder is not None:
            self.save()
            self.folder.compare(result.images)
            self.folder.plot(result.losses, self.progress.history)
        return result

    def result(self, values) -> FitResult:
        """What there is, with these values."""
        p = self.progress
        images = {} if p.start_image is None else {"start": p.start_image}
        folder = self.folder.path if self.folder else None
        return FitResult(
            values, list(p.losses), p.past(), dict(p.stderr), images, float(sum(p.seconds)), p.skipped, folder
        )

    def interrupted(self) -> tuple[str, FitResult]:
        """Keep the last whole step; what to say about it, and the result so far."""
        done = self.progress.done
        self.assign(self.progress.values)
        where = "the scene holds the last step's values"
        if self.folder is not None:
            self.save()
            if done:
                self.folder.plot(self.progress.losses, self.progress.history)
            where = f"kept in {self.folder.path}; the same fit started again goes on from there"
        return f"stopped after {done} of {self.steps} steps: {where}", self.result(dict(self.progress.values))

    # -- the folder ------------------------------------------------------------------------------------------

    def open(self, out, resume: bool) -> None:
        """Use a folder; go on with the fit that it holds."""
        self.folder = Folder(out)
        if self.target is not None:
            self.folder.expose(self.target)
            self.folder.picture("target.png", self.target)
        state = self.folder.load() if resume else None
        if state is None:
            return
        old, new = (json.loads(text) for text in (str(state["identity"]), self.identity()))
        where = str(self.folder.path / Folder.STATE)
        for name, value in new.items():
            if old.get(name) != value:
                raise SceneError(
                    where, f"it is of another fit ({name} {old.get(name)!r} there, {value!r} here)",
                    "choose another folder, or fit afresh with resume=False (--fresh)",
                )  # fmt: skip
        there = Progress(self.progress.start, self.steps)
        there.restore(state)
        ours = self.progress.start
        if not any(all(np.array_equal(ours[p], v[p]) for p in ours) for v in (there.start, there.values, there.found())):
            raise SceneError(
                where, "it is of a fit with other start values",
                "choose another folder, or fit afresh with resume=False (--fresh)",
            )  # fmt: skip
        self.progress = there

    def identity(self) -> str:
        """What makes two fits the same one, as JSON: settings, and a hash of the target and the other parameters."""
        digest = hashlib.sha256()
        if self.target is not None:
            digest.update(self.target.tobytes())
        fitted = {*self.params, *plain_paths(self.scene, self.params)}
        for path in self.parameters:
            if path not in fitted:
                digest.update(path.encode() + self.parameters[path].tobytes())
        shapes = {p: list(x.shape) for p, x in self.progress.start.items()}
        spp = np.ravel(self.spp).tolist()
        numbers = {
            "spp": spp, "loss": self.loss_name, "seed": self.seed, "fresh seeds": self.fresh, "method": self.method,
        }  # fmt: skip
        rules = {name: getattr(self.settings, name) for name in ("rates", "low", "high")}
        return json.dumps({"parameters": shapes, **numbers, **rules, "scene and target": digest.hexdigest()[:16]})

    def write_step(self) -> None:
        """Every few steps: a picture, the state, the table."""
        last = self.progress.done - 1
        if self.folder is not None and (last % self.every == 0 or last == self.steps - 1):
            if self.loss.image is not None:
                self.folder.picture(f"iter_{last:03d}.png", self.loss.image)
            self.save()

    def save(self) -> None:
        """The state and the table."""
        p = self.progress
        self.folder.save({"identity": np.str_(self.identity()), **p.arrays()})
        self.folder.table(p.losses, p.seconds, p.history)
