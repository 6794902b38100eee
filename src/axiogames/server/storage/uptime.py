"""Uptime and outages of the server, shared by its processes through the database."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

from sqlalchemy import Connection, case, exists, func, insert, select, text, update
from sqlalchemy.exc import IntegrityError

from .database import Database
from .journal import CHANNEL
from .schema import server_facts, tables

# Names of facts:
ALIVE = "alive"  # time of the last heartbeat; written only while a clock runs
RESUMED = "resumed"  # time of the last return after an outage or start
OUTAGES = "outages"  # intervals without a running process, as `FROM-UNTIL` separated by spaces
ALL_TABLES = "*"  # table id in the notification of a return

MAX_OUTAGES = 200  # stored outages; the oldest are dropped

Outage: TypeAlias = tuple[int, int]  # start and end in milliseconds since 1970

# Condition for tables with a running clock. The index of `due` is used for `>` but not for `IS NOT NULL`.
_CLOCK_RUNS = (tables.c.due > 0, tables.c.move_time.is_not(None))


class UptimeState(NamedTuple):
    """Last return of the server and its outages, as stored in the database."""

    resumed: int  # time of the last return, 0 if unknown
    outages: tuple[Outage, ...] = ()  # in order; those that still affect a clock


class UptimeStore:
    """Queries and updates of uptime and outages."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def heartbeat(self, at: int, alive: int, max_gap: int, *, returned: bool = False) -> UptimeState:
        """Record a heartbeat, and the outage that has just ended, if there was one.

        There was an outage if the last heartbeat of any process is more than `max_gap` ms ago. It extends all
        running clocks.

        Args:
            at: Current time.
            alive: Time of this process's last heartbeat, 0 if it has just started.
            max_gap: Maximum time in milliseconds between heartbeats without an outage.
            returned: Record a return of the server even without an outage.
        """
        state = UptimeState(0)

        def work(connection: Connection) -> None:
            nonlocal state
            state = _heartbeat(connection, at, alive, max_gap, returned=returned)

        try:
            await self._database.transact(work)
        except IntegrityError:  # another process inserted the first heartbeat at the same time
            await self._database.transact(work)
        return state

    async def read(self) -> UptimeState:
        """Return the stored state."""
        query = select(server_facts.c.name, server_facts.c.value)
        query = query.where(server_facts.c.name.in_((RESUMED, OUTAGES)))
        async with self._database.reading() as connection:
            facts = {row[0]: row[1] for row in await connection.execute(query)}
        return _parse_state(facts)


def _heartbeat(connection: Connection, at: int, alive: int, max_gap: int, *, returned: bool) -> UptimeState:
    # The lock makes one of several waking processes record the outage; the others find it recorded.
    connection.execute(select(server_facts.c.name).where(server_facts.c.name == ALIVE).with_for_update())
    query = select(server_facts.c.name, server_facts.c.value)
    query = query.where(server_facts.c.name.in_((ALIVE, RESUMED, OUTAGES)))
    facts: dict[str, str] = {row[0]: row[1] for row in connection.execute(query)}
    known = _parse_state(facts)
    running = bool(connection.execute(select(exists().where(*_CLOCK_RUNS))).scalar())
    last_alive = max(_parse_number(facts.get(ALIVE)), alive)
    if running and 0 < last_alive < at - max_gap:
        outages = _add_outage(connection, known.outages, (last_alive, at))
        known, returned = UptimeState(known.resumed, outages), True
        _write_fact(connection, facts, OUTAGES, " ".join(f"{begun}-{ended}" for begun, ended in outages))
    if returned:
        known = UptimeState(max(known.resumed, at), known.outages)
        _write_fact(connection, facts, RESUMED, str(known.resumed))
        if connection.dialect.name == "postgresql":
            notice = {"channel": CHANNEL, "notice": f"{ALL_TABLES}:{known.resumed}"}
            connection.execute(text("SELECT pg_notify(:channel, :notice)"), notice)
    if running or returned:
        _write_fact(connection, facts, ALIVE, str(at))
    return known


def _add_outage(connection: Connection, outages: Sequence[Outage], new: Outage) -> tuple[Outage, ...]:
    """Extend running clocks by an outage, and return the outages that still affect clocks."""
    begun, ended = new
    oldest = connection.execute(select(func.min(tables.c.updated)).where(*_CLOCK_RUNS)).scalar() or 0
    overlap_start = case((tables.c.updated > begun, tables.c.updated), else_=begun)
    connection.execute(
        update(tables)
        .where(*_CLOCK_RUNS, tables.c.due > begun, tables.c.updated < ended)
        .values(due=tables.c.due + ended - overlap_start)
    )
    return (*(outage for outage in outages if outage[1] > oldest), new)[-MAX_OUTAGES:]


def _write_fact(connection: Connection, facts: dict[str, str], name: str, value: str) -> None:
    if name in facts:
        connection.execute(update(server_facts).where(server_facts.c.name == name).values(value=value))
    else:
        connection.execute(insert(server_facts), [{"name": name, "value": value}])


def _parse_state(facts: dict[str, str]) -> UptimeState:
    outages = (_parse_outage(text) for text in facts.get(OUTAGES, "").split())
    return UptimeState(
        _parse_number(facts.get(RESUMED)), tuple(outage for outage in outages if outage is not None)
    )


def _parse_outage(text: str) -> Outage | None:
    begun, _, ended = text.partition("-")
    return (int(begun), int(ended)) if begun.isdecimal() and ended.isdecimal() else None


def _parse_number(text: str | None) -> int:
    return int(text) if text is not None and text.isdecimal() else 0
