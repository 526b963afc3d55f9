"""Why a gradient is zero in every number: what a person would look for, found by trying it."""

from __future__ import annotations

from copy import copy, deepcopy
from dataclasses import replace

import numpy as np

from ..api import backward, parameters, render
from ..device.compile import compiled
from ..kernels.bsdf import BSDFS
from ..kernels.light import LIGHTS
from ..scene import Light, Material, Scene
from ..scene.spectrum import LAMBDA_MAX, LAMBDA_MIN, Spectrum, constant

SEED = 1


def why_zero(scene: Scene, path: str, spp: int = 4) -> str:
    """One line that explains a gradient of exact zeros; each guess is confirmed on the scene, not assumed."""
    slot = parameters(scene).slot(path)
    owner, value = slot.owner, slot.value
    if isinstance(value, Spectrum) and value.kind == "points":
        w = value.wavelengths
        if w[0] > LAMBDA_MAX or w[-1] < LAMBDA_MIN:
            return f"all its wavelengths lie outside {LAMBDA_MIN:.0f} to {LAMBDA_MAX:.0f} nm"
    if isinstance(owner, Material):
        return _material(scene, owner, path, spp)
    if not isinstance(owner, Light):
        return "no path meets it, and no edge of it is seen by the camera or throws a shadow that is"
    return _light(scene, owner, path, spp)


def _material(scene: Scene, material: Material, path: str, spp: int) -> str:
    users = [s for s in scene.shapes if s.material == material.id]
    if not users:
        return f"no shape uses the material '{material.id}'"
    placed = {i.group for i in scene.instances}
    shown = [s for s in users if s.group is None or s.group in placed]
    if not shown:
        return f"only shapes of group '{users[0].group}' use it, and no instance places that group"
    if scene.integrator.max_depth < 2:
        return "max_depth is 1: paths end before any surface scatters"
    if not _shines(scene):
        return "nothing shines: every light of the scene is black"
    if all(s.group is None for s in shown):  # what is inside a group cannot be made to shine
        outer, inner = _sides_met(scene, shown, spp)
        if not (outer or inner):
            return f"no path meets a shape of '{material.id}': the camera does not see it, directly or in {_bounces(scene)}"
        both = material.two_sided or getattr(BSDFS[material.kind], "TRANSMISSIVE", False)
        if not (outer or both):
            return f"paths meet the shapes of '{material.id}' from inside only, and {material.kind} is one-sided"
    zeros = _zeros(scene, path, material, spp)
    if zeros:
        return f"a factor of it is zero: {', '.join(zeros)}"
    return "the shapes it is on are met, but no light comes back from them that depends on it"


def _light(scene: Scene, light: Light, path: str, spp: int) -> str:
    shape = next((s for s in scene.shapes if s.light is light), None)
    if shape is not None:
        if not compiled(scene).geometry.areas(shape)[1].sum() > 0:
            return f"its shape '{shape.id}' has no area"
    zeros = _zeros(scene, path, light, spp)
    if zeros:
        return f"a factor of it is zero: {', '.join(zeros)}"
    if scene.integrator.max_depth < 2 and shape is None:
        return "max_depth is 1, which shows lights alone, and this one is not seen directly"
    return f"its light reaches no surface that the camera sees, directly or in {_bounces(scene)}"


def _bounces(scene: Scene) -> str:
    n = scene.integrator.max_depth - 1
    return f"{n} bounce{'s' if n != 1 else ''}"


def _shines(scene: Scene) -> bool:
    """Whether any light emits: a light's first parameter is what it emits."""
    lights, slots = [*scene.lights, *(s.light for s in scene.shapes if s.light is not None)], parameters(scene)
    return any(slots[f"{light.id}.{next(iter(LIGHTS[light.kind].PARAMS))}"].any() for light in lights)


def _zeros(scene: Scene, path: str, owner, spp: int) -> list[str]:
    """The owner's other parameters that are zero, if this one has an effect once they are not."""
    slots = parameters(scene)
    zero = [p for p in slots.differentiable() if p != path and slots.slot(p).owner is owner and not slots[p].any()]
    if not zero:
        return []
    probe = deepcopy(scene)
    params = parameters(probe)
    for other in zero:
        params[other] = np.full(params[other].shape, min(0.5, params.slot(other).param.high))
    x, high = params[path], params.slot(path).param.high
    return [f"{p} = 0" for p in zero] if has_effect(probe, path, np.where(x < high / 2, 0.1, -0.1) * min(high, 1), spp) else []


def _sides_met(scene: Scene, shapes, spp: int) -> list[bool]:
    """Whether the outer side of one of the shapes, and the inner, is met by paths that may still scatter there.

    Each side is made to shine in turn; what it adds to the image has a derivative where paths meet it.
    """
    out = []
    for flip in (False, True):
        probe = copy(scene)
        probe.shapes = [_shining(s, flip) if s in shapes else s for s in scene.shapes]
        probe.integrator = replace(scene.integrator, max_depth=scene.integrator.max_depth - 1)
        _, _, w, h = scene.camera.film.window
        grads = backward(probe, np.ones((h, w, 3)), spp, SEED, [f"{s.id}.radiance" for s in shapes])
        out.append(any(g.any() for g in grads.values()))
    return out


def _shining(shape, flip: bool):
    shape = copy(shape)
    shape.light = Light(shape.id, "area", {"radiance": constant(1.0)})
    shape.flip_normals ^= flip
    return shape


def has_effect(scene: Scene, path: str, along: np.ndarray, spp: int) -> bool:
    """Whether moving the parameter changes any bit of the image; the scene is left as it was."""
    params = parameters(scene)
    before, image = params[path], render(scene, spp, SEED)
    try:
        params[path] = before + along
        return not np.array_equal(image, render(scene, spp, SEED))
    finally:
        params[path] = before
