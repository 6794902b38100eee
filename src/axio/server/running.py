"""The parts of a running server, started and stopped in order."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager, suppress
from dataclasses import dataclass

from .guard.limits import Limits
from .identity.people import People
from .keys import secret_key
from .play import columns
from .play.bots import Bots
from .play.presence import share_presence
from .play.reviews import Reviews
from .play.rooms import Rooms
from .settings import Settings
from .storage.database import Database
from .storage.journal import Journal
from .storage.notices import notices
from .storage.tables import TableStore

GARBAGE = (10_000, 20, 20)  # as for `gc.set_threshold`: seldom, as there is little of it


@dataclass(frozen=True, slots=True)
class Server:
    """Everything that requests need."""

    settings: Settings
    database: Database
    journal: Journal
    store: TableStore
    people: People
    bots: Bots
    rooms: Rooms
    reviews: Reviews
    limits: Limits


def assemble(settings: Settings) -> Server:
    """The parts of a server, not yet started."""
    database = Database(settings.url)
    journal, store = Journal(database), TableStore(database)
    bots = Bots(settings.bot_threads, settings.bot_seconds)
    return Server(
        settings=settings,
        database=database,
        journal=journal,
        store=store,
        people=People(database, secret_key(settings.folder)),
        bots=bots,
        rooms=Rooms(store, journal, bots),
        reviews=Reviews(bots),
        limits=Limits(settings.limits),
    )


@asynccontextmanager
async def running(server: Server) -> AsyncIterator[None]:
    """Start everything; on the way out finish what has begun."""
    await server.database.upgrade()
    tasks = [
        asyncio.create_task(_prepare(server)),
        asyncio.create_task(_listen(server)),
        asyncio.create_task(_meet(server)),
    ]
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        for task in tasks:
            with suppress(asyncio.CancelledError):
                await task
        server.rooms.close()
        server.reviews.close()
        await server.journal.close()
        server.bots.close()
        await server.database.close()


async def _prepare(server: Server) -> None:
    """Load the rules, then let games go on that were interrupted."""
    await asyncio.to_thread(columns.prepare)
    await server.bots.prepare()
    # What is there now stays: looking through it for garbage again and again would only hold up the tables.
    gc.collect()
    gc.freeze()
    gc.set_threshold(*GARBAGE)
    await server.rooms.sweep()


async def _meet(server: Server) -> None:
    """Know who is connected to other processes."""
    if server.database.on_postgresql:
        await share_presence(server.rooms, server.store)


async def _listen(server: Server) -> None:
    """Follow what other processes write."""
    if server.database.on_postgresql:
        async with aclosing(notices(server.settings.dsn)) as told:
            async for notice in told:
                await server.rooms.heard(notice)
