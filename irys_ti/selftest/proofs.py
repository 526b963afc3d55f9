"""What the self-test proves on one backend, in that backend's process. Each proof returns figures and whether
they are as they must be; statistical ones carry a control that must fail, to show that they could.
"""

from __future__ import annotations

import hashlib
import time
import traceback
from dataclasses import dataclass, field

import numpy as np

from .. import runtime, tiers
from ..api import backward, collect, parameters, render, wanted
from ..check.differences import gradients, weight_image
from ..device.compile import compiled
from ..device.launch import Launcher
from ..device.replay import Replay
from ..spectral.cie import response
from . import scenes, sums
from .features import FEATURES

SEED = 11
Z_LIMIT = 5.0  # of 16 seeds; the biased control must lie beyond CONTROL_Z
CONTROL_Z = 8.0
SEEDS = range(100, 116)


@dataclass
class Proof:
    """The outcome of one: figures, by name, and a line that says what they mean."""

    name: str
    ok: bool
    text: str
    figures: dict = field(default_factory=dict)
    seconds: float = 0.0


def replay(quick: bool):
    """The replay meets every path again, bit for bit; with another seed in pass 1 it meets almost none."""
    scene = scenes.room(32 if quick else 64)
    spp = 16
    weight = weight_image(scene)
    _, (equal, lanes) = gradients(scene, None, weight, spp, [SEED])
    _, (control, _) = gradients(scene, None, weight, spp, [SEED], replay_seed=SEED + 1)
    ok = equal == lanes and control <= lanes // 1000
    text = f"{equal} of {lanes} paths replayed bit for bit; {control} with another seed in pass 1"
    return ok, text, {"lanes": lanes, "equal": equal, "control_equal": control}


def exact_sums(quick: bool):
    """Sums have the same bits in any order, over any replicas and launches, and are Python's; faults are seen."""
    n, n_acc = 2000 if quick else 20000, 3
    numbers = sums.random_numbers(n)
    want = sums.expected(numbers, n_acc)
    rng, right, tried = np.random.default_rng(1), 0, 0
    for replicas in (1, 2, 64):
        for launches in (1, 3):
            words = sums.add(numbers, n_acc, replicas, rng.permutation(n), launches)
            host = sums.totals(words, n_acc, replicas)
            right += sums.integers(words, n_acc) == want and host.tolist() == [float(x) for x in want]
            tried += 1
    seen = sums.faults([2.0**56, -(2.0**60), np.inf, np.nan, -np.inf, 2.0**55, 1.0])
    ok = right == tried and seen == (2, 3)
    text = f"{n} numbers in {tried} ways: {right} times Python's integers; faults seen {seen}, should be (2, 3)"
    return ok, text, {"numbers": n, "ways": tried, "right": right, "too_large": seen[0], "not_finite": seen[1]}


def fingerprint(quick: bool = True, max_lanes: int | None = None, replicas: int = 64) -> str:
    """Hash of the bits of an image and of a gradient by every parameter."""
    scene = scenes.room(16 if quick else 32)
    device = compiled(scene)
    device.set_channels(response())
    paths, weight = wanted(scene, None), weight_image(scene)
    image = Launcher(device, 8, SEED, max_lanes=max_lanes).render()
    n = device.want(paths)
    device.scale_deposits(float(np.abs(weight).max()) / 8)
    replay = Replay(device, 8, SEED, 2, n, max_lanes=max_lanes, replicas=replicas)
    grads = collect(device, paths, *replay.deposit(weight), ())
    parts = [image, *(grads[p] for p in paths), *(grads.stderr[p] for p in paths)]
    return hashlib.blake2b(b"".join(np.ascontiguousarray(x).tobytes() for x in parts), digest_size=8).hexdigest()


def same_bits(quick: bool):
    """Images and gradients have the same bits in every run, tiling and number of replicas; a seed changes them."""
    prints = {"twice": fingerprint(quick), "again": fingerprint(quick)}
    prints |= {f"{lanes} paths a launch": fingerprint(quick, lanes) for lanes in (1000, 300)}
    prints["1 replica"] = fingerprint(quick, replicas=1)
    ok = len(set(prints.values())) == 1
    text = f"{len(prints)} runs, tilings and replica counts: {len(set(prints.values()))} different result(s)"
    return ok, text, {"fingerprints": prints}


def crop(quick: bool):
    """A crop has the image's and the gradient's bits of the same pixels of the full film."""
    scene = scenes.room(16)
    full, window = render(scene, 8, SEED), (3, 5, 7, 6)
    x, y, w, h = window
    weight = weight_image(scene)
    inside = np.zeros_like(weight)
    inside[y : y + h, x : x + w] = weight[y : y + h, x : x + w]
    part = scenes.room(16)
    part.camera.film.crop = window
    image = render(part, 8, SEED)
    a = backward(scene, inside, 8, SEED)
    b = backward(part, inside[y : y + h, x : x + w], 8, SEED)
    same_image = np.array_equal(image, full[y : y + h, x : x + w])
    same = sum(np.array_equal(a[p], b[p]) for p in a)
    ok = same_image and same == len(a) and any(a[p].any() for p in a)
    text = f"image {'the same' if same_image else 'DIFFERENT'}; gradients by {same} of {len(a)} parameters the same bits"
    return ok, text, {"image": bool(same_image), "parameters": len(a), "same": same}


def own_value(quick: bool):
    """Assigning a parameter its own value leaves the image the same to the bit; another value does not."""
    scene = scenes.room(16)
    before, params = render(scene, 4, SEED), parameters(scene)
    for path in params:
        params[path] = params[path]
    same = np.array_equal(before, render(scene, 4, SEED))
    params["metal.alpha"] = 0.21
    changed = not np.array_equal(before, render(scene, 4, SEED))
    return same and changed, f"same bits: {same}; another value changes them: {changed}", {"same": same, "changed": changed}


