"""Phase functions: tables, and droplets against Mie's theory; their samplers, densities and derivatives."""

import numpy as np
import pytest

import irys_ti as it
from irys_ti import graph as g
from irys_ti import io, runtime
from irys_ti.check.differences import weight_image
from irys_ti.device.compile import compiled
from irys_ti.device.encode import encode
from irys_ti.errors import SceneError
from irys_ti.kernels.bsdf import find, parameters
from irys_ti.kernels.config import PRIMAL
from irys_ti.kernels.layout import H_MATERIALS, MATERIAL_KIND, MATERIAL_STRIDE, MATERIAL_VALUES
from irys_ti.kernels.phase_table import draw_cell, fill_cell
from irys_ti.kernels.shading import eval_bsdf, lookup_rows, sample_bsdf
from irys_ti.runtime import ti
from irys_ti.scene import constant, points
from irys_ti.scene.transform import look_at
from irys_ti.spectral.cie import response
from tests.bsdf.cases import WI, WO, Model, U, direction, sphere
from tests.helpers import chi2
from tests.helpers.graphs import check_derivatives
from tests.helpers.media import ball
from tests.helpers.statistics import assert_z, mean_and_error, sample, z_scores

COSINES = np.array([-1.0, -0.7, -0.1, 0.4, 0.8, 0.97, 1.0])
ROWS = np.array([[0.6, 0.2, 0.0, 0.0, 1.0, 6.0, 15.0], [2.0, 1.0, 0.5, 0.3, 0.3, 0.1, 0.05]])
TABLE = it.PhaseTable(COSINES, ROWS, [450.0, 650.0])
LAMBDAS = np.array([430.0, 500.0, 620.0, 700.0])


def lit(phase, pixels=8, **values):
    """A ball of fog lit from the side and a little from all around; its kernels are those of the other scenes of media."""
    scene = ball({"sigma_t": 1.5, "albedo": 0.9, **values}, [0, 0, 4], phase=phase, fov=25, pixels=pixels, sky=0.2, depth=6)
    scene.lights[1] = it.Light("bulb", "point", {"intensity": constant(20.0)}, look_at([3, 1, 1], [0, 0, 0], [0, 1, 0]))
    return scene


def densities(table, lambdas, cosines, even=0.0):
    """Oracle: the normalised table at each wavelength, or what directions are drawn by, from its definition."""
    x, w = np.polynomial.legendre.leggauss(2)
    a, b = table.cosines[:-1, None], table.cosines[1:, None]
    out = []
    for row in np.atleast_2d(table.values):
        for floor in (0.0, even):
            row = np.maximum(row, floor * 0.25 / np.pi)
            row = row / (2 * np.pi * (np.interp((a + b) / 2 + (b - a) / 2 * x, table.cosines, row) * w * (b - a) / 2).sum())
        out.append(np.interp(cosines, table.cosines, row))
    t = np.interp(lambdas, table.wavelengths, np.arange(len(out)))
    low = np.minimum(t.astype(int), len(out) - 2)
    return np.array([(1 - f) * out[i] + f * out[i + 1] for i, f in zip(low, t - low)])


@ti.kernel
def draw(
    reals: ti.types.ndarray(ndim=1), ints: ti.types.ndarray(ndim=1), u: ti.types.ndarray(ndim=1), wo: ti.types.ndarray(ndim=1),
    out: ti.types.ndarray(ndim=1), n: int, number: int, x: float, y: float, z: float, config: ti.template(),
):  # fmt: skip
    """Directions by u, or where u[0] < 0 those of wo; and their values and densities: 8 numbers each."""
    for lane in range(n):
        rows = ti.Matrix.zero(float, config.bsdf_rows, 4)
        material = ints[H_MATERIALS] + number * MATERIAL_STRIDE
        kind, wi = ints[material + MATERIAL_KIND], ti.Vector([x, y, z])
        lambdas = ti.Vector([430.0, 500.0, 620.0, 700.0])
        lookup_rows(reals, reals, ints, ints[material + MATERIAL_VALUES], 1, lambdas, ti.Vector([0.0, 0.0]), rows, config, False)
        w = ti.Vector([wo[3 * lane], wo[3 * lane + 1], wo[3 * lane + 2]])
        if u[0] >= 0.0:
            drawn = ti.Vector([u[3 * lane], u[3 * lane + 1], u[3 * lane + 2]])
            drawn = draw_cell(reals, ints, kind, material, lambdas, drawn, rows, config)
            w, delta = sample_bsdf(kind, rows, wi, drawn, lambdas, config)
        fill_cell(reals, ints, kind, material, lambdas, wi, w, rows, config)
        f, pdf = eval_bsdf(kind, rows, wi, w, 0, lambdas, config)
        for k in ti.static(range(3)):
            out[8 * lane + k] = w[k]
        for k in ti.static(range(4)):
            out[8 * lane + 3 + k] = f[k]
        out[8 * lane + 7] = pdf


