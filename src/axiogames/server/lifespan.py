"""The parts of a running server, started and stopped in order."""

from __future__ import annotations

import asyncio
import gc
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, aclosing, asynccontextmanager, suppress
from dataclasses import dataclass

from sqlalchemy.exc import IntegrityError, SQLAlchemyError

from .domain.bots import Bots
from .domain.clock import BEAT
from .domain.hints import Hints
from .domain.refusals import Unavailable
from .domain.reviews import Reviews
from .domain.rooms import EVERY, SWEEP, Rooms, share
from .identity.people import FRESH, People
from .identity.personal_data import PersonalData
from .metrics import serve_metrics
from .operations import access, retention
from .operations.access import Following
from .operations.audit import NOTICE, AuditLog
from .operations.retention import Retention, Rules
from .presentation import board_json
from .presentation.views import Replays
from .private_files import protect_data
from .rendering.pictures import Pictures
from .settings import FINGERPRINT, Settings, check_fingerprint, fingerprint, secret_keys, sqlite_file
from .storage.database import Database
from .storage.journal import PERSON, Journal, notices
from .storage.reviews import ReviewStore
from .storage.schema import read_fact, write_fact
from .storage.tables import TableStore
from .supervisor import BackgroundTask, Supervisor, spawn
from .transport.rate_limits import Limits

GARBAGE = (10_000, 20, 20)  # as for `gc.set_threshold`: seldom, as there is little of it

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Server:
    """Everything that requests need."""

    settings: Settings
    database: Database
    journal: Journal
    store: TableStore
    people: People
    personal_data: PersonalData
    bots: Bots
    rooms: Rooms
    hints: Hints
    reviews: Reviews
    pictures: Pictures
    replays: Replays
    limits: Limits
    following: Following
    retention: Retention
    supervisor: Supervisor


def assemble(settings: Settings) -> Server:
    """The parts of a server, not yet started."""
    keys = secret_keys(settings.folder)
    protect_data(settings.folder, None if settings.on_postgresql else sqlite_file(settings.url))
    database = Database(settings.url)
    journal, store = Journal(database), TableStore(database)
    bots, limits = Bots(settings.bot_threads, settings.bot_seconds), Limits(settings.limits)
    people, rooms = People(database, keys), Rooms(store, journal, bots)
    personal_data = PersonalData(database, store, people, rooms)
    return Server(
        settings=settings,
        database=database,
        journal=journal,
        store=store,
        people=people,
        personal_data=personal_data,
        bots=bots,
        rooms=rooms,
        hints=Hints(bots, limits),
        reviews=Reviews(bots, ReviewStore(database), rooms.get),
        pictures=Pictures(bots),
        replays=Replays(),
        limits=limits,
        following=Following(AuditLog(database), rooms, personal_data),
        retention=Retention(database, Rules.of(settings), settings.most_tables, in_use=rooms.is_in_use),
        supervisor=Supervisor(),
    )


@asynccontextmanager
async def running(server: Server) -> AsyncIterator[None]:
    """Start everything; on the way out finish what has begun."""
    async with AsyncExitStack() as stack:
        # Closed in the reverse order, each whatever has become of the others.
        for name, close in _closing(server):
            stack.push_async_callback(_close, name, close)
        try:
            await _prepare_database(server)
        except (Unavailable, SQLAlchemyError, OSError) as error:
            # A worker that is replaced while the database is away; `serve` has upgraded before the first.
            task = server.supervisor.add("prepare_database", lambda _: _prepare_database(server))
            task.failed(error)
        add_background_tasks(server)
        server.supervisor.start()
        yield


async def _prepare_database(server: Server) -> None:
    await server.database.upgrade()
    await confirm_keys(server)
    await server.following.start()
    await server.rooms.resume()


async def confirm_keys(server: Server) -> None:
    """Note which key signs, for the next start. Raises `WrongKey` if the database knows another."""
    settings, keys = server.settings, server.people.keys
    for _ in range(2):
        with suppress(IntegrityError):  # another process was faster
            async with server.database.writing() as connection:
                known = await connection.run_sync(read_fact, FINGERPRINT)
                if not settings.accept_new_key:
                    check_fingerprint(known, keys, settings.folder)
                if known != fingerprint(keys[0]):
                    await write_fact(connection, FINGERPRINT, fingerprint(keys[0]))
            return


def _closing(server: Server) -> list[tuple[str, Callable[[], Awaitable[None] | None]]]:
    """What has to be closed, the last one first."""
    return [
        ("database", server.database.close),
        ("pictures", server.pictures.close),
        ("people", server.people.close),
        ("exports", server.personal_data.close),
        ("bots", server.bots.close),
        ("journal", server.journal.close),
        ("hints", server.hints.close),
        ("rooms", server.rooms.close),
        ("background tasks", server.supervisor.stop),
    ]


async def _close(name: str, close: Callable[[], Awaitable[None] | None]) -> None:
    try:
        closing = close()
        if closing is not None:
            await closing
    except Exception:
        log.exception("closing the %s failed", name)


def add_background_tasks(server: Server) -> None:
    """Register what goes on by itself as long as the server runs."""
    supervisor = server.supervisor

    async def load_rules(_: BackgroundTask) -> None:
        await _load_rules(server)

    async def listen(task: BackgroundTask) -> None:
        await _listen(server, task)

    async def meet() -> None:
        await share(server.rooms, server.store)

    async def make_reviews(_: BackgroundTask) -> None:
        await server.reviews.work(alone=not server.database.on_postgresql)

    supervisor.add("load_rules", load_rules)
    supervisor.add("reviews", make_reviews, essential=False)
    supervisor.every("uptime", BEAT, server.rooms.beat)
    supervisor.every("sweep", SWEEP, server.rooms.sweep)
    supervisor.every("follow_admin", access.EVERY, server.following.poll, essential=False)
    supervisor.every("retention", retention.EVERY, server.retention.run_if_due, essential=False)
    supervisor.every("sessions", FRESH, server.personal_data.compare)
    if server.settings.metrics_port:
        supervisor.add("metrics", lambda task: serve_metrics(server, task), essential=False)
    if server.database.on_postgresql:
        supervisor.add("listen", listen)
        supervisor.every("presence", EVERY, meet, essential=False)


async def _load_rules(server: Server) -> None:
    """Load the compiled rules, so that no table waits for them."""
    await asyncio.to_thread(board_json.prepare)
    await server.bots.prepare()
    # What is there now stays: looking through it for garbage again and again would only hold up the tables.
    gc.collect()
    gc.freeze()
    gc.set_threshold(*GARBAGE)


async def _listen(server: Server, task: BackgroundTask) -> None:
    """Follow what other processes write, until the connection is lost."""
    async with aclosing(notices(server.settings.dsn)) as told:
        async for notice in told:
            if notice is None:  # from here on nothing is missed; what was missed before is in the database
                await server.rooms.compare(everything=True)
                await server.personal_data.compare()
                task.succeeded()
            else:
                try:
                    await _hear(server, notice)
                except Exception:  # the next one may be of another table
                    log.exception("a notice of another process could not be followed")


async def _hear(server: Server, notice: str) -> None:
    """Follow what a notice names: tables with the numbers of their last entries, and people."""
    for item in notice.split():
        if item.startswith(PERSON):  # beside the tables: a room may be busy for a while
            spawn(server.personal_data.heard(item.removeprefix(PERSON)), "following a person")
    await server.rooms.heard(notice)
    if notice.startswith(NOTICE):
        spawn(server.following.poll(), "following `axio admin`")
