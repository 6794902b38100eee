"""Database connections: transactions with timeouts, availability checks and schema upgrades.

A hanging database does not block the server. A transaction is cancelled after `TRANSACTION_TIMEOUT`; all
others are then refused at once until a probe of the database succeeds. The outcome of a cancelled commit is
unknown: the caller has to read the database again.
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
from ..metrics import DATABASE_FAILURES, TRANSACTIONS, Timer
from ..private_files import make_private_file, make_private_folder
from ..settings import driver_url, sqlite_file
from ..supervisor import spawn
from . import schema
from .schema import alembic_config

TRANSACTION_TIMEOUT = 5.0  # seconds for one transaction
TIMEOUT_STEPS = 5  # steps of a timeout, see `_LoopTimeout`
PROBE_TIMEOUT = 2.0  # seconds for an answer to a probe
PROBE_INTERVAL = 0.5  # seconds between probes
CHECK_INTERVAL = 1.0  # minimum seconds between writes of `check`
SQLITE_BUSY_TIMEOUT_MS = 4_000  # for which SQLite waits for a lock of another process

DATA_EXCEPTION = "22"  # SQLSTATE class of PostgreSQL for invalid values
CHECK_FACT = "checked"  # name of the fact that `check` writes

_MIGRATION_LOCK_ID = 7_412_961  # arbitrary id of the advisory lock in PostgreSQL
_CALLER_ERRORS = (IntegrityError, ProgrammingError, DataError, NotSupportedError)

_READ_SECONDS, _WRITE_SECONDS = TRANSACTIONS.labels("read"), TRANSACTIONS.labels("write")

log = logging.getLogger(__name__)


class _LoopTimeout:
    """A timeout that elapses in steps, and so only while the event loop runs.

    A process that is suspended or loads compiled rules must not mistake this for a database outage.
    """

    __slots__ = ("_handle", "_left", "_seconds", "_timeout")

    def __init__(self, seconds: float) -> None:
        self._timeout = asyncio.timeout(None)
        self._seconds, self._left = seconds / TIMEOUT_STEPS, TIMEOUT_STEPS

    async def __aenter__(self) -> None:
        await self._timeout.__aenter__()
        self._wait()

    def _wait(self) -> None:
        self._handle = asyncio.get_running_loop().call_later(self._seconds, self._step)

    def _step(self) -> None:
        self._left -= 1
        if self._left:
            self._wait()
        else:
            self._timeout.reschedule(0)

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._handle.cancel()
        await self._timeout.__aexit__(kind, error, trace)


class Database:
    """Transactions of the server. On SQLite there is one writer at a time.

    Every transaction raises `Unavailable` if the database does not answer, refuses connections, or cannot
    write because it is full, locked or read-only.
    """

    def __init__(self, url: str) -> None:
        self.url = url
        self.on_postgresql = url.startswith("postgresql")
        if not self.on_postgresql and (file := sqlite_file(url)) is not None:
            make_private_folder(file.parent)
            make_private_file(file)
        self.timeout = TRANSACTION_TIMEOUT
        self.engine = _create_engine(url)
        self._writing = asyncio.Lock()
        self._writer = None if self.on_postgresql else _SqliteWriter(url)
        self._failing = False  # whether the last transaction failed
        self._checking: asyncio.Task[str] | None = None
        self._last_check_write = -CHECK_INTERVAL  # monotonic time of the last write by `check`
        self._in_use = 0  # connections in use
        self._idle = asyncio.Event()  # set while no connection is in use
        self._idle.set()
        self._closed = False
        self._probing: asyncio.Task[None] | None = None  # runs while the database is suspected to hang
        self._probed = asyncio.Event()  # set when a probe has finished since the last timeout

    async def upgrade(self) -> None:
        """Upgrade the schema to the newest version."""
        async with self.engine.begin() as connection:
            await connection.run_sync(_run_migrations)
        if self._writer is not None:
            # Open the files now: later there may be no file descriptors left.
            await self.transact(_open_files)

    @asynccontextmanager
    async def reading(self) -> AsyncIterator[AsyncConnection]:
        """Yield a connection for queries. Raises `Unavailable`."""
        async with self._guard(_READ_SECONDS), self._connection() as connection:
            yield connection

    @asynccontextmanager
    async def writing(self) -> AsyncIterator[AsyncConnection]:
        """Yield a connection with a transaction, committed at the end.

        Raises `Unavailable`; the outcome of the commit is then unknown.
        """
        async with self._guard(_WRITE_SECONDS):
            if self.on_postgresql:
                async with self._connection() as connection:
                    yield connection
                    await connection.commit()
            else:
                # SQLite has one writer. This lock is fairer than SQLite's retries.
                async with self._writing, self._connection() as connection:
                    yield connection
                    await connection.commit()

    async def transact(self, work: Callable[[Connection], None]) -> None:
        """Run a function in a transaction of its own and commit. Raises `Unavailable`.

        For frequent writes: on SQLite the function runs in a single thread call, whereas each statement of
        `writing` takes several.
        """
        async with self._guard(_WRITE_SECONDS):
            if self._writer is None:
                async with self._connection() as connection:
                    await connection.run_sync(work)
                    await connection.commit()
            else:
                async with self._writing:
                    await self._writer.transact(work)

    async def check(self) -> str:
        """Return why the database cannot be read or written, empty if it can.

        Concurrent calls share one check, which writes at most once per `CHECK_INTERVAL`.
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
        if time.monotonic() < self._last_check_write + CHECK_INTERVAL:
            return ""
        try:
            await self.transact(_write_check_fact)
        except IntegrityError:
            pass  # another process inserted the row first
        except Exception:
            return "the database cannot be written"
        self._last_check_write = time.monotonic()
        return ""

    async def close(self) -> None:
        """Refuse further transactions, wait for those in progress, and close all connections."""
        self._closed = True
        if self._probing is not None:
            self._probing.cancel()
        with suppress(TimeoutError):
            async with asyncio.timeout(self.timeout):
                await self._idle.wait()  # `dispose` does not close connections that are in use
        with suppress(TimeoutError):
            async with asyncio.timeout(self.timeout):
                await self.engine.dispose()
        if self._writer is not None:
            self._writer.close()

    # ------------------------------------------------------------ unavailability

    @asynccontextmanager
    async def _guard(self, seconds: Histogram) -> AsyncIterator[None]:
        """Apply the timeout, and raise `Unavailable` for every failure of the database."""
        if self._probing is not None:
            await self._probed.wait()
            if self._probing is not None:
                raise Unavailable
        try:
            with Timer(seconds):
                async with _LoopTimeout(self.timeout):
                    yield
        except (SQLAlchemyError, OSError) as error:
            if not is_unavailable(error):
                raise
            if not self._failing:
                log.warning("the database is unavailable: %s", driver_message(error) or type(error).__name__)
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
        """Yield a pooled connection. It returns to the pool even if the caller is cancelled."""
        if self._closed:
            raise Unavailable
        connection = self.engine.connect()
        self._add_in_use(1)
        # Never cancelled: SQLAlchemy leaks a connection if `start` is cancelled.
        start = asyncio.ensure_future(connection.start())
        try:
            await asyncio.shield(start)
            yield connection
            await self._give_back(connection)
        except asyncio.CancelledError:  # do not wait for the rollback, which may hang
            spawn(self._release(connection, start), "releasing a database connection")
            raise
        except BaseException:
            await self._release(connection, start)
            raise
        self._add_in_use(-1)

    async def _release(self, connection: AsyncConnection, start: asyncio.Future[Any]) -> None:
        """Return a connection to the pool after a failure, or terminate it if that takes too long."""
        try:
            try:
                await start
            except Exception:
                return  # raised to the caller by `_connection`
            driver = _driver_connection(connection)
            try:
                async with asyncio.timeout(PROBE_TIMEOUT):
                    await self._give_back(connection)
            except TimeoutError:
                if self.on_postgresql and driver is not None:
                    driver.terminate()
        finally:
            self._add_in_use(-1)

    async def _give_back(self, connection: AsyncConnection) -> None:
        if self._closed and not connection.closed:
            await connection.invalidate()  # the pool may be disposed
        await connection.close()

    def _add_in_use(self, change: int) -> None:
        self._in_use += change
        if self._in_use:
            self._idle.clear()
        else:
            self._idle.set()

    def _suspect(self) -> None:
        """Refuse transactions until a probe succeeds."""
        if self._probing is None:
            self._probed.clear()
            self._probing = spawn(self._probe(), "probing the database")

    async def _probe(self) -> None:
        try:
            while True:
                with suppress(Exception):
                    async with asyncio.timeout(PROBE_TIMEOUT):
                        await self._probe_once()
                        return
                self._probed.set()
                await asyncio.sleep(PROBE_INTERVAL)
        finally:
            self._probing = None
            self._probed.set()

    async def _probe_once(self) -> None:
        """Query the database: PostgreSQL on a new connection, SQLite in the writer thread."""
        if self._writer is not None:
            await self._writer.transact(lambda connection: None)
            return
        connection = await asyncpg.connect(driver_url(self.url))
        try:
            await connection.execute("SELECT 1")
        finally:
            connection.terminate()


