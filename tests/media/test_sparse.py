"""Grids of which only blocks are kept: what dense ones show, to the bit, in memory of the blocks alone."""

import numpy as np
import pytest

import irys_ti as it
from irys_ti.check.differences import weight_image
from irys_ti.device.compile import compiled
from irys_ti.device.grids import cells, majorants, sparse_majorants
from irys_ti.errors import SceneError
from tests.helpers.media import smoke


def cloud(size, blocks, seed=1):
    """Densities in some blocks, 0 elsewhere and at half of their voxels."""
    rng, out = np.random.default_rng(seed), np.zeros(size)
    for z, y, x in 8 * np.array(blocks):
        part = out[z : z + 8, y : y + 8, x : x + 8]
        part += np.maximum(0.0, rng.uniform(-2.0, 2.0, part.shape))
    return out


@pytest.mark.parametrize("size", [(16, 24, 8), (13, 9, 21), (5, 300, 20)])
def test_blocks_of_an_array(size):
    where = [(0, 1, 0), (0, 1, 2), (1, 0, 0)] if size[0] > 8 and size[2] > 16 else [(0, 1, 0), (0, 0, 0)]
    density = cloud(size, where)
    grid = it.SparseGrid.of(density)
    assert sorted(map(tuple, grid.corners)) == sorted(where) and grid.blocks.shape == (len(where), 8, 8, 8)
    assert np.array_equal(grid.dense(), density) and np.array_equal(grid.part_of(density), grid.blocks)
    count = cells(size)
    assert np.array_equal(sparse_majorants(grid.blocks, grid.corners, size, count), majorants(density, count))
    keep = np.zeros(size, bool)
    keep[-1, -1, -1] = True
    more = it.SparseGrid.of(density, keep)
    assert len(more.blocks) == len(where) + 1 and np.array_equal(more.dense(), density)


def test_the_same_bits_as_a_dense_grid(f32):
    """Pictures, and derivatives by every kept voxel and by what all share; of a block that is kept and empty too."""
    density = cloud((24, 20, 24), [(0, 0, 0), (1, 1, 1), (2, 2, 1), (1, 2, 2)])
    keep = np.zeros(density.shape, bool)
    keep[8:16, 8:16, :8] = True
    grid, paths = it.SparseGrid.of(density, keep), ["fog.density", "fog.sigma_t"]
    assert len(grid.blocks) == 5 and (grid.blocks == 0).all((1, 2, 3)).sum() == 1
    dense, sparse = smoke(density), smoke(grid)
    assert np.array_equal(it.render(dense, 16, 1), it.render(sparse, 16, 1))
    u = weight_image(dense)
    a, b = (it.backward(s, u, 16, 2, paths) for s in (dense, sparse))
    assert a.replayed == b.replayed == (16 * 256, 16 * 256)
    assert np.array_equal(grid.part_of(a["fog.density"]), b["fog.density"])
    assert np.array_equal(a["fog.sigma_t"], b["fog.sigma_t"])
    empty = np.flatnonzero((grid.blocks == 0).all((1, 2, 3)))[0]
    assert (b["fog.density"][empty] != 0).mean() > 0.5 and (b["fog.density"] != 0).mean() > 0.5
    # The control: a block in another place. And other numbers in the same blocks, written in place.
    moved = it.SparseGrid(grid.size, grid.blocks, np.r_[[[0, 0, 1]], grid.corners[1:]])
    assert not np.array_equal(it.render(dense, 16, 1), it.render(smoke(moved), 16, 1))
    it.parameters(sparse)["fog.density"] = 0.5 * grid.blocks
    it.parameters(dense)["fog.density"] = 0.5 * density
    assert np.array_equal(it.render(dense, 16, 1), it.render(sparse, 16, 1))


def test_memory_is_that_of_the_blocks(f32):
    """A grid of 512^3 voxels with two blocks: less than a hundredth of its array's 134 million numbers."""
    grid = it.SparseGrid((512, 512, 512), np.ones((2, 8, 8, 8)), [[3, 4, 5], [63, 0, 1]])
    device = compiled(smoke(grid))
    assert device.reals.shape[0] + device.ints.shape[0] < 0.01 * 512**3


@pytest.mark.parametrize(
    ("grid", "word"),
    [
        (it.SparseGrid((8, 8, 8), np.ones((1, 8, 8, 4)), [[0, 0, 0]]), "blocks of shape"),
        (it.SparseGrid((8, 8, 8), np.ones((1, 8, 8, 8)), [[0, 1, 0]]), "outside"),
        (it.SparseGrid((8, 8, 8), np.ones((2, 8, 8, 8)), [[0, 0, 0]] * 2), "where another is"),
        (it.SparseGrid((8, 8, 8), np.full((1, 8, 8, 8), np.nan), [[0, 0, 0]]), "not finite"),
        (it.SparseGrid((8, 8, 8), -np.ones((1, 8, 8, 8)), [[0, 0, 0]]), "negative"),
        (it.SparseGrid.of(np.zeros((8, 8, 8))), "one or more"),
    ],
)
def test_bad_blocks(grid, word, f32):
    with pytest.raises(SceneError, match=word) as error:
        it.render(smoke(grid), 1)
    assert "\n" not in str(error.value)
