"""Round curves that move: the adjoint of a point of a tube by the control points, and the tube's outline in closed form.

A point is p = c(s) + r(s) e, e a unit vector across the unit tangent t = c' / |c'|. With e carried along the axis
without turning about it (e' = -t (e.k), k = t' the axis's bend by s) and b = t x e,

    p_s = A t + r' e,    p_phi = r b,    N = p_phi x p_s = r (A e - r' t),    A = |c'| - r e.k,

of which N is the area vector. When control points move, e turns no more than it must to stay across the axis, so that
the material's velocity is dc + dr e - r t (e.dc') / |c'|, and N follows from its derivatives by s and phi. On the ball at
an end points keep their azimuth and their share of the angle from the axis to the ball's rim, so that they move as the
tube's do where both meet.

Seen from y the outline is where N.(p - y) = 0: with m = y - c where e.m = r + r' (t.m) / A, two points for every s.
"""

from irys_ti.runtime import ti

from .curve import BITS, FIRST_END, LAST_END, coefficients, taper_of
from .frame import tangent, unit_or
from .mesh import vec3

TIGHT = 0.05  # least A, of |c'|: where a strand bends within its own radius
CONTROLS = 16  # numbers of a piece: x, y, z of four points, then their radii


@ti.func
def axis_at(reals: ti.template(), base, s):
    """c and its first three derivatives by s, r and its first two."""
    k1, k2, k3, r0, j1, j2, j3 = coefficients(reals, base)
    c = vec3(reals, base) + ((k3 * s + k2) * s + k1) * s
    r = r0 + ((j3 * s + j2) * s + j1) * s
    return (
        c, (3.0 * k3 * s + 2.0 * k2) * s + k1, 6.0 * s * k3 + 2.0 * k2, 6.0 * k3,
        r, (3.0 * j3 * s + 2.0 * j2) * s + j1, 6.0 * s * j3 + 2.0 * j2,
    )  # fmt: skip


@ti.func
def direction(reals: ti.template(), base, a):
    """(unit tangent, length) of the derivative a."""
    t = unit_or(a, unit_or(vec3(reals, base + 12) - vec3(reals, base), ti.Vector([0.0, 0.0, 1.0])))
    return t, ti.max(a.norm(), 1e-30)


@ti.func
def stretch(length, r, bend):
    """A, from |c'|, r and e.k."""
    return ti.max(length - r * bend, TIGHT * length)


@ti.func
def locate(reals: ti.template(), base, p):
    """(s, 1 on a ball at an end) of a point of the surface."""
    chord = vec3(reals, base + 12) - vec3(reals, base)
    s = ti.math.clamp((p - vec3(reals, base)).dot(chord) / ti.max(chord.dot(chord), 1e-37), 0.0, 1.0)
    for _ in range(8):
        c, a, c2, c3, r, r1, r2 = axis_at(reals, base, s)
        x = p - c
        slope = ti.max(a.dot(a) - x.dot(c2), TIGHT * a.dot(a))
        s = ti.math.clamp(s + ti.math.clamp(x.dot(a) / ti.max(slope, 1e-37), -0.5, 0.5), -0.5, 1.5)
    bits = ti.cast(reals[base + BITS], ti.i32)
    cap = (s < 0.0 and (bits & FIRST_END) != 0) or (s > 1.0 and (bits & LAST_END) != 0)
    return ti.math.clamp(s, 0.0, 1.0), ti.select(cap, 1, 0)


@ti.func
def split_turn(ns, t, turn):
    """Adjoints of the normal and of the fibre's direction, from a torque on the frame that both make."""
    across = t - ns * ns.dot(t)
    length = across.norm()
    about = ti.select(length > 1e-4, turn.dot(ns) / ti.max(length, 1e-4), 0.0)
    beside = ns.cross(unit_or(across, tangent(ns)))
    return turn.cross(ns) - beside * (about * ns.dot(t)), beside * about


