"""A WebSocket client with minimal overhead, so that measurements show the cost of the server.

It implements the part of RFC 6455 that a client needs to send short texts and receive texts of any length.
"""

from __future__ import annotations

import asyncio
import base64
import os
from collections.abc import Callable
from typing import cast

TEXT, CLOSE, PING, PONG = 0x1, 0x8, 0x9, 0xA
FIN = 0x80  # every frame ends its message, since fragmentation is not supported
MASKED = 0x80
# Headers of a browser, which servers tend to keep in memory as long as the connection.
BROWSER_HEADERS = (
    "User-Agent: Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0",
    "Accept: */*",
    "Accept-Language: en-GB,en;q=0.9,de;q=0.8",
    "Accept-Encoding: gzip, deflate, br, zstd",
    "Cache-Control: no-cache",
    "Pragma: no-cache",
    "Sec-Fetch-Dest: websocket",
    "Sec-Fetch-Mode: websocket",
    "Sec-Fetch-Site: same-origin",
)
# Clients must mask their frames. Masking protects proxies from hostile pages, so a key of zeros is fine for a
# local server.
ZERO_KEY = bytes(4)


class BadHandshake(Exception):
    """The server rejected the WebSocket handshake."""


class WebSocket(asyncio.Protocol):
    """A connection. Every received text is passed to `hear` immediately."""

    __slots__ = ("_buffer", "_opened", "_path", "_token", "_transport", "closed", "hear", "ready")

    def __init__(self, path: str, token: str, hear: Callable[[bytes], None]) -> None:
        self._path = path
        self._token = token
        self._buffer = b""
        self._opened = False
        self._transport: asyncio.Transport | None = None
        self.hear = hear
        self.ready: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.closed = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        host, port = self._transport.get_extra_info("peername")[:2]
        lines = [
            f"GET {self._path} HTTP/1.1",
            f"Host: {host}:{port}",
            "Upgrade: websocket",
            "Connection: Upgrade",
            f"Sec-WebSocket-Key: {base64.b64encode(os.urandom(16)).decode()}",
            "Sec-WebSocket-Version: 13",
            f"Origin: http://{host}:{port}",
            *BROWSER_HEADERS,
        ]
        if self._token:
            lines.append(f"Authorization: Bearer {self._token}")
        self._transport.write("\r\n".join([*lines, "", ""]).encode())

    def data_received(self, data: bytes) -> None:
        if self._buffer:
            data = self._buffer + data
        self._buffer = data[self._read(data) :]

    def connection_lost(self, exc: Exception | None) -> None:
        self.closed = True
        if not self.ready.done():
            self.ready.set_exception(BadHandshake("the server closed the connection"))

    def send(self, *texts: bytes) -> None:
        """Send texts of at most 125 bytes each."""
        self._send(TEXT, *texts)

    def ping(self, *payloads: bytes) -> None:
        """Send pings with payloads of at most 125 bytes each."""
        self._send(PING, *payloads)

    def stop_reading(self) -> None:
        """Stop reading, like a client that hangs."""
        assert self._transport is not None
        cast(asyncio.ReadTransport, self._transport).pause_reading()

    @property
    def unsent(self) -> int:
        """Number of bytes that have not been sent yet, because the server does not read them."""
        return self._transport.get_write_buffer_size() if self._transport and not self.closed else 0

    def close(self) -> None:
        """Send a close frame and close the connection."""
        if self._transport is not None and not self.closed:
            self._send(CLOSE, b"\x03\xe8")
            self._transport.close()

    def _send(self, kind: int, *payloads: bytes) -> None:
        assert self._transport is not None
        assert all(len(payload) <= 125 for payload in payloads)
        frames = [bytes((FIN | kind, MASKED | len(payload))) + ZERO_KEY + payload for payload in payloads]
        self._transport.write(b"".join(frames))

    def _read(self, data: bytes) -> int:
        """Handle all complete frames and return the offset of the first incomplete one."""
        offset = 0 if self._opened else self._read_handshake(data)
        end = len(data)
        while end - offset >= 2:
            first, size = data[offset], data[offset + 1]
            payload = offset + 2
            if size >= 126:
                width = 2 if size == 126 else 8
                if end < payload + width:
                    break
                size = int.from_bytes(data[payload : payload + width], "big")
                payload += width
            if end < payload + size:
                break
            offset = payload + size
            self._handle(first, data[payload:offset])
        return offset

    def _read_handshake(self, data: bytes) -> int:
        head, found, _ = data.partition(b"\r\n\r\n")
        if not found:
            return 0
        if not head.startswith(b"HTTP/1.1 101"):
            if not self.ready.done():
                self.ready.set_exception(BadHandshake(head.partition(b"\r\n")[0].decode()))
            return len(data)
        self._opened = True
        if not self.ready.done():  # it is done if `connect` was cancelled
            self.ready.set_result(None)
        return len(head) + 4

    def _handle(self, first: int, payload: bytes) -> None:
        if first == FIN | TEXT:
            self.hear(payload)
        elif first == FIN | PING:
            self._send(PONG, payload)
        elif first == FIN | CLOSE:
            self._send(CLOSE, payload[:2])
        elif first != FIN | PONG:
            raise ValueError(f"unexpected frame: first byte {first:#x}")


async def connect(
    port: int, path: str, token: str, hear: Callable[[bytes], None], source: str | None = None
) -> WebSocket:
    """Connect to a server on this machine, optionally from a given address. Raises `BadHandshake`."""
    loop = asyncio.get_running_loop()
    local = (source, 0) if source else None
    _, socket = await loop.create_connection(
        lambda: WebSocket(path, token, hear), "127.0.0.1", port, local_addr=local
    )
    await socket.ready
    return socket
