"""Robots: joint angles to the poses of parts, and the parts' forces and torques back to the joints.

    robot = it.kinematics.load("ur5e.xml")        # MJCF or URDF, by the package mujoco (extra "robot")
    robot.add_to(scene)
    result = it.fit(scene, photo, params=["ur5e.elbow_joint"])
"""

from .robot import Robot, load

__all__ = ["Robot", "load"]
