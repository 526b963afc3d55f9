"""A scene's media: their records, and what the camera is inside of."""

from __future__ import annotations

import numpy as np

from irys_ti.errors import SceneError
from irys_ti.kernels import layout
from irys_ti.kernels.config import AIMED, D_DENSITY, D_MEDIA, D_WALKS, GLOWING, GRIDS, MEDIA, PRIMAL, SPARSE, WALKS
from irys_ti.kernels.walk_terms import terms_of
from irys_ti.scene import Medium, Mesh, Scene, Shape, Sphere, Splats
from irys_ti.scene.sparse import SparseGrid
from irys_ti.scene.transform import points_to

from . import grids

AIMING = True  # off: by free flight alone (benchmarks)
DEEPEST = 8  # media that a point may be inside of (kernels/media_stack.py)
SHAPING = ("sigma_t", "scale", "emission", "density")  # parameters whose derivative is the walk's, not the phase function's


class MediaTable:
    """Media of a scene in record order, then what its materials put behind their surfaces (``walked``).

    ``used``: whether paths meet media, or boundaries of none, at all.
    """

    def __init__(self, scene: Scene, geometry):
        self.geometry = geometry
        self.media: list[Medium] = list(scene.media)
        nulls = {m.id for m in scene.materials if m.kind == "null"}
        inside = any(s.interior or s.exterior for s in scene.shapes)
        self.given = inside or scene.medium is not None or any(s.material in nulls for s in scene.shapes)
        self.world = _world(scene)
        self.derived: set[int] = set()  # ids of media whose extinction, emission or density is asked for
        self.phased: set[int] = set()  # ids of media whose albedo is
        self.walked: list = []
        self._identity = self._fingerprint(scene)
        if self.given and any(isinstance(s, Splats) for s in scene.shapes):
            raise SceneError(scene.file, "it has both media and splats", "render them apart: this is not supported yet")

    @staticmethod
    def _fingerprint(scene: Scene):
        shapes = (_shape(m.values.get("density")) for m in scene.media)
        return scene.medium, tuple((id(m), m.id, m.kind, m.phase, m.priority, n) for m, n in zip(scene.media, shapes))

    def changed(self, scene: Scene) -> bool:
        """Whether media were added, removed or made others since."""
        return self._fingerprint(scene) != self._identity

    def lay_out(self, h, reals, ints, first: dict, first_material: int, device) -> None:
        """Reserve records. first: id(medium) -> its first value; first_material: of the phase functions' materials."""
        scene = device.scene()
        self.walked = [m for m in scene.materials if hasattr(device.versions[id(m)][1], "interior")]
        n = len(self.media)
        if n + len(self.walked) > layout.VACUUM - 1:
            raise SceneError(scene.file, f"{n + len(self.walked)} media and materials with an inside", "at most 254 fit one scene")
        self.geometry.insides = {m.id: 1 + n + i for i, m in enumerate(self.walked)}
        self.used = self.given or bool(self.walked)
        records = np.zeros((max(1, n + len(self.walked)), layout.MEDIUM_STRIDE), np.int64)
        for i, m in enumerate(self.walked):
            records[n + i, layout.MEDIUM_MATERIAL] = scene.materials.index(m)
        for i, m in enumerate(self.media):
            r = records[i]
            r[layout.MEDIUM_MATERIAL] = first_material + i
            r[layout.MEDIUM_VALUES] = device.by_path[f"{m.id}.sigma_t"].index
            r[layout.MEDIUM_PRIORITY] = m.priority
            if m.kind == "grid":
                density = m.values["density"]
                shape = density.size if isinstance(density, SparseGrid) else np.shape(density)
                if isinstance(density, SparseGrid):
                    r[layout.MEDIUM_TABLE] = ints.add(density.table())
                r[layout.MEDIUM_GRID] = 1
                r[layout.MEDIUM_SIZE : layout.MEDIUM_SIZE + 3] = shape[::-1]
                r[layout.MEDIUM_REALS] = reals.add(np.zeros(layout.GRID_MAJORANTS + int(np.prod(grids.cells(shape)))))
        self._grids: dict = {}  # what the grids' numbers were made from
        self.records = records
        self.records_at = h[layout.H_MEDIA] = ints.add(records)
        self.inside_at = h[layout.H_INSIDE] = ints.add(np.zeros(2))
        self.aims_at = h[layout.H_AIMS] = reals.add(np.zeros(1 + layout.MOST_AIMS * layout.AIM_STRIDE if self.media else 0))

    def want(self, device, paths) -> None:
        """Note which media derivatives are asked for."""
        self.derived, self.phased = set(), set()
        for m in self.walked:
            if any(p.startswith(f"{m.id}.") and p[len(m.id) + 1 :] in self._terms_of(m, device) for p in paths):
                self.derived.add(id(m))
        for m in self.media:
            names = {p[len(m.id) + 1 :] for p in paths if p.startswith(f"{m.id}.")}
            if names & set(SHAPING):
                self.derived.add(id(m))
            if "albedo" in names:
                self.phased.add(id(m))
        self.write(device)

    def write(self, device) -> None:
        """Records' flags from the present values, and the camera's media."""
        for i, m in enumerate(self.media):
            flags = layout.DERIVED if id(m) in self.derived else 0
            if id(m) in self.phased or device.by_path[f"{m.id}.albedo"].encoded.host.max() > 0:
                flags |= layout.SCATTERS
            if self._glows(m, device):
                flags |= layout.EMITS
            self.records[i, layout.MEDIUM_FLAGS] = flags
            if m.kind == "grid":
                self._write_grid(i, m, device)
        for i, m in enumerate(self.walked):
            flags = layout.WALKED | (layout.DERIVED if id(m) in self.derived else 0)
            flags |= layout.SCATTERS if self._scatters(m, device) else 0
            self.records[len(self.media) + i, layout.MEDIUM_FLAGS] = flags
        if self._aimed(device):
            aims = device.lights.aims()
            device.mirror_reals[self.aims_at : self.aims_at + 1 + aims.size] = np.r_[len(aims), aims.reshape(-1)]
        at = self.records_at
        device.mirror_ints[at : at + self.records.size] = self.records.reshape(-1)
        device.mirror_ints[self.inside_at : self.inside_at + 2] = self._inside(device.scene())

    def _write_grid(self, i: int, m: Medium, device) -> None:
        """A grid's place and majorants, where they changed."""
        host, placed = device.by_path[f"{m.id}.density"].encoded.host, np.array(m.to_world, np.float64)
        if i in self._grids and self._grids[i][0] is host and np.array_equal(self._grids[i][1], placed):
            return
        self._grids[i] = host, placed
        density = m.values["density"]
        numbers, cells = grids.place(density if isinstance(density, SparseGrid) else host, placed)
        at = self.records[i, layout.MEDIUM_REALS]
        device.mirror_reals[at : at + numbers.size] = numbers
        self.records[i, layout.MEDIUM_CELLS : layout.MEDIUM_CELLS + 3] = cells

    @staticmethod
    def _terms_of(m, device) -> set[str]:
        """Names of a material's parameters that its inside depends on."""
        return set(terms_of(device.versions[id(m)][0]))

    def _scatters(self, m, device) -> bool:
        """Whether a material's inside scatters, or its scattering is asked for."""
        if "random_walk" in device.versions[id(m)][1].lobes:
            return True
        path = f"{m.id}.transmission_scatter"
        return path in device.wanted or bool(device.by_path[path].encoded.host.any())

    def _glows(self, m: Medium, device) -> bool:
        """Whether a medium emits, or its emission is asked for."""
        return f"{m.id}.emission" in device.wanted or bool(device.by_path[f"{m.id}.emission"].encoded.host.any())

    def _aimed(self, device) -> bool:
        """Whether scatterings may be drawn near to lights: some media are homogeneous, and some lights stand at a place."""
        return AIMING and any(m.kind == "homogeneous" for m in self.media) and device.lights.stand

    def bits(self, mode: str, device) -> int:
        """Config.media for a mode."""
        if not self.used:
            return 0
        density = any(f"{m.id}.density" in device.wanted for m in self.media)
        glowing = any(self._glows(m, device) for m in self.media)
        grid = any(m.kind == "grid" for m in self.media)
        bits = MEDIA | (GRIDS if grid else 0) | (GLOWING if glowing else 0) | (WALKS if self.walked else 0)
        bits |= SPARSE if any(isinstance(m.values.get("density"), SparseGrid) for m in self.media) else 0
        bits |= AIMED if self._aimed(device) else 0
        if mode != PRIMAL and self.derived & {id(m) for m in self.media}:
            bits |= D_MEDIA | (D_DENSITY if density else 0)
        if mode != PRIMAL and self.derived & {id(m) for m in self.walked}:
            bits |= D_WALKS
        return bits

    def _inside(self, scene: Scene) -> list[int]:
        """The packed stack of media around the camera, two numbers as i32."""
        stack = [self._code(self.world)] if self.world is not None else []
        stack += [self.geometry.inside_of(s) for s in self._around(scene)]
        words = np.zeros(8, np.uint8)
        top = stack[-DEEPEST:][::-1]
        words[: len(top)] = top
        return [int(x) for x in words.view("<u4").astype(np.uint32).view(np.int32)]

    def _code(self, id: str | None) -> int:
        return layout.VACUUM if id is None else 1 + self.geometry.medium_index[id]

    def _around(self, scene: Scene) -> list[Shape]:
        """Shapes with an inside that the camera is in, the largest first."""
        eye = np.asarray(scene.camera.placed(), np.float64)[:3, 3]
        found = []
        for s in self.geometry.placed:
            if self.geometry.inside_of(s) == 0:
                continue
            if s.group is None:
                places = [eye]
            else:
                ways = [np.linalg.inv(i.placed()) for i in self.geometry.instances if i.group == s.group]
                places = [points_to(m, eye[None])[0] for m in ways]
            found += [(_size(s), s) for p in places if _is_inside(s, p)]
        return [s for _, s in sorted(found, key=lambda pair: -pair[0])]


