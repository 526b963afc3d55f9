"""What fills OpenPBR's materials: coefficients by the specification, and their derivatives."""

import numpy as np
import pytest

from irys_ti import graph as g
from irys_ti.kernels.bsdf import openpbr
from irys_ti.kernels.bsdf.openpbr_interior import single_albedo
from irys_ti.kernels.bsdf.openpbr_variants import lobes_of, make, union
from irys_ti.kernels.bsdf.registry import LAMBDAS, parameters
from irys_ti.kernels.walk_terms import interior_graphs
from tests.helpers.graphs import check_derivatives

LAM = np.array([450.0, 520.0, 580.0, 650.0])


def inside(values, wanted=()):
    """(version, its parameters' leaves, values of all of them)."""
    module = make(lobes_of(values, wanted, True))
    p = parameters(module)
    at = {getattr(p, k): np.full(q.shape, 1.0) * values.get(k, q.default) for k, q in module.PARAMS.items()}
    return module, p, at


def test_transmission_is_the_specifications():
    """Extinction -ln T / depth, scattering S / depth; where there is more scattering than extinction nothing is absorbed."""
    t, s = np.array([0.9, 0.5, 0.2, 0.6]), np.array([0.0, 0.3, 1.0, 1.0])
    values = {"transmission_weight": 1.0, "transmission_color": t, "transmission_depth": 0.5, "transmission_scatter": s}
    module, p, at = inside(values)
    assert "interior" in module.lobes
    sigma, scattering, _ = g.evaluate(list(module.interior(p)), at)
    np.testing.assert_allclose(scattering, s / 0.5)
    np.testing.assert_allclose(sigma, np.maximum(-np.log(t) / 0.5, s / 0.5))


def test_subsurface_is_the_specifications_where_the_index_is_matched():
    c, g_ = np.array([0.0, 0.3, 0.8, 1.0]), 0.4
    values = {"subsurface_weight": 1.0, "subsurface_color": c, "subsurface_radius": 0.5, "specular_ior": 1.0}
    module, p, at = inside(values | {"subsurface_scatter_anisotropy": g_, "subsurface_radius_scale": np.array([1, 0.5, 0.25, 1])})
    sigma, scattering, mean = g.evaluate(list(module.interior(p)), at)
    s = 4.09712 + 4.20863 * c - np.sqrt(9.59217 + 41.6808 * c + 17.7126 * c * c)
    np.testing.assert_allclose(scattering / sigma, (1 - s * s) / (1 - g_ * s * s), atol=2e-5)
    np.testing.assert_allclose(sigma, [2, 4, 8, 2])
    assert mean == g_


@pytest.mark.parametrize("sent_back", [0.0, 0.3, 0.6])
def test_albedo_takes_back_what_a_half_space_of_discrete_walks_gives(sent_back):
    """Random walks in a half-space under a boundary that sends diffuse light back, against the colour that was asked for.

    Index-matched within 1 %, as the specification's form; below a boundary (of index 1.5: 0.6 sent back) within 6 %.
    """
    index = {0.0: 1.0, 0.3: 1.18, 0.6: 1.5}[sent_back]
    for colour in (0.3, 0.7):
        c, f, m = g.leaf("c"), g.leaf("f"), g.leaf("m")
        (albedo,) = g.evaluate([single_albedo(c, m, f)], {c: colour, f: sent_back, m: 0.0})
        found = half_space(float(albedo), index, np.random.default_rng(5))
        assert found == pytest.approx(colour, rel=0.012 if index == 1.0 else 0.06)


