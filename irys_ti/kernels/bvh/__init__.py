"""Bounding volume hierarchies: built and refit on the host, traversed on the device."""

from .accel import Accel, build, build_scene, default_width
from .instance import instance_normal, instance_point, instance_vector, object_ray
from .layout import INSTANCE, LANE_REALS
from .part import PrimSet
from .traverse import intersect, stack_sizes

__all__ = [
    "INSTANCE",
    "LANE_REALS",
    "Accel",
    "PrimSet",
    "build",
    "build_scene",
    "default_width",
    "instance_normal",
    "instance_point",
    "instance_vector",
    "intersect",
    "object_ray",
    "stack_sizes",
]
