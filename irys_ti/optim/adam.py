"""Adam (Kingma and Ba 2015) for gradients that are noisy and parameters of very different units.

Each number moves in units of its own ``scale`` (its range, or its size where it has no range), so that one
learning rate serves a roughness and a lamp alike. Bounds are kept by clipping, which also forgets the momentum
that pushed outwards.
"""

from __future__ import annotations

import numpy as np

FLOOR = 1e-3  # of a parameter's largest second moment: unseen texels do not walk on their noise


class Adam:
    """First and second moments of named arrays. ``state()`` and ``restore()`` carry them over a restart.

    beta1, beta2: how much of the moments is kept each step. A fit of tens of steps needs a short memory in
    beta2: gradients shrink by orders of magnitude on the way.
    """

    def __init__(self, beta1: float = 0.5, beta2: float = 0.9):
        if not (0 <= beta1 < 1 and 0 <= beta2 < 1):
            raise ValueError(f"beta1 {beta1} and beta2 {beta2} must be in [0, 1)")
        self.beta1, self.beta2 = beta1, beta2
        self.moments: dict[str, tuple[np.ndarray, np.ndarray]] = {}
        self.step_count = 0

    def step(self, values: dict, grads: dict, rates: dict, low: dict, high: dict) -> dict[str, np.ndarray]:
        """New values of all names in ``values``; none of the arguments is changed.

        rates: {name: step length}, a number or an array like the value: learning rate times scale. A number
        whose gradient is not finite stays where it is, and so does its moment.
        """
        self.step_count += 1
        t, new = self.step_count, {}
        for name, x in values.items():
            grad = np.asarray(grads[name], np.float64)
            m, v = self.moments.get(name) or (np.zeros_like(grad), np.zeros_like(grad))
            good = np.isfinite(grad)
            grad = np.where(good, grad, 0.0)
            m = np.where(good, self.beta1 * m + (1 - self.beta1) * grad, m)
            v = np.where(good, self.beta2 * v + (1 - self.beta2) * grad**2, v)
            m_hat, v_hat = m / (1 - self.beta1**t), v / (1 - self.beta2**t)
            root = np.sqrt(v_hat)
            root = root + FLOOR * root.max(initial=0.0)
            delta = -np.asarray(rates[name]) * np.divide(m_hat, root, out=np.zeros_like(m_hat), where=root > 0)
            delta = np.where(good, delta, 0.0)
            moved = x + delta
            kept = np.where(delta == 0, x, np.clip(moved, low[name], high[name]))
            self.moments[name] = np.where(kept == moved, m, 0.0), v
            new[name] = kept
        return new

    def state(self) -> dict[str, np.ndarray]:
        """Everything that the next step depends on, as flat names for ``np.savez``."""
        out = {"adam.steps": np.int64(self.step_count)}
        for name, (m, v) in self.moments.items():
            out[f"adam.m.{name}"], out[f"adam.v.{name}"] = m, v
        return out

    def restore(self, state) -> None:
        """Take over what ``state`` gave."""
        self.step_count = int(state["adam.steps"])
        names = [key[len("adam.m.") :] for key in state if key.startswith("adam.m.")]
        self.moments = {n: (np.array(state[f"adam.m.{n}"]), np.array(state[f"adam.v.{n}"])) for n in names}