def on_device(scene, wi, u=None, wo=None):
    """(wo, value (n, 4), density (n,)) for uniforms or directions (n, 3)."""
    device, n = compiled(scene), len(u if wo is None else wo)
    device.set_channels(response())
    out = runtime.zeros(8 * n)
    u = np.full(3, -1.0) if u is None else u
    arrays = [runtime.array(np.asarray(a, np.float64).reshape(-1)) for a in (u, np.zeros((n, 3)) if wo is None else wo)]
    draw(device.reals, device.ints, *arrays, out, n, len(scene.materials), *wi, device.config(PRIMAL))
    found = out.to_numpy().reshape(n, 8)
    return found[:, :3], found[:, 3:7], found[:, 7]


def test_a_table_is_drawn_by_its_density(f64):
    """chi-squared against the table's definition, with the control that another table's is told; value, density, integral."""
    scene, wi, rng = lit("table", phase_values=TABLE), direction(0.3), np.random.default_rng(3)
    wo, value, pdf = on_device(scene, wi, u=rng.random((100_000, 3)))
    even = it.PhaseTable(COSINES, np.ones_like(ROWS), TABLE.wavelengths)

    def chance(table):
        return lambda w: densities(table, LAMBDAS, -w @ wi, 1 / 32).mean(0)

    chi2.check(wo, chance(TABLE), 1e-3, "phase table")
    off = it.PhaseTable(COSINES, ROWS * [1, 1, 1, 1, 1.25, 1, 1], TABLE.wavelengths)
    for wrong in (even, off):
        with pytest.raises(AssertionError, match="chi2"):
            chi2.check(wo, chance(wrong), 1e-3, "control phase table")
    np.testing.assert_allclose(pdf, chance(TABLE)(wo), rtol=1e-9)
    np.testing.assert_allclose(value, 0.9 * densities(TABLE, LAMBDAS, -wo @ wi).T, rtol=1e-9, atol=1e-12)
    assert (value.max(1) / pdf).max() < 4.2 and (value.mean(1)[pdf > 0.1] / pdf[pdf > 0.1]).min() > 0.85
    everywhere = sphere(rng, 5000)
    _, value, pdf = on_device(scene, wi, wo=everywhere)
    np.testing.assert_allclose(value, 0.9 * densities(TABLE, LAMBDAS, -everywhere @ wi).T, rtol=1e-9, atol=1e-12)
    assert pdf.min() > 0  # where the table is 0 too: its derivative is met


def test_graph_of_a_cell():
    """The graph's derivatives at 1e-6, directions included; and its sampler within one cell."""
    module, rng, n = find("table"), np.random.default_rng(4), 64
    p = parameters(module)
    values = {getattr(p, k): rng.uniform(0.1, 1.0, (n, *q.shape)) for k, q in module.PARAMS.items()}
    values |= {p.start: np.full(n, -1.0), p.width: np.full(n, 2.0), WI: sphere(rng, n), WO: sphere(rng, n)}
    wrt = [p.albedo, p.value_low, p.value_high]
    check_derivatives([module.eval(p, WI, WO)], values, wrt, step=1e-5)
    check_derivatives([module.eval(p, WI, WO)], values, [WI, WO], scale={WI: 1e-2, WO: 1e-2}, step=1e-3)
    with pytest.raises(AssertionError, match="finite difference"):
        check_derivatives([module.eval(p, WI, WO) + 1e-3 * g.stop_gradient(p.value_low)], values, wrt, step=1e-5)
    one = {p.chance_low: np.full(4, 0.02), p.chance_high: np.full(4, 0.14), p.start: -1.0, p.width: 2.0}
    wi = direction(-0.5)
    (wo,) = g.evaluate([module.sample(p, WI, U).wo], one | {WI: wi, U: rng.random((100_000, 3))})
    (pdf,) = g.evaluate([module.pdf(p, WI, WO)], one | {WI: wi, WO: wo})
    assert pdf.min() > 0 and np.mean(1 / pdf) == pytest.approx(4 * np.pi, rel=0.02) and np.mean(-wo @ wi) == pytest.approx(0.25, abs=0.01)


def test_derivative_of_the_normalisation():
    """What is done on the host between the table and the device's densities, against differences, both ways."""
    table, rng, h = TABLE, np.random.default_rng(5), 1e-6
    e, t = encode(table, True), rng.standard_normal(ROWS.shape)
    ends = [encode(it.PhaseTable(COSINES, ROWS + s * h * t, table.wavelengths), True).data[: ROWS.size] for s in (1, -1)]
    np.testing.assert_allclose(e.push(t)[: ROWS.size], (ends[0] - ends[1]) / (2 * h), rtol=1e-6, atol=1e-7)
    d = np.r_[rng.standard_normal(ROWS.size), np.zeros(e.data.size - ROWS.size)]
    assert (e.pull(d) * t).sum() == pytest.approx(e.push(t) @ d, rel=1e-12)
    assert (e.pull(d) * ROWS).sum(1) == pytest.approx(0.0, abs=1e-12)  # a factor on a row changes nothing


