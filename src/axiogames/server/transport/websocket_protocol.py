"""WebSocket protocol for uvicorn with bounds on input and output, and less memory per connection."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.frames import CloseCode, Frame

from .connections import StallWatch
from .rate_limits import CONTROL, TokenBucket

CHUNK_BYTES = 2_048  # parsed at once
MAX_UNREAD = 4  # messages; parsing pauses while this many are unread
MAX_FRAGMENTS = 500  # per message


class MessageQueue:
    """Queue of received messages for one reader. Takes a tenth of the memory of `asyncio.Queue`."""

    __slots__ = ("_items", "_waiting")

    def __init__(self) -> None:
        self._items: list[Any] = []
        self._waiting: asyncio.Future[None] | None = None

    def empty(self) -> bool:
        """Return whether there are no items."""
        return not self._items

    def qsize(self) -> int:
        """Return the number of items."""
        return len(self._items)

    def put_nowait(self, item: Any) -> None:
        """Append an item."""
        self._items.append(item)
        if self._waiting is not None and not self._waiting.done():
            self._waiting.set_result(None)

    async def get(self) -> Any:
        """Remove and return the first item, waiting for one if necessary."""
        while not self._items:
            self._waiting = asyncio.get_running_loop().create_future()
            try:
                await self._waiting
            finally:
                self._waiting = None
        return self._items.pop(0)


class WebSocketProtocol(WebSocketsSansIOProtocol):
    """WebSocket protocol with bounds. It drops the handshake, whose headers take more memory than a table.

    Input is parsed in small chunks, and parsing pauses while the client does not read its messages. Pings,
    pongs and fragments have a rate limit. A connection that exceeds it is closed.
    """

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.queue = MessageQueue()  # type: ignore[assignment]
        self.on_lost: Callable[[], None] | None = None
        self._pending = b""  # received, not parsed
        self._parsing = False
        self._paused = False  # whether the transport has stopped reading
        self._control = TokenBucket(CONTROL)
        self._stalled: StallWatch | None = None

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        self._pending = b""
        if self._stalled is not None:
            self._stalled.stop()
        if self.on_lost is not None:
            self.on_lost()

    def start_keepalive(self) -> None:
        # Called right after the handshake.
        super().start_keepalive()
        self.request.headers.clear()  # the parser keeps the request itself
        self.request = self.response = None  # type: ignore[assignment]

    # ------------------------------------------------------------ back-pressure

    def pause_writing(self) -> None:
        super().pause_writing()
        self._stalled = StallWatch(self.transport, self.loop)
        self._feed()

    def resume_writing(self) -> None:
        super().resume_writing()
        if self._stalled is not None:
            self._stalled.stop()
            self._stalled = None
        self._feed()

    def data_received(self, data: bytes) -> None:
        if not self.handshake_initiated:
            super().data_received(data)  # the whole head, whose size the HTTP protocol has checked
            if not self.handshake_initiated:  # the library has detected an error
                self.transport.write(b"".join(self.conn.data_to_send()))
                self.transport.close()
            return
        if self._pending or self._parsing or self._behind or len(data) > CHUNK_BYTES:
            self._pending += data
            self._feed()
            return
        # The usual case: one small message, with nothing pending.
        self._parsing = True
        try:
            super().data_received(data)
        finally:
            self._parsing = False
        if self._behind:
            self._feed()

    def _feed(self) -> None:
        """Parse pending input while the application and the client keep up."""
        if self._parsing:
            return
        self._parsing = True
        try:
            while self._pending and not self._behind and not self.transport.is_closing():
                part, self._pending = self._pending[:CHUNK_BYTES], self._pending[CHUNK_BYTES:]
                super().data_received(part)
        finally:
            self._parsing = False
        if self._behind != self._paused and not self.transport.is_closing():
            self._paused = self._behind
            if self._paused:
                self.transport.pause_reading()
            else:
                self.transport.resume_reading()

    @property
    def _behind(self) -> bool:
        """Whether the application has unread messages, or the client does not read."""
        return self.queue.qsize() >= MAX_UNREAD or self._stalled is not None

    async def receive(self) -> Any:
        message = await self.queue.get()
        if self._pending or self._paused:
            self._feed()
        return message

    def send(self, message: Any) -> Coroutine[Any, Any, None]:
        if message["type"] == "websocket.close":
            return self._send_close(message)
        return super().send(message)

    async def _send_close(self, message: Any) -> None:
        await super().send(message)
        self._feed()  # the client's close frame may be pending

    # ------------------------------------------------------------ frames

    def handle_ping(self) -> None:
        if self._within_rate():
            super().handle_ping()

    def handle_pong(self, event: Frame) -> None:
        if bytes(event.data) == self.pending_ping_payload or self._within_rate():
            super().handle_pong(event)

    def handle_text(self, event: Frame) -> None:
        if event.fin or self._within_rate():
            super().handle_text(event)

    def handle_bytes(self, event: Frame) -> None:
        if event.fin or self._within_rate():
            super().handle_bytes(event)

    def handle_cont(self, event: Frame) -> None:
        if len(self.frames) > MAX_FRAGMENTS:
            self._abort(CloseCode.MESSAGE_TOO_BIG, "a message has too many fragments")
        elif event.fin or self._within_rate():
            super().handle_cont(event)

    def send_receive_event_to_app(self) -> None:
        # Unlike uvicorn's, it does not pause reading for every message, which would take two system calls.
        data, self.frames = b"".join(self.frames), []
        if self.close_sent:
            self._within_rate()
        elif self.curr_msg_data_type == "bytes":
            self.queue.put_nowait({"type": "websocket.receive", "bytes": data})
        else:
            try:
                text = data.decode()
            except UnicodeDecodeError:
                self._abort(CloseCode.INVALID_DATA, "a text message has to be UTF-8")
            else:
                self.queue.put_nowait({"type": "websocket.receive", "text": text})

    def _within_rate(self) -> bool:
        """Return whether another frame that is not a message is allowed. If not, close the connection."""
        if self.transport.is_closing():
            return False
        if self._control.take():
            return True
        self._abort(CloseCode.POLICY_VIOLATION, "too many control frames")
        return False

    def _abort(self, code: CloseCode, reason: str) -> None:
        """Close the connection without waiting for the client's close frame."""
        self._pending = b""
        if self.transport.is_closing():
            return
        self.conn.fail(code, reason)
        self.queue.put_nowait({"type": "websocket.disconnect", "code": code, "reason": reason})
        self.transport.write(b"".join(self.conn.data_to_send()))
        self.close_sent = True
        self.transport.close()
