"""WebSockets that keep little: they read in order, and forget what the browser said when it connected."""

from __future__ import annotations

import asyncio
from typing import Any

import uvicorn
from websockets.asyncio.client import connect

from axiogames.server.processes import UVICORN_OPTIONS
from axiogames.server.transport.websocket_protocol import LeanSocket, Mailbox

MESSAGES = 300


async def _echo(scope: Any, receive: Any, send: Any) -> None:
    await receive()
    await send({"type": "websocket.accept"})
    while (message := await receive())["type"] == "websocket.receive":
        await send({"type": "websocket.send", "text": message["text"]})


def test_a_socket_forgets_its_handshake_and_reads_in_order() -> None:
    async def run() -> None:
        config = uvicorn.Config(_echo, port=0, lifespan="off", **UVICORN_OPTIONS)
        server = uvicorn.Server(config)
        serving = asyncio.create_task(server.serve())
        while not server.started:
            await asyncio.sleep(0.01)
        port = server.servers[0].sockets[0].getsockname()[1]
        async with connect(f"ws://127.0.0.1:{port}/") as socket:
            for number in range(MESSAGES):
                await socket.send(str(number))
            heard = [await socket.recv() for _ in range(MESSAGES)]
            (kept,) = server.server_state.connections
        server.should_exit = True
        await serving
        assert heard == [str(number) for number in range(MESSAGES)]
        assert isinstance(kept, LeanSocket)
        assert not any((kept.request, kept.response))

    asyncio.run(run())


def test_a_mailbox_is_read_in_order() -> None:
    async def run() -> None:
        box = Mailbox()
        assert box.empty()
        reading = asyncio.create_task(box.get())
        await asyncio.sleep(0)
        for number in range(3):
            box.put_nowait(number)
        assert [await reading, await box.get(), await box.get()] == [0, 1, 2]
        assert box.empty()

    asyncio.run(run())


def test_a_reader_that_gives_up_takes_nothing_along() -> None:
    async def run() -> None:
        box = Mailbox()
        reading = asyncio.create_task(box.get())
        await asyncio.sleep(0)
        reading.cancel()
        box.put_nowait("here")
        await asyncio.wait([reading])
        assert reading.cancelled()
        assert await box.get() == "here"

    asyncio.run(run())