def test_derivatives_by_a_table(f64):
    """Reverse mode against central differences of the picture, zeros of the table included; forward mode its transpose."""
    scene, path = lit("table", phase_values=TABLE, albedo=points([400, 700], [0.9, 0.7])), "fog.phase_values"
    u, p, rng = weight_image(scene), it.parameters(scene), np.random.default_rng(6)
    ways = rng.uniform(0.2, 1.0, ROWS.shape), np.where(ROWS == 0.0, 1.0, 0.0)

    def differences(seed):
        out = []
        for way, h in zip(ways, (0.05, 0.02)):
            ends = []
            for k in (0, 1, 2):  # one-sided: no number is below 0
                p[path] = ROWS + k * h * way
                ends.append(float((u * it.render(scene, 64, seed)).sum()))
            out.append((4 * ends[1] - 3 * ends[0] - ends[2]) / (2 * h))
        p[path] = ROWS
        return out

    def reverse(seed):
        found = it.backward(scene, u, 64, seed, [path, "fog.sigma_t"])
        assert found.replayed == (64 * 64, 64 * 64)
        return [float((found[path] * way).sum()) for way in ways]

    fd, found = sample(differences, range(12)), sample(reverse, range(50, 62))
    mean, error = mean_and_error(fd)
    print(mean, error, mean_and_error(found))
    assert_z(found, mean, error)
    assert (np.abs(z_scores(1.3 * found, mean, error)) > 4).all()
    v, tangent = rng.standard_normal(ROWS.shape), it.backward(scene, u, 8, 5, [path, "fog.sigma_t"])[path]
    along = it.forward(scene, {path: v, "fog.sigma_t": np.zeros(())}, 8, 5)
    assert float((along * u).sum()) == pytest.approx(float((v * tangent).sum()), rel=1e-9)


def test_tables_of_functions_show_the_same_pictures(f64):
    """Henyey and Greenstein's function, and droplets of two sizes, which differ, as they are and as tables."""
    cosines = np.cos(np.linspace(np.pi, 0.0, 400))
    cosines[[0, -1]] = -1.0, 1.0
    found = []
    for phase, values in (("hg", {"g": 0.6}), ("droplets", {"diameter": 0.7}), ("droplets", {"diameter": 20.0})):
        m = Model(phase)
        p = {k: np.full(q.shape, q.default) if q.shape else q.default for k, q in m.params.items()} | {"albedo": np.ones(4)}
        p |= {k: np.full(4, x) if k == "g" else x for k, x in values.items()}
        wo = np.c_[np.sqrt(np.maximum(0, 1 - cosines**2)), 0 * cosines, cosines]
        table = it.PhaseTable(cosines, m.run([m.eval], p, np.array([0.0, 0.0, -1.0]), wo)[0][:, 0])
        pictures = [
            sample(lambda seed: it.render(s, 64, seed).mean((0, 1)), range(8))  # noqa: B023
            for s in (lit(phase, **values), lit("table", phase_values=table))
        ]
        assert_z(pictures[1], *mean_and_error(pictures[0]), precise=0.01)
        found.append(pictures[0])
    assert (np.abs(z_scores(found[1], *mean_and_error(found[2]))) > 4).all(), "the diameter changes nothing"


def mie_asymmetry(diameter, index=1.334, spread=0.15):
    """Mean cosine of light that spheres scatter: Bohren and Huffman 1983, chapter 4, over sizes about one and visible light."""
    above = below = 0.0
    for size in np.exp(spread * np.linspace(-2, 2, 9)) * diameter:
        for lam in np.linspace(0.45, 0.65, 9):  # micrometres
            x = np.pi * size / lam
            n = int(x + 4 * x ** (1 / 3) + 3)
            start = n + 16 + int(index * x)
            log_slope = np.zeros(start + 1)
            for k in range(start, 0, -1):
                log_slope[k - 1] = k / (index * x) - 1 / (log_slope[k] + k / (index * x))
            psi, chi = [np.cos(x), np.sin(x)], [-np.sin(x), np.cos(x)]
            for k in range(1, n + 2):
                psi.append((2 * k - 1) / x * psi[-1] - psi[-2])
                chi.append((2 * k - 1) / x * chi[-1] - chi[-2])
            psi, xi = np.array(psi[1:]), np.array(psi[1:]) - 1j * np.array(chi[1:])
            k = np.arange(1, n + 2)
            a, b = (
                ((s * log_slope[k] + k / x) * psi[k] - psi[k - 1]) / ((s * log_slope[k] + k / x) * xi[k] - xi[k - 1])
                for s in (1 / index, index)
            )
            k, a1, b1, a, b = k[:-1], a[1:], b[1:], a[:-1], b[:-1]
            weight = size**2 * np.exp(-0.5 * (np.log(size / diameter) / spread) ** 2) / x**2
            below += weight * 2 * ((2 * k + 1) * (abs(a) ** 2 + abs(b) ** 2)).sum()
            joint = k * (k + 2) / (k + 1) * (a * a1.conj() + b * b1.conj()).real
            above += weight * 4 * (joint + (2 * k + 1) / (k * (k + 1)) * (a * b.conj()).real).sum()
    return above / below


