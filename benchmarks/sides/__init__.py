"""Renderers to be compared, each in a process of its own that answers the same few questions in JSON lines.

A side is a module with ``load(file, params, variant, options, weight)``, ``gradient(seed, spp)``,
``image(seed, spp, path, step)``, ``forward(seed, spp)`` and ``facts()``; ``serve`` turns it into such a process,
``Side`` talks to one. The loss is the sum of the film's channels times a weight image.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

ROOT = Path(__file__).parents[2]


def weights(kind: str, height: int, width: int) -> np.ndarray:
    """(height, width, 3), absolute values adding up to about 1: "flat", or "smooth" waves of both signs."""
    weight = np.ones((height, width, 3))
    if kind == "smooth":
        y, x = np.meshgrid((np.arange(height) + 0.5) / height, (np.arange(width) + 0.5) / width, indexing="ij")
        for c in range(3):
            weight[..., c] = np.sin(5.0 * x + 2.0 * c) * np.cos(3.0 * y - c) + 0.3
    return weight / weight.size


def serve(module) -> None:
    """Answer questions from standard input until it ends. What a renderer prints itself goes to standard error."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    for line in sys.stdin:
        question = json.loads(line)
        began = time.perf_counter()
        answer = getattr(module, question.pop("do"))(**question)
        answers.write(json.dumps({"answer": answer, "seconds": time.perf_counter() - began}) + "\n")
        answers.flush()


class Side:
    """A renderer's process: side.ask("gradient", seed=1, spp=16) -> (answer, seconds)."""

    def __init__(self, module: str, python: str, environment: dict[str, str] | None = None):
        self.process = subprocess.Popen(
            [python, "-m", module], cwd=ROOT, env={**os.environ, **(environment or {})}, text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        )  # fmt: skip

    def ask(self, do: str, **question):
        self.process.stdin.write(json.dumps({"do": do, **question}) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"{' '.join(self.process.args)} ended while it was asked to {do}")
        reply = json.loads(line)
        return reply["answer"], reply["seconds"]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.wait(30)
