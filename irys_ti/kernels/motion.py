"""What moving things do to a path: the adjoint of one vertex by where its neighbours and itself are (decision D7).

Material form: the first vertex stays on its camera ray and slides along the surface; every later one rides on its
surface, so that the factor that turns solid angle into the surface's own measure, |N . (a - b)| / |a - b|^3 with N the
surface's area vector, has a derivative, while densities, MIS weights and roulette do not. Directions to an
environment stay fixed. The adjoint of a vertex consists of

- g: by its position, the material point moving;
- turn: by a rotation of its shading frame (a torque, about any point);
- area: by its area vector N over |N|.

A rigid mover adds them up to a force, a torque about its origin, and the logarithm of its scale; a mesh spreads them
over a triangle's corners, a sphere over its centre and radius, a curve over the control points of its piece.
"""

from irys_ti.kernels.accumulate import add_exact
from irys_ti.kernels.adjoint import NEXT, around_bsdf
from irys_ti.kernels.bvh import INSTANCE
from irys_ti.kernels.bvh.instance import INSTANCE_REALS, TO_OBJECT, rotate
from irys_ti.kernels.emitter import light_record, sample_shape, select_entry, to_light_frame
from irys_ti.kernels.following import FOLLOWERS, carried, following, near_reach
from irys_ti.kernels.frame import affine_transposed, to_world
from irys_ti.kernels.geometry import curve, has_curves, kind_index, mesh, sphere, tube
from irys_ti.kernels.layout import (
    CAMERA_TAN,
    CAMERA_TO_WORLD,
    FLAG_NORMALS,
    H_CAMERA,
    H_ENTRIES,
    H_MOVERS,
    H_N_INSTANCES,
    H_N_SHAPES,
    H_SHAPES,
    LIGHT_KIND,
    LIGHT_N,
    LIGHT_REALS,
    LIGHT_SHAPE,
    LIGHT_VALUES,
    MOVER_CENTER,
    MOVER_RADIUS,
    MOVER_REALS,
    MOVER_ROTATION,
    MOVER_SCALE,
    MOVER_STRIDE,
    MOVER_TRANSLATION,
    MOVER_UNIT,
    MOVER_VERTICES,
    MOVER_WANTED,
    RECORD_STRIDE,
    RECORD_WEIGHT,
    SHAPE_FIRST_PRIM,
    SHAPE_FLAGS,
    SHAPE_KIND,
    SHAPE_NORMALS,
    SHAPE_REALS,
    SHAPE_STRIDE,
)
from irys_ti.kernels.light import LIGHTS
from irys_ti.kernels.shading import emitted_turn, eval_bsdf_turn, lookup_rows
from irys_ti.kernels.surface import offset_point
from irys_ti.runtime import ti

# Rows of ``track``, which a path carries from vertex to vertex: the vertices before, the last one first, and what the last
# one's BSDF wants of the direction to the next (times what the path brings from there). PREV_W: that, how far it
# follows, and the distance at which following ends.
PREV_P, PREV_N, PREV_NS, PREV_D, PREV_WO, PREV_W, TRACK_ROWS = range(7)
PREV_SHAPE, PREV_PRIM, PREV_INST, TRACK_INTS = range(4)
REMEMBERED = FOLLOWERS  # vertices
ROWS = 8  # of the derivatives of one mover: translation, rotation, scale, centre, radius, a triangle's corners
FIRST_CORNER = 5


def track_sizes(config) -> tuple[int, int]:
    """Rows of three reals, and integers, that a path carries: few where no derivative by place is asked for."""
    return (REMEMBERED * TRACK_ROWS, REMEMBERED * TRACK_INTS) if config.motion else (1, 1)


@ti.func
def row(m: ti.template(), i):
    """A row of a matrix as a vector."""
    return ti.Vector([m[i, 0], m[i, 1], m[i, 2]])


@ti.func
def set_row(m: ti.template(), i, v):
    for k in ti.static(range(3)):
        m[i, k] = v[k]