@pytest.mark.parametrize(
    ("diameter", "off"), [(0.15, 0.14), (0.5, 0.05), (1.2, 0.03), (2.5, 0.03), (4.5, 0.03), (6.0, 0.02), (12.0, 0.02), (40.0, 0.02)]
)
def test_droplets_of_all_sizes(diameter, off):
    """The fit's mean cosine against Mie's theory; its integral, derivative and sampler where the matrices do not go."""
    m, rng = Model("droplets"), np.random.default_rng(7)
    p, wi = {"albedo": np.ones(4), "diameter": diameter}, direction(0.4)
    mu = 1 - np.geomspace(1e-12, 2, 20001)[::-1]
    wo = np.c_[np.sqrt(np.maximum(0, 1 - mu**2)), 0 * mu, mu]
    value = m.run([m.eval], p, np.array([0.0, 0.0, -1.0]), wo)[0][:, 0]
    assert 2 * np.pi * np.trapezoid(value, mu) == pytest.approx(1.0, abs=1e-5)
    mean = 2 * np.pi * np.trapezoid(value * mu, mu)
    assert mean == pytest.approx(mie_asymmetry(diameter), abs=off)
    n = 32
    values = m.values({"albedo": np.ones((n, 4)), "diameter": np.full(n, diameter)}) | {WI: sphere(rng, n), WO: sphere(rng, n)}
    check_derivatives([m.eval], values, [m.leaves["diameter"]], step=1e-5)
    if diameter < 5:
        wo, _ = m.draw(p, wi, rng.random((100_000, 3)))
        chi2.check(wo, lambda w: m.run([m.pdf], p, wi, w)[0], 1e-4, f"droplets {diameter}")
        value, pdf = m.run([m.eval, m.pdf], p, wi, sphere(rng, 10_000))
        assert (value.max(1) <= 3.01 * pdf).all()


def test_tabphase_of_mitsuba(tmp_path):
    text = """<scene version="3.0.0"><sensor type="perspective"/>
<medium type="homogeneous" id="fog"><phase type="tabphase"><string name="values" value="{}"/>
</phase></medium><shape type="sphere"><bsdf type="null"/><ref name="interior" id="fog"/></shape></scene>"""
    (tmp_path / "a.xml").write_text(text.format("0.5, 1.0,2"))
    fog = io.load(tmp_path / "a.xml").media[0]
    assert fog.phase == "table" and np.array_equal(fog.values["phase_values"].cosines, [-1, 0, 1])
    assert np.array_equal(fog.values["phase_values"].values, [0.5, 1, 2])
    for bad in ("1", "1, -2", "1, x", "0, 0"):
        (tmp_path / "a.xml").write_text(text.format(bad))
        with pytest.raises(SceneError, match="values"):
            io.load(tmp_path / "a.xml")


@pytest.mark.parametrize(
    ("values", "word"),
    [
        ({"phase_values": it.PhaseTable([-1, 0.5], [1, 1])}, "from -1 to 1"),
        ({"phase_values": it.PhaseTable([-1, 1], [1, 1, 1])}, "shape"),
        ({"phase_values": it.PhaseTable([-1, 1], [[1, 1]] * 2, [500, 500])}, "do not increase"),
        ({"phase_values": it.PhaseTable([-1, 1], [1, -1])}, "negative"),
        ({"phase_values": it.PhaseTable([-1, 1], [[1, 1], [0, 0]], [500, 600])}, "zeros"),
        ({"phase_values": it.PhaseTable([-1, 1], [1, np.nan])}, "not finite"),
        ({"phase_values": 3.0}, "PhaseTable"),
        ({"albedo": it.PhaseTable([-1, 1], [1, 1])}, "PhaseTable"),
        ({}, "no phase_values"),
    ],
)
def test_bad_tables(values, word, f64):
    with pytest.raises(SceneError, match=word) as error:
        it.render(lit("table", **values), 1)
    assert "\n" not in str(error.value)
