"""Mitsuba 3's side of a comparison, run by a Python that has it.

A parameter is a key of ``mi.traverse``; NAME.shift is a shape's translation, made of its ``to_world`` or vertices.
"""

import sys

import numpy as np

from benchmarks.sides import serve, weights

state = {}


def load(file: str, params: list, variant: str, options: dict | None = None, weight: str = "flat"):
    """variant: Mitsuba's; options: of the integrator, "type" among them (default prb)."""
    import drjit as dr
    import mitsuba as mi

    mi.set_variant(variant)
    scene = mi.load_file(file, optimize=False)  # else shapes are merged
    depths = {"max_depth": 0, "rr_depth": 0}
    for line in str(scene.integrator()).splitlines():
        for name in depths:
            if name in line:
                depths[name] = int(line.split("=")[1].strip(" ,"))
    integrator = mi.load_dict({"type": "prb", **depths, **(options or {})})
    values = mi.traverse(scene)
    width, height = (int(n) for n in scene.sensors()[0].film().crop_size())
    state.update(mi=mi, dr=dr, scene=scene, integrator=integrator, values=values, variant=variant, params=params)
    state["weight"] = weights(weight, height, width)
    state["shifts"] = {name: Shift(mi, values, name.split(".")[0]) for name in params if name.endswith(".shift")}
    if state["shifts"] and len(state["shifts"]) < len(params):
        raise ValueError("translations and other parameters are measured apart")


class Shift:
    """A shape's translation as three variables."""

    def __init__(self, mi, values, shape: str):
        self.mi, self.values = mi, values
        self.key = next(k for k in (f"{shape}.vertex_positions", f"{shape}.to_world") if k in values)
        self.before = type(values[self.key])(values[self.key])

    def to(self, x) -> None:
        """x: mi.Vector3f."""
        if self.key.endswith("to_world"):
            self.values[self.key] = self.mi.Transform4f().translate(x) @ self.mi.Transform4f(self.before.matrix)
        else:
            import drjit as dr

            self.values[self.key] = dr.ravel(dr.unravel(self.mi.Point3f, self.before) + x)
        self.values.update()


def key(name: str) -> str:
    """In RGB a spectrum's values are one colour."""
    return name if name in state["values"] else name.removesuffix("s")


def gradient(seed: int, spp: int):
    """The loss's gradient: one list of numbers a parameter."""
    mi, dr, values = state["mi"], state["dr"], state["values"]
    weight = mi.TensorXf(state["weight"])
    if state["shifts"]:
        x = {name: mi.Vector3f(0, 0, 0) for name in state["shifts"]}
        for name, shift in state["shifts"].items():
            dr.enable_grad(x[name])
            shift.to(x[name])
        # One sample a pixel of a picture that nobody looks at, then the gradient proper.
        picture = mi.render(state["scene"], values, integrator=state["integrator"], seed=seed, spp=1, spp_grad=spp)
        dr.backward(dr.sum(picture * weight, axis=None))
        return [numbers(dr.grad(v)) for v in x.values()]
    for name in state["params"]:
        dr.enable_grad(values[key(name)])
        dr.set_grad(values[key(name)], 0)
    values.update()
    state["integrator"].render_backward(state["scene"], values, weight, seed=seed, spp=spp)
    return [numbers(dr.grad(values[key(name)])) for name in state["params"]]


def numbers(x) -> list:
    return np.ravel(np.array(x, np.float64)).tolist()


def image(seed: int, spp: int, path: str = "", step=0.0):
    """The loss, with ``step`` (a number, or one a component) added to a parameter for as long as it takes."""
    dr, values = state["dr"], state["values"]
    with dr.suspend_grad():
        if path in state["shifts"]:
            state["shifts"][path].to(state["mi"].Vector3f(*np.broadcast_to(step, 3).tolist()))
        elif path:
            before = type(values[key(path)])(dr.detach(values[key(path)]))
            values[key(path)] = before + step
            values.update()
        loss = float((picture(seed, spp) * state["weight"]).sum())
        if path in state["shifts"]:
            state["shifts"][path].to(state["mi"].Vector3f(0, 0, 0))
        elif path:
            values[key(path)] = before
            values.update()
    return loss


def picture(seed: int, spp: int) -> np.ndarray:
    scene = state["scene"]
    return np.array(state["integrator"].render(scene, scene.sensors()[0], seed=seed, spp=spp), np.float64)


def forward(seed: int, spp: int):
    """A picture, made and left on the host."""
    with state["dr"].suspend_grad():
        picture(seed, spp)


def facts():
    return {"renderer": f"Mitsuba {state['mi'].__version__}", "variant": state["variant"]}


if __name__ == "__main__":
    serve(sys.modules[__name__])