@ti.func
def sideways(g, w, distance):
    """Adjoint of a point, from that of the unit direction w to it."""
    return (g - w * w.dot(g)) / distance


@ti.func
def no_vector():
    return ti.Vector([0.0, 0.0, 0.0])


@ti.func
def no_vector4():
    return ti.Vector([0.0, 0.0, 0.0, 0.0])


@ti.func
def mover_of(ints: ti.template(), shape, inst):
    """The record of what carries a surface: its shape, or the instance it is seen through."""
    number = (shape - ints[H_SHAPES]) // SHAPE_STRIDE
    if inst >= 0:
        number = ints[H_N_SHAPES] + inst
    return ints[H_MOVERS] + number * MOVER_STRIDE


@ti.func
def camera_mover(ints: ti.template()):
    return ints[H_MOVERS] + (ints[H_N_SHAPES] + ints[H_N_INSTANCES]) * MOVER_STRIDE


@ti.func
def light_mover(ints: ti.template(), i_light):
    """The record of what carries a light without a shape: itself."""
    return camera_mover(ints) + (1 + i_light) * MOVER_STRIDE


def standing(config) -> bool:
    """Whether there are lights of a kind that is moved by itself."""
    return any(name in ("point", "spot", "directional") for _, name in config.lights)


@ti.func
def adjoint_of_motion(
    reals: ti.template(), ints: ti.template(), blocks: ti.template(), record: ti.template(), acc: ti.template(),
    track: ti.template(), track_of: ti.template(), lane, depth, on_surface, shape, prim, inst, material_kind, p, ng, ns,
    s, b, flip, d, rows: ti.template(), wi, wo_of: ti.template(), f: ti.template(), delta, lit, light_of, d_light, u,
    radius, lambdas, T, L, L_low, L_sampled, alone, replica, light_rows: ti.template(), light_up: ti.template(),
    config: ti.template(),
):  # fmt: skip
    """Derivatives of one vertex by where things are, into the accumulators; then remember the vertex for the next.

    Called in the replay at every vertex, before the throughput takes the vertex's own factor up.
    """
    here_g, here_turn, here_area, here_ride = no_vector(), no_vector(), no_vector(), no_vector()
    follows = 0.0
    prev_g, gaze = no_vector(), no_vector()
    light_p, light_n, light_g, light_area = no_vector(), ti.Vector([0.0, 0.0, 1.0]), no_vector(), no_vector()
    light_shape, light_prim = -1, -1
    i_standing, light_turn = -1, no_vector()
    met = prim >= 0
    n_here = ng
    if ti.static(has_curves(config)):  # which tell by its length how far off rays start
        n_here = ng.normalized()

    # --- the way here from the vertex before: its direction there, and the geometry factor
    back = row(track, PREV_P) - p
    distance = back.norm()
    if depth > 0 and met and distance > 0.0:
        weight, cosine = track[PREV_W, 0], n_here.dot(back)
        follows, slope = following(ints, shape, distance, track[PREV_W, 2], depth)
        g = sideways(row(track, PREV_WO), -back / distance, distance) + 3.0 * weight * back / (distance * distance)
        if cosine != 0.0:
            g -= n_here * (weight / cosine)
            here_area = back * (weight * (1.0 - follows) / cosine)
        g *= 1.0 - follows
        if cosine != 0.0:
            g += (back / distance - n_here * (distance / cosine)) * (weight * slope)
        here_ride = g
        prev_g -= g

    # --- the BSDF of this vertex: its frame, the direction it was met from, the two it was asked for
    next_wo, next_weight = no_vector(), 0.0
    if on_surface == 1:
        d_wi = no_vector()
        for way in range(2):
            if way == NEXT or lit == 1:
                up = around_bsdf(record, lane, way, T, L, L_low, L_sampled, f, alone)
                weight = 0.0
                for k in ti.static(range(4)):
                    up[k] *= record[lane * RECORD_STRIDE + RECORD_WEIGHT + k]
                    weight += up[k] * f[way, k]
                w = ti.Vector([wo_of[way, 0], wo_of[way, 1], wo_of[way, 2]])
                local_wi, local_wo = eval_bsdf_turn(
                    material_kind, rows, wi, w, ti.select(way == NEXT, delta, 0), up, lambdas, config
                )
                local_wi[2] *= flip
                local_wo[2] *= flip
                w[2] *= flip
                wo_world, d_wo = to_world(w, s, b, ns), to_world(local_wo, s, b, ns)
                d_wi += to_world(local_wi, s, b, ns)
                here_turn -= wo_world.cross(d_wo)
                if way == NEXT:
                    next_wo, next_weight = d_wo, weight
                else:
                    # --- the sampled light: rides on its shape, or stands still
                    i_light = light_of[1]
                    light = light_record(ints, i_light)
                    for index, name in ti.static(config.lights):
                        if ints[light + LIGHT_KIND] == ti.static(index):
                            if ti.static(LIGHTS[name].CLASS == "area"):
                                entry, pmf = select_entry(reals, ints, u[4])
                                light_prim = ints[ints[H_ENTRIES] + 2 * entry + 1]
                                light_shape = ints[light + LIGHT_SHAPE]
                                origin = offset_point(p, ng, -d, radius)
                                light_p, light_n, light_uv, light_pdf = sample_shape(
                                    reals, ints, light_shape, light_prim, origin, ti.Vector([u[0], u[1]]), config
                                )
                                away = p - light_p
                                reach = away.norm()
                                g = sideways(d_wo, -away / reach, reach) + 3.0 * weight * away / (reach * reach)
                                facing = light_n.dot(away)
                                if facing != 0.0:
                                    g -= light_n * (weight / facing)
                                    light_area = away * (weight / facing)
                                light_g += g
                                here_g -= g
                            if ti.static(name in ("point", "spot")):
                                to_light = standing_at(reals, ints, light) - p
                                reach = to_light.norm()
                                lookup_rows(
                                    reals, reals, ints, ints[light + LIGHT_VALUES], ints[light + LIGHT_N], lambdas,
                                    ti.Vector([0.0, 0.0]), light_rows, config, False,
                                )  # fmt: skip
                                up_light = no_vector4()
                                for k in ti.static(range(4)):
                                    up_light[k] = light_up[1, k] * record[lane * RECORD_STRIDE + RECORD_WEIGHT + k]
                                d_emit = emitted_turn(
                                    ints[light + LIGHT_KIND], light_rows, to_light_frame(reals, ints, i_light, to_light / reach),
                                    up_light, config,
                                )  # fmt: skip
                                d_emit = affine_transposed(reals, ints[light + LIGHT_REALS], d_emit)
                                g = sideways(d_wo - d_emit, to_light / reach, reach)
                                g -= 2.0 * weight * to_light / (reach * reach)
                                here_g -= g
                                i_standing, light_g, light_turn = i_light, g, (to_light / reach).cross(d_emit)
                            if ti.static(name == "directional"):
                                i_standing, light_turn = i_light, wo_world.cross(d_wo)
        here_turn -= (-d).cross(d_wi)
        if depth > 0:
            if distance > 0.0:
                g = sideways(d_wi, back / distance, distance)
                prev_g += g
                here_g -= g
        else:
            gaze = d_wi

    # --- deposits: a light that stands alone; the vertex before, this one, the light's shape
    if ti.static(standing(config)):
        if i_standing >= 0:
            deposit_standing(reals, ints, acc, replica, i_standing, light_g, light_turn)
    chain_g = no_vector()  # what a vertex hands on to the one before, which it follows
    for turn in range(2 + REMEMBERED):
        # The light's shape, this vertex, then the ones before while there is something left for them.
        slot = (turn - 2) * TRACK_ROWS
        has = light_shape >= 0
        if turn > 0:
            has = met and (turn == 1 or (depth >= turn - 1 and (turn == 2 or chain_g.norm_sqr() > 0.0)))
        if has:
            at_shape, at_prim, at_inst = shape, prim, inst
            at, n, n_s, first, ray, at_w = p, n_here, ns, ti.select(depth == 0, 1, 0), d, follows
            g, ride, spin, area, look = here_g, here_ride, here_turn, here_area, gaze
            if turn == 0:
                at_shape, at_prim, at_inst, first, at_w = light_shape, light_prim, -1, 0, 0.0
                at, n, n_s, g, ride, spin, area = light_p, light_n, light_n, light_g, no_vector(), no_vector(), light_area
            if turn > 1:
                of = (turn - 2) * TRACK_INTS
                at_shape, at_prim, at_inst = track_of[of + PREV_SHAPE], track_of[of + PREV_PRIM], track_of[of + PREV_INST]
                at, n, n_s = row(track, slot + PREV_P), row(track, slot + PREV_N), row(track, slot + PREV_NS)
                ray, at_w, first = row(track, slot + PREV_D), track[slot + PREV_W, 1], ti.select(depth == turn - 1, 1, 0)
                g, ride, spin, area, look = chain_g, no_vector(), no_vector(), no_vector(), no_vector()
                if turn == 2:
                    g += prev_g
            chain_g = deposit_vertex(
                reals, ints, blocks, acc, replica, at_shape, at_prim, at_inst, at, n, n_s, g, ride, spin, area, first, ray, look,
                at_w, config,
            )  # fmt: skip

    for k in range((REMEMBERED - 1) * TRACK_ROWS):
        i = REMEMBERED * TRACK_ROWS - 1 - k
        for j in ti.static(range(3)):
            track[i, j] = track[i - TRACK_ROWS, j]
    for k in range((REMEMBERED - 1) * TRACK_INTS):
        i = REMEMBERED * TRACK_INTS - 1 - k
        track_of[i] = track_of[i - TRACK_INTS]
    set_row(track, PREV_P, p)
    set_row(track, PREV_N, n_here)
    set_row(track, PREV_NS, ns)
    set_row(track, PREV_D, d)
    set_row(track, PREV_WO, next_wo)
    if depth == 0:
        track[PREV_W, 2] = near_reach(reals, ints, p)
    track[PREV_W, 0], track[PREV_W, 1] = next_weight, follows
    track_of[PREV_SHAPE], track_of[PREV_PRIM], track_of[PREV_INST] = shape, prim, inst