@ti.func
def normal_steps(length, t, e, b, bend, c2, c3, r, r1, r2, k):
    """Derivatives of N / r by s and by phi."""
    a = stretch(length, r, bend)
    a_s = t.dot(c2) - r1 * bend - r * (e.dot(c3) - 2.0 * bend * t.dot(c2)) / length
    return a_s * e - (a * bend + r2) * t - r1 * k, a * b - (r * b.dot(k)) * e


@ti.func
def adjoint_of_controls(reals: ti.template(), base, p, ns, g, turn, area):
    """Derivatives by the CONTROLS of a piece: g by the material point, turn and area as in kernels/motion.py."""
    s, cap = locate(reals, base, p)
    c, a, c2, c3, r, r1, r2 = axis_at(reals, base, s)
    t, length = direction(reals, base, a)
    r = ti.max(r, 1e-30)
    g_ns, g_t = split_turn(ns, t, turn)
    d0, d1, d2 = g, (g_t - t * t.dot(g_t)) / length, ti.Vector([0.0, 0.0, 0.0])
    of_r, of_r1 = 0.0, 0.0
    x = p - c
    if cap == 1:
        taper = taper_of(r1, length, s)
        grown = ti.sqrt(1.0 + taper * taper)
        side = 2.0 * s - 1.0
        radius, ahead = r * grown, side * t
        n = unit_or(x - (r * taper) * ahead, ns)
        e = unit_or(n - t * t.dot(n), tangent(t))
        cosine, sine = ahead.dot(n), e.dot(n)
        polar = cosine * e - sine * ahead  # of the angle from the axis
        angle, rim = ti.atan2(sine, cosine), 0.5 * 3.141592653589793 + ti.atan2(taper, 1.0)
        to_area = area + g_ns - ns * ns.dot(g_ns)
        of_radius = n.dot(g) + 2.0 * n.dot(area) / radius
        swell = n.dot(area) * ti.select(sine > 1e-4, cosine * angle / ti.max(sine, 1e-4), 1.0)
        of_rim = (angle * (radius * g.dot(polar) + to_area.dot(polar)) + swell + n.dot(area)) / rim
        of_taper = of_radius * r * taper / grown + of_rim / (grown * grown) + r * ahead.dot(g)
        turning = radius * n.cross(g) + n.cross(to_area)
        of_r = taper * ahead.dot(g) + grown * of_radius
        d1 += (turning.cross(t) + (r * taper * side) * (g - t * t.dot(g))) / length
        if taper < 0.0:
            of_r1 = of_taper * side / length
            d1 -= t * (of_taper * taper / length)
    else:
        e = unit_or(x - t * x.dot(t), ns)
        b = t.cross(e)
        k = (c2 - t * t.dot(c2)) / length
        bend = e.dot(k)
        full = stretch(length, r, bend)
        # The normal is that of the area vector.
        to_area = (area + g_ns - ns * ns.dot(g_ns)) / (r * ti.sqrt(full * full + r1 * r1))
        by_phi, by_s = (full * t + r1 * e).cross(to_area), to_area.cross(r * b)
        along = by_s.dot(t)
        of_r = g.dot(e) + by_phi.dot(b) - bend * along
        of_r1 = by_s.dot(e)
        d1 += by_s + (r * bend * along / length) * t - (r * by_phi.dot(t) / length) * b
        d1 += e * ((r * t.dot(c2) * along / length - r * g.dot(t) - r1 * along - r * by_s.dot(k)) / length)
        d2 = e * (-r * along / length)
    found = ti.Vector.zero(float, CONTROLS)
    q = 1.0 - s
    w = ti.Vector([q * q * q, 3.0 * s * q * q, 3.0 * s * s * q, s * s * s])
    w1 = ti.Vector([-3.0 * q * q, 3.0 * q * (q - 2.0 * s), 3.0 * s * (2.0 * q - s), 3.0 * s * s])
    w2 = ti.Vector([6.0 * q, 6.0 * (s - 2.0 * q), 6.0 * (q - 2.0 * s), 6.0 * s])
    for i in ti.static(range(4)):
        for j in ti.static(range(3)):
            found[3 * i + j] = w[i] * d0[j] + w1[i] * d1[j] + w2[i] * d2[j]
        found[12 + i] = w[i] * of_r + w1[i] * of_r1
    return found


