"""Facts about the server itself, kept in its database."""

from __future__ import annotations

from sqlalchemy import Connection, insert, inspect, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from .schema import server_facts


def read_fact(connection: Connection, name: str) -> str | None:
    """Return a fact, `None` if it is not known, or if the database does not have facts yet."""
    if not inspect(connection).has_table(server_facts.name):
        return None
    return connection.execute(select(server_facts.c.value).where(server_facts.c.name == name)).scalar()


async def write_fact(connection: AsyncConnection, name: str, value: str) -> None:
    """Keep a fact in place of what was known before."""
    known = server_facts.c.name == name
    done = await connection.execute(update(server_facts).where(known).values(value=value))
    if not done.rowcount:
        await connection.execute(insert(server_facts), [{"name": name, "value": value}])
