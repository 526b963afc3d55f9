"""Counts that do not depend on a machine's speed: a change of them has to be meant."""

import subprocess
import sys
from pathlib import Path

from benchmarks import counts


def test_as_committed():
    """Operations, launches, bytes and compiled kernels, in a process of their own, which has no materials of tests in it;
    ``python -m benchmarks counts --write`` takes new ones over."""
    root = Path(__file__).resolve().parents[2]
    done = subprocess.run([sys.executable, "-m", "benchmarks", "counts"], cwd=root, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_difference_is_seen():
    told = {"runs": {"render": {"launches": 3, "bytes": 10}}, "gone": 1}
    seen = {"runs": {"render": {"launches": 4, "bytes": 10}}, "new": 2}
    assert counts.differences(told, seen) == ["gone: 1 -> None", "new: None -> 2", "runs: render: launches: 3 -> 4"]
