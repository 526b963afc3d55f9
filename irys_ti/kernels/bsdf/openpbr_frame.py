"""OpenPBR's normal and tangent: the base's lobes seen in a frame that a map turns.

``geometry_normal`` and ``geometry_tangent`` are vectors over the surface's own frame (x along its u, z its normal), of
any length; each component is a parameter of its own, so that a map is three pictures of one channel. Lobes, shares and
cosine are those of the turned frame. Only the passage through opacity keeps the surface's.
"""

from __future__ import annotations

from types import SimpleNamespace

from irys_ti.graph import Expr, Param, constant, cross, dot, maximum, normalize, select, vec3

# The turned normal keeps this cosine to wi: one that faced away would show the surface's inside.
FACING = 0.02
# Light nearer to the turned horizon is left out, a millionth of it: there the density falls to 0 and the derivative by the
# normal does not, so that single deposits would outgrow all others.
HORIZON = 1e-3


def _component(default, doc):
    return Param("scalar", default, -1.0, 1.0, doc=doc)


FRAME = {
    "geometry_normal_x": _component(0.0, "the shading normal, along the surface's u; its length is free"),
    "geometry_normal_y": _component(0.0, "the shading normal, along its v"),
    "geometry_normal_z": _component(1.0, "the shading normal, along its normal"),
    "geometry_tangent_x": _component(1.0, "the direction of anisotropy, along the surface's u; its length is free"),
    "geometry_tangent_y": _component(0.0, "the direction of anisotropy, along its v"),
}


def turned(p) -> bool:
    """Whether the frame is another than the surface's."""
    straight = (p.geometry_normal_x, p.geometry_normal_y, p.geometry_tangent_y)
    return any(x.op != "const" or x.attr != 0.0 for x in straight)


def frame(p, wi: Expr) -> SimpleNamespace:
    """Unit tangent, bitangent and normal in the surface's frame, as wi sees them."""
    side = select(wi.z < 0.0, -wi, wi)
    n = normalize(vec3(p.geometry_normal_x, p.geometry_normal_y, p.geometry_normal_z))
    n = normalize(n + side * maximum(constant(FACING) - dot(n, side), 0.0))
    t = vec3(p.geometry_tangent_x, p.geometry_tangent_y, 0.0)
    t = normalize(t - n * dot(n, t))
    return SimpleNamespace(t=t, b=cross(n, t), n=n)


def into(f: SimpleNamespace, v: Expr) -> Expr:
    """A direction of the surface's frame in the turned one."""
    return vec3(dot(f.t, v), dot(f.b, v), dot(f.n, v))


def back(f: SimpleNamespace, v: Expr) -> Expr:
    """A direction of the turned frame in the surface's."""
    return f.t * v.x + f.b * v.y + f.n * v.z


def same_side(f: SimpleNamespace, w: Expr) -> Expr:
    """Whether both frames see w on the same side: what only one of them sees as reflected is left out."""
    inner = dot(f.n, w)
    return (w.z * inner > 0.0) & (inner * inner > HORIZON * HORIZON)
