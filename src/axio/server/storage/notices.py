"""Notices between processes: what one has committed to PostgreSQL, the others hear of."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator
from contextlib import aclosing

import asyncpg

from .journal import CHANNEL

AGAIN = 1.0  # seconds before a lost connection is tried again

log = logging.getLogger(__name__)


async def notices(dsn: str) -> AsyncGenerator[str, None]:
    """What is told on our channel, forever; a lost connection is opened again.

    What was told meanwhile is missed. Whoever listens looks into the database from time to time anyway.
    """
    while True:
        try:
            async with aclosing(_until_lost(dsn)) as told:
                async for notice in told:
                    yield notice
        except (OSError, asyncpg.PostgresError, asyncpg.InterfaceError, TimeoutError) as error:
            log.warning("the line to the database is broken: %s", type(error).__name__)
        await asyncio.sleep(AGAIN)


async def _until_lost(dsn: str) -> AsyncGenerator[str, None]:
    heard: asyncio.Queue[str | None] = asyncio.Queue()
    connection = await asyncpg.connect(dsn)
    try:
        connection.add_termination_listener(lambda _: heard.put_nowait(None))
        await connection.add_listener(CHANNEL, lambda *told: heard.put_nowait(str(told[3])))
        while (notice := await heard.get()) is not None:
            yield notice
    finally:
        await connection.close(timeout=2)
