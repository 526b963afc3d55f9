"""Melanin and haemoglobin in skin are found from one picture of a head, by light that wanders below its surface.

The head is sculpted here: a sphere with a nose, ears, a chin. A lamp and the sky light it. Its skin scatters and absorbs as
Jacques gives it for human skin ("Skin optics", 1998; "Optical properties of biological tissues: a review", 2013), with the
absorption of whole blood by Prahl's table of haemoglobin; melanin and blood are mixed evenly. Lengths are in centimetres.
Both concentrations start wrong; Gauss and Newton's method takes them to what the picture shows.
"""

import argparse
import time
from pathlib import Path

import numpy as np

import irys_ti as it
from irys_ti.graph import constant, evaluate, jvp, leaf
from irys_ti.kernels.bsdf.openpbr_interior import observed_color
from irys_ti.scene import points, rectangle
from irys_ti.scene.transform import look_at, scale

TRUTH = {"melanin": 0.0015, "blood": 0.02}  # shares of the volume: melanosomes, whole blood
START = {"melanin": 0.004, "blood": 0.006}
SETTLED = 2  # the step from which on the concentrations are near what they will be
OXYGEN = 0.75  # saturation of the blood
IOR = 1.4
WAVELENGTHS = np.arange(360.0, 831.0, 10.0)
# Molar extinction of oxygenated and of deoxygenated haemoglobin, 1 / (cm M), at those (S. Prahl's compilation).
OXY = [
    94744, 88176, 109564, 167748, 266232, 466840, 480360, 246072, 102580, 62816, 44480, 33209, 26629, 23684, 20933, 20035,
    24202, 39957, 53236, 43016, 32613, 44496, 50104, 14401, 3200, 1506, 942, 610, 442, 368, 320, 294, 278, 276, 290, 314,
    348, 390, 446, 518, 586, 650, 710, 756, 816, 864, 916, 974,
]  # fmt: skip
DEOXY = [
    134940, 139968, 145232, 167780, 223296, 303956, 407560, 528600, 413280, 103292, 23389, 16156, 14550, 16684, 20862, 25774,
    31590, 39036, 46592, 53412, 53788, 45072, 37020, 28324, 14677, 9444, 6510, 5149, 4345, 3750, 3227, 2795, 2408, 2052,
    1794, 1540, 1326, 1102, 1116, 1405, 1549, 1312, 1075, 891, 762, 717, 694, 693,
]  # fmt: skip


def absorption(melanin, blood):
    """Per cm at WAVELENGTHS: melanosomes, blood of 150 g haemoglobin a litre, and tissue without either."""
    w = WAVELENGTHS
    haemoglobin = 2.303 * 150.0 / 64500.0 * (OXYGEN * np.array(OXY) + (1.0 - OXYGEN) * np.array(DEOXY))
    baseline = 0.244 + 85.3 * np.exp(-(w - 154.0) / 66.2)
    return melanin * 6.6e11 * w**-3.33 + blood * haemoglobin + (1.0 - melanin - blood) * baseline


def scattering():
    """Reduced, per cm: by fibres of collagen, and by what is small (Rayleigh)."""
    return 2e5 * WAVELENGTHS**-1.5 + 2e12 * WAVELENGTHS**-4.0


LEAST = float(scattering().min())  # of all extinctions


def skin(melanin: float, blood: float) -> dict[str, np.ndarray]:
    """The material's colour and its mean free path in units of the longest there is."""
    mu_a, mu_s = absorption(melanin, blood), scattering()
    albedo = leaf("albedo")
    (color,) = evaluate([observed_color(albedo, constant(0.0), constant(IOR))], {albedo: mu_s / (mu_a + mu_s)})
    return {"skin.subsurface_color": color, "skin.subsurface_radius_scale": LEAST / (mu_a + mu_s)}


def tangent(amounts: dict, name: str) -> dict[str, np.ndarray]:
    """How both move with one concentration, relative to it."""
    mu_a, mu_s = absorption(**amounts), scattering()
    d_mu = absorption(**{**amounts, name: 2.0 * amounts[name]}) - mu_a  # it is linear
    mu = mu_a + mu_s
    albedo, d_albedo = leaf("albedo"), leaf("d_albedo")
    slope = jvp([observed_color(albedo, constant(0.0), constant(IOR))], [albedo], [d_albedo])
    (d_color,) = evaluate(slope, {albedo: mu_s / mu, d_albedo: -mu_s / mu**2 * d_mu})
    return {"skin.subsurface_color": d_color, "skin.subsurface_radius_scale": -LEAST / mu**2 * d_mu}


