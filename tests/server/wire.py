"""An application on a real port of this process, and bytes sent to it as they are."""

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

TIMEOUT = 60.0  # seconds for any one thing


class RawConnection:
    """A connection that sends bytes."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer

    async def send(self, data: bytes) -> None:
        """Send some bytes, and wait until they have gone."""
        self.writer.write(data)
        await self.writer.drain()

    async def read_head(self) -> bytes:
        """Everything up to the end of the headers of an answer."""
        async with asyncio.timeout(TIMEOUT):
            return await self.reader.readuntil(b"\r\n\r\n")

    async def read_to_end(self) -> bytes:
        """Everything until the other side ends the connection."""
        found = b""
        async with asyncio.timeout(TIMEOUT):
            try:
                while part := await self.reader.read(65536):
                    found += part
            except ConnectionError:
                pass
        return found

    def close(self) -> None:
        self.writer.transport.abort()


class Port:
    """A server in this process."""

    def __init__(self, state: ServerState, port: int) -> None:
        self._state = state
        self.port = port
        self.opened: list[RawConnection] = []

    @property
    def connections(self) -> set[Any]:
        """The protocols of open connections."""
        return cast(set[Any], self._state.connections)

    async def connect(self, limit: int = 2**20) -> RawConnection:
        """A new connection that reads about so many bytes ahead."""
        made = RawConnection(*await asyncio.open_connection("127.0.0.1", self.port, limit=limit))
        self.opened.append(made)
        return made

    async def request(self, request: bytes) -> bytes:
        """Send some bytes on a new connection: everything that comes back until it ends."""
        wire = await self.connect()
        await wire.send(request)
        found = await wire.read_to_end()
        wire.close()
        return found

    async def until(self, number: int) -> None:
        """Wait until there are so many connections."""
        async with asyncio.timeout(TIMEOUT):
            while len(self.connections) != number:
                await asyncio.sleep(0.005)


@asynccontextmanager
async def port(
    app: Any,
    *,
    bounds: RequestBounds | None = None,
    connections: ConnectionLimits | None = None,
    **options: Any,
) -> AsyncIterator[Port]:
    """Serve an application on a free port of the loopback address."""
    protocol = partial(HttpProtocol, bounds=bounds, connections=connections)
    config = uvicorn.Config(app, lifespan="off", **{**UVICORN_OPTIONS, "http": protocol, **options})
    config.load()
    state = ServerState()
    made = partial(config.http_protocol_class, config=config, server_state=state, app_state={})  # type: ignore[call-arg]
    server = await asyncio.get_running_loop().create_server(made, "127.0.0.1", 0)
    opened = Port(state, server.sockets[0].getsockname()[1])
    try:
        yield opened
    finally:
        for wire in opened.opened:
            wire.close()
        server.close()
        await opened.until(0)
        await asyncio.gather(*state.tasks, return_exceptions=True)


def run(work: Callable[[Port], Coroutine[Any, Any, None]], app: Any, **how: Any) -> None:
    """Let a coroutine talk to a port that serves an application, in the event loop of a real server."""

    async def all_of_it() -> None:
        async with asyncio.timeout(3 * TIMEOUT), port(app, **how) as opened:
            await work(opened)

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(all_of_it())
