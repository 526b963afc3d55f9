"""Mesh files: what they hold, and what is wrong with them."""

import numpy as np
import pytest

from irys_ti import io
from irys_ti.errors import SceneError
from irys_ti.io import images, meshes
from irys_ti.io.validate import validate
from irys_ti.scene import Mesh
from irys_ti.scene import transform as tf

PLY = """ply
format ascii 1.0
element vertex {n}
property float x
property float y
property float z
{extra}element face {m}
property list uchar int vertex_indices
end_header
{body}"""
BENT = [[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0.5]]  # two triangles with an edge between them
FACES = [[0, 1, 2], [0, 2, 3]]


def obj_text(extra=""):
    return "".join(f"v {x} {y} {z}\n" for x, y, z in BENT) + extra + "f 1 2 3\nf 1 3 4\n"


def ply_text():
    rows = "".join(f"{x} {y} {z} {x} {y}\n" for x, y, z in BENT)
    return PLY.format(n=4, m=2, extra="property float u\nproperty float v\n", body=rows + "3 0 1 2\n3 0 2 3\n")


def one(folder, name, content):
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    (part,) = meshes.read(path)
    return part.mesh


def triangles(mesh: Mesh) -> np.ndarray:
    return mesh.vertices[mesh.faces]


def test_obj_ply_stl_and_gltf_agree(tmp_path):
    import trimesh

    expected = np.array(BENT, float)[FACES]
    trimesh.Trimesh(BENT, FACES, process=False).export(tmp_path / "m.glb")
    trimesh.Trimesh(BENT, FACES, process=False).export(tmp_path / "m.stl")
    trimesh.Trimesh(BENT, FACES, process=False).export(tmp_path / "b.ply")  # binary
    (tmp_path / "m.obj").write_text(obj_text())
    (tmp_path / "m.ply").write_text(ply_text())
    for name in ("m.obj", "m.ply", "b.ply", "m.stl", "m.glb"):
        (part,) = meshes.read(tmp_path / name)
        np.testing.assert_allclose(triangles(part.mesh), expected, atol=1e-7)
        assert part.mesh.faces.dtype == np.int32 and part.mesh.vertices.dtype == np.float64
        assert part.mesh.normals is None


def test_ply_uvs_normals_and_quadrilaterals(tmp_path):
    mesh = one(tmp_path, "m.ply", ply_text())
    np.testing.assert_array_equal(mesh.uvs, np.array(BENT)[:, :2])
    normals = "property float nx\nproperty float ny\nproperty float nz\n"
    rows = "".join(f"{x} {y} {z} 0 0 2\n" for x, y, z in BENT)
    mesh = one(tmp_path, "n.ply", PLY.format(n=4, m=1, extra=normals, body=rows + "4 0 1 2 3\n"))
    np.testing.assert_allclose(mesh.normals, [[0, 0, 1]] * 4)
    np.testing.assert_array_equal(mesh.faces, FACES)


def test_obj_corners(tmp_path):
    """Mixed indices, negative ones, a pentagon, a vertex with two uvs, comments and continued lines."""
    text = """# comment
v 0 0 0
v 1 0 0
v 1 1 0 1.0
v 0.5 2 0
v 0 1 0
vt 0 0
vt 1 0
vt 1 1
vn 0 0 3
f 1/1/1 2/2/1 3/3/1
f 1/2/1 3/3/1 \\
  5/1/1
f -5/1/-1 -3/2/-1 -2/3/-1 -1/1/-1
"""
    mesh = one(tmp_path, "m.obj", text)
    assert len(mesh.faces) == 4 and len(mesh.vertices) > 5
    corners = np.array([[0, 1, 2], [0, 2, 4], [0, 2, 3], [0, 3, 4]])
    points = np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0.5, 2, 0], [0, 1, 0]])
    np.testing.assert_array_equal(triangles(mesh), points[corners])
    np.testing.assert_array_equal(mesh.uvs[mesh.faces[1]], [[1, 0], [1, 1], [0, 0]])
    np.testing.assert_array_equal(mesh.normals, np.broadcast_to([0, 0, 1], mesh.normals.shape))
    mesh = one(tmp_path, "n.obj", text.replace("1/2/1 3/3/1", "1 3//1"))  # uvs are not everywhere: dropped
    assert mesh.uvs is None and mesh.normals is None and len(mesh.vertices) == 5


