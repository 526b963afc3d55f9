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
def texel(reals: ti.template(), ints: ti.template(), value, uv, tap):
    """Index (from VALUE_DATA) of one of the four texels around uv, and its weight."""
    meta, flags = ints[value + VALUE_META], ints[value + VALUE_FLAGS]
    w, h = ints[value + VALUE_N], ints[value + VALUE_HEIGHT]
    m = meta + META_UV
    u = reals[m] * uv[0] + reals[m + 1] * uv[1] + reals[m + 2]
    v = reals[m + 3] * uv[0] + reals[m + 4] * uv[1] + reals[m + 5]
    half = ti.select((flags & NEAREST) != 0, 0.0, 0.5)
    x = u * ti.cast(w, float) - half
    y = (1.0 - v) * ti.cast(h, float) - half
    x0, y0 = ti.floor(x), ti.floor(y)
    fx, fy = x - x0, y - y0
    dx, dy = tap & 1, tap >> 1
    weight = ti.select(dx == 1, fx, 1.0 - fx) * ti.select(dy == 1, fy, 1.0 - fy)
    if (flags & NEAREST) != 0:
        weight = ti.select(tap == 0, 1.0, 0.0)
    wrap = (flags >> WRAP_SHIFT) & 3
    # A uv far outside any image (or not finite) still has to give an index inside it.
    i = wrapped(ti.cast(ti.math.clamp(x0, -1e6, 1e6), ti.i32) + dx, w, wrap)
    j = wrapped(ti.cast(ti.math.clamp(y0, -1e6, 1e6), ti.i32) + dy, h, wrap)
    return (j * w + i) * (flags & CHANNELS_MASK), weight


@ti.func
def colour_taps(ints: ti.template(), value):
    """Number of stored colours that a value blends: one, or a texture's four."""
    return ti.select(ints[value + VALUE_KIND] == TEXTURE, 4, 1)


@ti.func
def colour_tap(reals: ti.template(), ints: ti.template(), value, uv, tap, kinds: ti.template()):
    """Where one of those colours stands (from VALUE_DATA) and its weight."""
    i, w = 0, 1.0
    if ti.static(TEXTURE in kinds):
        if ints[value + VALUE_KIND] == TEXTURE:
            i, w = texel(reals, ints, value, uv, tap)
    return i, w


@ti.func
def colour(reals: ti.template(), ints: ti.template(), value, lambdas, uv, kinds: ti.template()):
    """(four values of an RGB colour's smooth spectrum, its scale: 1 without a fourth channel).

    A texture blends spectra and scales apart, as Mitsuba does: next to a bright texel the hue turns before the
    brightness has come.
    """
    s, scale = ti.Vector([0.0, 0.0, 0.0, 0.0]), 0.0
    four = (ints[value + VALUE_FLAGS] & CHANNELS_MASK) == 4
    for tap in range(colour_taps(ints, value)):
        i, w = colour_tap(reals, ints, value, uv, tap, kinds)
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
    for tap in range(colour_taps(ints, value)):
        i, w = colour_tap(reals, ints, value, uv, tap, kinds)
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
            for tap in range(4):
                i, w = texel(reals, ints, value, uv, tap)
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
    taps = 1
    if kind == GRID:
        taps = 8
    elif kind == SIGMOID:
        taps = channels
    elif kind == TEXTURE:
        taps = 4 * channels
    elif kind == PER_PRIM:
        taps = 3
    at = ints[value + VALUE_GRAD] + first
    blend, blend_scale, light = ti.Vector([0.0, 0.0, 0.0, 0.0]), 1.0, ti.Vector([1.0, 1.0, 1.0, 1.0])
    if ti.static(SIGMOID in kinds or TEXTURE in kinds):
        if channels > 1:
            blend, blend_scale = colour(reals, ints, value, lambdas, uv, kinds)
            light = lit_by(reals, ints, value, lambdas)
    for tap in range(taps):
        index, x = 0, d[0] + d[1] + d[2] + d[3]
        if ti.static(GRID in kinds):
            if kind == GRID:
                k, side = tap >> 1, tap & 1
                i, w, inside = grid_cell(reals, meta, n, lambdas[k])
                index = ti.min(i + side, n - 1)
                x = ti.select(inside, d[k] * ti.select(side == 1, w, 1.0 - w), 0.0)
        if ti.static(PER_PRIM in kinds):
            if kind == PER_PRIM:
                index, x = 3 * ti.cast(uv[0], ti.i32) + tap, 0.0
                for k in range(4):
                    x += d[k] * band_at(reals, ints, tap, lambdas[k])
        if ti.static(SIGMOID in kinds or TEXTURE in kinds):
            if kind == SIGMOID or kind == TEXTURE:
                corner = tap // channels
                channel = tap - corner * channels
                i, weight = colour_tap(reals, ints, value, uv, corner, kinds)
                index = i + channel
                if channels > 1:
                    x = 0.0
                    for k in range(4):
                        s = unit_lambda(lambdas[k])
                        b = base + i
                        y = (reals[b] * s + reals[b + 1]) * s + reals[b + 2]
                        power = ti.select(channel == 0, s * s, ti.select(channel == 1, s, 1.0))
                        g = ti.select(channel == 3, blend[k], power * sigmoid_slope(y) * blend_scale)
                        x += d[k] * g * light[k]
                x *= weight
        if x != 0.0:
            add_exact(acc, at + index, x * scale)
