"""Mitsuba's plastic, roughplastic and principled become OpenPBR, by the formulas of their own manual pages."""

import numpy as np
import pytest

from irys_ti import io
from irys_ti.errors import SceneError
from irys_ti.io.validate import validate
from irys_ti.kernels.bsdf.openpbr_params import PARAMS

SCENE = """<scene version="3.0.0"><sensor type="perspective"/><shape type="sphere">{}</shape></scene>"""


def scene_of(folder, body):
    (folder / "s.xml").write_text(SCENE.format(body))
    scene = io.load(folder / "s.xml")
    validate(scene)
    return scene


def values_of(folder, type, inside=""):
    (material,) = scene_of(folder, f'<bsdf type="{type}" id="m">{inside}</bsdf>').materials
    assert material.kind == "openpbr" and set(material.values) <= set(PARAMS)
    return material.values


def test_defaults(tmp_path):
    v = values_of(tmp_path, "plastic")
    assert v["specular_roughness"] == 0 and v["specular_ior"] == pytest.approx(1.49, rel=1e-3)
    assert v["base_color"].values[0] == 0.5
    v = values_of(tmp_path, "principled")
    assert v["specular_ior"] == pytest.approx(1.5) and v["specular_roughness"] == 0.5 and v["base_metalness"] == 0
    assert not {"coat_weight", "fuzz_weight", "transmission_weight"} & set(v)  # lobes that are off cost nothing


def test_roughness_is_the_root_of_alpha(tmp_path):
    inside = '<string name="distribution" value="ggx"/><float name="alpha" value="0.09"/>'
    assert values_of(tmp_path, "roughplastic", inside)["specular_roughness"] == pytest.approx(0.3)


def test_internal_reflection(tmp_path):
    """nonlinear: albedo (1 - F) rho (1 - Fi) / (1 - rho Fi) with Fi = 0.596 of index 1.5 (Egan and Hilgeman 1973)."""
    text = '<float name="int_ior" value="1.5"/><float name="ext_ior" value="1"/><float name="diffuse_reflectance" value="0.5"/>'
    v = values_of(tmp_path, "plastic", text + '<boolean name="nonlinear" value="true"/>')
    assert v["base_color"].values[0] == pytest.approx(0.5 * (1 - 0.5963) / (1 - 0.5 * 0.5963), rel=1e-3)


def test_anisotropy_keeps_both_alphas(tmp_path):
    """alpha_x = r^2 / a, alpha_y = r^2 a, a = sqrt(1 - 0.9 anisotropic), through OpenPBR's own formulas."""
    v = values_of(tmp_path, "principled", '<float name="roughness" value="0.4"/><float name="anisotropic" value="0.7"/>')
    b = 1 - v["specular_roughness_anisotropy"]
    alpha_t = v["specular_roughness"] ** 2 * np.sqrt(2 / (1 + b * b))
    aspect = np.sqrt(1 - 0.9 * 0.7)
    np.testing.assert_allclose([alpha_t, alpha_t * b], [0.16 / aspect, 0.16 * aspect])


def test_the_rest_of_principled(tmp_path):
    inside = """<rgb name="base_color" value="0.64,0.16,0.04"/><float name="clearcoat" value="1"/><float name="clearcoat_gloss" value="1"/>
      <float name="spec_trans" value="0.5"/><float name="eta" value="1.4"/><float name="sheen" value="0.6"/>
      <float name="sheen_tint" value="1"/><float name="flatness" value="0.5"/>"""
    scene = scene_of(tmp_path, f'<bsdf type="principled" id="m">{inside}</bsdf>')
    v = scene.materials[0].values
    assert (v["coat_weight"], v["coat_ior"], v["coat_darkening"]) == (0.25, 1.5, 0.0)
    assert v["coat_roughness"] == pytest.approx(np.sqrt(0.001)) and v["specular_ior"] == 1.4
    np.testing.assert_allclose(v["transmission_color"].values, [0.8, 0.4, 0.2])
    np.testing.assert_allclose(v["fuzz_color"].values, [1, 0.25, 0.0625])
    notes = "\n".join(scene.notes)
    assert "flatness: dropped" in notes and "sheen" in notes and 'type="principled"' in notes


def test_beckmann_is_said(tmp_path):
    scene = scene_of(tmp_path, '<bsdf type="roughplastic" id="m"/>')
    assert "beckmann is rendered as ggx" in scene.notes[0]


def test_two_sided(tmp_path):
    scene = scene_of(tmp_path, '<bsdf type="twosided"><bsdf type="plastic" id="m"/></bsdf>')
    assert not scene.materials[0].two_sided
    with pytest.raises(SceneError, match="lets light through"):
        scene_of(tmp_path, '<bsdf type="twosided"><bsdf type="principled"><float name="spec_trans" value="1"/></bsdf></bsdf>')


@pytest.mark.parametrize(
    ("inside", "words"),
    [
        ('<float name="rouhgness" value="0.5"/>', "rouhgness.*did you mean 'roughness'"),
        ('<float name="eta" value="1.4"/><float name="specular" value="0.2"/>', "both eta and specular"),
        ('<float name="metallic" value="1.5"/>', "metallic is 1.5"),
    ],
)
def test_errors(tmp_path, inside, words):
    with pytest.raises(SceneError, match=words):
        values_of(tmp_path, "principled", inside)
