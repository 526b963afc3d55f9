"""Counts that do not depend on a machine's speed: a change of them has to be meant."""

import json

from benchmarks import counts


def test_as_committed():
    """Operations, launches, bytes and compiled kernels; ``python -m benchmarks counts --write`` takes new ones over."""
    lines = counts.differences(json.loads(counts.FILE.read_text()), counts.counts())
    assert not lines, "\n".join(lines)


def test_a_difference_is_seen():
    told = {"runs": {"render": {"launches": 3, "bytes": 10}}, "gone": 1}
    seen = {"runs": {"render": {"launches": 4, "bytes": 10}}, "new": 2}
    assert counts.differences(told, seen) == ["gone: 1 -> None", "new: None -> 2", "runs: render: launches: 3 -> 4"]
