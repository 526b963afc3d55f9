"""OpenPBR parameters of a ball are found from one picture of it, with what that picture leaves open.

The picture is rendered from the true material with other random numbers, so it has noise of its own. Steps of Gauss and
Newton, damped and kept inside the ranges, start from a neutral grey dielectric. They take the derivative images J of all
numbers (forward mode) from independent random numbers, and weigh pixels by the noise S of the picture. (J' S^-1 J)^-1 is
the covariance of the numbers: its roots are the error bars, its correlations say which numbers one picture cannot tell
apart.
"""

import argparse
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import irys_ti as it
from irys_ti.io.images import linear_to_srgb
from irys_ti.io.materialx import load_materials
from irys_ti.scene import Camera, Film, Integrator, Scene, Sphere, Texture, rgb
from irys_ti.scene.transform import look_at

FOUR = "base_color,base_metalness,specular_roughness,coat_weight"
# Presets of the OpenPBR repository, in linear sRGB, clipped to 0 to 1: a metal, light and dark dielectrics, a fuzzy one and a
# coated one. What a preset says beside the four, and OpenPBR's defaults, are known to the fit.
PRESETS = {
    "gold": {
        "base_color": (1.0, 0.774, 0.307), "base_metalness": 1.0, "specular_color": (0.970, 1.0, 0.995),
        "specular_roughness": 0.02,
    },
    "concrete": {"base_color": (0.51, 0.51, 0.51), "specular_roughness": 0.5},
    "egg shell": {"base_color": (0.610, 0.624, 0.631), "specular_roughness": 0.8},
    "toner black": {"base_color": (0.05, 0.05, 0.05), "specular_roughness": 0.5},
    "velvet": {
        "base_color": (0.077, 0.0, 0.307), "base_diffuse_roughness": 1.0, "specular_roughness": 1.0, "fuzz_weight": 0.5,
        "fuzz_color": (0.351, 0.224, 0.498), "fuzz_roughness": 0.5,
    },
    "car paint": {
        "base_color": (0.0, 0.662, 0.958), "specular_ior": 1.6, "specular_roughness": 0.3, "coat_weight": 1.0,
        "coat_roughness": 0.02, "coat_ior": 1.6,
    },
}  # fmt: skip
# A neutral grey dielectric and a neutral grey metal; the one whose first steps fit better is gone on from. (A smooth coat on
# a rough dielectric looks so much like a smooth metal that steps from one to the other are slow.)
STARTS = [
    {"base_color": 0.5, "base_metalness": metalness, "specular_roughness": 0.4, "coat_weight": 0.0} for metalness in (0.0, 1.0)
]
DEFAULTS = {"base_color": rgb(0.8, 0.8, 0.8), "base_metalness": 0.0, "specular_roughness": 0.3, "coat_weight": 0.0}
ID = "material"
COARSE_SPP, FINE_SPP = 4, 16


def preset(name: str) -> dict:
    """The values of a preset; colours as spectra."""
    return {k: rgb(*v) if isinstance(v, tuple) else v for k, v in PRESETS[name].items()}


def studio() -> Texture:
    """(128, 256, 3): a dim gradient, hard-edged panels that metals and coats mirror, and small bright lamps.

    The glow around the small lamps' reflections is what shows a roughness that is too low to blur the panels: the lobe's
    tail falls as alpha^2 / angle^4. Panels low and behind are seen at grazing angles, where Fresnel terms differ.
    """
    height, width = 128, 256
    theta, phi = np.pi * np.arange(height) / (height - 1), 2 * np.pi * (np.arange(width) + 0.5) / width
    up = np.cos(theta)[:, None] * np.ones(width)
    d = np.stack([np.sin(theta)[:, None] * np.sin(phi), up, -np.sin(theta)[:, None] * np.cos(phi)], -1)
    pixels = (0.12 + 0.25 * np.maximum(up, 0))[:, :, None] * np.ones(3)
    for azimuth, half, low, high, radiance in ((115, 12, -0.1, 0.7, 5.0), (250, 20, -0.4, 0.2, 2.5), (0, 25, -0.3, 0.3, 4.0)):
        beside = np.abs((np.rad2deg(phi) - azimuth + 180) % 360 - 180) < half
        pixels[beside & (up > low) & (up < high)] = radiance
    for towards, degrees, radiance in (((-0.6, 0.9, 0.7), 4, 120), ((0.9, 0.2, 0.9), 3, 60), ((0.3, -0.5, -0.75), 4, 60)):
        pixels[d @ (np.array(towards) / np.linalg.norm(towards)) > np.cos(np.deg2rad(degrees))] = radiance
    return Texture(pixels, "bilinear", "repeat", source="studio")


