"""Mean colours of scenes with every kind of light and shape, against another renderer's (make_expected.py)."""

import json
from pathlib import Path

import numpy as np
import pytest

import irys_ti as it
from tests.helpers.statistics import mean_and_error, sample
from tests.peers.scenes import SCENES, write_scenes
from tests.test_reference_pictures import MITSUBA

EXPECTED = json.loads(Path(__file__).with_name("expected.json").read_text())


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    return write_scenes(tmp_path_factory.mktemp("scenes"))


@pytest.mark.parametrize("name", SCENES)
def test_mean_colour(name, files, f32):
    scene = it.load(files[name])
    images = MITSUBA * sample(lambda seed: it.render(scene, 128, seed), range(8))
    assert np.isfinite(images).all()
    mean, error = mean_and_error(images.mean((1, 2)))
    expected, expected_error = (np.array(EXPECTED[name][key]) for key in ("mean", "stderr"))
    assert (np.hypot(error, expected_error) < 3e-3 * expected).all(), "too noisy to tell half a percent"
    assert np.abs(mean / expected - 1).max() < 0.005
    assert np.abs(1.02 * mean / expected - 1).min() > 0.005  # the control
