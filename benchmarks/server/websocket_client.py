"""A WebSocket client that costs next to nothing, so that what is measured is the server.

It does what RFC 6455 asks of a client that sends short texts and is told texts of any length.
"""

from __future__ import annotations

import asyncio
import base64
import os
from collections.abc import Callable
from typing import cast

TEXT, CLOSE, PING, PONG = 0x1, 0x8, 0x9, 0xA
LAST = 0x80  # the bit of a frame that ends its message; here every frame does
MASKED = 0x80
# What a browser says about itself; servers tend to keep it as long as the connection lasts.
BROWSER = (
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
# Clients have to mask. The key protects proxies from hostile pages; zeros are fine on the way to a server
# of one's own, which undoes the masking all the same.
NO_KEY = bytes(4)


class BadHandshake(Exception):
    """The server does not speak WebSocket here."""


class WebSocket(asyncio.Protocol):
    """One connection. Every text that comes in is handed over at once."""

    __slots__ = ("_opened", "_path", "_rest", "_token", "_transport", "closed", "hear", "ready")

    def __init__(self, path: str, token: str, hear: Callable[[bytes], None]) -> None:
        self._path = path
        self._token = token
        self._rest = b""
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
            *BROWSER,
        ]
        if self._token:
            lines.append(f"Authorization: Bearer {self._token}")
        self._transport.write("\r\n".join([*lines, "", ""]).encode())

    def data_received(self, data: bytes) -> None:
        if self._rest:
            data = self._rest + data
        self._rest = data[self._read(data) :]

    def connection_lost(self, exc: Exception | None) -> None:
        self.closed = True
        if not self.ready.done():
            self.ready.set_exception(BadHandshake("the server hung up"))

    def send(self, *texts: bytes) -> None:
        """Send texts of at most 125 bytes."""
        self._send(TEXT, *texts)

    def ping(self, *payloads: bytes) -> None:
        """Send pings with at most 125 bytes."""
        self._send(PING, *payloads)

    def stop_reading(self) -> None:
        """Read nothing any more, as a client does that hangs."""
        assert self._transport is not None
        cast(asyncio.ReadTransport, self._transport).pause_reading()

    @property
    def unsent(self) -> int:
        """Bytes that the server has not taken yet."""
        return self._transport.get_write_buffer_size() if self._transport and not self.closed else 0

    def close(self) -> None:
        """Say good-bye and hang up."""
        if self._transport is not None and not self.closed:
            self._send(CLOSE, b"\x03\xe8")
            self._transport.close()

    def _send(self, kind: int, *payloads: bytes) -> None:
        assert self._transport is not None
        assert all(len(payload) <= 125 for payload in payloads)
        frames = [bytes((LAST | kind, MASKED | len(payload))) + NO_KEY + payload for payload in payloads]
        self._transport.write(b"".join(frames))

    def _read(self, data: bytes) -> int:
        """Take all whole frames; where the first one begins that is not complete."""
        at = 0 if self._opened else self._read_answer(data)
        end = len(data)
        while end - at >= 2:
            first, size = data[at], data[at + 1]
            begin = at + 2
            if size >= 126:
                wide = 2 if size == 126 else 8
                if end < begin + wide:
                    break
                size = int.from_bytes(data[begin : begin + wide], "big")
                begin += wide
            if end < begin + size:
                break
            at = begin + size
            self._take(first, data[begin:at])
        return at

    def _read_answer(self, data: bytes) -> int:
        head, found, _ = data.partition(b"\r\n\r\n")
        if not found:
            return 0
        if not head.startswith(b"HTTP/1.1 101"):
            if not self.ready.done():
                self.ready.set_exception(BadHandshake(head.partition(b"\r\n")[0].decode()))
            return len(data)
        self._opened = True
        if not self.ready.done():  # it is when nobody waits any more
            self.ready.set_result(None)
        return len(head) + 4

    def _take(self, first: int, payload: bytes) -> None:
        if first == LAST | TEXT:
            self.hear(payload)
        elif first == LAST | PING:
            self._send(PONG, payload)
        elif first == LAST | CLOSE:
            self._send(CLOSE, payload[:2])
        elif first != LAST | PONG:
            raise ValueError(f"a frame of kind {first:#x} was not expected")


async def connect(
    port: int, path: str, token: str, hear: Callable[[bytes], None], source: str | None = None
) -> WebSocket:
    """A connection to a server on this machine, from an address of it. Raises `BadHandshake`."""
    loop = asyncio.get_running_loop()
    local = (source, 0) if source else None
    _, socket = await loop.create_connection(
        lambda: WebSocket(path, token, hear), "127.0.0.1", port, local_addr=local
    )
    await socket.ready
    return socket
