"""Sun and sky of Hosek and Wilkie (spectral/skymodel.py): a clear sky by turbidity, the ground's albedo and the sun's place.

Local +y is up; the sun's azimuth runs from -z (north) towards +x (east), as an environment map's u does. Light selection
chooses between two parts: the sky, drawn from a table of its radiance, and the sun, drawn evenly from its disc.

The sun's disc moves with its direction. Light drawn from the disc therefore rides with it: its derivative by the sun's
direction is the receiver's (``rides``), and the disc's rim then needs no boundary term. The edges of the shadows that it
casts move too: kernels/boundary/shadow.py samples them.

What the parameters make of the model's tables is worked out where they change (device/environment.py), with its
derivative by each; the pool holds, after the sun's direction and its disc, 11 x ROWS coefficients and as many
derivatives for each of INPUTS.
"""

from irys_ti.graph import Param
from irys_ti.graph.lowering import sincos
from irys_ti.kernels.frame import affine_transposed, affine_vector
from irys_ti.kernels.layout import LIGHT_DATA, LIGHT_HEIGHT, LIGHT_REALS, LIGHT_WIDTH
from irys_ti.kernels.light.table import pdf_table, sample_table
from irys_ti.runtime import ti
from irys_ti.spectral import skymodel
from irys_ti.spectral.skymodel import FIRST, ROWS, SKY, STEP, N

CLASS = "environment"
PARTS = 2  # sky, sun
SUN = 1
_MOVES = (
    "its derivative holds light, shading and the edges of the sun's shadows that the camera sees; not of those seen by way of "
    "other surfaces, nor the shadows of splats, nor its rim seen directly"
)
PARAMS = {
    "turbidity": Param("scalar", 3.0, 1.0, 10.0, doc="haze: 2 arctic, 3 clear, 6 warm and moist, 10 hazy"),
    "albedo": Param("scalar", 0.3, 0.0, 1.0, doc="the ground's, all around, at every wavelength"),
    "sun_elevation": Param("scalar", 45.0, 0.0, 90.0, doc=f"degrees above the horizon; {_MOVES}"),
    "sun_azimuth": Param("scalar", 0.0, float("-inf"), float("inf"), doc=f"degrees from -z (north) to +x (east); {_MOVES}"),
    "sky_scale": Param("scalar", 1.0, 0.0, float("inf"), doc="factor on the sky's radiance, W / (m^2 sr nm)"),
    "sun_scale": Param("scalar", 1.0, 0.0, float("inf"), doc="factor on the sun's radiance"),
    "sun_aperture": Param(
        "scalar", skymodel.SUN_DIAMETER, 0.01, 20.0, differentiable=False, why_not="it moves the sun's rim and nothing else",
        doc="degrees across the sun's disc; its irradiance stays",
    ),
}  # fmt: skip
NOTES = {"sun_elevation": _MOVES, "sun_azimuth": _MOVES}

# Offsets from LIGHT_DATA: the sun's local direction, 1 - cos of its angular radius, coefficients, derivatives.
DATA_SUN, DATA_CAP, DATA_TABLE = 0, 3, 4
DATA_SLOPES = DATA_TABLE + N * ROWS
DATA_CELLS = DATA_SLOPES + len(skymodel.INPUTS) * N * ROWS

TABLE = ROWS  # numbers at one of the table's wavelengths
TABLE_INPUTS = skymodel.INPUTS
RIDES = ("sun_elevation", "sun_azimuth")  # parameters that the disc's light moves with


def place(p, w):
    """What the radiance towards w takes beside the table."""
    sun = skymodel.sun_direction(p.sun_elevation, p.sun_azimuth)
    height, along, gamma, mu, factor = skymodel.place(-w, sun, p.sun_aperture)
    return height, along, gamma, mu, factor * p.sun_scale, p.sky_scale


def emit_at(rows, at):
    """Radiance at one of the table's wavelengths."""
    height, along, gamma, _, _, scale = at
    return skymodel.sky_radiance(rows[:SKY], height, along, gamma) * scale + emit_riding(rows, at)


def emit_riding(rows, at):
    """The part of it that rides with the sun."""
    _, _, _, mu, factor, _ = at
    return skymodel.sun_radiance(rows[SKY:], mu) * factor