def half_space(albedo, index, rng, n=60000):
    """Share of what enters an even, diffusely lit half-space that comes out again; isotropic, weights by the albedo."""

    def reflected(mu, eta):  # Fresnel, from the side of mu
        t = np.sqrt(np.maximum(1.0 - (1.0 - mu * mu) / eta**2, 0.0))
        return 0.5 * (((mu - eta * t) / (mu + eta * t)) ** 2 + ((eta * mu - t) / (eta * mu + t)) ** 2)

    mu = np.sqrt(rng.random(n))
    w = 1.0 - reflected(mu, index) if index > 1.0 else np.ones(n)
    w /= w.sum()
    mu, z, out = -np.sqrt(1.0 - (1.0 - mu * mu) / index**2), np.zeros(n), 0.0
    while len(z):
        z = z - mu * np.log(1.0 - rng.random(len(z)))
        while (up := z > 0.0).any():
            back = np.zeros(len(z)) if index == 1.0 else reflected(np.abs(mu), 1.0 / index)
            stays = ~up | (rng.random(len(z)) < back)
            out += w[~stays].sum()
            z, mu, w, up = z[stays], mu[stays], w[stays], up[stays]
            z, mu = np.where(up, -z, z), np.where(up, -mu, mu)
        w, mu = albedo * w, 2.0 * rng.random(len(z)) - 1.0
        lives = (w > 2e-6) | (rng.random(len(z)) < 0.5)
        w = np.where(w > 2e-6, w, 2.0 * w)[lives]
        z, mu = z[lives], mu[lives]
    return out


@pytest.mark.parametrize("kind", ["subsurface", "coated", "transmission"])
def test_derivatives(kind):
    rng = np.random.default_rng(2)
    values = {
        "subsurface": {"subsurface_weight": 0.5, "subsurface_radius": 0.3, "subsurface_scatter_anisotropy": 0.4},
        "coated": {"subsurface_weight": 0.5, "subsurface_radius": 0.3, "coat_weight": 0.5},
        "transmission": {"transmission_weight": 1.0, "transmission_depth": 0.7, "transmission_scatter_anisotropy": -0.3},
    }[kind]
    module, p, at = inside(values)
    used = {name: getattr(p, name) for name in interior_graphs_of(module)}
    assert ("specular_ior" in used) == (kind != "transmission")
    for name in ("subsurface_color", "transmission_color", "subsurface_radius_scale", "transmission_scatter"):
        if name in used:
            at[used[name]] = rng.uniform(0.1, 0.3, 4)
    check_derivatives(list(module.interior(p)), at | {LAMBDAS: LAM}, list(used.values()))


def interior_graphs_of(module) -> list[str]:
    from irys_ti.kernels.bsdf import _versions
    from irys_ti.kernels.bsdf.openpbr_variants import name_of

    _versions[name_of(module.lobes)] = module
    return interior_graphs(name_of(module.lobes)).terms


def test_which_materials_have_an_inside():
    skin = {"subsurface_weight": 1.0}
    assert "random_walk" in lobes_of(skin, (), True) and lobes_of(skin) == {"opaque", "subsurface"}
    for off in ({"subsurface_radius": 0.0}, {"geometry_thin_walled": 1.0}, {"base_metalness": 1.0}, {"transmission_weight": 0.5}):
        assert "random_walk" not in lobes_of(skin | off, (), True)
    # A wanted parameter changes nothing that is seen.
    assert lobes_of(skin, ("transmission_weight",), True) == lobes_of(skin, (), True)
    assert "interior" in lobes_of({"transmission_weight": 0.5, "transmission_depth": 1.0}, (), True)
    assert "interior" not in lobes_of({"transmission_weight": 0.5}, (), True)
    with pytest.raises(ValueError, match="media"):
        union(lobes_of(skin, (), True), lobes_of({}))
    assert "diffuse limit" in openpbr.why_no_gradient("subsurface_radius", skin | {"subsurface_radius": 0.0})
    assert openpbr.why_no_gradient("subsurface_radius", skin) == "" != openpbr.why_no_gradient("transmission_weight", skin)
    assert "no inside" in openpbr.why_no_gradient("subsurface_radius", skin | {"geometry_thin_walled": 1.0})
