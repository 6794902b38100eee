"""Retention: abandoned tables are closed and deleted, and guests who have no games are forgotten.

The rules, each with a number of days (0 switches it off):

- An open table that nobody has changed for `keep_open` days and that nobody looks at is closed.
- A game that nobody has moved in for `keep_unfinished` days and that nobody looks at is closed.
- A closed table is deleted after `keep_closed` days, one without a move after a day.
- A guest who has not come for `keep_guests` days and has no table, phrase, username or ban is deleted. One
  who has signed out everywhere or was erased stays: without the row, old tokens would be good again.
- A kept review is deleted after `keep_reviews` days; it can be made again.
- That a session was signed out is forgotten after `KEEP_REVOKED` days, if its person has been deleted.

- What retention itself has written into the audit log is deleted after `KEEP_OWN_NOTES` days.

Finished games, results of daily deals, quarantined tables and what hosts did are never deleted by themselves.
When the server is nearly full, open tables count as abandoned after an hour, and games that have hardly begun
after a day.

Work is done in small batches, each a transaction of its own. What one run leaves, the next one finds.
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
from .tables import DAY, TableAdministration

HOUR = DAY // 24
EVERY = 15 * 60.0  # seconds between two runs, of all processes together
AT_ONCE = 100
MOST_AT_A_TIME = 20 * AT_ONCE  # of each kind in one run
PAUSE = 0.05  # seconds between batches, for those who play
NEARLY_FULL = 0.9
FEW_MOVES = 4  # moves of a game that has hardly begun
KEEP_REVOKED = 400
KEEP_OWN_NOTES = 30
LEASE = "retention"
ACTOR = Actor("retention")

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Rules:
    """How many days things are kept; 0 is forever."""

    open: int = 7
    unfinished: int = 60
    closed: int = 30
    guests: int = 180
    reviews: int = 30

    @classmethod
    def of(cls, settings: Settings) -> Rules:
        """The rules that a server was started with."""
        return cls(
            settings.keep_open,
            settings.keep_unfinished,
            settings.keep_closed,
            settings.keep_guests,
            settings.keep_reviews,
        )


@dataclass(slots=True)
class Outcome:
    """How much there was to do, or was done."""

    open_tables_closed: int = 0
    unfinished_games_closed: int = 0
    closed_tables_deleted: int = 0
    guests_deleted: int = 0
    reviews_deleted: int = 0
    sessions_deleted: int = 0
    log_lines_deleted: int = 0

    def __bool__(self) -> bool:
        return any(asdict(self).values())


@dataclass(frozen=True, slots=True)
class _Kind:
    """Tables that a rule is about, and the field of `Outcome` that counts them."""

    name: str
    conditions: tuple[Any, ...]


class Retention:
    """Applies the rules to a database. `in_use` tells of tables that somebody in this process looks at."""

    def __init__(
        self,
        database: Database,
        rules: Rules,
        most_tables: int,
        *,
        actor: Actor = ACTOR,
        in_use: Callable[[str], bool] = lambda table_id: False,
        pause: float = PAUSE,
    ) -> None:
        self._database = database
        self._store = TableStore(database)
        self._tables = TableAdministration(database, actor)
        self._rules = rules
        self._most_tables = most_tables
        self._in_use = in_use
        self._pause = pause

    async def preview(self, at: int) -> Outcome:
        """What a run at a time would find to do."""
        found = Outcome()
        for kind in [*await self._abandoned(at), *self._expired(at)]:
            counted = await self._count(tables, kind.conditions)
            setattr(found, kind.name, getattr(found, kind.name) + counted)
        for name, table, conditions in self._rows(at):
            setattr(found, name, await self._count(table, conditions))
        return found

    async def _count(self, table: Any, conditions: tuple[Any, ...]) -> int:
        async with self._database.reading() as connection:
            query = select(func.count()).select_from(table).where(*conditions)
            return int((await connection.execute(query)).scalar_one())

    async def run_once(self, at: int) -> Outcome:
        """Do what is to be done at a time, up to `MOST_AT_A_TIME` of each kind; what was done."""
        done = Outcome()
        for kind in await self._abandoned(at):
            await self._close(kind, done)
        for kind in self._expired(at):
            await self._delete_tables(kind, done)
        for name, table, conditions in self._rows(at):
            await self._delete_rows(name, table, conditions, done)
        return done

    async def run_if_due(self) -> None:
        """Run now, if no process has done so for `EVERY` seconds."""
        if not await self.claim(now()):
            return
        if done := await self.run_once(now()):
            counts = ((name, count) for name, count in asdict(done).items() if count)
            log.info(
                "retention: %s", ", ".join(f"{name.replace('_', ' ')} {count}" for name, count in counts)
            )

    async def claim(self, at: int) -> bool:
        """Whether this process is the one to run now. No other one is for the next `EVERY` seconds."""
        until = f"{at + int(1000 * EVERY):020d}"
        # One beyond `until` was claimed by a clock that was ahead.
        free = (server_facts.c.value <= f"{at:020d}") | (server_facts.c.value > until)
        mine = update(server_facts).where(server_facts.c.name == LEASE, free)
        claimed: list[bool] = []

        def write(connection: Connection) -> None:
            claimed.append(connection.execute(mine.values(value=until)).rowcount == 1)
            if not claimed[0]:
                known = select(server_facts.c.name).where(server_facts.c.name == LEASE)
                if connection.execute(known).first() is None:
                    connection.execute(insert(server_facts), [{"name": LEASE, "value": until}])
                    claimed[0] = True

        try:
            await self._database.transact(write)
        except IntegrityError:  # another process was first
            return False
        return claimed[0]

    # ------------------------------------------------------------ the rules

    async def _abandoned(self, at: int) -> list[_Kind]:
        """Tables to be closed."""
        rules, found = self._rules, list[_Kind]()
        visited = select(seats).where(seats.c.table_id == tables.c.id, seats.c.here_until > at).exists()
        unseen = (tables.c.quarantined.is_(None), ~visited)
        full = await self._store.unfinished() >= NEARLY_FULL * self._most_tables
        waits, plays = tables.c.status == "open", tables.c.status == "playing"
        if full:
            if rules.open:
                found.append(_Kind("open_tables_closed", (waits, tables.c.updated < at - HOUR, *unseen)))
            if rules.unfinished:
                begun = (plays, tables.c.moves < FEW_MOVES, tables.c.updated < at - DAY)
                found.append(_Kind("unfinished_games_closed", (*begun, *unseen)))
        elif rules.open:
            cutoff = tables.c.updated < at - rules.open * DAY
            found.append(_Kind("open_tables_closed", (waits, cutoff, *unseen)))
        if rules.unfinished:
            old = [plays, tables.c.updated < at - rules.unfinished * DAY, *unseen]
            if full:
                old.append(tables.c.moves >= FEW_MOVES)  # the others are in the kind above
            found.append(_Kind("unfinished_games_closed", tuple(old)))
        return found

    def _expired(self, at: int) -> list[_Kind]:
        """Tables to be deleted."""
        if not self._rules.closed:
            return []
        empty = (tables.c.moves == 0) & (tables.c.updated < at - DAY)
        old = tables.c.updated < at - self._rules.closed * DAY
        closed = (tables.c.status == "closed", tables.c.quarantined.is_(None), empty | old)
        return [_Kind("closed_tables_deleted", closed)]

    def _rows(self, at: int) -> list[tuple[str, Any, tuple[Any, ...]]]:
        """Rows of other tables to be deleted: the field of `Outcome`, the table, the conditions."""
        rules, found = self._rules, list[tuple[str, Any, tuple[Any, ...]]]()
        ended = revoked_sessions.c.at < at - KEEP_REVOKED * DAY
        known = select(people).where(people.c.id == revoked_sessions.c.person).exists()
        found.append(("sessions_deleted", revoked_sessions, (ended, ~known)))
        if rules.guests:
            hosts = select(tables.c.owner).where(tables.c.status.in_(UNFINISHED))
            sits = select(seats.c.person).where(seats.c.person == people.c.id).exists()
            signed_out = select(revoked_sessions).where(
                revoked_sessions.c.person == people.c.id, revoked_sessions.c.at >= at - KEEP_REVOKED * DAY
            )
            guests = (
                people.c.username.is_(None),
                people.c.phrase.is_(None),
                people.c.banned.is_(None),
                people.c.epoch == 0,
                func.coalesce(people.c.seen, people.c.created) < at - rules.guests * DAY,
                ~sits,
                ~signed_out.exists(),
                people.c.id.not_in(hosts),
            )
            found.append(("guests_deleted", people, guests))
        if rules.reviews:
            old = reviews.c.asked < at - rules.reviews * DAY
            found.append(("reviews_deleted", reviews, (old, func.coalesce(reviews.c.claimed_until, 0) < at)))
        own = (audit.c.actor == ACTOR.name, audit.c.at < at - KEEP_OWN_NOTES * DAY)
        # Not the last one: SQLite would use its number again, and who follows the log miss a line.
        newest = select(func.max(audit.c.id)).scalar_subquery()
        found.append(("log_lines_deleted", audit, (*own, audit.c.id < newest)))
        return found

    # ------------------------------------------------------------ batches

    async def _close(self, kind: _Kind, done: Outcome) -> None:
        last: tuple[int, str] = (-1, "")
        for _ in range(MOST_AT_A_TIME // AT_ONCE):
            # Goes on after the last one looked at: one that cannot be closed must not be found for ever.
            later = (tables.c.updated > last[0]) | ((tables.c.updated == last[0]) & (tables.c.id > last[1]))
            query = (
                select(tables.c.id, tables.c.updated, tables.c.number)
                .where(*kind.conditions, later)
                .order_by(tables.c.updated, tables.c.id)
                .limit(AT_ONCE)
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
                    log.warning("table %s could not be closed: %s", table_id, error)
                    continue
                setattr(done, kind.name, getattr(done, kind.name) + 1)
            if len(rows) < AT_ONCE:
                return
            await asyncio.sleep(self._pause)

    async def _delete_tables(self, kind: _Kind, done: Outcome) -> None:
        for _ in range(MOST_AT_A_TIME // AT_ONCE):
            query = select(tables.c.id).where(*kind.conditions).order_by(tables.c.updated).limit(AT_ONCE)
            async with self._database.reading() as connection:
                ids = [row[0] for row in await connection.execute(query)]
            gone = await self._tables.delete(ids, "table-expire", *kind.conditions)
            setattr(done, kind.name, getattr(done, kind.name) + len(gone))
            if len(ids) < AT_ONCE or not gone:
                return
            await asyncio.sleep(self._pause)

    async def _delete_rows(self, name: str, table: Any, conditions: tuple[Any, ...], done: Outcome) -> None:
        key = list(table.primary_key.columns)
        for _ in range(MOST_AT_A_TIME // AT_ONCE):
            async with self._database.reading() as connection:
                query = select(*key).where(*conditions).limit(AT_ONCE)
                rows = [tuple(row) for row in await connection.execute(query)]
            deleted: list[int] = []
            await self._database.transact(partial(_delete_rows, table, conditions, rows, deleted))
            setattr(done, name, getattr(done, name) + sum(deleted))
            if len(rows) < AT_ONCE or not sum(deleted):
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
        this = [column == value for column, value in zip(key, row, strict=True)]
        deleted.append(connection.execute(delete(table).where(*this, *conditions)).rowcount)
