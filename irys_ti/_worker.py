"""The other process: ``python -m irys_ti._worker``, started and spoken to by process.py.

It reads requests from its standard input and answers on what was its standard output; whatever prints goes to
the standard error. It ends when its input does, in the middle of a kernel too.
"""

from __future__ import annotations

import os
import queue
import sys
import threading
import traceback
from importlib import import_module

from . import wire


def private_stdout():
    """The pipe to the parent; file descriptor 1, where Taichi and drivers print, becomes standard error."""
    pipe = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    if sys.platform == "win32":
        import msvcrt

        msvcrt.setmode(pipe.fileno(), os.O_BINARY)
    return pipe


def read_all(stream, inbox: queue.Queue) -> None:
    """Move messages to the inbox; end the process once the parent is gone."""
    while (message := wire.receive(stream)) is not None:
        inbox.put(message)
    os._exit(0)


class Aborted(BaseException):
    """The parent's function, called back, raised: the request is given up."""


class Worker:
    """State between requests: the scene that was sent last, and the pipes."""

    def __init__(self, pipe, inbox: queue.Queue):
        self.pipe, self.inbox = pipe, inbox
        self.token, self.scene = None, None
        wire.Callback.ask = self.ask

    def reply(self, kind: str, data: bytes) -> None:
        wire.send(self.pipe, wire.dumps((kind, data), "an answer"))

    def ask(self, number: int, args):
        """Call function ``number`` of the parent."""
        self.reply("ask", wire.dumps((number, args), "arguments"))
        ok, value = wire.loads(self.inbox.get())
        if not ok:
            raise Aborted
        return value

    def serve(self) -> None:
        """Answer requests for ever."""
        while True:
            request = self.inbox.get()
            try:
                result = self.answer(wire.loads(request))
                kind, data = "result", wire.dumps(result, "the result")
            except Aborted:
                kind, data = "aborted", b""
            except BaseException as error:
                kind, data = "error", wire.dump_error(error, traceback.format_exc())
            self.reply(kind, data)

    def answer(self, request: dict):
        """Do what a request asks: start Taichi, learn kinds, take a scene, call a function."""
        sys.path += [p for p in request["path"] if p not in sys.path]
        if "init" in request:
            from . import runtime

            return runtime.init(*request["init"])
        for module, registry, name, data in request["kinds"]:
            known = getattr(import_module(module), registry)
            if name not in known:
                kind = wire.loads(data)
                known.setdefault(name, kind)  # importing its module may have registered it
        args = request["args"]
        if request["token"] is not None:
            if request["scene"] is not None:
                self.scene = None
                self.token, self.scene = request["token"], wire.loads(request["scene"])
            args = (self.scene, *args)
        module, name = request["function"].split(":")
        return getattr(import_module(module), name)(*args, **request["kwargs"])


def main() -> None:
    pipe, inbox = private_stdout(), queue.Queue()
    threading.Thread(target=read_all, args=(sys.stdin.buffer, inbox), daemon=True).start()
    Worker(pipe, inbox).serve()


if __name__ == "__main__":
    main()
