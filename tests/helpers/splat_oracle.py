"""Splats by quadrature in NumPy, single scattering only; shares no code with the renderer.

For isotropic splats under a directional light and a constant sky, with flat spectra. Radiance along a ray:

    L = sum_i integral p_i(t) albedo_i J(o + t d) dt + B T(infinity),   p_i = tau_i F_i'(t) T(t),
    T(t) = exp(-sum_i tau_i (F_i(t) - F_i(0))),   J(x) = (E T_sun(x) + B integral T_w(x) dw) / (4 pi),

with tau_i = -ln(1 - alpha_i) and F_i the integral of (15/16) (1 - x^2)^2 (docs/design/splats.md).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.spatial.transform import Rotation

from irys_ti.scene import Camera, Film, Integrator, Light, Scene, Splats, constant
from irys_ti.scene.transform import look_at
from irys_ti.spectral.cie import integrate_product, response
from irys_ti.spectral.primaries import rgb_bands

CUT2, FADE, WIDTH2 = 14.0625, 1.5, 7.0  # as the design page says
EYE, TARGET, FOV, PIXELS = np.array([0.3, 0.4, 5.0]), np.zeros(3), 9.0, 4
TO_SUN = np.array([0.6, 0.64, 0.48])


@dataclass
class Case:
    """Splats (arrays as in scene.Splats; rotation as w, x, y, z) and their lights."""

    position: np.ndarray
    scale: np.ndarray
    rotation: np.ndarray
    opacity: np.ndarray
    albedo: np.ndarray
    sun: float = 20.0
    sky: float = 0.0

    def moved(self, name: str, along: np.ndarray, by: float) -> Case:
        return replace(self, **{name: getattr(self, name) + by * along})


def random_case(n: int, seed: int = 3, spread: float = 0.35, **lights) -> Case:
    """n splats around the origin, most of what the film sees."""
    rng = np.random.default_rng(seed)
    return Case(
        position=rng.normal(size=(n, 3)).clip(-1.5, 1.5) * spread * (n > 1),
        scale=rng.uniform(0.12, 0.32, (n, 3)),
        rotation=rng.normal(size=(n, 4)),
        opacity=rng.uniform(0.2, 0.95, n) if n < 10 else rng.uniform(0.05, 0.5, n),
        albedo=rng.uniform(0.2, 0.9, (n, 3)),
        **lights,
    )


def scene_of(case: Case, depth: int = 2) -> Scene:
    """The same for the renderer."""
    sun = Light("sun", "directional", {"irradiance": constant(case.sun)}, look_at(TO_SUN, [0, 0, 0], [0, 1, 0]))
    return Scene(
        camera=Camera(look_at(EYE, TARGET, [0, 1, 0]), FOV, film=Film(PIXELS, PIXELS)),
        shapes=[Splats(id="s", **{k: getattr(case, k) for k in ("position", "scale", "rotation", "opacity", "albedo")})],
        lights=[sun, Light("sky", "constant", {"radiance": constant(case.sky)})],
        integrator=Integrator(depth, 100),
    )  # fmt: skip


def image(case: Case, rays: int = 10, steps: int = 96, directions: int = 160) -> np.ndarray:
    """(PIXELS, PIXELS, 3): rays^2 a pixel, steps along each, directions over the sky."""
    d = camera_rays(PIXELS * rays)
    o = np.broadcast_to(EYE, d.shape)
    reach = np.sqrt(CUT2) * case.scale.max() + np.linalg.norm(case.position, axis=1).max()
    middle, dt = -(o * d).sum(1), 2 * reach / steps
    tau, t_star, half = crossing(case, o, d)
    start = share(-t_star / half)
    through = np.exp(-(tau * (1 - start)).sum(1))
    radiance = np.zeros((len(d), len(case.opacity)))  # by which splat scattered it, per unit of albedo
    sky, weight = fibonacci(directions), 4 * np.pi / directions
    for k in range(steps):
        t = middle + (k + 0.5) * dt - reach
        x = (t[:, None] - t_star) / half
        density = np.where(np.abs(x) < 1, 15 / 16 * (1 - x**2) ** 2 / half, 0.0) * tau
        passed = np.exp(-(tau * (share(x) - start)).sum(1))
        p = o + t[:, None] * d
        lit = case.sun * transmittance(case, p, np.broadcast_to(TO_SUN, p.shape)) if case.sun else 0.0
        if case.sky:
            lit = lit + case.sky * weight * sum(transmittance(case, p, np.broadcast_to(w, p.shape)) for w in sky)
        radiance += density * (passed * lit / (4 * np.pi) * dt)[:, None]
    colour = integrate_product(rgb_bands()[:, None], response()[None])  # (band, channel)
    white = colour.sum(0)
    out = radiance @ case.albedo @ colour + case.sky * through[:, None] * white
    return out.reshape(PIXELS, rays, PIXELS, rays, 3).mean((1, 3))


def camera_rays(n: int) -> np.ndarray:
    """(n n, 3) unit directions through the centres of an n by n raster, rows from the top."""
    m = look_at(EYE, TARGET, [0, 1, 0])[:3, :3]
    x = (2 * (np.arange(n) + 0.5) / n - 1) * np.tan(np.deg2rad(FOV / 2))
    local = np.stack([-np.broadcast_to(x, (n, n)), -np.broadcast_to(x[:, None], (n, n)), np.ones((n, n))], -1)
    d = local.reshape(-1, 3) @ m.T
    return d / np.linalg.norm(d, axis=1, keepdims=True)


def crossing(case: Case, o: np.ndarray, d: np.ndarray):
    """(rays, splats): optical depth, distance of the greatest response, half width of the spread."""
    turn = Rotation.from_quat(case.rotation[:, [1, 2, 3, 0]]).as_matrix()  # columns: the splat's axes
    a = np.einsum("nij,rni->rnj", turn, o[:, None] - case.position) / case.scale
    b = np.einsum("nij,ri->rnj", turn, d) / case.scale
    bb = (b * b).sum(-1)
    t_star = -(a * b).sum(-1) / bb
    d2 = ((a + t_star[..., None] * b) ** 2).sum(-1)
    q = np.clip((CUT2 - d2) / FADE, 0, 1)
    alpha = case.opacity * np.exp(-d2 / 2) * q**2 * (3 - 2 * q)
    inside = np.maximum(1 - d2 / CUT2, 1e-12)
    return -np.log1p(-np.minimum(alpha, 1 - 2.0**-16)), t_star, np.sqrt(WIDTH2 * inside / bb)


def share(x: np.ndarray) -> np.ndarray:
    """Integral of the spread from -1 to x."""
    x = np.clip(x, -1, 1)
    return (8 + 15 * x - 10 * x**3 + 3 * x**5) / 16


def transmittance(case: Case, p: np.ndarray, d: np.ndarray) -> np.ndarray:
    tau, t_star, half = crossing(case, p, d)
    return np.exp(-(tau * (1 - share(-t_star / half))).sum(1))


def fibonacci(n: int) -> np.ndarray:
    """(n, 3) directions spread evenly over the sphere."""
    i = np.arange(n) + 0.5
    z = 1 - 2 * i / n
    phi = np.pi * (1 + 5**0.5) * i
    r = np.sqrt(1 - z**2)
    return np.stack([r * np.cos(phi), r * np.sin(phi), z], 1)
