"""The fast tier on Vulkan: a GPU's driver, or SwiftShader (VK_DRIVER_FILES naming its ICD file)."""

import numpy as np
import pytest

import irys_ti as it
from tests.test_fit import PATH, painted_ball

pytestmark = pytest.mark.vulkan


@pytest.fixture(scope="module")
def results():
    """Image, gradient and replayed paths of one scene, by backend; the same seeds on each."""
    found = {}
    weight = np.random.default_rng(0).random((12, 12, 3))
    for arch in ("cpu", "vulkan"):
        it.init(arch)  # fails where there is no Vulkan: whoever asks for these tests wants to know
        scene = painted_ball((0.2, 0.7, 0.4))
        image = it.render(scene, 16, 3)
        grads = it.backward(scene, weight, 16, 3, [PATH, "sky.radiance"])
        found[arch] = image, grads
    it.init("cpu")
    return found


def test_image(results):
    (cpu, _), (vulkan, _) = results["cpu"], results["vulkan"]
    assert cpu.std() > 0.1
    np.testing.assert_allclose(vulkan.mean((0, 1)), cpu.mean((0, 1)), rtol=1e-5)
    assert (np.abs(vulkan - cpu) < 1e-4).mean() > 0.99


def test_every_path_is_replayed_bit_for_bit(results):
    for _, grads in results.values():
        equal, traced = grads.replayed
        assert equal == traced == 12 * 12 * 16


def test_gradient(results):
    (_, cpu), (_, vulkan) = results["cpu"], results["vulkan"]
    for path in cpu:
        np.testing.assert_allclose(vulkan[path], cpu[path], rtol=1e-4)
        assert np.abs(cpu[path]).min() > 0.1
