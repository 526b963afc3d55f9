"""Derivatives by place against another renderer's difference images (Mitsuba 3.9.1, central differences)."""

import numpy as np
import pytest

import irys_ti as it
from tests.helpers.statistics import mean_and_error, sample
from tests.test_reference_pictures import MITSUBA, open_scene, weights

CASES = [
    ("cornell", "tall_dx", "tall.translation", 32, 32),
    ("occluder", "dx", "occ.translation", 32, 64),
    ("gold_ball", "dx", "ball.center", 256, 64),
]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "derivative", "path", "spp", "boundary_spp"), CASES, ids=[c[0] for c in CASES])
def test_derivatives(name, derivative, path, spp, boundary_spp, data, f32):
    """Within 4 % of sum|W dP|, which the standard error tells to 1 %, through ones, the channels, and smooth noise."""
    scene, reference = open_scene(data, name)
    d_image = reference[f"d__{derivative}"] / MITSUBA
    for weight in weights():
        x = sample(lambda seed: it.backward(scene, weight, spp, seed, [path], boundary_spp=boundary_spp)[path][0])  # noqa: B023
        mean, error = mean_and_error(x)
        scale = np.abs(weight * d_image).sum()
        assert error < 0.01 * scale, "too noisy to tell"
        assert abs(mean - (weight * d_image).sum()) < 0.04 * scale


@pytest.mark.slow
def test_without_boundary_terms_it_is_wrong(data, f32):
    """The control: what moves in ``occluder`` is its outline and its shadow, and little else."""
    scene, reference = open_scene(data, "occluder")
    d_image, weight = reference["d__dx"] / MITSUBA, weights()[-1]
    for terms in ("off", "outlines", "shadows"):
        x = sample(lambda seed: it.backward(scene, weight, 16, seed, ["occ.translation"], boundary=terms)["occ.translation"][0])  # noqa: B023
        assert abs(x.mean() - (weight * d_image).sum()) > 0.06 * np.abs(weight * d_image).sum()
