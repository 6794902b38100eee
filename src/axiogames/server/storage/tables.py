"""Queries and updates of tables, seats, presence and daily deals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import RowMapping, bindparam, case, exists, func, insert, or_, select, tuple_, update

from .database import Database
from .schema import entries, people, results, seats, tables

UNFINISHED = ("open", "playing")
NEW_PERSON_MS = 24 * 3600 * 1000  # a person counts as new for this time
# Condition for results of daily deals that others can see. Identities are free, so an attempt by a new person
# need not be the first. Deleted people have no time of a first visit; their unlisted results were deleted.
_FIRST_SEEN = func.coalesce(people.c.created, 0)
LISTED = or_(_FIRST_SEEN == 0, results.c.finished - NEW_PERSON_MS >= _FIRST_SEEN)
LOBBY_CANDIDATES = 1000  # most recently changed tables considered for a list
MAX_REASON_LENGTH = 500  # stored characters of the error that makes a table unreadable

_READABLE = tables.c.quarantined.is_(None)


class TableStore:
    """Queries and updates of tables."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self.shared = database.on_postgresql  # other processes may use the same tables

    async def open(
        self,
        table_row: dict[str, Any],
        seat_rows: Sequence[dict[str, Any]],
        entry_rows: Sequence[dict[str, Any]],
    ) -> None:
        """Insert a table with its first entries in one transaction."""
        async with self.database.writing() as connection:
            await connection.execute(insert(tables), [table_row])
            await connection.execute(insert(seats), seat_rows)
            if entry_rows:  # empty if all seats are free
                await connection.execute(insert(entries), entry_rows)

    async def find(self, table_id: str) -> RowMapping | None:
        """Return the row of a table."""
        async with self.database.reading() as connection:
            result = await connection.execute(select(tables).where(tables.c.id == table_id))
            return result.mappings().first()

    async def entries(self, table_id: str, after: int = 0) -> list[tuple[int, int, str]]:
        """Return number, time and body of a table's entries after number `after`, in order."""
        query = (
            select(entries.c.number, entries.c.at, entries.c.body)
            .where(entries.c.table_id == table_id, entries.c.number > after)
            .order_by(entries.c.number)
        )
        async with self.database.reading() as connection:
            return [(row[0], row[1], row[2]) for row in await connection.execute(query)]

    async def read(self, table_id: str) -> tuple[RowMapping | None, list[tuple[int, int, str]]]:
        """Return the row of a table and all its entries."""
        query = select(entries.c.number, entries.c.at, entries.c.body)
        query = query.where(entries.c.table_id == table_id).order_by(entries.c.number)
        async with self.database.reading() as connection:
            row = (await connection.execute(select(tables).where(tables.c.id == table_id))).mappings().first()
            if row is None:
                return None, []
            return row, [(entry[0], entry[1], entry[2]) for entry in await connection.execute(query)]

    async def list_open(self, limit: int, present: Sequence[str] = (), at: int = 0) -> list[RowMapping]:
        """Return public tables with a free seat, one per owner, the newest first.

        Tables whose owner is connected come first.

        Args:
            limit: Maximum number of tables.
            present: Ids of tables whose owner is connected to this process.
            at: Owners whose presence lease ends after this time are connected to another process.
        """
        elsewhere = select(seats).where(
            seats.c.table_id == tables.c.id, seats.c.person == tables.c.owner, seats.c.here_until > at
        )
        owner_connected = tables.c.id.in_(present[:LOBBY_CANDIDATES]) | elsewhere.exists()
        return await self._first_per_owner(
            "open", [case((owner_connected, 0), else_=1), tables.c.created.desc()], limit, owner_connected
        )

    async def list_playing(self, limit: int) -> list[RowMapping]:
        """Return public tables in play, one per owner, the most recently changed first."""
        return await self._first_per_owner("playing", [tables.c.updated.desc()], limit)

    async def _first_per_owner(
        self, status: str, order: Sequence[Any], limit: int, *extra: Any
    ) -> list[RowMapping]:
        """Return the first public table of each owner with a status.

        Candidates are the most recently changed tables and those that meet a condition in `extra`.
        """
        public = [tables.c.status == status, tables.c.public, _READABLE]
        if status == "open":  # an open table may have only reserved seats
            free = seats.c.person.is_(None) & seats.c.bot.is_(None)
            public.append(exists().where(seats.c.table_id == tables.c.id, free))
        latest = select(tables.c.id).where(*public).order_by(tables.c.updated.desc()).limit(LOBBY_CANDIDATES)
        position = func.row_number().over(partition_by=tables.c.owner, order_by=[*order, tables.c.id])
        ranked = (
            select(tables.c.id, position.label("position"))
            .where(*public, or_(tables.c.id.in_(latest), *extra))
            .subquery()
        )
        query = select(tables).join(ranked, ranked.c.id == tables.c.id).where(ranked.c.position == 1)
        return await self._list(query, order, limit)

    async def of_person(self, person: str, limit: int) -> list[RowMapping]:
        """Return the tables of a person: unfinished ones first, then the most recently changed."""
        seated = select(seats.c.table_id).where(seats.c.person == person)
        return await self._list(
            select(tables).where(tables.c.id.in_(seated)),
            [tables.c.status.in_(UNFINISHED).desc(), tables.c.updated.desc()],
            limit,
        )

    async def _list(self, query: Any, order: Sequence[Any], limit: int) -> list[RowMapping]:
        async with self.database.reading() as connection:
            return list((await connection.execute(query.order_by(*order).limit(limit))).mappings())

    async def seats(self, ids: Sequence[str]) -> dict[str, list[RowMapping]]:
        """Return the seats of several tables."""
        by_table: dict[str, list[RowMapping]] = {table_id: [] for table_id in ids}
        query = select(seats).where(seats.c.table_id.in_(ids)).order_by(seats.c.table_id, seats.c.seat)
        async with self.database.reading() as connection:
            for row in (await connection.execute(query)).mappings():
                by_table[row["table_id"]].append(row)
        return by_table

    async def list_due(self, before: int, limit: int) -> list[str]:
        """Return tables whose next server action is due before a time, the longest overdue first."""
        return [table_id for _, table_id in await self.due_page(before, limit)]

    async def due_page(
        self, before: int, limit: int, after: tuple[int, str] | None = None
    ) -> list[tuple[int, str]]:
        """Return a page of due tables with their due times. `after` is the last row of the previous page."""
        query = select(tables.c.due, tables.c.id).where(tables.c.due <= before, _READABLE)
        if after is not None:
            query = query.where(tuple_(tables.c.due, tables.c.id) > tuple_(*after))
        query = query.order_by(tables.c.due, tables.c.id).limit(limit)
        async with self.database.reading() as connection:
            return [(row[0], row[1]) for row in await connection.execute(query)]

    async def entry_numbers(self, ids: Sequence[str]) -> dict[str, int]:
        """Return the number of the last entry of several tables."""
        query = select(tables.c.id, tables.c.number).where(tables.c.id.in_(ids))
        async with self.database.reading() as connection:
            return {row[0]: row[1] for row in await connection.execute(query)}

    # ------------------------------------------------------------ quarantine

    async def quarantine(self, table_id: str, reason: str) -> bool:
        """Put an unreadable table into quarantine, and return whether it was not in quarantine before.

        Clients get no access, and the server does not act on it.
        """
        query = (
            update(tables)
            .where(tables.c.id == table_id, tables.c.quarantined.is_(None))
            .values(quarantined=reason[:MAX_REASON_LENGTH] or "unreadable")
        )
        async with self.database.writing() as connection:
            return (await connection.execute(query)).rowcount > 0

    async def release(self, table_id: str) -> bool:
        """Release a table from quarantine, and return whether it was in quarantine."""
        query = (
            update(tables)
            .where(tables.c.id == table_id, tables.c.quarantined.is_not(None))
            .values(quarantined=None)
        )
        async with self.database.writing() as connection:
            return (await connection.execute(query)).rowcount > 0

    async def quarantined_tables(self, ids: Sequence[str]) -> set[str]:
        """Return the ids of those tables that are in quarantine."""
        query = select(tables.c.id).where(tables.c.id.in_(ids), tables.c.quarantined.is_not(None))
        async with self.database.reading() as connection:
            return {row[0] for row in await connection.execute(query)}

    async def count_quarantined(self) -> int:
        """Return the number of tables in quarantine."""
        query = select(func.count()).select_from(tables).where(tables.c.quarantined.is_not(None))
        async with self.database.reading() as connection:
            return int((await connection.execute(query)).scalar_one())

    # ------------------------------------------------------------ presence

    async def set_present(self, people_at: Sequence[tuple[str, str]], until: int) -> None:
        """Extend presence leases until a time. `people_at` contains pairs of table id and person id."""
        query = (
            update(seats)
            .where(seats.c.table_id == bindparam("at_table"), seats.c.person == bindparam("who"))
            .values(here_until=bindparam("until"))
        )
        rows = [{"at_table": table, "who": person, "until": until} for table, person in people_at]
        async with self.database.writing() as connection:
            await connection.execute(query, rows)

    async def record_presence(self, table_id: str, person: str, at: int) -> None:
        """Store that a person was at a table at a time, unless a later time is stored."""
        known = func.coalesce(seats.c.here_until, 0)
        query = update(seats).where(seats.c.table_id == table_id, seats.c.person == person, known < at)
        async with self.database.writing() as connection:
            await connection.execute(query.values(here_until=at))

    async def last_present(self, table_id: str, person: str) -> int | None:
        """Return the end of a person's presence at a table over all processes, `None` if unknown."""
        query = select(func.max(seats.c.here_until)).where(
            seats.c.table_id == table_id, seats.c.person == person
        )
        async with self.database.reading() as connection:
            until: int | None = (await connection.execute(query)).scalar_one()
            return until

    async def present_people(self, ids: Sequence[str], after: int) -> dict[str, set[str]]:
        """Return the people connected to each table over all processes."""
        by_table: dict[str, set[str]] = {table_id: set() for table_id in ids}
        query = select(seats.c.table_id, seats.c.person).where(
            seats.c.table_id.in_(ids), seats.c.here_until > after
        )
        async with self.database.reading() as connection:
            for table_id, person in await connection.execute(query):
                by_table[table_id].add(person)
        return by_table

    async def count_unfinished(self, owner: str | None = None) -> int:
        """Return the number of unfinished readable tables, in total or of one owner."""
        unfinished = (tables.c.status.in_(UNFINISHED), _READABLE)
        query = select(func.count()).select_from(tables).where(*unfinished)
        if owner is not None:
            query = query.where(tables.c.owner == owner)
        async with self.database.reading() as connection:
            return int((await connection.execute(query)).scalar_one())

    async def unfinished_tables_of(self, person: str) -> list[str]:
        """Return the unfinished tables that a person plays at or has opened."""
        seated = select(seats.c.table_id).where(seats.c.person == person)
        query = select(tables.c.id).where(
            tables.c.status.in_(UNFINISHED), or_(tables.c.owner == person, tables.c.id.in_(seated))
        )
        async with self.database.reading() as connection:
            return [row[0] for row in await connection.execute(query)]

    # ------------------------------------------------------------ daily deals

    async def daily_seed(self, day: str, game: str) -> str | None:
        """Return the seed of a deal, `None` before the first attempt."""
        query = select(tables.c.seed).where(tables.c.daily == day, tables.c.game == game).limit(1)
        async with self.database.reading() as connection:
            return (await connection.execute(query)).scalar()

    async def daily_attempt(self, day: str, game: str, person: str) -> RowMapping | None:
        """Return a person's attempt at a deal."""
        query = select(tables).where(tables.c.daily == day, tables.c.game == game, tables.c.owner == person)
        async with self.database.reading() as connection:
            return (await connection.execute(query)).mappings().first()

    async def leaderboard(
        self, day: str, game: str, limit: int, viewer: str | None = None
    ) -> list[RowMapping]:
        """Return the listed results of a deal, the best first, with the current names.

        A result of a person who was new when finishing is included only if that person is the viewer.
        """
        query = (
            select(results, people.c.name.label("name_now"), LISTED.label("listed"))
            .join(people, people.c.id == results.c.person, isouter=True)
            .where(results.c.day == day, results.c.game == game)
            .where(LISTED | (results.c.person == viewer))
            .order_by(results.c.rank, results.c.finished)
            .limit(limit)
        )
        async with self.database.reading() as connection:
            return list((await connection.execute(query)).mappings())

    async def daily_result(self, day: str, game: str, person: str) -> RowMapping | None:
        """Return a person's result of a deal, and whether it is listed."""
        query = (
            select(results, LISTED.label("listed"))
            .join(people, people.c.id == results.c.person, isouter=True)
            .where(results.c.day == day, results.c.game == game, results.c.person == person)
        )
        async with self.database.reading() as connection:
            return (await connection.execute(query)).mappings().first()