def head(levels: int = 5) -> it.Mesh:
    """A head that looks along +z, 19 cm high without its neck."""
    n, faces = sphere(levels)
    x, y, z = (n * [7.4, 9.8, 9.0]).T

    def bump(cx, cy, cz, sx, sy, sz):
        return np.exp(-0.5 * (((x - cx) / sx) ** 2 + ((y - cy) / sy) ** 2 + ((z - cz) / sz) ** 2))

    dx, dy, dz = np.zeros_like(x), np.zeros_like(x), np.zeros_like(x)
    front = z > 0.0
    # Jaw and chin, cheekbones, the back of the head.
    low = np.clip(-y / 9.8, 0.0, 1.0)
    dx -= 0.16 * low * x
    dz += np.where(front, 2.6 * low * (z / 9.0), 0.0)
    dz += 1.6 * bump(0, -8.0, 5.0, 1.9, 1.2, 3.0)
    for side in (-1.0, 1.0):
        dz -= 1.5 * bump(side * 3.0, 1.2, 7.5, 1.3, 1.0, 4.0)  # eye sockets,
        dz += 0.75 * bump(side * 3.0, 1.2, 7.5, 0.85, 0.6, 4.0)  # eyes behind lids,
        dz += 0.5 * bump(side * 2.8, 2.9, 7.5, 1.9, 0.5, 4.0)  # brows,
        dx += side * 0.7 * bump(side * 5.2, -1.6, 5.5, 1.6, 1.3, 2.5)  # cheekbones,
        dz += 0.6 * bump(side * 0.95, -2.4, 8.5, 0.45, 0.4, 3.0)  # nostrils,
        # ears: flaps that stand off, leaning back,
        flap = np.exp(-0.5 * ((y - 0.2) / 2.4) ** 6 - 0.5 * ((z + 0.4) / 0.6) ** 4) * (side * x > 4.0)
        dx += side * 1.7 * flap
        dz -= 1.6 * flap
    ridge = np.exp(-0.5 * (x / 0.62) ** 2) * np.clip((3.0 - y) / 5.2, 0.0, 1.0) ** 1.3
    ridge *= 1.0 / (1.0 + np.exp(-(y + 2.6) / 0.22)) * front
    dz += 3.0 * ridge  # nose
    dz += 0.55 * bump(0, -4.5, 8.0, 1.7, 0.33, 4.0) + 0.6 * bump(0, -5.5, 8.0, 1.4, 0.38, 4.0)  # lips,
    dz -= 0.45 * bump(0, -4.98, 8.0, 1.7, 0.14, 4.0)  # and the line between them
    neck = np.exp(-0.5 * ((x / 3.3) ** 6 + ((z + 2.2) / 3.0) ** 6)) * np.clip(-(y + 6.0) / 2.5, 0.0, 1.0)
    dy -= 8.0 * neck
    dx += 0.35 * neck * x
    vertices = np.stack([x + dx, y + dy, z + dz], 1)
    return it.Mesh(id="head", material="skin", vertices=vertices, faces=faces, normals=vertex_normals(vertices, faces))


def sphere(levels: int) -> tuple[np.ndarray, np.ndarray]:
    """(vertices, faces) of a sphere of equal triangles: an octahedron, its faces parted in four again and again."""
    v = np.array([[1, 0, 0], [-1, 0, 0], [0, 1, 0], [0, -1, 0], [0, 0, 1], [0, 0, -1]], np.float64)
    f = np.array([[0, 2, 4], [2, 1, 4], [1, 3, 4], [3, 0, 4], [2, 0, 5], [1, 2, 5], [3, 1, 5], [0, 3, 5]])
    for _ in range(levels):
        edges = np.sort(np.concatenate([f[:, [0, 1]], f[:, [1, 2]], f[:, [2, 0]]]), 1)
        unique, number = np.unique(edges, axis=0, return_inverse=True)
        middle = v[unique].sum(1)
        ab, bc, ca = (number.reshape(3, -1) + len(v))
        v = np.concatenate([v, middle / np.linalg.norm(middle, axis=1, keepdims=True)])
        a, b, c = f.T
        f = np.concatenate([np.stack(t, 1) for t in ((a, ab, ca), (ab, b, bc), (ca, bc, c), (ab, bc, ca))])
    return v, f


def vertex_normals(v: np.ndarray, f: np.ndarray) -> np.ndarray:
    """The faces' normals around each vertex, by their areas."""
    across = np.cross(v[f[:, 1]] - v[f[:, 0]], v[f[:, 2]] - v[f[:, 0]])
    n = np.zeros_like(v)
    for corner in range(3):
        np.add.at(n, f[:, corner], across)
    return n / np.linalg.norm(n, axis=1, keepdims=True)


