"""Derivatives by place against finite differences and closed forms, in f64; and that they fail without boundary terms.

The differences use the same random numbers at both ends, and many samples, so that their own error is small.
"""

import numpy as np
import pytest

import irys_ti as it
from irys_ti import runtime
from irys_ti.scene import Camera, Integrator, Light, Material, Mesh, Scene, Sphere, constant, cube, rectangle
from irys_ti.scene.transform import look_at, rotate, scale, translate
from tests.helpers.scenes import FLAT, camera, disk_light
from tests.helpers.stage import moved, smooth_weight, stage, with_kinds
from tests.helpers.statistics import assert_z, mean_and_error, sample, z_scores

PIXELS = 16


def compare(scene, paths, step, spp=256, boundary_spp=None, fd_spp=1024, seeds=8, weight=None, precise=0.05, mixed=False):
    """z-test of every number of the gradients against central differences; both precise to a share of the largest.

    step: one number, or {path: step}. mixed: of each parameter one random mixture of its numbers, in their place.
    """
    weight = smooth_weight(PIXELS) if weight is None else weight

    def f(scene, seed):
        return float((weight * it.render(scene, fd_spp, seed)).sum())

    reverse = [it.backward(scene, weight, spp, 50 + k, paths, boundary_spp=boundary_spp) for k in range(seeds)]
    for path in paths:
        x, h = np.array([np.ravel(g[path]) for g in reverse]), step[path] if isinstance(step, dict) else step
        ways = np.eye(x.shape[1])
        if mixed:
            ways = np.random.default_rng(len(path)).standard_normal((1, x.shape[1]))
            ways /= np.linalg.norm(ways)
        size = np.abs(x.mean(0)).max()
        x = x @ ways.T
        fd = sample(lambda seed: [moved(scene, path, way, h, lambda s: f(s, seed)) for way in ways], range(seeds))  # noqa: B023
        mean, error = mean_and_error(x)
        fd_mean, fd_error = mean_and_error(fd)
        size = max(size, np.abs(fd_mean).max(), np.abs(mean).max())
        assert (np.hypot(error, fd_error) < precise * size).all(), f"{path}: too noisy to tell, {error} {fd_error} of {size}"
        # A central difference has an error of its own, of the order of the step squared.
        assert_z(x, fd_mean, np.hypot(fd_error, 0.004 * size), 4.5)


def fails_without_boundary(scene, path, expected, error, spp=256):
    """The same gradient without its boundary terms is not what is expected."""
    weight = smooth_weight(PIXELS)
    x = sample(lambda seed: np.ravel(it.backward(scene, weight, spp, seed, [path], boundary="off")[path]), range(4))
    assert np.abs(z_scores(x, expected, error)).max() > 5


# -- interior -------------------------------------------------------------------------------------------------


def ballroom(depth):
    """A camera inside a diffuse ball with a bulb and a spot: nothing hides anything."""
    bulb = Light("bulb", "point", {"intensity": constant(3.0)}, translate(0.4, -0.3, 0.5))
    toward = look_at([0.1, 0.3, 0.0], [0.4, 0.5, 1], [0, 1, 0])
    beam = Light("beam", "spot", {"intensity": constant(5.0), "cutoff_angle": 60.0, "beam_width": 5.0}, toward)
    scene = Scene(
        camera=camera([0.3, 0.2, -0.5], [0.5, 0.4, 1.0], 50, PIXELS),
        materials=[Material("wall", "diffuse", {"reflectance": constant(0.6)})],
        shapes=[Sphere(id="ball", material="wall", radius=2.0, center=np.array([0.1, 0, 0.2]), flip_normals=True)],
        lights=[bulb, beam],
        integrator=Integrator(depth, 100),
    )
    scene.shapes.append(rectangle(translate(0, -900, 0), id="card", material="wall"))
    return with_kinds(scene)


@pytest.mark.parametrize("depth", [pytest.param(2, marks=pytest.mark.slow), 4])
def test_inside_a_ball_everything_is_interior(depth, f64):
    """The first vertex slides along its ray, later ones ride; camera, centre and radius, at one and three bounces."""
    paths = ["ball.center", "ball.radius", "camera.position", "camera.rotation", "camera.principal_point"]
    steps = dict.fromkeys(paths, 2e-3) | {"camera.fov": 0.1}
    compare(ballroom(depth), list(steps), steps, 128, 1, 256, 5, precise=0.12, mixed=True)


