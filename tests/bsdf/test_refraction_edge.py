"""The step at the microsurface's horizon: its motion is part of the derivative by the index of refraction."""

import numpy as np
import pytest

from irys_ti import graph as g
from irys_ti.kernels.bsdf import ggx
from tests.bsdf.cases import Model, full

STEP = 0.03


def directions(n_z: int, n_phi: int) -> np.ndarray:
    """(n, 3) over half of the sphere, the other half being its mirror image in y; equal solid angles."""
    z, phi = np.meshgrid((np.arange(2 * n_z) + 0.5) / n_z - 1, (np.arange(n_phi) + 0.5) * np.pi / n_phi, indexing="ij")
    r = np.sqrt(1 - z * z)
    return np.stack([r * np.cos(phi), r * np.sin(phi), z], -1).reshape(-1, 3)


def powers(name: str, index: str, values: dict, z: float) -> tuple[float, float]:
    """What scattered light of radiance 1 above and 3 below brings to a wi at height z: its derivative by the index by
    differences of the integral, and the integral of the derivative."""
    m = Model(name)
    wo, wi = directions(1500, 160), np.array([np.sqrt(1 - z * z), 0.0, z])
    base = {k: full(q, q.default) for k, q in m.params.items()} | values
    light = np.where(wo[:, 2] > 0, 1.0, 3.0) * 4 * np.pi / len(wo)

    def integral(e, shift=0.0):
        found = m.run([e], base | {index: base[index] + shift}, np.broadcast_to(wi, wo.shape), wo)[0]
        return float((np.asarray(found)[..., 0] * light).sum()) if np.ndim(found) > 1 else float((found * light).sum())

    (slope,) = g.jvp([m.eval], [m.leaves[index]], [g.constant(1.0)])
    return (integral(m.eval, STEP) - integral(m.eval, -STEP)) / (2 * STEP), integral(slope)


ROUGH = ("roughdielectric", "int_ior", {"alpha": 0.3, "int_ior": 1.5, "ext_ior": 1.0})
GLASS = ("openpbr", "specular_ior", {"transmission_weight": 1.0, "specular_roughness": 0.55, "specular_ior": 1.5})


@pytest.mark.parametrize("z", [-0.3, 0.3, 0.6])
@pytest.mark.parametrize("case", [ROUGH, pytest.param(GLASS, marks=pytest.mark.slow)], ids=lambda c: c[0])
def test_the_step_at_the_horizon_moves(case, z, monkeypatch):
    differences, found = powers(*case, z)
    assert found == pytest.approx(differences, abs=0.03)
    monkeypatch.setattr(ggx, "HORIZON", 1e-9)  # no direction of the quadrature lies so near: as without the step's motion
    _, without = powers(*case, z)
    assert abs(without - differences) > 0.04
