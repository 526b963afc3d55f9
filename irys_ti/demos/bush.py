"""A bush of Gaussian splats turns to its autumn colours: the colour and opacity of every splat, from three pictures."""

from __future__ import annotations

import numpy as np

from irys_ti.api import backward, parameters, render
from irys_ti.kernels.geometry.splats import matrices
from irys_ti.preview.fitting import FitView
from irys_ti.scene import Camera, Film, Integrator, Light, Scene, Splats, constant, rgb
from irys_ti.scene.transform import look_at

from . import Outcome

PATHS = ["bush.albedo", "bush.opacity"]
FOV = 28.0
DAMPING = (2.0, 0.6, 0.1, 0.05)  # of the diagonal: first, falling by this factor a step, last; with momentum
MOMENTUM, RATE = 0.8, 0.25  # stable where the true curvature is up to 14 times the metric's
REFRESH = 6  # steps with momentum between two metrics
SUN, TO_SUN = 25.0, np.array([1.0, 4.0, 1.0]) / np.sqrt(18)  # irradiance; its direction
EYES = [np.array([np.sin(a) * 4.6, 1.2, np.cos(a) * 4.6]) for a in np.deg2rad([0.0, 120.0, 240.0])]


def autumn_bush(n: int, rng) -> Splats:
    """Leaves in a ball, lying along its shells: yellow above, red on one side, some of them still green."""
    position = rng.normal(size=(n, 3))
    position *= rng.uniform(0.35, 1.0, (n, 1)) ** 0.6 / np.linalg.norm(position, axis=1, keepdims=True)
    size = 0.027 * (900 / n) ** (1 / 3)
    red, yellow, green = np.array([0.62, 0.10, 0.06]), np.array([0.82, 0.55, 0.08]), np.array([0.22, 0.40, 0.10])
    high = np.clip(0.5 + 0.6 * position[:, 1:2] + 0.3 * rng.normal(size=(n, 1)), 0, 1)
    colour = np.where(rng.random((n, 1)) < 0.25, green, high * yellow + (1 - high) * red)
    return Splats(
        id="bush", position=position, scale=size * rng.uniform(0.6, 1.4, (n, 3)), rotation=rng.normal(size=(n, 4)),
        opacity=rng.uniform(0.35, 0.95, n), albedo=np.clip(colour * rng.uniform(0.8, 1.2, (n, 3)), 0.02, 0.95),
    )  # fmt: skip


def scene_of(bush: Splats, size: int) -> Scene:
    """The bush alone under a dim sky and a bright, high sun.

    What a picture tells of a leaf is its light over the noise of which leaf a path meets, and that grows with the
    contrast to the sky behind: under a sky as bright as the leaves a picture needs four times the samples.
    """
    return Scene(
        camera=views(size)[0],
        shapes=[bush],
        lights=[
            Light("sky", "constant", {"radiance": rgb(0.3, 0.36, 0.48, illuminant=True)}),
            Light("sun", "directional", {"irradiance": constant(SUN)}, look_at(TO_SUN, [0, 0, 0], [0, 1, 0])),
        ],
        integrator=Integrator(max_depth=3, rr_depth=3),
        file="demos/bush.py",
    )


def views(size: int) -> list:
    """The cameras."""
    return [Camera(look_at(eye, [0, 0, 0], [0, 1, 0]), FOV, film=Film(size, size)) for eye in EYES]


def first_chances(bush: Splats, camera: Camera, side: int = 16):
    """Tile by tile of a view: (rows, columns, splats, order, alpha, before).

    splats: (m,) those that the tile's pixels meet. order: (pixels, m) from near to far. alpha, before: (pixels, m) in that
    order, the chance to be met, and that nothing nearer was.
    """
    n, m = camera.film.width, camera.to_world[:3, :3]
    unit = matrices(bush.rotation).transpose(0, 2, 1) / bush.scale[:, :, None]
    a = np.einsum("nij,nj->ni", unit, camera.to_world[:3, 3] - bush.position)
    half = np.tan(np.deg2rad(camera.fov) / 2)
    for top in range(0, n, side):
        for left in range(0, n, side):
            rows, columns = (x.ravel() for x in np.mgrid[top : min(n, top + side), left : min(n, left + side)])
            x, y = ((2 * (k + 0.5) / n - 1) * half for k in (columns, rows))
            d = np.stack([-x, -y, np.ones(len(x))], 1) @ m.T
            d /= np.linalg.norm(d, axis=1, keepdims=True)
            b = np.einsum("nij,rj->rni", unit, d)
            speed2 = (b * b).sum(-1)
            t = -np.einsum("rni,ni->rn", b, a) / speed2
            d2 = np.maximum((a * a).sum(-1) - t * t * speed2, 0)
            splats = np.flatnonzero((d2 < 14).any(0))
            order = np.argsort(t[:, splats], axis=1)
            alpha = (bush.opacity * np.exp(-0.5 * d2) * (d2 < 14))[:, splats]
            alpha = np.take_along_axis(alpha, order, 1)
            before = np.cumprod(np.c_[np.ones(len(x)), 1 - alpha], 1)
            yield rows, columns, splats, order, alpha, before


