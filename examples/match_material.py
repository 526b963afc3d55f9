"""OpenPBR parameters of a ball are found from one picture of it, with what that picture leaves open.

The picture is rendered from the true material with other random numbers, so it has noise of its own. A short fit by
gradients comes near; then steps of Gauss and Newton with the derivative images J of all numbers (forward mode) finish.
J and the noise S of the picture give the covariance of the numbers, (J' S^-1 J)^-1: its roots are the error bars, its
correlations say which numbers one picture cannot tell apart.
"""

import argparse
from pathlib import Path

import numpy as np

import irys_ti as it
from irys_ti.io.materialx import load_materials
from irys_ti.scene import rgb
from irys_ti.scene.preview_ball import preview_ball

FOUR = "base_color,base_metalness,specular_roughness,coat_weight"
# Materials by what distinguishes them; parameters that are not named have OpenPBR's defaults.
MATERIALS = {
    "brass": ((0.80, 0.58, 0.28), 1.0, 0.35, 0.0),
    "red plastic": ((0.60, 0.06, 0.05), 0.0, 0.25, 0.0),
    "car paint": ((0.05, 0.14, 0.45), 0.6, 0.45, 1.0),
    "varnished wood": ((0.42, 0.22, 0.10), 0.0, 0.60, 0.8),
    "worn enamel": ((0.25, 0.45, 0.38), 0.2, 0.40, 0.5),
    "chalk": ((0.85, 0.83, 0.78), 0.0, 0.90, 0.0),
}
START = {"base_color": rgb(0.5, 0.5, 0.5), "base_metalness": 0.5, "specular_roughness": 0.5, "coat_weight": 0.5}
ID = "material"


def true_values(name: str) -> dict:
    color, metalness, roughness, coat = MATERIALS[name]
    return {"base_color": rgb(*color), "base_metalness": metalness, "specular_roughness": roughness, "coat_weight": coat}


def ball(values: dict, size: int) -> it.Scene:
    """The lit ball in a material of these values."""
    return preview_ball(it.Material(ID, "openpbr", values), size)


def start_of(name: str, true):
    """Where a parameter starts: in the middle, knowing nothing of the truth."""
    if name in START:
        return START[name]
    return rgb(0.5, 0.5, 0.5) if isinstance(true, it.Spectrum) else 0.5 if 0 <= true <= 1 else 1.2 * true


