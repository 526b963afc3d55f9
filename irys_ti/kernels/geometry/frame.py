"""Small vector functions that every geometry kind needs, safe for zero vectors."""

from irys_ti.runtime import ti


@ti.func
def unit_or(x, fallback):
    """x / |x|, or ``fallback`` where x is zero, or too small or too large to normalise."""
    # Scaled by its largest component first: the squares of a small triangle's normal would underflow.
    biggest = ti.max(ti.abs(x[0]), ti.abs(x[1]), ti.abs(x[2]))
    usable = biggest > 1e-37 and biggest < 1e37
    y = x / ti.select(usable, biggest, 1.0)
    length = ti.sqrt(y[0] * y[0] + y[1] * y[1] + y[2] * y[2])
    ok = usable and length > 0.5
    return ti.select(ok, y / ti.select(ok, length, 1.0), fallback)


@ti.func
def tangent(n):
    """A unit vector perpendicular to the unit vector n (Duff et al., JCGT 2017), finite for any n."""
    sign = ti.select(n[2] >= 0.0, 1.0, -1.0)
    a = -1.0 / (sign + n[2])
    return ti.Vector([1.0 + sign * n[0] * n[0] * a, sign * n[0] * n[1] * a, -sign * n[0]])


@ti.func
def perpendicular(x, n):
    """The part of x perpendicular to the unit vector n, or any tangent where nothing of it is left."""
    y = x - x.dot(n) * n
    usable = y.dot(y) > 1e-10 * x.dot(x) and x.dot(x) > 1e-37
    return ti.select(usable, y, tangent(n))
