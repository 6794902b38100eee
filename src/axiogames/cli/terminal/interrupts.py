"""Signals that end a command: immediately, or at the end of a step that must be complete."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

RETRY_DELAY = 0.05  # seconds until a deferred signal is sent again


class Interrupted(Exception):
    """The user interrupted the command. The message names the work that is done."""


class SignalGuard:
    """Raises `KeyboardInterrupt` for a signal, immediately or at the end of a `shielded` block."""

    def __init__(self) -> None:
        self._shielded = False
        self._received = False

    def handle(self, number: int, frame: FrameType | None) -> None:
        """Handle a signal."""
        if _deferred(number, frame):
            return
        self._received = True
        if not self._shielded:
            raise KeyboardInterrupt

    @contextmanager
    def shielded(self) -> Iterator[None]:
        """Defer signals to the end of the block."""
        self._shielded = True
        try:
            yield
        finally:
            self._shielded = False
        if self._received:
            raise KeyboardInterrupt


@contextmanager
def interruptible(*numbers: signal.Signals) -> Iterator[SignalGuard]:
    """Turn signals into `KeyboardInterrupt` inside the block. Outside the main thread, do nothing."""
    guard = SignalGuard()
    if threading.current_thread() is not threading.main_thread():
        yield guard
        return
    before = {number: signal.getsignal(number) for number in numbers}
    # A signal that the parent process ignores, as for a background job, stays ignored.
    handled = [number for number, handler in before.items() if handler is not signal.SIG_IGN]
    for number in handled:
        signal.signal(number, guard.handle)
    try:
        yield guard
    finally:
        for number in handled:
            signal.signal(number, before[number])


def clear_interrupt_flag() -> None:
    """Let an interrupted program end with its own exit code.

    CPython sets a flag if `exec` of a string is interrupted, as in the creation of a dataclass. Then `python
    -m` ends by the signal, although the exception was caught. Another `exec` clears the flag.
    """
    exec("")


def _deferred(number: int, frame: FrameType | None) -> bool:
    """Return whether the signal interrupted LLVM. If so, send it again later.

    LLVM calls Python functions while rules are compiled, and exceptions raised in these callbacks are lost.
    """
    while frame is not None and not frame.f_globals.get("__name__", "").startswith("llvmlite."):
        frame = frame.f_back
    if frame is None:
        return False
    main = threading.main_thread().ident
    assert main is not None, "the main thread has started"
    if hasattr(signal, "pthread_kill"):
        again = threading.Timer(RETRY_DELAY, signal.pthread_kill, (main, number))
    else:  # Windows, where Python runs the handler in the main thread as well
        again = threading.Timer(RETRY_DELAY, signal.raise_signal, (number,))
    again.daemon = True
    again.start()
    return True