@ti.func
def standing_at(reals: ti.template(), ints: ti.template(), light):
    """Position of a point or spot light: what its rigid to_local sends to the origin."""
    base = ints[light + LIGHT_REALS]
    out = no_vector()
    for i in ti.static(range(3)):
        for j in ti.static(range(3)):
            out[i] -= reals[base + 4 * j + i] * reals[base + 4 * j + 3]
    return out


@ti.func
def deposit_vertex(
    reals: ti.template(), ints: ti.template(), blocks: ti.template(), acc: ti.template(), replica, shape, prim, inst, p,
    n, ns, g, ride, turn, area, first, ray, gaze, follows, config: ti.template(),
):  # fmt: skip
    """Deposit a vertex's adjoint with what carries it; for a first vertex also with the camera.

    g: by the vertex's place; ride: by its material's alone. first: the vertex lies where the ray, in direction ``ray``
    from the eye, meets the surface, whatever part of it that is: only the surface's motion along n moves it, and it
    slides over the surface. gaze: adjoint of the direction towards the eye. follows: how far a later vertex follows the
    one before; returns what belongs to that one.
    """
    mover, camera = mover_of(ints, shape, inst), camera_mover(ints)
    g_ray, handed = no_vector(), no_vector()
    moved = g + ride
    if first != 0 or follows > 0.0:
        slide = adjoint_of_sliding(reals, ints, blocks, shape, prim, inst, p, n, ns, turn, config)
        if first != 0:
            along = n.dot(ray)
            kept = no_vector()
            if along != 0.0:
                kept = n * (ray.dot(g + slide) / along)
            moved, g_ray = kept - slide, g + slide - kept
        else:
            handed = carried(follows, ray, n, g + slide)
            moved -= handed
    if ti.static(has_curves(config)):
        if ints[mover + MOVER_WANTED] != 0:
            add_controls(reals, ints, acc, mover, replica, shape, prim, p, ns, moved, turn, area)
    if ints[mover + MOVER_WANTED] != 0 or (first != 0 and ints[camera + MOVER_WANTED] != 0):
        for who in range(2):
            if who == 0 or first != 0:
                values = ti.Matrix.zero(float, ROWS, 3)
                at = ti.Vector.zero(ti.i32, ROWS) - 1
                record = mover
                if who == 0:
                    adjoint_of_mover(reals, ints, mover, shape, prim, p, n, ns, moved, turn, area, values, at, config)
                else:
                    record = camera
                    adjoint_of_camera(reals, ints, camera, p, ray, g_ray, gaze, values, at)
                add_rows(reals, ints, acc, record, replica, values, at)
    return handed


