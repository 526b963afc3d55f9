"""Pictures that settle: unbiased, with a variance that tells their error; intermediate images of a render."""

import numpy as np

import irys_ti as it
from tests.helpers.scenes import gold_ball


def test_the_variance_is_that_of_the_mean(f32):
    scene = gold_ball()
    truth = np.mean([it.render(scene, 256, seed) for seed in (100, 101)], 0)
    passes = list(it.progressive(scene, spp=4, total=64))
    assert [spp for _, spp, _ in passes] == list(range(4, 65, 4))
    assert np.isnan(passes[0][2]).all()
    image, _, variance = passes[-1]
    bright = truth > 0.05 * truth.max()
    ratio = ((image - truth)[bright] ** 2).mean() / variance[bright].mean()
    assert 0.7 < ratio < 1.5  # the truth has an eighth of the variance itself
    early = passes[1]
    assert early[2].mean() > 4 * variance.mean()
    assert not 0.7 < ((early[0] - truth)[bright] ** 2).mean() / variance[bright].mean() < 1.5  # the control


def test_passes_never_repeat_their_numbers(f32):
    from irys_ti.passes import Progressive

    picture = Progressive(gold_ball())
    first = picture.step().copy()
    picture.restart()
    assert not np.array_equal(picture.step(), first)


def test_a_render_shows_its_picture_on_the_way(f32):
    from irys_ti.device import launch

    scene, seen = gold_ball(), []
    most, launch.MAX_LANES["cpu"] = launch.MAX_LANES["cpu"], 4096
    try:
        image = it.render(scene, 16, progress=lambda done: seen.append((float(done), done.image)))
    finally:
        launch.MAX_LANES["cpu"] = most
    assert len(seen) > 1 and seen[-1][0] == 1.0
    assert np.array_equal(seen[-1][1].astype(np.float32), image)
    assert np.abs(seen[0][1] - image).max() > 0
