"""What is asked of tables, and how new ones are opened."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import RowMapping, bindparam, func, insert, select, update

from .database import Database
from .schema import entries, people, results, seats, tables

UNFINISHED = ("open", "playing")


class TableStore:
    """Reads tables and their entries; opens tables."""

    def __init__(self, database: Database) -> None:
        self._database = database

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

    async def waiting(self, limit: int) -> list[RowMapping]:
        """Public tables with a free seat, the newest first."""
        return await self._list(
            select(tables).where(tables.c.status == "open", tables.c.public), tables.c.created.desc(), limit
        )

    async def live(self, limit: int) -> list[RowMapping]:
        """Public tables in play, the liveliest first."""
        return await self._list(
            select(tables).where(tables.c.status == "playing", tables.c.public),
            tables.c.updated.desc(),
            limit,
        )

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
        """Tables at which the server itself should have acted before a time."""
        query = select(tables.c.id).where(tables.c.due <= before).order_by(tables.c.due).limit(limit)
        async with self._database.reading() as connection:
            return [row[0] for row in await connection.execute(query)]

    async def numbers(self, ids: Sequence[str]) -> dict[str, int]:
        """The last entry's number of several tables."""
        query = select(tables.c.id, tables.c.number).where(tables.c.id.in_(ids))
        async with self._database.reading() as connection:
            return {row[0]: row[1] for row in await connection.execute(query)}

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
        """How many tables are not finished, of all or of one who opened them."""
        query = select(func.count()).select_from(tables).where(tables.c.status.in_(UNFINISHED))
        if owner is not None:
            query = query.where(tables.c.owner == owner)
        async with self._database.reading() as connection:
            return int((await connection.execute(query)).scalar_one())

    # ------------------------------------------------------------ daily deals

    async def attempt(self, day: str, game: str, person: str) -> RowMapping | None:
        """A person's attempt at a deal."""
        query = select(tables).where(tables.c.daily == day, tables.c.game == game, tables.c.owner == person)
        async with self._database.reading() as connection:
            return (await connection.execute(query)).mappings().first()

    async def best(self, day: str, game: str, limit: int) -> list[RowMapping]:
        """The results of a deal, the best first, with the names that people have now."""
        query = (
            select(results, people.c.name.label("name_now"))
            .join(people, people.c.id == results.c.person, isouter=True)
            .where(results.c.day == day, results.c.game == game)
            .order_by(results.c.rank, results.c.finished)
            .limit(limit)
        )
        async with self._database.reading() as connection:
            return list((await connection.execute(query)).mappings())

    async def result(self, day: str, game: str, person: str) -> RowMapping | None:
        """A person's result of a deal."""
        query = select(results).where(
            results.c.day == day, results.c.game == game, results.c.person == person
        )
        async with self._database.reading() as connection:
            return (await connection.execute(query)).mappings().first()
