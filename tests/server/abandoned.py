"""Helpers that insert old tables and people into a database."""

from __future__ import annotations

from typing import Any

from sqlalchemy import func, insert, select, update

from axiogames.server.domain.entries import BotSeated, SeatTaken, TableEntry
from axiogames.server.domain.game_state import TableConfig, now
from axiogames.server.lifespan import Server
from axiogames.server.storage.database import Database
from axiogames.server.storage.schema import people, tables
from tests.server.rooms import table_config

DAY = 24 * 3600 * 1000
NOW = now()

ANN, BOB = SeatTaken(0, "ann", "Ann"), SeatTaken(1, "bob", "Bob")
BOT = BotSeated(1, "random")


async def put_table(server: Server, id: str, log: list[TableEntry], days: float = 0, **columns: Any) -> str:
    """Insert a table last changed `days` ago, and drop its room from memory."""
    config: TableConfig = table_config(id=id)
    await server.rooms.open(config, log)
    server.rooms.drop(id)
    await set_columns(server.database, tables, id, updated=NOW - int(days * DAY), **columns)
    return id


async def put_person(server: Server, id: str, days: float = 0, **columns: Any) -> str:
    """Insert a person whose only visit was `days` ago."""
    row = {"id": id, "name": id.title(), "epoch": 0, "created": NOW - int(days * DAY), **columns}
    async with server.database.writing() as connection:
        await connection.execute(insert(people), [row])
    return id


async def set_columns(database: Database, table: Any, id: str, **columns: Any) -> None:
    async with database.writing() as connection:
        await connection.execute(update(table).where(table.c.id == id).values(**columns))


async def statuses(database: Database) -> dict[str, str]:
    """Return the status of every table."""
    async with database.reading() as connection:
        rows = await connection.execute(select(tables.c.id, tables.c.status).order_by(tables.c.id))
        return {row.id: row.status for row in rows}


async def count(database: Database, table: Any) -> int:
    async with database.reading() as connection:
        return int((await connection.execute(select(func.count()).select_from(table))).scalar_one())


async def ids(database: Database, table: Any) -> set[str]:
    async with database.reading() as connection:
        return {row[0] for row in await connection.execute(select(table.c.id))}