def studio(width: int, height: int, levels: int, amounts: dict) -> it.Scene:
    """The head before a dark wall, a lamp to its side and a little behind, and the sky."""
    values = {"subsurface_weight": 1.0, "specular_ior": IOR, "specular_roughness": 0.2, "subsurface_radius": 1.0 / LEAST}
    values |= {path.split(".")[1]: points(WAVELENGTHS, x) for path, x in skin(**amounts).items()}
    place = look_at([34, 16, 14], [0, 0, 0], [0, 1, 0]) @ scale(20)
    lamp = rectangle(place, id="lamp", material="black", light=it.Light("lamp", "area", {"radiance": 2.5}))
    return it.Scene(
        camera=it.Camera(look_at([-16, 2, 44], [0, -1.5, 0], [0, 1, 0]), fov=26, film=it.Film(width, height)),
        materials=[it.Material("skin", "openpbr", values), it.Material("black", "diffuse", {"reflectance": 0.0})],
        shapes=[head(levels), lamp],
        lights=[it.Light("sky", "constant", {"radiance": 0.25})],
        integrator=it.Integrator(max_depth=16, rr_depth=6),
        file="skin.py",
    )


def main(argv=None) -> dict[str, float]:
    """Run the example; returns the relative errors of what was found."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--arch", default="auto", help="auto, cpu, cuda, vulkan or metal")
    parser.add_argument("--quick", action="store_true", help="a coarse head, a tiny picture, few steps")
    parser.add_argument("--out", type=Path, default=Path("out/skin"), help="folder for the pictures")
    parser.add_argument("--seed", type=int, default=0, help="another number, other noise")
    args = parser.parse_args(argv)
    seed = 10_000 * args.seed
    it.init(args.arch)
    args.out.mkdir(parents=True, exist_ok=True)
    size, levels, spp, steps = ((16, 20), 4, 384, 6) if args.quick else ((28, 35), 6, 384, 8)

    began = time.perf_counter()
    scene = studio(*size, levels, TRUTH)
    target = np.mean([it.render(scene, spp, seed=seed + 1000 + k) for k in range(4)], 0)
    weight = np.ones(target.size)
    print(f"{len(scene.shapes[0].faces):,} triangles; the picture took {time.perf_counter() - began:.1f} s")
    params, amounts, found, images = it.parameters(scene), dict(START), [], []
    for step in range(steps):
        for path, x in skin(**amounts).items():
            params[path] = x
        # Gauss and Newton, in logarithms: two independent derivative images each, so that noise does not pass for signal.
        shots = np.stack([it.render(scene, spp // 4, seed=seed + 100 * step + k) for k in range(4)])
        rest = (target - shots.mean(0)).ravel()
        # Relative to the concentrations they change little, so that each step adds to what is known of them.
        n = spp // 4 if step else spp // 8
        now = [
            np.stack([it.forward(scene, tangent(amounts, name), n, seed=seed + 100 * step + 10 + s).ravel() for name in amounts])
            for s in (2, 3)
        ]
        images = [*images, now] if step > 1 else [now]
        first, second = (np.mean([pair[k] for pair in images], 0) for k in (0, 1))
        both = first * weight @ second.T
        change = np.linalg.solve(both + both.T, (first + second) * weight @ rest)
        # Glints at the rim are noise, not news of the skin: pixels count by how well they are known. Never by the noise that
        # they are compared in, as what happens to be dark is thought to be well known: so from here on, in the next steps.
        variance = shots.var(0, ddof=1)
        weight = (1.0 / (variance + np.quantile(variance, 0.75))).ravel()
        said = ", ".join(f"{name} {x:.5f}" for name, x in amounts.items())
        print(f"step {step}: {said}, mean difference {rest.mean():+.5f}")
        amounts = {name: x * float(np.exp(np.clip(c, -0.7, 0.7))) for (name, x), c in zip(amounts.items(), change)}
        found.append(list(amounts.values()))
    # A few steps bring them there; what follows is noise around it.
    amounts = dict(zip(TRUTH, np.exp(np.log(found[SETTLED:]).mean(0))))
    errors = {name: float(amounts[name] / TRUTH[name] - 1) for name in TRUTH}
    for name in TRUTH:
        print(f"{name}: found {amounts[name]:.5f}  truth {TRUTH[name]}  started at {START[name]}  error {errors[name]:+.1%}")
    it.write_image(args.out / "target.png", target)
    if not args.quick:
        for name, these in (("truth", TRUTH), ("start", START), ("found", amounts)):
            it.write_image(args.out / f"{name}.png", it.render(studio(200, 250, levels, these), spp // 8, seed=7))
    print(f"{time.perf_counter() - began:.1f} s; see {args.out}")
    return errors


if __name__ == "__main__":
    main()
