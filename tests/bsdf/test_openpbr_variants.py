"""OpenPBR's smaller versions: which lobes a material needs, and that a version says what the whole model says."""

import numpy as np
import pytest

from irys_ti import graph as g
from irys_ti.kernels import bsdf
from irys_ti.kernels.bsdf.openpbr_params import NORM, PARAMS
from irys_ti.kernels.bsdf.openpbr_variants import fixed_values, lobes_of, make, union, variants
from tests.bsdf.cases import WAVELENGTHS, WI, WO, model, sphere
from tests.bsdf.openpbr_cases import MATERIALS, complete, version

U = g.leaf("u", (3,))


def test_parameters_are_the_specification_s():
    """Names, in the specification's order; emission is another part of a scene, a frame comes by its components."""
    assert list(PARAMS) == """
        base_weight base_color base_metalness base_diffuse_roughness
        specular_weight specular_color specular_roughness specular_roughness_anisotropy specular_ior
        transmission_weight transmission_color transmission_depth transmission_scatter
        transmission_scatter_anisotropy transmission_dispersion_scale transmission_dispersion_abbe_number
        subsurface_weight subsurface_color subsurface_radius subsurface_radius_scale subsurface_scatter_anisotropy
        coat_weight coat_color coat_roughness coat_roughness_anisotropy coat_ior coat_darkening
        fuzz_weight fuzz_color fuzz_roughness thin_film_weight thin_film_thickness thin_film_ior
        geometry_opacity geometry_thin_walled
        geometry_normal_x geometry_normal_y geometry_normal_z geometry_tangent_x geometry_tangent_y
    """.split()
    assert all(q.low <= NORM[k][0] < NORM[k][1] <= q.high for k, q in PARAMS.items() if k in NORM)


LOBES = {
    "default": "opaque",
    "brushed metal": "metal anisotropy",
    "glass": "translucent",
    "prism": "translucent dispersion",
    "car paint": "opaque coat",
    "velvet": "opaque rough_diffuse fuzz",
    "soap film": "translucent thin_film thin_walled",
    "rough coat on metal": "metal opaque coat coat_anisotropy",
    "paper": "opaque rough_diffuse subsurface opacity thin_walled",
}


@pytest.mark.parametrize("name", LOBES)
def test_lobes_of_materials(name):
    assert lobes_of(MATERIALS[name]) == frozenset(LOBES[name].split())


def test_wanted_gradients_keep_their_lobes():
    assert "coat" in lobes_of({}, ["coat_roughness"]) and "fuzz" in lobes_of({}, ["fuzz_weight"])
    assert lobes_of({}, ["transmission_color"]) == {"opaque", "translucent"}
    assert lobes_of({"base_metalness": 1.0}, ["base_metalness"]) == {"metal", "opaque"}
    assert lobes_of({"transmission_weight": 1}, ["base_diffuse_roughness"]) >= {"opaque", "rough_diffuse"}
    for name in PARAMS:
        assert name in make(lobes_of({}, [name])).PARAMS or name == "geometry_thin_walled"


def test_textures_keep_their_lobes():
    assert "coat" in lobes_of({"coat_weight": object()}) and "metal" in lobes_of({"base_metalness": object()})


@pytest.mark.parametrize("name", MATERIALS)
def test_a_version_says_what_the_model_says(name):
    """The same value at the same directions; and everything a version samples has the density it says."""
    m, p = version(MATERIALS[name])
    whole = model("openpbr")
    q = complete(whole, MATERIALS[name])
    rng = np.random.default_rng(0)
    wi = sphere(rng, 400)
    wi[:, 2] = np.where(np.abs(wi[:, 2]) < 0.03, 0.4, wi[:, 2])
    wi /= np.linalg.norm(wi, axis=1, keepdims=True)
    wo, _ = m.draw(p, wi, rng.random((400, 3)))
    (small,), (large,) = (x.run([x.eval], v, wi, wo) for x, v in ((m, p), (whole, q)))
    np.testing.assert_allclose(small, large, rtol=1e-9, atol=1e-12)
    assert g.count([m.eval]) < g.count([whole.eval]) and len(m.params) < len(whole.params)


@pytest.mark.parametrize("name", MATERIALS)
def test_one_wavelength_at_a_time(name):
    """eval_one with scalars is a component of eval."""
    m, p = version(MATERIALS[name])
    assert m.one.shape == ()
    rng = np.random.default_rng(1)
    wi, wo = sphere(rng, 50, True), sphere(rng, 50)
    (want,) = m.run([m.eval], p, wi, wo)
    for k in range(4):
        at = p | {"lambdas": WAVELENGTHS}
        values = {leaf: at[n][k] if np.ndim(at[n]) else at[n] for n, leaf in m.ones.items()}
        (got,) = g.evaluate([m.one], values | {WI: wi, WO: wo})
        np.testing.assert_allclose(got, want[:, k], rtol=1e-9, atol=1e-13)


# Operations of value and density, and of the adjoint, each version may cost: compile time grows with them.
COSTS = {
    "default": (350, 550), "brushed metal": (450, 800), "glass": (700, 1100), "prism": (750, 1200),
    "car paint": (750, 1750), "velvet": (550, 1000), "soap film": (900, 1500),
}  # fmt: skip


@pytest.mark.parametrize("name", COSTS)
def test_costs(name):
    m, _ = version(MATERIALS[name])
    wrt = [m.leaves[k] for k, q in m.params.items() if q.differentiable]
    adjoint = g.vjp([m.eval], [g.leaf("up", (4,))], wrt)
    forward = g.count([m.eval, m.pdf])
    assert (forward, g.count(adjoint)) <= COSTS[name] and g.count(adjoint) <= COSTS[name][1]


def test_the_whole_costs():
    m = model("openpbr")
    wrt = [m.leaves[k] for k, q in m.params.items() if q.differentiable]
    assert g.count([m.eval, m.pdf]) < 2150 and g.count(g.vjp([m.eval], [g.leaf("up", (4,))], wrt)) < 6500


def test_scenes_share_versions():
    """At most four for one scene, each able to render its materials; a lone material gets its own."""
    needs = [(v, ()) for v in MATERIALS.values()]
    got = variants(needs)
    assert len({name for name, _ in got}) <= 4
    for (values, _), (_, v) in zip(needs, got, strict=True):
        for k, fixed in fixed_values(v.lobes).items():
            switched = values.get(k, PARAMS[k].default)
            if k == "transmission_weight" and values.get("base_metalness") == 1.0:
                continue  # a metal has no dielectric base to transmit
            if k in ("base_metalness", "transmission_weight", "geometry_opacity", "geometry_thin_walled") or k.endswith(
                "_weight"
            ):
                assert switched == fixed, (k, values, v.lobes)
    assert variants([({}, ())])[0][0] == "openpbr[opaque]"


def test_thin_and_thick_share_by_a_flag():
    a, b = lobes_of({"geometry_thin_walled": 1.0}), lobes_of({})
    assert union(a, b) == {"opaque", "any_walls"} and "geometry_thin_walled" in make(union(a, b)).PARAMS


def test_versions_are_found_by_name():
    ((name, version_),) = bsdf.versions("openpbr", [({"fuzz_weight": 1.0}, ())])
    assert name == "openpbr[opaque,fuzz]" and bsdf.find(name) is version_ and name not in bsdf.BSDFS
    assert bsdf.versions("diffuse", [({}, ())]) == [("diffuse", bsdf.BSDFS["diffuse"])]
