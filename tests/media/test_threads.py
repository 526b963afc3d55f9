"""Pictures and gradients through media, below skin and among hair have the same bits with one thread and with two."""

import numpy as np
import pytest

import irys_ti as it
from irys_ti import runtime
from tests.hair.strands import furnace, strands
from tests.helpers.media import FOG, foggy_room, smoke
from tests.helpers.walks import SKIN, on_floor, paths

SCENES = {
    "fog": (foggy_room, FOG),
    "smoke": (lambda: smoke(np.ones((8, 8, 8))), ["fog.density", "fog.albedo"]),
    "skin": (lambda: on_floor(SKIN), paths(SKIN)),
    "hair": (lambda: furnace(strands(30), {"eumelanin": 0.5}), ["keratin.eumelanin"]),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", SCENES)
def test_the_bits_do_not_depend_on_the_threads(name):
    make, names = SCENES[name]
    bits = []
    for threads in (1, 2):
        runtime.init("cpu", "f32", threads=threads)
        scene = make()
        image = it.render(scene, 4, 5)
        found = it.backward(scene, np.ones_like(image), 4, 5, params=names)
        bits.append([image, *(found[path] for path in names)])
    for a, b in zip(*bits):
        assert np.array_equal(a, b) and np.abs(a).max() > 0.0
