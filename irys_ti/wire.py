"""Messages between two processes of this package: pickles behind their length, and calls back.

The other end is always a process that this one started (process.py) or was started by (_worker.py). What is
pickled by reference must be importable there: modules go by name and file, and what the script itself defines is
refused, since importing the script would run it again.
"""

from __future__ import annotations

import importlib
import importlib.util
import io
import os
import pickle
import struct
import sys
from types import FunctionType, ModuleType

from .errors import SceneError

HEAD = struct.Struct("<Q")
MEND = "move it into a module of its own and import that"


def send(stream, message: bytes) -> None:
    """Write one message."""
    stream.write(HEAD.pack(len(message)))
    stream.write(message)
    stream.flush()


def receive(stream) -> bytes | None:
    """Read one message; None where the other end is gone."""
    head = _read(stream, HEAD.size)
    return None if head is None else _read(stream, *HEAD.unpack(head))


def _read(stream, n: int) -> bytes | None:
    parts = []
    while n:
        part = stream.read(n)
        if not part:
            return None
        parts.append(part)
        n -= len(part)
    return b"".join(parts)


class _Pickler(pickle.Pickler):
    def reducer_override(self, obj):
        if isinstance(obj, ModuleType):
            if obj.__name__ == "__main__":
                raise SceneError("the running script", "is itself used as a module that another process needs", MEND)
            return load_module, (obj.__name__, getattr(obj, "__file__", None))
        if isinstance(obj, (FunctionType, type)) and obj.__module__ == "__main__":
            what = f"{obj.__qualname__!r}"
            raise SceneError(what, "is defined in the running script, which another process cannot import", MEND)
        return NotImplemented


def dumps(obj, what: str) -> bytes:
    """Pickle for the other process. Raises SceneError, naming ``what``, for what it could not find there."""
    out = io.BytesIO()
    try:
        _Pickler(out, protocol=5).dump(obj)
    except SceneError as error:
        raise SceneError(what, error.args[0]) from None
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise SceneError(what, f"cannot be sent to another process ({error})", MEND) from None
    return out.getvalue()


def loads(data: bytes):
    return pickle.loads(data)


def load_module(name: str, file: str | None) -> ModuleType:
    """The module of that name, if it is the one of that file; else what the file holds."""
    try:
        module = importlib.import_module(name)
    except ModuleNotFoundError:
        module = None
    if module is not None and _same(getattr(module, "__file__", None), file):
        return module
    spec = importlib.util.spec_from_file_location(name, file) if file else None
    if spec is None:
        raise SceneError(f"module {name!r}", "another process cannot import it", "put it in a file on the import path")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def _same(a: str | None, b: str | None) -> bool:
    if a is None or b is None:
        return a is b
    return os.path.exists(a) and os.path.exists(b) and os.path.samefile(a, b)


class Callback:
    """A function of the calling process, as the called one holds it."""

    ask = None  # set in the called process: (number, args) -> result

    def __init__(self, number: int):
        self.number = number

    def __call__(self, *args):
        return Callback.ask(self.number, args)


class WorkerTraceback(Exception):
    """Where in the other process an error arose; the cause of the error that is raised here."""

    def __str__(self):
        return "\n" + self.args[0]


def dump_error(error: BaseException, traceback: str) -> bytes:
    """An error and its traceback; one that cannot be pickled becomes a RuntimeError of the same text."""
    try:
        data = pickle.dumps((error, traceback))
        pickle.loads(data)
    except Exception:
        data = pickle.dumps((RuntimeError(f"{type(error).__name__}: {error}"), traceback))
    return data


def load_error(data: bytes) -> BaseException:
    """The error that ``dump_error`` took; its traceback is its cause, unless its one line says all."""
    error, traceback = pickle.loads(data)
    if not isinstance(error, SceneError):
        error.__cause__ = WorkerTraceback(traceback)
    return error
