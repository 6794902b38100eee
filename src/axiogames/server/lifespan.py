"""Composition of the server: its components, their startup and shutdown, and background tasks."""

from __future__ import annotations

import gc
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, aclosing, asynccontextmanager, suppress
from dataclasses import dataclass

from sqlalchemy.exc import IntegrityError, SQLAlchemyError

from .domain.bots import Bots
from .domain.clock import HEARTBEAT_SECONDS
from .domain.hints import Hints
from .domain.refusals import Unavailable
from .domain.reviews import Reviews
from .domain.rooms import PRESENCE_SECONDS, SWEEP_SECONDS, Rooms, share_presence
from .identity.people import CACHE_SECONDS, People
from .identity.personal_data import PersonalData
from .metrics import serve_metrics
from .operations import access, retention
from .operations.access import AuditFollower
from .operations.audit import NOTICE, AuditLog
from .operations.retention import Retention, RetentionPolicy
from .presentation.views import Replays
from .private_files import protect_data
from .rendering.pictures import Pictures
from .rule_loader import RuleLoader
from .settings import FINGERPRINT, Settings, check_fingerprint, fingerprint, secret_keys, sqlite_file
from .storage.database import Database
from .storage.journal import PERSON_PREFIX, Journal, notifications
from .storage.reviews import ReviewStore
from .storage.schema import read_fact, write_fact
from .storage.tables import TableStore
from .supervisor import BackgroundTask, Supervisor, spawn
from .transport.rate_limits import RateLimits

GC_THRESHOLDS = (10_000, 20, 20)  # arguments of `gc.set_threshold`; little garbage has reference cycles

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Server:
    """Components of the server that request handlers use."""

    settings: Settings
    database: Database
    journal: Journal
    store: TableStore
    people: People
    personal_data: PersonalData
    rules: RuleLoader
    bots: Bots
    rooms: Rooms
    hints: Hints
    reviews: Reviews
    pictures: Pictures
    replays: Replays
    limits: RateLimits
    audit_follower: AuditFollower
    retention: Retention
    supervisor: Supervisor


def build_server(settings: Settings) -> Server:
    """Return the components of a server, not yet started."""
    keys = secret_keys(settings.folder)
    protect_data(settings.folder, None if settings.on_postgresql else sqlite_file(settings.url))
    database = Database(settings.url)
    journal, store = Journal(database), TableStore(database)
    rules, limits = RuleLoader(), RateLimits(settings.rate_limits)
    bots = Bots(settings.bot_threads, settings.bot_seconds, rules)
    people, rooms = People(database, keys), Rooms(store, journal, bots)
    personal_data = PersonalData(database, store, people, rooms)
    return Server(
        settings=settings,
        database=database,
        journal=journal,
        store=store,
        people=people,
        personal_data=personal_data,
        rules=rules,
        bots=bots,
        rooms=rooms,
        hints=Hints(bots, limits),
        reviews=Reviews(bots, ReviewStore(database), rooms.get),
        pictures=Pictures(bots),
        replays=Replays(),
        limits=limits,
        audit_follower=AuditFollower(AuditLog(database), rooms, personal_data),
        retention=Retention(
            database, RetentionPolicy.of(settings), settings.max_tables, in_use=rooms.is_in_use
        ),
        supervisor=Supervisor(),
    )


@asynccontextmanager
async def lifespan(server: Server) -> AsyncIterator[None]:
    """Start the components; on exit, stop accepting work and finish what is in progress."""
    async with AsyncExitStack() as stack:
        # Callbacks run in reverse order, each even if another one fails.
        for name, close in _close_actions(server):
            stack.push_async_callback(_close, name, close)
        try:
            await _prepare_database(server)
        except (Unavailable, SQLAlchemyError, OSError) as error:
            # A worker process was restarted during a database outage: retry in the background. The schema is
            # current, since `serve` has upgraded it before the first worker started.
            task = server.supervisor.add("prepare_database", lambda _: _prepare_database(server))
            task.failed(error)
        add_background_tasks(server)
        server.rules.start()
        server.supervisor.start()
        yield


