"""Phase functions from tables (kernels/bsdf/table.py): the cell of a direction, drawn or given, and what goes back to it.

A table's numbers (device/phase.py), VALUE_N cosines by VALUE_HEIGHT wavelengths: densities, chances, their cumulated sums, each
(wavelength, cosine); then the cosines and the wavelengths, increasing. Between wavelengths densities are mixed linearly.
"""

from irys_ti.kernels.accumulate import add_exact
from irys_ti.kernels.bsdf import find
from irys_ti.kernels.layout import (
    H_VALUES,
    MATERIAL_VALUES,
    META_SCALE,
    VALUE_DATA,
    VALUE_GRAD,
    VALUE_HEIGHT,
    VALUE_META,
    VALUE_N,
    VALUE_STRIDE,
)
from irys_ti.runtime import ti

LOW, HIGH, CHANCE_LOW, CHANCE_HIGH, START, WIDTH = range(1, 7)  # rows of bsdf/table.PARAMS
assert list(find("table").PARAMS)[START] == "start"


@ti.func
def table_of(ints: ti.template(), material):
    """The value record of a medium's table, by the record of its material."""
    return ints[H_VALUES] + (ints[material + MATERIAL_VALUES] + 1) * VALUE_STRIDE


@ti.func
def below(reals: ti.template(), at, n, x):
    """Number of the last of n increasing numbers that is not above x, from 0 to n - 2."""
    low, high = 0, n - 1
    while high - low > 1:
        middle = (low + high) // 2
        if reals[at + middle] <= x:
            low = middle
        else:
            high = middle
    return low


@ti.func
def mixed_rows(reals: ti.template(), ints: ti.template(), value, lam):
    """(row, the next row, its share) of a wavelength; beyond the ends the nearest row."""
    n, m = ints[value + VALUE_N], ints[value + VALUE_HEIGHT]
    at = ints[value + VALUE_DATA] + 3 * n * m + n
    row, share = 0, 0.0
    if m > 1:
        row = below(reals, at, m, lam)
        share = ti.math.clamp((lam - reals[at + row]) / (reals[at + row + 1] - reals[at + row]), 0.0, 1.0)
    return row, ti.min(row + 1, m - 1), share


@ti.func
def cell_of(reals: ti.template(), ints: ti.template(), value, wi, wo):
    """Number of the cell that the scattering angle's cosine lies in."""
    n, m = ints[value + VALUE_N], ints[value + VALUE_HEIGHT]
    return below(reals, ints[value + VALUE_DATA] + 3 * n * m, n, -wi.dot(wo))


@ti.func
def fill_values(
    data: ti.template(), reals: ti.template(), ints: ti.template(), value, cell, lambdas, first, low: ti.template(), rows: ti.template()
):
    """Mixed numbers at a cell's ends into two rows from ``low`` on; first: of the table's numbers; data: reals, or tangents."""
    n, base = ints[value + VALUE_N], ints[value + VALUE_DATA] + first
    for k in range(4):
        a, b, share = mixed_rows(reals, ints, value, lambdas[k])
        for end in ti.static(range(2)):
            i = cell + end
            rows[low + end, k] = (1.0 - share) * data[base + a * n + i] + share * data[base + b * n + i]


@ti.func
def fill_cell(
    reals: ti.template(), ints: ti.template(), kind, material, lambdas, wi, wo, rows: ti.template(), config: ti.template()
):
    """Before a value is asked for: the cell of wo into ``rows``, where the kind is a table."""
    for index, name in ti.static(config.bsdfs):
        if ti.static(name == "table"):
            if kind == ti.static(index):
                value = table_of(ints, material)
                n, m = ints[value + VALUE_N], ints[value + VALUE_HEIGHT]
                cell = cell_of(reals, ints, value, wi, wo)
                fill_values(reals, reals, ints, value, cell, lambdas, 0, LOW, rows)
                fill_values(reals, reals, ints, value, cell, lambdas, n * m, CHANCE_LOW, rows)
                at = ints[value + VALUE_DATA] + 3 * n * m + cell
                rows[START, 0], rows[WIDTH, 0] = reals[at], reals[at + 1] - reals[at]


@ti.func
def draw_cell(
    reals: ti.template(), ints: ti.template(), kind, material, lambdas, u, rows: ti.template(), config: ti.template()
):
    """Before a sample: a cell by u, into ``rows``, where the kind is a table. Returns u with its x from 0 to 1 in the cell.

    u.z chooses the wavelength, and which of the two rows beside it.
    """
    out = u
    for index, name in ti.static(config.bsdfs):
        if ti.static(name == "table"):
            if kind == ti.static(index):
                value = table_of(ints, material)
                n, m = ints[value + VALUE_N], ints[value + VALUE_HEIGHT]
                k = ti.min(ti.cast(4.0 * u[2], ti.i32), 3)
                lam = lambdas[3]
                for j in ti.static((2, 1, 0)):
                    lam = ti.select(k == j, lambdas[j], lam)
                a, b, share = mixed_rows(reals, ints, value, lam)
                row = ti.select(4.0 * u[2] - ti.cast(k, float) < share, b, a)
                chances = ints[value + VALUE_DATA] + n * m + row * n
                cell = below(reals, chances + n * m, n, u[0])
                at = chances + n * m + cell
                out[0] = ti.math.clamp((u[0] - reals[at]) / ti.max(reals[at + 1] - reals[at], 1e-30), 0.0, 1.0)
                rows[CHANCE_LOW, 0], rows[CHANCE_HIGH, 0] = reals[chances + cell], reals[chances + cell + 1]
                at = ints[value + VALUE_DATA] + 3 * n * m + cell
                rows[START, 0], rows[WIDTH, 0] = reals[at], reals[at + 1] - reals[at]
    return out


@ti.func
def fill_tangents(
    reals: ti.template(), tangents: ti.template(), ints: ti.template(), kind, material, lambdas, wi, wo, t_rows: ti.template(),
    config: ti.template(),
):  # fmt: skip
    """The tangents of the cell's densities."""
    for index, name in ti.static(config.bsdfs):
        if ti.static(name == "table"):
            if kind == ti.static(index):
                value = table_of(ints, material)
                fill_values(tangents, reals, ints, value, cell_of(reals, ints, value, wi, wo), lambdas, 0, LOW, t_rows)


@ti.func
def deposit_cell(
    reals: ti.template(), ints: ti.template(), acc: ti.template(), kind, material, lambdas, wi, wo, d_rows: ti.template(), replica,
    config: ti.template(),
):  # fmt: skip
    """Add the derivatives by the cell's densities to the table's accumulators, and clear them."""
    for index, name in ti.static(config.bsdfs):
        if ti.static(name == "table"):
            if kind == ti.static(index):
                value = table_of(ints, material)
                if ints[value + VALUE_GRAD] >= 0:
                    n, scale = ints[value + VALUE_N], reals[ints[value + VALUE_META] + META_SCALE]
                    cell = cell_of(reals, ints, value, wi, wo)
                    for tap in range(16):
                        k, side, end = tap >> 2, (tap >> 1) & 1, tap & 1
                        a, b, share = mixed_rows(reals, ints, value, lambdas[k])
                        row = ti.select(side == 1, b, a)
                        x = d_rows[LOW + end, k] * ti.select(side == 1, share, 1.0 - share)
                        if x != 0.0:
                            add_exact(acc, ints[value + VALUE_GRAD] + replica + row * n + cell + end, x * scale)
                for j in ti.static(range(LOW, WIDTH + 1)):
                    for k in ti.static(range(4)):
                        d_rows[j, k] = 0.0
