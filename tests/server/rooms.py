"""Rooms in this process without routes and network, and clients in memory that record messages."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from axiogames.server.domain.entries import TableEntry, decode_entry
from axiogames.server.domain.game_state import TableConfig, now
from axiogames.server.domain.room import Room
from axiogames.server.lifespan import Server, build_server
from axiogames.server.settings import Settings
from axiogames.server.transport.client import Client

TIMEOUT = 20.0


@asynccontextmanager
async def running(folder: Path, database: str = "") -> AsyncIterator[Server]:
    """Yield the components of a server, without routes and startup tasks."""
    server = build_server(Settings(data=str(folder), database=database, bot_threads=1))
    await server.database.upgrade()
    try:
        yield server
    finally:
        server.rooms.close()
        await server.journal.close()
        server.bots.close()
        server.people.close()
        server.pictures.close()
        await server.database.close()


def table_config(
    players: int = 2, *, game: str = "rota", move_time: int | None = None, id: str = "table"
) -> TableConfig:
    return TableConfig(
        id=id,
        game=game,
        players=players,
        options={},
        public=False,
        move_time=move_time,
        daily=None,
        owner="ann",
        invite="key",
        seed="5eed",
        created=now(),
    )


class Listener:
    """A client in memory that records the messages it receives."""

    def __init__(self, room: Room, person: str | None, *, connect: bool = True) -> None:
        self.received: list[dict[str, Any]] = []
        self.client = Client(self._take, person, room.default_seat(person))
        if connect:
            room.connect(self.client)

    async def _take(self, text: str) -> None:
        self.received.append(json.loads(text))


async def entries(server: Server, room: Room) -> list[TableEntry]:
    return [decode_entry(body) for _, _, body in await server.store.entries(room.id)]


async def until(condition: Callable[[], bool]) -> None:
    """Wait until a condition holds."""
    async with asyncio.timeout(TIMEOUT):
        while not condition():
            await asyncio.sleep(0.005)


def run(work: Callable[[], Coroutine[Any, Any, None]]) -> None:
    asyncio.run(asyncio.wait_for(work(), 60))