def ride(p, d):
    """A direction on the disc, moving with RIDES."""
    return skymodel.ride(d, p.sun_elevation, p.sun_azimuth)


@ti.func
def table_cell(lam):
    """Table wavelength below a wavelength and the share of the one above."""
    x = ti.math.clamp((lam - FIRST) * (1.0 / STEP), 0.0, N - 1.0)
    i = ti.min(ti.cast(ti.floor(x), ti.i32), N - 2)
    return i, x - ti.cast(i, float)


@ti.func
def table_at(ints: ti.template(), light, i):
    """Where the numbers of table wavelength i start in reals."""
    return ints[light + LIGHT_REALS] + LIGHT_DATA + DATA_TABLE + i * ROWS


@ti.func
def slopes_at(ints: ti.template(), light, i, which):
    """Where their derivatives by TABLE_INPUTS[which] start."""
    return ints[light + LIGHT_REALS] + LIGHT_DATA + DATA_SLOPES + (which * N + i) * ROWS


@ti.func
def uv(reals: ti.template(), ints: ti.template(), light, d):
    """Where a texture would be read: nowhere."""
    return ti.Vector([0.5, 0.5])


@ti.func
def chord(reals: ti.template(), base, local):
    """Squared distance of a local unit direction from the sun's."""
    c = ti.Vector([0.0, 0.0, 0.0])
    for k in ti.static(range(3)):
        c[k] = local[k] - reals[base + LIGHT_DATA + DATA_SUN + k]
    return c.norm_sqr()


@ti.func
def rides(reals: ti.template(), ints: ti.template(), light, d):
    """1 for a world direction that meets the sun's disc."""
    base = ints[light + LIGHT_REALS]
    return ti.select(chord(reals, base, affine_vector(reals, base, d)) < 2.0 * reals[base + LIGHT_DATA + DATA_CAP], 1, 0)


@ti.func
def sample(reals: ti.template(), ints: ti.template(), light, part, u):
    """A direction to the sky or evenly on the sun's disc, and its density in that part."""
    base = ints[light + LIGHT_REALS]
    local, density = ti.Vector([0.0, 1.0, 0.0]), 0.0
    if part == SUN:
        at = base + LIGHT_DATA
        sun = ti.Vector([reals[at], reals[at + 1], reals[at + 2]])
        cap = reals[at + DATA_CAP]
        x = cap * u[0]  # 1 - cos of the angle from the disc's centre
        sine, cosine = sincos(6.283185307179586 * u[1])
        r = ti.sqrt(x * (2.0 - x))
        # Duff et al. 2017, "Building an orthonormal basis, revisited"
        sign = ti.select(sun[2] >= 0.0, 1.0, -1.0)
        a = -1.0 / (sign + sun[2])
        b = sun[0] * sun[1] * a
        s = ti.Vector([1.0 + sign * sun[0] * sun[0] * a, sign * b, -sign * sun[0]])
        t = ti.Vector([b, sign + sun[1] * sun[1] * a, -sun[1]])
        local = (sun * (1.0 - x) + s * (r * cosine) + t * (r * sine)).normalized()
        density = 0.15915494309189535 / cap
    else:
        cells = base + LIGHT_DATA + DATA_CELLS
        local, density = sample_table(reals, cells, ints[light + LIGHT_WIDTH], ints[light + LIGHT_HEIGHT], u)
    return affine_transposed(reals, base, local), density


@ti.func
def pdf(reals: ti.template(), ints: ti.template(), light, part, d):
    """Density with which that part draws the world direction d."""
    base = ints[light + LIGHT_REALS]
    local = affine_vector(reals, base, d)
    density = 0.0
    if part == SUN:
        cap = reals[base + LIGHT_DATA + DATA_CAP]
        density = ti.select(chord(reals, base, local) < 2.0 * cap, 0.15915494309189535 / cap, 0.0)
    else:
        cells = base + LIGHT_DATA + DATA_CELLS
        density = pdf_table(reals, cells, ints[light + LIGHT_WIDTH], ints[light + LIGHT_HEIGHT], local)
    return density
