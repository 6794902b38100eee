"""Retention: close and delete abandoned tables, delete unused guests and old reviews.

Rules, each with a number of days (0 disables it):

- An open table is closed after `keep_open` days without a change, unless a client is connected.
- A game is closed after `keep_unfinished` days without a move, unless a client is connected.
- A closed table is deleted after `keep_closed` days, one without moves after a day.
- A guest without tables, phrase, username and ban is deleted `keep_guests` days after the last visit. Guests
  who signed out everywhere or were erased stay: without the row, old tokens would be valid again.
- A stored review is deleted after `keep_reviews` days; it can be requested again.
- A revoked session is deleted after `KEEP_REVOKED_DAYS` days if its person has been deleted.
- Audit records of retention itself are deleted after `KEEP_OWN_RECORDS_DAYS` days.

Finished games, results of daily deals, quarantined tables and audit records of hosts are never deleted
automatically. When the server is nearly full, open tables are closed after an hour, and games of fewer than
`FEW_MOVES` moves after a day.

Each run processes a limited number of rows in small transactions. The next run continues with the rest.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

from sqlalchemy import Connection, delete, func, insert, select, update
from sqlalchemy.exc import IntegrityError

from ...errors import AxioError
from ..domain.game_state import now
from ..settings import Settings
from ..storage.database import Database
from ..storage.schema import audit, people, reviews, revoked_sessions, seats, server_facts, tables
from ..storage.tables import UNFINISHED, TableStore
from .audit import Actor
from .tables import DAY_MS, TableAdmin

HOUR_MS = DAY_MS // 24
RUN_INTERVAL = 15 * 60.0  # seconds between runs, over all processes
BATCH_SIZE = 100
MAX_PER_RUN = 20 * BATCH_SIZE  # rows per rule and run
BATCH_PAUSE = 0.05  # seconds between batches, so that players' transactions are not delayed
NEARLY_FULL = 0.9  # fraction of the maximum number of unfinished tables
FEW_MOVES = 4  # games with fewer moves are closed first when the server is nearly full
KEEP_REVOKED_DAYS = 400
KEEP_OWN_RECORDS_DAYS = 30
LEASE = "retention"
ACTOR = Actor("retention")

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class RetentionPolicy:
    """Number of days to keep each kind of data; 0: forever."""

    open: int = 7
    unfinished: int = 60
    closed: int = 30
    guests: int = 180
    reviews: int = 30

    @classmethod
    def of(cls, settings: Settings) -> RetentionPolicy:
        """Return the policy of a server's settings."""
        return cls(
            settings.keep_open,
            settings.keep_unfinished,
            settings.keep_closed,
            settings.keep_guests,
            settings.keep_reviews,
        )


@dataclass(slots=True)
class RetentionCounts:
    """Numbers of closed tables and deleted rows."""

    open_tables_closed: int = 0
    unfinished_games_closed: int = 0
    closed_tables_deleted: int = 0
    guests_deleted: int = 0
    reviews_deleted: int = 0
    sessions_deleted: int = 0
    log_lines_deleted: int = 0

    def __bool__(self) -> bool:
        return any(asdict(self).values())

    def add(self, name: str, count: int) -> None:
        """Increase the field `name`."""
        setattr(self, name, getattr(self, name) + count)


@dataclass(frozen=True, slots=True)
class _TableRule:
    """Tables selected by a rule, and the field of `RetentionCounts` that counts them."""

    count: str
    conditions: tuple[Any, ...]


