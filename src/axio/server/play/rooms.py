"""All tables in use in this process: opened, loaded from their entries, kept in step with other processes."""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import msgspec

from ..storage.journal import Journal
from ..storage.tables import TableStore
from .acts import Act, read_act, write_act
from .bots import Bots
from .entries import now, table_row
from .game import Game, Terms
from .kept_table import Services
from .refusals import NoSuchTable
from .room import Room

KEPT = 500  # rooms without clients that stay in memory
SWEEP = 5.0  # seconds between looks for what was missed
GRACE = 20_000  # milliseconds after which another process does what one has left undone
AT_ONCE = 200

log = logging.getLogger(__name__)


def new_id() -> str:
    """A name that nobody can guess."""
    return secrets.token_urlsafe(12)


class Rooms:
    """The rooms of this process, by their tables' ids."""

    def __init__(self, store: TableStore, journal: Journal, bots: Bots) -> None:
        self._store = store
        self._services = Services(journal, bots, self._load)
        self._rooms: dict[str, Room] = {}
        self._loading: dict[str, asyncio.Task[Room]] = {}

    def __len__(self) -> int:
        return len(self._rooms)

    @property
    def clients(self) -> int:
        """How many clients are connected."""
        return sum(len(room.audience.connections) for room in self._rooms.values())

    def in_use(self) -> list[Room]:
        """The rooms with clients."""
        return [room for room in self._rooms.values() if room.audience.connections]

    # ------------------------------------------------------------ opening

    async def open(self, terms: Terms, acts: Sequence[Act]) -> Room:
        """A new table, with those who sit there from the beginning; it starts if no seat is free."""
        game = Game.opened(terms)
        for act in acts:
            game.carry_out(act)
        made = [*acts]
        if not game.free_seats():
            made.append(game.start())
        game.since = terms.created
        room = Room(game, self._services)
        await self._store.open(
            table_row(game),
            [{**seat.row(number), "table_id": terms.id} for number, seat in enumerate(game.seats)],
            [
                {"table_id": terms.id, "number": number, "at": terms.created, "body": write_act(act)}
                for number, act in enumerate(made, 1)
            ],
        )
        self._rooms[terms.id] = room
        room.wake()
        return room

    # ------------------------------------------------------------ finding

    async def get(self, table_id: str) -> Room:
        """The room of a table. Raises `NoSuchTable`."""
        if "\0" in table_id:
            raise NoSuchTable  # PostgreSQL has no such text
        room = self._rooms.pop(table_id, None)
        if room is not None:
            self._rooms[table_id] = room  # the last one used is the last one forgotten
            return room
        if table_id not in self._loading:
            self._loading[table_id] = asyncio.create_task(self._bring(table_id))
        return await asyncio.shield(self._loading[table_id])

    async def _bring(self, table_id: str) -> Room:
        try:
            room = Room(await self._load(table_id), self._services)
            self._rooms[table_id] = room
            self._forget()
            room.wake()
            return room
        finally:
            del self._loading[table_id]

    def _forget(self) -> None:
        """Let go of rooms that nobody has used for long."""
        spare = len(self._rooms) - KEPT
        if spare > 0:
            idle = [table_id for table_id, room in self._rooms.items() if room.idle]
            for table_id in idle[:spare]:
                del self._rooms[table_id]

    async def _load(self, table_id: str) -> Game:
        row = await self._store.find(table_id)
        if row is None:
            raise NoSuchTable
        game = Game.opened(terms_of(row))
        for _, at, body in await self._store.entries(table_id):
            game.carry_out(read_act(body))
            game.since = at
        return game

    async def before(self, room: Room, number: int) -> tuple[Game, list[tuple[int, Act]]]:
        """The game as it was at an earlier number, and the acts since then."""
        game = Game.opened(room.game.terms)
        since: list[tuple[int, Act]] = []
        for n, at, body in await self._store.entries(room.id):
            act = read_act(body)
            if n <= number:
                game.carry_out(act)
                game.since = at
            elif n <= room.game.number:  # what another process has written since is told when it is heard of
                since.append((at, act))
        return game, since

    # ------------------------------------------------------------ other processes

    async def heard(self, notice: str) -> None:
        """Catch up with what another process has written."""
        for item in notice.split():
            table_id, _, number = item.partition(":")
            room = self._rooms.get(table_id)
            if room is not None and room.game.number < int(number):
                await self._catch_up(room)

    async def _catch_up(self, room: Room) -> None:
        rows = await self._store.entries(room.id, after=room.game.number)
        await room.catch_up([(number, at, read_act(body)) for number, at, body in rows])

    async def sweep(self) -> None:
        """Wake tables at which something is overdue, forever: after a crash, and where a notice was lost."""
        grace = 0
        while True:
            with suppress(NoSuchTable):
                try:
                    for table_id in await self._store.due(now() - grace, AT_ONCE):
                        (await self.get(table_id)).wake()
                    await self._compare()
                except Exception:
                    log.exception("looking for overdue tables failed")
            grace = GRACE
            await asyncio.sleep(SWEEP)

    async def _compare(self) -> None:
        """See whether tables with clients have gone on without this process."""
        watched = [room.id for room in self.in_use()]
        for first in range(0, len(watched), AT_ONCE):
            kept = await self._store.numbers(watched[first : first + AT_ONCE])
            for table_id, number in kept.items():
                room = self._rooms.get(table_id)
                if room is not None and not room.lock.locked() and room.game.number < number:
                    await self._catch_up(room)

    def close(self) -> None:
        """Stop everything that goes on by itself."""
        for room in self._rooms.values():
            room.close()


def terms_of(row: Any) -> Terms:
    """The terms of a table from its row."""
    return Terms(
        id=row["id"],
        game=row["game"],
        players=row["players"],
        options=msgspec.json.decode(row["options"]),
        public=bool(row["public"]),
        move_time=row["move_time"],
        daily=row["daily"],
        owner=row["owner"],
        invite=row["invite"],
        seed=row["seed"],
        created=row["created"],
    )
