"""Strands that move: one before a bright sky, one above a floor that its shadow falls on, several."""

import numpy as np

import irys_ti as it
from irys_ti.scene import constant, rectangle
from irys_ti.scene.transform import look_at, rotate, scale
from tests.helpers.scenes import camera
from tests.helpers.stage import moved, smooth_weight
from tests.helpers.statistics import mean_and_error, sample, z_scores

PIXELS = 16
PATHS = ["tress.points", "tress.radii"]
THICK = np.array([1.0, 1.3, 0.9, 1.1, 0.8])


def bent(radius=0.16, **more) -> it.Curves:
    """One strand of five points that bends and whose radius varies."""
    points = np.array([[-1.0, -0.9, 0.1], [-0.5, -0.3, 0.25], [0.1, 0.0, 0.2], [0.5, 0.5, 0.1], [1.1, 0.8, -0.2]])
    return it.Curves(id="tress", material="paint", points=points, radii=radius * THICK, **more)


def across(radius=0.08) -> it.Curves:
    """One strand above the floor."""
    points = np.array([[-0.9, 0.5, 0.3], [-0.4, 0.75, 0.0], [0.1, 0.6, 0.2], [0.6, 0.8, 0.0], [0.9, 0.5, -0.3]])
    return it.Curves(id="tress", material="paint", points=points, radii=radius * THICK)


def tress(n=6, radius=0.05, **more) -> it.Curves:
    """n short strands beside each other, above the floor; thin for how they bend, and apart."""
    rng = np.random.default_rng(5)
    at = np.stack([np.linspace(-0.8, 0.8, n), 0.9 + 0.1 * rng.random(n), 0.2 * rng.standard_normal(n)], 1)
    points = [at]
    for _ in range(3):
        points.append(points[-1] + [0.1, -0.17, 0.12] + 0.02 * rng.standard_normal((n, 3)))
    radii = radius * np.tile([1, 1.2, 1, 0.7], n)
    p = np.stack(points, 1).reshape(-1, 3)
    return it.Curves(id="tress", material="paint", points=p, radii=radii, offsets=4 * np.arange(n + 1), **more)


def before_the_sky(curves=None, kind="diffuse", values=None, depth=2, sky=1.0, sun=3.0) -> it.Scene:
    """Curves before a bright sky, lit by the sun too; a floor far below."""
    values = {"reflectance": constant(0.5)} if values is None else values
    floor = rotate([1, 0, 0], -90)
    floor[1, 3] = -50.0
    return it.Scene(
        camera=camera([0.1, 0.2, 4.0], [0, 0, 0], 40, PIXELS),
        materials=[it.Material("paint", kind, values), it.Material("grey", "diffuse", {"reflectance": constant(0.6)})],
        shapes=[curves or bent(), rectangle(floor, id="floor", material="grey")],
        lights=[
            it.Light("sky", "constant", {"radiance": sky}),
            it.Light("sun", "directional", {"irradiance": sun}, look_at([1.5, 2.5, 2.0], [0, 0, 0], [0, 1, 0])),
        ],
        integrator=it.Integrator(depth, 100),
    )


def above_a_floor(curves=None, depth=2, sky=1e-9, sun=3.0, **more) -> it.Scene:
    """The same, seen from above, with the floor just below."""
    scene = before_the_sky(curves or across(), depth=depth, sky=sky, sun=sun, **more)
    scene.shapes[1] = rectangle(rotate([1, 0, 0], -90) @ scale(3), id="floor", material="grey")
    scene.camera = camera([0.2, 2.6, 3.0], [0, 0.3, 0], 45, PIXELS)
    return scene


def mixtures(scene, path, n, seed=0) -> np.ndarray:
    """n random directions of a parameter, of length 1: half of each the same for all points."""
    rng, shape = np.random.default_rng([seed, len(path)]), it.parameters(scene)[path].shape
    ways = rng.standard_normal((n, *shape)) + 2.0 * rng.standard_normal((n, *np.r_[1, shape[1:]].astype(int)))
    ways = ways.reshape(n, -1)
    return ways / np.linalg.norm(ways, axis=1, keepdims=True)


def differences(scene, path, ways, step, spp, seeds) -> tuple[np.ndarray, np.ndarray]:
    """Central differences along ways of a smooth weight of the picture, and their standard errors."""
    weight = smooth_weight(PIXELS)
    step = 0.3 * step if path.endswith("radii") else step

    def f(seed):
        return [moved(scene, path, w, step, lambda s: float((weight * it.render(s, spp, seed)).sum())) for w in ways]

    return mean_and_error(sample(f, range(seeds)))


def slopes(scene, ways: dict, spp, boundary_spp, seeds, **more) -> dict:
    """{path: (seeds, ways)} the same by replay, each seed by itself."""
    weight = smooth_weight(PIXELS)
    found = [it.backward(scene, weight, spp, 50 + k, list(ways), boundary_spp=boundary_spp, **more) for k in range(seeds)]
    return {path: np.array([np.ravel(g[path]) @ w.T for g in found]) for path, w in ways.items()}


def compare(scene, paths=PATHS, n=2, step=0.02, spp=64, boundary_spp=128, fd_spp=512, seeds=16, precise=0.2, off="off") -> dict:
    """z-test of random mixtures of each parameter against differences; then without boundary terms, which must fail."""
    ways = {path: mixtures(scene, path, n) for path in paths}
    whole = slopes(scene, ways, spp, boundary_spp, seeds)
    without = slopes(scene, ways, spp, boundary_spp, seeds, boundary=off)
    worst = {}
    for path, w in ways.items():
        fd, fd_error = differences(scene, path, w, step, fd_spp, seeds)
        size = max(np.abs(fd).max(), np.abs(whole[path].mean(0)).max())
        error = mean_and_error(whole[path])[1]
        z = np.abs(z_scores(whole[path], fd, np.hypot(fd_error, 0.004 * size)))
        off_mean, off_error = mean_and_error(without[path])  # at times nothing at all, in every seed
        z_off = np.abs(off_mean - fd) / np.sqrt(off_error**2 + fd_error**2 + (0.004 * size) ** 2)
        worst[path] = z.max(), z_off.max(), (np.hypot(error, fd_error) / size).max()
        print(f"{path}: |z| {z.max():.2f}, without boundary terms {z_off.max():.1f}, noise {worst[path][2]:.3f} of {size:.3g}")
        assert (np.hypot(error, fd_error) < precise * size).all(), f"{path}: too noisy to tell, {error} {fd_error} of {size}"
        assert z.max() < 4, f"{path}: {whole[path].mean(0)} +- {error}, differences {fd} +- {fd_error}"
        assert z_off.max() > 5, f"{path}: the same without boundary terms, {z_off}"
    return worst
