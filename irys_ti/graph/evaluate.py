"""Evaluation of graphs in NumPy, in double precision: what lowered kernels are tested against."""

from __future__ import annotations

import numpy as np

from irys_ti.graph.expr import Expr, topological
from irys_ti.graph.numpy_ops import NUMPY


def evaluate(exprs, leaves: dict) -> list[np.ndarray]:
    """The values of ``exprs`` as float64 (or bool) arrays.

    leaves: leaf node -> array of any leading batch dimensions, then the leaf's shape. Batches
    broadcast against each other; every result has the whole batch's dimensions, then its own shape.
    """
    exprs = list(exprs)
    values: dict[Expr, np.ndarray] = {}
    batch: tuple = ()
    for e, x in leaves.items():
        x = np.asarray(x, dtype=bool if e.boolean else np.float64)
        n = len(e.shape)
        if x.shape[x.ndim - n :] != e.shape:
            raise ValueError(f"{e!r}: an array of shape {x.shape} does not end in {e.shape}")
        values[e] = x
        batch = np.broadcast_shapes(batch, x.shape[: x.ndim - n])
    order = topological(exprs, stop=values)
    last_use = {a: i for i, e in enumerate(order) for a in e.args}
    keep = set(exprs) | set(leaves)
    with np.errstate(all="ignore"):
        for i, e in enumerate(order):
            if e in values:
                continue
            values[e] = _apply(e, values)
            for a in set(e.args):
                if last_use[a] == i and a not in keep:
                    del values[a]
    return [np.array(np.broadcast_to(values[e], batch + e.shape)) for e in exprs]


def _apply(e: Expr, values: dict) -> np.ndarray:
    if e.op == "const":
        return np.asarray(e.attr)
    if e.op == "leaf":
        raise KeyError(f"no value given for {e!r}")
    args = [values[a] for a in e.args]
    if e.op == "comp":
        return args[0][..., e.attr]
    if e.op == "sum":
        return args[0].sum(-1)
    if e.op == "dot":
        return (args[0] * args[1]).sum(-1)
    if e.op == "cross":
        return np.cross(*np.broadcast_arrays(*args))
    if e.op == "stack":
        return np.stack(np.broadcast_arrays(*args), -1)
    # Elementwise: a scalar's batch dimensions must stand left of the components.
    columns = [x[..., None] if e.shape and not a.shape else x for a, x in zip(e.args, args, strict=True)]
    if e.op == "broadcast":
        return np.broadcast_to(columns[0], columns[0].shape[:-1] + e.shape)
    return np.asarray(NUMPY[e.op](*columns))
