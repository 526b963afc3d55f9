"""The CIE tables and the wavelength density."""

import numpy as np
import pytest

from irys_ti.spectral import cie, hero


def test_a_constant_spectrum_has_the_published_colour():
    colour = np.trapezoid(cie.response(), dx=cie.STEP)
    np.testing.assert_allclose(colour, [1.205, 0.948, 0.909], atol=5e-4)
    assert cie.y_integral() == pytest.approx(106.856895, rel=2e-6)
    assert colour @ cie.LUMINANCE == pytest.approx(1, abs=1e-12)


def test_matrix_is_the_published_one():
    """IEC 61966-2-1 prints four digits."""
    published = [[3.2406, -1.5372, -0.4986], [-0.9689, 1.8758, 0.0415], [0.0557, -0.2040, 1.0570]]
    np.testing.assert_allclose(cie.XYZ_TO_SRGB, published, atol=6e-4)


def test_table_values():
    """Rows as CIE prints them; the peak of ybar; D65 at its anchor and in its last entries."""
    xyz = dict(zip(cie.wavelengths(), cie.xyz(), strict=True))
    np.testing.assert_allclose(xyz[360.0], [0.0001299, 0.000003917, 0.0006061], rtol=1e-12)
    np.testing.assert_allclose(xyz[555.0], [0.5120501, 1.0, 0.00574999906], rtol=1e-6)
    relative = cie.d65() / cie.d65()[40] * 100
    np.testing.assert_allclose(relative[[0, 40, 84, 85, 94]], [46.6383, 100, 63.3828, 63.8434, 60.3125], rtol=1e-12)


def test_d65_is_white():
    white = cie.integrate_product(cie.response(), cie.d65())
    np.testing.assert_allclose(white, 1, atol=5e-4)
    assert white @ cie.LUMINANCE == pytest.approx(1, abs=1e-12)


def test_integrate_product_is_exact():
    """Against a fine midpoint rule of the two interpolated functions."""
    rng = np.random.default_rng(0)
    f, g = rng.normal(size=(2, 95))
    fine = np.linspace(360, 830, 940001)[:-1] + 0.00025
    exact = (np.interp(fine, cie.wavelengths(), f) * np.interp(fine, cie.wavelengths(), g)).sum() * 0.0005
    assert cie.integrate_product(f, g) == pytest.approx(exact, rel=1e-6)


def test_density_is_one_and_positive():
    cdf, pdf = hero.density()
    assert cdf.shape == (95,) and pdf.shape == (94,)
    np.testing.assert_allclose(np.diff(cdf), pdf * cie.STEP, rtol=1e-9)
    assert cdf[0] == 0 and cdf[-1] == 1 and pdf.min() > 4e-5


def _relative_variance(pdf):
    r = cie.response() / np.trapezoid(cie.response(), dx=cie.STEP)[:, None]
    a, b = r[:, :-1], r[:, 1:]
    return ((a * a + a * b + b * b) / 3 * cie.STEP / pdf).sum() - 3


def test_density_is_near_its_optimum():
    """Mean relative variance: within 1 % of the best density's, and well below the uniform one's."""
    _, pdf = hero.density()
    r = cie.response() / np.trapezoid(cie.response(), dx=cie.STEP)[:, None]
    a, b = r[:, :-1], r[:, 1:]
    best = np.sqrt(((a * a + a * b + b * b) / 3).sum(0))
    best /= best.sum() * cie.STEP
    assert _relative_variance(pdf) < 1.01 * _relative_variance(best)
    assert _relative_variance(pdf) < 0.5 * _relative_variance(np.full(94, 1 / 470))
