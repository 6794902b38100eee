"""Cancellation at any await: no connection stays open after `Database.close`."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import aiosqlite
import pytest
from sqlalchemy import text

from axiogames.server.domain.refusals import Unavailable
from axiogames.server.storage.database import Database
from tests.server.rooms import run


class DriverCalls:
    """Calls a function at the n-th call into a connection's thread, and tracks all connections."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.connections: list[aiosqlite.Connection] = []
        self.remaining = 0
        self.action: Callable[[], object] = int
        driver: Any = aiosqlite.Connection
        connect, execute = driver._connect, driver._execute

        async def connected(connection: aiosqlite.Connection) -> Any:
            self.connections.append(connection)
            self._count()
            return await connect(connection)

        async def executed(connection: aiosqlite.Connection, *args: Any, **named: Any) -> Any:
            self._count()
            return await execute(connection, *args, **named)

        monkeypatch.setattr(driver, "_connect", connected)
        monkeypatch.setattr(driver, "_execute", executed)

    def _count(self) -> None:
        self.remaining -= 1
        if self.remaining == 0:
            self.action()

    @property
    def open(self) -> int:
        return sum(connection._connection is not None for connection in self.connections)


async def _read(database: Database) -> None:
    async with database.reading() as connection:
        await connection.execute(text("SELECT 1"))


@pytest.mark.parametrize("waits", [False, True], ids=["closed at once", "closed later"])
def test_cancellation_at_every_await_leaks_no_connection(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, waits: bool
) -> None:
    calls = DriverCalls(monkeypatch)

    async def cancel_at(call: int) -> bool:
        """Cancel a read at its n-th driver call, and return whether it got so far."""
        database = Database(f"sqlite+aiosqlite:///{tmp_path / f'{call}.db'}")
        reading = asyncio.create_task(_read(database))
        calls.remaining, calls.action = call, reading.cancel
        await asyncio.wait([reading])
        reached = calls.remaining <= 0
        if waits:
            await _read(database)
        await database.close()
        assert calls.open == 0, f"cancelled at call {call}"
        return reached

    async def work() -> None:
        for call in itertools.count(1):
            if not await cancel_at(call):
                break
        assert call > 8  # connect, four pragmas, SQLAlchemy's first queries, the query, the release

    run(work)


def test_close_during_reads_leaks_no_connection(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = DriverCalls(monkeypatch)

    async def work() -> None:
        database = Database(f"sqlite+aiosqlite:///{tmp_path / 'axio.db'}")
        reads, closing = asyncio.Event(), asyncio.Event()

        async def read() -> None:
            async with database.reading() as connection:
                reads.set()
                await closing.wait()
                await connection.execute(text("SELECT 1"))

        reading = asyncio.create_task(read())
        await reads.wait()
        close = asyncio.create_task(database.close())
        await asyncio.sleep(0)
        closing.set()
        await asyncio.gather(reading, close)
        assert calls.open == 0

    run(work)


def test_close_does_not_wait_for_late_connections(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = DriverCalls(monkeypatch)

    async def work() -> None:
        database = Database(f"sqlite+aiosqlite:///{tmp_path / 'axio.db'}")
        database.timeout = 0.05
        held = database._connection()
        await held.__aenter__()
        await database.close()
        assert calls.open == 1
        await held.__aexit__(None, None, None)
        assert calls.open == 0

    run(work)


def test_reads_after_close_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A connection opened after `close` would never be closed."""
    calls = DriverCalls(monkeypatch)

    async def work() -> None:
        database = Database(f"sqlite+aiosqlite:///{tmp_path / 'axio.db'}")
        await _read(database)
        await database.close()
        with pytest.raises(Unavailable):
            await _read(database)
        assert calls.open == 0

    run(work)