def seen_pixels(bush: Splats, camera: Camera) -> np.ndarray:
    """(n,) pixels that each splat fills in a view: its chance to be what the pixel's ray meets, summed."""
    total = np.zeros(len(bush))
    for _, _, splats, order, alpha, before in first_chances(bush, camera):
        np.add.at(total, splats[order].ravel(), (alpha * before[:, :-1]).ravel())
    return total


def totals(scene: Scene, cameras: list, spp: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """(n, 3), (n, 3) derivatives of each band's sum over all pixels and views by that band's albedo, and by opacity."""
    by_albedo, by_opacity = [], []
    for band in range(3):
        ones = np.zeros((cameras[0].film.height, cameras[0].film.width, 3))
        ones[..., band] = 1
        found = dict.fromkeys(PATHS, 0.0)
        for i, scene.camera in enumerate(cameras):
            grads = backward(scene, ones, spp, seed + 100 * band + i, PATHS)
            for p in PATHS:
                found[p] = found[p] + grads[p]
        by_albedo.append(found["bush.albedo"][:, band])
        by_opacity.append(found["bush.opacity"])
    return np.stack(by_albedo, 1), np.stack(by_opacity, 1)


def light_on(by_albedo: np.ndarray, seen: np.ndarray) -> np.ndarray:
    """(n, 3) radiance of each splat over its albedo, from ``totals``."""
    mean = by_albedo.sum(0) / seen.sum()  # what is hardly seen has about the mean
    return np.maximum((by_albedo + 0.3 * mean) / (seen[:, None] + 0.3), 0.1 * mean)


def shadows(bush: Splats) -> np.ndarray:
    """(n, n) derivatives of the sun's light on each splat, as radiance over albedo, by every other splat's opacity.

    Light falls on all of a splat: the mean of one Gaussian's response over another is a Gaussian of their distance.
    """
    across = np.linalg.svd(TO_SUN[None])[2][1:]  # two directions across the sun's
    axes = matrices(bush.rotation) * bush.scale[:, None, :]
    flat, along = across @ axes, TO_SUN @ axes
    flat = flat @ flat.transpose(0, 2, 1)
    both, depth = flat[:, None] + flat, (along**2).sum(1)
    to = bush.position - bush.position[:, None]  # [i, j]: from i to j
    aside = to @ across.T
    d2 = np.einsum("ija,ijab,ijb->ij", aside, np.linalg.inv(both), aside)
    alpha = bush.opacity * np.sqrt(np.linalg.det(flat) / np.linalg.det(both)) * np.exp(-0.5 * d2)
    part = alpha / (1 + np.exp(-1.7 * (to @ TO_SUN) / np.sqrt(depth[:, None] + depth)))  # what lies towards the sun
    np.fill_diagonal(part, 0)
    through = np.prod(1 - part, axis=1)
    return -SUN / (4 * np.pi) * through[:, None] * part / (bush.opacity * (1 - part))


def curvature(bush: Splats, cameras: list, weights: list, light: np.ndarray, by_opacity, sky: np.ndarray) -> np.ndarray:
    """(4 n, 4 n) Gauss and Newton's matrix J' W J of all albedos, band by band, then all opacities.

    From what the camera rays meet first and what shades it from the sun, with numbers so near to the true ones as
    shaping steps needs. A pixel's derivatives are sparse in three ways, by albedo, by opacity, and by the light on
    each splat; the last reaches opacities through ``shadows``. How a splat's own opacity changes the light on it
    follows no simple rule (it shades itself, and brightens its neighbours): it is what the derivatives of sums over
    all pixels, ``by_opacity`` of ``totals``, have beyond the rest.
    """
    n, shade = len(bush), shadows(bush)
    rest, reflected = np.zeros((n, 3)), np.zeros((n, 3))  # of by_opacity; sums over pixels of what each splat shows
    inner = np.zeros((3, 3 * n, 3 * n))  # J' W J in those three, by band
    for camera, weight in zip(cameras, weights):
        for rows, columns, splats, order, alpha, before in first_chances(bush, camera):
            if not len(splats):
                continue
            back = np.empty_like(order)
            np.put_along_axis(back, order, np.arange(len(splats))[None], 1)
            first = alpha * before[:, :-1]
            seen = np.take_along_axis(first, back, 1)
            at = np.r_[splats, n + splats, 2 * n + splats]
            for band in range(3):
                color = (bush.albedo * light)[splats, band][order]
                own = first * color
                after = own.sum(1, keepdims=True) - np.cumsum(own, 1) + sky[band] * before[:, -1:]
                by_alpha = before[:, :-1] * color - after / np.maximum(1 - alpha, 0.05)
                by_own = np.take_along_axis(alpha * by_alpha, back, 1) / bush.opacity[splats]
                rest[splats, band] += by_own.sum(0)
                reflected[splats, band] += seen.sum(0) * bush.albedo[splats, band]
                j = np.hstack([seen * light[splats, band], by_own, seen * bush.albedo[splats, band]])
                j *= np.sqrt(weight[rows, columns, band])[:, None]
                inner[band][np.ix_(at, at)] += j.T @ j
    own = (by_opacity - rest - shade.T @ reflected) / (reflected + 0.3 * bush.albedo)
    out = np.zeros((4 * n, 4 * n))
    albedo, opacity, lit = (slice(k * n, (k + 1) * n) for k in range(3))
    for band, m in enumerate(inner):
        shading = shade + np.diag(np.clip(own[:, band], -2 * light[:, band], 2 * light[:, band]))
        here, last = slice(band * n, (band + 1) * n), slice(3 * n, 4 * n)
        out[here, here] += m[albedo, albedo]
        out[here, last] += m[albedo, opacity] + m[albedo, lit] @ shading
        out[last, here] = out[here, last].T
        cross = m[opacity, lit] @ shading
        out[last, last] += m[opacity, opacity] + cross + cross.T + shading.T @ m[lit, lit] @ shading
    return out


def noise_of(pictures: np.ndarray) -> np.ndarray:
    """Variance of each pixel among some pictures of a view (k, H, W, 3), smoothed."""
    padded = np.pad(pictures.var(0, ddof=1), ((2, 2), (2, 2), (0, 0)), mode="edge")
    variance = np.lib.stride_tricks.sliding_window_view(padded, (5, 5), axis=(0, 1)).mean((-2, -1))
    return variance + 0.05 * variance.mean()


def fit(scene, cameras, pictures, steps: int, spp: int, report) -> dict[str, np.ndarray]:
    """Damped steps of Gauss and Newton, all views together; the mean of the last third of them.

    The noise of all those steps' pictures averages out, so nearly all that they can tell is used (Polyak and Juditsky,
    "Acceleration of stochastic approximation by averaging", 1992). In every step and view ``spp`` samples for
    derivatives, and 4 spp for the picture whose distance to the target they are weighted by; a quarter of them while
    the steps are large.
    """
    params, bush, sky = parameters(scene), scene.shapes[0], np.mean([x[0, 0] for x in pictures], 0)
    values = {p: params[p] for p in PATHS}
    n, near, last = len(bush), max(4, 2 * steps // 7), 2 * steps // 3
    mean = {p: np.zeros_like(x) for p, x in values.items()}
    weights, most, speed, h, best = [None] * len(cameras), spp, np.zeros(4 * n), None, (np.inf, values)
    first, factor, least, later = DAMPING
    for step in range(steps):
        far = step < near  # large steps, for which a quarter of the samples will do
        spp = max(8, most // 4) if far else most
        found, loss, seed = dict.fromkeys(PATHS, 0.0), 0.0, 1 + 16 * step
        images = []
        for i, scene.camera in enumerate(cameras):
            parts = np.array([render(scene, spp, seed + 20_000 * (i + 1) + k) for k in range(4)], np.float64)
            images.append(parts.mean(0))
            if step <= near:
                weights[i] = 1 / (noise_of(parts) * spp)
            off = images[i] - pictures[i]
            loss += float((weights[i] * off**2).mean())
            grads = backward(scene, weights[i] * off, spp, seed + 7 + 20_000 * i, PATHS)
            for p in PATHS:
                found[p] = found[p] + grads[p]
        if far or (step - near) % REFRESH == 0:
            seen = sum(seen_pixels(bush, camera) for camera in cameras)
            by_albedo, by_opacity = totals(scene, cameras, spp, seed + 100_000)
            new = curvature(bush, cameras, weights, light_on(by_albedo, seen), by_opacity, sky)
            # A metric is wrong about a splat here and there, each about others: where one sees curvature, there is some.
            h = new if step < 4 else 0.5 * (h + new)
        if not far:
            best = min(best, (loss, values), key=lambda x: x[0])
        g = np.concatenate([found["bush.albedo"].T.ravel(), found["bush.opacity"]])
        # Marquardt's damping, much of it while the light and the curvature are those of other values. Later a little,
        # but with small steps: the metric leaves out light from splat to splat, and where splats differ in ways that
        # hardly show, up to six times its curvature was measured. Momentum carries on where it has a hundredth of it.
        damped = h + np.diag(np.diag(h)) * (max(first * factor**step, least) if far else later)
        # As if every number were known to 0.3 before: what no picture tells stays where it is.
        damped[np.diag_indices(4 * n)] += 1 / (0.3**2 * 4 * most * steps)
        delta = -np.linalg.solve(damped, g)
        delta = np.clip(min(1.0, 0.15 / np.quantile(np.abs(delta), 0.9)) * delta, -0.3, 0.3)
        if not far:
            speed = delta = MOMENTUM * speed + RATE * delta
        elif step >= 4:
            delta *= 0.5
        values = {
            "bush.albedo": values["bush.albedo"] + delta[: 3 * n].reshape(3, n).T,
            "bush.opacity": values["bush.opacity"] + delta[3 * n :],
        }
        if loss > 2 * best[0]:  # a step led astray
            values, speed, later = best[1], np.zeros(4 * n), 2 * later
        for p in PATHS:
            values[p] = params[p] = np.clip(values[p], 0.005, 0.995)
            if step >= last:
                mean[p] += (values[p] - mean[p]) / (step - last + 1)
        if report(step, loss, mean if step >= last else values, images[0]) is True:
            break
    for p in PATHS:
        params[p] = mean[p] if step >= last else values[p]
    return {p: params[p] for p in PATHS}


def green_bush(truth: Splats) -> Splats:
    """The same splats, all of one colour and one opacity."""
    n = len(truth.opacity)
    return Splats(
        id="bush", position=truth.position, scale=truth.scale, rotation=truth.rotation,
        opacity=np.full(n, 0.6), albedo=np.tile([0.25, 0.4, 0.15], (n, 1)),
    )  # fmt: skip


def play(show, quick: bool = False) -> Outcome:
    """The fit, step by step, seen from the first camera."""
    n, size, steps, spp = (40, 24, 16, 40) if quick else (300, 96, 30, 16)
    truth = autumn_bush(n, np.random.default_rng(7))
    scene, cameras, pictures = scene_of(truth, size), views(size), []
    for i, scene.camera in enumerate(cameras):
        pictures.append(render(scene, 2048, 100_000 + i).astype(np.float64))
    seen = np.max([seen_pixels(truth, camera) for camera in cameras], 0) > 0.5
    scene, view = scene_of(green_bush(truth), size), FitView(pictures[0])

    def errors(values) -> dict[str, float]:
        """Median errors of the splats that fill more than half a pixel of some view."""
        colour = np.abs(values["bush.albedo"] - truth.albedo).max(1)[seen]
        opacity = np.abs(values["bush.opacity"] - truth.opacity)[seen]
        return {"colour, median": float(np.median(colour)), "opacity, median": float(np.median(opacity))}

    found = fit(
        scene,
        cameras,
        pictures,
        steps,
        spp,
        lambda step, loss, values, image: show(*view.draw(image, loss, errors(values))),
    )
    scene.camera = cameras[0]
    show(*view.draw(render(scene, 64), view.losses[-1], errors(found)))
    return Outcome(errors(found), dict.fromkeys(errors(found), 0.08 if quick else 0.05))