async def _prepare_database(server: Server) -> None:
    await server.database.upgrade()
    await record_key_fingerprint(server)
    await server.audit_follower.start()
    await server.rooms.resume()


async def record_key_fingerprint(server: Server) -> None:
    """Store the fingerprint of the signing key. Raises `KeyMismatch` if another one is stored."""
    settings, keys = server.settings, server.people.keys
    for _ in range(2):
        with suppress(IntegrityError):  # another process has inserted it first
            async with server.database.writing() as connection:
                known = await connection.run_sync(read_fact, FINGERPRINT)
                if not settings.accept_new_key:
                    check_fingerprint(known, keys, settings.folder)
                if known != fingerprint(keys[0]):
                    await write_fact(connection, FINGERPRINT, fingerprint(keys[0]))
            return


def _close_actions(server: Server) -> list[tuple[str, Callable[[], Awaitable[None] | None]]]:
    """Return the names and close functions of the components, in startup order. The last is closed first."""
    return [
        ("database", server.database.close),
        ("pictures", server.pictures.close),
        ("people", server.people.close),
        ("exports", server.personal_data.close),
        ("bots", server.bots.close),
        ("rules", server.rules.close),
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
    """Register the periodic and long-running tasks of the server."""
    supervisor = server.supervisor

    async def keep_objects(_: BackgroundTask) -> None:
        await server.rules.all_ready.wait()
        _keep_objects()

    async def listen(task: BackgroundTask) -> None:
        await _listen(server, task)

    async def update_presence() -> None:
        await share_presence(server.rooms, server.store)

    async def compute_reviews(_: BackgroundTask) -> None:
        await server.reviews.run(single_process=not server.database.on_postgresql)

    supervisor.add("rules", server.rules.run, essential=False)
    supervisor.add("keep_objects", keep_objects, essential=False)
    supervisor.add("reviews", compute_reviews, essential=False)
    supervisor.every("uptime", HEARTBEAT_SECONDS, server.rooms.heartbeat)
    supervisor.every("sweep", SWEEP_SECONDS, server.rooms.sweep)
    supervisor.every("follow_admin", access.POLL_INTERVAL, server.audit_follower.poll, essential=False)
    supervisor.every("retention", retention.RUN_INTERVAL, server.retention.run_if_due, essential=False)
    supervisor.every("sessions", CACHE_SECONDS, server.personal_data.reconcile)
    if server.settings.metrics_port:
        supervisor.add("metrics", lambda task: serve_metrics(server, task), essential=False)
    if server.database.on_postgresql:
        supervisor.add("listen", listen)
        supervisor.every("presence", PRESENCE_SECONDS, update_presence, essential=False)


def _keep_objects() -> None:
    """Exempt the objects so far from garbage collection: they stay, and scanning them delays the tables."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(*GC_THRESHOLDS)


async def _listen(server: Server, task: BackgroundTask) -> None:
    """Process notifications from other processes until the connection is lost."""
    async with aclosing(notifications(server.settings.dsn)) as received:
        async for notice in received:
            if notice is None:  # listening has begun; read earlier changes from the database
                await server.rooms.reconcile(everything=True)
                await server.personal_data.reconcile()
                task.succeeded()
            else:
                try:
                    await _on_notification(server, notice)
                except Exception:  # later notifications may concern other tables
                    log.exception("failed to process a notification from another process")


async def _on_notification(server: Server, notice: str) -> None:
    """Reload the people, and catch up with the tables, that a notification names."""
    for item in notice.split():
        if item.startswith(PERSON_PREFIX):  # in a separate task: a room may be busy for a while
            spawn(server.personal_data.reload(item.removeprefix(PERSON_PREFIX)), "reloading a person")
    await server.rooms.on_notification(notice)
    if notice.startswith(NOTICE):
        spawn(server.audit_follower.poll(), "reading the audit log")