class Retention:
    """Applies a policy to a database.

    Args:
        database: Database of the server.
        policy: Number of days to keep each kind of data.
        max_tables: Maximum number of unfinished tables on the server.
        actor: Actor in the audit log.
        in_use: Returns whether a client of this process is connected to a table.
        pause: Seconds between batches.
    """

    def __init__(
        self,
        database: Database,
        policy: RetentionPolicy,
        max_tables: int,
        *,
        actor: Actor = ACTOR,
        in_use: Callable[[str], bool] = lambda table_id: False,
        pause: float = BATCH_PAUSE,
    ) -> None:
        self._database = database
        self._store = TableStore(database)
        self._tables = TableAdmin(database, actor)
        self._policy = policy
        self._max_tables = max_tables
        self._in_use = in_use
        self._pause = pause

    async def preview(self, at: int) -> RetentionCounts:
        """Return the counts of a run at time `at`, without changes."""
        counts = RetentionCounts()
        for rule in [*await self._closing_rules(at), *self._deletion_rules(at)]:
            counts.add(rule.count, await self._count(tables, rule.conditions))
        for name, table, conditions in self._row_rules(at):
            counts.add(name, await self._count(table, conditions))
        return counts

    async def _count(self, table: Any, conditions: tuple[Any, ...]) -> int:
        async with self._database.reading() as connection:
            query = select(func.count()).select_from(table).where(*conditions)
            return int((await connection.execute(query)).scalar_one())

    async def run_once(self, at: int) -> RetentionCounts:
        """Apply the rules for time `at`, at most `MAX_PER_RUN` rows each, and return the counts."""
        counts = RetentionCounts()
        for rule in await self._closing_rules(at):
            await self._close(rule, counts)
        for rule in self._deletion_rules(at):
            await self._delete_tables(rule, counts)
        for name, table, conditions in self._row_rules(at):
            await self._delete_rows(name, table, conditions, counts)
        return counts

    async def run_if_due(self) -> None:
        """Run unless another process has run within `RUN_INTERVAL` seconds."""
        if not await self.claim(now()):
            return
        if counts := await self.run_once(now()):
            shown = (f"{name.replace('_', ' ')} {count}" for name, count in asdict(counts).items() if count)
            log.info("retention: %s", ", ".join(shown))

    async def claim(self, at: int) -> bool:
        """Try to claim the run at time `at` for this process, and return whether it succeeded.

        A claim excludes other processes for `RUN_INTERVAL` seconds.
        """
        until = f"{at + int(1000 * RUN_INTERVAL):020d}"
        # A claim beyond `until` was made by a process whose clock was ahead.
        free = (server_facts.c.value <= f"{at:020d}") | (server_facts.c.value > until)
        lease = update(server_facts).where(server_facts.c.name == LEASE, free)
        claimed: list[bool] = []

        def write(connection: Connection) -> None:
            claimed.append(connection.execute(lease.values(value=until)).rowcount == 1)
            if not claimed[0]:
                known = select(server_facts.c.name).where(server_facts.c.name == LEASE)
                if connection.execute(known).first() is None:
                    connection.execute(insert(server_facts), [{"name": LEASE, "value": until}])
                    claimed[0] = True

        try:
            await self._database.transact(write)
        except IntegrityError:  # another process inserted it first
            return False
        return claimed[0]

    # ------------------------------------------------------------ rules

    async def _closing_rules(self, at: int) -> list[_TableRule]:
        """Return the rules for tables to be closed."""
        policy, rules = self._policy, list[_TableRule]()
        connected = select(seats).where(seats.c.table_id == tables.c.id, seats.c.here_until > at).exists()
        unattended = (tables.c.quarantined.is_(None), ~connected)
        full = await self._store.count_unfinished() >= NEARLY_FULL * self._max_tables
        is_open, is_playing = tables.c.status == "open", tables.c.status == "playing"
        if full:
            if policy.open:
                rules.append(
                    _TableRule("open_tables_closed", (is_open, tables.c.updated < at - HOUR_MS, *unattended))
                )
            if policy.unfinished:
                barely_begun = (is_playing, tables.c.moves < FEW_MOVES, tables.c.updated < at - DAY_MS)
                rules.append(_TableRule("unfinished_games_closed", (*barely_begun, *unattended)))
        elif policy.open:
            cutoff = tables.c.updated < at - policy.open * DAY_MS
            rules.append(_TableRule("open_tables_closed", (is_open, cutoff, *unattended)))
        if policy.unfinished:
            old = [is_playing, tables.c.updated < at - policy.unfinished * DAY_MS, *unattended]
            if full:
                old.append(tables.c.moves >= FEW_MOVES)  # shorter games match the rule above
            rules.append(_TableRule("unfinished_games_closed", tuple(old)))
        return rules

    def _deletion_rules(self, at: int) -> list[_TableRule]:
        """Return the rules for tables to be deleted."""
        if not self._policy.closed:
            return []
        empty = (tables.c.moves == 0) & (tables.c.updated < at - DAY_MS)
        old = tables.c.updated < at - self._policy.closed * DAY_MS
        closed = (tables.c.status == "closed", tables.c.quarantined.is_(None), empty | old)
        return [_TableRule("closed_tables_deleted", closed)]

    def _row_rules(self, at: int) -> list[tuple[str, Any, tuple[Any, ...]]]:
        """Return the rules for other rows: field of `RetentionCounts`, database table, conditions."""
        policy, rules = self._policy, list[tuple[str, Any, tuple[Any, ...]]]()
        ended = revoked_sessions.c.at < at - KEEP_REVOKED_DAYS * DAY_MS
        person_exists = select(people).where(people.c.id == revoked_sessions.c.person).exists()
        rules.append(("sessions_deleted", revoked_sessions, (ended, ~person_exists)))
        if policy.guests:
            owners = select(tables.c.owner).where(tables.c.status.in_(UNFINISHED))
            seated = select(seats.c.person).where(seats.c.person == people.c.id).exists()
            signed_out = select(revoked_sessions).where(
                revoked_sessions.c.person == people.c.id,
                revoked_sessions.c.at >= at - KEEP_REVOKED_DAYS * DAY_MS,
            )
            guests = (
                people.c.username.is_(None),
                people.c.phrase.is_(None),
                people.c.banned.is_(None),
                people.c.epoch == 0,
                func.coalesce(people.c.seen, people.c.created) < at - policy.guests * DAY_MS,
                ~seated,
                ~signed_out.exists(),
                people.c.id.not_in(owners),
            )
            rules.append(("guests_deleted", people, guests))
        if policy.reviews:
            old = reviews.c.asked < at - policy.reviews * DAY_MS
            rules.append(("reviews_deleted", reviews, (old, func.coalesce(reviews.c.claimed_until, 0) < at)))
        own = (audit.c.actor == ACTOR.name, audit.c.at < at - KEEP_OWN_RECORDS_DAYS * DAY_MS)
        # Keep the last record: SQLite would reuse its id, and followers of the log would miss a record.
        newest = select(func.max(audit.c.id)).scalar_subquery()
        rules.append(("log_lines_deleted", audit, (*own, audit.c.id < newest)))
        return rules

    # ------------------------------------------------------------ batches

    async def _close(self, rule: _TableRule, counts: RetentionCounts) -> None:
        last: tuple[int, str] = (-1, "")
        for _ in range(MAX_PER_RUN // BATCH_SIZE):
            # Continue after the last table: one that cannot be closed must not be selected forever.
            later = (tables.c.updated > last[0]) | ((tables.c.updated == last[0]) & (tables.c.id > last[1]))
            query = (
                select(tables.c.id, tables.c.updated, tables.c.number)
                .where(*rule.conditions, later)
                .order_by(tables.c.updated, tables.c.id)
                .limit(BATCH_SIZE)
            )
            async with self._database.reading() as connection:
                rows = list(await connection.execute(query))
            for table_id, updated, number in rows:
                last = updated, table_id
                if self._in_use(table_id):
                    continue
                try:
                    await self._tables.close(table_id, "table-expire", number=number)
                except AxioError as error:
                    log.warning("cannot close table %s: %s", table_id, error)
                    continue
                counts.add(rule.count, 1)
            if len(rows) < BATCH_SIZE:
                return
            await asyncio.sleep(self._pause)

    async def _delete_tables(self, rule: _TableRule, counts: RetentionCounts) -> None:
        for _ in range(MAX_PER_RUN // BATCH_SIZE):
            query = select(tables.c.id).where(*rule.conditions).order_by(tables.c.updated).limit(BATCH_SIZE)
            async with self._database.reading() as connection:
                ids = [row[0] for row in await connection.execute(query)]
            deleted = await self._tables.delete(ids, "table-expire", *rule.conditions)
            counts.add(rule.count, len(deleted))
            if len(ids) < BATCH_SIZE or not deleted:
                return
            await asyncio.sleep(self._pause)

    async def _delete_rows(
        self, name: str, table: Any, conditions: tuple[Any, ...], counts: RetentionCounts
    ) -> None:
        key = list(table.primary_key.columns)
        for _ in range(MAX_PER_RUN // BATCH_SIZE):
            async with self._database.reading() as connection:
                query = select(*key).where(*conditions).limit(BATCH_SIZE)
                rows = [tuple(row) for row in await connection.execute(query)]
            deleted: list[int] = []
            await self._database.transact(partial(_delete_rows, table, conditions, rows, deleted))
            counts.add(name, sum(deleted))
            if len(rows) < BATCH_SIZE or not sum(deleted):
                return
            await asyncio.sleep(self._pause)


def _delete_rows(
    table: Any,
    conditions: tuple[Any, ...],
    rows: list[tuple[Any, ...]],
    deleted: list[int],
    connection: Connection,
) -> None:
    key = list(table.primary_key.columns)
    for row in rows:
        same_key = [column == value for column, value in zip(key, row, strict=True)]
        deleted.append(connection.execute(delete(table).where(*same_key, *conditions)).rowcount)
