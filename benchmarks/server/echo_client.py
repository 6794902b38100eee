"""Clients of the echo server, which measure the current capacity of the machine."""

from __future__ import annotations

import asyncio
import time

from benchmarks.server.websocket_client import WebSocket, connect

TEXT = b'{"do":"move","id":"12","n":12,"pick":345}'


class Echo:
    """Clients that send the next text as soon as the last one has been echoed."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._sockets: list[WebSocket] = []
        self._running = False
        self._count = 0
        self._waiting = 0

    async def grow(self, clients: int) -> None:
        """Connect clients until there are `clients`."""
        while len(self._sockets) < clients:
            socket = await connect(self._port, "/", "", self._ignore)
            socket.hear = lambda _, socket=socket: self._heard(socket)  # type: ignore[misc]
            self._sockets.append(socket)

    def _ignore(self, text: bytes) -> None:
        pass

    def _heard(self, socket: WebSocket) -> None:
        self._count += 1
        if self._running:
            socket.send(TEXT)
        else:
            self._waiting -= 1

    async def run(self, seconds: float) -> float:
        """Return echoes per second."""
        self._running, self._count, self._waiting = True, 0, len(self._sockets)
        start = time.perf_counter()
        for socket in self._sockets:
            socket.send(TEXT)
        await asyncio.sleep(seconds)
        rate = self._count / (time.perf_counter() - start)
        self._running = False
        while self._waiting:
            await asyncio.sleep(0.01)
        return rate

    def close(self) -> None:
        """Close all connections."""
        for socket in self._sockets:
            socket.close()