def _driver_connection(connection: AsyncConnection) -> Any:
    """Return the connection of the driver, `None` if it is lost."""
    inner = connection.sync_connection
    if inner is None or inner.closed or inner.invalidated:
        return None
    return inner.connection.driver_connection


def is_unavailable(error: Exception) -> bool:
    """Return whether an error is a failure of the database or the disk, not of the statement."""
    if isinstance(error, _CALLER_ERRORS):
        return False
    sqlstate = getattr(getattr(error, "orig", None), "sqlstate", None)
    if isinstance(sqlstate, str) and sqlstate.startswith(DATA_EXCEPTION):
        return False
    return isinstance(error, (DBAPIError, NoConnectionFree, OSError))  # a TimeoutError is an OSError


def driver_message(error: BaseException) -> str:
    """Return the message of the driver. SQLAlchemy appends lines, and a URL may contain a password."""
    return str(getattr(error, "orig", None) or error).partition("\n")[0]


def _write_check_fact(connection: Connection) -> None:
    values = {"value": str(time.time_ns() // 1_000_000)}
    fact = schema.server_facts
    if not connection.execute(update(fact).where(fact.c.name == CHECK_FACT).values(values)).rowcount:
        connection.execute(insert(fact), [{"name": CHECK_FACT, **values}])


class _SqliteWriter:
    """Thread with its own connection for writing to SQLite."""

    def __init__(self, url: str) -> None:
        self._engine = create_engine(make_url(url).set(drivername="sqlite"), hide_parameters=True)
        event.listen(self._engine, "connect", _configure_sqlite)
        self._thread = ThreadPoolExecutor(1, "writer")

    async def transact(self, work: Callable[[Connection], None]) -> None:
        await asyncio.get_running_loop().run_in_executor(self._thread, self._transact, work)

    def _transact(self, work: Callable[[Connection], None]) -> None:
        with self._engine.begin() as connection:
            work(connection)

    def close(self) -> None:
        self._thread.shutdown()
        self._engine.dispose()


def _create_engine(url: str) -> AsyncEngine:
    # `hide_parameters`: errors are logged and must not contain hidden tiles and seeds.
    if url.startswith("postgresql"):
        # asyncpg parses the URL, as for `LISTEN`: SQLAlchemy does not support `sslmode`.
        return create_async_engine(
            "postgresql+asyncpg://",
            async_creator=partial(asyncpg.connect, driver_url(url), timeout=TRANSACTION_TIMEOUT),
            pool_size=8,
            max_overflow=8,
            pool_timeout=TRANSACTION_TIMEOUT,
            pool_pre_ping=True,
            hide_parameters=True,
        )
    engine = create_async_engine(url, hide_parameters=True, pool_timeout=TRANSACTION_TIMEOUT)
    event.listen(engine.sync_engine, "connect", _configure_sqlite)
    return engine


def _configure_sqlite(connection: Any, _: object) -> None:
    """Configure a new connection to SQLite."""
    cursor = connection.cursor()
    # FULL: commits survive a power failure, not only the end of the process.
    for pragma in (
        "journal_mode=WAL",
        "synchronous=FULL",
        f"busy_timeout={SQLITE_BUSY_TIMEOUT_MS}",
        "foreign_keys=ON",
    ):
        cursor.execute(f"PRAGMA {pragma}")
    cursor.close()


def _open_files(connection: Connection) -> None:
    """Make SQLite open all its files."""
    connection.exec_driver_sql("SELECT version_num FROM alembic_version")


def _run_migrations(connection: Connection) -> None:
    if connection.dialect.name == "postgresql":
        # Several processes may start at once. The lock ends with the transaction.
        connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({_MIGRATION_LOCK_ID})")
    config = alembic_config()
    config.attributes["connection"] = connection
    command.upgrade(config, "head")
