"""WebSockets as uvicorn serves them, within bounds, and without what they would keep for nothing."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.frames import CloseCode, Frame

from .connections import StallWatch
from .rate_limits import CONTROL, TokenBucket

PART = 2_048  # bytes that are parsed at once
MOST_UNREAD = 4  # messages that were not read yet, after which no more is parsed
MOST_FRAGMENTS = 500  # of one message


class Mailbox:
    """What has come in and was not read yet. One reader; a tenth of the memory of `asyncio.Queue`."""

    __slots__ = ("_items", "_waiting")

    def __init__(self) -> None:
        self._items: list[Any] = []
        self._waiting: asyncio.Future[None] | None = None

    def empty(self) -> bool:
        """Whether there is nothing to read."""
        return not self._items

    def qsize(self) -> int:
        """Number of items."""
        return len(self._items)

    def put_nowait(self, item: Any) -> None:
        """Something has come in."""
        self._items.append(item)
        if self._waiting is not None and not self._waiting.done():
            self._waiting.set_result(None)

    async def get(self) -> Any:
        """What has come in first."""
        while not self._items:
            self._waiting = asyncio.get_running_loop().create_future()
            try:
                await self._waiting
            finally:
                self._waiting = None
        return self._items.pop(0)


class LeanSocket(WebSocketsSansIOProtocol):
    """A WebSocket within bounds that forgets its handshake.

    The headers of a browser are more than all of a table. Bounds: what comes in is parsed in small parts, and
    not while the client does not take what is sent to it; pings, pongs and fragments have a pace, and are
    answered by closing the connection when they come faster.
    """

    def __init__(self, *args: Any, **more: Any) -> None:
        super().__init__(*args, **more)
        self.queue = Mailbox()  # type: ignore[assignment]
        self.on_lost: Callable[[], None] | None = None
        self._pending = b""  # read, but not parsed
        self._parsing = False
        self._halted = False  # whether the transport has been told to read no more
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
        # The first thing that happens when the handshake is done.
        super().start_keepalive()
        self.request.headers.clear()  # the parser holds the request itself
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
            super().data_received(data)  # the whole head, which the HTTP protocol has bounded
            if not self.handshake_initiated:  # the library has found something wrong with it
                self.transport.write(b"".join(self.conn.data_to_send()))
                self.transport.close()
            return
        if self._pending or self._parsing or self._behind or len(data) > PART:
            self._pending += data
            self._feed()
            return
        # Nearly always: one small message, and nothing before it.
        self._parsing = True
        try:
            super().data_received(data)
        finally:
            self._parsing = False
        if self._behind:
            self._feed()

    def _feed(self) -> None:
        """Parse what has been read, as long as the application and the client keep up."""
        if self._parsing:
            return
        self._parsing = True
        try:
            while self._pending and not self._behind and not self.transport.is_closing():
                part, self._pending = self._pending[:PART], self._pending[PART:]
                super().data_received(part)
        finally:
            self._parsing = False
        if self._behind != self._halted and not self.transport.is_closing():
            self._halted = self._behind
            if self._halted:
                self.transport.pause_reading()
            else:
                self.transport.resume_reading()

    @property
    def _behind(self) -> bool:
        """Whether messages were not read yet, or the client has not taken what it was sent."""
        return self.queue.qsize() >= MOST_UNREAD or self._stalled is not None

    async def receive(self) -> Any:
        message = await self.queue.get()
        if self._pending or self._halted:
            self._feed()
        return message

    def send(self, message: Any) -> Coroutine[Any, Any, None]:
        if message["type"] == "websocket.close":
            return self._send_close(message)
        return super().send(message)

    async def _send_close(self, message: Any) -> None:
        await super().send(message)
        self._feed()  # the client's answer may be among what was not parsed

    # ------------------------------------------------------------ frames

    def handle_ping(self) -> None:
        if self._keeps_pace():
            super().handle_ping()

    def handle_pong(self, event: Frame) -> None:
        if bytes(event.data) == self.pending_ping_payload or self._keeps_pace():
            super().handle_pong(event)

    def handle_text(self, event: Frame) -> None:
        if event.fin or self._keeps_pace():
            super().handle_text(event)

    def handle_bytes(self, event: Frame) -> None:
        if event.fin or self._keeps_pace():
            super().handle_bytes(event)

    def handle_cont(self, event: Frame) -> None:
        if len(self.frames) > MOST_FRAGMENTS:
            self._cut_off(CloseCode.MESSAGE_TOO_BIG, "a message has too many fragments")
        elif event.fin or self._keeps_pace():
            super().handle_cont(event)

    def send_receive_event_to_app(self) -> None:
        # Unlike uvicorn's, it does not stop reading for every message: that takes two calls of the system.
        data, self.frames = b"".join(self.frames), []
        if self.close_sent:
            self._keeps_pace()
        elif self.curr_msg_data_type == "bytes":
            self.queue.put_nowait({"type": "websocket.receive", "bytes": data})
        else:
            try:
                text = data.decode()
            except UnicodeDecodeError:
                self._cut_off(CloseCode.INVALID_DATA, "a text message has to be UTF-8")
            else:
                self.queue.put_nowait({"type": "websocket.receive", "text": text})

    def _keeps_pace(self) -> bool:
        """Whether one more frame that is no message is fine. Otherwise the connection is being closed."""
        if self.transport.is_closing():
            return False
        if self._control.take():
            return True
        self._cut_off(CloseCode.POLICY_VIOLATION, "too many control frames")
        return False

    def _cut_off(self, code: CloseCode, reason: str) -> None:
        """Close the connection without waiting for the client to agree."""
        self._pending = b""
        if self.transport.is_closing():
            return
        self.conn.fail(code, reason)
        self.queue.put_nowait({"type": "websocket.disconnect", "code": code, "reason": reason})
        self.transport.write(b"".join(self.conn.data_to_send()))
        self.close_sent = True
        self.transport.close()
