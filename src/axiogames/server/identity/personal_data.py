"""What is kept of a person: exported for them, and deleted.

Finished games are kept for those who played them, with "Deleted player" in place of the name. The random id
of the person stays in them; nothing leads from it to anybody any more. Results of daily deals stay as well if
they were listed.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, AsyncIterator, Collection, Iterable, Mapping, Sequence
from contextlib import aclosing, suppress
from typing import Any, TypeAlias

import msgspec
from msgspec import Raw, Struct
from sqlalchemy import ColumnElement, RowMapping, Select, and_, bindparam, delete, or_, select, tuple_, update
from sqlalchemy.ext.asyncio import AsyncConnection

from ...model.record import record_of
from ..domain.entries import read_act
from ..domain.game_state import Game, day_of, now
from ..domain.refusals import NoSuchTable, Refused, Unavailable
from ..domain.rooms import Rooms, terms_of
from ..storage import schema
from ..storage.database import Database
from ..storage.journal import announce_person
from ..storage.tables import NEW, TableStore
from ..work_pools import BACKGROUND, Bounds, Busy, WorkPool
from .names import DELETED
from .people import People
from .tokens import Person

FORMAT = "axio-export/1"
MOST_EXPORTS = Bounds(10, 1, "too many exports are being made")
AT_ONCE = 200
TRIES = 20  # to leave a table at which somebody moves
RETRY = 1.0  # seconds until an export that has begun asks again for a place in a full queue
FOLLOWED = 60_000  # milliseconds within which every process knows that somebody was deleted

_Entry: TypeAlias = tuple[str, int, dict[str, Any]]  # a table, the number of an entry, and what it says

_END = b"]\n}"  # of an export, whose last field is a list

log = logging.getLogger(__name__)


class OwnSeat(Struct, frozen=True):
    """A seat of the person, and the name that was shown there."""

    seat: int
    name: str


class OwnTable(Struct, frozen=True):
    """A table that the person sits at, has opened, or was at: `left` has the seats that they were on before.

    `record` is its game, once that is over.
    """

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
    left: list[OwnSeat]
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
    daily_results: list[OwnResult]
    reviews_asked_for: list[str]
    host_actions: list[HostAction]
    tables: list[OwnTable]  # the last field: they are written one by one


class PersonalData:
    """Exports and deletes what is kept of people."""

    def __init__(self, database: Database, store: TableStore, people: People, rooms: Rooms) -> None:
        self._database = database
        self._store = store
        self._people = people
        self._rooms = rooms
        self._replaying = WorkPool("export", 1, MOST_EXPORTS, niceness=BACKGROUND, yields=True)
        self._erasing = asyncio.Lock()

    def close(self) -> None:
        """Export nothing any more."""
        self._replaying.close()

    # ------------------------------------------------------------ export

    async def export(self, person: Person) -> AsyncIterator[bytes]:
        """Return everything that is kept of a person as JSON (an `Export`), without secrets, in pieces.

        A piece is made when it is asked for, and has one table at most. Raises `Busy` before the first one.
        """
        self._replaying.check(person.id)
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
        kept = rows[0] if rows else {"created": None, "seen": None, "banned": None, "password": None}
        head = Export(
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
            daily_results=[_result(row) for row in results],
            reviews_asked_for=[row["table_id"] for row in reviews],
            host_actions=[HostAction(row["action"], row["at"]) for row in actions],
            tables=[],
        )
        return self._pieces(head, person.id, kept["created"])

    async def _pieces(self, head: Export, person: str, created: int | None) -> AsyncGenerator[bytes, None]:
        yield _json(head).removesuffix(_END)
        separator = b"\n"
        async with aclosing(self._tables(person, created)) as tables:
            async for table in tables:
                yield separator + _json(table)
                separator = b",\n"
        yield _END + b"\n"

    async def _tables(self, person: str, created: int | None) -> AsyncGenerator[OwnTable, None]:
        """The tables that a person sits at or has opened, then those that only the log knows of."""
        told: set[str] = set()
        async with aclosing(self._pages(person, created)) as pages:
            async for rows in pages:
                page = {row["id"]: row for row in rows if row["id"] not in told}
                told |= page.keys()
                seats = await self._store.seats(list(page))
                async with self._database.reading() as connection:
                    named = await _naming(connection, person, schema.entries.c.table_id.in_(page))
                for table_id, row in page.items():
                    own = _own_seats(
                        (seat["seat"], seat) for seat in seats[table_id] if seat["person"] == person
                    )
                    was = _own_seats((say.get("seat"), say) for at, _, say in named if at == table_id)
                    left = [seat for seat in was if seat.seat not in {one.seat for one in own}]
                    record = await self._record(row, person) if row["status"] == "over" else None
                    yield _table(row, person, own, left, record)

    async def _pages(self, person: str, created: int | None) -> AsyncGenerator[Sequence[RowMapping], None]:
        """The rows of the tables that a person is or was at, some at a time: no query may take long."""
        tables = schema.tables
        own = or_(tables.c.owner == person, tables.c.id.in_(_sits(person)))
        place, last = tuple_(tables.c.created, tables.c.id), (-1, "")
        while True:
            query = select(tables).where(own, place > tuple_(*last)).order_by(*place).limit(AT_ONCE)
            async with self._database.reading() as connection:
                rows = await _rows(connection, query)
            if not rows:
                break
            yield rows
            last = rows[-1]["created"], rows[-1]["id"]
        if created is None:
            return  # somebody who has done nothing
        async with aclosing(self._every_table(created)) as every:
            async for ids in every:
                async with self._database.reading() as connection:
                    named = await _naming(connection, person, schema.entries.c.table_id.in_(ids))
                    found = {table_id for table_id, _, _ in named}
                    rows = await _rows(connection, select(tables).where(tables.c.id.in_(found), ~own))
                if rows:
                    yield rows

    async def _record(self, row: RowMapping, person: str) -> Raw | None:
        """The record of a game that is over, `None` if it cannot be read or the person has not played."""
        entries = await self._store.entries(row["id"])
        while True:
            try:
                return await self._replaying.run(_record, row, entries, person, asker=person)
            except Busy:
                if self._replaying.closed:
                    raise  # the server stops
                await asyncio.sleep(RETRY)
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
            await self._show_name(person.id, DELETED, begun)

    async def rename(self, person: Person, name: str) -> None:
        """Give a person another name, also at the tables where they sat down before. Raises `BadName`."""
        async with self._erasing:
            begun = now()
            name = (await self._people.rename(person, name)).name
            await self._write_names(person.id, name, begun)
            async with self._database.writing() as connection:
                await announce_person(connection, person.id)  # again: now it is at the tables, too
            await self._show_name(person.id, name, begun)

    async def _write_names(self, person: str, name: str, begun: int) -> None:
        """Write a person's name into all tables and results, also those of tables used since it was begun."""
        async with self._database.reading() as connection:
            known = select(schema.people.c.created).where(schema.people.c.id == person)
            created = (await connection.execute(known)).scalar() or 0
        async with aclosing(self._every_table(created)) as every:
            async for ids in every:
                async with self._database.reading() as connection:
                    named = await _naming(connection, person, schema.entries.c.table_id.in_(ids))
                if named:
                    async with self._database.writing() as connection:
                        await _write_name(connection, named, name)
        await self._write_late_names(person, name, begun)

    async def _show_name(self, person: str, name: str, begun: int) -> None:
        """Show a person's name at the tables in memory, and write it where they have written another one."""
        await self._rooms.rename(person, name)  # from here on, rooms of this process write no other
        await self._write_late_names(person, name, begun)
        await self._rooms.rename(person, name)  # those that were loaded meanwhile

    async def _write_late_names(self, person: str, name: str, begun: int) -> None:
        """Write a person's name into the tables used since a time, and into all seats and results."""
        tables = schema.tables
        late = select(tables.c.id).where(tables.c.updated >= begun, tables.c.id.in_(_sits(person)))
        async with self._database.writing() as connection:
            named = await _naming(connection, person, schema.entries.c.table_id.in_(late))
            await _write_name(connection, named, name)
            for table in (schema.seats, schema.results):
                other = and_(table.c.person == person, table.c.name != name)
                await connection.execute(update(table).where(other).values(name=name))

    async def _every_table(self, since: int) -> AsyncGenerator[list[str], None]:
        """The ids of all tables in use since a time, some at a time."""
        tables, last = schema.tables, ""
        while True:
            query = select(tables.c.id).where(tables.c.id > last, tables.c.updated >= since)
            async with self._database.reading() as connection:
                found = await connection.execute(query.order_by(tables.c.id).limit(AT_ONCE))
                ids = [row[0] for row in found]
            if not ids:
                return
            yield ids
            last = ids[-1]

    async def _leave_tables(self, person: str) -> None:
        for table_id in await self._store.unfinished_of(person):
            try:
                await self._leave(table_id, person)
            except NoSuchTable:
                pass  # it has been deleted meanwhile
            except Unavailable:
                raise
            except Exception:  # a table that cannot be read keeps nobody from deleting their data
                log.exception("a person could not leave table %s", table_id)

    async def _leave(self, table_id: str, person: str) -> None:
        room = await self._rooms.get(table_id)
        for left in reversed(range(TRIES)):
            try:
                await room.give_up(person)
                return
            except Refused as error:
                if error.code != "stale" or not left:  # another process has written something at this moment
                    raise

    async def heard(self, person_id: str) -> Person:
        """Follow what another process has done to a person: what they are now."""
        person = await self._people.heard(person_id)
        if person.erased:
            # Until now they may have sat down here, with their name.
            await self._show_name(person_id, DELETED, now() - FOLLOWED)
        else:
            await self._rooms.refresh_names(person_id)
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


