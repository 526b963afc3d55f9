"""Files of volumes."""

import numpy as np
import pytest

import irys_ti as it
from irys_ti import io
from irys_ti.errors import SceneError
from irys_ti.io import volumes

DENSITY = np.arange(24.0).reshape(2, 3, 4)


def test_what_is_written_is_read(tmp_path):
    it.write_volume(tmp_path / "a.vol", DENSITY, (1, 2, 3), (5, 5, 5))
    density, box = it.read_volume(tmp_path / "a.vol")
    assert np.array_equal(density, DENSITY) and density.dtype == np.float64
    assert np.allclose(box @ [0, 0, 0, 1], [1, 2, 3, 1]) and np.allclose(box @ [1, 1, 1, 1], [5, 5, 5, 1])
    np.save(tmp_path / "a.npy", DENSITY)
    density, box = it.read_volume(tmp_path / "a.npy")
    assert np.array_equal(density, DENSITY) and np.array_equal(box, np.eye(4))


def test_the_layout_of_vol(tmp_path):
    """Bytes as the format's description says: x fastest."""
    head = b"VOL\x03" + np.array([1, 4, 3, 2, 1], "<i4").tobytes() + np.array([0, 0, 0, 1, 1, 1], "<f4").tobytes()
    (tmp_path / "b.vol").write_bytes(head + DENSITY.astype("<f4").tobytes())
    assert it.read_volume(tmp_path / "b.vol")[0][1, 2, 3] == 23



@pytest.mark.parametrize(
    ("name", "data", "word"),
    [
        ("a.vol", b"VOX" + bytes(80), "is not a .vol file"),
        ("a.vol", b"", "is not a .vol file"),
        ("a.vol", b"VOL\x03" + np.array([1, 4, 3, 2, 1], "<i4").tobytes() + bytes(24 + 40), "holds 10 of 24"),
        ("a.vol", b"VOL\x03" + np.array([1, 4, 3, 2, 3], "<i4").tobytes() + bytes(24), "3 channels"),
        ("a.vol", b"VOL\x03" + np.array([1, -4, 3, 2, 1], "<i4").tobytes() + bytes(24), "-4 x 3 x 2"),
        ("a.vol", b"VOL\x02" + np.array([1, 4, 3, 2, 1], "<i4").tobytes() + bytes(24), "version 2"),
        ("a.vol", b"VOL\x03" + np.array([1, 1, 1, 1, 1], "<i4").tobytes() + bytes(24) + b"\xff\xff\xff\xff", "1 voxels are not finite"),
        ("a.npy", b"nonsense", "NumPy cannot read"),
        ("a.raw", b"", "is not a file of volumes"),
    ],
)
def test_bad_files(tmp_path, name, data, word):
    (tmp_path / name).write_bytes(data)
    with pytest.raises(SceneError, match=word) as error:
        it.read_volume(tmp_path / name)
    assert "\n" not in str(error.value)


class OpenVDBGrid:
    """What the reader uses of OpenVDB's grid: copies of boxes, with the background outside of it."""

    def __init__(self, dense, first):
        self.dense, self.first = dense, np.array(first)

    def copyToArray(self, array, ijk):
        at = np.indices(array.shape).reshape(3, -1).T + np.array(ijk) - self.first
        inside = ((at >= 0) & (at < self.dense.shape)).all(1)
        array[...] = np.where(inside, self.dense[tuple(np.where(inside[:, None], at, 0).T)], 0.0).reshape(array.shape)


def test_blocks_of_a_file(tmp_path):
    """Sparse reading of an array's file, and of a grid that gives boxes (x, y, z) from anywhere."""
    dense = np.zeros((9, 20, 24))
    dense[8, 3, 17], dense[2, 19, 1] = 0.5, 2.0
    np.save(tmp_path / "a.npy", dense)
    found, place = it.read_volume(tmp_path / "a.npy", sparse=True)
    assert np.array_equal(found.dense(), dense) and found.blocks.shape == (2, 8, 8, 8) and np.array_equal(place, np.eye(4))
    blocks = volumes._blocks(OpenVDBGrid(dense.T, (-3, 5, 100)), (-3, 5, 100), (24, 20, 9))
    assert np.array_equal(blocks.dense(), dense) and len(blocks.blocks) == 2


def test_a_missing_file(tmp_path):
    with pytest.raises(SceneError, match="no such file"):
        it.read_volume(tmp_path / "none.vol")


XML = """<scene version="3.0.0"><sensor type="perspective">{sensor}</sensor>
<medium type="heterogeneous" id="smoke">
  <volume name="sigma_t" type="gridvolume"><string name="filename" value="a.vol"/>{more}
    <transform name="to_world"><scale value="2"/></transform></volume>
  <volume name="albedo" type="{albedo}"><spectrum name="value" value="400:.5,700:.7"/></volume>
  <float name="scale" value="3"/><phase type="hg"><float name="g" value=".2"/></phase></medium>
<medium type="homogeneous" id="air"/>
<shape type="cube"><bsdf type="null"/><ref name="interior" id="smoke"/></shape></scene>"""


def load(folder, sensor="", more="", albedo="constvolume"):
    it.write_volume(folder / "a.vol", DENSITY, (0, 0, 0), (4, 3, 2))
    (folder / "a.xml").write_text(XML.format(sensor=sensor, more=more, albedo=albedo))
    return io.load(folder / "a.xml")


def test_heterogeneous_media_of_mitsuba(tmp_path):
    scene = load(tmp_path)
    smoke = scene.media[0]
    assert (smoke.kind, smoke.phase, scene.medium) == ("grid", "hg", None) and scene.shapes[0].interior == "smoke"
    assert np.array_equal(smoke.values["density"], DENSITY) and smoke.values["scale"] == 3 and smoke.values["g"] == 0.2
    assert np.allclose(smoke.to_world, np.diag([2, 2, 2, 1]))
    assert np.array_equal(smoke.values["albedo"].values, [0.5, 0.7])
    boxed = load(tmp_path, more='<boolean name="use_grid_bbox" value="true"/>').media[0]
    assert np.allclose(boxed.to_world, np.diag([8, 6, 4, 1]))
    # The sensor's medium fills the world unless a shape encloses it.
    assert load(tmp_path, '<ref name="medium" id="air"/>').medium == "air"
    assert load(tmp_path, '<ref name="medium" id="smoke"/>').medium is None


@pytest.mark.parametrize(
    ("how", "word"),
    [({"albedo": "gridvolume"}, "only sigma_t"), ({"more": '<string name="filter_type" value="nearest"/>'}, "nearest")],
)
def test_refused_volumes(tmp_path, how, word):
    with pytest.raises(SceneError, match=word):
        load(tmp_path, **how)
