"""HTTP protocol for uvicorn with bounds on size, time and the number of connections.

httptools accepts a request head of any length. Therefore input is fed to the parser in small chunks, and
everything outside a body is counted: URL and headers, chunk sizes and extensions, trailers, blank lines.
While reading is paused, nothing is parsed, even if more has been received.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast

import httptools
from uvicorn.protocols.http.flow_control import FlowControl
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

from .connections import ConnectionLimits, PromptTransport, Release, StallWatch
from .origin_guard import error_response, with_security_headers

CHUNK_BYTES = 4_096  # parsed at once
LINGER_SECONDS = 2.0  # until a refused client that is still sending is disconnected
MAX_DISCARDED = 4_000_000  # bytes that it may send until then


@dataclass(frozen=True, slots=True)
class RequestBounds:
    """Maximum size of a request in bytes, and time to receive it in seconds."""

    head: int = 32_768  # and everything else outside a body
    body: int = 4_000_000  # also for bodies that the application has refused and that are discarded
    head_seconds: float = 15.0
    body_seconds: float = 30.0


class _Flow(FlowControl):
    """Flow control that, when it resumes, first parses the pending input."""

    def __init__(self, transport: asyncio.Transport, feed: Callable[[], None]) -> None:
        super().__init__(transport)
        self._feed: Callable[[], None] | None = feed

    def resume_reading(self) -> None:
        if self.read_paused:
            super().resume_reading()
            if self._feed is not None:
                self._feed()

    def end(self) -> None:
        """Drop the reference to the closed connection."""
        self._feed = None


class HttpProtocol(HttpToolsProtocol):
    """HTTP connection that refuses a request that is too large or too slow, and closes then."""

    def __init__(
        self,
        *args: Any,
        connections: ConnectionLimits | None = None,
        bounds: RequestBounds | None = None,
        **options: Any,
    ) -> None:
        super().__init__(*args, **options)
        self._limits = connections or ConnectionLimits(per_network=None)
        self._bounds = bounds or RequestBounds()
        self._release: Release | None = None
        self._pending = b""  # received, not parsed
        self._parsing = False
        self._refused = False
        self._discarded = 0
        self._in_head = self._in_body = False
        self._overhead = 0  # bytes of the request outside its body
        self._body = 0
        self._timer: asyncio.TimerHandle | None = None
        self._timer_in_body = False
        self._stalled: StallWatch | None = None

    # ------------------------------------------------------------ connection

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        prompt = cast(asyncio.Transport, PromptTransport(transport, self.loop))
        super().connection_made(prompt)
        self.flow = _Flow(prompt, self._feed)
        peer = self.client[0] if self.client else ""
        if not self._limits.admits(peer):
            self._refused = True
            self.transport.abort()
            return
        self._release = self._limits.take(peer)
        if self._release is None:
            self._refuse(503, "busy", "too many connections; try again in a few seconds")
            self.transport.close()  # at once: descriptors may be running out
        else:
            self._update_timer()

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        self._stop_timer()
        self._unset_keepalive_if_required()
        self._pending = b""
        if self._stalled is not None:
            self._stalled.stop()
        if self._release is not None:
            self._release()
            self._release = None
        # Break the reference cycle. Otherwise the garbage collector frees connections, and stops the loop.
        self.parser = None  # type: ignore[assignment]
        if isinstance(self.flow, _Flow):
            self.flow.end()

    def pause_writing(self) -> None:
        super().pause_writing()
        self._stalled = StallWatch(self.transport, self.loop)

    def resume_writing(self) -> None:
        super().resume_writing()
        if self._stalled is not None:
            self._stalled.stop()
            self._stalled = None

    # ------------------------------------------------------------ input

    def data_received(self, data: bytes) -> None:
        if self._refused:
            self._discarded += len(data)
            if self._discarded > MAX_DISCARDED:
                self.transport.abort()
            return
        self._pending = self._pending + data if self._pending else data
        self._feed()

    def _feed(self) -> None:
        """Parse pending input until reading is paused."""
        if self._parsing:
            return
        self._parsing = True
        try:
            while self._pending and not self._behind and not self.transport.is_closing():
                chunk, self._pending = self._pending[:CHUNK_BYTES], self._pending[CHUNK_BYTES:]
                self._parse(chunk)
        finally:
            self._parsing = False
        if self.pipeline and not self.transport.is_closing():
            self.flow.pause_reading()

    @property
    def _behind(self) -> bool:
        """Whether the application has unread input."""
        return self.flow.read_paused or bool(self.pipeline)

    def on_response_complete(self) -> None:
        super().on_response_complete()
        if not self.pipeline and not self.transport.is_closing():
            self.flow.resume_reading()
            self._feed()

    def _parse(self, chunk: bytes) -> None:
        self._unset_keepalive_if_required()
        body_before = self._body
        self._overhead += len(chunk)
        try:
            self.parser.feed_data(chunk)
        except httptools.HttpParserUpgrade:
            self._pending = b""
            self._upgrade()
            return
        except httptools.HttpParserError:
            self._refuse(400, "bad_request", "invalid HTTP request")
            return
        self._overhead = max(self._overhead - max(self._body - body_before, 0), 0)
        if self._overhead > self._bounds.head:
            self._refuse(431, "too_large", f"the head of a request has at most {self._bounds.head:,} bytes")
        elif self._body > self._bounds.body:
            self._refuse(413, "too_large", f"the body of a request has at most {self._bounds.body:,} bytes")
        else:
            self._update_timer()

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._overhead = self._body = 0
        self._in_head = True

    def on_header(self, name: bytes, value: bytes) -> None:
        if self._in_head:  # trailers are ignored
            super().on_header(name, value)

    def on_headers_complete(self) -> None:
        super().on_headers_complete()
        self._in_head, self._in_body = False, True

    def on_body(self, body: bytes) -> None:
        self._body += len(body)
        super().on_body(body)

    def on_message_complete(self) -> None:
        self._in_body = False
        super().on_message_complete()

    def _upgrade(self) -> None:
        if not self._should_upgrade():
            return  # to another protocol than WebSocket: the request is answered without an upgrade
        if self.cycle is not None and not self.cycle.response_complete:
            self._abandon()  # an earlier request has not been answered yet
            return
        self._stop_timer()
        release, self._release = self._release, None
        self.handle_websocket_upgrade()
        cast(Any, self.transport.get_protocol()).on_lost = release

    # ------------------------------------------------------------ timeouts

    def _update_timer(self) -> None:
        """Run the timer while a request is awaited or received."""
        answered = self.cycle is None or self.cycle.response_complete
        if not (self._in_head or self._in_body or answered):
            self._stop_timer()
        elif self._timer is None or self._timer_in_body != self._in_body:
            self._stop_timer()
            self._timer_in_body = self._in_body
            self._timer = self.loop.call_later(self._seconds, self._time_out)

    @property
    def _seconds(self) -> float:
        return self._bounds.body_seconds if self._in_body else self._bounds.head_seconds

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _time_out(self) -> None:
        self._timer = None
        if self.flow.read_paused:  # the server has stopped reading
            self._update_timer()
        elif not (self._in_head or self._in_body or self._overhead):
            self.transport.close()  # no request has begun
        else:
            self._refuse(408, "too_slow", f"a request has to arrive within {self._seconds:g} seconds")

    # ------------------------------------------------------------ refusals

    def send_400_response(self, msg: str) -> None:
        self._refuse(400, "bad_request", msg)

    def _refuse(self, status: int, code: str, detail: str) -> None:
        """Send an error response if that is still possible, and stop reading."""
        if self._refused or self.transport.is_closing():
            return
        self._refused, self._pending = True, b""
        self._stop_timer()
        self._unset_keepalive_if_required()
        cycle = self.cycle
        if cycle is not None and not cycle.response_complete:
            if not self._in_body and not self.pipeline:
                cycle.keep_alive = False  # the connection is closed after the response to the earlier request
                return
            if self.pipeline or cycle.response_started:
                self._abandon()
                return
            cycle.disconnected = True  # for handlers that wait for the rest of the body
            cycle.message_event.set()
        elif self._in_body:
            self._close_later()  # the request has been answered
            return
        headers, body = error_response(status, code, detail)
        headers = with_security_headers(headers, secure=False)
        lines = [name + b": " + value + b"\r\n" for name, value in [*headers, (b"connection", b"close")]]
        self.transport.write(b"".join([STATUS_LINE[status], *lines, b"\r\n", body]))
        self._close_later()

    def _abandon(self) -> None:
        """Abort the connection and drop the pending requests."""
        self.pipeline.clear()
        self.transport.abort()

    def _close_later(self) -> None:
        # Closing a connection with unread input resets it, and the client might not receive the response.
        self.transport.write_eof()
        self.flow.resume_reading()
        self.loop.call_later(LINGER_SECONDS, self.transport.abort)
