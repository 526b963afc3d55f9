"""Errors that a user can cause: one line each, naming the file, the element and the mend."""

from __future__ import annotations


class SceneError(ValueError):
    """A scene, material, image or parameter that cannot be used.

    ``str(error)`` is one line: ``where: what is wrong; the mend``. ``where`` names the file and the
    element in it, or the Python object.
    """

    def __init__(self, where: str, problem: str, mend: str = ""):
        self.where, self.problem, self.mend = where, problem, mend
        line = f"{where}: {problem}" + (f"; {mend}" if mend else "")
        super().__init__(" ".join(line.split()))

    def __reduce__(self):
        return type(self), (self.where, self.problem, self.mend)


class MissingGradientError(ValueError):
    """A gradient was asked for that this version does not give: said, never returned as zero."""
