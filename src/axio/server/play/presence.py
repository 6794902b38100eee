"""Who is here, where several processes serve the same tables: each tells the database, and asks it."""

from __future__ import annotations

import asyncio
import logging

from ..storage.tables import TableStore
from .entries import now
from .rooms import Rooms

EVERY = 10.0  # seconds between two looks
LASTS = 25_000  # milliseconds that a note is taken for true

log = logging.getLogger(__name__)


async def share_presence(rooms: Rooms, store: TableStore) -> None:
    """Keep the rooms of this process informed about clients of the others, forever."""
    while True:
        try:
            await _once(rooms, store)
        except Exception:
            log.exception("asking who is here failed")
        await asyncio.sleep(EVERY)


async def _once(rooms: Rooms, store: TableStore) -> None:
    used = rooms.in_use()
    # A note that one of ours is here must not come back to us when they have left.
    if gone := [(room.id, person) for room in used for person in room.audience.gone()]:
        await store.set_here(gone, 0)
    ours = [(room.id, person) for room in used for person in room.audience.here_locally]
    if ours:
        await store.set_here(ours, now() + LASTS)
    found = await store.here([room.id for room in used], now())
    for room in used:
        room.learn_who_is_elsewhere(found[room.id])
