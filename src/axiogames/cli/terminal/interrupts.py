"""Stopping when somebody asks for it, but never in the middle of a line."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class Interrupted(Exception):
    """Somebody stopped the program; the text says how far it got."""


class Hold:
    """Raises `KeyboardInterrupt` for a signal, at once or at the end of what must be whole."""

    def __init__(self) -> None:
        self._held = False
        self._asked = False

    def stop(self, number: int, frame: FrameType | None) -> None:
        """The signal's handler."""
        if _postponed(number, frame):
            return
        self._asked = True
        if not self._held:
            raise KeyboardInterrupt

    @contextmanager
    def whole(self) -> Iterator[None]:
        """What happens in here is finished first."""
        self._held = True
        try:
            yield
        finally:
            self._held = False
        if self._asked:
            raise KeyboardInterrupt


@contextmanager
def stoppable(*numbers: signal.Signals) -> Iterator[Hold]:
    """While this lasts, these signals end the work in good order."""
    hold = Hold()
    if threading.current_thread() is not threading.main_thread():
        yield hold  # signals are none of our business
        return
    before = {number: signal.getsignal(number) for number in numbers}
    # A signal that whoever started us wants ignored (a job in the background) stays ignored.
    heard = [number for number, handler in before.items() if handler is not signal.SIG_IGN]
    for number in heard:
        signal.signal(number, hold.stop)
    try:
        yield hold
    finally:
        for number in heard:
            signal.signal(number, before[number])


def forget() -> None:
    """Let the program end with the code it wants, though it was interrupted.

    CPython remembers an interrupt that came while a string was executed (every dataclass is made like that),
    and `python -m` then ends by the signal whatever was caught since; executing a string makes it forget.
    """
    exec("")


def _postponed(number: int, frame: FrameType | None) -> bool:
    """Whether the signal came at a bad moment, and will come again.

    While rules are compiled, LLVM calls back into Python, and what is raised in there gets lost.
    """
    while frame is not None and not frame.f_globals.get("__name__", "").startswith("llvmlite."):
        frame = frame.f_back
    if frame is None:
        return False
    main = threading.main_thread().ident
    assert main is not None, "the main thread has started"
    again = threading.Timer(0.05, signal.pthread_kill, (main, number))
    again.daemon = True
    again.start()
    return True
