"""Work for a client that is given up when the client hangs up."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from litestar import Request

from ..domain.refusals import Refused

Done = TypeVar("Done")


class HungUp(Refused):
    """The client is gone; nobody hears this."""

    def __init__(self) -> None:
        super().__init__("bad_request", "the connection was closed before there was an answer")


async def while_connected(request: Request[Any, Any, Any], work: Coroutine[Any, Any, Done]) -> Done:
    """Return what a coroutine returns. It is cancelled if the client hangs up first. Raises `HungUp`."""
    working = asyncio.create_task(work)
    watching = asyncio.create_task(_hung_up(request))
    try:
        await asyncio.wait({working, watching}, return_when=asyncio.FIRST_COMPLETED)
        if not working.done():
            raise HungUp
        return working.result()
    finally:
        if not watching.cancel() and not watching.cancelled():
            watching.exception()  # a connection that cannot be read is gone, whatever the reason
        if working.cancel():
            await asyncio.wait({working})


async def _hung_up(request: Request[Any, Any, Any]) -> None:
    """Wait until the client has hung up."""
    for _ in range(2):  # what is left of the request comes first: an empty body
        if (await request.receive())["type"] == "http.disconnect":
            return
    await asyncio.get_running_loop().create_future()  # this server tells nobody
