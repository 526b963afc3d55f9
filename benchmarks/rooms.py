"""Scenes that irys_ti and Cycles both build from one description: meshes, simple materials, a lamp or sun and sky."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from pathlib import Path

import numpy as np
import trimesh

SUN = (0.45, 0.75, 0.48)  # towards it; y is up


@dataclass
class Material:
    """kind: diffuse, metal, glass or coated. roughness: as the eye sees it, the square root of GGX's alpha."""

    kind: str = "diffuse"
    color: tuple = (0.7, 0.7, 0.7)
    roughness: float = 0.3


@dataclass
class Part:
    vertices: np.ndarray
    faces: np.ndarray
    material: Material
    smooth: bool = False
    glow: float = 0.0  # radiance


@dataclass
class Room:
    """A scene: parts, a camera (eye, target, horizontal field of view in degrees), and whether there is a sky."""

    name: str
    parts: list[Part] = field(default_factory=list)
    eye: tuple = (0, 1, 4)
    target: tuple = (0, 1, 0)
    fov: float = 40.0
    sky: bool = False
    depth: int = 8

    def add(self, mesh, material: Material, **more) -> None:
        self.parts.append(Part(np.array(mesh.vertices, float), np.array(mesh.faces), material, **more))

    def box(self, centre, size, material: Material, turn: float = 0.0, **more) -> None:
        """turn: about y, in degrees."""
        mesh = trimesh.creation.box(size)
        mesh.apply_transform(trimesh.transformations.rotation_matrix(np.radians(turn), (0, 1, 0)))
        mesh.apply_translation(centre)
        self.add(mesh, material, **more)

    def ball(self, centre, radius: float, material: Material) -> None:
        mesh = trimesh.creation.icosphere(4, radius)
        mesh.apply_translation(centre)
        self.add(mesh, material, smooth=True)

    def quad(self, a, b, c, d, material: Material, glow: float = 0.0) -> None:
        """Corners counter-clockwise as seen from the side that counts."""
        self.parts.append(Part(np.array([a, b, c, d], float), np.array([[0, 1, 2], [0, 2, 3]]), material, False, glow))


def ground(room: Room, half: float, color=(0.5, 0.5, 0.5)) -> None:
    h = half
    room.quad((-h, 0, h), (h, 0, h), (h, 0, -h), (-h, 0, -h), Material(color=color))


def pair() -> Room:
    """A metal ball and a painted box on the ground, under sun and sky."""
    room = Room("pair", eye=(0, 1.4, 4.2), target=(0, 0.6, 0), sky=True)
    ground(room, 8)
    room.ball((-0.75, 0.7, 0), 0.7, Material("metal", (0.95, 0.75, 0.45), 0.45))
    room.box((0.8, 0.5, 0.1), (1, 1, 1), Material(color=(0.6, 0.12, 0.1)), 25)
    return room


def cornell() -> Room:
    room = Room("Cornell box", eye=(0, 1, 3.9), target=(0, 1, 0), fov=39)
    walls(room, lamp=0.35, glow=15.0)
    room.box((-0.35, 0.6, -0.3), (0.55, 1.2, 0.55), Material(), 18)
    room.box((0.4, 0.3, 0.35), (0.55, 0.6, 0.55), Material(), -17)
    return room


def walls(room: Room, lamp: float, glow: float) -> None:
    """Five walls of the cube [-1, 1] x [0, 2] x [-1, 1], open to the front, with a lamp under the ceiling."""
    white, red, green = Material(), Material(color=(0.6, 0.06, 0.05)), Material(color=(0.12, 0.45, 0.1))
    room.quad((-1, 0, 1), (1, 0, 1), (1, 0, -1), (-1, 0, -1), white)
    room.quad((-1, 2, -1), (1, 2, -1), (1, 2, 1), (-1, 2, 1), white)
    room.quad((-1, 0, -1), (1, 0, -1), (1, 2, -1), (-1, 2, -1), white)
    room.quad((-1, 0, 1), (-1, 0, -1), (-1, 2, -1), (-1, 2, 1), red)
    room.quad((1, 0, -1), (1, 0, 1), (1, 2, 1), (1, 2, -1), green)
    a = lamp
    room.quad((-a, 1.98, -a), (a, 1.98, -a), (a, 1.98, a), (-a, 1.98, a), Material(color=(0, 0, 0)), glow)