def test_obj_materials(tmp_path):
    (tmp_path / "m.mtl").write_text("newmtl a\nKd 0.1 0.2 0.3\nnewmtl b\nKd 1 1 1\nKe 2 2 2\nmap_Kd t.png\n")
    images.write_image(tmp_path / "t.png", np.full((2, 2, 3), 0.5))
    text = "mtllib m.mtl\nv 0 0 0\nv 1 0 0\nv 0 1 0\nvt 0 0\nusemtl a\nf 1/1 2/1 3/1\nusemtl b\nf 1/1 3/1 2/1\nf 2/1 1/1 3/1\n"
    (tmp_path / "m.obj").write_text(text)
    scene = io.load(tmp_path / "m.obj")
    validate(scene)
    assert [(len(s.faces), s.material) for s in scene.shapes] == [(1, "a_2"), (2, "b_2")]
    a, b = scene.materials
    np.testing.assert_array_equal(a.values["reflectance"].values, [0.1, 0.2, 0.3])
    assert b.values["reflectance"].pixels.shape == (2, 2, 3)
    np.testing.assert_array_equal(scene.shapes[1].light.values["radiance"].values, [2, 2, 2])


BROKEN = [
    ("m.obj", "", "empty"),
    ("m.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\n", "empty"),
    ("m.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 7\n", r"m\.obj:4: the face names vertex 7; the file has 3"),
    ("m.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 0\n", r"m\.obj:4: the face names vertex 0"),
    ("m.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 -4\n", r"the face names vertex -4"),
    ("m.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nvt 0 0\nf 1/1 2/7 3/1\n", r"m\.obj:5: .*texture coordinate 7"),
    ("m.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1//2 2//1 3//1\n", r"normal 2"),
    ("m.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1/0 2 3\n", "counts from 1"),
    ("m.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 x\n", r"m\.obj:4: a face's corner is 'x'"),
    ("m.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 99999999999999999999\n", "corner is"),
    ("m.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2\n", r"m\.obj:4: a face has 2 corners"),
    ("m.obj", "v 0 0 0\nv 1 nan 0\nv 0 1 0\nf 1 2 3\n", r"vertices\[1\] is not finite"),
    ("m.obj", "v 0 0 0\nv 1 zero 0\nv 0 1 0\nf 1 2 3\n", "vertex 2 is '1 zero 0'"),
    ("m.obj", "v 0 0\nv 1 0\nv 0 1\nf 1 2 3\n", "has 2 numbers"),
    ("m.obj", "PK\x03\x04 not text\n", r"m\.obj:1: unknown statement"),
    ("m.ply", "", "cannot be read as PLY"),
    ("m.ply", "junk", "cannot be read as PLY"),
    ("m.ply", PLY.format(n=0, m=0, extra="", body=""), "empty"),
    ("m.ply", PLY.format(n=3, m=1, extra="", body="0 0 0\n1 0 0\n0 1 0\n3 0 1 7\n"), r"faces\[0\] names vertex 7"),
    ("m.ply", PLY.format(n=3, m=1, extra="", body="0 0 0\n1 inf 0\n0 1 0\n3 0 1 2\n"), r"vertices\[1\] is not finite"),
    ("m.stl", "", "empty|cannot be read as STL"),
    ("m.stl", "solid x\nfacet\n", "empty|cannot be read as STL"),
    ("m.glb", "junk", "cannot be read as GLB"),
    ("m.gltf", "{}", "empty|cannot be read as GLTF"),
]


@pytest.mark.parametrize(("name", "content", "message"), BROKEN)
def test_a_broken_file_is_one_line(tmp_path, name, content, message):
    (tmp_path / name).write_text(content)
    with pytest.raises(SceneError, match=message) as caught:
        io.load(tmp_path / name)
    assert "\n" not in str(caught.value) and name in str(caught.value)
    body = f'<shape type="{name[2:]}"><string name="filename" value="{name}"/></shape>'
    (tmp_path / "scene.xml").write_text(f'<scene version="3.0.0"><sensor type="perspective"/>{body}</scene>')
    with pytest.raises(SceneError, match="m\\.|unknown shape"):
        io.load(tmp_path / "scene.xml")


def mitsuba_mesh(folder, name, content, extra=""):
    (folder / name).write_text(content)
    body = f'<shape type="{name[-3:]}" id="m"><string name="filename" value="{name}"/>{extra}</shape>'
    (folder / "scene.xml").write_text(f'<scene version="3.0.0"><sensor type="perspective"/>{body}</scene>')
    return io.load(folder / "scene.xml").shapes[0]


@pytest.mark.parametrize(("name", "text"), [("m.obj", obj_text()), ("m.ply", ply_text())])
def test_missing_normals_are_made_as_mitsuba_makes_them(tmp_path, name, text):
    """Mitsuba 3.9.1 gives these normals for this mesh, and none with face_normals."""
    mesh = mitsuba_mesh(tmp_path, name, text)
    expected = [
        [0.227046, -0.227046, 0.947048],
        [0, 0, 1],
        [0.227046, -0.227046, 0.947048],
        [0.408248, -0.408248, 0.816497],
    ]
    np.testing.assert_allclose(mesh.normals, expected, atol=1e-6)
    flat = '<boolean name="face_normals" value="true"/>'
    assert mitsuba_mesh(tmp_path, name, text, flat).normals is None


