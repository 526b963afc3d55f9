"""Mitsuba 3's side of a comparison, run by a Python that has it. The loss is the mean of the film's channels."""

import sys

from benchmarks.sides import serve

state = {}


def load(file: str, params: list, variant: str, options: dict | None = None):
    """variant: Mitsuba's; options: of the integrator, "type" among them (default prb)."""
    import drjit as dr
    import mitsuba as mi

    mi.set_variant(variant)
    scene = mi.load_file(file)
    path = scene.integrator()
    depth, rr_depth = 0, 0
    for line in str(path).splitlines():
        if "max_depth" in line:
            depth = int(line.split("=")[1].strip(" ,"))
        if "rr_depth" in line:
            rr_depth = int(line.split("=")[1].strip(" ,"))
    integrator = mi.load_dict({"type": "prb", "max_depth": depth, "rr_depth": rr_depth, **(options or {})})
    values = mi.traverse(scene)
    height, width = scene.sensors()[0].film().crop_size()[1], scene.sensors()[0].film().crop_size()[0]
    weight = mi.TensorXf(dr.full(mi.Float, 1.0 / (3 * width * height), 3 * width * height), (height, width, 3))
    names = [name if name in values else name.removesuffix("s") for name in params]  # RGB: reflectance.value
    for name in names:
        dr.enable_grad(values[name])
    values.update()
    state.update(mi=mi, dr=dr, scene=scene, integrator=integrator, values=values, weight=weight, names=names,
                 variant=variant)  # fmt: skip


def gradient(seed: int, spp: int):
    """The loss's gradient: one list of numbers a parameter."""
    dr = state["dr"]
    for name in state["names"]:
        dr.set_grad(state["values"][name], 0)
    state["integrator"].render_backward(state["scene"], state["values"], state["weight"], seed=seed, spp=spp)
    return [numbers(dr.grad(state["values"][name])) for name in state["names"]]


def numbers(x) -> list:
    import numpy as np

    return np.ravel(np.array(x, np.float64)).tolist()


def image(seed: int, spp: int, path: str = "", step: float = 0.0):
    """The loss, with ``step`` added to every component of a parameter for as long as it takes."""
    dr, values = state["dr"], state["values"]
    before = None
    if path:
        path = path if path in values else path.removesuffix("s")
        before = type(values[path])(dr.detach(values[path]))
        values[path] = before + step
        values.update()
    with dr.suspend_grad():
        out = state["integrator"].render(state["scene"], state["scene"].sensors()[0], seed=seed, spp=spp)
    loss = float((numbers_of(out) * numbers_of(state["weight"])).sum())
    if path:
        values[path] = before
        dr.enable_grad(values[path])
        values.update()
    return loss


def numbers_of(x):
    import numpy as np

    return np.array(x, np.float64)


def forward(seed: int, spp: int):
    """A picture, made and left on the host."""
    with state["dr"].suspend_grad():
        numbers_of(state["integrator"].render(state["scene"], state["scene"].sensors()[0], seed=seed, spp=spp))


def facts():
    return {"renderer": f"Mitsuba {state['mi'].__version__}", "variant": state["variant"]}


if __name__ == "__main__":
    serve(sys.modules[__name__])
