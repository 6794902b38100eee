"""Signals that end a command: at once, but never in the middle of a step that must be whole."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

RETRY_DELAY = 0.05  # seconds until a signal that came at a bad moment is sent again


class Interrupted(Exception):
    """The user stopped the command. The text says what was done until then."""


class SignalGuard:
    """Raises `KeyboardInterrupt` for a signal, at once or at the end of a `shielded` block."""

    def __init__(self) -> None:
        self._shielded = False
        self._received = False

    def handle(self, number: int, frame: FrameType | None) -> None:
        """Signal handler."""
        if _deferred(number, frame):
            return
        self._received = True
        if not self._shielded:
            raise KeyboardInterrupt

    @contextmanager
    def shielded(self) -> Iterator[None]:
        """Finish the block before a signal takes effect."""
        self._shielded = True
        try:
            yield
        finally:
            self._shielded = False
        if self._received:
            raise KeyboardInterrupt


@contextmanager
def interruptible(*numbers: signal.Signals) -> Iterator[SignalGuard]:
    """Turn these signals into `KeyboardInterrupt` inside the block. Outside the main thread do nothing."""
    guard = SignalGuard()
    if threading.current_thread() is not threading.main_thread():
        yield guard
        return
    before = {number: signal.getsignal(number) for number in numbers}
    # A signal that the parent process ignores (for a background job) stays ignored.
    handled = [number for number, handler in before.items() if handler is not signal.SIG_IGN]
    for number in handled:
        signal.signal(number, guard.handle)
    try:
        yield guard
    finally:
        for number in handled:
            signal.signal(number, before[number])


def clear_interrupt_flag() -> None:
    """Let an interrupted program end with an exit code of its own.

    CPython remembers an interrupt that came while a string was executed (every dataclass is made like that),
    and `python -m` then ends by the signal, although it was caught. Executing another string clears the flag.
    """
    exec("")


def _deferred(number: int, frame: FrameType | None) -> bool:
    """Return whether the signal interrupted LLVM; if so, send it again later.

    LLVM calls back into Python while rules are compiled, and exceptions raised in these callbacks are lost.
    """
    while frame is not None and not frame.f_globals.get("__name__", "").startswith("llvmlite."):
        frame = frame.f_back
    if frame is None:
        return False
    main = threading.main_thread().ident
    assert main is not None, "the main thread has started"
    again = threading.Timer(RETRY_DELAY, signal.pthread_kill, (main, number))
    again.daemon = True
    again.start()
    return True