@ti.func
def adjoint_of_step(reals: ti.template(), base, p, ns, turn):
    """Adjoint of a step over the fixed surface, through the frame that changes from point to point."""
    s, cap = locate(reals, base, p)
    c, a, c2, c3, r, r1, r2 = axis_at(reals, base, s)
    t, length = direction(reals, base, a)
    r = ti.max(r, 1e-30)
    g_ns, g_t = split_turn(ns, t, turn)
    g_ns -= ns * ns.dot(g_ns)
    taper = taper_of(r1, length, s)
    out = g_ns / (r * ti.sqrt(1.0 + taper * taper))
    if cap == 0:
        x = p - c
        e = unit_or(x - t * x.dot(t), ns)
        b = t.cross(e)
        k = (c2 - t * t.dot(c2)) / length
        full = stretch(length, r, e.dot(k))
        by_s, by_phi = normal_steps(length, t, e, b, e.dot(k), c2, c3, r, r1, r2, k)
        square = full * full + r1 * r1
        g_ns /= ti.sqrt(square)
        out = (full * t + r1 * e) * ((g_ns.dot(by_s) + g_t.dot(k)) / square) + b * (g_ns.dot(by_phi) / r)
    return out


@ti.func
def outline_at(reals: ti.template(), base, s, side, source, finite):
    """Point of the outline at s on one side (1, -1), its derivative by s along the outline, and the outward normal.

    source: where it is seen from, or the direction to there where it is not finite. The derivative is 0 where the tube
    shows no outline.
    """
    c, a, c2, c3, r, r1, r2 = axis_at(reals, base, s)
    t, length = direction(reals, base, a)
    k = (c2 - t * t.dot(c2)) / length
    m, reach = source, 0.0
    if finite != 0:
        m, reach = source - c, r
    ahead = m.dot(t)
    across = m - ahead * t
    distance = ti.max(across.norm(), 1e-30)
    u1 = across / distance
    u2 = t.cross(u1)
    e, cosine = u1, 0.0
    for _ in range(5):
        cosine = (reach + r1 * ahead / stretch(length, r, e.dot(k))) / distance
        e = cosine * u1 + (side * ti.sqrt(ti.max(0.0, 1.0 - cosine * cosine))) * u2
    b = t.cross(e)
    full = stretch(length, r, e.dot(k))
    p = c + r * e
    view = source
    if finite != 0:
        view = p - source
    by_s, by_phi = normal_steps(length, t, e, b, e.dot(k), c2, c3, r, r1, r2, k)
    turning = by_phi.dot(view)
    along = ti.Vector([0.0, 0.0, 0.0])
    if ti.abs(cosine) < 1.0 and ti.abs(turning) > 1e-5 * full * view.norm():
        along = full * t + r1 * e - b * (r * by_s.dot(view) / turning)
    return p, along, unit_or(full * e - r1 * t, e)


@ti.func
def end_ball(reals: ti.template(), base, end):
    """Centre and radius of the ball at an end (0, 1), the direction out of the strand, and the least cosine to it."""
    s = ti.cast(end, float)
    c, a, c2, c3, r, r1, r2 = axis_at(reals, base, s)
    t, length = direction(reals, base, a)
    taper, outward = taper_of(r1, length, s), (2.0 * s - 1.0) * t
    grown = ti.sqrt(1.0 + taper * taper)
    return c + (r * taper) * outward, r * grown, outward, -taper / grown
