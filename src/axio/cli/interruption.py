"""Stopping when somebody asks for it, but never in the middle of a line."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class Interrupted(Exception):  # noqa: N818 - nothing is wrong
    """Somebody stopped the program; the text says how far it got."""


class Hold:
    """Raises `KeyboardInterrupt` for a signal, at once or at the end of what must be whole."""

    def __init__(self) -> None:
        self._held = False
        self._asked = False

    def stop(self, number: int, frame: FrameType | None) -> None:
        """The signal's handler."""
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
def stoppable() -> Iterator[Hold]:
    """While this lasts, SIGINT and SIGTERM end the work in good order."""
    hold = Hold()
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    # A signal that whoever started us wants ignored (a job in the background) stays ignored.
    heard = [number for number, handler in before.items() if handler is not signal.SIG_IGN]
    for number in heard:
        signal.signal(number, hold.stop)
    try:
        yield hold
    finally:
        for number in heard:
            signal.signal(number, before[number])