def _own_seats(told: Iterable[tuple[Any, Mapping[str, Any] | RowMapping]]) -> list[OwnSeat]:
    """The different seats and names of rows or entries; what cannot be one is left out."""
    found = {(seat, named.get("name")): None for seat, named in told if isinstance(seat, int)}
    return [OwnSeat(seat, name) for seat, name in found if isinstance(name, str)]


def _record(row: RowMapping, entries: Iterable[tuple[int, int, str]], person: str) -> Raw | None:
    """The record of a game; `None` if it is not that of a person, who has neither opened nor played it."""
    game = Game.opened(terms_of(row))
    theirs = row["owner"] == person
    for _, _, body in entries:
        game.carry_out(read_act(body))
        theirs = theirs or (game.table is not None and bool(game.seats_of(person)))
    if not theirs:
        return None
    assert game.table is not None, "a game that is over has begun"
    secret = game.terms.daily is not None and game.terms.daily >= day_of(now())
    return Raw(
        record_of(game.table, [seat.name for seat in game.seats], with_seed=not secret).to_json().encode()
    )


def _table(
    row: RowMapping, person: str, own: list[OwnSeat], left: list[OwnSeat], record: Raw | None
) -> OwnTable:
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
        left=left,
        record=record,
    )


def _result(row: RowMapping) -> OwnResult:
    scores = msgspec.json.decode(row["scores"])
    return OwnResult(row["day"], row["game"], row["table_id"], row["name"], scores, row["finished"])


