"""The server's side of the process that draws pictures (`draw`): started, replaced and stopped here."""

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
from .worker import Drawing, read, write

PATIENCE = 20.0  # seconds for one picture; a process that takes longer is replaced
PICTURES_EACH = 500  # pictures of one process; then a fresh one takes over, whatever the old one has hoarded
STOPPED_WITHIN = 5.0
# All that the process gets of the environment. The server's holds its settings, with the database's password.
KEPT = ("PATH", "HOME", "LANG", "LC_ALL", "PYTHONPATH", "PYTHONHOME", "SYSTEMROOT", "TEMP", "TMP")


class CannotDraw(Refused):
    """The process for pictures has failed; `why` is for the log."""

    def __init__(self, why: str) -> None:
        super().__init__("unavailable", "the picture could not be drawn; try again in a moment")
        self.why = why


class DrawingProcess:
    """One process that draws one picture at a time; callers see to it that they come one by one."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._drawn = 0
        self._lock = threading.Lock()  # a thread starts the process, the event loop closes it
        self._closed = False

    @property
    def pid(self) -> int | None:
        """Number of the process, `None` while there is none."""
        return self._process.pid if self._process else None

    def draw(self, wanted: Drawing) -> bytes:
        """Return a picture. A process that has died is replaced. Raises `CannotDraw`."""
        if self._drawn >= PICTURES_EACH:
            self._stop()
        request = msgspec.json.encode(wanted)
        for _ in range(2):
            process = self._running()
            try:
                good, answer = _exchange(process, request)
            except (OSError, EOFError, ValueError):  # it was killed, and its pipes perhaps closed
                self._stop()
                continue
            self._drawn += 1
            if not good:
                raise CannotDraw(answer.decode(errors="replace"))
            return answer
        raise CannotDraw("the process for pictures has ended twice")

    def _running(self) -> subprocess.Popen[bytes]:
        with self._lock:
            if self._closed:
                raise CannotDraw("the server is stopping")
            if self._process is None:
                self._process, self._drawn = _start(), 0
            return self._process

    def _stop(self) -> None:
        with self._lock:
            process, self._process = self._process, None
            if process is not None:
                _end(process)

    def close(self) -> None:
        """End the process, also in the middle of a picture."""
        self._closed = True
        self._stop()


def _start() -> subprocess.Popen[bytes]:
    kept = {name: os.environ[name] for name in KEPT if name in os.environ}
    # It must find the package that runs here, wherever that lies.
    here = str(Path(worker.__file__).parents[3])
    paths = [here, *filter(None, kept.get("PYTHONPATH", "").split(os.pathsep))]
    kept["PYTHONPATH"] = os.pathsep.join(paths)
    # A picture needs no rules: without Numba the process takes a fifth of the memory.
    kept["NUMBA_DISABLE_JIT"] = "1"
    kept["MALLOC_MMAP_THRESHOLD_"] = "131072"  # glibc: what a picture took is given back after it
    return subprocess.Popen(
        [sys.executable, "-P", "-m", worker.__name__],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=kept,
    )


def _exchange(process: subprocess.Popen[bytes], request: bytes) -> tuple[bool, bytes]:
    assert process.stdin is not None
    assert process.stdout is not None
    overdue = threading.Timer(PATIENCE, process.kill)
    overdue.daemon = True
    overdue.start()
    try:
        write(process.stdin, request)
        return read(process.stdout)
    finally:
        overdue.cancel()


def _end(process: subprocess.Popen[bytes]) -> None:
    process.kill()  # whoever still reads from it finds the end
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            with suppress(OSError):  # what was not sent is not needed
                pipe.close()
    process.wait(STOPPED_WITHIN)