def picture_and_noise(scene: it.Scene, spp: int, seed: int, groups: int = 8) -> tuple[np.ndarray, np.ndarray]:
    """A picture of ``spp`` samples and the variance of one of its samples, from independent renders.

    Few renders miss rare bright paths, so the variance is smoothed and kept above a tenth of its mean.
    """
    parts = np.stack([it.render(scene, max(1, spp // groups), seed + i) for i in range(groups)]).astype(np.float64)
    variance = parts.var(0, ddof=1) * max(1, spp // groups)
    padded = np.pad(variance, ((2, 2), (2, 2), (0, 0)), mode="edge")
    windows = np.lib.stride_tricks.sliding_window_view(padded, (5, 5), axis=(0, 1))
    variance = windows.mean((-2, -1))
    return parts.mean(0), variance + 0.1 * variance.mean()


def weighted(target: np.ndarray, variance: np.ndarray):
    """The loss of least squares by the picture's noise: image -> (loss, d_image)."""
    weight = 1.0 / variance
    weight *= 1.0 / weight.mean()

    def loss(image):
        residual = image - target
        return float((weight * residual**2).mean()), 2 * weight * residual / image.size

    return loss


def numbers_of(scene: it.Scene, paths: list[str]) -> list[tuple[str, int]]:
    """(path, index) of every single number."""
    params = it.parameters(scene)
    return [(path, i) for path in paths for i in range(params[path].size)]


def derivative_images(scene: it.Scene, numbers, variance: np.ndarray, spp: int, seed: int) -> list[np.ndarray]:
    """J of the scene's present values twice, from independent random numbers: (pixels, numbers), in units of the noise."""
    params, halves = it.parameters(scene), []
    for half in range(2):
        columns = []
        for path, i in numbers:
            tangent = np.zeros(params[path].size)
            tangent[i] = 1.0
            columns.append(it.forward(scene, {path: tangent.reshape(params[path].shape)}, spp, seed + half).reshape(-1))
        halves.append(np.stack(columns, 1).astype(np.float64) / np.sqrt(variance.reshape(-1, 1)))
    return halves


def information(halves: list[np.ndarray], least: float = 0.002) -> np.ndarray:
    """J' S^-1 J, free of the power of J's own noise: from the product of the halves, kept positive."""
    crossed = halves[0].T @ halves[1]
    # Where noise leaves no power at all, a thousandth of what the halves seem to have.
    power = np.maximum(np.diag(crossed), 1e-3 * np.diag(halves[0].T @ halves[0] + halves[1].T @ halves[1]))
    scale = np.sqrt(np.maximum(power, 1e-12 * power.max()))
    values, vectors = np.linalg.eigh((crossed + crossed.T) / 2 / np.outer(scale, scale))
    return (vectors * np.maximum(values, least)) @ vectors.T * np.outer(scale, scale)


def refine(scene: it.Scene, target: np.ndarray, variance: np.ndarray, numbers, steps: int, spp: int, seed: int) -> list[np.ndarray]:
    """Steps of Gauss and Newton from the scene's values; the scene keeps the mean of the last half of them.

    Returns J there, twice, the means over those steps.

    Image and J of a step have random numbers of their own, so that at the truth a step is zero on average. A step that
    would leave the range is taken within it, the other numbers adjusted.
    """
    params, last, seen = it.parameters(scene), [], []
    x = np.array([params[path].reshape(-1)[i] for path, i in numbers])
    for step in range(steps):
        halves = derivative_images(scene, numbers, variance, spp, seed + 100 * step)
        image = np.asarray(it.render(scene, 2 * spp, seed + 100 * step + 50), np.float64)
        residual = ((target - image) / np.sqrt(variance)).reshape(-1)
        h, g = information(halves), (halves[0] + halves[1]).T @ residual / 2
        delta, free = np.zeros(len(x)), np.ones(len(x), bool)
        for _ in numbers:  # those at their ends stay there, the rest is solved again
            delta[free] = np.linalg.solve(h[np.ix_(free, free)], (g - h @ np.where(free, 0.0, delta))[free])
            out = free & ((x + delta < 0.0) | (x + delta > 1.0))
            if not out.any():
                break
            delta[out] = np.clip(x + delta, 0.0, 1.0)[out] - x[out]
            free &= ~out
        x = np.clip(x + np.clip(delta, -0.5, 0.5), 0.0, 1.0)
        if step >= steps // 2:
            last.append(x)
            seen.append(halves)
        assign(params, numbers, x)
        print(f"  Gauss-Newton {step}: chi^2 a number of the picture {np.mean(residual**2):10.3e}, largest step {np.abs(delta).max():.4f}")
    assign(params, numbers, np.mean(last, 0))
    return [np.mean([halves[k] for halves in seen], 0) for k in range(2)]


def assign(params, numbers, x: np.ndarray) -> None:
    """Give the scene these numbers."""
    new = {path: np.array(params[path]) for path, _ in numbers}
    for (path, i), value in zip(numbers, x):
        new[path].flat[i] = value
    for path, value in new.items():
        params[path] = value


def report(labels: list[str], found, true, cov: np.ndarray) -> None:
    """Print found against true, the covariance, and the pairs that one picture cannot tell apart."""
    bars = np.sqrt(np.diag(cov))
    for label, f, t, bar in zip(labels, found, true, bars):
        print(f"  {label:26} found {f:7.4f} +- {bar:.4f}   truth {t:7.4f}   error {f - t:+.4f}")
    print("  covariance (J' S^-1 J)^-1:")
    for label, row in zip(labels, cov):
        print(f"    {label:26} " + " ".join(f"{x:10.2e}" for x in row))
    correlation = cov / np.outer(bars, bars)
    for i, j in zip(*np.triu_indices(len(labels), 1)):
        if abs(correlation[i, j]) > 0.7:
            print(f"  {labels[i]} and {labels[j]} are hard to tell apart: correlation {correlation[i, j]:+.2f}")


def draw(results: list, file: Path) -> None:
    """Found against true, with bars of two standard deviations."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(6, 6))
    axes.plot([0, 1], [0, 1], color="0.7", lw=1)
    for i, (name, _labels, found, true, bars) in enumerate(results):
        axes.errorbar(true, found, 2 * bars, fmt="o", ms=4, lw=1, capsize=3, color=f"C{i}", label=name)
    axes.set(xlabel="true", ylabel="found, with two standard deviations", xlim=(-0.05, 1.05), ylim=(-0.05, 1.05), aspect=1)
    axes.legend(frameon=False)
    figure.savefig(file, dpi=110, bbox_inches="tight")
    plt.close(figure)


def match(name: str, values: dict, params: list[str], args, size: int, steps: int, spp: int) -> tuple:
    """Fit one material; returns (name, labels, found, true, bars)."""
    target_spp = 64 if args.quick else 512
    target, variance = picture_and_noise(ball(values, size), target_spp, 1000 * args.seed)
    scene = ball({**values, **{p: start_of(p, values[p]) for p in params}}, size)
    paths = [f"{ID}.{p}" for p in params]
    truth = ball(values, size)
    true = np.concatenate([it.parameters(truth)[p].reshape(-1) for p in paths])
    folder = args.out / name.replace(" ", "_")
    it.fit(
        scene, target, paths, steps, spp=spp, loss=weighted(target, variance), seed=args.seed, out=folder, resume=False,
        callback=lambda s: print(f"  step {s.step:3d}  loss {s.loss:10.3e}") if s.step % 10 == 0 else None,
    )  # fmt: skip
    numbers = numbers_of(scene, paths)
    labels = [p.removeprefix(f"{ID}.") + (f"[{'rgb'[i]}]" if it.parameters(scene)[p].size == 3 else "") for p, i in numbers]
    newton_steps, newton_spp = (2, 16) if args.quick else (5, 16)
    # A range other than 0 to 1 is left to the fit by gradients.
    unit = [n for n in numbers if 0.0 <= it.parameters(scene).slot(n[0]).param.low and it.parameters(scene).slot(n[0]).param.high <= 1.0]
    halves = refine(scene, target, variance, unit, newton_steps, newton_spp, 7919 * args.seed) if unit else []
    found = np.concatenate([it.parameters(scene)[p].reshape(-1) for p in paths])
    if len(unit) < len(numbers):
        halves = derivative_images(scene, numbers, variance, 64, args.seed + 77)
    # The images of the steps that are averaged add noise of their own to the picture's.
    noise = 1 / target_spp + 1 / (2 * newton_spp * (newton_steps - newton_steps // 2))
    cov = noise * np.linalg.inv(information(halves, 1e-4))
    print(name)
    report(labels, found, true, cov)
    return name, labels, found, true, np.sqrt(np.diag(cov))


def main(argv=None) -> list:
    """Run the example; returns (name, labels, found, true, error bars) of each material."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--arch", default="auto", help="auto, cpu, cuda, vulkan or metal")
    parser.add_argument("--quick", action="store_true", help="one material, two parameters, a tiny picture and few steps")
    parser.add_argument("--out", type=Path, default=Path("out/material"), help="folder for the pictures")
    parser.add_argument("--seed", type=int, default=1, help="another picture, another fit")
    parser.add_argument("--material", action="append", default=[], metavar="NAME|FILE.mtlx", help="one of: " + ", ".join(MATERIALS))
    parser.add_argument("--params", metavar="NAME,NAME", help=f"OpenPBR parameters to fit (default {FOUR})")
    parser.add_argument("--size", type=int, help="pixels of the picture's side (default 128)")
    parser.add_argument("--steps", type=int, help="steps of the fit by gradients (default 24)")
    args = parser.parse_args(argv)
    size, steps, spp = (24, 20, 4) if args.quick else (128, 24, 4)
    args.out.mkdir(parents=True, exist_ok=True)
    params = args.params or ("base_color,specular_roughness" if args.quick else FOUR)
    params = [p.strip() for p in params.split(",") if p.strip()]

    arch = it.init(args.arch)
    print(f"running on {arch}; the first picture waits for its kernels to be compiled")
    results = []
    for name in args.material or (["brass"] if args.quick else list(MATERIALS)):
        if name in MATERIALS:
            values = true_values(name)
        else:
            imported = load_materials(name)[0]
            name, values = imported.material.id, {**START, "base_metalness": 0.0, "coat_weight": 0.0, **imported.material.values}
        values = {**{p: START[p] for p in params if p in START}, **values}
        missing = [p for p in params if p not in values]
        if missing:
            parser.error(f"{name} does not say its {', '.join(missing)}")
        results.append(match(name, values, params, args, args.size or size, args.steps or steps, spp))
        draw(results, args.out / "found_against_true.png")
    print(f"see {args.out / 'found_against_true.png'}")
    return results


if __name__ == "__main__":
    main()
