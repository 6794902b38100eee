"""Client of a table: a connection that messages are sent over without waiting."""

from __future__ import annotations

import asyncio
import types
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine, Generator
from contextlib import suppress
from typing import Any

import msgspec

from ..presentation.views import Viewer

MAX_QUEUED = 64  # messages that wait for a slow client

# Close codes of WebSockets.
NO_SUCH_TABLE = 4404
TOO_SLOW = 4408
UNREADABLE = 4409

_ENCODER = msgspec.json.Encoder()


def encode(message: msgspec.Struct) -> str:
    """Return a message as JSON text."""
    return _ENCODER.encode(message).decode()


class Client:
    """Connection of a viewer, who receives messages at their own pace and never delays others.

    Args:
        send: Sends a text over the connection.
        person: Id of the person who is signed in, if any.
        seat: The seat from which the client looks, if any.
        close: Closes the connection with a code and a reason.
    """

    __slots__ = ("_close", "_closing", "_flushing", "_queue", "_send", "closed", "person", "seat")

    def __init__(
        self,
        send: Callable[[str], Coroutine[Any, Any, None]],
        person: str | None,
        seat: int | None,
        close: Callable[[int, str], Awaitable[None]] | None = None,
    ) -> None:
        self._send = send
        self._close = close
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
        """Whether messages wait for the client to read them."""
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
            if len(self._queue) > MAX_QUEUED:
                self.closed = True  # the client reconnects and requests the messages it has missed
            return
        try:
            rest = _run_until_blocked(self._send(text))
        except Exception:  # whatever the error, this client is gone
            self.closed = True
            return
        if rest is not None:
            self._queue = deque()
            self._flushing = asyncio.get_running_loop().create_task(self._flush(rest))

    def close(self, code: int, reason: str) -> None:
        """Close the connection and drop further messages."""
        self.closed = True
        if self._close is not None and self._closing is None:
            self._closing = asyncio.get_running_loop().create_task(self._run_close(code, reason))

    async def _run_close(self, code: int, reason: str) -> None:
        assert self._close is not None
        with suppress(Exception):  # whatever the error, this client is gone
            await self._close(code, reason)

    async def _flush(self, sending: Coroutine[Any, Any, None]) -> None:
        try:
            await sending
            while self._queue and not self.closed:
                await self._send(self._queue.popleft())
            if self.closed:
                self.close(TOO_SLOW, "the client reads too slowly")
        except Exception:
            self.closed = True
        finally:
            self._queue = None
            self._flushing = None


def _run_until_blocked(sending: Coroutine[Any, Any, None]) -> Coroutine[Any, Any, None] | None:
    """Run a coroutine until it blocks and return the rest of it, `None` if it has finished.

    A socket nearly always accepts a message at once. Running the coroutine here saves a task per message.
    """
    try:
        awaited = sending.send(None)
    except StopIteration:
        return None
    return _resume(sending, awaited)


@types.coroutine
def _resume(sending: Coroutine[Any, Any, None], awaited: Any) -> Generator[Any, Any, None]:
    try:
        while True:
            try:
                result = yield awaited
            except BaseException as error:
                awaited = sending.throw(error)
            else:
                awaited = sending.send(result)
    except StopIteration:
        return