@ti.func
def deposit_point(
    reals: ti.template(), ints: ti.template(), acc: ti.template(), replica, shape, prim, inst, p, n, g, config: ti.template()
):
    """Deposit the adjoint of a material point alone."""
    mover = mover_of(ints, shape, inst)
    if ints[mover + MOVER_WANTED] != 0:
        values = ti.Matrix.zero(float, ROWS, 3)
        at = ti.Vector.zero(ti.i32, ROWS) - 1
        adjoint_of_mover(reals, ints, mover, shape, prim, p, n, n, g, no_vector(), no_vector(), values, at, config)
        add_rows(reals, ints, acc, mover, replica, values, at)
        if ti.static(has_curves(config)):
            add_controls(reals, ints, acc, mover, replica, shape, prim, p, n, g, no_vector(), no_vector())


@ti.func
def deposit_standing(reals: ti.template(), ints: ti.template(), acc: ti.template(), replica, i_light, g, turn):
    """Deposit the adjoint of a light's place and its torque about it."""
    record = light_mover(ints, i_light)
    if ints[record + MOVER_WANTED] != 0:
        values = ti.Matrix.zero(float, ROWS, 3)
        at = ti.Vector.zero(ti.i32, ROWS) - 1
        at[0], at[1] = ints[record + MOVER_TRANSLATION], ints[record + MOVER_ROTATION]
        set_row(values, 0, g)
        set_row(values, 1, turn)
        add_rows(reals, ints, acc, record, replica, values, at)


