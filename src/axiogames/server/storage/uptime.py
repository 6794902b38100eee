"""When the server was at work. The processes of a server share what is known of it in the database."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

from sqlalchemy import Connection, case, exists, func, insert, select, text, update
from sqlalchemy.exc import IntegrityError

from .database import Database
from .journal import CHANNEL
from .schema import server_facts, tables

# Names of facts.
ALIVE = "alive"  # when a process was at work last; written only while a clock runs
RESUMED = "resumed"  # when the server came back last
OUTAGES = "outages"  # the times in which no process was at work, as `FROM-UNTIL` with spaces between them
EVERY_TABLE = "*"  # a notice of this table tells when the server came back

MOST_OUTAGES = 200  # that are kept; the oldest go first

Outage: TypeAlias = tuple[int, int]  # from, until

# Tables at which a clock runs. `due` has an index, which is used for `>` and not for `IS NOT NULL`.
_CLOCKS = (tables.c.due > 0, tables.c.move_time.is_not(None))


class Standing(NamedTuple):
    """What all processes know of the times in which the server was away."""

    resumed: int  # when it came back last, 0 if nobody knows
    outages: tuple[Outage, ...] = ()  # in order; the ones that still matter to a clock


class UptimeStore:
    """Keeps when the server was at work and when it was not."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def beat(self, at: int, alive: int, longest: int, *, returned: bool = False) -> Standing:
        """Note that a process is at work, and the outage that has just ended, if there was one.

        There was an outage if no process has been at work for more than `longest` milliseconds. It moves the
        times at which clocks end.

        Args:
            at: The time now.
            alive: When this process itself was at work last, 0 if it has just started.
            longest: Milliseconds without a sign of life that are no outage.
            returned: Note that the server has come back, outage or not.
        """
        standing = Standing(0)

        def work(connection: Connection) -> None:
            nonlocal standing
            standing = _beat(connection, at, alive, longest, returned=returned)

        try:
            await self._database.transact(work)
        except IntegrityError:  # another process has noted its first sign of life at this moment
            await self._database.transact(work)
        return standing

    async def standing(self) -> Standing:
        """Return what is known, and note nothing."""
        query = select(server_facts.c.name, server_facts.c.value)
        query = query.where(server_facts.c.name.in_((RESUMED, OUTAGES)))
        async with self._database.reading() as connection:
            facts = {row[0]: row[1] for row in await connection.execute(query)}
        return _standing(facts)


def _beat(connection: Connection, at: int, alive: int, longest: int, *, returned: bool) -> Standing:
    # Of processes that wake at the same time one notes the outage; the others find it noted.
    connection.execute(select(server_facts.c.name).where(server_facts.c.name == ALIVE).with_for_update())
    query = select(server_facts.c.name, server_facts.c.value)
    query = query.where(server_facts.c.name.in_((ALIVE, RESUMED, OUTAGES)))
    facts: dict[str, str] = {row[0]: row[1] for row in connection.execute(query)}
    known = _standing(facts)
    running = bool(connection.execute(select(exists().where(*_CLOCKS))).scalar())
    before = max(_number(facts.get(ALIVE)), alive)
    if running and 0 < before < at - longest:
        outages = _with_outage(connection, known.outages, (before, at))
        known, returned = Standing(known.resumed, outages), True
        _write(connection, facts, OUTAGES, " ".join(f"{begun}-{ended}" for begun, ended in outages))
    if returned:
        known = Standing(max(known.resumed, at), known.outages)
        _write(connection, facts, RESUMED, str(known.resumed))
        if connection.dialect.name == "postgresql":
            notice = {"channel": CHANNEL, "notice": f"{EVERY_TABLE}:{known.resumed}"}
            connection.execute(text("SELECT pg_notify(:channel, :notice)"), notice)
    if running or returned:
        _write(connection, facts, ALIVE, str(at))
    return known


def _with_outage(connection: Connection, outages: Sequence[Outage], new: Outage) -> tuple[Outage, ...]:
    """Let clocks end later by an outage; the outages that matter to clocks from now on."""
    begun, ended = new
    oldest = connection.execute(select(func.min(tables.c.updated)).where(*_CLOCKS)).scalar() or 0
    begins = case((tables.c.updated > begun, tables.c.updated), else_=begun)
    connection.execute(
        update(tables)
        .where(*_CLOCKS, tables.c.due > begun, tables.c.updated < ended)
        .values(due=tables.c.due + ended - begins)
    )
    return (*(one for one in outages if one[1] > oldest), new)[-MOST_OUTAGES:]


def _write(connection: Connection, facts: dict[str, str], name: str, value: str) -> None:
    if name in facts:
        connection.execute(update(server_facts).where(server_facts.c.name == name).values(value=value))
    else:
        connection.execute(insert(server_facts), [{"name": name, "value": value}])


def _standing(facts: dict[str, str]) -> Standing:
    outages = (_outage(text) for text in facts.get(OUTAGES, "").split())
    return Standing(_number(facts.get(RESUMED)), tuple(one for one in outages if one is not None))


def _outage(text: str) -> Outage | None:
    begun, _, ended = text.partition("-")
    return (int(begun), int(ended)) if begun.isdecimal() and ended.isdecimal() else None


def _number(text: str | None) -> int:
    return int(text) if text is not None and text.isdecimal() else 0
