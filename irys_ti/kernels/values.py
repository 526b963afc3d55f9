"""Parameter values on the device: numbers, spectra and textures, looked up and differentiated.

A value gives four numbers, one for each wavelength of the path; a plain number gives the same four times.
"""

from irys_ti.kernels.accumulate import add_exact
from irys_ti.kernels.layout import (
    CHANNELS_MASK,
    CONSTANT,
    GRID,
    H_BANDS,
    H_D65,
    ILLUMINANT,
    LAMBDA_MIN,
    LAMBDA_STEP,
    META_INV_STEP,
    META_LAMBDA,
    META_SCALE,
    META_UV,
    N_LAMBDA,
    NEAREST,
    PER_PRIM,
    SIGMOID,
    TEXTURE,
    VALUE_DATA,
    VALUE_FLAGS,
    VALUE_GRAD,
    VALUE_HEIGHT,
    VALUE_KIND,
    VALUE_META,
    VALUE_N,
    WRAP_SHIFT,
)
from irys_ti.runtime import ti


@ti.func
def grid_cell(reals: ti.template(), meta, n, lam):
    """Cell and weight of a wavelength on a value's uniform grid; the last flag says whether it lies on it."""
    x = (lam - reals[meta + META_LAMBDA]) * reals[meta + META_INV_STEP]
    inside = x >= 0.0 and x <= ti.cast(n - 1, float)
    i = ti.math.clamp(ti.cast(ti.floor(x), ti.i32), 0, ti.max(n - 2, 0))
    return i, x - ti.cast(i, float), inside


@ti.func
def illuminant(reals: ti.template(), ints: ti.template(), lam):
    """CIE D65 scaled to luminance 1."""
    x = ti.math.clamp((lam - LAMBDA_MIN) / LAMBDA_STEP, 0.0, N_LAMBDA - 1.0)
    i = ti.min(ti.cast(ti.floor(x), ti.i32), N_LAMBDA - 2)
    w = x - ti.cast(i, float)
    base = ints[H_D65] + i
    return (1.0 - w) * reals[base] + w * reals[base + 1]


@ti.func
def band_at(reals: ti.template(), ints: ti.template(), band, lam):
    """One of the three spectra that the colours of splats mix (spectral/primaries.py)."""
    x = ti.math.clamp((lam - LAMBDA_MIN) / LAMBDA_STEP, 0.0, N_LAMBDA - 1.0)
    i = ti.min(ti.cast(ti.floor(x), ti.i32), N_LAMBDA - 2)
    w = x - ti.cast(i, float)
    base = ints[H_BANDS] + band * N_LAMBDA + i
    return (1.0 - w) * reals[base] + w * reals[base + 1]


@ti.func
def sigmoid(y):
    """1/2 + y / (2 sqrt(1 + y^2)); below 0 in a form that does not cancel."""
    r = ti.sqrt(1.0 + y * y)
    return ti.select(y < 0.0, 0.5 / (r * (r - y)), 0.5 + 0.5 * y / r)


@ti.func
def sigmoid_slope(y):
    q = 1.0 / ti.sqrt(1.0 + y * y)
    return 0.5 * q * q * q


@ti.func
def unit_lambda(lam):
    """Wavelength on [0, 1], the variable of the sigmoid's polynomial (spectral/upsample.py)."""
    return (lam - LAMBDA_MIN) / (LAMBDA_STEP * (N_LAMBDA - 1))


@ti.func
def wrapped(i, n, wrap):
    """Texel index under the wrap mode: 0 repeat, 1 clamp, 2 mirror."""
    repeated = i - ti.cast(ti.floor(ti.cast(i, float) / ti.cast(n, float)), ti.i32) * n
    period = 2 * n
    r2 = i - ti.cast(ti.floor(ti.cast(i, float) / ti.cast(period, float)), ti.i32) * period
    mirrored = ti.select(r2 < n, r2, period - 1 - r2)
    return ti.math.clamp(ti.select(wrap == 0, repeated, ti.select(wrap == 1, i, mirrored)), 0, n - 1)


@ti.func
def footprint(reals: ti.template(), ints: ti.template(), value, uv):
    """Column and row of the first of the four texels around uv, and how far uv is on its way to the next ones."""
    m, flags = ints[value + VALUE_META] + META_UV, ints[value + VALUE_FLAGS]
    u = reals[m] * uv[0] + reals[m + 1] * uv[1] + reals[m + 2]
    v = reals[m + 3] * uv[0] + reals[m + 4] * uv[1] + reals[m + 5]
    nearest = (flags & NEAREST) != 0
    half = ti.select(nearest, 0.0, 0.5)
    x = u * ti.cast(ints[value + VALUE_N], float) - half
    y = (1.0 - v) * ti.cast(ints[value + VALUE_HEIGHT], float) - half
    x0, y0 = ti.floor(x), ti.floor(y)
    # A uv far outside any image (or not finite) still has to give an index inside it.
    return ti.Vector([
        ti.math.clamp(x0, -1e6, 1e6), ti.math.clamp(y0, -1e6, 1e6), ti.select(nearest, 0.0, x - x0), ti.select(nearest, 0.0, y - y0)
    ])  # fmt: skip


