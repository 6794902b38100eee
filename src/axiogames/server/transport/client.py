"""One client at a table."""

from __future__ import annotations

import asyncio
import types
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine, Generator
from contextlib import suppress
from typing import Any

import msgspec

from ..presentation.views import Viewer

MOST_WAITING = 64  # messages to a client that does not take them

# Codes that connections are closed with.
NO_SUCH_TABLE = 4404
TOO_SLOW = 4408
UNREADABLE = 4409

_ENCODER = msgspec.json.Encoder()


def encode(message: msgspec.Struct) -> str:
    """A message as text."""
    return _ENCODER.encode(message).decode()


class Connection:
    """A client that is told what happens, as fast as it takes it, and never holds up anybody else."""

    __slots__ = ("_flushing", "_hang_up", "_hanging_up", "_send", "_waiting", "closed", "person", "seat")

    def __init__(
        self,
        send: Callable[[str], Coroutine[Any, Any, None]],
        person: str | None,
        seat: int | None,
        hang_up: Callable[[int, str], Awaitable[None]] | None = None,
    ) -> None:
        self._send = send
        self._hang_up = hang_up
        self._waiting: deque[str] | None = None
        self._flushing: asyncio.Task[None] | None = None
        self._hanging_up: asyncio.Task[None] | None = None
        self.person = person
        self.seat = seat
        self.closed = False

    @property
    def viewer(self) -> Viewer:
        """Whose eyes it sees with."""
        return Viewer(self.person, self.seat)

    @property
    def behind(self) -> bool:
        """Whether something waits until the client takes it."""
        return self._waiting is not None

    @property
    def dismissed(self) -> bool:
        """Whether the server has closed the connection: what it asks for is not carried out any more."""
        return self._hanging_up is not None

    def tell(self, text: str) -> None:
        """Send a text, now or when the client is ready for it."""
        if self.closed:
            return
        if self._waiting is not None:
            self._waiting.append(text)
            if len(self._waiting) > MOST_WAITING:
                self.closed = True  # it is cut off; it comes back and asks for what it missed
            return
        try:
            rest = _begun(self._send(text))
        except Exception:  # whatever it is, this client is gone
            self.closed = True
            return
        if rest is not None:
            self._waiting = deque()
            self._flushing = asyncio.get_running_loop().create_task(self._flush(rest))

    def dismiss(self, code: int, reason: str) -> None:
        """Close the connection; nothing more is told."""
        self.closed = True
        if self._hang_up is not None and self._hanging_up is None:
            self._hanging_up = asyncio.get_running_loop().create_task(self._end(code, reason))

    async def _end(self, code: int, reason: str) -> None:
        assert self._hang_up is not None
        with suppress(Exception):  # whatever it is, this client is gone
            await self._hang_up(code, reason)

    async def _flush(self, sending: Coroutine[Any, Any, None]) -> None:
        try:
            await sending
            while self._waiting and not self.closed:
                await self._send(self._waiting.popleft())
            if self.closed:
                self.dismiss(TOO_SLOW, "messages were not taken")
        except Exception:
            self.closed = True
        finally:
            self._waiting = None
            self._flushing = None


def _begun(sending: Coroutine[Any, Any, None]) -> Coroutine[Any, Any, None] | None:
    """Run a coroutine until it waits; what is left of it then.

    Nearly always a socket takes a message at once and nothing is left. That saves a task for each message.
    """
    try:
        waits_for = sending.send(None)
    except StopIteration:
        return None
    return _rest(sending, waits_for)


@types.coroutine
def _rest(sending: Coroutine[Any, Any, None], waits_for: Any) -> Generator[Any, Any, None]:
    try:
        while True:
            try:
                found = yield waits_for
            except BaseException as error:
                waits_for = sending.throw(error)
            else:
                waits_for = sending.send(found)
    except StopIteration:
        return
