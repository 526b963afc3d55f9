"""Outlines of curves: two sides of every piece, and the balls at the ends of strands (NumPy)."""

from __future__ import annotations

import numpy as np

from irys_ti.kernels import layout
from irys_ti.scene import Curves
from irys_ti.scene.curves import FIRST_END, LAST_END

END_ON = 0.25  # of its radius: what a side weighs that is seen end on


class Tubes:
    """Outlines of one shape, in its own space; the same face as device/edge_table.Lines.

    length: (n,): of all pieces' one sides, of their other sides, of the balls.
    """

    def __init__(self, shape: Curves):
        pieces = shape.pieces()
        p = np.stack([pieces["p0"], pieces["p3"]], 1)  # (pieces, 2, 4)
        bits = pieces["bits"].astype(np.int64)
        self.of, self.end = np.nonzero(np.stack([bits & FIRST_END, bits & LAST_END], 1))
        self.a, self.b = p[:, 0, :3], p[:, 1, :3]
        self.radius = np.max([pieces[f"p{i}"][:, 3] for i in range(4)], axis=0)
        self.balls = p[self.of, self.end]
        side = np.linalg.norm(self.b - self.a, axis=1) + END_ON * self.radius
        self.length = np.r_[side, side, 2 * np.pi * self.balls[:, 3]]

    def __len__(self) -> int:
        return len(self.length)

    def records(self, first: int) -> np.ndarray:
        """(n, EDGE_STRIDE) what the device knows of them. first: number of the shape's first primitive."""
        n = len(self.a)
        r = np.full((len(self), layout.EDGE_STRIDE), -1, np.int32)
        r[:, layout.EDGE_KIND] = np.where(np.arange(len(r)) < 2 * n, layout.EDGE_TUBE, layout.EDGE_CAP)
        r[:, layout.EDGE_PRIM] = first + np.r_[np.arange(n), np.arange(n), self.of]
        r[:, layout.EDGE_A] = np.r_[np.zeros(n, int), np.ones(n, int), self.end]
        return r

    def seen_from(self, eye: np.ndarray, sides: np.ndarray) -> np.ndarray:
        """(n,) apparent lengths from a point in this space, 0 for what is out of view.

        sides: (k, 4) half spaces beyond which nothing is seen.
        """
        to = 0.5 * (self.a + self.b) - eye
        square = np.maximum((to * to).sum(1), 1e-30)
        out = np.linalg.norm(np.cross(self.b - self.a, to), axis=1) / square + END_ON * self.radius / np.sqrt(square)
        for *n, c in sides:
            reach = self.radius * np.linalg.norm(n)
            out[((self.a * n).sum(1) + c > reach) & ((self.b * n).sum(1) + c > reach)] = 0.0
        far, r = np.linalg.norm(self.balls[:, :3] - eye, axis=1), self.balls[:, 3]
        return np.r_[out, out, np.where(far > r, 2 * np.pi * r / np.maximum(far, 1e-30), 0.0)]