def _shape(density):
    """What tells the layout of a grid's densities; of a sparse one also which blocks are kept."""
    return (density.size, density.corners.tobytes()) if isinstance(density, SparseGrid) else np.shape(density)


def _world(scene: Scene) -> str | None:
    """The medium around everything: the one that the scene names, else an exterior that is no shape's interior."""
    inner = {s.interior for s in scene.shapes}
    outer = {s.exterior for s in scene.shapes if s.exterior is not None} - inner
    if scene.medium is not None:
        return scene.medium
    if len(outer) > 1:
        raise SceneError(scene.file, f"exteriors {', '.join(sorted(outer))} fill the same world", "name one as Scene.medium")
    return next(iter(outer), None)


def _size(s: Shape) -> float:
    if isinstance(s, Sphere):
        return 2.0 * s.radius
    return float(np.linalg.norm(np.ptp(np.asarray(s.vertices), axis=0))) if isinstance(s, Mesh) else 0.0


def _is_inside(s: Shape, p: np.ndarray) -> bool:
    """Whether a point lies behind a closed surface; a mesh by its winding number (van Oosterom and Strackee 1983)."""
    within = False
    if isinstance(s, Sphere):
        within = bool(np.linalg.norm(p - s.center) < s.radius)
    elif isinstance(s, Mesh):
        a, b, c = (np.asarray(s.vertices, np.float64)[np.asarray(s.faces)] - p).transpose(1, 0, 2)
        la, lb, lc = (np.linalg.norm(x, axis=1) for x in (a, b, c))
        volume = np.einsum("ij,ij->i", a, np.cross(b, c))
        dots = [np.einsum("ij,ij->i", x, y) * z for x, y, z in ((a, b, lc), (b, c, la), (c, a, lb))]
        angle = 2.0 * np.arctan2(volume, la * lb * lc + sum(dots)).sum()
        within = bool(abs(angle) > 2.0 * np.pi)
    return within != s.flip_normals
