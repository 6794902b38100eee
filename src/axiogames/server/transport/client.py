"""Client of a table: sends messages over one connection, without waiting for it."""

from __future__ import annotations

import asyncio
import types
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine, Generator
from contextlib import suppress
from typing import Any

import msgspec

from ..presentation.views import Viewer

MOST_QUEUED = 64  # messages to a client that reads too slowly

# Close codes of WebSockets.
NO_SUCH_TABLE = 4404
TOO_SLOW = 4408
UNREADABLE = 4409

_ENCODER = msgspec.json.Encoder()


def encode(message: msgspec.Struct) -> str:
    """Return a message as JSON text."""
    return _ENCODER.encode(message).decode()


class Client:
    """Connection of a viewer, which receives messages at its own pace and never delays others.

    Args:
        send: Sends a text over the connection.
        person: Who is signed in, `None` if nobody is.
        seat: The seat from which the client looks, if any.
        hang_up: Closes the connection with a code and a reason.
    """

    __slots__ = ("_closing", "_flushing", "_hang_up", "_queue", "_send", "closed", "person", "seat")

    def __init__(
        self,
        send: Callable[[str], Coroutine[Any, Any, None]],
        person: str | None,
        seat: int | None,
        hang_up: Callable[[int, str], Awaitable[None]] | None = None,
    ) -> None:
        self._send = send
        self._hang_up = hang_up
        self._queue: deque[str] | None = None  # `None` while the client keeps up
        self._flushing: asyncio.Task[None] | None = None
        self._closing: asyncio.Task[None] | None = None
        self.person = person
        self.seat = seat
        self.closed = False  # whether messages are dropped

    @property
    def viewer(self) -> Viewer:
        """The viewer for whom messages are redacted."""
        return Viewer(self.person, self.seat)

    @property
    def behind(self) -> bool:
        """Whether messages wait until the client reads them."""
        return self._queue is not None

    @property
    def closing(self) -> bool:
        """Whether the server has closed the connection. Commands of such a client are not executed."""
        return self._closing is not None

    def send(self, text: str) -> None:
        """Send a text, now or when the client is ready for it."""
        if self.closed:
            return
        if self._queue is not None:
            self._queue.append(text)
            if len(self._queue) > MOST_QUEUED:
                self.closed = True  # the client reconnects and asks for what it missed
            return
        try:
            rest = _run_until_blocked(self._send(text))
        except Exception:  # for any error: this client is gone
            self.closed = True
            return
        if rest is not None:
            self._queue = deque()
            self._flushing = asyncio.get_running_loop().create_task(self._flush(rest))

    def close(self, code: int, reason: str) -> None:
        """Close the connection and drop further messages."""
        self.closed = True
        if self._hang_up is not None and self._closing is None:
            self._closing = asyncio.get_running_loop().create_task(self._close(code, reason))

    async def _close(self, code: int, reason: str) -> None:
        assert self._hang_up is not None
        with suppress(Exception):  # for any error: this client is gone
            await self._hang_up(code, reason)

    async def _flush(self, sending: Coroutine[Any, Any, None]) -> None:
        try:
            await sending
            while self._queue and not self.closed:
                await self._send(self._queue.popleft())
            if self.closed:
                self.close(TOO_SLOW, "messages were not taken")
        except Exception:
            self.closed = True
        finally:
            self._queue = None
            self._flushing = None


def _run_until_blocked(sending: Coroutine[Any, Any, None]) -> Coroutine[Any, Any, None] | None:
    """Run a coroutine until it waits and return the rest, `None` if it has finished.

    Nearly always a socket accepts a message at once. Running it directly saves a task per message.
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
                result = yield waits_for
            except BaseException as error:
                waits_for = sending.throw(error)
            else:
                waits_for = sending.send(result)
    except StopIteration:
        return
