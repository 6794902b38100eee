"""What is kept of a person: exported for them, and deleted.

Finished games are kept for those who played them, with "Deleted player" in place of the name. The random id
of the person stays in them; nothing leads from it to anybody any more.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import suppress
from typing import Any, TypeAlias

import msgspec
from msgspec import Raw, Struct
from msgspec.structs import replace
from sqlalchemy import ColumnElement, RowMapping, Select, and_, bindparam, delete, or_, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from ...record import record_of
from ..play.acts import Sat, read_act, write_act
from ..play.entries import day_of, now
from ..play.game import Game
from ..play.refusals import NoSuchTable, Refused, Unavailable
from ..play.rooms import Rooms, terms_of
from ..pools import BACKGROUND, Bounds, WorkPool
from ..storage import schema
from ..storage.database import Database
from ..storage.notices import announce_person
from ..storage.tables import TableStore
from .names import DELETED
from .people import People
from .person import Person

FORMAT = "axio-export/1"
MOST_EXPORTS = Bounds(10, 1, "too many exports are being made")
AT_ONCE = 200

_Sat: TypeAlias = tuple[str, int, Sat]  # a table, the number of an entry, and what it says

log = logging.getLogger(__name__)


class OwnSeat(Struct, frozen=True):
    """A seat of the person, and the name that was shown there."""

    seat: int
    name: str


class OwnTable(Struct, frozen=True):
    """A table that the person sits at or has opened; `record` is its game, once that is over."""

    id: str
    game: str
    players: int
    options: dict[str, bool]
    public: bool
    move_time: int | None
    daily: str | None
    status: str
    opened: bool
    created: int
    updated: int
    seats: list[OwnSeat]
    record: Raw | None


class OwnResult(Struct, frozen=True):
    """A line of a daily deal's board."""

    day: str
    game: str
    table: str
    name: str
    scores: list[int]
    finished: int


class EndedSession(Struct, frozen=True):
    """A session that was signed out by itself."""

    session: str
    at: int


class HostAction(Struct, frozen=True):
    """Something that a host did with the person's data."""

    action: str
    at: int


class Export(Struct, frozen=True):
    """Everything that is kept of a person. Times are milliseconds since 1970."""

    format: str
    id: str
    name: str
    username: str | None
    password: bool
    phrase: bool
    created: int | None
    seen: int | None
    banned: int | None
    sessions_ended: list[EndedSession]
    tables: list[OwnTable]
    daily_results: list[OwnResult]
    reviews_asked_for: list[str]
    host_actions: list[HostAction]


