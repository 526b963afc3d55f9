"""What each operation means in NumPy: used to fold constants and to evaluate graphs."""

from __future__ import annotations

import numpy as np

# Elementwise operations by name; vectors keep their components in the last axis.
NUMPY = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "div": np.divide,
    "neg": np.negative,
    "sqrt": np.sqrt,
    "safe_sqrt": lambda x: np.sqrt(np.where(np.asarray(x) > 0, x, 0.0)),
    "exp": np.exp,
    "log": np.log,
    "sin": np.sin,
    "cos": np.cos,
    "tan": np.tan,
    "arccos": np.arccos,
    "abs": np.abs,
    "floor": np.floor,
    "atan2": np.arctan2,
    "pow": np.power,
    "lt": np.less,
    "le": np.less_equal,
    "and": np.logical_and,
    "or": np.logical_or,
    "not": np.logical_not,
    "select": np.where,
    "stop": lambda x: x,
}