def _json(value: Struct) -> bytes:
    return msgspec.json.format(msgspec.json.encode(value), indent=1)


async def _rows(connection: AsyncConnection, query: Any) -> list[RowMapping]:
    return list((await connection.execute(query)).mappings())


# ------------------------------------------------------------ in the database


async def _naming(connection: AsyncConnection, person: str, where: ColumnElement[bool]) -> list[_Entry]:
    """The entries that name a person, as when they sat down or were invited, also on seats they left.

    They are read as JSON only: those of other versions have the same fields, whatever else they say.
    """
    entries = schema.entries
    query = select(entries.c.table_id, entries.c.number, entries.c.body).where(
        where, entries.c.body.contains(f'"person":"{person}"', autoescape=True)
    )
    found: list[_Entry] = []
    for table_id, number, body in await connection.execute(
        query.order_by(entries.c.table_id, entries.c.number)
    ):
        with suppress(msgspec.DecodeError, RecursionError):  # a damaged entry tells nobody anything
            said = msgspec.json.decode(body)
            if isinstance(said, dict) and said.get("person") == person:
                found.append((table_id, number, said))
    return found


async def _write_name(connection: AsyncConnection, named: Collection[_Entry], name: str) -> None:
    entries = schema.entries
    entry = and_(entries.c.table_id == bindparam("at_table"), entries.c.number == bindparam("at_number"))
    rows = [
        {
            "at_table": table_id,
            "at_number": number,
            "changed": msgspec.json.encode({**said, "name": name}).decode(),
        }
        for table_id, number, said in named
        if said.get("name", name) != name
    ]
    if rows:
        await connection.execute(update(entries).where(entry).values(body=bindparam("changed")), rows)


async def _erase(connection: AsyncConnection, person: str) -> None:
    people, ended = schema.people, schema.revoked_sessions
    gone = {"name": DELETED, "phrase": None, "username": None, "password": None, "seen": None}
    # The row stays, so that no old token makes a guest of this id: `created` of 0 says that it is nobody.
    await _delete_unlisted_results(connection, person)
    changed = update(people).where(people.c.id == person)
    await connection.execute(changed.values(**gone, created=0, epoch=people.c.epoch + 1))
    await connection.execute(delete(ended).where(ended.c.person == person))
    await _take_names_out_of_the_log(connection, person)


async def _delete_unlisted_results(connection: AsyncConnection, person: str) -> None:
    """Delete the results that are listed for the person only, who was new: nobody can tell any more."""
    results, people = schema.results, schema.people
    came = select(people.c.created).where(people.c.id == person).scalar_subquery()
    unlisted = and_(results.c.person == person, results.c.finished - NEW < came)
    await connection.execute(delete(results).where(unlisted))


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
