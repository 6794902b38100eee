"""Notices between processes: what one has committed to PostgreSQL, the others hear of."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from typing import Any

import asyncpg
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection

from .journal import CHANNEL

PERSON = "@"  # what the name of a person begins with in a notice, where otherwise a table's stands

QUIET = 15.0  # seconds without a notice before the connection is tried
TIMEOUT = 5.0  # seconds for the database to answer


async def announce_person(connection: AsyncConnection, person: str) -> None:
    """Tell other processes that a person has changed, as part of a transaction."""
    if connection.dialect.name == "postgresql":
        notice = {"channel": CHANNEL, "notice": f"{PERSON}{person}"}
        await connection.execute(text("SELECT pg_notify(:channel, :notice)"), notice)


class ConnectionLost(ConnectionError):
    """The connection on which notices come has ended."""


async def notices(dsn: str) -> AsyncGenerator[str | None, None]:
    """What is told on our channel; `None` first, when nothing is missed any more.

    Raises `ConnectionLost`, or what the driver raises, when the connection cannot be opened or ends.
    """
    heard: asyncio.Queue[str | None] = asyncio.Queue()
    connection = await asyncpg.connect(dsn, timeout=TIMEOUT, command_timeout=TIMEOUT)
    try:
        connection.add_termination_listener(lambda _: heard.put_nowait(None))
        await connection.add_listener(CHANNEL, lambda *told: heard.put_nowait(str(told[3])))
        yield None
        while (notice := await _next(heard, connection)) is not None:
            yield notice
        raise ConnectionLost("the database has closed the connection on which notices come")
    finally:
        connection.terminate()


async def _next(heard: asyncio.Queue[str | None], connection: Any) -> str | None:
    """The next notice, or `None` when the connection has ended.

    After a while without notices the database is asked for a sign of life. A connection that hangs, or whose
    other end has gone without a word, looks like one on which nothing is said.
    """
    while True:
        try:
            async with asyncio.timeout(QUIET):
                return await heard.get()
        except TimeoutError:
            await connection.execute(f"LISTEN {CHANNEL}")  # once more, which changes nothing
