"""Colours to spectra and back."""

import numpy as np
import pytest

from irys_ti.spectral import cie, upsample

CORNERS = np.array([[r, g, b] for r in (0, 0.5, 1) for g in (0, 0.5, 1) for b in (0, 0.5, 1)], np.float64)


def fine_rgb(coeffs):
    """rgb of a reflectance under D65, by a midpoint rule of 0.05 nm: independent of the solver's nodes."""
    lambdas = np.arange(360.025, 830, 0.05)
    light = np.interp(lambdas, cie.wavelengths(), cie.d65())
    response = np.array([np.interp(lambdas, cie.wavelengths(), r) for r in cie.response()]) * light
    return upsample.evaluate(coeffs, lambdas) @ response.T / response.sum(1)


def test_round_trip_inside_the_cube():
    rgb = np.random.default_rng(1).random((300, 3))
    coeffs = upsample.coefficients(rgb)
    assert np.isfinite(coeffs).all()
    np.testing.assert_allclose(fine_rgb(coeffs), rgb, atol=1e-6)


@pytest.mark.parametrize("brightness", [1, 0.999, 0.5, 0.02, 1e-3, 1e-4])
def test_saturated_colours_and_the_ends_of_the_range(brightness):
    coeffs = upsample.coefficients(CORNERS * brightness)
    assert np.isfinite(coeffs).all()
    np.testing.assert_allclose(upsample.to_rgb(coeffs), CORNERS * brightness, atol=1.1e-6)
    np.testing.assert_allclose(fine_rgb(coeffs), CORNERS * brightness, atol=2e-5)


def test_a_grey_is_flat():
    coeffs = upsample.coefficients(np.full((1, 3), 0.18))
    np.testing.assert_allclose(upsample.evaluate(coeffs, np.linspace(360, 830, 9)), 0.18, atol=1e-14)


def test_many_colours_agree_with_few():
    """An image starts from its cells' solutions; the result is the same as solving each colour alone."""
    rng = np.random.default_rng(2)
    rgb = (rng.random((4000, 3)) ** 4).astype(np.float32).astype(np.float64)
    rgb[::7, 0], rgb[::11, 1] = 0, 1
    many, few = upsample.coefficients(rgb), upsample.coefficients(rgb[:200])
    np.testing.assert_allclose(upsample.to_rgb(many), rgb, atol=1.1e-6)
    np.testing.assert_allclose(many[:200], few, rtol=1e-5, atol=1e-5)


def test_jacobian_against_differences():
    rgb = np.random.default_rng(3).uniform(0.02, 0.98, (40, 3))
    exact = upsample.jacobian(upsample.coefficients(rgb))
    h = 1e-5
    for j in range(3):
        step = h * np.eye(3)[j]
        slope = (upsample.coefficients(rgb + step) - upsample.coefficients(rgb - step)) / (2 * h)
        scale = np.abs(exact).max((1, 2))[:, None]
        np.testing.assert_allclose(slope / scale, exact[:, :, j] / scale, atol=1e-5)


def test_a_lights_colour_and_its_jacobian():
    rgb = np.array([[3.0, 2.0, 0.5], [0.0, 0.0, 0.0], [20.0, 20.0, 20.0], [0.0, 0.1, 0.4]])
    scale, coeffs = upsample.illuminant(rgb)
    np.testing.assert_allclose(scale[:, None] * upsample.to_rgb(coeffs), rgb, atol=1e-7)
    np.testing.assert_allclose(scale[1], 0)
    exact = upsample.illuminant_jacobian(rgb, coeffs)
    h = 1e-5
    for row in (0, 3):
        for j in range(3):
            lo, hi = rgb[row] - h * np.eye(3)[j], rgb[row] + h * np.eye(3)[j]
            if lo.min() < 0:
                continue
            (s1, c1), (s0, c0) = upsample.illuminant(hi), upsample.illuminant(lo)
            slope = np.concatenate([s1 - s0, (c1 - c0)[0]]) / (2 * h)
            np.testing.assert_allclose(slope, exact[row, :, j], rtol=1e-4, atol=1e-4 * np.abs(exact[row]).max())
    assert np.isfinite(exact).all()
    np.testing.assert_allclose(0.5 * exact[1, 0], cie.LUMINANCE)


def test_an_image_takes_few_steps(monkeypatch):
    """A noisy 512x512 8-bit photograph of 198,000 colours (1.5 s on one idle core): under 2.8 Newton steps a
    colour, where a start from grey takes 5."""
    steps, solve = [], upsample._solve3
    monkeypatch.setattr(upsample, "_solve3", lambda a, b: steps.append(len(a)) or solve(a, b))
    rng = np.random.default_rng(4)
    y, x = np.mgrid[:512, :512] / 511
    ramp = np.stack([0.5 + 0.4 * np.sin(7 * x), 0.5 + 0.3 * np.cos(9 * y), 0.4 + 0.3 * x * y], -1)
    pixels = np.round((ramp + rng.normal(0, 0.005, ramp.shape)).clip(0, 1) * 255).reshape(-1, 3) / 255
    coeffs = upsample.coefficients(pixels**2.2)
    np.testing.assert_allclose(upsample.to_rgb(coeffs), pixels**2.2, atol=1e-6)
    assert sum(steps) < 2.8 * len(np.unique(pixels, axis=0))


def test_spectra_agree_with_an_independent_table():
    """Mitsuba 3.9.1, whose table of coefficients Jakob and Hanika's own program made, evaluates these colours'
    reflectances at 400, 450, 500, 550, 600, 650 and 700 nm to:"""
    lambdas = np.arange(400, 701, 50)
    published = {
        (0.9, 0.1, 0.05): [0.17882, 0.06571, 0.05867, 0.1141, 0.61655, 0.96379, 0.99198],
        (0.02, 0.3, 0.02): [0.00606, 0.02831, 0.17804, 0.33173, 0.09398, 0.01534, 0.00385],
        (0.5, 0.5, 0.1): [0.03923, 0.11992, 0.32856, 0.52078, 0.52489, 0.33893, 0.12574],
        (0.1, 0.1, 0.8): [0.96597, 0.80152, 0.27236, 0.11179, 0.09255, 0.14072, 0.44345],
        (1.0, 0.0, 0.0): [0.47497, 0.01066, 0.00648, 0.01359, 0.86682, 0.99736, 0.99947],
    }
    for rgb, expected in published.items():
        spectrum = upsample.evaluate(upsample.coefficients(np.array([rgb])), lambdas)[0]
        np.testing.assert_allclose(spectrum, expected, atol=0.003)


def test_a_lights_spectrum_agrees_with_mitsuba():
    """Mitsuba 3.9.1, radiance rgb (1, .1, .1) and (.2, .3, .4) at 450, 550, 650 nm; its D65 is 0.11 % darker."""
    published = {(1.0, 0.1, 0.1): [0.131961, 0.151531, 1.35735], (0.2, 0.3, 0.4): [0.462358, 0.30741, 0.157645]}
    lambdas = np.array([450.0, 550, 650])
    for rgb, expected in published.items():
        scale, coeffs = upsample.illuminant(np.array([rgb]))
        light = np.interp(lambdas, cie.wavelengths(), cie.d65())
        np.testing.assert_allclose(scale * upsample.evaluate(coeffs, lambdas)[0] * light, expected, rtol=6e-3)