@ti.func
def add_rows(
    reals: ti.template(), ints: ti.template(), acc: ti.template(), mover, replica, values: ti.template(), at: ti.template()
):
    """Add the rows of a mover's derivatives to their accumulators."""
    unit = reals[ints[mover + MOVER_REALS] + MOVER_UNIT]
    for j in range(ROWS):
        if at[j] >= 0:
            for k in range(3):
                if values[j, k] != 0.0:
                    add_exact(acc, replica + at[j] + k, values[j, k] * unit)


@ti.func
def add_controls(
    reals: ti.template(), ints: ti.template(), acc: ti.template(), mover, replica, shape, prim, p, ns, g, turn, area
):
    """Add a curve's derivatives: twelve numbers of each piece by its control points, four by their radii."""
    points, radii = ints[mover + MOVER_VERTICES], ints[mover + MOVER_RADIUS]
    if ints[shape + SHAPE_KIND] == ti.static(kind_index("curve")) and (points >= 0 or radii >= 0):
        unit = reals[ints[mover + MOVER_REALS] + MOVER_UNIT]
        piece = prim - ints[shape + SHAPE_FIRST_PRIM]
        found = tube.adjoint_of_controls(reals, ints[shape + SHAPE_REALS] + curve.STRIDE * piece, p, ns, g, turn, area)
        for i in range(tube.CONTROLS):
            at = ti.select(i < 12, points + 12 * piece + i, radii + 4 * piece + i - 12)
            if ti.select(i < 12, points, radii) >= 0 and found[i] != 0.0:
                add_exact(acc, replica + at, found[i] * unit)


