"""The connection to the database, brought up to the newest schema."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from importlib import resources
from pathlib import Path
from typing import Any

from alembic import command
from alembic.config import Config
from sqlalchemy import Connection, create_engine, event, make_url
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine

MIGRATIONS = "migrations"
_LOCK = 7_412_961  # any number that names our lock in PostgreSQL


class Database:
    """An engine for reading and writing. One writer at a time where the database allows only one."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.on_postgresql = url.startswith("postgresql")
        if not self.on_postgresql:
            Path(url.partition(":///")[2]).parent.mkdir(parents=True, exist_ok=True)
        self.engine = _engine(url)
        self._writing = asyncio.Lock()
        self._writer = None if self.on_postgresql else _Writer(url)

    async def upgrade(self) -> None:
        """Bring the schema to the newest version."""
        async with self.engine.begin() as connection:
            await connection.run_sync(_upgrade)

    @asynccontextmanager
    async def reading(self) -> AsyncIterator[AsyncConnection]:
        """A connection for queries."""
        async with self.engine.connect() as connection:
            yield connection

    @asynccontextmanager
    async def writing(self) -> AsyncIterator[AsyncConnection]:
        """A transaction, committed at the end."""
        if self.on_postgresql:
            async with self.engine.begin() as connection:
                yield connection
            return
        # SQLite has one writer; waiting here is fairer than its own retries.
        async with self._writing, self.engine.begin() as connection:
            yield connection

    async def transact(self, work: Callable[[Connection], None]) -> None:
        """Let a function write in a transaction of its own, committed at the end.

        For what is done often: on SQLite it is one trip to a thread, where every statement of `writing` is
        several.
        """
        if self._writer is None:
            async with self.engine.begin() as connection:
                await connection.run_sync(work)
        else:
            async with self._writing:
                await self._writer.transact(work)

    async def close(self) -> None:
        """Give all connections back."""
        await self.engine.dispose()
        if self._writer is not None:
            self._writer.close()


class _Writer:
    """A thread with a connection of its own to write to SQLite."""

    def __init__(self, url: str) -> None:
        self._engine = create_engine(make_url(url).set(drivername="sqlite"), hide_parameters=True)
        event.listen(self._engine, "connect", _prepare)
        self._thread = ThreadPoolExecutor(1, "writer")

    async def transact(self, work: Callable[[Connection], None]) -> None:
        await asyncio.get_running_loop().run_in_executor(self._thread, self._transact, work)

    def _transact(self, work: Callable[[Connection], None]) -> None:
        with self._engine.begin() as connection:
            work(connection)

    def close(self) -> None:
        self._thread.shutdown()
        self._engine.dispose()


def _engine(url: str) -> AsyncEngine:
    # Errors end up in logs: they must not say what was to be written, hands and seeds among it.
    if url.startswith("postgresql"):
        return create_async_engine(url, pool_size=8, max_overflow=8, pool_pre_ping=True, hide_parameters=True)
    engine = create_async_engine(url, hide_parameters=True)
    event.listen(engine.sync_engine, "connect", _prepare)
    return engine


def _prepare(connection: Any, _: object) -> None:
    """Set up a new connection to SQLite."""
    cursor = connection.cursor()
    # FULL: what is committed survives a power cut, not only the death of the process.
    for pragma in ("journal_mode=WAL", "synchronous=FULL", "busy_timeout=10000", "foreign_keys=ON"):
        cursor.execute(f"PRAGMA {pragma}")
    cursor.close()


def _upgrade(connection: Connection) -> None:
    if connection.dialect.name == "postgresql":
        # Several processes may start at once; the lock is given back with the transaction.
        connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({_LOCK})")
    config = Config()
    config.set_main_option("script_location", str(resources.files(__package__) / MIGRATIONS))
    config.attributes["connection"] = connection
    command.upgrade(config, "head")
