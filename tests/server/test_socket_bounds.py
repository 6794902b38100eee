"""Bounds of WebSockets for clients that send endlessly or read nothing."""

from __future__ import annotations

import asyncio
import logging
import struct
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any

import pytest

from axiogames.server.transport.connections import ConnectionLimits
from axiogames.server.transport.rate_limits import CONTROL, RateLimit
from axiogames.server.transport.websocket_protocol import MAX_FRAGMENTS, WebSocketProtocol
from tests.server.wire import TIMEOUT, LocalServer, RawConnection
from tests.server.wire import run as run_wire

HANDSHAKE = (
    b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
    b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n"
)
CONT, TEXT, BINARY, CLOSE, PING, PONG = 0, 1, 2, 8, 9, 10
BUFFER = 600_000  # bytes that may wait in the server for a client; the system buffers some more


def frame(opcode: int, data: bytes = b"", *, last: bool = True) -> bytes:
    """Return a frame of a client, masked with zeros."""
    length = bytes([0x80 | len(data)]) if len(data) < 126 else b"\xfe" + struct.pack("!H", len(data))
    return bytes([opcode | (0x80 if last else 0)]) + length + bytes(4) + data


async def echo(scope: Any, receive: Any, send: Any) -> None:
    await receive()
    await send({"type": "websocket.accept"})
    while (message := await receive())["type"] == "websocket.receive":
        await send({"type": "websocket.send", "text": message.get("text") or "bytes"})


async def connect_websocket(
    server: LocalServer, limit: int = 2**20
) -> tuple[RawConnection, WebSocketProtocol]:
    """Open a WebSocket and return its client side and its server side."""
    wire = await server.connect(limit)
    await wire.send(HANDSHAKE)
    assert b" 101 " in await wire.read_head()
    (socket,) = server.connections
    assert isinstance(socket, WebSocketProtocol)
    return wire, socket


def run(work: Callable[[LocalServer], Coroutine[Any, Any, None]], app: Any = echo, **options: Any) -> None:
    run_wire(work, app, **options)


async def read_until_close(wire: RawConnection) -> tuple[int, bytes]:
    """Wait for the close frame, and return its code and everything sent before it."""
    before, _, last = (await wire.read_to_end()).rpartition(b"\x88")
    return struct.unpack("!H", last[1:3])[0], before


# ------------------------------------------------------------------ control frames


@pytest.mark.parametrize("sent", [frame(PING, b"x" * 125), frame(PONG), frame(CONT, b"", last=False)])
def test_control_frames_and_fragments_are_rate_limited(sent: bytes) -> None:
    async def work(server: LocalServer) -> None:
        wire, _ = await connect_websocket(server)
        wire.writer.write(frame(TEXT, b"x", last=False) if sent[0] == 0 else b"")
        wire.writer.write(sent * int(CONTROL.burst + 1_000))
        code, before = await read_until_close(wire)
        assert code == 1008
        assert before.count(b"x" * 125) <= CONTROL.burst + 50
        wire.close()
        await server.until_connections(0)

    run(work)


def test_pings_within_the_rate_are_answered() -> None:
    async def work(server: LocalServer) -> None:
        wire, _ = await connect_websocket(server)
        for number in range(20):
            await wire.send(frame(PING, b"%02d" % number))
            async with asyncio.timeout(TIMEOUT):
                assert await wire.reader.readexactly(4) == b"\x8a\x02%02d" % number

    run(work)