@ti.func
def texel(ints: ti.template(), value, spot, tap):
    """Index (from VALUE_DATA) of one of the four texels of a footprint, and its weight."""
    flags = ints[value + VALUE_FLAGS]
    w, h, wrap = ints[value + VALUE_N], ints[value + VALUE_HEIGHT], (flags >> WRAP_SHIFT) & 3
    dx, dy = tap & 1, tap >> 1
    weight = ti.select(dx == 1, spot[2], 1.0 - spot[2]) * ti.select(dy == 1, spot[3], 1.0 - spot[3])
    i = wrapped(ti.cast(spot[0], ti.i32) + dx, w, wrap)
    j = wrapped(ti.cast(spot[1], ti.i32) + dy, h, wrap)
    return (j * w + i) * (flags & CHANNELS_MASK), weight


@ti.func
def colour_taps(ints: ti.template(), value):
    """Number of stored colours that a value blends: one, or a texture's four."""
    return ti.select(ints[value + VALUE_KIND] == TEXTURE, 4, 1)


@ti.func
def colour_spot(reals: ti.template(), ints: ti.template(), value, uv, kinds: ti.template()):
    """The footprint of a texture; zeros for another value."""
    spot = ti.Vector([0.0, 0.0, 0.0, 0.0])
    if ti.static(TEXTURE in kinds):
        if ints[value + VALUE_KIND] == TEXTURE:
            spot = footprint(reals, ints, value, uv)
    return spot


@ti.func
def colour_tap(ints: ti.template(), value, spot, tap, kinds: ti.template()):
    """Where one of those colours stands (from VALUE_DATA) and its weight."""
    i, w = 0, 1.0
    if ti.static(TEXTURE in kinds):
        if ints[value + VALUE_KIND] == TEXTURE:
            i, w = texel(ints, value, spot, tap)
    return i, w


@ti.func
def colour(reals: ti.template(), ints: ti.template(), value, lambdas, uv, kinds: ti.template()):
    """(four values of an RGB colour's smooth spectrum, its scale: 1 without a fourth channel).

    A texture blends spectra and scales apart, as Mitsuba does: next to a bright texel the hue turns before the
    brightness has come.
    """
    s, scale = ti.Vector([0.0, 0.0, 0.0, 0.0]), 0.0
    four = (ints[value + VALUE_FLAGS] & CHANNELS_MASK) == 4
    spot = colour_spot(reals, ints, value, uv, kinds)
    for tap in range(colour_taps(ints, value)):
        i, w = colour_tap(ints, value, spot, tap, kinds)
        if w > 0.0:
            base = ints[value + VALUE_DATA] + i
            for k in range(4):
                x = unit_lambda(lambdas[k])
                s[k] += w * sigmoid((reals[base] * x + reals[base + 1]) * x + reals[base + 2])
            if four:
                scale += w * reals[base + 3]
    return s, ti.select(four, scale, 1.0)


@ti.func
def colour_tangent(
    reals: ti.template(), tangents: ti.template(), ints: ti.template(), value, lambdas, uv, kinds: ti.template()
):
    """Derivatives of ``colour`` along the coefficients' tangents."""
    d_s, d_scale = ti.Vector([0.0, 0.0, 0.0, 0.0]), 0.0
    four = (ints[value + VALUE_FLAGS] & CHANNELS_MASK) == 4
    spot = colour_spot(reals, ints, value, uv, kinds)
    for tap in range(colour_taps(ints, value)):
        i, w = colour_tap(ints, value, spot, tap, kinds)
        if w > 0.0:
            base = ints[value + VALUE_DATA] + i
            for k in range(4):
                x = unit_lambda(lambdas[k])
                y = (reals[base] * x + reals[base + 1]) * x + reals[base + 2]
                dy = (tangents[base] * x + tangents[base + 1]) * x + tangents[base + 2]
                d_s[k] += w * sigmoid_slope(y) * dy
            if four:
                d_scale += w * tangents[base + 3]
    return d_s, d_scale


@ti.func
def lit_by(reals: ti.template(), ints: ti.template(), value, lambdas):
    """What multiplies a colour: CIE D65 for a light's, else 1."""
    out = ti.Vector([1.0, 1.0, 1.0, 1.0])
    if (ints[value + VALUE_FLAGS] & ILLUMINANT) != 0:
        for k in range(4):
            out[k] = illuminant(reals, ints, lambdas[k])
    return out


