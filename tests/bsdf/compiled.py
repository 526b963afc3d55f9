"""Evaluation of large graphs at many directions by a lowered f64 kernel, where NumPy would take minutes."""

import numpy as np

from irys_ti import runtime
from irys_ti.graph import select
from irys_ti.runtime import array, ti, zeros
from tests.helpers.graphs import Program, _lowered, _width


class Compiled:
    """``outputs`` as a kernel of ``leaves``; ``run`` takes arrays as ``graph.evaluate`` does.

    The kernel is built again after Taichi restarts. Conditions come back as booleans.
    """

    def __init__(self, outputs: list, leaves: list):
        self.outputs, self.leaves = list(outputs), list(leaves)
        # A condition leaves the kernel as 0 or 1.
        self.real = [select(e, 1.0, 0.0) if e.boolean else e for e in outputs]
        self.kernel = None

    def release(self):
        """Called before Taichi restarts."""
        self.kernel = None

    def _build(self):
        n_in, n_out = sum(map(_width, self.leaves)), sum(map(_width, self.real))
        Program.outputs, Program.leaves = self.real, self.leaves

        @ti.kernel
        def apply(source: ti.types.ndarray(ndim=1), target: ti.types.ndarray(ndim=1), n: int):
            for i in range(n):
                results = _lowered([source[i * n_in + j] for j in ti.static(range(n_in))])
                for j in ti.static(range(n_out)):
                    target[i * n_out + j] = results[j]

        return apply

    def run(self, values: dict) -> list[np.ndarray]:
        runtime.init("cpu", "f64")
        batch = np.broadcast_shapes(*(np.shape(values[e])[: np.ndim(values[e]) - len(e.shape)] for e in self.leaves))
        n = batch[0] if batch else 1
        rows = [np.broadcast_to(values[e], (n, *e.shape)).reshape(n, -1) for e in self.leaves]
        n_out = sum(map(_width, self.real))
        source, target = array(np.concatenate(rows, 1).ravel()), zeros(n * n_out)
        if self.kernel is None:
            self.kernel = self._build()
            runtime.own(self)
        self.kernel(source, target, n)  # the first call traces it, and must see this program
        flat, out, at = target.to_numpy().reshape(n, n_out), [], 0
        for e in self.outputs:
            part = flat[:, at : at + _width(e)]
            at += _width(e)
            part = part if e.shape else part[:, 0]
            out.append(part > 0.5 if e.boolean else part)
        return out