def lit_ball(values: dict, size: int) -> Scene:
    """A square picture of a ball of these OpenPBR values in the studio; nothing else is there, so paths are short."""
    return Scene(
        camera=Camera(look_at([0, 0, 6], [0, 0, 0], [0, 1, 0]), fov=20.5, film=Film(size, size, "box")),
        materials=[it.Material(ID, "openpbr", dict(values))],
        shapes=[Sphere(id="ball", material=ID, center=np.zeros(3), radius=1.0)],
        lights=[it.Light("studio", "envmap", {"radiance": studio()})],
        integrator=Integrator(max_depth=2, rr_depth=2),
        file="lit ball",
    )


@dataclass
class Match:
    """A scene whose numbers are to be found from a picture. cov: (h, w, 3, 3), the picture's noise."""

    scene: Scene
    paths: list[str]
    target: np.ndarray
    cov: np.ndarray
    seed: int

    def __post_init__(self):
        params = it.parameters(self.scene)
        self.numbers = [(p, i) for p in self.paths for i in range(params[p].size)]
        ranges = [params.slot(p).param for p, _ in self.numbers]
        self.x = np.concatenate([params[p].reshape(-1) for p in self.paths])
        # A number's unit: 1, but of a range that is another than 0 to 1 its size.
        self.unit = np.array([1.0 if q.high <= 1.0 else abs(x) for q, x in zip(ranges, self.x)])
        self.low, self.high = np.array([q.low for q in ranges]), np.array([q.high for q in ranges])

    def move_to(self, x: np.ndarray) -> None:
        """Give the scene these numbers."""
        params, self.x, new = it.parameters(self.scene), x, {}
        for (path, i), value in zip(self.numbers, x):
            new.setdefault(path, params[path]).flat[i] = value
        for path, value in new.items():
            params[path] = value

    def residual(self, white: np.ndarray, spp: int, seed: int) -> np.ndarray:
        """Picture less render, in units of the noise; flat."""
        return whitened(white, self.target - it.render(self.scene, spp, self.seed + seed)).reshape(-1)

    def derivatives(self, white: np.ndarray, spp: int, seed: int) -> np.ndarray:
        """J by forward mode, (h, w, 3, numbers), in units of the noise a unit of the number."""
        params, columns = it.parameters(self.scene), []
        for (path, i), unit in zip(self.numbers, self.unit):
            tangent = np.zeros(params[path].shape)
            tangent.flat[i] = unit
            columns.append(whitened(white, it.forward(self.scene, {path: tangent}, spp, self.seed + seed)))
        return np.stack(columns, -1).astype(np.float64)

    def step(self, h: np.ndarray, g: np.ndarray, most: float) -> np.ndarray:
        """Newton's step h^-1 g, with no number outside its range or moved by more than ``most`` units: in those units.

        By coordinate descent: the problem has a few numbers and is convex.
        """
        low, high = np.maximum((self.low - self.x) / self.unit, -most), np.minimum((self.high - self.x) / self.unit, most)
        delta = np.zeros(len(g))
        for _ in range(2000):
            for i in range(len(g)):
                delta[i] = np.clip(delta[i] + (g[i] - h[i] @ delta) / h[i, i], low[i], high[i])
        return delta


