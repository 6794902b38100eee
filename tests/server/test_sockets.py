"""WebSockets that keep little: they read in order, and forget what the browser said when it connected."""

from __future__ import annotations

import asyncio
import gc

from axio.server.serving import OPTIONS
from axio.server.sockets import LeanSocket, Mailbox

from .driving import Guest


def test_the_server_uses_them() -> None:
    module, _, name = str(OPTIONS["ws"]).partition(":")
    assert (module, name) == (LeanSocket.__module__, LeanSocket.__name__)


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


def test_many_messages_at_once_are_answered_in_order(ann: Guest) -> None:
    table = ann.open("axio", ["me", "greedy"])
    with ann.live(table.id) as live:
        live.recv()
        for number in range(200):
            live.send(f'{{"do": "hint", "id": "{number}", "n": -1}}')
        told = [live.until("refused")["id"] for _ in range(200)]
    assert told == [str(number) for number in range(200)]
    gc.collect()
