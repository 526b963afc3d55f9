"""Where the sun stands at a place and time, for a light of kind "sky"."""

from __future__ import annotations

from datetime import datetime

from ..errors import SceneError


def sun_position(latitude: float, longitude: float, time: datetime | str) -> dict[str, float]:
    """{"sun_elevation", "sun_azimuth"} in degrees, ready for a sky light's values or parameters.

    latitude, longitude: degrees, north and east positive. time: a datetime that knows its time zone, or ISO text such
    as "2026-06-21T14:30+02:00". The elevation includes refraction. Needs the package astral: pip install
    "irys_ti[sky]". Raises SceneError for a time without a zone, a place off the globe, or a sun below the horizon.
    """
    where = f"sun position at {latitude}, {longitude}, {time}"
    try:
        from astral import Observer
        from astral.sun import azimuth, elevation
    except ImportError:
        raise SceneError(where, "the package astral is not installed", 'pip install "irys_ti[sky]"') from None
    if isinstance(time, str):
        try:
            time = datetime.fromisoformat(time.replace("Z", "+00:00"))
        except ValueError:
            raise SceneError(where, "the time is not ISO text", 'write it as "2026-06-21T14:30+02:00"') from None
    if time.tzinfo is None:
        raise SceneError(where, "the time has no zone", 'add one, as in "2026-06-21T14:30+02:00"')
    if not (-90 <= latitude <= 90 and -180 <= longitude <= 180):
        raise SceneError(where, "the place is off the globe", "latitude is -90 to 90, longitude -180 to 180")
    observer = Observer(latitude, longitude)
    height, towards = elevation(observer, time), azimuth(observer, time)
    if height < 0:
        raise SceneError(where, f"the sun is {-height:.1f} degrees below the horizon", "the sky model needs it above")
    return {"sun_elevation": float(height), "sun_azimuth": float(towards)}
