"""What a BSDF's ``sample`` returns."""

from __future__ import annotations

from typing import NamedTuple

from irys_ti.graph import Expr


class Sample(NamedTuple):
    """wo: sampled direction, local (vec3). delta: True, False or a condition graph: whether wo lies on a
    delta lobe, whose value and probability are ``eval_delta`` and ``pdf_delta``."""

    wo: Expr
    delta: Expr | bool = False
