"""Slow clients delay nobody and miss no messages."""

from __future__ import annotations

import asyncio
import json
import socket
from typing import Any
from urllib.parse import urlsplit

from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

from axiogames.server.transport.client import MAX_QUEUED, Client
from tests.server.driving import Guest, RunningServer

ROUNDS = 330  # placements played and taken back: 7 MB, more than any buffer holds


def test_slow_reader_delays_nobody_and_catches_up(sqlite_server: RunningServer) -> None:
    ann = sqlite_server.guest()
    table = ann.open("hex", ["me", "greedy"])
    parts = urlsplit(sqlite_server.url)
    connection = socket.socket()
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    connection.connect((parts.hostname, parts.port))
    address = f"ws://{parts.netloc}/api/tables/{table.id}/live"
    options: dict[str, Any] = {"max_queue": 1, "ping_interval": None, "additional_headers": ann.headers}
    with connect(address, sock=connection, **options) as slow, ann.live(table.id) as live:
        live.recv()
        for _ in range(ROUNDS):
            live.play(0, hold=True)
            live.command("back")
            live.until("view")
        last, received = live.n, 0
        try:
            while received < last:
                received = json.loads(slow.recv(20)).get("n", received)
        except ConnectionClosed:
            assert 0 < received < last  # it was disconnected, and can reconnect for the rest
        with ann.live(table.id, received) as reconnected:
            assert reconnected.recv()["type"] in ("view", "step", "seats")


def test_client_that_reads_nothing_is_closed() -> None:
    async def run() -> None:
        stuck, sent = asyncio.Event(), []

        async def send(text: str) -> None:
            sent.append(text)
            await stuck.wait()

        slow = Client(send, None, None)
        for number in range(MAX_QUEUED + 5):
            slow.send(str(number))
            await asyncio.sleep(0)
        assert slow.closed
        assert sent == ["0"]
        stuck.set()

    asyncio.run(run())


def test_client_receives_messages_in_order() -> None:
    async def run() -> None:
        sent: list[str] = []

        async def send(text: str) -> None:
            await asyncio.sleep(0)
            sent.append(text)

        client = Client(send, None, None)
        for number in range(50):
            client.send(str(number))
        for _ in range(200):
            await asyncio.sleep(0)
        client.send("50")
        for _ in range(5):
            await asyncio.sleep(0)
        assert sent == [str(number) for number in range(51)]
        assert not client.closed

    asyncio.run(run())


def test_client_with_a_broken_connection_is_closed() -> None:
    async def run() -> None:
        async def send(text: str) -> None:
            raise ConnectionResetError

        client = Client(send, None, None)
        client.send("x")
        for _ in range(3):
            await asyncio.sleep(0)
        assert client.closed
        client.send("y")

    asyncio.run(run())


def test_vanished_client_does_not_disturb_the_game(ann: Guest, bob: Guest) -> None:
    opened = ann.open("axio", ["me", "open"])
    bob.join(opened)
    with ann.live(opened.id) as hers:
        hers.recv()
        his = bob.live(opened.id)
        his.recv()
        his.socket.socket.close()  # without a close frame
        hers.play(0)
        with bob.live(opened.id) as again:
            again.recv()
            again.play(0)
            assert hers.until("step")["now"]["turn"] == 0 or hers.until("step")
        his.close()
