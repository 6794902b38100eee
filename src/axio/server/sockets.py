"""WebSockets as uvicorn serves them, without what they would keep for nothing as long as they are open."""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol


class Mailbox:
    """What has come in and was not read yet. One reader; a tenth of the memory of `asyncio.Queue`."""

    __slots__ = ("_items", "_waiting")

    def __init__(self) -> None:
        self._items: list[Any] = []
        self._waiting: asyncio.Future[None] | None = None

    def empty(self) -> bool:
        """Whether there is nothing to read."""
        return not self._items

    def put_nowait(self, item: Any) -> None:
        """Something has come in."""
        self._items.append(item)
        if self._waiting is not None and not self._waiting.done():
            self._waiting.set_result(None)

    async def get(self) -> Any:
        """What has come in first."""
        while not self._items:
            self._waiting = asyncio.get_running_loop().create_future()
            try:
                await self._waiting
            finally:
                self._waiting = None
        return self._items.pop(0)


class LeanSocket(WebSocketsSansIOProtocol):
    """A WebSocket that forgets its handshake: the headers of a browser are more than all of a table."""

    def __init__(self, *args: Any, **more: Any) -> None:
        super().__init__(*args, **more)
        self.queue = Mailbox()  # type: ignore[assignment]

    def start_keepalive(self) -> None:
        # The first thing that happens when the handshake is done.
        super().start_keepalive()
        self.request.headers.clear()  # the parser holds the request itself
        self.request = self.response = None  # type: ignore[assignment]
