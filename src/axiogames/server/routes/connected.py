"""Cancellation of work when the client disconnects."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from litestar import Request

from ..domain.refusals import Refused

Result = TypeVar("Result")


class ClientDisconnected(Refused):
    """The client disconnected; it does not receive this error."""

    def __init__(self) -> None:
        super().__init__("bad_request", "the client closed the connection before the response")


async def while_connected(request: Request[Any, Any, Any], work: Coroutine[Any, Any, Result]) -> Result:
    """Return the result of a coroutine, which is cancelled if the client disconnects.

    Raises:
        ClientDisconnected: The client disconnected first.
    """
    working = asyncio.create_task(work)
    watching = asyncio.create_task(_wait_for_disconnect(request))
    try:
        await asyncio.wait({working, watching}, return_when=asyncio.FIRST_COMPLETED)
        if not working.done():
            raise ClientDisconnected
        return working.result()
    finally:
        if not watching.cancel() and not watching.cancelled():
            watching.exception()  # a failure to read also means that the connection is lost
        if working.cancel():
            await asyncio.wait({working})


async def _wait_for_disconnect(request: Request[Any, Any, Any]) -> None:
    """Wait until the client disconnects."""
    for _ in range(2):  # the rest of the request comes first: an empty body
        if (await request.receive())["type"] == "http.disconnect":
            return
    await asyncio.get_running_loop().create_future()  # this ASGI server sends no disconnect
