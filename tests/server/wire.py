"""An application on a real port of this process, and connections that send raw bytes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from functools import partial
from typing import Any, cast

import uvicorn
import uvloop
from uvicorn.server import ServerState

from axiogames.server.processes import UVICORN_OPTIONS
from axiogames.server.transport.connections import ConnectionLimits
from axiogames.server.transport.http_protocol import HttpProtocol, RequestBounds

TIMEOUT = 60.0  # seconds per operation


class RawConnection:
    """A connection that sends and receives raw bytes."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer

    async def send(self, data: bytes) -> None:
        """Send bytes, and wait until they are written."""
        self.writer.write(data)
        await self.writer.drain()

    async def read_head(self) -> bytes:
        """Return the status line and headers of a response."""
        async with asyncio.timeout(TIMEOUT):
            return await self.reader.readuntil(b"\r\n\r\n")

    async def read_to_end(self) -> bytes:
        """Return everything until the server closes the connection."""
        received = b""
        async with asyncio.timeout(TIMEOUT):
            try:
                while part := await self.reader.read(65536):
                    received += part
            except ConnectionError:
                pass
        return received

    def close(self) -> None:
        self.writer.transport.abort()


class LocalServer:
    """A server on a port of this process."""

    def __init__(self, state: ServerState, port: int) -> None:
        self._state = state
        self.port = port
        self.opened: list[RawConnection] = []

    @property
    def connections(self) -> set[Any]:
        """The protocols of open connections."""
        return cast(set[Any], self._state.connections)

    async def connect(self, limit: int = 2**20) -> RawConnection:
        """Open a connection whose read buffer holds about `limit` bytes."""
        connection = RawConnection(*await asyncio.open_connection("127.0.0.1", self.port, limit=limit))
        self.opened.append(connection)
        return connection

    async def request(self, request: bytes) -> bytes:
        """Send bytes on a new connection, and return everything received until it is closed."""
        connection = await self.connect()
        await connection.send(request)
        response = await connection.read_to_end()
        connection.close()
        return response

    async def until_connections(self, number: int) -> None:
        """Wait until the server has this number of connections."""
        async with asyncio.timeout(TIMEOUT):
            while len(self.connections) != number:
                await asyncio.sleep(0.005)


@asynccontextmanager
async def serve(
    app: Any,
    *,
    bounds: RequestBounds | None = None,
    connections: ConnectionLimits | None = None,
    **options: Any,
) -> AsyncIterator[LocalServer]:
    """Serve an application on a free port of the loopback address."""
    protocol = partial(HttpProtocol, bounds=bounds, connections=connections)
    config = uvicorn.Config(app, lifespan="off", **{**UVICORN_OPTIONS, "http": protocol, **options})
    config.load()
    state = ServerState()
    factory = partial(config.http_protocol_class, config=config, server_state=state, app_state={})  # type: ignore[call-arg]
    listener = await asyncio.get_running_loop().create_server(factory, "127.0.0.1", 0)
    server = LocalServer(state, listener.sockets[0].getsockname()[1])
    try:
        yield server
    finally:
        for connection in server.opened:
            connection.close()
        listener.close()
        await server.until_connections(0)
        await asyncio.gather(*state.tasks, return_exceptions=True)


def run(work: Callable[[LocalServer], Coroutine[Any, Any, None]], app: Any, **options: Any) -> None:
    """Run a coroutine with a server for an application, on the event loop that `axio serve` uses."""

    async def main() -> None:
        async with asyncio.timeout(3 * TIMEOUT), serve(app, **options) as server:
            await work(server)

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(main())
