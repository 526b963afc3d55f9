"""The emitter ``sunsky``, and its halves by their old names ``sky`` and ``sun``, as a light of kind "sky".

Mitsuba's sky has z up, this program's y: the frame is turned, the sun's direction in the world stays. Its ``complex_sun``
darkens the limb, which is always done here; its plain sun has the same light spread evenly.
"""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

import numpy as np

from ...errors import SceneError
from ...scene import transform as tf
from ...scene.spectrum import Spectrum, Texture
from ...spectral.skymodel import SUN_DIAMETER
from ...spectral.sun import sun_position
from .props import Props
from .textures import reflectance

TIME = ("latitude", "longitude", "timezone", "year", "month", "day", "hour", "minute", "second")
Z_UP = tf.rotate([1, 0, 0], 90)  # takes this program's up axis to Mitsuba's


def sunsky(props: Props, mitsuba_frame: np.ndarray):
    """(values, to_world). mitsuba_frame: the element's own to_world."""
    to_world = mitsuba_frame @ Z_UP
    values = {
        "turbidity": props.float("turbidity", 3.0, 1.0, 10.0),
        "albedo": _albedo(props),
        "sky_scale": props.float("sky_scale", 1.0, 0.0) if props.node.type != "sun" else 0.0,
        "sun_scale": props.float("sun_scale", 1.0, 0.0) if props.node.type != "sky" else 0.0,
        "sun_aperture": props.float("sun_aperture", SUN_DIAMETER, 0.01, 20.0),
    }
    props.boolean("complex_sun", False)
    if props.has("sun_direction"):
        given = [name for name in TIME if props.has(name)]
        if given:
            raise props.node.error(f"has both sun_direction and {given[0]}", "keep one")
        direction = props.vector("sun_direction")
        if not direction.any():
            raise props.node.error("sun_direction is zero", "say where the sun stands")
        local = np.linalg.inv(to_world)[:3, :3] @ direction
    else:
        local = _by_time(props)
    local = local / np.linalg.norm(local)
    elevation = float(np.rad2deg(np.arcsin(np.clip(local[1], -1, 1))))
    if elevation < 0:
        raise props.node.error(f"the sun is {-elevation:.1f} degrees below the horizon", "the sky model needs it above")
    values |= {"sun_elevation": elevation, "sun_azimuth": float(np.rad2deg(np.arctan2(local[0], -local[2])))}
    return values, to_world


def _albedo(props: Props) -> float:
    value = reflectance(props, "albedo", 0.3)
    if isinstance(value, Texture):
        raise props.node.error("albedo is an image", "give one number")
    if isinstance(value, Spectrum):
        mean = float(value.values.mean())
        if np.ptp(value.values) > 0:
            note = f"the albedo's spectrum became its mean, {mean:.3g}"
            props.context.scene.notes.append(f"{props.node.where}: {note}")
        return mean
    return float(value)


def _by_time(props: Props) -> np.ndarray:
    """The sun's local direction at a place and time; Mitsuba puts south along its +x and west along its +y."""
    latitude, longitude = props.float("latitude", 35.6894), props.float("longitude", 139.6917)
    zone = timezone(timedelta(hours=props.float("timezone", 9.0, -14.0, 14.0)))
    date = [props.integer(n, d) for n, d in (("year", 2010), ("month", 7), ("day", 10))]
    hours = props.float("hour", 15.0) + props.float("minute", 0.0) / 60 + props.float("second", 0.0) / 3600
    try:
        time = datetime(*date, tzinfo=zone) + timedelta(hours=hours)
    except (ValueError, OverflowError):
        raise props.node.error(f"{date} is no date", "write year, month and day as numbers") from None
    try:
        found = sun_position(latitude, longitude, time)
    except SceneError as error:
        raise props.node.error(error.problem, error.mend) from None
    e, a = np.deg2rad([found["sun_elevation"], found["sun_azimuth"] - 180.0])
    return np.linalg.inv(Z_UP)[:3, :3] @ [np.cos(e) * np.cos(a), np.cos(e) * np.sin(a), np.sin(e)]
