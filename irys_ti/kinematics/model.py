"""Reading MJCF and URDF with the mujoco package: bodies, joints, and what can be seen of them."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from irys_ti.errors import SceneError
from irys_ti.scene import Mesh
from irys_ti.scene.transform import points_to


def mujoco(file: str):
    """The package, or a clear refusal."""
    try:
        import mujoco as package
    except ImportError:
        raise SceneError(file, "robots are read by the package mujoco, which is not installed", "pip install 'irys_ti[robot]'") from None
    return package


def read(path: str | Path):
    """The compiled mujoco model of a file."""
    file = str(path)
    if not Path(path).is_file():
        raise SceneError(file, "there is no such file", "check the path")
    package = mujoco(file)
    try:
        if Path(path).suffix.lower() == ".urdf":
            return package.MjModel.from_xml_string(_urdf(Path(path)))
        return package.MjModel.from_xml_path(file)
    except (ValueError, RuntimeError) as error:
        reason = " ".join(str(error).split())
        raise SceneError(file, f"mujoco cannot read it: {reason}", "mend the file") from None


def _urdf(path: Path) -> str:
    """A URDF file's text, with word to mujoco to keep what is seen and to look for meshes beside the file."""
    from defusedxml import ElementTree

    try:
        root = ElementTree.fromstring(path.read_bytes())
    except ElementTree.ParseError as error:
        raise ValueError(f"it is not XML ({error})") from None
    extension = root.find("mujoco")
    if extension is None:
        extension = root.makeelement("mujoco", {})
        root.append(extension)
    compiler = extension.find("compiler")
    if compiler is None:
        compiler = root.makeelement("compiler", {"meshdir": str(path.resolve().parent), "strippath": "false"})
        extension.append(compiler)
    compiler.set("discardvisual", "false")
    return ElementTree.tostring(root, encoding="unicode")


def joints(model, file: str) -> dict[str, int]:
    """{name: number} of the joints that one number moves."""
    package, out = mujoco(file), {}
    for j in range(model.njnt):
        name = model.joint(j).name or f"joint_{j}"
        if int(model.jnt_type[j]) not in (int(package.mjtJoint.mjJNT_HINGE), int(package.mjtJoint.mjJNT_SLIDE)):
            raise SceneError(file, f"joint '{name}' is neither a hinge nor a slide", "fix its body, or use hinges and slides")
        out[name] = j
    return out


SOLID = ("mesh", "box", "sphere", "ellipsoid", "cylinder", "capsule")  # planes and height fields are left out


def visible(model, file: str) -> list[int]:
    """Numbers of the geoms that are seen: those that never collide, or all where every one does."""
    kinds = [int(getattr(mujoco(file).mjtGeom, f"mjGEOM_{name.upper()}")) for name in SOLID]
    solid = [i for i in range(model.ngeom) if int(model.geom_type[i]) in kinds]
    return [i for i in solid if not (model.geom_contype[i] or model.geom_conaffinity[i])] or solid


def geom_frame(model, i: int) -> np.ndarray:
    """(4, 4) from a geom's space to its body's."""
    m = np.eye(4)
    m[:3, :3] = quaternion_matrix(model.geom_quat[i])
    m[:3, 3] = model.geom_pos[i]
    return m


def quaternion_matrix(q) -> np.ndarray:
    """(3, 3) of a unit quaternion (w, x, y, z)."""
    w, x, y, z = np.asarray(q, np.float64)
    return np.array([
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ])  # fmt: skip


def geom_mesh(model, i: int, file: str, subdivide: int) -> Mesh:
    """What is seen of one geom, in its body's space."""
    package = mujoco(file)
    kind, size = package.mjtGeom(int(model.geom_type[i])), model.geom_size[i]
    kinds = package.mjtGeom
    if kind == kinds.mjGEOM_MESH:
        vertices, faces, normals = _mesh(model, int(model.geom_dataid[i]))
    else:
        import trimesh

        if kind == kinds.mjGEOM_BOX:
            made = trimesh.creation.box(2 * size)
        elif kind in (kinds.mjGEOM_SPHERE, kinds.mjGEOM_ELLIPSOID):
            made = trimesh.creation.icosphere(3)
            made.apply_scale(size if kind == kinds.mjGEOM_ELLIPSOID else size[0])
        elif kind == kinds.mjGEOM_CYLINDER:
            made = trimesh.creation.cylinder(size[0], 2 * size[1], sections=48)
        else:
            made = trimesh.creation.capsule(2 * size[1], size[0])
            made.apply_translation(-made.bounds.mean(0))
        vertices, faces, normals = np.array(made.vertices), np.array(made.faces), None
    for _ in range(subdivide):
        vertices, faces, normals = _quartered(vertices, faces, normals)
    frame = geom_frame(model, i)
    if normals is not None:
        normals = normals @ frame[:3, :3].T
    return Mesh(vertices=points_to(frame, vertices), faces=faces.astype(np.int32), normals=normals)


def _mesh(model, k: int):
    """Vertices, faces and normals of a mesh asset; a corner with two normals becomes two vertices."""
    v0, nv = int(model.mesh_vertadr[k]), int(model.mesh_vertnum[k])
    f0, nf = int(model.mesh_faceadr[k]), int(model.mesh_facenum[k])
    n0, nn = int(model.mesh_normaladr[k]), int(model.mesh_normalnum[k])
    vertices = np.asarray(model.mesh_vert[v0 : v0 + nv], np.float64)
    normals = np.asarray(model.mesh_normal[n0 : n0 + nn], np.float64)
    faces = np.asarray(model.mesh_face[f0 : f0 + nf])
    corners = np.stack([faces.reshape(-1), np.asarray(model.mesh_facenormal[f0 : f0 + nf]).reshape(-1)], 1)
    pairs, index = np.unique(corners, axis=0, return_inverse=True)
    return vertices[pairs[:, 0]], index.reshape(-1, 3), normals[pairs[:, 1]]


def _quartered(vertices, faces, normals):
    """Every triangle cut into four; the surface stays as it is."""
    edges = np.sort(faces[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2), 1)
    unique, index = np.unique(edges, axis=0, return_inverse=True)
    middle = len(vertices) + index.reshape(-1, 3)
    a, b, c = faces.T
    ab, bc, ca = middle.T
    cut = np.concatenate([np.stack(t, 1) for t in ((a, ab, ca), (ab, b, bc), (ca, bc, c), (ab, bc, ca))])
    if normals is not None:
        between = normals[unique].sum(1)
        length = np.linalg.norm(between, axis=1, keepdims=True)
        normals = np.concatenate([normals, between / np.where(length > 0, length, 1)])
    return np.concatenate([vertices, vertices[unique].mean(1)]), cut, normals