@ti.func
def lookup(
    reals: ti.template(), data: ti.template(), ints: ti.template(), value, lambdas, uv, kinds: ti.template(), tangent: ti.template()
):
    """The value at four wavelengths. ``data`` is the pool it is read from: reals, or tangents of the same layout."""
    kind, base, n = ints[value + VALUE_KIND], ints[value + VALUE_DATA], ints[value + VALUE_N]
    flags = ints[value + VALUE_FLAGS]
    out = ti.Vector([0.0, 0.0, 0.0, 0.0])
    if kind == CONSTANT:
        out += data[base]
    if ti.static(GRID in kinds):
        if kind == GRID:
            meta = ints[value + VALUE_META]
            for k in range(4):
                i, w, inside = grid_cell(reals, meta, n, lambdas[k])
                if inside:
                    out[k] = (1.0 - w) * data[base + i] + w * data[base + ti.min(i + 1, n - 1)]
    if ti.static(TEXTURE in kinds):
        if kind == TEXTURE and (flags & CHANNELS_MASK) == 1:
            spot = footprint(reals, ints, value, uv)
            for tap in range(4):
                i, w = texel(ints, value, spot, tap)
                if w > 0.0:
                    out += w * data[base + i]
    if ti.static(PER_PRIM in kinds):
        if kind == PER_PRIM:
            for k in range(4):
                for band in range(3):
                    weight = band_at(reals, ints, band, lambdas[k])
                    out[k] += weight * data[base + 3 * ti.cast(uv[0], ti.i32) + band]
    if ti.static(SIGMOID in kinds or TEXTURE in kinds):
        if kind == SIGMOID or (kind == TEXTURE and (flags & CHANNELS_MASK) > 1):
            s, scale = colour(reals, ints, value, lambdas, uv, kinds)
            if ti.static(tangent):
                d_s, d_scale = colour_tangent(reals, data, ints, value, lambdas, uv, kinds)
                out = d_s * scale + s * d_scale
            else:
                out = s * scale
            out *= lit_by(reals, ints, value, lambdas)
    return out


@ti.func
def deposit(
    reals: ti.template(), ints: ti.template(), acc: ti.template(), value, lambdas, uv, d, first, kinds: ti.template()
):
    """Adjoint of ``lookup``: spread d, one number per wavelength, over the value's accumulators.

    first: number of the accumulator where this replica starts.
    """
    kind, n, flags = ints[value + VALUE_KIND], ints[value + VALUE_N], ints[value + VALUE_FLAGS]
    base, meta = ints[value + VALUE_DATA], ints[value + VALUE_META]
    scale = reals[meta + META_SCALE]
    channels = flags & CHANNELS_MASK
    # Places that the value blends, and numbers that stand at each.
    places, numbers = 1, 1
    if kind == GRID:
        places = 8
    elif kind == PER_PRIM:
        places = 3
    elif kind == SIGMOID or kind == TEXTURE:
        places, numbers = colour_taps(ints, value), channels
    at = ints[value + VALUE_GRAD] + first
    spot, blend, blend_scale, lit = ti.Vector([0.0, 0.0, 0.0, 0.0]), ti.Vector([0.0, 0.0, 0.0, 0.0]), 1.0, d
    if ti.static(SIGMOID in kinds or TEXTURE in kinds):
        if channels > 1:
            lit = d * lit_by(reals, ints, value, lambdas)
        if channels == 4:
            blend, blend_scale = colour(reals, ints, value, lambdas, uv, kinds)
        spot = colour_spot(reals, ints, value, uv, kinds)
    for place in range(places):
        index, weight = 0, 1.0
        # By the number or, of a colour, by the three coefficients of its spectrum, highest power first, and by its scale.
        x0, x1, x2, x3 = d[0] + d[1] + d[2] + d[3], 0.0, 0.0, 0.0
        if ti.static(GRID in kinds):
            if kind == GRID:
                k, side = place >> 1, place & 1
                i, w, inside = grid_cell(reals, meta, n, lambdas[k])
                index = ti.min(i + side, n - 1)
                x0 = ti.select(inside, d[k] * ti.select(side == 1, w, 1.0 - w), 0.0)
        if ti.static(PER_PRIM in kinds):
            if kind == PER_PRIM:
                index, x0 = 3 * ti.cast(uv[0], ti.i32) + place, 0.0
                for k in range(4):
                    x0 += d[k] * band_at(reals, ints, place, lambdas[k])
        if ti.static(SIGMOID in kinds or TEXTURE in kinds):
            if kind == SIGMOID or kind == TEXTURE:
                index, weight = colour_tap(ints, value, spot, place, kinds)
                if channels > 1:
                    x0 = 0.0
                    b = base + index
                    for k in range(4):
                        s = unit_lambda(lambdas[k])
                        slope = lit[k] * blend_scale * sigmoid_slope((reals[b] * s + reals[b + 1]) * s + reals[b + 2])
                        x0, x1, x2, x3 = x0 + slope * s * s, x1 + slope * s, x2 + slope, x3 + lit[k] * blend[k]
        if weight != 0.0:
            for k in range(numbers):
                x = weight * ti.select(k == 0, x0, ti.select(k == 1, x1, ti.select(k == 2, x2, x3)))
                if x != 0.0:
                    add_exact(acc, at + index + k, x * scale)
