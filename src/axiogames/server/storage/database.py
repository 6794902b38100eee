"""The connection to the database, brought up to the newest schema.

Nothing waits for a database that hangs. A transaction that takes longer than `PATIENCE` is given up. Until a
probe of the database succeeds, all others are refused at once. It is unknown what has become of a commit that
was given up: whoever asked for it has to look.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, suppress
from functools import partial
from types import TracebackType
from typing import Any

import asyncpg
from alembic import command
from prometheus_client import Histogram
from sqlalchemy import Connection, create_engine, event, insert, make_url, text, update
from sqlalchemy.exc import (
    DataError,
    DBAPIError,
    IntegrityError,
    NotSupportedError,
    ProgrammingError,
    SQLAlchemyError,
)
from sqlalchemy.exc import TimeoutError as NoConnectionFree
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine

from ..domain.refusals import Unavailable
from ..metrics import DATABASE, DATABASE_FAILURES, Timed
from ..private_files import make_private_file, make_private_folder
from ..settings import driver_address, sqlite_file
from ..supervisor import spawn
from . import schema
from .schema import alembic_config

PATIENCE = 5.0  # seconds for one transaction
STEPS = 5  # in which patience passes
PROBE = 2.0  # seconds for a database to show that it answers
AGAIN = 0.5  # seconds between two probes
FRESH = 1.0  # seconds after which `check` writes again
BUSY = 4_000  # milliseconds that SQLite waits for a lock of another process

BAD_DATA = "22"  # the class of what PostgreSQL says of values that cannot be
CHECKED = "checked"  # the fact that `check` writes

_LOCK = 7_412_961  # any number that names our lock in PostgreSQL
_OUR_FAULT = (IntegrityError, ProgrammingError, DataError, NotSupportedError)

_READING, _WRITING = DATABASE.labels("read"), DATABASE.labels("write")

log = logging.getLogger(__name__)


class _Patience:
    """A time-out that passes only while the event loop runs.

    A process that gets no processor for a while, or whose rules are being loaded, blames no database.
    """

    __slots__ = ("_left", "_next", "_seconds", "_timeout")

    def __init__(self, seconds: float) -> None:
        self._timeout = asyncio.timeout(None)
        self._seconds, self._left = seconds / STEPS, STEPS

    async def __aenter__(self) -> None:
        await self._timeout.__aenter__()
        self._wait()

    def _wait(self) -> None:
        self._next = asyncio.get_running_loop().call_later(self._seconds, self._step)

    def _step(self) -> None:
        self._left -= 1
        if self._left:
            self._wait()
        else:
            self._timeout.reschedule(0)

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._next.cancel()
        await self._timeout.__aexit__(kind, error, trace)


class Database:
    """An engine for reading and writing. One writer at a time where the database allows only one.

    Every transaction raises `Unavailable` where the database does not answer, refuses connections, or cannot
    write: it is full, locked or may only be read.
    """

    def __init__(self, url: str) -> None:
        self.url = url
        self.on_postgresql = url.startswith("postgresql")
        if not self.on_postgresql and (file := sqlite_file(url)) is not None:
            make_private_folder(file.parent)
            make_private_file(file)
        self.patience = PATIENCE
        self.engine = _engine(url)
        self._writing = asyncio.Lock()
        self._writer = None if self.on_postgresql else _Writer(url)
        self._failing = False  # whether the last transaction has failed
        self._checking: asyncio.Task[str] | None = None
        self._written = -FRESH  # when `check` has last written
        self._in_use = 0  # connections of the pool
        self._idle = asyncio.Event()  # set while none is in use
        self._idle.set()
        self._closed = False
        self._probing: asyncio.Task[None] | None = None  # while it is not known to answer
        self._probed = asyncio.Event()  # set when a probe has failed or succeeded since the last time-out

    async def upgrade(self) -> None:
        """Bring the schema to the newest version."""
        async with self.engine.begin() as connection:
            await connection.run_sync(_upgrade)
        if self._writer is not None:
            # Opened now: later there may be no descriptors left for it.
            await self.transact(_touch)

    @asynccontextmanager
    async def reading(self) -> AsyncIterator[AsyncConnection]:
        """A connection for queries. Raises `Unavailable`."""
        async with self._answering(_READING), self._connection() as connection:
            yield connection

    @asynccontextmanager
    async def writing(self) -> AsyncIterator[AsyncConnection]:
        """A transaction, committed at the end. Raises `Unavailable`; then it is unknown whether it was."""
        async with self._answering(_WRITING):
            if self.on_postgresql:
                async with self._connection() as connection:
                    yield connection
                    await connection.commit()
            else:
                # SQLite has one writer; waiting here is fairer than its own retries.
                async with self._writing, self._connection() as connection:
                    yield connection
                    await connection.commit()

    async def transact(self, work: Callable[[Connection], None]) -> None:
        """Let a function write in a transaction of its own, committed at the end. Raises `Unavailable`.

        For what is done often: on SQLite it is one trip to a thread, where every statement of `writing` is
        several.
        """
        async with self._answering(_WRITING):
            if self._writer is None:
                async with self._connection() as connection:
                    await connection.run_sync(work)
                    await connection.commit()
            else:
                async with self._writing:
                    await self._writer.transact(work)

    async def check(self) -> str:
        """What is wrong with the database, empty if it can be read and written.

        Those who ask at the same time share one answer, and it is written once a second at most.
        """
        if self._checking is None or self._checking.done():
            self._checking = spawn(self._check(), "checking the database")
        return await asyncio.shield(self._checking)

    async def _check(self) -> str:
        try:
            async with self.reading() as connection:
                await connection.execute(text("SELECT 1"))
        except Exception:
            return "the database does not answer"
        if time.monotonic() < self._written + FRESH:
            return ""
        try:
            await self.transact(_write_a_fact)
        except IntegrityError:
            pass  # another process was first to insert it
        except Exception:
            return "the database cannot be written"
        self._written = time.monotonic()
        return ""

    async def close(self) -> None:
        """Close all connections, after those in use have been given back. From now on all is refused."""
        self._closed = True
        if self._probing is not None:
            self._probing.cancel()
        with suppress(TimeoutError):
            async with asyncio.timeout(self.patience):
                await self._idle.wait()  # the pool forgets those in use: nobody would close them
        with suppress(TimeoutError):
            async with asyncio.timeout(self.patience):
                await self.engine.dispose()
        if self._writer is not None:
            self._writer.close()

    # ------------------------------------------------------------ a database that does not answer

    @asynccontextmanager
    async def _answering(self, seconds: Histogram) -> AsyncIterator[None]:
        """Give up after `patience`. Raises `Unavailable` for everything that is the database's fault."""
        if self._probing is not None:
            await self._probed.wait()
            if self._probing is not None:
                raise Unavailable
        try:
            with Timed(seconds):
                async with _Patience(self.patience):
                    yield
        except (SQLAlchemyError, OSError) as error:
            if not is_unavailable(error):
                raise
            if not self._failing:
                log.warning("the database is not available: %s", reason(error) or type(error).__name__)
            self._failing = True
            DATABASE_FAILURES.inc()
            if isinstance(error, TimeoutError):
                self._suspect()
            raise Unavailable from error
        if self._failing:
            log.warning("the database is available again")
            self._failing = False

    @asynccontextmanager
    async def _connection(self) -> AsyncIterator[AsyncConnection]:
        """A connection of the pool. Whoever stops waiting, it is given back: later, if need be."""
        if self._closed:
            raise Unavailable
        connection = self.engine.connect()
        self._count(1)
        # Never cancelled: SQLAlchemy loses a connection whose opening is given up half-way.
        start = asyncio.ensure_future(connection.start())
        try:
            await asyncio.shield(start)
            yield connection
            await self._give_back(connection)
        except asyncio.CancelledError:  # given up, or whoever asked is gone: a rollback may never end
            spawn(self._release(connection, start), "giving a connection to the database back")
            raise
        except BaseException:
            await self._release(connection, start)
            raise
        self._count(-1)

    async def _release(self, connection: AsyncConnection, start: asyncio.Future[Any]) -> None:
        """Give a connection back after a failure, or cut it off if that takes too long."""
        try:
            try:
                await start
            except Exception:
                return  # told to whoever asked for the connection
            driver = _driver_connection(connection)
            try:
                async with asyncio.timeout(PROBE):
                    await self._give_back(connection)
            except TimeoutError:
                if self.on_postgresql and driver is not None:
                    driver.terminate()
        finally:
            self._count(-1)

    async def _give_back(self, connection: AsyncConnection) -> None:
        if self._closed and not connection.closed:
            await connection.invalidate()  # the pool that it goes back to may be gone
        await connection.close()

    def _count(self, more: int) -> None:
        self._in_use += more
        if self._in_use:
            self._idle.clear()
        else:
            self._idle.set()

    def _suspect(self) -> None:
        """Refuse everything until the database answers."""
        if self._probing is None:
            self._probed.clear()
            self._probing = spawn(self._probe(), "the probe of the database")

    async def _probe(self) -> None:
        try:
            while True:
                with suppress(Exception):
                    async with asyncio.timeout(PROBE):
                        await self._ask()
                        return
                self._probed.set()
                await asyncio.sleep(AGAIN)
        finally:
            self._probing = None
            self._probed.set()

    async def _ask(self) -> None:
        """See whether the database answers: PostgreSQL on a new connection, SQLite in its own thread."""
        if self._writer is not None:
            await self._writer.transact(lambda connection: None)
            return
        connection = await asyncpg.connect(driver_address(self.url))
        try:
            await connection.execute("SELECT 1")
        finally:
            connection.terminate()


