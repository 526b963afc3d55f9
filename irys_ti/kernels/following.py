"""Near neighbours move together: how far the next vertex of a path follows the one before it.

Two vertices that ride on different things may be arbitrarily near each other where these touch, and the factor
1 / distance^2 between them has a derivative like 1 / distance^3: its sum is finite, its variance is not. So the second
vertex y does not ride on its surface wholly. It slides over it by w s,

    s = (dx - v) - d (n.(dx - v)) / (n.d),

with dx the motion of the vertex x before it, v its own material's, d the direction from x to y and n the normal at y.
Were w = 1, the direction between them would stay as it is; w is 1 where they touch and falls to 0 at a distance. As
direction, BSDF and geometry factor together keep the measure d omega when w = 1, the derivative of log(f G)
with the area's change is (1 - w) times that without sliding, plus grad w . s.

What moves is then dy = v + w s = (1 - B) v + B dx with B = w (1 - d n' / n.d): an adjoint of y belongs to its own
surface and, by B', to the vertex before. Whether y follows may depend on the vertices before in
any way, jumps included, since its slide is a step in y alone.
"""

from irys_ti.kernels.layout import CAMERA_TAN, CAMERA_TO_WORLD, H_CAMERA, SHAPE_LIGHT
from irys_ti.runtime import ti

NEAR = 0.25  # of the view's width at the first vertex: within this distance of each other vertices move together
FOLLOWERS = 4  # vertices of a path after the first that may follow


@ti.func
def near_reach(reals: ti.template(), ints: ti.template(), first):
    """The distance at which following ends, for paths whose first vertex is ``first``."""
    m = ints[H_CAMERA] + CAMERA_TO_WORLD
    eye = ti.Vector([reals[m + 3], reals[m + 7], reals[m + 11]])
    return ti.static(2.0 * NEAR) * reals[ints[H_CAMERA] + CAMERA_TAN] * (first - eye).norm()


@ti.func
def following(ints: ti.template(), shape, distance, reach, depth):
    """(w, dw / d distance) at a vertex on ``shape``, ``distance`` from the one before; ``depth``: number on its path.

    Lights do not follow: what they emit is sampled as well, by points that ride.
    """
    w, slope = 0.0, 0.0
    if distance < reach and depth <= FOLLOWERS and ints[shape + SHAPE_LIGHT] < 0:
        x = distance / reach
        w = (1.0 - x * x) * (1.0 - x * x)
        slope = -4.0 * x * (1.0 - x * x) / reach
    return w, slope


@ti.func
def carried(w, d, n, g):
    """B' g: what of a vertex's adjoint belongs to the vertex before."""
    along = n.dot(d)
    out = ti.Vector([0.0, 0.0, 0.0])
    if w > 0.0 and along != 0.0:
        out = w * (g - n * (d.dot(g) / along))
    return out
