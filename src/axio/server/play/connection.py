"""One client at a table."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable

import msgspec

from .telling import Viewer

MOST_WAITING = 64  # messages to a client that does not take them

_ENCODER = msgspec.json.Encoder()


def encode(message: msgspec.Struct) -> str:
    """A message as text."""
    return _ENCODER.encode(message).decode()


class Connection:
    """A client that is told what happens, as fast as it takes it, and never holds up anybody else."""

    __slots__ = ("_flushing", "_send", "_waiting", "closed", "person", "seat")

    def __init__(self, send: Callable[[str], Awaitable[None]], person: str | None, seat: int | None) -> None:
        self._send = send
        self._waiting: deque[str] | None = None
        self._flushing: asyncio.Task[None] | None = None
        self.person = person
        self.seat = seat
        self.closed = False

    @property
    def viewer(self) -> Viewer:
        """Whose eyes it sees with."""
        return Viewer(self.person, self.seat)

    def tell(self, text: str) -> None:
        """Send a text when the client is ready for it."""
        if self.closed:
            return
        if self._waiting is None:
            self._waiting = deque()
        self._waiting.append(text)
        if len(self._waiting) > MOST_WAITING:
            self.closed = True  # its handler ends; the client comes back and asks for what it missed
            return
        if self._flushing is None:
            self._flushing = asyncio.get_running_loop().create_task(self._flush())

    async def _flush(self) -> None:
        try:
            while self._waiting:
                await self._send(self._waiting.popleft())
        except Exception:  # whatever it is, this client is gone
            self.closed = True
        finally:
            self._waiting = None
            self._flushing = None