def _driver_connection(connection: AsyncConnection) -> Any:
    """The driver's own connection, `None` if it is lost."""
    inner = connection.sync_connection
    if inner is None or inner.closed or inner.invalidated:
        return None
    return inner.connection.driver_connection


def is_unavailable(error: Exception) -> bool:
    """Whether an error is the fault of the database or the disk, not of what was asked."""
    if isinstance(error, _OUR_FAULT):
        return False
    state = getattr(getattr(error, "orig", None), "sqlstate", None)
    if isinstance(state, str) and state.startswith(BAD_DATA):
        return False
    return isinstance(error, (DBAPIError, NoConnectionFree, OSError))  # a TimeoutError is an OSError


def reason(error: BaseException) -> str:
    """The driver's own words only: SQLAlchemy adds lines, and an address may hold a password."""
    return str(getattr(error, "orig", None) or error).partition("\n")[0]


def _write_a_fact(connection: Connection) -> None:
    values = {"value": str(time.time_ns() // 1_000_000)}
    fact = schema.server_facts
    if not connection.execute(update(fact).where(fact.c.name == CHECKED).values(values)).rowcount:
        connection.execute(insert(fact), [{"name": CHECKED, **values}])


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
        # The driver reads the address, as it does for notices: SQLAlchemy knows no `sslmode`.
        return create_async_engine(
            "postgresql+asyncpg://",
            async_creator=partial(asyncpg.connect, driver_address(url), timeout=PATIENCE),
            pool_size=8,
            max_overflow=8,
            pool_timeout=PATIENCE,
            pool_pre_ping=True,
            hide_parameters=True,
        )
    engine = create_async_engine(url, hide_parameters=True, pool_timeout=PATIENCE)
    event.listen(engine.sync_engine, "connect", _prepare)
    return engine


def _prepare(connection: Any, _: object) -> None:
    """Set up a new connection to SQLite."""
    cursor = connection.cursor()
    # FULL: what is committed survives a power cut, not only the death of the process.
    for pragma in ("journal_mode=WAL", "synchronous=FULL", f"busy_timeout={BUSY}", "foreign_keys=ON"):
        cursor.execute(f"PRAGMA {pragma}")
    cursor.close()


def _touch(connection: Connection) -> None:
    """Make SQLite open all files that it needs."""
    connection.exec_driver_sql("SELECT version_num FROM alembic_version")


def _upgrade(connection: Connection) -> None:
    if connection.dialect.name == "postgresql":
        # Several processes may start at once; the lock is given back with the transaction.
        connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({_LOCK})")
    config = alembic_config()
    config.attributes["connection"] = connection
    command.upgrade(config, "head")