def test_v_runs_down_in_mitsubas_obj(tmp_path):
    """Mitsuba 3.9.1 turns OBJ's v around unless flip_tex_coords is false, and leaves PLY's as it is."""
    text = obj_text("vt 0 0.25\n").replace("f 1 2 3\nf 1 3 4", "f 1/1 2/1 3/1\nf 1/1 3/1 4/1")
    assert mitsuba_mesh(tmp_path, "m.obj", text).uvs[0, 1] == 0.75
    keep = '<boolean name="flip_tex_coords" value="false"/>'
    assert mitsuba_mesh(tmp_path, "m.obj", text, keep).uvs[0, 1] == 0.25
    np.testing.assert_array_equal(mitsuba_mesh(tmp_path, "m.ply", ply_text()).uvs, np.array(BENT)[:, :2])


def test_a_mirrored_mesh_keeps_its_outside():
    mesh = Mesh(vertices=np.array(BENT, float), faces=np.array(FACES, np.int32))
    mesh.normals = meshes.smooth_normals(mesh)
    for m in (tf.scale(-2, 1, 3), tf.rotate([1, 2, 3], 40) @ tf.scale(1, 2, 3), tf.scale(-1)):
        moved = meshes.placed(mesh, m)
        corners = triangles(moved)
        face_normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
        before = triangles(mesh)
        outside = np.cross(before[:, 1] - before[:, 0], before[:, 2] - before[:, 0])
        expected = tf.normals_to(m, outside)
        assert ((face_normal * expected).sum(1) > 0).all()
        assert ((face_normal * moved.normals[moved.faces[:, 0]]).sum(1) > 0).all()
        np.testing.assert_allclose(np.linalg.norm(moved.normals, axis=1), 1)


def test_degenerate_triangles_make_no_nan():
    mesh = Mesh(vertices=np.zeros((3, 3)), faces=np.array([[0, 1, 2], [0, 0, 1]], np.int32))
    assert np.isfinite(meshes.smooth_normals(mesh)).all()


@pytest.mark.parametrize("name", ["low-poly-tree.glb", "SpecularTest.glb", "AttenuationTest.glb", "ClearCoatTest.glb"])
def test_gltf_scenes(data, name):
    scene = io.load(data / "gltf" / name)
    validate(scene)
    assert scene.shapes and len({s.id for s in scene.shapes}) == len(scene.shapes)
    assert scene.lights[0].kind == "constant"
    points = np.concatenate([s.vertices for s in scene.shapes])
    camera = scene.camera
    local = (points - camera.to_world[:3, 3]) @ camera.to_world[:3, :3]
    assert (local[:, 2] > 0).all()  # before the camera, and inside the picture
    assert (np.abs(local[:, :2]) <= local[:, 2:] * np.tan(np.deg2rad(camera.fov / 2)) * (1 + 1e-9)).all()


def test_gltf_materials(tmp_path):
    """Metallic-roughness is OpenPBR's: roughness is not squared on the way, base colours are linear."""
    import trimesh
    from trimesh.visual.material import PBRMaterial

    box = trimesh.creation.box()
    material = PBRMaterial(name="steel", baseColorFactor=[51, 102, 153, 255], metallicFactor=1.0, roughnessFactor=0.5)
    box.visual = trimesh.visual.TextureVisuals(uv=np.zeros((len(box.vertices), 2)), material=material)
    box.export(tmp_path / "box.glb")
    (steel,) = io.load(tmp_path / "box.glb").materials
    assert steel.kind == "openpbr" and steel.id == "steel"
    assert steel.values["specular_roughness"] == pytest.approx(0.5) and steel.values["base_metalness"] == 1.0
    np.testing.assert_allclose(steel.values["base_color"].values, [0.2, 0.4, 0.6], atol=0.003)


def test_the_arms_meshes_load(data, tmp_path):
    """122,000 triangles of a robot, as its vendor exports them."""
    import zipfile

    with zipfile.ZipFile(data / "robots" / "universal_robots_ur5e.zip") as file:
        names = [n for n in file.namelist() if n.endswith(".obj")]
        file.extractall(tmp_path, names)
    total = 0
    for name in names:
        mesh = meshes.merged(meshes.read(tmp_path / name), tmp_path / name)
        assert mesh.normals is not None
        total += len(mesh.faces)
    assert total == pytest.approx(122_000, rel=0.02)
