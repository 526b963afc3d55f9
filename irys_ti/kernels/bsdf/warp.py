"""Maps from uniform numbers to directions, as graphs."""

from __future__ import annotations

import math

from irys_ti.graph import Expr, cos, safe_sqrt, sin, sqrt, vec3


def polar(z: Expr, r: Expr, u: Expr) -> Expr:
    """The direction of height z and horizontal length r at azimuth 2 pi u."""
    phi = u * (2.0 * math.pi)
    return vec3(r * cos(phi), r * sin(phi), z)


def cosine_hemisphere(u: Expr) -> Expr:
    """A direction above the surface with density z / pi, from u.x and u.y in [0, 1)."""
    return polar(safe_sqrt(1.0 - u.x), sqrt(u.x), u.y)
