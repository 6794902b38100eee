"""What is asked of tables, and how new ones are opened."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import RowMapping, bindparam, case, exists, func, insert, or_, select, tuple_, update

from .database import Database
from .schema import entries, people, results, seats, tables

UNFINISHED = ("open", "playing")
NEW = 24 * 3600 * 1000  # milliseconds for which somebody counts as new
# Whether a result of a daily deal is shown to others. Identities are free: the attempt of a new one need not
# be the first one. People who were deleted have no time of their first visit; their results that were not
# listed are deleted with them.
_FIRST_SEEN = func.coalesce(people.c.created, 0)
LISTED = or_(_FIRST_SEEN == 0, results.c.finished - NEW >= _FIRST_SEEN)
LOOKED_AT = 1000  # tables of which a list is made
LONGEST_REASON = 500  # characters kept of why a table cannot be read

_READABLE = tables.c.quarantined.is_(None)


class TableStore:
    """Reads tables and their entries; opens tables."""

    def __init__(self, database: Database) -> None:
        self.database = self._database = database
        self.shared = database.on_postgresql  # whether other processes may use the same tables

    async def open(
        self, terms: dict[str, Any], seat_rows: Sequence[dict[str, Any]], entry_rows: Sequence[dict[str, Any]]
    ) -> None:
        """A new table with its first entries, in one transaction."""
        async with self._database.writing() as connection:
            await connection.execute(insert(tables), [terms])
            await connection.execute(insert(seats), seat_rows)
            if entry_rows:  # nobody may sit there yet
                await connection.execute(insert(entries), entry_rows)

    async def find(self, table_id: str) -> RowMapping | None:
        """A table's own row."""
        async with self._database.reading() as connection:
            found = await connection.execute(select(tables).where(tables.c.id == table_id))
            return found.mappings().first()

    async def entries(self, table_id: str, after: int = 0) -> list[tuple[int, int, str]]:
        """The number, time and body of a table's entries, in order."""
        query = (
            select(entries.c.number, entries.c.at, entries.c.body)
            .where(entries.c.table_id == table_id, entries.c.number > after)
            .order_by(entries.c.number)
        )
        async with self._database.reading() as connection:
            return [(row[0], row[1], row[2]) for row in await connection.execute(query)]

    async def read(self, table_id: str) -> tuple[RowMapping | None, list[tuple[int, int, str]]]:
        """Return a table's own row and all its entries."""
        query = select(entries.c.number, entries.c.at, entries.c.body)
        query = query.where(entries.c.table_id == table_id).order_by(entries.c.number)
        async with self._database.reading() as connection:
            row = (await connection.execute(select(tables).where(tables.c.id == table_id))).mappings().first()
            if row is None:
                return None, []
            return row, [(one[0], one[1], one[2]) for one in await connection.execute(query)]

    async def waiting(self, limit: int, awaited: Sequence[str] = (), at: int = 0) -> list[RowMapping]:
        """Public tables with a free seat, one for each host, the newest first.

        Those whose host is there come before all others: the hosts of `awaited` are, and those who are known
        at a time to be connected to other processes.
        """
        elsewhere = select(seats).where(
            seats.c.table_id == tables.c.id, seats.c.person == tables.c.owner, seats.c.here_until > at
        )
        there = tables.c.id.in_(awaited[:LOOKED_AT]) | elsewhere.exists()
        return await self._one_each(
            "open", (case((there, 0), else_=1), tables.c.created.desc()), limit, there
        )

    async def live(self, limit: int) -> list[RowMapping]:
        """Public tables in play, one for each host, the liveliest first."""
        return await self._one_each("playing", (tables.c.updated.desc(),), limit)

    async def _one_each(self, status: str, order: Sequence[Any], limit: int, *also: Any) -> list[RowMapping]:
        """Public tables with a status, the first in order of each host; of the latest, and `also`."""
        public = [tables.c.status == status, tables.c.public, _READABLE]
        if status == "open":  # at some, those who are expected only have to come
            free = seats.c.person.is_(None) & seats.c.bot.is_(None)
            public.append(exists().where(seats.c.table_id == tables.c.id, free))
        latest = select(tables.c.id).where(*public).order_by(tables.c.updated.desc()).limit(LOOKED_AT)
        position = func.row_number().over(partition_by=tables.c.owner, order_by=[*order, tables.c.id])
        ranked = (
            select(tables.c.id, position.label("position"))
            .where(*public, or_(tables.c.id.in_(latest), *also))
            .subquery()
        )
        query = select(tables).join(ranked, ranked.c.id == tables.c.id).where(ranked.c.position == 1)
        return await self._list(query, order[0], limit, *order[1:])

    async def of(self, person: str, limit: int) -> list[RowMapping]:
        """The tables of a person: unfinished ones first, then the latest."""
        mine = select(seats.c.table_id).where(seats.c.person == person)
        return await self._list(
            select(tables).where(tables.c.id.in_(mine)),
            tables.c.status.in_(UNFINISHED).desc(),
            limit,
            tables.c.updated.desc(),
        )

    async def _list(self, query: Any, order: Any, limit: int, *more: Any) -> list[RowMapping]:
        async with self._database.reading() as connection:
            return list((await connection.execute(query.order_by(order, *more).limit(limit))).mappings())

    async def seats(self, ids: Sequence[str]) -> dict[str, list[RowMapping]]:
        """The seats of several tables."""
        found: dict[str, list[RowMapping]] = {table_id: [] for table_id in ids}
        query = select(seats).where(seats.c.table_id.in_(ids)).order_by(seats.c.table_id, seats.c.seat)
        async with self._database.reading() as connection:
            for row in (await connection.execute(query)).mappings():
                found[row["table_id"]].append(row)
        return found

    async def due(self, before: int, limit: int) -> list[str]:
        """Tables at which the server itself should have acted before a time, the longest overdue first."""
        return [table_id for _, table_id in await self.due_page(before, limit)]

    async def due_page(
        self, before: int, limit: int, after: tuple[int, str] | None = None
    ) -> list[tuple[int, str]]:
        """Return the same tables with the times at which the server should have acted.

        `after` is the last one of the page before.
        """
        query = select(tables.c.due, tables.c.id).where(tables.c.due <= before, _READABLE)
        if after is not None:
            query = query.where(tuple_(tables.c.due, tables.c.id) > tuple_(*after))
        query = query.order_by(tables.c.due, tables.c.id).limit(limit)
        async with self._database.reading() as connection:
            return [(row[0], row[1]) for row in await connection.execute(query)]

    async def numbers(self, ids: Sequence[str]) -> dict[str, int]:
        """The last entry's number of several tables."""
        query = select(tables.c.id, tables.c.number).where(tables.c.id.in_(ids))
        async with self._database.reading() as connection:
            return {row[0]: row[1] for row in await connection.execute(query)}

    # ------------------------------------------------------------ tables that cannot be read

    async def quarantine(self, table_id: str, reason: str) -> bool:
        """Put a table aside that cannot be read: nobody is let in, and the server leaves it alone.

        Returns whether it was not there before.
        """
        query = (
            update(tables)
            .where(tables.c.id == table_id, tables.c.quarantined.is_(None))
            .values(quarantined=reason[:LONGEST_REASON] or "unreadable")
        )
        async with self._database.writing() as connection:
            return (await connection.execute(query)).rowcount > 0

    async def release(self, table_id: str) -> bool:
        """Let a table out of quarantine; whether it was there. It is put back if it still cannot be read."""
        query = (
            update(tables)
            .where(tables.c.id == table_id, tables.c.quarantined.is_not(None))
            .values(quarantined=None)
        )
        async with self._database.writing() as connection:
            return (await connection.execute(query)).rowcount > 0

    async def quarantined(self, ids: Sequence[str]) -> set[str]:
        """Those of several tables that are in quarantine."""
        query = select(tables.c.id).where(tables.c.id.in_(ids), tables.c.quarantined.is_not(None))
        async with self._database.reading() as connection:
            return {row[0] for row in await connection.execute(query)}

    async def count_quarantined(self) -> int:
        """Number of tables in quarantine."""
        query = select(func.count()).select_from(tables).where(tables.c.quarantined.is_not(None))
        async with self._database.reading() as connection:
            return int((await connection.execute(query)).scalar_one())

    # ------------------------------------------------------------ who is connected to other processes

    async def set_here(self, people_at: Sequence[tuple[str, str]], until: int) -> None:
        """Note that people are connected to their tables: (table, person)."""
        query = (
            update(seats)
            .where(seats.c.table_id == bindparam("at_table"), seats.c.person == bindparam("who"))
            .values(here_until=bindparam("until"))
        )
        rows = [{"at_table": table, "who": person, "until": until} for table, person in people_at]
        async with self._database.writing() as connection:
            await connection.execute(query, rows)

    async def note_seen(self, table_id: str, person: str, at: int) -> None:
        """Note that a person was at a table at a time, unless it is known that they stay longer."""
        known = func.coalesce(seats.c.here_until, 0)
        query = update(seats).where(seats.c.table_id == table_id, seats.c.person == person, known < at)
        async with self._database.writing() as connection:
            await connection.execute(query.values(here_until=at))

    async def last_here(self, table_id: str, person: str) -> int | None:
        """Until when a person is or was known to be at a table, at any process."""
        query = select(func.max(seats.c.here_until)).where(
            seats.c.table_id == table_id, seats.c.person == person
        )
        async with self._database.reading() as connection:
            found: int | None = (await connection.execute(query)).scalar_one()
            return found

    async def here(self, ids: Sequence[str], after: int) -> dict[str, set[str]]:
        """Who is connected to which of these tables, to any process."""
        found: dict[str, set[str]] = {table_id: set() for table_id in ids}
        query = select(seats.c.table_id, seats.c.person).where(
            seats.c.table_id.in_(ids), seats.c.here_until > after
        )
        async with self._database.reading() as connection:
            for table_id, person in await connection.execute(query):
                found[table_id].add(person)
        return found

    async def unfinished(self, owner: str | None = None) -> int:
        """How many tables are not finished, of all or of one who opened them.

        Those that cannot be read take nobody's place.
        """
        living = (tables.c.status.in_(UNFINISHED), _READABLE)
        query = select(func.count()).select_from(tables).where(*living)
        if owner is not None:
            query = query.where(tables.c.owner == owner)
        async with self._database.reading() as connection:
            return int((await connection.execute(query)).scalar_one())

    async def unfinished_of(self, person: str) -> list[str]:
        """The unfinished tables that a person sits at or has opened."""
        mine = select(seats.c.table_id).where(seats.c.person == person)
        query = select(tables.c.id).where(
            tables.c.status.in_(UNFINISHED), or_(tables.c.owner == person, tables.c.id.in_(mine))
        )
        async with self._database.reading() as connection:
            return [row[0] for row in await connection.execute(query)]

    # ------------------------------------------------------------ daily deals

    async def daily_seed(self, day: str, game: str) -> str | None:
        """The seed of a deal that somebody has begun."""
        query = select(tables.c.seed).where(tables.c.daily == day, tables.c.game == game).limit(1)
        async with self._database.reading() as connection:
            return (await connection.execute(query)).scalar()

    async def attempt(self, day: str, game: str, person: str) -> RowMapping | None:
        """A person's attempt at a deal."""
        query = select(tables).where(tables.c.daily == day, tables.c.game == game, tables.c.owner == person)
        async with self._database.reading() as connection:
            return (await connection.execute(query)).mappings().first()

    async def best(self, day: str, game: str, limit: int, viewer: str | None = None) -> list[RowMapping]:
        """The results of a deal that are listed, the best first, with the names that people have now.

        Those of people who were new when they finished are listed for themselves only.
        """
        query = (
            select(results, people.c.name.label("name_now"), LISTED.label("listed"))
            .join(people, people.c.id == results.c.person, isouter=True)
            .where(results.c.day == day, results.c.game == game)
            .where(LISTED | (results.c.person == viewer))
            .order_by(results.c.rank, results.c.finished)
            .limit(limit)
        )
        async with self._database.reading() as connection:
            return list((await connection.execute(query)).mappings())

    async def result(self, day: str, game: str, person: str) -> RowMapping | None:
        """A person's result of a deal, and whether it is listed."""
        query = (
            select(results, LISTED.label("listed"))
            .join(people, people.c.id == results.c.person, isouter=True)
            .where(results.c.day == day, results.c.game == game, results.c.person == person)
        )
        async with self._database.reading() as connection:
            return (await connection.execute(query)).mappings().first()
