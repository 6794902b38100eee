"""WebSockets use little memory: they drop the handshake and read messages in order."""

from __future__ import annotations

import asyncio
from typing import Any

import uvicorn
from websockets.asyncio.client import connect

from axiogames.server.processes import UVICORN_OPTIONS
from axiogames.server.transport.websocket_protocol import MessageQueue, WebSocketProtocol

MESSAGES = 300


async def _echo(scope: Any, receive: Any, send: Any) -> None:
    await receive()
    await send({"type": "websocket.accept"})
    while (message := await receive())["type"] == "websocket.receive":
        await send({"type": "websocket.send", "text": message["text"]})


def test_socket_drops_its_handshake_and_reads_in_order() -> None:
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
            received = [await socket.recv() for _ in range(MESSAGES)]
            (protocol,) = server.server_state.connections
        server.should_exit = True
        await serving
        assert received == [str(number) for number in range(MESSAGES)]
        assert isinstance(protocol, WebSocketProtocol)
        assert not any((protocol.request, protocol.response))

    asyncio.run(run())


def test_message_queue_is_read_in_order() -> None:
    async def run() -> None:
        queue = MessageQueue()
        assert queue.empty()
        reading = asyncio.create_task(queue.get())
        await asyncio.sleep(0)
        for number in range(3):
            queue.put_nowait(number)
        assert [await reading, await queue.get(), await queue.get()] == [0, 1, 2]
        assert queue.empty()

    asyncio.run(run())


def test_cancelled_reader_loses_no_message() -> None:
    async def run() -> None:
        queue = MessageQueue()
        reading = asyncio.create_task(queue.get())
        await asyncio.sleep(0)
        reading.cancel()
        queue.put_nowait("here")
        await asyncio.wait([reading])
        assert reading.cancelled()
        assert await queue.get() == "here"

    asyncio.run(run())
