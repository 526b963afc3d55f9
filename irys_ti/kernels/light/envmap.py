"""Environment map: radiance by direction, latitude-longitude, importance-sampled by luminance times sin(theta).

Local +y is up; u runs with the azimuth atan2(x, -z). Texels are centred along u; along v the first row is straight
up and the last one straight down (Mitsuba 3's layout), so that the poles need no neighbours.
"""

from irys_ti.graph import Param
from irys_ti.kernels.frame import affine_transposed, affine_vector
from irys_ti.kernels.layout import LIGHT_DATA, LIGHT_HEIGHT, LIGHT_REALS, LIGHT_WIDTH
from irys_ti.kernels.light.table import latitude_longitude, pdf_table, sample_table
from irys_ti.runtime import ti

CLASS = "environment"
PARAMS = {
    "radiance": Param("spectrum", 1.0, 0.0, float("inf"), doc="a texture of the whole sphere, or one spectrum"),
    "scale": Param("scalar", 1.0, 0.0, float("inf")),
    "rotation": Param(
        "scalar", 0.0, float("-inf"), float("inf"), differentiable=False,
        why_not="it slides the map's texels over fixed directions; differentiate the texels, or compare rotations by rendering",
        doc="degrees about the map's up axis, from -z towards +x",
    ),
}  # fmt: skip


def emit(p, w):
    """Radiance towards w; the texture was looked up at the direction's uv."""
    return p.radiance * p.scale


@ti.func
def uv(reals: ti.template(), ints: ti.template(), light, d):
    """Texture coordinates of the world direction d towards the environment."""
    u, y = latitude_longitude(affine_vector(reals, ints[light + LIGHT_REALS], d))
    h = ti.cast(ints[light + LIGHT_HEIGHT], float)
    return ti.Vector([u, 1.0 - (y * (h - 1.0) + 0.5) / h])


@ti.func
def sample(reals: ti.template(), ints: ti.template(), light, part, u):
    """A direction by the piecewise-constant density of the table, and its density over solid angle."""
    base = ints[light + LIGHT_REALS]
    local, density = sample_table(reals, base + LIGHT_DATA, ints[light + LIGHT_WIDTH], ints[light + LIGHT_HEIGHT], u)
    return affine_transposed(reals, base, local), density


@ti.func
def pdf(reals: ti.template(), ints: ti.template(), light, part, d):
    """Density of ``sample`` at the world direction d."""
    base = ints[light + LIGHT_REALS]
    local = affine_vector(reals, base, d)
    return pdf_table(reals, base + LIGHT_DATA, ints[light + LIGHT_WIDTH], ints[light + LIGHT_HEIGHT], local)


def power(mean: dict, light, area: float, radius: float) -> float:
    """Flux into the scene's bounding sphere: 4 pi^2 r^2 times the mean radiance."""
    return 39.4784176 * radius**2 * mean["radiance"] * mean["scale"]
