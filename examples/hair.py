"""The pigment of a tress of hair is found from one picture: it starts brown, the picture is blond.

20,000 strands of cubic curves hang from a scalp line, in clumps that wave together; the scattering is that of a rough,
tilted, absorbing fibre. One number of the material, the concentration of eumelanin, is fitted to the picture.
"""

import argparse
import time
from pathlib import Path

import numpy as np

import irys_ti as it
from irys_ti.scene import rectangle
from irys_ti.scene.transform import look_at, scale, translate

BLOND, BROWN = 0.25, 1.3  # concentrations of eumelanin
PHEOMELANIN = 0.05


def tress(strands: int, points: int = 14, seed: int = 3) -> it.Curves:
    """Strands that hang down from y = 1, wave with their clump and draw together towards its tip."""
    rng = np.random.default_rng(seed)
    clumps = max(6, strands // 250)
    # Clumps hang before a rounded head: along x, bulging towards the camera in the middle.
    x = np.linspace(-0.55, 0.55, clumps) + 0.02 * rng.standard_normal(clumps)
    z = 0.35 * np.sqrt(np.maximum(0.0, 1.0 - (x / 0.8) ** 2)) + 0.08 * rng.standard_normal(clumps)
    phase, sway = rng.uniform(0, 2 * np.pi, clumps), rng.uniform(0.02, 0.06, clumps)
    of = rng.integers(0, clumps, strands)
    t = np.linspace(0, 1, points)[None, :]
    length = (1.75 + 0.15 * rng.standard_normal(strands))[:, None]
    spread = rng.standard_normal((2, strands, 1)) * np.array([0.055, 0.045])[:, None, None]
    draw = 1.0 - 0.55 * t**1.5
    stray = 0.012 * rng.standard_normal((2, strands, 1)) * t
    wave = 2 * np.pi * 1.3 * t + phase[of][:, None]
    px = x[of][:, None] + spread[0] * draw + sway[of][:, None] * t * np.sin(wave) + stray[0]
    pz = z[of][:, None] * (1 + 0.15 * t) + spread[1] * draw + sway[of][:, None] * t * np.cos(wave) + stray[1]
    # The first points lean back over the head, so that the roots lie out of sight.
    pz = pz - 0.5 * np.maximum(0.0, 0.15 - t) / 0.15
    py = 1.0 - length * t + 0.25 * np.maximum(0.0, 0.15 - t) / 0.15 + 0 * px
    radii = np.broadcast_to(0.0022 * (1.0 - 0.7 * t**2), px.shape) * np.sqrt(20000 / strands)
    p = np.stack([px, py, pz], -1).reshape(-1, 3)
    return it.Curves(
        id="tress", material="hair", points=p, radii=radii.reshape(-1), offsets=np.arange(strands + 1) * points
    )


def studio(strands: int, width: int, height: int, eumelanin: float) -> it.Scene:
    """The tress before a grey wall, under a lamp from the upper left, one from behind, and a dim sky."""
    keratin = it.Material("hair", "hair", {"eumelanin": eumelanin, "pheomelanin": PHEOMELANIN, "beta_m": 0.25, "beta_n": 0.3})

    def lamp(id, place, size, radiance):
        place = place @ scale(size)
        return rectangle(place, id=id, material="black", light=it.Light(id, "area", {"radiance": radiance}))

    key = look_at([-2.2, 2.2, 2.6], [0, 0.1, 0.2], [0, 1, 0])
    rim = look_at([2.9, 2.3, -1.0], [0, 0.3, 0.2], [0, 1, 0])
    return it.Scene(
        camera=it.Camera(look_at([0, 0.12, 4.6], [0, 0.12, 0], [0, 1, 0]), fov=30, film=it.Film(width, height)),
        materials=[
            keratin,
            it.Material("wall", "diffuse", {"reflectance": 0.25}, two_sided=True),
            it.Material("black", "diffuse", {"reflectance": 0.0}),
        ],
        shapes=[
            tress(strands),
            rectangle(translate(0, 0, -2.2) @ scale(6), id="backdrop", material="wall"),
            lamp("key", key, 1.6, 5.5),
            lamp("rim", rim, 1.2, 4.5),
        ],
        lights=[it.Light("sky", "constant", {"radiance": 0.3})],
        integrator=it.Integrator(max_depth=24, rr_depth=10),
        file="hair.py",
    )


def main(argv=None) -> dict[str, float]:
    """Run the example; returns the relative error of the pigment that was found."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--arch", default="auto", help="auto, cpu, cuda, vulkan or metal")
    parser.add_argument("--quick", action="store_true", help="fewer strands, a tiny picture, few steps")
    parser.add_argument("--out", type=Path, default=Path("out/hair"), help="folder for the pictures")
    args = parser.parse_args(argv)
    it.init(args.arch)
    args.out.mkdir(parents=True, exist_ok=True)
    strands, size, fit_size = (800, (24, 30), (24, 30)) if args.quick else (20_000, (240, 300), (48, 60))
    spp, steps = (64, 9) if args.quick else (128, 9)

    began = time.perf_counter()
    scene = studio(strands, *fit_size, BLOND)
    target = it.render(scene, 4 * spp, seed=1000)
    print(f"{strands:,} strands, {len(scene.shapes[0].splits):,} spans; the picture took {time.perf_counter() - began:.1f} s")
    params = it.parameters(scene)
    params["hair.eumelanin"] = BROWN
    found = []
    for step in range(steps):
        # Gauss and Newton in one unknown: what the derivative image says of the difference. Two independent ones, so
        # that their noise does not pass for signal.
        amount = float(params["hair.eumelanin"])
        rest = target - it.render(scene, spp, seed=10 * step + 1)
        j1, j2 = (it.forward(scene, {"hair.eumelanin": 1.0}, spp // 2, seed=10 * step + s) for s in (2, 3))
        change = float(((j1 + j2) * rest).sum() / (2 * (j1 * j2).sum()))
        print(f"step {step}: eumelanin {amount:.4f}  mean difference {rest.mean():+.5f}")
        params["hair.eumelanin"] = np.clip(amount + change, 0.4 * amount, 2.0 * amount)
        found.append(float(params["hair.eumelanin"]))
    amount = float(np.mean(found[4:]))  # three or four steps bring it there; what follows is noise around it
    error = amount / BLOND - 1
    print(f"eumelanin found {amount:.4f}  truth {BLOND}  started at {BROWN}  error {error:+.1%}")
    it.write_image(args.out / "target.png", target)
    if not args.quick:
        for name, value in (("brown", BROWN), ("blond", BLOND), ("found", amount)):
            it.write_image(args.out / f"{name}.png", it.render(studio(strands, *size, value), spp // 2, seed=7))
    print(f"{time.perf_counter() - began:.1f} s; see {args.out}")
    return {"hair.eumelanin": error}


if __name__ == "__main__":
    main()