def test_disk_light(f64):
    """E below a coaxial disk: dE/dR = 1.005310, dE/dh = -0.502655 at R = 1, h = 2; by pose and by vertices."""
    scene = with_kinds(disk_light(1.0, 2.0))
    weight = np.ones((4, 4, 3)) * FLAT * np.pi / 48
    x = [it.backward(scene, weight, 1024, seed, ["lamp.translation", "lamp.scale", "lamp.vertices"]) for seed in range(8)]
    out = np.asarray(scene.shapes[1].vertices) - [0, 2, 0]
    ways = {
        "height": ([g["lamp.translation"][1] for g in x], [g["lamp.vertices"][:, 1].sum() for g in x], -0.502655),
        "radius": ([g["lamp.scale"] for g in x], [(g["lamp.vertices"] * out).sum() for g in x], 1.005310),
    }
    for by_pose, by_vertices, expected in ways.values():
        # Rays start off the floor by 2^-15 of its size, which is 2e-4 of the height here.
        assert_z(np.array(by_pose), expected, 3e-4 * abs(expected), precise=1e-3)
        assert_z(np.array(by_vertices), expected, 3e-4 * abs(expected), precise=1e-3)


# -- outlines -------------------------------------------------------------------------------------------------


def shining(depth=1):
    """A ball, a box and a card, one behind the other, that shine and do not scatter."""
    shapes = [
        Sphere(id="ball", material="black", center=np.array([0.5, 0.2, 0.0]), radius=0.8),
        cube(translate(-0.3, -0.3, 1.6) @ rotate([1, 1, 0.3], 40) @ scale(0.5), id="box", material="black"),
        rectangle(translate(0.1, 0.6, -1.4) @ rotate([1, 0, 0.3], 160) @ scale(0.4), id="card", material="black"),
    ]
    for shape, radiance in zip(shapes, (2.0, 1.0, 3.0)):
        shape.light = Light(shape.id, "area", {"radiance": constant(radiance)})
    return with_kinds(
        Scene(
            camera=camera([0.3, 0.2, -4], [0.1, 0.0, 0], 50, PIXELS),
            materials=[Material("black", "diffuse", {"reflectance": constant(0.0)})],
            shapes=shapes,
            lights=[Light("sky", "constant", {"radiance": constant(0.5)})],
            integrator=Integrator(depth, 100),
        )
    )


def test_outlines_of_shapes_that_shine(f64):
    """Nothing but outlines changes this picture: a mesh's, a sphere's, one before the other, in every pose."""
    paths = ["ball.center", "ball.radius", "box.rotation", "card.translation"]
    compare(shining(), [*paths, "camera.position"], 0.02, 1, 128, 512, 4, precise=0.15)
    weight = smooth_weight(PIXELS)
    off = it.backward(shining(), weight, 16, 1, [*paths, "camera.position"], boundary="off")
    assert not any(np.any(g) for g in off.values())


def crossing():
    """Two triangles that shine and pass through each other, and a box halfway into one of them."""
    def triangle(to_world, id):
        v = np.array([[-1.2, -0.9, 0.0], [1.2, -0.9, 0.0], [0.0, 1.3, 0.0]]) @ to_world[:3, :3].T + to_world[:3, 3]
        return Mesh(id=id, material="black", vertices=v, faces=np.array([[0, 2, 1]]))

    shapes = [
        triangle(rotate([0, 1, 0.2], 50), "one"),
        triangle(translate(0.1, -0.2, 0.1) @ rotate([0.3, 1, 0], -40), "other"),
        cube(translate(0.5, 0.6, -0.3) @ rotate([1, 0.4, 0.3], 40) @ scale(0.3), id="box", material="black"),
    ]
    for shape, radiance in zip(shapes, (2.0, 1.0, 3.0)):
        shape.light = Light(shape.id, "area", {"radiance": constant(radiance)})
    scene = Scene(
        camera=camera([0.3, 0.2, -4], [0.1, 0.0, 0], 45, PIXELS),
        materials=[Material("black", "diffuse", {"reflectance": constant(0.0)})],
        shapes=shapes,
        lights=[Light("sky", "constant", {"radiance": constant(0.5)})],
        integrator=Integrator(1, 100),
        crossings=[("one", "other"), ("one", "box")],
    )
    return with_kinds(scene)


@pytest.mark.slow
def test_lines_where_parts_cross_by_vertices(f64):
    compare(crossing(), ["one.vertices"], 0.02, 1, 256, 2048, 8)


