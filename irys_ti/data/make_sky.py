"""Make sky.npz: ``python -m irys_ti.data.make_sky FILE`` with FILE the ``sunsky_datasets.bin`` of the PyPI package mitsuba.

The numbers are those that Hosek and Wilkie published with their sky model and its solar radiance function; the
package of another renderer carries them under their licence, as a file of named tensors: "tensor_file" and a zero
byte, version (2 bytes), number of tensors (u32), and for each the length of its name (u16), the name, its number of
dimensions (u16), type (u8; 11 is f64), offset (u64) and dimensions (u64 each); everything little-endian.
"""

from __future__ import annotations

import struct
import sys
from pathlib import Path

import numpy as np

SOURCE = (
    "L. Hosek and A. Wilkie, 'An Analytic Model for Full Spectral Sky-Dome Radiance', ACM Transactions on Graphics 31(4), "
    "2012, and 'Adding a Solar-Radiance Function to the Hosek-Wilkie Skylight Model', IEEE CG&A 33(3), 2013; spectral "
    "data sets, https://cgg.mff.cuni.cz/projects/SkylightModelling/; licence beside this file, sky.LICENSE"
)
# Name in the file -> name here and shape. Axes: turbidity 1 to 10; ground albedo 0, 1; control points over the sun's
# elevation, or segments of it; wavelengths 320, 360, ..., 720 nm; coefficients.
TENSORS = {
    "sky_params_spec": ("shape", (10, 2, 6, 11, 9)),
    "sky_rad_spec": ("radiance", (10, 2, 6, 11)),
    "sun_rad_spec": ("sun", (10, 45, 11, 4)),
    "sun_ld_spec": ("limb", (11, 6)),
}


def tensors(data: bytes) -> dict[str, np.ndarray]:
    """The f64 tensors of such a file, by name."""
    magic = b"tensor_file\0"
    if not data.startswith(magic):
        raise ValueError("not a file of tensors")
    at = len(magic) + 2
    (n,) = struct.unpack_from("<I", data, at)
    at, found = at + 4, {}
    for _ in range(n):
        (length,) = struct.unpack_from("<H", data, at)
        name = data[at + 2 : at + 2 + length].decode()
        n_dims, kind, offset = struct.unpack_from("<HBQ", data, at + 2 + length)
        at += 2 + length + 11
        shape = struct.unpack_from(f"<{n_dims}Q", data, at)
        at += 8 * n_dims
        if kind == 11:
            found[name] = np.frombuffer(data, "<f8", int(np.prod(shape)), offset).reshape(shape)
    return found


def main(path: Path) -> None:
    """Write the tables beside this file."""
    found, tables = tensors(path.read_bytes()), {}
    for name, (key, shape) in TENSORS.items():
        if found[name].shape != shape:
            raise ValueError(f"{path}: {name} has shape {found[name].shape}, {shape} was expected")
        tables[key] = found[name]
    np.savez_compressed(Path(__file__).with_name("sky.npz"), source=np.array(SOURCE), **tables)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
