"""Which edges can be outlines: creases and rims of meshes welded by position (NumPy alone)."""

import numpy as np
import pytest
import trimesh

from irys_ti.device.edge_table import EdgeTable, beyond, table_of
from irys_ti.device.edges import find_edges, weld
from irys_ti.scene import Camera, Film, Mesh, cube, rectangle
from irys_ti.scene.transform import look_at


def mesh(vertices, faces, **more):
    return Mesh(id="m", vertices=np.array(vertices, float), faces=np.array(faces, np.int32), **more)


def lengths(m, edges):
    return np.linalg.norm(m.vertices[edges.ends[:, 0]] - m.vertices[edges.ends[:, 1]], axis=1)


def test_a_cube_with_a_seam_at_every_edge_has_twelve():
    """Its 24 vertices are 8 places; the diagonals of its faces are no edges."""
    m = cube(np.eye(4))
    assert len(m.vertices) == 24 and len(np.unique(weld(m.vertices))) == 8
    edges = find_edges(m)
    assert len(edges) == 12 and np.allclose(lengths(m, edges), 2)
    assert ((edges.opposite >= 0).sum(1) == 2).all()


def test_a_seam_in_a_smooth_surface_is_no_edge():
    """A ball whose triangles share their vertices, or have three of their own each: the same edges."""
    ball = trimesh.creation.icosphere(2)
    welded = mesh(ball.vertices, ball.faces)
    torn = mesh(ball.vertices[ball.faces].reshape(-1, 3), np.arange(3 * len(ball.faces)).reshape(-1, 3))
    a, b = find_edges(welded), find_edges(torn)
    assert len(a) == len(b) == len(ball.edges_unique)
    assert np.isclose(lengths(welded, a).sum(), lengths(torn, b).sum())
    assert ((a.opposite >= 0).sum(1) == 2).all() and ((b.opposite >= 0).sum(1) == 2).all()


def test_a_square_has_its_rim_alone():
    m = rectangle(np.eye(4))
    edges = find_edges(m)
    assert len(edges) == 4 and ((edges.opposite >= 0).sum(1) == 1).all()


def test_faces_folded_flat_onto_each_other_keep_their_edge():
    """Coplanar, but both on one side of the edge: the fold is a rim."""
    m = mesh([[0, 0, 0], [1, 0, 0], [0.5, 1, 0], [0.5, 2, 0]], [[0, 1, 2], [1, 0, 3]])
    shared = [e for e in find_edges(m).ends.tolist() if sorted(e) == [0, 1]]
    assert len(shared) == 1


@pytest.mark.parametrize("n", [3, 4, 5, 9])
def test_any_number_of_faces_may_share_an_edge(n):
    """What is kept of them lies on one side of a plane through the edge exactly where all of them do."""
    rng = np.random.default_rng(n)
    found = set()
    for spread in (0.6, 1.4, 3.0, 6.3):
        angle = rng.uniform(0, spread, n)
        fan = mesh(
            np.vstack([[[0, 0, 0], [0, 0, 1]], np.c_[np.cos(angle), np.sin(angle), rng.normal(size=n)]]),
            [[0, 1, 2 + k] for k in range(n)],
        )
        edges = find_edges(fan)
        shared = np.flatnonzero((edges.ends < 2).all(1))
        assert len(edges) == 2 * n + 1 and len(shared) == 1
        kept = edges.opposite[shared[0]]
        for a in rng.uniform(0, 2 * np.pi, 100):
            side = fan.vertices[:, :2] @ [-np.sin(a), np.cos(a)]
            of_all, of_kept = (np.unique(side[k] > 0).size == 1 for k in (np.arange(2, 2 + n), kept[kept >= 0]))
            assert of_all == of_kept
            found.add(bool(of_all))
    assert found == {True, False}


def test_faces_without_area_have_no_edges():
    m = mesh([[0, 0, 0], [1, 0, 0], [2, 0, 0], [0, 1, 0]], [[0, 1, 2], [0, 2, 3]])
    assert len(find_edges(m)) == 3
    assert len(find_edges(mesh([[0, 0, 0], [0, 0, 0], [0, 0, 0]], [[0, 1, 2]]))) == 0


def test_smooth_normals_hide_creases_that_face_the_viewer():
    """A tessellated ball with smooth normals shows its outline alone, the same ball with flat ones all its edges."""

    class Around:
        instances = ()

        def __init__(self, m):
            self.shapes = self.placed = [m]
            self.first = [0]

    ball = trimesh.creation.icosphere(3)
    camera = Camera(look_at([0, 0, 5], [0, 0, 0], [0, 1, 0]), 40, film=Film(32, 32))
    found = {}
    for name, normals in (("flat", None), ("smooth", ball.vertices.copy())):
        table = EdgeTable(Around(mesh(ball.vertices, ball.faces, normals=normals)), 0)
        table.update()
        found[name] = table.seen_from(camera, np.array([True]))
    assert (found["flat"] > 0).all()
    outline = found["smooth"] > 0
    assert 0 < outline.mean() < 0.1
    # The outline is as long as a circle of radius 1 looks from 5 away, to the tessellation.
    assert found["smooth"].sum() == pytest.approx(2 * np.pi / 5, rel=0.1)
    nothing = table.seen_from(camera, np.array([False]))
    assert not nothing.any() and table_of(nothing).tolist() == [0.0] * (len(nothing) + 1)


def test_edges_beside_the_film_or_behind_it_are_left_out():
    a = np.array([[0.0, 0, 1], [5, 0, 1], [0, 0, -1], [-9, 0, 1], [-9, 0, -1]])
    b = np.array([[0.1, 0, 1], [6, 0, 1], [0, 1, -2], [9, 0, 1], [9, 0, 2]])
    sides = beyond(Camera(fov=60, film=Film(32, 32)))
    out = ((a @ sides.T > 0) & (b @ sides.T > 0)).any(1)
    assert out.tolist() == [False, True, True, False, False]