class PersonalData:
    """Exports and deletes what is kept of people."""

    def __init__(self, database: Database, store: TableStore, people: People, rooms: Rooms) -> None:
        self._database = database
        self._store = store
        self._people = people
        self._rooms = rooms
        self._replaying = WorkPool("export", 1, MOST_EXPORTS, niceness=BACKGROUND)
        self._erasing = asyncio.Lock()

    def close(self) -> None:
        """Export nothing any more."""
        self._replaying.close()

    # ------------------------------------------------------------ export

    async def export(self, person: Person) -> Export:
        """Return everything that is kept of a person, without secrets. Raises `Busy`."""
        async with self._database.reading() as connection:
            rows = await _rows(connection, select(schema.people).where(schema.people.c.id == person.id))
            own = schema.results.c.person == person.id
            results = await _rows(connection, select(schema.results).where(own))
            ended = schema.revoked_sessions.c.person == person.id
            sessions = await _rows(connection, select(schema.revoked_sessions).where(ended))
            asked = schema.reviews.c.person == person.id
            reviews = await _rows(connection, select(schema.reviews.c.table_id).where(asked))
            about = schema.audit.c.subject == person.id
            actions = await _rows(connection, select(schema.audit.c.action, schema.audit.c.at).where(about))
            tables = await _rows(connection, _tables_of(person.id))
        kept = rows[0] if rows else {"created": None, "seen": None, "banned": None, "password": None}
        return Export(
            format=FORMAT,
            id=person.id,
            name=person.name,
            username=person.username,
            password=kept["password"] is not None,
            phrase=person.phrase,
            created=kept["created"],
            seen=kept["seen"],
            banned=kept["banned"],
            sessions_ended=[EndedSession(row["session"], row["at"]) for row in sessions],
            tables=await self._tables(person.id, tables),
            daily_results=[_result(row) for row in results],
            reviews_asked_for=[row["table_id"] for row in reviews],
            host_actions=[HostAction(row["action"], row["at"]) for row in actions],
        )

    async def _tables(self, person: str, rows: Sequence[RowMapping]) -> list[OwnTable]:
        made = []
        for first in range(0, len(rows), AT_ONCE):
            some = rows[first : first + AT_ONCE]
            seats = await self._store.seats([row["id"] for row in some])
            for row in some:
                record = None
                if row["status"] == "over":
                    record = await self._record(row, person)
                own = [
                    OwnSeat(seat["seat"], seat["name"])
                    for seat in seats[row["id"]]
                    if seat["person"] == person
                ]
                made.append(_table(row, person, own, record))
        return made

    async def _record(self, row: RowMapping, person: str) -> Raw | None:
        """The record of a game that is over, `None` if it cannot be read."""
        entries = await self._store.entries(row["id"])
        try:
            return await self._replaying.run(_record, row, entries, asker=person)
        except Refused:
            raise
        except Exception:  # one damaged table keeps nobody from their data
            log.exception("the game at table %s could not be exported", row["id"])
            return None

    # ------------------------------------------------------------ deletion

    async def erase(self, person: Person) -> None:
        """Delete what is kept of a person.

        Bots take over unfinished games with others, tables without others are closed. The name is taken out
        of finished games and results, all sessions end, and nobody can come back as this person. If it fails,
        it can be done again.
        """
        async with self._erasing:
            begun = now()
            await self._people.keep(person)
            await self._leave_tables(person.id)
            await self._write_names(person.id, DELETED, begun)
            async with self._database.writing() as connection:
                await _erase(connection, person.id)
                await announce_person(connection, person.id)
        await self._people.heard(person.id)
        await self._rooms.rename(person.id, DELETED)

    async def rename(self, person: Person, name: str) -> None:
        """Give a person another name, also at the tables where they sat down before. Raises `BadName`."""
        async with self._erasing:
            begun = now()
            name = (await self._people.rename(person, name)).name
            await self._write_names(person.id, name, begun)
        await self._rooms.rename(person.id, name)

    async def _write_names(self, person: str, name: str, begun: int) -> None:
        """Write a person's name into all tables and results, also those of tables used since it was begun."""
        async for some in self._sat_down(person, name):
            async with self._database.writing() as connection:
                await _write_name(connection, some, name)
        async with self._database.writing() as connection:
            late = and_(schema.tables.c.updated >= begun, schema.tables.c.id.in_(_sits(person)))
            await _write_name(connection, await _sat_down(connection, person, name, late), name)
            for table in (schema.seats, schema.results):
                await connection.execute(update(table).where(table.c.person == person).values(name=name))

    async def _sat_down(self, person: str, name: str) -> AsyncIterator[list[_Sat]]:
        """The entries by which a person sat down, some at a time: no query may take long."""
        tables, last = schema.tables, ""
        async with self._database.reading() as connection:
            known = select(schema.people.c.created).where(schema.people.c.id == person)
            created = (await connection.execute(known)).scalar() or 0
        while True:
            query = select(tables.c.id).where(tables.c.id > last, tables.c.updated >= created)
            async with self._database.reading() as connection:
                found = await connection.execute(query.order_by(tables.c.id).limit(AT_ONCE))
                ids = [row[0] for row in found]
                sat = await _sat_down(connection, person, name, tables.c.id.in_(ids))
            if not ids:
                return
            yield sat
            last = ids[-1]

    async def _leave_tables(self, person: str) -> None:
        for table_id in await self._store.unfinished_of(person):
            try:
                await (await self._rooms.get(table_id)).give_up(person)
            except NoSuchTable:
                pass  # it has been deleted meanwhile
            except Unavailable:
                raise
            except Exception:  # a table that cannot be read keeps nobody from deleting their data
                log.exception("a person could not leave table %s", table_id)

    async def heard(self, person_id: str) -> Person:
        """Follow what another process has done to a person: what they are now."""
        person = await self._people.heard(person_id)
        if person.erased:
            await self._rooms.rename(person_id, DELETED)
        return person

    async def compare(self) -> None:
        """Find out what was done to those who are here, where no notice of it has come."""
        here = self._rooms.seated() | set(self._people.sessions.people)
        for person in await self._people.refresh(sorted(here)):
            if person.erased:
                await self._rooms.rename(person.id, DELETED)