@pytest.mark.parametrize("sent", [frame(PING, b"x" * 125), frame(TEXT, b"x" * 10_000)], ids=["ping", "text"])
def test_server_stops_reading_from_a_client_that_reads_nothing(
    sent: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The memory for its pending output is bounded."""
    monkeypatch.setattr("axiogames.server.transport.websocket_protocol.CONTROL", RateLimit(1e9, 1))

    async def work(server: LocalServer) -> None:
        wire, socket = await connect_websocket(server, limit=1_000)
        longest, rounds = 0, 0
        async with asyncio.timeout(TIMEOUT):
            while rounds < 300:  # rounds of the event loop since the server found the client too slow
                if wire.writer.transport.get_write_buffer_size() < 1_000_000:
                    wire.writer.write(sent * (200_000 // len(sent)))
                await asyncio.sleep(0)
                rounds = 0 if socket.writable.is_set() else rounds + 1
                longest = max(longest, socket.transport.get_write_buffer_size() + len(socket._pending))
        assert longest < BUFFER
        assert not socket.transport.is_reading()

    run(work)


def test_websocket_client_that_reads_nothing_is_aborted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("axiogames.server.transport.connections.STALLED_SECONDS", 0.2)

    async def work(server: LocalServer) -> None:
        wire, _ = await connect_websocket(server, limit=1_000)
        with suppress(OSError):
            await wire.send(frame(TEXT, b"x" * 10_000) * 3_000)
        await server.until_connections(0)

    run(work)


def test_client_that_reads_late_misses_nothing() -> None:
    async def work(server: LocalServer) -> None:
        wire, _ = await connect_websocket(server, limit=1_000)
        number, text = 1_000, b"x" * 10_000
        sending = asyncio.create_task(wire.send(frame(TEXT, text) * number))
        await asyncio.sleep(0.3)
        async with asyncio.timeout(TIMEOUT):
            for _ in range(number):
                assert (await wire.reader.readexactly(len(text) + 4))[4:] == text
            await sending

    run(work)


# ------------------------------------------------------------------ messages


def test_unread_messages_stay_unparsed() -> None:
    resume = asyncio.Event()

    async def slow(scope: Any, receive: Any, send: Any) -> None:
        await receive()
        await send({"type": "websocket.accept"})
        await resume.wait()
        for _ in range(number):
            assert (await receive())["text"] == "x"
        await send({"type": "websocket.close", "code": 1000})

    number = 20_000

    async def work(server: LocalServer) -> None:
        wire, socket = await connect_websocket(server)
        wire.writer.write(frame(TEXT, b"x") * number)
        async with asyncio.timeout(TIMEOUT):
            while not socket._pending:
                await asyncio.sleep(0.01)
        assert len(socket.queue._items) < 500  # type: ignore[attr-defined]
        socket.close_timeout = 0.1
        resume.set()
        assert (await read_until_close(wire))[0] == 1000

    run(work, slow)


def test_fragmented_message_is_joined_and_has_a_maximum_size() -> None:
    async def work(server: LocalServer) -> None:
        wire, _ = await connect_websocket(server)
        await wire.send(frame(TEXT, b"in ", last=False) + frame(PING) + frame(CONT, b"two"))
        async with asyncio.timeout(TIMEOUT):
            assert await wire.reader.readexactly(10) == b"\x8a\x00\x81\x06in two"
        wire.writer.write(frame(TEXT, b"x", last=False) + frame(CONT, b"x" * 10_000, last=False) * 5)
        assert (await read_until_close(wire))[0] == 1009

    run(work)


def test_number_of_fragments_is_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("axiogames.server.transport.websocket_protocol.CONTROL", RateLimit(1e9, 1))

    async def work(server: LocalServer) -> None:
        wire, _ = await connect_websocket(server)
        wire.writer.write(frame(TEXT, b"", last=False) + frame(CONT, b"", last=False) * (MAX_FRAGMENTS + 5))
        assert (await read_until_close(wire))[0] == 1009

    run(work)


@pytest.mark.parametrize(
    ("sent", "code"),
    [
        (frame(TEXT, b"\xff"), 1007),
        (frame(TEXT, b"\xed\xa0\x80"), 1007),
        (frame(TEXT, b"x" * 20_000), 1009),
        (frame(3, b"x"), 1002),
        (frame(CONT, b"x"), 1002),
        (frame(PING, b"x", last=False), 1002),
        (b"\x81\x01x", 1002),
        (b"\xf1\x80\x00\x00\x00\x00", 1002),
        (frame(CLOSE, b"x"), 1002),
        (frame(CLOSE, b"\x03\xe8\xff"), 1007),
    ],
)
def test_invalid_frames_close_with_a_code_and_are_not_logged(
    sent: bytes, code: int, caplog: pytest.LogCaptureFixture
) -> None:
    async def work(server: LocalServer) -> None:
        wire, _ = await connect_websocket(server)
        await wire.send(sent + frame(TEXT, b"more"))
        assert (await read_until_close(wire))[0] == code
        wire.close()
        await server.until_connections(0)

    with caplog.at_level(logging.WARNING):
        run(work)
    assert not caplog.records


# ------------------------------------------------------------------ closing


@pytest.mark.parametrize("sent", [b"", frame(PING) * 5_000, frame(TEXT, b"x") * 5_000, frame(CLOSE)])
def test_close_completes_without_the_clients_answer(sent: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("axiogames.server.transport.connections.CLOSING_SECONDS", 0.2)

    async def closing(scope: Any, receive: Any, send: Any) -> None:
        await receive()
        await send({"type": "websocket.accept"})
        await receive()
        await send({"type": "websocket.close", "code": 4000, "reason": "enough"})

    async def work(server: LocalServer) -> None:
        wire, socket = await connect_websocket(server)
        socket.close_timeout = 0.2
        await wire.send(frame(TEXT, b"go"))
        wire.writer.write(sent)
        await server.until_connections(0)

    run(work, closing)


def test_client_that_answers_no_ping_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("axiogames.server.transport.connections.CLOSING_SECONDS", 0.2)

    async def work(server: LocalServer) -> None:
        await connect_websocket(server)
        await server.until_connections(0)

    run(work, ws_ping_interval=0.1, ws_ping_timeout=0.1)


def test_closed_socket_releases_its_slot() -> None:
    async def work(server: LocalServer) -> None:
        for _ in range(5):
            wire, _ = await connect_websocket(server)
            wire.close()
            await server.until_connections(0)

    run(work, connections=ConnectionLimits(per_network=1))
