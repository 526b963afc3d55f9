"""irys_ti's side of a comparison."""

import numpy as np

import irys_ti as it
from benchmarks.sides import serve, weights
from irys_ti import runtime
from irys_ti.runtime import ti

state = {}


def load(file: str, params: list, variant: str, options: dict | None = None, weight: str = "flat"):
    """variant: arch; options: of it.backward."""
    if state.get("variant") != variant:
        runtime.init(variant)
    scene = it.load(file)
    film = scene.camera.film
    state.update(variant=variant, scene=scene, params=params, options=options or {})
    state["weight"] = weights(weight, film.height, film.width)


def gradient(seed: int, spp: int):
    """The loss's gradient: one list of numbers a parameter."""
    found = it.backward(state["scene"], state["weight"], spp, seed, params=state["params"], **state["options"])
    ti.sync()
    return [np.ravel(found[p]).tolist() for p in state["params"]]


def image(seed: int, spp: int, path: str = "", step=0.0):
    """The loss, with ``step`` (a number, or one a component) added to a parameter for as long as it takes."""
    values = it.parameters(state["scene"])
    before = np.array(values[path]) if path else None
    if path:
        values[path] = before + step
    try:
        return float((it.render(state["scene"], spp, seed).astype(np.float64) * state["weight"]).sum())
    finally:
        if path:
            values[path] = before


def forward(seed: int, spp: int):
    """A picture, made and left on the host."""
    it.render(state["scene"], spp, seed)
    ti.sync()


def render(spp: int, seed: int, out: str):
    """Write a picture of so many samples as EXR."""
    it.write_image(out, it.render(state["scene"], spp, seed))


def facts():
    return {"renderer": f"irys_ti {it.__version__}", "variant": state.get("variant")}


if __name__ == "__main__":
    import sys

    serve(sys.modules[__name__])