def test_lines_where_parts_cross(f64):
    """They move with both parts; undeclared, their part of the derivative is missing."""
    compare(crossing(), ["one.translation", "other.rotation", "box.translation"], 0.02, 1, 256, 1024, 8)
    weight, scene = smooth_weight(PIXELS), crossing()

    def slope(s, seed):
        return it.backward(s, weight, 1, seed, ["other.rotation"], boundary_spp=256)["other.rotation"]

    with_lines = sample(lambda seed: slope(scene, seed), range(4))
    scene = crossing()
    scene.crossings = []
    without = sample(lambda seed: slope(scene, seed), range(4))
    mean, error = mean_and_error(with_lines)
    assert np.abs(z_scores(without, mean, error)).max() > 8


def test_wrong_crossings_are_named():
    for pairs, text in ([("one", "one")], "two ids"), ([("one", "none")], "no shape"):
        scene = crossing()
        scene.crossings = pairs
        with pytest.raises(it.SceneError, match=text):
            it.render(scene, 1)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["tent", "gaussian"])
def test_outlines_under_other_filters(name, f64):
    scene = shining()
    scene.camera.film.filter = name
    compare(scene, ["card.translation", "ball.radius"], 0.02, 1, 128, 512, 6)


# -- shadows --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("light", ["lamp", *(pytest.param(x, marks=pytest.mark.slow) for x in ("bulb", "sun", "beam", "glow", "sky"))])
def test_shadows_of_every_light(light, f64):
    """A box and a ball move above a floor under one light: shading, outlines and shadows together."""
    scene, paths = stage(light), ["box.translation", "ball.center"]
    compare(scene, [*paths, "ball.radius"], 0.02, 128, 256, 512, 5, precise=0.3 if light == "sky" else 0.12)


def test_each_shadow_term_is_needed(f64):
    """Seen from above, a box's shadow under a bulb: without shadows the gradient is wrong, without outlines too."""
    scene, weight, step = stage("bulb", parts=["box"]), smooth_weight(PIXELS), 0.02

    def f(seed):
        return moved(scene, "box.translation", 2, step, lambda s: float((weight * it.render(s, 1024, seed)).sum()))

    mean, error = mean_and_error(sample(f, range(6)))
    found = {
        b: sample(
            lambda seed: it.backward(scene, weight, 64, seed, ["box.translation"], boundary=b, boundary_spp=64)["box.translation"][2],  # noqa: B023
            range(6),
        )
        for b in ("all", "outlines", "shadows", "off")
    }  # fmt: skip
    z = {b: float(np.abs(z_scores(x, mean, error))) for b, x in found.items()}
    assert z["all"] < 4 and min(z["outlines"], z["off"]) > 5 and z["shadows"] > 3, z


@pytest.mark.slow
def test_moving_receivers_lights_and_the_camera(f64):
    """Shadows move with what they fall on, with the light, and on the film with the camera."""
    scene = stage("lamp", parts=["box"])
    compare(scene, ["lamp.translation", "floor.translation", "camera.position"], 0.02, 128, 256, 512, 6, precise=0.12)


@pytest.mark.slow
def test_a_ball_that_shines_moves(f64):
    compare(stage("glow", parts=["box"]), ["glow.center"], 0.02, 128, 256, 512, 6, precise=0.12)


def bounce():
    """A spot lights a wall, which lights the floor that the camera sees; a box and a ball between them are not seen."""
    toward = look_at([0.5, 2.2, 0], [-1, 0.9, 0], [0, 1, 0])
    beam = Light("beam", "spot", {"intensity": constant(20.0), "cutoff_angle": 30.0, "beam_width": 25.0}, toward)
    return with_kinds(
        Scene(
            camera=camera([0.6, 1.6, 0.01], [0.6, 0, 0], 40, PIXELS),
            materials=[Material("grey", "diffuse", {"reflectance": constant(0.8)}), Material("black", "diffuse", {"reflectance": 0.0})],
            shapes=[
                rectangle(rotate([1, 0, 0], -90) @ scale(3), id="floor", material="grey"),
                rectangle(translate(-1.0, 1.0, 0) @ rotate([0, 1, 0], 90), id="wall", material="grey"),
                cube(translate(-0.2, 0.5, 0.0) @ rotate([0, 0, 1], 20) @ scale(0.05, 0.2, 0.3), id="box", material="black"),
                Sphere(id="ball", material="black", center=np.array([-0.25, 0.2, 0.6]), radius=0.15),
            ],
            lights=[beam],
            integrator=Integrator(3, 100),
        )
    )  # fmt: skip