def furnished() -> Room:
    """A room lit by sun and sky through an open wall: a table, four stools, a cupboard, balls on the table."""
    room = Room("furnished room", eye=(-1.6, 1.5, 2.6), target=(0.2, 0.8, -0.3), fov=60, sky=True)
    white, wood, cloth = Material(color=(0.75, 0.73, 0.7)), Material(color=(0.4, 0.22, 0.1)), Material(color=(0.1, 0.2, 0.45))
    ground(room, 12, (0.35, 0.33, 0.3))
    room.box((0, 2.65, 0), (5.2, 0.1, 5.2), white)  # ceiling
    room.box((0, 1.3, -2.6), (5.2, 2.6, 0.1), white)
    room.box((-2.6, 1.3, 0), (0.1, 2.6, 5.2), white)
    for x in (-1.3, 1.3):  # pillars of the open front
        room.box((x + 1.2, 1.3, 2.6), (0.15, 2.6, 0.15), white)
    room.box((0.3, 0.75, -0.3), (1.6, 0.06, 0.9), wood)
    for x in (-0.4, 1.0):
        for z in (-0.65, 0.05):
            room.box((x, 0.36, z), (0.07, 0.72, 0.07), wood)
            room.box((x, 0.45, 1.2 * z + 0.75 * np.sign(z + 0.3)), (0.4, 0.06, 0.4), cloth, 15)
            room.box((x, 0.21, 1.2 * z + 0.75 * np.sign(z + 0.3)), (0.1, 0.42, 0.1), wood)
    room.box((-2.2, 0.9, -1.6), (0.6, 1.8, 1.2), wood)
    room.ball((0.1, 0.93, -0.3), 0.15, Material("metal", (0.9, 0.9, 0.92), 0.3))
    room.ball((0.6, 0.9, -0.2), 0.12, Material(color=(0.7, 0.3, 0.05)))
    return room


def materials() -> Room:
    """The Cornell box's walls around metal, glass and lacquer."""
    room = Room("materials", eye=(0, 1, 3.9), target=(0, 1, 0), fov=39, depth=12)
    walls(room, lamp=0.35, glow=15.0)
    room.ball((-0.55, 0.38, -0.3), 0.38, Material("metal", (0.95, 0.65, 0.5), 0.4))
    room.ball((0.5, 0.38, -0.35), 0.38, Material("coated", (0.1, 0.15, 0.5), 0.5))
    room.ball((0.0, 0.3, 0.45), 0.3, Material("glass", (1, 1, 1), 0.0))
    return room


ROOMS = {room.name: room for room in (pair(), furnished(), cornell(), materials())}


def neutral(room: Room) -> dict:
    """The description in plain lists, for another process."""
    out = asdict(room) | {"sun": SUN}
    for part in out["parts"]:
        part["vertices"], part["faces"] = np.asarray(part["vertices"]).tolist(), np.asarray(part["faces"]).tolist()
    return out


def write_xml(room: Room, folder: Path, size: int) -> Path:
    """The scene file of one room, meshes beside it."""
    folder.mkdir(parents=True, exist_ok=True)
    text = [
        f"""<scene version="3.0.0"><integrator type="path"><integer name="max_depth" value="{room.depth}"/>
<integer name="rr_depth" value="4"/></integrator>
<sensor type="perspective"><float name="fov" value="{room.fov}"/><string name="fov_axis" value="x"/>
<transform name="to_world"><lookat origin="{numbers(room.eye)}" target="{numbers(room.target)}" up="0,1,0"/></transform>
<film type="hdrfilm"><integer name="width" value="{size}"/><integer name="height" value="{size}"/><rfilter type="box"/></film>
</sensor>"""
    ]
    if room.sky:
        text.append(
            f"""<emitter type="sunsky"><vector name="sun_direction" value="{numbers(SUN)}"/>
<float name="turbidity" value="3"/><transform name="to_world"><rotate x="1" angle="-90"/></transform></emitter>"""
        )
    for i, part in enumerate(room.parts):
        mesh = trimesh.Trimesh(part.vertices, part.faces, process=False)
        file = folder / f"{room.name.replace(' ', '_')}_{i}.obj"
        file.write_text(trimesh.exchange.obj.export_obj(mesh, include_normals=part.smooth))
        light = f'<emitter type="area"><rgb name="radiance" value="{numbers(3 * [part.glow])}"/></emitter>' if part.glow else ""
        text.append(
            f"""<shape type="obj"><string name="filename" value="{file.name}"/>
<boolean name="face_normals" value="{str(not part.smooth).lower()}"/>{bsdf(part.material)}{light}</shape>"""
        )
    path = folder / f"{room.name.replace(' ', '_')}.xml"
    path.write_text("\n".join([*text, "</scene>\n"]))
    return path


def numbers(values) -> str:
    return ",".join(f"{float(v):.6g}" for v in values)


def bsdf(m: Material) -> str:
    color, alpha = numbers(m.color), m.roughness**2
    if m.kind == "metal":
        return f"""<bsdf type="principled"><rgb name="base_color" value="{color}"/><float name="metallic" value="1"/>
<float name="roughness" value="{m.roughness}"/></bsdf>"""
    if m.kind == "glass":
        return '<bsdf type="dielectric"><float name="int_ior" value="1.5"/><float name="ext_ior" value="1"/></bsdf>'
    if m.kind == "coated":
        return f"""<bsdf type="roughplastic"><rgb name="diffuse_reflectance" value="{color}"/>
<float name="alpha" value="{alpha:.4f}"/></bsdf>"""
    return f'<bsdf type="diffuse"><rgb name="reflectance" value="{color}"/></bsdf>'
