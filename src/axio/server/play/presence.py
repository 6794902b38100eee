"""Who is here, where several processes serve the same tables: each tells the database, and asks it."""

from __future__ import annotations

from ..storage.tables import TableStore
from .entries import now
from .rooms import Rooms

EVERY = 10.0  # seconds between two looks
LASTS = 25_000  # milliseconds that a note is taken for true


async def share(rooms: Rooms, store: TableStore) -> None:
    """Inform the rooms of this process about clients of the others, and the other way round."""
    used = rooms.in_use()
    # A note that one of ours is here must not come back to us when they have left.
    if gone := [(room.id, person) for room in used for person in room.audience.gone()]:
        await store.set_here(gone, now())
    ours = [(room.id, person) for room in used for person in room.audience.here_locally]
    if ours:
        await store.set_here(ours, now() + LASTS)
    found = await store.here([room.id for room in used], now())
    for room in used:
        room.learn_who_is_elsewhere(found[room.id])
