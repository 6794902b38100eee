"""Management of the rendering process: start, replace and stop it, and exchange requests with it."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path

import msgspec

from ..domain.refusals import Refused
from . import worker
from .worker import RenderRequest, read_frame, write_frame

RENDER_TIMEOUT = 20.0  # seconds per picture; a slower process is killed
PICTURES_PER_PROCESS = 500  # then replace the process, to bound leaked memory
STOP_TIMEOUT = 5.0
# Environment of the process. That of the server may contain secrets such as the database password.
INHERITED_VARIABLES = (
    "PATH", "HOME", "LANG", "LC_ALL", "PYTHONPATH", "PYTHONHOME", "SYSTEMROOT", "TEMP", "TMP"
)  # fmt: skip


class RenderFailed(Refused):
    """The rendering process failed. `reason` is for the log only."""

    def __init__(self, reason: str) -> None:
        super().__init__("unavailable", "the picture could not be rendered; try again in a moment")
        self.reason = reason


class RenderProcess:
    """One rendering process. Callers must not call `render` concurrently."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._rendered = 0
        self._lock = threading.Lock()  # a thread starts the process, the event loop stops it
        self._closed = False

    @property
    def pid(self) -> int | None:
        """Process id, `None` while no process runs."""
        return self._process.pid if self._process else None

    def render(self, request: RenderRequest) -> bytes:
        """Return a picture. A process that has ended is restarted. Raises `RenderFailed`."""
        if self._rendered >= PICTURES_PER_PROCESS:
            self._discard_process()
        frame = msgspec.json.encode(request)
        for _ in range(2):
            process = self._ensure_process()
            try:
                success, answer = _exchange(process, frame)
            except (OSError, EOFError, ValueError):  # the process was killed
                self._discard_process()
                continue
            self._rendered += 1
            if not success:
                raise RenderFailed(answer.decode(errors="replace"))
            return answer
        raise RenderFailed("the rendering process ended twice")

    def _ensure_process(self) -> subprocess.Popen[bytes]:
        with self._lock:
            if self._closed:
                raise RenderFailed("the server is stopping")
            if self._process is None:
                self._process, self._rendered = _spawn(), 0
            return self._process

    def _discard_process(self) -> None:
        with self._lock:
            process, self._process = self._process, None
            if process is not None:
                _kill(process)

    def close(self) -> None:
        """Kill the process, even while it renders."""
        self._closed = True
        self._discard_process()


def _spawn() -> subprocess.Popen[bytes]:
    environment = {name: os.environ[name] for name in INHERITED_VARIABLES if name in os.environ}
    # The process must import the same package.
    package_root = str(Path(worker.__file__).parents[3])
    paths = [package_root, *filter(None, environment.get("PYTHONPATH", "").split(os.pathsep))]
    environment["PYTHONPATH"] = os.pathsep.join(paths)
    # Pictures need no compiled rules. Without them the process takes a fifth of the memory.
    environment["NUMBA_DISABLE_JIT"] = "1"
    environment["MALLOC_MMAP_THRESHOLD_"] = "131072"  # glibc: return memory to the system after each picture
    return subprocess.Popen(
        [sys.executable, "-P", "-m", worker.__name__],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=environment,
    )


def _exchange(process: subprocess.Popen[bytes], frame: bytes) -> tuple[bool, bytes]:
    assert process.stdin is not None
    assert process.stdout is not None
    timeout = threading.Timer(RENDER_TIMEOUT, process.kill)
    timeout.daemon = True
    timeout.start()
    try:
        write_frame(process.stdin, frame)
        return read_frame(process.stdout)
    finally:
        timeout.cancel()


def _kill(process: subprocess.Popen[bytes]) -> None:
    process.kill()  # a concurrent reader gets EOF
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            with suppress(OSError):  # unsent data are not needed
                pipe.close()
    process.wait(STOP_TIMEOUT)
