"""Bounds of HTTP: size of requests, timeouts and the number of connections."""

from __future__ import annotations

import asyncio
import gc
import json
import logging
from collections.abc import Callable, Coroutine
from typing import Any
from unittest.mock import patch

import pytest

from axiogames.server.transport.connections import ConnectionLimits, PromptTransport, StallWatch
from axiogames.server.transport.hosts import TrustedProxies
from axiogames.server.transport.http_protocol import HttpProtocol, RequestBounds
from axiogames.server.transport.rate_limits import CONNECTIONS
from tests.server.wire import TIMEOUT, LocalServer
from tests.server.wire import run as run_wire

GET = b"GET / HTTP/1.1\r\nHost: localhost\r\n"
POST = b"POST / HTTP/1.1\r\nHost: localhost\r\n"
CHUNKED = POST + b"Transfer-Encoding: chunked\r\n\r\n"
RESPONSE_MEGABYTES = 50  # far more than socket buffers hold


async def echo(scope: Any, receive: Any, send: Any) -> None:
    """Respond with the path, the length of the body and the names of the headers."""
    length = 0
    while (message := await receive())["type"] == "http.request":
        length += len(message["body"])
        if not message["more_body"]:
            break
    names = [name.decode() for name, _ in scope["headers"]]
    body = json.dumps([scope["path"], length, names]).encode()
    headers = [(b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": body})


def run(work: Callable[[LocalServer], Coroutine[Any, Any, None]], app: Any = echo, **options: Any) -> None:
    run_wire(work, app, **options)


# ------------------------------------------------------------------ size


@pytest.mark.parametrize(
    ("prefix", "repeated"),
    [
        (b"GET /", b"x" * 1000),
        (b"GET /?", b"a=b&" * 250),
        (GET + b"X: ", b"y" * 1000),
        (GET, b"X: y\r\n" * 100),
        (GET + b"x", b"y" * 1000),
        (b"", b"\r\n" * 500),
        (CHUNKED + b"1;", b"e" * 1000),
        (CHUNKED, b"1;e\r\nx\r\n" * 100),
        (CHUNKED + b"1\r\nx\r\n0\r\n", b"X: y\r\n" * 100),
        (GET + b"Connection: upgrade\r\nUpgrade: websocket\r\n", b"X: y\r\n" * 100),
    ],
    ids=[
        "address",
        "query",
        "value",
        "headers",
        "name",
        "lines",
        "extension",
        "chunks",
        "trailers",
        "upgrade",
    ],
)
def test_everything_outside_a_body_is_limited_to_32_kb(prefix: bytes, repeated: bytes) -> None:
    async def work(server: LocalServer) -> None:
        response = await server.request(prefix + repeated * 100)
        assert b"HTTP/1.1 431 " in response
        assert b"HTTP/1.1 200 " not in response

    run(work)


def test_client_that_keeps_sending_after_a_refusal_is_aborted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("axiogames.server.transport.http_protocol.LINGER_SECONDS", TIMEOUT)
    monkeypatch.setattr("axiogames.server.transport.http_protocol.MAX_DISCARDED", 100_000)

    async def work(server: LocalServer) -> None:
        wire = await server.connect()
        await wire.send(GET)
        async with asyncio.timeout(TIMEOUT):
            while not wire.writer.transport.is_closing():
                wire.writer.write(b"x" * 1_000)
                await asyncio.sleep(0)
        await server.until_connections(0)

    run(work)


def test_oversized_head_gets_a_regular_error_response() -> None:
    async def work(server: LocalServer) -> None:
        head, _, body = (await server.request(GET + b"X: y\r\n" * 10_000)).partition(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 431 ")
        assert b"default-src 'none'" in head
        problem = json.loads(body)
        assert (problem["status_code"], problem["code"]) == (431, "too_large")
        assert "32,768" in problem["detail"]
        fine = await server.request(GET + b"Connection: close\r\nX: " + b"y" * 30_000 + b"\r\n\r\n")
        assert fine.startswith(b"HTTP/1.1 200 ")

    run(work)


def test_split_head_is_counted_as_one() -> None:
    async def work(server: LocalServer) -> None:
        wire = await server.connect()
        for number in range(40):
            await wire.send((GET if number == 0 else b"") + b"X: " + b"y" * 1000 + b"\r\n")
            await asyncio.sleep(0)
        assert (await wire.read_to_end()).startswith(b"HTTP/1.1 431 ")

    run(work)


def test_head_size_is_counted_per_request() -> None:
    async def work(server: LocalServer) -> None:
        wire = await server.connect()
        for _ in range(10):
            await wire.send(GET + b"X: " + b"y" * 8_000 + b"\r\n\r\n")
            assert b"HTTP/1.1 200 " in await wire.read_head()

    run(work)


def test_endless_body_is_refused() -> None:
    async def work(server: LocalServer) -> None:
        response = await server.request(CHUNKED + (b"ffff\r\n" + b"x" * 0xFFFF + b"\r\n") * 10)
        assert response.startswith(b"HTTP/1.1 413 ")

    run(work, bounds=RequestBounds(body=300_000))


def test_refused_body_is_discarded_up_to_its_limit() -> None:
    async def refusing(scope: Any, receive: Any, send: Any) -> None:
        await receive()
        await send({"type": "http.response.start", "status": 413, "headers": [(b"content-length", b"0")]})
        await send({"type": "http.response.body", "body": b""})

    async def work(server: LocalServer) -> None:
        response = await server.request(CHUNKED + (b"ffff\r\n" + b"x" * 0xFFFF + b"\r\n") * 10)
        assert response.count(b"HTTP/1.1 413 ") == 1

    run(work, refusing, bounds=RequestBounds(body=300_000))


def test_pipelined_requests_wait_outside_the_parser(monkeypatch: pytest.MonkeyPatch) -> None:
    """A parsed request takes a hundred times the memory of its bytes."""
    longest, answered, resume = 0, 0, asyncio.Event()
    begin = HttpProtocol.on_message_begin

    def count(self: HttpProtocol) -> None:
        nonlocal longest
        longest = max(longest, len(self.pipeline))
        begin(self)

    monkeypatch.setattr(HttpProtocol, "on_message_begin", count)

    async def slow(scope: Any, receive: Any, send: Any) -> None:
        await resume.wait()
        await echo(scope, receive, send)

    async def work(server: LocalServer) -> None:
        nonlocal answered
        wire = await server.connect()
        request, number = GET + b"\r\n", 3_000
        await wire.send(request * (number - 1) + GET + b"Connection: close\r\n\r\n")
        resume.set()
        answered = (await wire.read_to_end()).count(b"HTTP/1.1 200 ")
        assert answered == number
        assert longest < 200

    run(work, app=slow)


def test_trailers_are_ignored() -> None:
    async def work(server: LocalServer) -> None:
        trailers = b"1\r\nx\r\n0\r\nX-First: 1\r\nX-Second: 2\r\n\r\n"
        response = await server.request(CHUNKED + trailers + GET + b"Connection: close\r\n\r\n")
        assert response.count(b"HTTP/1.1 200 ") == 2
        assert b"x-" not in response.lower()

    run(work)


@pytest.mark.parametrize(
    "request_",
    [
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" * 9,
        b"GET /\xff\xfe HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"CONNECT a:1 HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"GET http://[ HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        POST + b"Content-Length: -1\r\n\r\n",
        POST + b"Content-Length: 99999999999999999999999\r\n\r\n",
        POST + b"Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        GET + b"X\x00: y\r\n\r\n",
        GET + b": y\r\n\r\n",
    ],
)
def test_invalid_http_is_answered_with_400_and_not_logged(
    request_: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    async def work(server: LocalServer) -> None:
        response = await server.request(request_)
        assert response.startswith(b"HTTP/1.1 400 ")
        assert json.loads(response.partition(b"\r\n\r\n")[2])["code"] == "bad_request"

    with caplog.at_level(logging.WARNING):
        run(work)
    assert not caplog.records


@pytest.mark.parametrize("head", [b"A: b\r\n" * 500, b"", b"X: " + b"y" * 9_000 + b"\r\n"])
def test_invalid_handshake_is_answered(head: bytes) -> None:
    async def work(server: LocalServer) -> None:
        response = await server.request(
            GET + b"Connection: upgrade\r\nUpgrade: websocket\r\n" + head + b"\r\n"
        )
        assert response.startswith(b"HTTP/1.1 4")
        await server.until_connections(0)

    run(work)


# ------------------------------------------------------------------ timeouts

SHORT_TIMEOUTS = RequestBounds(head_seconds=0.2, body_seconds=0.2)


@pytest.mark.parametrize(
    ("sent", "answer"),
    [
        (b"", b""),
        (b"\r\n", b"HTTP/1.1 408 "),
        (b"GET", b"HTTP/1.1 408 "),
        (GET, b"HTTP/1.1 408 "),
        (POST + b"Content-Length: 10\r\n\r\nhalf", b"HTTP/1.1 408 "),
        (CHUNKED + b"5\r\nhalf", b"HTTP/1.1 408 "),
        (CHUNKED + b"4\r\nhalf\r\n0\r\nX: ", b"HTTP/1.1 408 "),
    ],
)
def test_request_that_does_not_arrive_times_out(sent: bytes, answer: bytes) -> None:
    async def work(server: LocalServer) -> None:
        wire = await server.connect()
        await wire.send(sent)
        assert (await wire.read_to_end()).startswith(answer)
        wire.close()
        await server.until_connections(0)

    run(work, bounds=SHORT_TIMEOUTS)


def test_request_that_trickles_times_out() -> None:
    async def work(server: LocalServer) -> None:
        wire = await server.connect()
        reading = asyncio.create_task(wire.read_to_end())
        await wire.send(GET)
        async with asyncio.timeout(TIMEOUT):
            while not reading.done():
                wire.writer.write(b"X: y\r\n")
                await asyncio.sleep(0.01)
        assert reading.result().startswith(b"HTTP/1.1 408 ")

    run(work, bounds=SHORT_TIMEOUTS)


@pytest.mark.parametrize("more", [b"", b"\r\n", b"GET / HT"])
def test_idle_keep_alive_connection_is_closed(more: bytes) -> None:
    async def work(server: LocalServer) -> None:
        wire = await server.connect()
        await wire.send(GET + b"\r\n")
        assert (await wire.read_head()).startswith(b"HTTP/1.1 200 ")
        await wire.send(more)
        await wire.read_to_end()
        wire.close()
        await server.until_connections(0)

    run(work, bounds=SHORT_TIMEOUTS, timeout_keep_alive=0.2)


def test_slow_response_does_not_time_out() -> None:
    async def slow(scope: Any, receive: Any, send: Any) -> None:
        await asyncio.sleep(3 * SHORT_TIMEOUTS.head_seconds)
        await echo(scope, receive, send)

    async def work(server: LocalServer) -> None:
        assert (await server.request(GET + b"Connection: close\r\n\r\n")).startswith(b"HTTP/1.1 200 ")

    run(work, app=slow, bounds=SHORT_TIMEOUTS)


def test_unread_response_is_aborted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("axiogames.server.transport.connections.STALLED_SECONDS", 0.2)
    monkeypatch.setattr("axiogames.server.transport.connections.CLOSING_SECONDS", 0.2)

    async def long_response(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        for _ in range(RESPONSE_MEGABYTES):
            await send({"type": "http.response.body", "body": b"x" * 1_000_000, "more_body": True})
        await send({"type": "http.response.body", "body": b""})

    async def work(server: LocalServer) -> None:
        wire = await server.connect(limit=1_000)
        await wire.send(GET + b"\r\n")
        await wire.read_head()
        await server.until_connections(0)

    run(work, app=long_response)


class SlowTransport:
    """A transport whose peer reads `read` bytes between two checks."""

    def __init__(self, pending: float, read: float = 0) -> None:
        self.pending, self.read = pending, read
        self.aborted = self.closing = False
        self.later: list[Callable[[], None]] = []

    write = None  # `PromptTransport` copies the method

    def get_write_buffer_size(self) -> float:
        return self.pending

    def pause_reading(self) -> None:
        """Do nothing."""

    resume_reading = pause_reading

    def is_closing(self) -> bool:
        return self.closing

    def close(self) -> None:
        self.closing = True

    def abort(self) -> None:
        self.aborted = True

    def call_later(self, seconds: float, callback: Callable[[], None]) -> None:
        self.later.append(callback)

    def run_timer(self) -> None:
        self.pending -= self.read
        self.later.pop()()


def test_slow_reader_stays_and_stalled_reader_is_aborted() -> None:
    slow: Any = SlowTransport(200_000, read=30_000)
    StallWatch(slow, slow)
    for _ in range(5):
        slow.run_timer()
    assert not slow.aborted
    slow.read = 10
    slow.run_timer()
    assert slow.aborted


def test_closing_does_not_wait_for_a_stalled_peer() -> None:
    stuck: Any = SlowTransport(5)
    transport = PromptTransport(stuck, stuck)
    transport.close()
    transport.close()
    assert stuck.closing
    assert not stuck.aborted
    stuck.run_timer()
    assert stuck.aborted


def test_garbage_after_answered_requests_is_not_logged(caplog: pytest.LogCaptureFixture) -> None:
    async def work(server: LocalServer) -> None:
        for count in (1, 2, 5):
            await server.request((GET + b"\r\n") * count + b"GARBAGE\r\n\r\n")
        await server.until_connections(0)

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await asyncio.sleep(0)
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await asyncio.sleep(0.01)
        await send({"type": "http.response.body", "body": b"x"})

    with caplog.at_level(logging.ERROR):
        run_wire(work, app)
    assert caplog.records == []


# ------------------------------------------------------------------ number of connections


def test_connections_per_address_are_limited_and_released() -> None:
    async def work(server: LocalServer) -> None:
        wires = [await server.connect() for _ in range(3)]
        await server.until_connections(3)
        response = await server.request(GET + b"\r\n")
        assert response == b"" or response.startswith(b"HTTP/1.1 503 ")
        await server.until_connections(3)
        for wire in wires:
            wire.close()
        await server.until_connections(0)
        assert (await server.request(GET + b"Connection: close\r\n\r\n")).startswith(b"HTTP/1.1 200 ")

    run(work, connections=ConnectionLimits(per_network=3))


def test_connection_flood_gets_no_response() -> None:
    async def work(server: LocalServer) -> None:
        for _ in range(int(CONNECTIONS.burst)):
            assert (await server.request(GET + b"Connection: close\r\n\r\n")).startswith(b"HTTP/1.1 200 ")
        assert await server.request(GET + b"Connection: close\r\n\r\n") == b""
        await server.until_connections(0)

    with patch("axiogames.server.transport.rate_limits.time.monotonic", return_value=0.0):
        run(work, connections=ConnectionLimits())


@pytest.mark.parametrize("sent", [b"", GET, GET + b"Connection: close\r\n\r\n", GET + b"\r\n"])
def test_ended_connection_leaves_no_garbage(sent: bytes) -> None:
    """A garbage collection would block all clients."""

    def count_protocols() -> int:
        return sum(type(item) is HttpProtocol for item in gc.get_objects())

    async def work(server: LocalServer) -> None:
        gc.collect()
        before = count_protocols()
        gc.disable()
        try:
            for _ in range(10):
                wire = await server.connect()
                if sent:
                    await wire.send(sent)
                if sent.endswith(b"\r\n\r\n"):
                    await wire.read_head()
                wire.close()
                await server.until_connections(0)
            await asyncio.sleep(0)
            assert count_protocols() <= before + 1
        finally:
            gc.enable()

    run(work)


def test_connections_are_rate_limited_per_address_but_not_for_proxies() -> None:
    burst = int(CONNECTIONS.burst)
    with patch("axiogames.server.transport.rate_limits.time.monotonic", return_value=0.0):
        limits = ConnectionLimits(proxies=TrustedProxies(["10.0.0.1"]))
        assert all(limits.admits("192.0.2.1") for _ in range(burst))
        assert not limits.admits("192.0.2.1")
        assert limits.admits("192.0.2.2")
        assert all(limits.admits("10.0.0.1") for _ in range(burst + 1))
        unlimited = ConnectionLimits(per_network=None)
        assert all(unlimited.admits("192.0.2.1") for _ in range(burst + 1))


def test_connections_are_counted_per_address_and_in_total() -> None:
    limits = ConnectionLimits(10, 2, TrustedProxies(["10.0.0.1"]))
    releases = [limits.take("2001:db8::1"), limits.take("2001:db8::2"), limits.take("2001:db8:0:1::1")]
    assert all(releases)
    assert limits.take("2001:db8::3") is None  # the same /64
    assert limits.take("192.0.2.1")
    assert all(limits.take("10.0.0.1") for _ in range(6))  # all clients use the proxy
    assert limits.take("10.0.0.1") is None
    assert releases[0] is not None
    releases[0]()
    assert limits.take("2001:db8::3")
    assert limits.take("192.0.2.2") is None