def _sits(person: str) -> Select[tuple[str]]:
    """The ids of the tables that a person sits at."""
    return select(schema.seats.c.table_id).where(schema.seats.c.person == person)


def _tables_of(person: str) -> Any:
    tables = schema.tables
    own = or_(tables.c.owner == person, tables.c.id.in_(_sits(person)))
    return select(tables).where(own).order_by(tables.c.created)


def _record(row: RowMapping, entries: Iterable[tuple[int, int, str]]) -> Raw:
    game = Game.opened(terms_of(row))
    for _, _, body in entries:
        game.carry_out(read_act(body))
    assert game.table is not None, "a game that is over has begun"
    secret = game.terms.daily is not None and game.terms.daily >= day_of(now())
    return Raw(
        record_of(game.table, [seat.name for seat in game.seats], with_seed=not secret).to_json().encode()
    )


def _table(row: RowMapping, person: str, own: list[OwnSeat], record: Raw | None) -> OwnTable:
    return OwnTable(
        id=row["id"],
        game=row["game"],
        players=row["players"],
        options=msgspec.json.decode(row["options"]),
        public=bool(row["public"]),
        move_time=row["move_time"],
        daily=row["daily"],
        status=row["status"],
        opened=row["owner"] == person,
        created=row["created"],
        updated=row["updated"],
        seats=own,
        record=record,
    )


def _result(row: RowMapping) -> OwnResult:
    scores = msgspec.json.decode(row["scores"])
    return OwnResult(row["day"], row["game"], row["table_id"], row["name"], scores, row["finished"])


async def _rows(connection: AsyncConnection, query: Any) -> list[RowMapping]:
    return list((await connection.execute(query)).mappings())


# ------------------------------------------------------------ in the database


async def _sat_down(
    connection: AsyncConnection, person: str, name: str, where: ColumnElement[bool]
) -> list[_Sat]:
    """The entries of some tables by which a person sat down with another name, also on seats they left."""
    entries, tables = schema.entries, schema.tables
    query = select(entries.c.table_id, entries.c.number, entries.c.body).where(
        entries.c.table_id.in_(select(tables.c.id).where(where)), entries.c.body.like('{"a":"sit"%')
    )
    found: list[_Sat] = []
    for table_id, number, body in await connection.execute(query):
        with suppress(msgspec.DecodeError):  # a damaged entry tells nobody anything
            act = read_act(body)
            if isinstance(act, Sat) and act.person == person and act.name != name:
                found.append((table_id, number, act))
    return found


async def _write_name(connection: AsyncConnection, sat: list[_Sat], name: str) -> None:
    entries = schema.entries
    entry = and_(entries.c.table_id == bindparam("at_table"), entries.c.number == bindparam("at_number"))
    rows = [
        {"at_table": table_id, "at_number": number, "changed": write_act(replace(act, name=name))}
        for table_id, number, act in sat
    ]
    if rows:
        await connection.execute(update(entries).where(entry).values(body=bindparam("changed")), rows)


async def _erase(connection: AsyncConnection, person: str) -> None:
    people, ended = schema.people, schema.revoked_sessions
    gone = {"name": DELETED, "phrase": None, "username": None, "password": None, "seen": None}
    # The row stays, so that no old token makes a guest of this id: `created` of 0 says that it is nobody.
    changed = update(people).where(people.c.id == person)
    await connection.execute(changed.values(**gone, created=0, epoch=people.c.epoch + 1))
    await connection.execute(delete(ended).where(ended.c.person == person))
    await _take_names_out_of_the_log(connection, person)


async def _take_names_out_of_the_log(connection: AsyncConnection, person: str) -> None:
    """That a host renamed somebody stays in the log, not what the name was before."""
    audit = schema.audit
    for row in await _rows(connection, select(audit.c.id, audit.c.detail).where(audit.c.subject == person)):
        detail = msgspec.json.decode(row["detail"])
        if detail.pop("before", None) is not None:
            without = update(audit).where(audit.c.id == row["id"])
            await connection.execute(without.values(detail=msgspec.json.encode(detail).decode()))
    renamed = and_(schema.audit.c.subject == person, schema.audit.c.action == "person-rename")
    await connection.execute(update(schema.audit).where(renamed).values(detail="{}"))
