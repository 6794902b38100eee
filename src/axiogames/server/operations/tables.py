"""What a host can do with tables: find, close, delete and release them, take somebody off a seat.

Works on the database alone, so it can be done beside a running server. What happens at a table is appended to
its entries like everything else; if somebody moves at the same moment, the change is made again from there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from sqlalchemy import Connection, RowMapping, delete, func, select, update
from sqlalchemy.exc import IntegrityError

from ...errors import AxioError
from ..domain.bots import DEFAULT_LEVEL
from ..domain.entries import Act, Closed, Hired, Removed, Rose
from ..domain.game_state import Game, entry_of, table_row
from ..domain.rooms import load_game
from ..storage.database import Database
from ..storage.journal import Entry, write_entries
from ..storage.schema import entries, metadata, people, seats, tables
from ..storage.tables import UNFINISHED, TableStore
from .audit import Actor, write_audit

TRIES = 20
AT_ONCE = 200  # tables that one transaction deletes
DAY = 24 * 3600 * 1000  # milliseconds


class UnknownTable(AxioError):
    """There is no table with this id."""

    def __init__(self, table_id: str) -> None:
        super().__init__(f"there is no table {table_id!r}; `admin tables list` shows those there are")


class NotPossible(AxioError):
    """What was asked for cannot be done in the state that something is in."""


@dataclass(frozen=True, slots=True)
class TableFilter:
    """Which tables are meant. Everything that is given has to fit."""

    status: str | None = None
    untouched_for: int | None = None  # days since the last entry
    person: str | None = None  # an id: who opened it, or sits there
    quarantined: bool = False

    def conditions(self, at: int) -> list[Any]:
        """The same for SQL, at a time."""
        found: list[Any] = []
        if self.status is not None:
            found.append(tables.c.status == self.status)
        if self.untouched_for is not None:
            found.append(tables.c.updated < at - self.untouched_for * DAY)
        if self.person is not None:
            sits = select(seats.c.table_id).where(seats.c.person == self.person)
            found.append((tables.c.owner == self.person) | tables.c.id.in_(sits))
        if self.quarantined:
            found.append(tables.c.quarantined.is_not(None))
        return found


class TableAdministration:
    """Looks after the tables of a database, in the name of somebody."""

    def __init__(self, database: Database, actor: Actor) -> None:
        self._database = database
        self._store = TableStore(database)
        self.actor = actor

    # ------------------------------------------------------------ asking

    async def find(self, wanted: TableFilter, at: int, limit: int | None = None) -> list[RowMapping]:
        """The tables that fit, the one longest untouched last."""
        query = select(tables).where(*wanted.conditions(at)).order_by(tables.c.updated.desc(), tables.c.id)
        async with self._database.reading() as connection:
            return list((await connection.execute(query.limit(limit))).mappings())

    async def seats(self, ids: Sequence[str]) -> dict[str, list[RowMapping]]:
        """The seats of several tables."""
        found: dict[str, list[RowMapping]] = {}
        for first in range(0, len(ids), AT_ONCE):
            found |= await self._store.seats(ids[first : first + AT_ONCE])
        return found

    async def row(self, table_id: str) -> RowMapping:
        """A table's row. Raises `UnknownTable`."""
        row = await self._store.find(table_id) if "\0" not in table_id else None
        if row is None:
            raise UnknownTable(table_id)
        return row

    async def count_entries(self, table_id: str) -> int:
        """How many entries a table has."""
        query = select(func.count()).select_from(entries).where(entries.c.table_id == table_id)
        async with self._database.reading() as connection:
            return int((await connection.execute(query)).scalar_one())

    async def name_of(self, person: str) -> str | None:
        """What a person is called, `None` if the database does not know them."""
        async with self._database.reading() as connection:
            query = select(people.c.name).where(people.c.id == person)
            return (await connection.execute(query)).scalar_one_or_none()

    # ------------------------------------------------------------ changing

    async def close(self, table_id: str, action: str = "table-close", *, number: int | None = None) -> None:
        """Give a table up before its game has ended; only if its last entry has a number, if one is given.

        Raises `UnknownTable`, `NotPossible`.
        """

        def decide(game: Game) -> list[Act]:
            if game.status not in UNFINISHED:
                raise NotPossible(f"table {table_id} is {game.status} already")
            if number is not None and game.number != number:
                raise NotPossible(f"table {table_id} is in use again")
            return [Closed()]

        await self._act(table_id, decide, action)

    async def kick(self, table_id: str, seat: int) -> str:
        """Take whoever sits there off a seat: free before the start, a bot's afterwards. The name they had.

        Raises `UnknownTable`, `NotPossible`.
        """
        names: list[str] = []

        def decide(game: Game) -> list[Act]:
            if game.status not in UNFINISHED:
                raise NotPossible(f"table {table_id} is {game.status}: nobody can be taken off its seats")
            if not 0 <= seat < len(game.seats):
                raise NotPossible(f"table {table_id} has the seats 0 to {len(game.seats) - 1}, not {seat}")
            sits = game.seats[seat]
            if sits.free or (game.status == "playing" and sits.person is None):
                raise NotPossible(f"nobody sits on seat {seat} of table {table_id}")
            names[:] = [sits.name]
            if game.status == "open":
                return [Removed(seat) if sits.person is not None else Rose(seat)]
            others = any(other.person is not None for other in game.seats if other is not sits)
            return [Hired(seat, DEFAULT_LEVEL)] if others else [Closed()]

        await self._act(table_id, decide, "table-kick", seat=seat)
        return names[0]

    async def release(self, table_id: str) -> None:
        """Let a quarantined table go on.

        Raises `UnknownTable`, or `NotPossible` if it still cannot be read.
        """
        row = await self.row(table_id)
        if row["quarantined"] is None:
            raise NotPossible(f"table {table_id} is not quarantined")
        game = await self._load(table_id)
        summary = {name: table_row(game)[name] for name in ("status", "turn", "due", "number", "moves")}

        def write(connection: Connection) -> None:
            query = update(tables).where(tables.c.id == table_id).values(quarantined=None, **summary)
            connection.execute(query)
            write_audit(connection, self.actor, "table-release", table_id)

        await self._database.transact(write)

    async def delete(self, ids: Sequence[str], action: str = "table-delete", *conditions: Any) -> list[str]:
        """Delete tables and everything that belongs to them, for good; the ids of those that were there.

        Only those are deleted that fit the conditions at that moment.
        """
        gone: list[str] = []
        for first in range(0, len(ids), AT_ONCE):
            part = list(ids[first : first + AT_ONCE])
            await self._database.transact(partial(self._delete, part, action, conditions, gone))
        return gone

    def _delete(
        self, ids: list[str], action: str, conditions: Sequence[Any], gone: list[str], connection: Connection
    ) -> None:
        # Written to first: from here on nobody else can change them until this is committed.
        meant = [tables.c.id.in_(ids), *conditions]
        connection.execute(update(tables).where(*meant).values(due=None))
        query = select(tables.c.id, tables.c.game, tables.c.status).where(*meant)
        rows = list(connection.execute(query))
        found = [row.id for row in rows]
        if not found:
            return
        for other in metadata.sorted_tables:
            for key in other.foreign_keys:
                if key.column.table is tables:
                    connection.execute(delete(other).where(key.parent.in_(found)))
        connection.execute(delete(tables).where(tables.c.id.in_(found)))
        for row in rows:
            write_audit(connection, self.actor, action, row.id, game=row.game, status=row.status)
        gone += found

    async def _load(self, table_id: str) -> Game:
        await self.row(table_id)
        try:
            return await load_game(self._store, table_id)
        except Exception as error:  # whatever is wrong with its entries
            raise NotPossible(
                f"table {table_id} cannot be read ({type(error).__name__}: {error}); it can only be deleted"
            ) from None

    async def _act(
        self, table_id: str, decide: Callable[[Game], list[Act]], action: str, **detail: Any
    ) -> None:
        for _ in range(TRIES):
            game = await self._load(table_id)
            made: list[Entry] = []
            for act in decide(game):
                game.carry_out(act)
                made.append(entry_of(game, act))

            def write(connection: Connection, made: Sequence[Entry] = tuple(made)) -> None:
                write_entries(made, connection)
                write_audit(connection, self.actor, action, table_id, **detail)

            try:
                return await self._database.transact(write)
            except IntegrityError:
                continue  # somebody has moved since it was read
        raise NotPossible(f"table {table_id} is too busy: try again")