@ti.func
def adjoint_of_mover(
    reals: ti.template(), ints: ti.template(), mover, shape, prim, p, n, ns, g, turn, area, values: ti.template(),
    at: ti.template(), config: ti.template(),
):  # fmt: skip
    """Rows of a mover's derivatives and their first accumulators."""
    base = ints[mover + MOVER_REALS]
    arm = p - ti.Vector([reals[base], reals[base + 1], reals[base + 2]])
    at[0], at[1], at[2] = ints[mover + MOVER_TRANSLATION], ints[mover + MOVER_ROTATION], ints[mover + MOVER_SCALE]
    set_row(values, 0, g)
    set_row(values, 1, arm.cross(g) + turn + n.cross(area))
    values[2, 0] = arm.dot(g) + 2.0 * n.dot(area)
    kind = ints[shape + SHAPE_KIND]
    for index, name in ti.static(config.geometries):
        if kind == ti.static(index):
            if ti.static(name == "sphere"):
                _, r = sphere.record(reals, ints, shape, prim)
                out = n * mesh.facing(ints, shape)
                at[3], at[4] = ints[mover + MOVER_CENTER], ints[mover + MOVER_RADIUS]
                set_row(values, 3, g)
                values[4, 0] = out.dot(g) + 2.0 * n.dot(area) / r
            if ti.static(name == "mesh"):
                if ints[mover + MOVER_VERTICES] >= 0:
                    i0, i1, i2 = mesh.vertex_numbers(ints, shape, prim)
                    v0, v1, v2 = mesh.vertices_of(reals, ints, shape, prim)
                    e1, e2 = v1 - v0, v2 - v0
                    big = e1.cross(e2)
                    squared = ti.max(big.norm_sqr(), 1e-37)
                    b1 = (p - v0).dot(e2.cross(big)) / squared
                    b2 = (p - v0).dot(big.cross(e1)) / squared
                    # The area vector's adjoint: the geometry factor's, and the flat normal's.
                    side = ti.select(big.dot(n) < 0.0, -1.0, 1.0)
                    g_ns = turn.cross(ns)
                    g_big = side * (area + g_ns - n * n.dot(g_ns)) / ti.sqrt(squared)
                    g_e1, g_e2 = e2.cross(g_big), g_big.cross(e1)
                    first = ints[mover + MOVER_VERTICES]
                    at[5], at[6], at[7] = first + 3 * i0, first + 3 * i1, first + 3 * i2
                    set_row(values, 5, (1.0 - b1 - b2) * g - g_e1 - g_e2)
                    set_row(values, 6, b1 * g + g_e1)
                    set_row(values, 7, b2 * g + g_e2)


