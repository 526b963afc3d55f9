"""Mends that name the nearest known words."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


def nearest(word: str, known: Iterable[str]) -> str:
    """A mend such as ``did you mean 'alpha'?``; the whole list where nothing is near."""
    known = [k for k in dict.fromkeys(known) if k]
    if not known:
        return ""
    lowered = {k.lower(): k for k in reversed(known)}
    close = [lowered[k] for k in get_close_matches(word.lower(), lowered, n=3, cutoff=0.6)]
    if close:
        return "did you mean " + " or ".join(f"'{k}'" for k in close) + "?"
    return "known here: " + ", ".join(sorted(known)) if len(known) <= 60 else ""