def windows(x: np.ndarray, reach: int = 2) -> np.ndarray:
    """Means over squares of pixels."""
    h, w = x.shape[:2]
    padded = np.pad(x, ((reach, reach), (reach, reach)) + ((0, 0),) * (x.ndim - 2), mode="edge")
    side = range(2 * reach + 1)
    return sum(padded[a : a + h, b : b + w] for a in side for b in side) / len(side) ** 2


def picture_and_noise(scene: Scene, spp: int, seed: int, groups: int = 8) -> tuple[np.ndarray, np.ndarray]:
    """A picture of ``spp`` samples and the covariance of its pixels' channels, from independent renders, smoothed."""
    parts = np.stack([it.render(scene, max(1, spp // groups), seed + i) for i in range(groups)]).astype(np.float64)
    off = parts - parts.mean(0)
    return parts.mean(0), windows(np.einsum("khwi,khwj->hwij", off, off) / (groups * (groups - 1)), 1)


def whitening(cov: np.ndarray, slack: np.ndarray | float = 0.0) -> np.ndarray:
    """(h, w, 3, 3) that turn differences of pixels into units of their noise; slack: (h, w, 3), an error beside the noise.

    The floor, a twentieth of the pixel's and of the usual noise, is for pixels whose few renders were alike by chance.
    """
    power = np.trace(cov, axis1=2, axis2=3) / 3
    floor = 0.05 * np.maximum(power, np.median(power[power > 0]))
    extra = floor[:, :, None] + np.broadcast_to(np.square(slack), (*power.shape, 3))
    return np.linalg.inv(np.linalg.cholesky(cov + np.eye(3) * extra[..., None]))


def whitened(white: np.ndarray, image: np.ndarray) -> np.ndarray:
    return np.einsum("hwij,hwj->hwi", white, image)


def normal_equations(a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """J' S^-1 J and the J' of the right side, from two independent J.

    The noise of one J multiplies that of the other only, so that its power is not taken for information. On the left
    each is shrunk where it is mostly noise: any left factor that is independent of the rest gives the right solution,
    and a quiet one a quiet solution. The last term says that a number is not known better than to 0.3 from elsewhere: one
    that the picture does not show stays where it is.
    """
    n = a.shape[-1]
    signal, noise = windows((a * b).mean(2)), windows(np.square(a - b).mean(2)) / 2
    keep = np.clip(signal / np.maximum(signal + noise, 1e-30), 0.0, 1.0)[:, :, None]
    left_a, left_b, a, b = (j.reshape(-1, n) for j in (keep * a, keep * b, a, b))
    h = (left_a.T @ b + left_b.T @ a) / 2
    h = (h + h.T) / 2
    scale = np.sqrt(np.maximum(np.diag(h), 1e-12 * np.diag(h).max()))
    values, vectors = np.linalg.eigh(h / np.outer(scale, scale))
    h = (vectors * np.maximum(values, 1e-6)) @ vectors.T * np.outer(scale, scale)
    return h + np.eye(n) / 0.3**2, (left_a + left_b).T / 2


def descend(m: Match, white: np.ndarray, steps: int, spp: int, most: float, seed: int) -> float:
    """Damped steps of Gauss and Newton until none is longer than a hundredth of ``most``; returns the least misfit.

    A step after which the renders fit worse is taken back and tried shorter. How well they fit is told by the logarithm of
    the residuals, since at the edge of a highlight single paths are far off.
    """
    best, damping = None, 0.15
    for k in range(steps):
        r = m.residual(white, 4 * spp, seed + 10 * k)
        loss = float(np.mean(np.log1p(r**2 / 10)))
        better = best is None or loss < best[0] + 0.02
        if better:
            h, left = normal_equations(*(m.derivatives(white, spp, seed + 10 * k + half) for half in (1, 2)))
            best = (loss if best is None else min(loss, best[0]), m.x, h, left @ r)
            damping = max(damping / 4, 1e-4)
        else:
            damping *= 10
        _, x, h, g = best
        m.x = x
        delta = m.step(h + damping * np.diag(np.diag(h)), g, most)
        m.move_to(np.clip(x + delta * m.unit, m.low, m.high))
        print(f"  {k:2d}  misfit {loss:7.4f}  {'' if better else 'back; '}next " + " ".join(f"{v:.4f}" for v in m.x), flush=True)
        if np.abs(delta).max() < 0.01 * most:
            break
    return best[0]


def near(target: np.ndarray, cov: np.ndarray) -> np.ndarray:
    """``whitening`` that allows every pixel an error of a tenth beside its noise, for steps that come near."""
    return whitening(cov, 0.1 * windows(target, 1) + 0.01 * np.median(target, (0, 1)))


def finish(m: Match, white: np.ndarray, spp: int, target_spp: int) -> np.ndarray:
    """A last step, from many samples; returns the covariance of the numbers."""
    a, b = (m.derivatives(white, 2 * spp, 900_000 + half) for half in (1, 2))
    h, left = normal_equations(a, b)
    r = np.mean([m.residual(white, 4 * spp, 900_100 + k) for k in range(4)], 0)
    for (path, _), noise, power in zip(m.numbers, np.square(a - b).sum((0, 1, 2)), np.abs((a * b).sum((0, 1, 2)))):
        if noise > 40 * power:
            print(f"  J of {path.removeprefix(ID + '.')} is mostly noise: its bar says little", flush=True)
    m.move_to(np.clip(m.x + m.step(h, left @ r, 0.02) * m.unit, m.low, m.high))
    # The renders add noise of their own to the picture's.
    return (1 + target_spp / (16 * spp)) * np.linalg.inv(h) * np.outer(m.unit, m.unit)


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
    for label, bar in zip(labels, bars):
        if bar > 0.15:
            print(f"  {label} cannot be told from this picture")


def draw(results: list, file: Path) -> None:
    """Found against true, with bars of two standard deviations; beside it each picture over the recovered ball."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure = plt.figure(figsize=(7 + 1.3 * len(results), 6))
    grid = figure.add_gridspec(2, 1 + len(results), width_ratios=[6] + [1.3] * len(results), hspace=0.02, wspace=0.08)
    axes = figure.add_subplot(grid[:, 0])
    axes.plot([0, 1], [0, 1], color="0.7", lw=1)
    for i, r in enumerate(results):
        axes.errorbar(r["true"], r["found"], 2 * r["bars"], fmt="o", ms=4, lw=1, capsize=3, color=f"C{i}", label=r["name"])
        for row, image in enumerate((r["picture"], r["recovered"])):
            cell = figure.add_subplot(grid[row, 1 + i])
            cell.imshow(linear_to_srgb(np.clip(image, 0, 1)))
            cell.set_axis_off()
            cell.set_title(r["name"] if row == 0 else "recovered", fontsize=8)
    axes.set(xlabel="true", ylabel="found, with two standard deviations", xlim=(-0.05, 1.05), ylim=(-0.05, 1.05), aspect=1)
    axes.legend(frameon=False)
    figure.savefig(file, dpi=110, bbox_inches="tight")
    plt.close(figure)


def start_of(name: str, true, start: dict) -> object:
    """Where a parameter starts; those that ``start`` does not name in the middle of 0 to 1, or a fifth off."""
    x = start.get(name, 0.5 if isinstance(true, it.Spectrum) or 0 <= true <= 1 else 1.2 * true)
    return rgb(x, x, x) if isinstance(true, it.Spectrum) else x


def match(name: str, values: dict, params: list[str], size: int, steps: int, quick: bool, seed: int) -> dict:
    """Fit one material; found, true and error bars of its numbers by label."""
    began, target_spp = time.perf_counter(), 128 if quick else 512
    paths, truth = [f"{ID}.{p}" for p in params], lit_ball(values, size)
    target, cov = picture_and_noise(truth, target_spp, 10**6 * seed)
    true = np.concatenate([it.parameters(truth)[p].reshape(-1) for p in paths])
    print(name, flush=True)
    found = []
    for k, start in enumerate(STARTS):
        scene = lit_ball({**values, **{p: start_of(p, values[p], start) for p in params}}, size)
        m = Match(scene, paths, target, cov, 10**6 * seed + 10**5 * (1 + k))
        found.append((descend(m, near(target, cov), 6, COARSE_SPP, 0.4, 0), m.x))
    m.move_to(min(found, key=lambda f: f[0])[1])
    labels = [p.removeprefix(f"{ID}.") + (f"[{'rgb'[i]}]" if it.parameters(scene)[p].size == 3 else "") for p, i in m.numbers]
    descend(m, near(target, cov), steps, COARSE_SPP, 0.4, 200_000)
    descend(m, whitening(cov), 3 if quick else 8, FINE_SPP, 0.1, 500_000)
    cov = finish(m, whitening(cov), FINE_SPP, target_spp)
    report(labels, m.x, true, cov)
    print(f"  {time.perf_counter() - began:.0f} s", flush=True)
    return {
        "name": name, "labels": labels, "found": m.x, "true": true, "bars": np.sqrt(np.diag(cov)), "picture": target,
        "recovered": it.render(scene, 64, seed),
    }  # fmt: skip


def count(results: list, params: list[str]) -> tuple[int, int]:
    """(values within 0.02, values); a colour is within where all its channels are."""
    ok = [
        all(abs(f - t) <= 0.02 for label, f, t in zip(r["labels"], r["found"], r["true"]) if label.split("[")[0] == p)
        for r in results for p in params
    ]  # fmt: skip
    return sum(ok), len(ok)


def main(argv=None) -> list:
    """Run the example; returns a dictionary of each material: name, labels, found, true, bars, picture, recovered."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--arch", default="auto", help="auto, cpu, cuda, vulkan or metal")
    parser.add_argument("--quick", action="store_true", help="one material, two parameters, a tiny picture and few steps")
    parser.add_argument("--out", type=Path, default=Path("out/material"), help="folder for the pictures")
    parser.add_argument("--seed", type=int, default=1, help="another picture, another fit")
    parser.add_argument("--material", action="append", default=[], metavar="NAME|FILE.mtlx", help="one of: " + ", ".join(PRESETS))
    parser.add_argument("--params", metavar="NAME,NAME", help=f"OpenPBR parameters to fit (default {FOUR})")
    parser.add_argument("--size", type=int, help="pixels of the picture's side (default 128)")
    parser.add_argument("--steps", type=int, default=12, help="most steps that come near (default 12)")
    args = parser.parse_args(argv)
    args.out.mkdir(parents=True, exist_ok=True)
    params = args.params or ("base_color,specular_roughness" if args.quick else FOUR)
    params = [p.strip() for p in params.split(",") if p.strip()]

    arch = it.init(args.arch)
    print(f"running on {arch}; the first picture waits for its kernels to be compiled")
    results = []
    for name in args.material or (["toner black"] if args.quick else list(PRESETS)):
        if name in PRESETS:
            values = preset(name)
        else:
            imported = load_materials(name)[0]
            name, values = imported.material.id, imported.material.values
        values = {**DEFAULTS, **values}
        missing = [p for p in params if p not in values]
        if missing:
            parser.error(f"{name} does not say its {', '.join(missing)}")
        results.append(match(name, values, params, args.size or (32 if args.quick else 128), args.steps, args.quick, args.seed))
        draw(results, args.out / "found_against_true.png")
    within, of = count(results, params)
    print(f"{within} of {of} values within 0.02; see {args.out / 'found_against_true.png'}")
    return results


if __name__ == "__main__":
    main()