@ti.func
def adjoint_of_sliding(
    reals: ti.template(), ints: ti.template(), blocks: ti.template(), shape, prim, inst, p, n, ns, turn, config: ti.template()
):
    """Adjoint of a step over a fixed surface, through the shading normal that changes from point to point."""
    out = no_vector()
    g_ns = turn.cross(ns)
    kind = ints[shape + SHAPE_KIND]
    for index, name in ti.static(config.geometries):
        if kind == ti.static(index):
            if ti.static(name == "sphere"):
                _, r = sphere.record(reals, ints, shape, prim)
                out = mesh.facing(ints, shape) * g_ns / r
                if ti.static((config.kinds >> INSTANCE) & 1 == 1):
                    if inst >= 0:  # scaled evenly
                        out *= rotate(blocks, INSTANCE_REALS * inst + TO_OBJECT, n).norm()
            if ti.static(name == "curve"):
                base = ints[shape + SHAPE_REALS] + curve.STRIDE * (prim - ints[shape + SHAPE_FIRST_PRIM])
                out = tube.adjoint_of_step(reals, base, p, ns, turn)
            if ti.static(name == "mesh"):
                if (ints[shape + SHAPE_FLAGS] & FLAG_NORMALS) != 0:
                    v0, v1, v2 = mesh.vertices_of(reals, ints, shape, prim)
                    i0, i1, i2 = mesh.vertex_numbers(ints, shape, prim)
                    at = ints[shape + SHAPE_NORMALS]
                    n0, n1, n2 = mesh.vec3(reals, at + 3 * i0), mesh.vec3(reals, at + 3 * i1), mesh.vec3(reals, at + 3 * i2)
                    e1, e2 = v1 - v0, v2 - v0
                    big = e1.cross(e2)
                    squared = ti.max(big.norm_sqr(), 1e-37)
                    grad1, grad2 = e2.cross(big) / squared, big.cross(e1) / squared
                    here = p
                    if ti.static((config.kinds >> INSTANCE) & 1 == 1):
                        if inst >= 0:
                            here = to_object(blocks, inst, p)
                    b1, b2 = (here - v0).dot(grad1), (here - v0).dot(grad2)
                    m = (1.0 - b1 - b2) * n0 + b1 * n1 + b2 * n2
                    if ti.static((config.kinds >> INSTANCE) & 1 == 1):
                        if inst >= 0:  # normals and gradients transform by the inverse transpose
                            m, n0 = normal_out(blocks, inst, m), normal_out(blocks, inst, n0)
                            n1, n2 = normal_out(blocks, inst, n1), normal_out(blocks, inst, n2)
                            grad1, grad2 = normal_out(blocks, inst, grad1), normal_out(blocks, inst, grad2)
                    length = m.norm()
                    if length > 0.0:
                        h = mesh.facing(ints, shape) * (g_ns - ns * ns.dot(g_ns)) / length
                        out = grad1 * h.dot(n1 - n0) + grad2 * h.dot(n2 - n0)
    return out


@ti.func
def to_object(blocks: ti.template(), inst, p):
    """A world point in an instance's space."""
    at = INSTANCE_REALS * inst + TO_OBJECT
    return rotate(blocks, at, p) + ti.Vector([blocks[at + 3], blocks[at + 7], blocks[at + 11]])


@ti.func
def normal_out(blocks: ti.template(), inst, n):
    """A covector of an instance's space in the world, its length kept as it comes."""
    at = INSTANCE_REALS * inst + TO_OBJECT
    out = no_vector()
    for i in ti.static(range(3)):
        out[i] = blocks[at + i] * n[0] + blocks[at + 4 + i] * n[1] + blocks[at + 8 + i] * n[2]
    return out


@ti.func
def camera_axis(reals: ti.template(), ints: ti.template(), i):
    """A column of the camera's rotation; column 3 is the eye."""
    m = ints[H_CAMERA] + CAMERA_TO_WORLD
    return ti.Vector([reals[m + i], reals[m + 4 + i], reals[m + 8 + i]])


@ti.func
def adjoint_of_camera(
    reals: ti.template(), ints: ti.template(), mover, p, ray, g, gaze, values: ti.template(), at: ti.template()
):
    """The camera's rows, from the adjoint g of the ray at p and that of the direction back (gaze)."""
    tan = reals[ints[H_CAMERA] + CAMERA_TAN]
    x, y, z = camera_axis(reals, ints, 0), camera_axis(reals, ints, 1), camera_axis(reals, ints, 2)
    reach = (p - camera_axis(reals, ints, 3)).norm()
    g_d = reach * g - gaze
    g_d -= ray * ray.dot(g_d)
    depth = ray.dot(z)
    qx, qy = ray.dot(x) / depth, ray.dot(y) / depth  # where the ray meets the plane at depth 1
    sx, sy = g_d.dot(x) * depth, g_d.dot(y) * depth
    at[0], at[1] = ints[mover + MOVER_TRANSLATION], ints[mover + MOVER_ROTATION]
    at[2], at[3] = ints[mover + MOVER_SCALE], ints[mover + MOVER_CENTER]
    set_row(values, 0, g)
    set_row(values, 1, ray.cross(g_d))
    values[2, 0] = (qx * sx + qy * sy) / tan
    aspect = reals[ints[H_CAMERA] + CAMERA_TAN + 1]
    values[3, 0], values[3, 1] = 2.0 * tan * sx, 2.0 * tan * aspect * sy