def test_shadows_in_the_light_of_a_wall(f64):
    """Edges seen in one bounce: a line's and a sphere's; without that term there is nothing at all."""
    scene, weight = bounce(), smooth_weight(PIXELS)
    paths = {"box.translation": 1, "ball.radius": 0}
    more = {"params": list(paths), "boundary_spp": 2048}
    x = [it.backward(scene, weight, 1, seed, **more) for seed in range(8)]
    for path, component in paths.items():
        fd = sample(
            lambda seed: moved(scene, path, component, 0.02, lambda s: float((weight * it.render(s, 1024, seed)).sum())),  # noqa: B023
            range(6),
        )
        mean, error = mean_and_error(fd)
        found = np.array([np.ravel(g[path])[component] for g in x])
        assert mean_and_error(found)[1] < 0.08 * abs(mean)
        assert_z(found, mean, np.hypot(error, 0.01 * mean))
    direct = it.backward(scene, weight, 16, 1, list(paths), boundary=("outlines", "shadows"))
    assert not any(np.abs(g).max() > 1e-9 for g in direct.values())


def test_half_plane_shadow(f64):
    """dE/dx of the edge of a half plane over a point under a unit sky: (pi / 2) z^2 / (u^2 + z^2)^1.5 = 1.12397."""
    far = 30.0  # of the plane, whose other edges then count for 0.1 %
    scene = Scene(
        camera=camera([0, 1e-2, 0], [0, 0, 0], 1e-3, 4, up=[0, 0, 1], near_clip=1e-4),
        materials=[Material("white", "diffuse", {"reflectance": constant(1.0)}), Material("black", "diffuse", {"reflectance": 0.0})],
        shapes=[
            rectangle(rotate([1, 0, 0], -90), id="floor", material="white"),
            rectangle(translate(0.5 + far, 1, 0) @ rotate([1, 0, 0], -90) @ scale(far), id="plane", material="black"),
        ],
        lights=[Light("sky", "constant", {"radiance": constant(1.0)})],
        integrator=Integrator(2, 100),
    )  # fmt: skip
    scene = with_kinds(scene)
    weight = np.ones((4, 4, 3)) * FLAT * np.pi / 48
    x = sample(
        lambda seed: it.backward(scene, weight, 8, seed, ["plane.translation"], boundary_spp=16384)["plane.translation"][0],
        range(12),
    )
    assert_z(x, 1.12397, 2e-3, precise=0.03)
    off = it.backward(scene, weight, 64, 1, ["plane.translation"], boundary="off")["plane.translation"]
    assert np.abs(off).max() < 1e-9


# -- reported by users of other renderers ----------------------------------------------------------------------


def lone_cube(duplicate=False):
    """A diffuse cube under a constant sky, seen from above a corner."""
    box = cube(rotate([1, 1, 0.3], 35) @ scale(0.5), id="box", material="red")
    if not duplicate:  # welded: 8 vertices
        _, first, inverse = np.unique(np.round(box.vertices, 9), axis=0, return_index=True, return_inverse=True)
        box = Mesh(id="box", material="red", vertices=box.vertices[first], faces=inverse.reshape(-1)[box.faces].astype(np.int32))
        box.origin = np.zeros(3)
    return with_kinds(
        Scene(
            camera=camera([0.4, 0.9, 3.0], [0, 0, 0], 35, PIXELS),
            materials=[Material("red", "diffuse", {"reflectance": constant(0.5)})],
            shapes=[box],
            lights=[Light("sky", "constant", {"radiance": constant(1.0)})],
            integrator=Integrator(2, 100),
        )
    )


def test_a_cube_under_a_constant_sky_changes_at_its_outline_alone(f64):
    """All faces are equally bright: creases between visible faces add nothing, shared and coplanar edges neither."""
    scene = lone_cube()
    weight = np.zeros((PIXELS, PIXELS, 3))
    weight[7:9, 7:9] = 1.0  # inside the outline
    # Outlines take half of boundary_spp: 64 samples a pixel.
    x = sample(lambda seed: it.backward(scene, weight, 64, seed, ["box.translation"], boundary_spp=128)["box.translation"], range(8))
    assert_z(x, 0.0)
    assert np.abs(x).max() < 0.05 * weight.sum()
    compare(scene, ["box.translation"], 0.02, 32, 128, 512, 5)
    fails_without_boundary(scene, "box.translation", mean_and_error(outline_of(scene))[0], 1e-9)


