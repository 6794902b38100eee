"""Direct reads of tables from the database, beside the server or after a crash."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine
from sqlalchemy.pool import NullPool

from axiogames.server.storage.schema import entries, seats, tables
from tests.server.crash.ledger import Json


@dataclass(frozen=True, slots=True)
class StoredTable:
    """Stored state of one table."""

    row: Json
    seats: list[Json]
    entries: list[tuple[int, int, str]]  # number, time, body


def reader(url: str) -> AsyncEngine:
    """Engine for reads without side effects.

    On SQLite, the last connection with write access checkpoints the WAL when it closes. The next server would
    then not find the files as the crash left them.
    """
    if url.startswith("sqlite"):
        path = url.partition(":///")[2]
        return create_async_engine(f"sqlite+aiosqlite:///file:{path}?mode=ro&uri=true", poolclass=NullPool)
    return create_async_engine(url, isolation_level="REPEATABLE READ")


async def read(engine: AsyncEngine, ids: Sequence[str] | None) -> dict[str, StoredTable]:
    """Return some or all tables from one consistent snapshot."""
    found = []
    async with engine.connect() as connection:
        for table, key in ((tables, tables.c.id), (seats, seats.c.table_id), (entries, entries.c.table_id)):
            query = select(table) if ids is None else select(table).where(key.in_(ids))
            found.append((await connection.execute(query)).mappings().all())
    stored = {row["id"]: StoredTable(dict(row), [], []) for row in found[0]}
    for row in sorted(found[1], key=lambda row: row["seat"]):
        stored[row["table_id"]].seats.append(dict(row))
    for row in sorted(found[2], key=lambda row: row["number"]):
        stored[row["table_id"]].entries.append((row["number"], row["at"], row["body"]))
    return stored


async def bots_to_move(engine: AsyncEngine) -> list[str]:
    """Return the tables at which a bot is to move."""
    turn = (seats.c.table_id == tables.c.id) & (seats.c.seat == tables.c.turn)
    query = select(tables.c.id).join(seats, turn).where(seats.c.bot.is_not(None))
    async with engine.connect() as connection:
        return list((await connection.execute(query)).scalars())


async def finished(engine: AsyncEngine) -> list[str]:
    """Return the tables with a finished game."""
    async with engine.connect() as connection:
        return list(
            (await connection.execute(select(tables.c.id).where(tables.c.status == "over"))).scalars()
        )
