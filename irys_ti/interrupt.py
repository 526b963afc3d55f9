"""Ctrl-C: holding it back while something is changed as one, and keeping what a stopped render has made."""

from __future__ import annotations

import contextlib
import signal
import threading


class RenderInterrupted(KeyboardInterrupt):
    """Ctrl-C during a render. image: (H, W, C) of the samples so far, None where there are none yet.

    done: fraction of the samples that are in it; where they do not reach all pixels, the others are 0.
    """

    def __init__(self, image, done: float):
        super().__init__(f"stopped after {done:.0%} of the samples")
        self.image, self.done = image, done


@contextlib.contextmanager
def uninterrupted():
    """Hold Ctrl-C back until the block is over."""
    before = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(before):
        yield  # signals reach Python in the main thread alone
        return
    caught = []
    signal.signal(signal.SIGINT, lambda *what: caught.append(what))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
    if caught:
        before(*caught[0])
