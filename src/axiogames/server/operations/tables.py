"""Administration of tables: find, close, delete, release from quarantine, and remove players.

Works on the database alone, so a server may be running. Changes of a game are appended to its entries like
moves; if a concurrent move takes the entry number, the change is repeated on the new state.
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
from ..domain.entries import BotSeated, PlayerRemoved, SeatVacated, TableClosed, TableEntry
from ..domain.game_state import GameState
from ..domain.log_replay import load_game
from ..storage.database import Database
from ..storage.journal import JournalEntry, write_entries
from ..storage.schema import entries, metadata, people, seats, tables
from ..storage.tables import UNFINISHED, TableStore
from .audit import Actor, write_audit

COMMIT_ATTEMPTS = 20
BATCH_SIZE = 200  # tables per transaction
DAY_MS = 24 * 3600 * 1000


class UnknownTable(AxioError):
    """No table has this id."""

    def __init__(self, table_id: str) -> None:
        super().__init__(f"no table has the id {table_id!r}: `axio admin tables list` lists tables")


class InvalidOperation(AxioError):
    """The operation is not possible in the current state of its subject."""


@dataclass(frozen=True, slots=True)
class TableFilter:
    """Selection of tables by the conjunction of all set criteria."""

    status: str | None = None
    untouched_for: int | None = None  # days since the last entry
    person: str | None = None  # id of the person who opened the table or sits there
    quarantined: bool = False

    def conditions(self, at: int) -> list[Any]:
        """Return SQL conditions for the time `at`."""
        conditions: list[Any] = []
        if self.status is not None:
            conditions.append(tables.c.status == self.status)
        if self.untouched_for is not None:
            conditions.append(tables.c.updated < at - self.untouched_for * DAY_MS)
        if self.person is not None:
            seated = select(seats.c.table_id).where(seats.c.person == self.person)
            conditions.append((tables.c.owner == self.person) | tables.c.id.in_(seated))
        if self.quarantined:
            conditions.append(tables.c.quarantined.is_not(None))
        return conditions


class TableAdmin:
    """Reads and changes tables on behalf of an actor."""

    def __init__(self, database: Database, actor: Actor) -> None:
        self._database = database
        self._store = TableStore(database)
        self.actor = actor

    # ------------------------------------------------------------ queries

    async def find(self, criteria: TableFilter, at: int, limit: int | None = None) -> list[RowMapping]:
        """Return the selected tables, the most recently changed one first."""
        query = select(tables).where(*criteria.conditions(at)).order_by(tables.c.updated.desc(), tables.c.id)
        async with self._database.reading() as connection:
            return list((await connection.execute(query.limit(limit))).mappings())

    async def seats(self, ids: Sequence[str]) -> dict[str, list[RowMapping]]:
        """Return the seats of several tables."""
        by_table: dict[str, list[RowMapping]] = {}
        for start in range(0, len(ids), BATCH_SIZE):
            by_table |= await self._store.seats(ids[start : start + BATCH_SIZE])
        return by_table

    async def row(self, table_id: str) -> RowMapping:
        """Return the row of a table. Raises `UnknownTable`."""
        row = await self._store.find(table_id) if "\0" not in table_id else None
        if row is None:
            raise UnknownTable(table_id)
        return row

    async def count_entries(self, table_id: str) -> int:
        """Return the number of entries of a table."""
        query = select(func.count()).select_from(entries).where(entries.c.table_id == table_id)
        async with self._database.reading() as connection:
            return int((await connection.execute(query)).scalar_one())

    async def name_of(self, person: str) -> str | None:
        """Return the name of a person, `None` for an unknown one."""
        async with self._database.reading() as connection:
            query = select(people.c.name).where(people.c.id == person)
            return (await connection.execute(query)).scalar_one_or_none()

    # ------------------------------------------------------------ changes

    async def close(self, table_id: str, action: str = "table-close", *, number: int | None = None) -> None:
        """Close an unfinished table.

        Args:
            table_id: Table to close.
            action: Action for the audit log.
            number: Close the table only if its last entry has this number.

        Raises:
            UnknownTable: No table has this id.
            InvalidOperation: The table is not unfinished, or has another number.
        """

        def decide(game: GameState) -> list[TableEntry]:
            if game.status not in UNFINISHED:
                raise InvalidOperation(f"table {table_id} is already {game.status}")
            if number is not None and game.number != number:
                raise InvalidOperation(f"table {table_id} is in use again")
            return [TableClosed()]

        await self._append(table_id, decide, action)

    async def kick(self, table_id: str, seat: int) -> str:
        """Remove the player of a seat and return the name.

        Before the start the seat becomes free. In play a bot takes over, or the table closes if no other
        person plays.

        Raises:
            UnknownTable: No table has this id.
            InvalidOperation: The table is finished, or the seat has no player.
        """
        names: list[str] = []

        def decide(game: GameState) -> list[TableEntry]:
            if game.status not in UNFINISHED:
                raise InvalidOperation(f"table {table_id} is {game.status}: players cannot be removed")
            if not 0 <= seat < len(game.seats):
                raise InvalidOperation(
                    f"seat {seat} is out of range: table {table_id} has seats 0 to {len(game.seats) - 1}"
                )
            player = game.seats[seat]
            if player.free or (game.status == "playing" and player.person is None):
                raise InvalidOperation(f"seat {seat} of table {table_id} has no player")
            names[:] = [player.name]
            if game.status == "open":
                return [PlayerRemoved(seat) if player.person is not None else SeatVacated(seat)]
            has_others = any(other.person is not None for other in game.seats if other is not player)
            return [BotSeated(seat, DEFAULT_LEVEL)] if has_others else [TableClosed()]

        await self._append(table_id, decide, "table-kick", seat=seat)
        return names[0]

    async def release(self, table_id: str) -> None:
        """Release a table from quarantine.

        Raises:
            UnknownTable: No table has this id.
            InvalidOperation: The table is not in quarantine, or still unreadable.
        """
        row = await self.row(table_id)
        if row["quarantined"] is None:
            raise InvalidOperation(f"table {table_id} is not quarantined")
        game = await self._load(table_id)
        summary = {name: game.row()[name] for name in ("status", "turn", "due", "number", "moves")}

        def write(connection: Connection) -> None:
            query = update(tables).where(tables.c.id == table_id).values(quarantined=None, **summary)
            connection.execute(query)
            write_audit(connection, self.actor, "table-release", table_id)

        await self._database.transact(write)

    async def delete(self, ids: Sequence[str], action: str = "table-delete", *conditions: Any) -> list[str]:
        """Delete tables with all their rows, and return the ids of the deleted ones.

        Only tables that meet the conditions inside the transaction are deleted.
        """
        deleted: list[str] = []
        for start in range(0, len(ids), BATCH_SIZE):
            batch = list(ids[start : start + BATCH_SIZE])
            await self._database.transact(partial(self._delete, batch, action, conditions, deleted))
        return deleted

    def _delete(
        self,
        ids: list[str],
        action: str,
        conditions: Sequence[Any],
        deleted: list[str],
        connection: Connection,
    ) -> None:
        # Update first: the row locks exclude other writers until the commit.
        selected = [tables.c.id.in_(ids), *conditions]
        connection.execute(update(tables).where(*selected).values(due=None))
        query = select(tables.c.id, tables.c.game, tables.c.status).where(*selected)
        rows = list(connection.execute(query))
        matching = [row.id for row in rows]
        if not matching:
            return
        for dependent in metadata.sorted_tables:
            for key in dependent.foreign_keys:
                if key.column.table is tables:
                    connection.execute(delete(dependent).where(key.parent.in_(matching)))
        connection.execute(delete(tables).where(tables.c.id.in_(matching)))
        for row in rows:
            write_audit(connection, self.actor, action, row.id, game=row.game, status=row.status)
        deleted += matching

    async def _load(self, table_id: str) -> GameState:
        await self.row(table_id)
        try:
            return await load_game(self._store, table_id)
        except Exception as error:  # entries may be damaged in any way
            raise InvalidOperation(
                f"table {table_id} cannot be read ({type(error).__name__}: {error}); it can only be deleted"
            ) from None

    async def _append(
        self, table_id: str, decide: Callable[[GameState], list[TableEntry]], action: str, **detail: Any
    ) -> None:
        for _ in range(COMMIT_ATTEMPTS):
            game = await self._load(table_id)
            appended: list[JournalEntry] = []
            for entry in decide(game):
                appended.append(game.journal_entry(game.apply(entry)))

            def write(connection: Connection, appended: Sequence[JournalEntry] = tuple(appended)) -> None:
                write_entries(appended, connection)
                write_audit(connection, self.actor, action, table_id, **detail)

            try:
                return await self._database.transact(write)
            except IntegrityError:
                continue  # a concurrent entry was committed first
        raise InvalidOperation(f"table {table_id} changed during {COMMIT_ATTEMPTS} attempts: try again")
