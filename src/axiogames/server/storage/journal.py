"""The journal: entries of all tables, appended and committed before anybody hears of them.

Entries that come while a commit is under way share the next one. So a commit, which has to wait for the disk,
is paid once by many tables.
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

CHANNEL = "entries"
MOST_AT_ONCE = 500
MOST_NAMED = 150  # tables that one notice names: PostgreSQL takes 8,000 bytes


class Conflict(Exception):
    """The number has been taken: somebody else wrote this entry first."""


@dataclass(frozen=True, slots=True)
class Entry:
    """An entry to be appended, with what changes in the tables that repeat of it."""

    table_id: str
    number: int
    at: int
    body: str
    summary: dict[str, Any]  # the columns of `tables` that follow from the entries
    seats: tuple[dict[str, Any], ...] = ()  # rows of `seats` that change
    result: dict[str, Any] | None = None  # a row of `results`


Waiting: TypeAlias = tuple[tuple[Entry, ...], asyncio.Future[None]]  # entries of one table, all or none

_INSERT = insert(schema.entries)
_SUMMARY = (
    update(schema.tables)
    .where(schema.tables.c.id == bindparam("at_table"))
    .values({name: bindparam(name) for name in ("updated", "number", "moves", "status", "turn", "due")})
)
# The name of a person who stays on a seat stays, too: another process may have given them another one.
_STAYS = schema.seats.c.person == bindparam("person")
_SEAT = (
    update(schema.seats)
    .where(schema.seats.c.table_id == bindparam("at_table"), schema.seats.c.seat == bindparam("at_seat"))
    .values(
        person=bindparam("person"),
        name=case((_STAYS, schema.seats.c.name), else_=bindparam("name")),
        bot=bindparam("bot"),
    )
)


class Journal:
    """Appends entries for all tables of this process."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._waiting: list[Waiting] = []
        self._working: asyncio.Task[None] | None = None
        self.commits = 0
        self.appended = 0

    def append(self, *entries: Entry) -> asyncio.Future[None]:
        """Done when the entries are committed, all or none. Raises `Conflict` if a number has been taken."""
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append((entries, done))
        if self._working is None:
            self._working = asyncio.create_task(self._work())
        return done

    async def close(self) -> None:
        """Wait until everything is written."""
        while self._working is not None:
            await asyncio.wait([self._working])

    async def _work(self) -> None:
        try:
            while self._waiting:
                batch = self._waiting[:MOST_AT_ONCE]
                del self._waiting[:MOST_AT_ONCE]
                await self._commit(batch)
        finally:
            self._working = None

    async def _commit(self, batch: Sequence[Waiting]) -> None:
        written = [entry for entries, _ in batch for entry in entries]
        try:
            await self._database.transact(partial(write_entries, written))
        except IntegrityError as error:
            if len(batch) == 1:
                _fail(batch, Conflict(written[0].table_id))
                return
            # One of them is at fault; the others must not suffer for it.
            del error
            for one in batch:
                await self._commit([one])
        except Exception as error:  # whatever it is, nobody may wait forever
            _fail(batch, error)
        else:
            self.commits += 1
            self.appended += len(written)
            for _, done in batch:
                if not done.done():
                    done.set_result(None)


def write_entries(batch: Sequence[Entry], connection: Connection) -> None:
    """Write entries and what repeats of them, as part of a transaction."""
    connection.execute(
        _INSERT, [{"table_id": e.table_id, "number": e.number, "at": e.at, "body": e.body} for e in batch]
    )
    connection.execute(_SUMMARY, [{**e.summary, "at_table": e.table_id} for e in batch])
    if seats := [{**row, "at_table": e.table_id, "at_seat": row["seat"]} for e in batch for row in e.seats]:
        connection.execute(_SEAT, seats)
    if results := [e.result for e in batch if e.result is not None]:
        connection.execute(insert(schema.results), results)
    if connection.dialect.name == "postgresql":
        _notify(connection, [f"{e.table_id}:{e.number}" for e in batch])


def _notify(connection: Connection, written: Sequence[str]) -> None:
    """Tell other processes, as part of the transaction: they hear of it when it is committed, or never."""
    for first in range(0, len(written), MOST_NAMED):
        connection.execute(
            text("SELECT pg_notify(:channel, :tables)"),
            {"channel": CHANNEL, "tables": " ".join(written[first : first + MOST_NAMED])},
        )


def _fail(batch: Sequence[Waiting], error: Exception) -> None:
    for _, done in batch:
        if not done.done():
            done.set_exception(error)


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
