"""Writing a part of an array in place."""

from irys_ti.runtime import ti


@ti.kernel
def write(target: ti.types.ndarray(ndim=1), offset: int, source: ti.types.ndarray(ndim=1), n: int):
    """target[offset : offset + n] = source[:n]"""
    for i in range(n):
        target[offset + i] = source[i]