def outline_of(scene):
    weight = smooth_weight(PIXELS)
    return sample(lambda seed: it.backward(scene, weight, 64, seed, ["box.translation"], boundary_spp=64)["box.translation"], range(6))


def test_a_mesh_torn_along_its_seams_has_the_same_gradient(f64):
    """A seam is no edge: both have the same outlines and the same shadows."""
    weight, path = smooth_weight(PIXELS), "box.translation"
    found = []
    for duplicate in (False, True):
        scene = lone_cube(duplicate)
        found.append(sample(lambda s: it.backward(scene, weight, 32, s, [path], boundary_spp=256)[path], range(8)))  # noqa: B023
    mean, error = mean_and_error(found[0])
    assert (error < 0.02 * np.abs(mean).max()).all()
    assert_z(found[1], mean, error)


def test_odd_geometry_gives_finite_gradients(f64):
    """A triangle seen edge-on, one without area, a normal of length zero."""
    scene = stage("lamp", "sky", "bulb", depth=3)
    eye = np.array([0.2, 2.6, 3.0])
    edge_on = np.array([eye * 0.5, eye * 0.6, eye * 0.5 + [0.1, 0.2, 0.0]])  # its plane holds the eye
    scene.shapes.append(Mesh(id="blade", material="red", vertices=edge_on, faces=np.array([[0, 1, 2]], np.int32)))
    point = np.tile([[0.0, 0.5, 0.5]], (3, 1))
    scene.shapes.append(Mesh(id="point", material="red", vertices=point, faces=np.array([[0, 1, 2]], np.int32)))
    line = np.array([[0.3, 0.2, 0.9], [0.5, 0.2, 0.9], [0.7, 0.2, 0.9]])
    scene.shapes.append(Mesh(id="line", material="red", vertices=line, faces=np.array([[0, 1, 2]], np.int32)))
    flat = Mesh(id="flat", material="red", vertices=line + [[0, 0.1, 0], [0, 0, 0.2], [0, 0.2, 0]], faces=np.array([[0, 1, 2]], np.int32))
    flat.normals = np.zeros((3, 3))
    scene.shapes.append(flat)
    paths = ["blade.vertices", "point.vertices", "line.vertices", "flat.translation", "camera.position", "blade.rotation"]
    found = it.backward(scene, smooth_weight(PIXELS), 16, 1, paths)
    assert all(np.isfinite(g).all() for g in found.values())
    assert np.any(found["flat.translation"]) and np.any(found["camera.position"])


@pytest.mark.slow
def test_the_bits_do_not_depend_on_the_threads(data):
    """Gradients with boundary terms: twice the same, on one thread and on two."""
    out = []
    for threads in (1, 2, 2):
        runtime.init("cpu", "f64", threads)
        found = it.backward(stage("lamp", depth=3), smooth_weight(PIXELS), 8, 1, ["box.translation", "box.vertices", "camera.position"])
        out.append(np.concatenate([np.ravel(g) for g in found.values()]))
    assert np.any(out[0]) and np.array_equal(out[0], out[1]) and np.array_equal(out[1], out[2])


def test_vertices_and_poses_tell_the_same(f64):
    """The sum over all vertices is the translation's gradient, their moments the rotation's and the scale's."""
    scene = stage("lamp", depth=3)
    found = it.backward(scene, smooth_weight(PIXELS), 16, 1, ["box.vertices", "box.translation", "box.rotation", "box.scale"])
    v, g = np.asarray(scene.shapes[3].vertices), found["box.vertices"]
    arm = v - scene.shapes[3].origin
    assert np.allclose(g.sum(0), found["box.translation"], rtol=1e-4, atol=1e-6)
    assert np.allclose(np.cross(arm, g).sum(0), found["box.rotation"], rtol=1e-4, atol=1e-6)
    assert np.isclose((arm * g).sum(), found["box.scale"], rtol=1e-4)


@pytest.mark.slow
def test_a_fit_finds_a_pose(f32):
    """Two halves, boundary terms and Adam: a box walks back to where its picture was taken."""
    scene = stage("lamp", "sky", parts=["box"], resolution=24)
    target = np.mean([it.render(scene, 64, 900 + k) for k in range(4)], 0)
    p = it.parameters(scene)
    p["box.translation"] = [0.12, 0.0, -0.1]
    found = it.fit(scene, target, ["box.translation"], steps=40, spp=8, lr=0.02)
    assert np.abs(found.values["box.translation"]).max() < 0.02
    assert isinstance(scene.camera, Camera)
