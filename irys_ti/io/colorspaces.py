"""Colour spaces by MaterialX's names: to linear sRGB."""

from __future__ import annotations

from functools import cache

import numpy as np

from ..spectral.cie import XYZ_TO_SRGB

D65 = (0.3127, 0.3290)
# Chromaticities of red, green, blue and white: SMPTE and Academy documents (S-2014-004 for AP1).
PRIMARIES = {
    "rec709": ((0.64, 0.33), (0.30, 0.60), (0.15, 0.06), D65),
    "ap1": ((0.713, 0.293), (0.165, 0.830), (0.128, 0.044), (0.32168, 0.33767)),
    "displayp3": ((0.680, 0.320), (0.265, 0.690), (0.150, 0.060), D65),
    "adobergb": ((0.64, 0.33), (0.21, 0.71), (0.15, 0.06), D65),
}
SRGB = "srgb"
# Name -> (primaries, transfer curve: SRGB, a gamma, or None for linear).
SPACES = {
    "lin_rec709": ("rec709", None),
    "lin_rec709_scene": ("rec709", None),
    "srgb_texture": ("rec709", SRGB),
    "srgb_rec709_scene": ("rec709", SRGB),
    "srgb_rec709_display": ("rec709", SRGB),
    "rec709_display": ("rec709", 2.4),
    "g18_rec709": ("rec709", 1.8),
    "g22_rec709": ("rec709", 2.2),
    "g22_rec709_scene": ("rec709", 2.2),
    "acescg": ("ap1", None),
    "lin_ap1": ("ap1", None),
    "lin_ap1_scene": ("ap1", None),
    "g22_ap1": ("ap1", 2.2),
    "g22_ap1_scene": ("ap1", 2.2),
    "lin_displayp3": ("displayp3", None),
    "lin_displayp3_scene": ("displayp3", None),
    "srgb_displayp3": ("displayp3", SRGB),
    "srgb_p3d65_scene": ("displayp3", SRGB),
    "lin_p3d65_scene": ("displayp3", None),
    "lin_adobergb": ("adobergb", None),
    "lin_adobergb_scene": ("adobergb", None),
    "adobergb": ("adobergb", 563 / 256),
    "g22_adobergb_scene": ("adobergb", 563 / 256),
}
NOT_A_COLOUR = ("none", "raw", "data")


@cache
def to_srgb(primaries: str) -> np.ndarray:
    """(3, 3) from linear colours of these primaries to linear sRGB; white stays white (Bradford adaptation)."""
    chromaticities = PRIMARIES[primaries]
    if primaries == "rec709":
        return np.eye(3)
    xyz = np.array([_xyz(c) for c in chromaticities]).T
    to_xyz = xyz[:, :3] * np.linalg.solve(xyz[:, :3], xyz[:, 3])
    cone = np.array([[0.8951, 0.2664, -0.1614], [-0.7502, 1.7135, 0.0367], [0.0389, -0.0685, 1.0296]])
    gain = np.diag((cone @ _xyz(D65)) / (cone @ xyz[:, 3]))
    return XYZ_TO_SRGB @ np.linalg.solve(cone, gain @ cone) @ to_xyz


def _xyz(c) -> np.ndarray:
    return np.array([c[0] / c[1], 1.0, (1 - c[0] - c[1]) / c[1]])


def linear(colour: np.ndarray, space: str) -> np.ndarray:
    """(..., 3) of a named space to linear sRGB. KeyError for an unknown space."""
    from .images import srgb_to_linear

    if space in NOT_A_COLOUR or not space:
        return colour
    primaries, curve = SPACES[space]
    if curve == SRGB:
        colour = srgb_to_linear(np.asarray(colour, np.float64))
    elif curve is not None:
        colour = np.maximum(colour, 0.0) ** curve
    return colour if primaries == "rec709" else colour @ to_srgb(primaries).T
