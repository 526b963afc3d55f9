"""Device arrays that are lent out and come back, so that the steps of a fit allocate nothing."""

from __future__ import annotations

import numpy as np

from irys_ti import runtime


class Scratch:
    """Arrays that nobody uses at present, by type."""

    def __init__(self):
        self.free: dict[str, list] = {}  # by Taichi's name of the type

    def borrow(self, n: int, dtype=None):
        """A device array of at least n numbers, whatever it holds; dtype: NumPy's, by default the tier's real.

        Not one that is far larger: the host reads some of them whole.
        """
        dtype = np.dtype(dtype or runtime.real_dtype())
        free = self._free(dtype)
        fits = [i for i, array in enumerate(free) if n <= array.shape[0] <= 4 * n + 4096]
        if fits:
            return free.pop(min(fits, key=lambda i: free[i].shape[0]))
        return runtime.zeros(n, dtype)

    def lend(self, values: np.ndarray, dtype=None):
        """A device array of just these numbers."""
        values = np.ascontiguousarray(values, dtype or runtime.real_dtype()).reshape(-1)
        free = self._free(values.dtype)
        for i, array in enumerate(free):
            if array.shape[0] == values.size:
                array.from_numpy(values)
                return free.pop(i)
        return runtime.array(values, values.dtype)

    def give_back(self, *arrays) -> None:
        """Return what was borrowed or lent."""
        for array in arrays:
            self.free.setdefault(str(array.dtype), []).append(array)

    def _free(self, dtype: np.dtype) -> list:
        return self.free.setdefault(f"{dtype.kind}{8 * dtype.itemsize}", [])

    def clear(self) -> None:
        """Drop everything."""
        self.free.clear()
