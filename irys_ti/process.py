"""Another process of this package, with a Taichi of its own: another backend, another precision.

Taichi holds one program per process, so a second tier needs a second process. It is started as a module
(``python -m irys_ti._worker``), never by importing the caller's script again, and is given scenes as data.
"""

from __future__ import annotations

import atexit
import hashlib
import os
import subprocess
import sys
import threading
from pathlib import Path

from . import wire

# Registries that can hold kinds from outside the package, and the objects of a scene that name them.
REGISTRIES = (
    ("irys_ti.kernels.bsdf", "BSDFS", lambda scene: scene.materials),
    ("irys_ti.kernels.light", "LIGHTS", lambda scene: [*scene.lights, *(s.light for s in scene.shapes if s.light)]),
    ("irys_ti.kernels.geometry", "GEOMETRIES", lambda scene: scene.shapes),
)


class ProcessDied(RuntimeError):
    """The other process ended in the middle of its work."""


class Process:
    """A lazily started, reused process that runs functions of this package.

    init: arguments of ``runtime.init`` there. name: what errors call it. env: environment variables to set.
    Calls from several threads take turns. After a crash, or Ctrl-C during a call, the next call starts another.
    """

    def __init__(self, init: tuple, name: str, env: dict | None = None):
        self.init, self.name, self.env = init, name, env or {}
        self._lock = threading.RLock()
        self._forget()
        atexit.register(self.close)

    def call(self, function: str, *args, scene=None, **kwargs):
        """Run ``function`` ("irys_ti.api:render") there with (scene, *args, **kwargs); its result.

        Functions among the arguments run here. Errors raised there are raised here, of the same type.
        Raises SceneError for what cannot be sent, ProcessDied where the process ended.
        """
        functions: list = []
        kinds = [] if scene is None else outside_kinds(scene)
        data = None if scene is None else wire.dumps(scene, "the scene")
        token = None if data is None else hashlib.blake2b(data, digest_size=16).digest()

        def plain(value):
            if callable(value) and not isinstance(value, type):
                functions.append(value)
                return wire.Callback(len(functions) - 1)
            return value

        request = {
            "function": function,
            "args": tuple(map(plain, args)),
            "kwargs": {k: plain(v) for k, v in kwargs.items()},
            "token": token,
        }
        with self._lock:
            if os.getpid() != self._owner:  # a fork of the process that owns the pipes
                self._forget()
            if any(self._kinds.get(k[:3], k[3]) != k[3] for k in kinds):
                self.close()  # a kind was replaced: compiled kernels there would still have the old one
            self._start()
            request["kinds"] = [k for k in kinds if k[:3] not in self._kinds]
            request["scene"] = None if token == self._token else data
            message = self._request(request)
            self._token = None  # until the scene has arrived
            result = self._talk(message, functions)
            self._token = token
            self._kinds |= {k[:3]: k[3] for k in kinds}
        return result

    def close(self) -> None:
        """End the process, if there is one."""
        process = self._process
        if process is None or os.getpid() != self._owner:
            return
        self._forget()
        try:
            process.stdin.close()  # it ends when its input does
            process.wait(2)
        except (OSError, subprocess.TimeoutExpired):
            process.kill()
            process.wait()
        process.stdout.close()

    def kill(self) -> None:
        """End the process at once."""
        if self._process is not None:
            self._process.kill()
        self.close()

    # ----------------------------------------------------------------------------------------------------

    def _forget(self) -> None:
        self._process, self._owner = None, os.getpid()
        self._token: bytes | None = None
        self._kinds: dict[tuple, bytes] = {}

    def _request(self, request: dict) -> bytes:
        path = [os.path.abspath(p) for p in sys.path]
        return wire.dumps({"path": path, **request}, f"a call of {request.get('function', 'init')}")

    def _start(self) -> None:
        if self._process is not None and self._process.poll() is None:
            return
        self.close()
        if not sys.executable:
            raise RuntimeError(f"the {self.name} needs a Python interpreter to start, and sys.executable names none")
        root = str(Path(__file__).resolve().parents[1])
        path = os.pathsep.join([root, *filter(None, [os.environ.get("PYTHONPATH")])])
        # Ctrl-C reaches this process alone, which then ends the other.
        apart = (
            {"creationflags": subprocess.CREATE_NEW_PROCESS_GROUP} if sys.platform == "win32" else {"start_new_session": True}
        )
        # PYTHONSAFEPATH: the working directory must not shadow what the package imports.
        env = {**os.environ, "PYTHONPATH": path, "PYTHONSAFEPATH": "1", **self.env}
        self._process = subprocess.Popen(
            [sys.executable, "-m", "irys_ti._worker"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=env, **apart
        )
        self._talk(self._request({"init": self.init}), [])

    def _talk(self, message: bytes, functions: list):
        """Send a request, call back as asked, return the result or raise the error."""
        failed = None
        try:
            self._send(message)
            while True:
                answer = wire.receive(self._process.stdout)
                if answer is None:
                    raise ProcessDied(self._last_words())
                kind, data = wire.loads(answer)
                if kind != "ask":
                    break
                number, args = wire.loads(data)
                try:
                    reply = True, functions[number](*args)
                except Exception as error:
                    failed, reply = error, (False, None)
                self._send(wire.dumps(reply, "a function's result"))
        except BaseException:  # Ctrl-C, a broken pipe: the talk broke off in its middle
            self.kill()
            raise
        if kind == "aborted":
            raise failed
        if kind == "error":
            raise wire.load_error(data)
        return wire.loads(data)

    def _send(self, message: bytes) -> None:
        try:
            wire.send(self._process.stdin, message)
        except OSError:
            raise ProcessDied(self._last_words()) from None

    def _last_words(self) -> str:
        try:
            code = self._process.wait(5)
        except subprocess.TimeoutExpired:
            code = None
        how = f"was ended by signal {-code}" if code is not None and code < 0 else f"ended with exit code {code}"
        return f"the {self.name} {how} in the middle of its work (its own messages, if any, are above); the next call starts another"


def outside_kinds(scene) -> list[tuple[str, str, str, bytes]]:
    """(module, registry, name, pickle) of every kind the scene uses that is not this package's own."""
    from importlib import import_module

    found = []
    for module, registry, users in REGISTRIES:
        known = getattr(import_module(module), registry)
        for name in sorted({user.kind for user in users(scene)}):
            kind = known.get(name)
            if kind is not None and not getattr(kind, "__name__", "").startswith("irys_ti."):
                found.append((module, registry, name, wire.dumps(kind, f"kind {name!r}")))
    return found
