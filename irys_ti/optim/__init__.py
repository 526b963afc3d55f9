"""Optimisation: losses, Adam, schedules, and the files of a fit."""
