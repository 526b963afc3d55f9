"""What the traversal computes at a node and at a triangle, one lane at a time.

On the CPU these run in plain loops over lanes that LLVM turns into vector code: selections instead of
branches and of ti.min and ti.max (which must mind NaN), and one index that counts up per array.
"""

from irys_ti.runtime import ti

# Rounding of (box - o) * (1 / d) is at most three half-ulps at either end (Ize, "Robust BVH ray traversal",
# JCGT 2013, after f32's epsilon; f64 loses nothing by it).
ROBUST = 1.0000004


@ti.func
def pick(v, k):
    """v[k] by selection: an index known only at run time would put v into memory."""
    return ti.select(k == 0, v[0], ti.select(k == 1, v[1], v[2]))


@ti.func
def ray_constants(o, d):
    """What the tests need of a ray: inv, axes, shear, origin.

    inv: 1 / d, large but finite where d is 0, so that no product is NaN. axes: the axis of d's largest
    component last; shear: the map that turns d into that axis; origin: o along ``axes``.
    """
    inv = ti.Vector([0.0, 0.0, 0.0])
    for k in ti.static(range(3)):
        tiny = ti.abs(d[k]) < 1e-30
        inv[k] = ti.select(tiny, ti.select(d[k] < 0.0, -1e30, 1e30), 1.0 / ti.select(tiny, 1.0, d[k]))
    a = ti.abs(d)
    kz = ti.select(a[0] > a[1], ti.select(a[0] > a[2], 0, 2), ti.select(a[1] > a[2], 1, 2))
    kx = ti.select(kz == 2, 0, kz + 1)
    ky = ti.select(kx == 2, 0, kx + 1)
    scale = pick(inv, kz)
    shear = ti.Vector([pick(d, kx) * scale, pick(d, ky) * scale, scale])
    return inv, ti.Vector([kx, ky, kz]), shear, ti.Vector([pick(o, kx), pick(o, ky), pick(o, kz)])


@ti.func
def box_lane(nodes: ti.template(), base, lane, o, inv, t_max, width: ti.template()):
    """(enter, leave) of one child's box, not before 0 and not after t_max: it is met where enter <= leave."""
    x0 = (nodes[base + lane] - o[0]) * inv[0]
    y0 = (nodes[base + width + lane] - o[1]) * inv[1]
    z0 = (nodes[base + 2 * width + lane] - o[2]) * inv[2]
    x1 = (nodes[base + 3 * width + lane] - o[0]) * inv[0]
    y1 = (nodes[base + 4 * width + lane] - o[1]) * inv[1]
    z1 = (nodes[base + 5 * width + lane] - o[2]) * inv[2]
    enter, leave = ti.select(x0 < x1, x0, x1), ti.select(x0 < x1, x1, x0)
    near, far = ti.select(y0 < y1, y0, y1), ti.select(y0 < y1, y1, y0)
    enter, leave = ti.select(near > enter, near, enter), ti.select(far < leave, far, leave)
    near, far = ti.select(z0 < z1, z0, z1), ti.select(z0 < z1, z1, z0)
    enter, leave = ti.select(near > enter, near, enter), ti.select(far < leave, far, leave)
    return ti.select(enter > 0.0, enter, 0.0), ti.select(leave < t_max, leave, t_max) * ROBUST


@ti.func
def triangle_lane(blocks: ti.template(), at, lane, lanes: ti.template(), shear, origin):
    """Watertight ray-triangle test (Woop, Benthin and Wald, JCGT 2013): (hit, t, u, v).

    at: where the first corner's coordinates begin, in the order of the ray's axes. Two triangles that share
    an edge see the same number for it up to its sign, so no ray slips between them; a ray exactly through an
    edge hits both.

    That holds where a * b - c * d rounds both products. GPU compilers fuse it and round one, so that the two sides
    of an edge may see different numbers; there (one lane) an edge reaches as far as that rounding.
    """
    ax = blocks[at[0] + lane] - origin[0]
    ay = blocks[at[1] + lane] - origin[1]
    az = blocks[at[2] + lane] - origin[2]
    bx = blocks[at[0] + 3 * lanes + lane] - origin[0]
    by = blocks[at[1] + 3 * lanes + lane] - origin[1]
    bz = blocks[at[2] + 3 * lanes + lane] - origin[2]
    cx = blocks[at[0] + 6 * lanes + lane] - origin[0]
    cy = blocks[at[1] + 6 * lanes + lane] - origin[1]
    cz = blocks[at[2] + 6 * lanes + lane] - origin[2]
    ax, ay = ax - shear[0] * az, ay - shear[1] * az
    bx, by = bx - shear[0] * bz, by - shear[1] * bz
    cx, cy = cx - shear[0] * cz, cy - shear[1] * cz
    wa = cx * by - cy * bx
    wb = ax * cy - ay * cx
    wc = bx * ay - by * ax
    det = wa + wb + wc
    low = ti.select(wa < wb, wa, wb)
    low = ti.select(wc < low, wc, low)
    high = ti.select(wa > wb, wa, wb)
    high = ti.select(wc > high, wc, high)
    # Bitwise: ``or`` and ``and`` branch, and a loop with a branch is not vectorised.
    hit = ((low >= 0.0) | (high <= 0.0)) & (det != 0.0)
    if ti.static(lanes == 1):
        reach = ti.max(ti.max(ti.abs(ax), ti.abs(ay)), ti.max(ti.abs(bx), ti.abs(by)))
        reach = ti.max(reach, ti.max(ti.abs(cx), ti.abs(cy)))
        # At most a thousandth of the triangle: one without area must not reach anywhere.
        slack = ti.min(2.0**-23 * reach * reach, 2.0**-10 * ti.abs(det))
        hit = hit | ((det > 0.0) & (low >= -slack)) | ((det < 0.0) & (high <= slack))
    scale = 1.0 / ti.select(hit, det, 1.0)
    t = (wa * az + wb * bz + wc * cz) * shear[2] * scale
    return hit, t, wb * scale, wc * scale


@ti.func
def closer(t, prim, inst, best_t, best_prim, best_inst):
    """Order of hits: by distance, then primitive, then instance; prim = -1 stands for the ray's end."""
    tie = t == best_t and (prim < best_prim or (prim == best_prim and inst < best_inst))
    return t < best_t or tie
