"""Local frames: z along the shading normal."""

from irys_ti.runtime import ti


@ti.func
def tangent(n, along):
    """Unit vector normal to n, as near to ``along`` as can be; any where ``along`` gives none."""
    s = along - n * n.dot(along)
    length = s.norm()
    sign = ti.select(n[2] >= 0.0, 1.0, -1.0)
    # Duff et al. 2017, "Building an orthonormal basis, revisited"
    a = -1.0 / (sign + n[2])
    b = n[0] * n[1] * a
    fallback = ti.Vector([1.0 + sign * n[0] * n[0] * a, sign * b, -sign * n[0]])
    good = length > 1e-6 * along.norm() and length > 0.0
    return ti.select(good, s / ti.select(good, length, 1.0), fallback)


@ti.func
def to_local(v, s, t, n):
    return ti.Vector([v.dot(s), v.dot(t), v.dot(n)])


@ti.func
def to_world(v, s, t, n):
    return s * v[0] + t * v[1] + n * v[2]


@ti.func
def affine_point(reals: ti.template(), base, p):
    """A row-major 3 x 4 matrix in the pool, applied to a point."""
    q = ti.Vector([0.0, 0.0, 0.0])
    for i in ti.static(range(3)):
        r = base + 4 * i
        q[i] = reals[r] * p[0] + reals[r + 1] * p[1] + reals[r + 2] * p[2] + reals[r + 3]
    return q


@ti.func
def affine_vector(reals: ti.template(), base, v):
    """The same matrix applied to a direction."""
    q = ti.Vector([0.0, 0.0, 0.0])
    for i in ti.static(range(3)):
        r = base + 4 * i
        q[i] = reals[r] * v[0] + reals[r + 1] * v[1] + reals[r + 2] * v[2]
    return q


@ti.func
def affine_transposed(reals: ti.template(), base, v):
    """Its linear part transposed, applied to a direction: a rotation's inverse."""
    q = ti.Vector([0.0, 0.0, 0.0])
    for i in ti.static(range(3)):
        q[i] = reals[base + i] * v[0] + reals[base + 4 + i] * v[1] + reals[base + 8 + i] * v[2]
    return q