def f64_on_equal_paths(quick: bool):
    """This tier's gradients against f64's, over the paths whose discrete decisions agree."""
    scene = scenes.room(32 if quick else 64)
    found = tiers.compare(scene, spp=16, seed=SEED, d_image=weight_image(scene))
    worst = max(found.parameters, key=lambda p: found.parameters[p].difference)
    difference = found.parameters[worst].difference
    effect = max(d.effect for d in found.parameters.values())
    text = (
        f"largest ||f32 - f64|| / ||f64|| {difference:.1e} ({worst}); {found.different} of {found.lanes} paths decide "
        f"otherwise, at most {effect:.2g} standard errors"
    )
    figures = {p: d.difference for p, d in found.parameters.items()}
    return found.ok, text, {"lanes": found.lanes, "different": found.different, "effect": effect, "difference": figures}


def z_test(estimate, expected: float, precise: float = 2e-3, bias: float = 0.02):
    """Mean of an estimate over SEEDS against what is expected.

    precise: standard error allowed, as a share. bias: of the control, which must be told from it.
    """
    x = np.array([estimate(seed) for seed in SEEDS], np.float64)
    mean, error = float(x.mean()), float(x.std(ddof=1) / np.sqrt(len(x)))
    error = max(error, 1e-7 * abs(expected))  # estimates that do not vary at all are exact to rounding
    z, control = (mean - expected) / error, ((1 + bias) * mean - expected) / error
    ok = abs(z) < Z_LIMIT and error <= precise * abs(expected) and abs(control) > CONTROL_Z
    text = f"{mean:.6g} +- {error:.1g}, expected {expected:.6g}: z {z:+.1f}; {bias:.0%} too much gives z {control:+.0f}"
    return ok, text, {"mean": mean, "error": error, "expected": expected, "z": z, "control_z": control}


def _flat(scene, spp: int):
    """Mean radiance of a scene whose spectra are flat."""
    white = scenes.white()
    return lambda seed: (render(scene, spp, seed).mean((0, 1)) / white).mean()


def furnace(quick: bool):
    """L = Le / (1 - a) inside a diffuse sphere."""
    return z_test(_flat(scenes.inside_sphere(), 16 if quick else 64), 1.0)


def disk_light(quick: bool):
    """E = pi R^2 / (R^2 + h^2) below a disk, R = 1, h = 2: 0.628319."""
    mean = _flat(scenes.disk_light(), 16 if quick else 64)
    return z_test(lambda seed: np.pi * mean(seed), np.pi / 5)


def form_factor(quick: bool):
    """Opposite faces of a cube: 0.199825."""
    return z_test(_flat(scenes.opposite_faces(), 16 if quick else 64), 0.199825)


def colour(quick: bool):
    """A constant spectrum of 1 is linear sRGB (1.205, 0.948, 0.909)."""
    found = render(scenes.white_sky(), 256, SEED).mean((0, 1)).astype(float)
    gap = float(np.abs(found - [1.205, 0.948, 0.909]).max())
    return gap < 1e-3, f"({', '.join(f'{c:.4f}' for c in found)}), off by at most {gap:.1e}", {"rgb": found.tolist()}


def furnace_gradients(quick: bool):
    """dL/da = Le / (1 - a)^2 = 2 and dL/dLe = 1 / (1 - a) = 2 inside a diffuse sphere."""
    scene, spp = scenes.inside_sphere(), 64
    weight = np.broadcast_to(1 / scenes.white() / 3 / 64, (8, 8, 3))
    found, replayed = gradients(scene, ["wall.reflectance", "around.radiance"], weight, spp, SEEDS)
    rows = {}
    for path, precise, bias in (("wall.reflectance", 1e-2, 0.05), ("around.radiance", 2e-3, 0.02)):
        values = dict(zip(SEEDS, found[path]))
        rows[path] = z_test(lambda seed, v=values: float(v[seed]), 2.0, precise, bias)
    ok = all(r[0] for r in rows.values()) and replayed[0] == replayed[1]
    return ok, "; ".join(f"{p}: {r[1]}" for p, r in rows.items()), {p: r[2] for p, r in rows.items()}


PROOFS = {
    "replay": replay,
    "exact sums": exact_sums,
    "same bits": same_bits,
    "crop": crop,
    "own value": own_value,
    "f64 on equal paths": f64_on_equal_paths,
    "inside a diffuse sphere": furnace,
    "its derivatives": furnace_gradients,
    "disk light": disk_light,
    "form factor": form_factor,
    "colour of a flat spectrum": colour,
    **FEATURES,
}


def run(quick: bool, only, tell) -> None:
    """The proofs (named in ``only``, or all) on this process's backend; tell(proof) hears of each.

    An error is a proof that failed. The quick test leaves out the features, whose kernels take minutes to compile; on
    the f64 tier there is nothing to compare them with.
    """
    reference_here = runtime.state.precision == "f64"
    for name, prove in PROOFS.items():
        against_f64 = prove is f64_on_equal_paths or name in FEATURES
        if name not in only if only else quick and name in FEATURES:
            continue
        if against_f64 and reference_here:
            continue
        began = time.perf_counter()
        try:
            ok, text, figures = prove(quick)
        except Exception as error:
            ok, text = False, f"{type(error).__name__}: {error}"
            figures = {"traceback": traceback.format_exc()}
        tell(Proof(name, bool(ok), text, figures, round(time.perf_counter() - began, 2)))
