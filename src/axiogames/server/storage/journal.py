"""Journal of all tables, with group commit, and notifications between processes.

Entries are committed before they are broadcast. Entries that arrive during a commit share the next one, so
many tables share the cost of waiting for the disk. On PostgreSQL each commit also notifies the other
processes.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias

import asyncpg
from sqlalchemy import Connection, bindparam, case, insert, text, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncConnection

from . import schema
from .database import Database

MAX_BATCH = 500  # appends per commit
CHANNEL = "entries"
MAX_TABLES_PER_NOTIFICATION = 150  # a payload of PostgreSQL has at most 8,000 bytes
PERSON_PREFIX = "@"  # distinguishes ids of people from ids of tables in a payload
KEEPALIVE_SECONDS = 15.0  # test the connection after this time without a notification
CONNECT_TIMEOUT = 5.0


class EntryConflict(Exception):
    """Another process committed an entry with this number first."""


@dataclass(frozen=True, slots=True)
class JournalEntry:
    """An entry to append, with the derived columns of other tables."""

    table_id: str
    number: int
    at: int
    body: str
    summary: dict[str, Any]  # derived columns of `tables`
    seats: tuple[dict[str, Any], ...] = ()  # changed rows of `seats`
    result: dict[str, Any] | None = None  # new row of `results`


PendingAppend: TypeAlias = tuple[
    tuple[JournalEntry, ...], asyncio.Future[None]
]  # entries of one table, all or none

_INSERT = insert(schema.entries)
_UPDATE_TABLE = (
    update(schema.tables)
    .where(schema.tables.c.id == bindparam("at_table"))
    .values({name: bindparam(name) for name in ("updated", "number", "moves", "status", "turn", "due")})
)
# A person who stays keeps the name in the row: another process may have changed it.
_SAME_PERSON = schema.seats.c.person == bindparam("person")
_UPDATE_SEAT = (
    update(schema.seats)
    .where(schema.seats.c.table_id == bindparam("at_table"), schema.seats.c.seat == bindparam("at_seat"))
    .values(
        person=bindparam("person"),
        name=case((_SAME_PERSON, schema.seats.c.name), else_=bindparam("name")),
        bot=bindparam("bot"),
    )
)


class Journal:
    """Appends the entries of all tables of this process."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._waiting: list[PendingAppend] = []
        self._working: asyncio.Task[None] | None = None
        self.commits = 0
        self.appended = 0

    def append(self, *entries: JournalEntry) -> asyncio.Future[None]:
        """Append entries of one table, all or none, and return a future that completes with the commit.

        The future raises `EntryConflict` if an entry number is taken.
        """
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append((entries, done))
        if self._working is None:
            self._working = asyncio.create_task(self._work())
        return done

    async def close(self) -> None:
        """Wait until all entries are written."""
        while self._working is not None:
            await asyncio.wait([self._working])

    async def _work(self) -> None:
        try:
            while self._waiting:
                batch = self._waiting[:MAX_BATCH]
                del self._waiting[:MAX_BATCH]
                await self._commit(batch)
        finally:
            self._working = None

    async def _commit(self, batch: Sequence[PendingAppend]) -> None:
        written = [entry for entries, _ in batch for entry in entries]
        try:
            await self._database.transact(partial(write_entries, written))
        except IntegrityError as error:
            if len(batch) == 1:
                _fail(batch, EntryConflict(written[0].table_id))
                return
            # An entry conflicts. Commit the appends separately, so that the others succeed.
            del error
            for append in batch:
                await self._commit([append])
        except Exception as error:  # every waiting caller must get a result
            _fail(batch, error)
        else:
            self.commits += 1
            self.appended += len(written)
            for _, done in batch:
                if not done.done():
                    done.set_result(None)


def write_entries(batch: Sequence[JournalEntry], connection: Connection) -> None:
    """Write entries and the derived columns, as part of a transaction."""
    connection.execute(
        _INSERT, [{"table_id": e.table_id, "number": e.number, "at": e.at, "body": e.body} for e in batch]
    )
    connection.execute(_UPDATE_TABLE, [{**e.summary, "at_table": e.table_id} for e in batch])
    if seats := [{**row, "at_table": e.table_id, "at_seat": row["seat"]} for e in batch for row in e.seats]:
        connection.execute(_UPDATE_SEAT, seats)
    if results := [e.result for e in batch if e.result is not None]:
        connection.execute(insert(schema.results), results)
    if connection.dialect.name == "postgresql":
        _notify(connection, [f"{e.table_id}:{e.number}" for e in batch])


def _notify(connection: Connection, written: Sequence[str]) -> None:
    """Notify other processes as part of the transaction: PostgreSQL sends it on commit."""
    for start in range(0, len(written), MAX_TABLES_PER_NOTIFICATION):
        connection.execute(
            text("SELECT pg_notify(:channel, :tables)"),
            {"channel": CHANNEL, "tables": " ".join(written[start : start + MAX_TABLES_PER_NOTIFICATION])},
        )


def _fail(batch: Sequence[PendingAppend], error: Exception) -> None:
    for _, done in batch:
        if not done.done():
            done.set_exception(error)


# ------------------------------------------------------------ notifications (PostgreSQL)


async def notify_person_changed(connection: AsyncConnection, person: str) -> None:
    """Notify other processes of a changed person, as part of a transaction."""
    if connection.dialect.name == "postgresql":
        notice = {"channel": CHANNEL, "notice": f"{PERSON_PREFIX}{person}"}
        await connection.execute(text("SELECT pg_notify(:channel, :notice)"), notice)


class ConnectionLost(ConnectionError):
    """The `LISTEN` connection to PostgreSQL was lost."""


async def notifications(dsn: str) -> AsyncGenerator[str | None, None]:
    """Yield the payloads of notifications, after an initial `None` once listening has begun.

    Raises `ConnectionLost`, or an error of the driver, when the connection fails.
    """
    payloads: asyncio.Queue[str | None] = asyncio.Queue()
    connection = await asyncpg.connect(dsn, timeout=CONNECT_TIMEOUT, command_timeout=CONNECT_TIMEOUT)
    try:
        connection.add_termination_listener(lambda _: payloads.put_nowait(None))
        await connection.add_listener(CHANNEL, lambda *args: payloads.put_nowait(str(args[3])))
        yield None
        while (notice := await _next_notification(payloads, connection)) is not None:
            yield notice
        raise ConnectionLost("lost the LISTEN connection to PostgreSQL; reconnecting")
    finally:
        connection.terminate()


async def _next_notification(payloads: asyncio.Queue[str | None], connection: Any) -> str | None:
    """Return the next payload, `None` when the connection has ended.

    A silent connection may be dead, so it is tested after `KEEPALIVE_SECONDS` without a notification.
    """
    while True:
        try:
            async with asyncio.timeout(KEEPALIVE_SECONDS):
                return await payloads.get()
        except TimeoutError:
            await connection.execute(f"LISTEN {CHANNEL}")  # idempotent
