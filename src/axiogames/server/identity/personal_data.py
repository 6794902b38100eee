"""Export and deletion of personal data.

Finished games stay, with "Deleted player" in place of the name. They still contain the random id of the
person, which is anonymous after the deletion. Listed results of daily deals stay as well.
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
from ..domain.entries import decode_entry
from ..domain.game_state import GameState, day_of, now
from ..domain.log_replay import config_of_row
from ..domain.refusals import NoSuchTable, Refused, Unavailable
from ..domain.rooms import Rooms
from ..storage import schema
from ..storage.database import Database
from ..storage.journal import notify_person_changed
from ..storage.tables import NEW_PERSON_MS, TableStore
from ..work_pools import BACKGROUND_NICENESS, Busy, QueueLimits, WorkPool
from .export_schema import FORMAT, EndedSession, Export, HostAction, OwnResult, OwnSeat, OwnTable
from .names import DELETED_NAME
from .people import People
from .tokens import Person

EXPORT_QUEUE_LIMITS = QueueLimits(10, 1, "too many exports are being made")
QUERY_BATCH = 200
LEAVE_ATTEMPTS = 20  # leaving conflicts with concurrent moves
EXPORT_RETRY_SECONDS = 1.0  # pause of a running export while the queue is full
PROPAGATION_MS = 60_000  # time within which every process learns of a deletion

_NamedEntry: TypeAlias = tuple[str, int, dict[str, Any]]  # table id, entry number, decoded entry

_EXPORT_END = b"]\n}"  # end of the JSON document, whose last field is a list

log = logging.getLogger(__name__)


class PersonalData:
    """Exports, renames and deletes personal data."""

    def __init__(self, database: Database, store: TableStore, people: People, rooms: Rooms) -> None:
        self._database = database
        self._store = store
        self._people = people
        self._rooms = rooms
        self._export_pool = WorkPool(
            "export", 1, EXPORT_QUEUE_LIMITS, niceness=BACKGROUND_NICENESS, yields_gil=True
        )
        self._name_lock = asyncio.Lock()  # held while names are rewritten

    def close(self) -> None:
        """Refuse further exports."""
        self._export_pool.close()

    # ------------------------------------------------------------ export

    async def export(self, person: Person) -> AsyncIterator[bytes]:
        """Return all stored data of a person as JSON (an `Export`), without secrets, in chunks.

        Each chunk contains at most one table and is produced on demand. Raises `Busy` before the first one.
        """
        self._export_pool.check(person.id)
        async with self._database.reading() as connection:
            rows = await _rows(connection, select(schema.people).where(schema.people.c.id == person.id))
            own = schema.results.c.person == person.id
            results = await _rows(connection, select(schema.results).where(own))
            ended = schema.revoked_sessions.c.person == person.id
            sessions = await _rows(connection, select(schema.revoked_sessions).where(ended))
            requested = schema.reviews.c.person == person.id
            reviews = await _rows(connection, select(schema.reviews.c.table_id).where(requested))
            about = schema.audit.c.subject == person.id
            actions = await _rows(connection, select(schema.audit.c.action, schema.audit.c.at).where(about))
        stored = rows[0] if rows else {"created": None, "seen": None, "banned": None, "password": None}
        head = Export(
            format=FORMAT,
            id=person.id,
            name=person.name,
            username=person.username,
            password=stored["password"] is not None,
            phrase=person.phrase,
            created=stored["created"],
            seen=stored["seen"],
            banned=stored["banned"],
            sessions_ended=[EndedSession(row["session"], row["at"]) for row in sessions],
            daily_results=[_result(row) for row in results],
            reviews_asked_for=[row["table_id"] for row in reviews],
            host_actions=[HostAction(row["action"], row["at"]) for row in actions],
            tables=[],
        )
        return self._chunks(head, person.id, stored["created"])

    async def _chunks(self, head: Export, person: str, created: int | None) -> AsyncGenerator[bytes, None]:
        yield _json(head).removesuffix(_EXPORT_END)
        separator = b"\n"
        async with aclosing(self._tables(person, created)) as tables:
            async for table in tables:
                yield separator + _json(table)
                separator = b",\n"
        yield _EXPORT_END + b"\n"

    async def _tables(self, person: str, created: int | None) -> AsyncGenerator[OwnTable, None]:
        """Yield the tables that a person plays at or has opened, then those found in entries only."""
        seen: set[str] = set()
        async with aclosing(self._pages(person, created)) as pages:
            async for rows in pages:
                page = {row["id"]: row for row in rows if row["id"] not in seen}
                seen |= page.keys()
                seats = await self._store.seats(list(page))
                async with self._database.reading() as connection:
                    named = await _entries_naming(connection, person, schema.entries.c.table_id.in_(page))
                for table_id, row in page.items():
                    own = _own_seats(
                        (seat["seat"], seat) for seat in seats[table_id] if seat["person"] == person
                    )
                    former = _own_seats(
                        (entry.get("seat"), entry) for at, _, entry in named if at == table_id
                    )
                    taken = {seat.seat for seat in own}
                    left = [seat for seat in former if seat.seat not in taken]
                    record = await self._record(row, person) if row["status"] == "over" else None
                    yield _table(row, person, own, left, record)

    async def _pages(self, person: str, created: int | None) -> AsyncGenerator[Sequence[RowMapping], None]:
        """Yield rows of the person's current and former tables, in pages to keep queries short."""
        tables = schema.tables
        own = or_(tables.c.owner == person, tables.c.id.in_(_tables_with_seat_of(person)))
        key, last = tuple_(tables.c.created, tables.c.id), (-1, "")
        while True:
            query = select(tables).where(own, key > tuple_(*last)).order_by(*key).limit(QUERY_BATCH)
            async with self._database.reading() as connection:
                rows = await _rows(connection, query)
            if not rows:
                break
            yield rows
            last = rows[-1]["created"], rows[-1]["id"]
        if created is None:
            return  # a guest who is not stored has no entries
        async with aclosing(self._changed_tables(created)) as every:
            async for ids in every:
                async with self._database.reading() as connection:
                    named = await _entries_naming(connection, person, schema.entries.c.table_id.in_(ids))
                    mentioned = {table_id for table_id, _, _ in named}
                    rows = await _rows(connection, select(tables).where(tables.c.id.in_(mentioned), ~own))
                if rows:
                    yield rows

    async def _record(self, row: RowMapping, person: str) -> Raw | None:
        """Return the record of a finished game, `None` if it is unreadable or the person did not play."""
        entries = await self._store.entries(row["id"])
        while True:
            try:
                return await self._export_pool.run(_record, row, entries, person, requester=person)
            except Busy:
                if self._export_pool.closed:
                    raise  # the server is stopping
                await asyncio.sleep(EXPORT_RETRY_SECONDS)
            except Exception:  # a damaged table must not block the export
                log.exception("failed to export the game at table %s", row["id"])
                return None

    # ------------------------------------------------------------ deletion

    async def erase(self, person: Person) -> None:
        """Delete the data of a person.

        Bots take over unfinished games with other people; other unfinished tables are closed. The name is
        removed from finished games and results, and all sessions end for good. Call again after a failure.
        """
        async with self._name_lock:
            begun = now()
            await self._people.ensure_stored(person)
            await self._leave_tables(person.id)
            await self._write_names(person.id, DELETED_NAME, begun)
            async with self._database.writing() as connection:
                await _erase(connection, person.id)
                await notify_person_changed(connection, person.id)
            await self._people.reload(person.id)
            await self._show_name(person.id, DELETED_NAME, begun)

    async def rename(self, person: Person, name: str) -> None:
        """Change a person's name, also at current and former tables. Raises `InvalidName`."""
        async with self._name_lock:
            begun = now()
            name = (await self._people.rename(person, name)).name
            await self._write_names(person.id, name, begun)
            async with self._database.writing() as connection:
                await notify_person_changed(
                    connection, person.id
                )  # again: the names at the tables have changed
            await self._show_name(person.id, name, begun)

    async def _write_names(self, person: str, name: str, begun: int) -> None:
        """Write a person's name to all tables and results, including tables that changed since `begun`."""
        async with self._database.reading() as connection:
            known = select(schema.people.c.created).where(schema.people.c.id == person)
            created = (await connection.execute(known)).scalar() or 0
        async with aclosing(self._changed_tables(created)) as every:
            async for ids in every:
                async with self._database.reading() as connection:
                    named = await _entries_naming(connection, person, schema.entries.c.table_id.in_(ids))
                if named:
                    async with self._database.writing() as connection:
                        await _write_name(connection, named, name)
        await self._write_late_names(person, name, begun)

    async def _show_name(self, person: str, name: str, begun: int) -> None:
        """Update a person's name at tables in memory, and rewrite entries that these tables wrote since."""
        await self._rooms.rename(person, name)  # rooms of this process now write the new name
        await self._write_late_names(person, name, begun)
        await self._rooms.rename(person, name)  # rooms loaded in between

    async def _write_late_names(self, person: str, name: str, begun: int) -> None:
        """Write a person's name to tables that changed since `begun`, and to all seats and results."""
        tables = schema.tables
        late = select(tables.c.id).where(
            tables.c.updated >= begun, tables.c.id.in_(_tables_with_seat_of(person))
        )
        async with self._database.writing() as connection:
            named = await _entries_naming(connection, person, schema.entries.c.table_id.in_(late))
            await _write_name(connection, named, name)
            for table in (schema.seats, schema.results):
                outdated = and_(table.c.person == person, table.c.name != name)
                await connection.execute(update(table).where(outdated).values(name=name))

    async def _changed_tables(self, since: int) -> AsyncGenerator[list[str], None]:
        """Yield the ids of all tables that changed since a time, in pages."""
        tables, last = schema.tables, ""
        while True:
            query = select(tables.c.id).where(tables.c.id > last, tables.c.updated >= since)
            async with self._database.reading() as connection:
                rows = await connection.execute(query.order_by(tables.c.id).limit(QUERY_BATCH))
                ids = [row[0] for row in rows]
            if not ids:
                return
            yield ids
            last = ids[-1]

    async def _leave_tables(self, person: str) -> None:
        for table_id in await self._store.unfinished_tables_of(person):
            try:
                await self._leave(table_id, person)
            except NoSuchTable:
                pass  # it has just been deleted
            except Unavailable:
                raise
            except Exception:  # an unreadable table must not block the deletion
                log.exception("failed to remove a person from table %s", table_id)

    async def _leave(self, table_id: str, person: str) -> None:
        room = await self._rooms.get(table_id)
        for remaining in reversed(range(LEAVE_ATTEMPTS)):
            try:
                await room.leave_table(person)
                return
            except Refused as error:
                if error.code != "stale" or not remaining:  # stale: another process committed an entry
                    raise

    async def reload(self, person_id: str) -> Person:
        """Apply a change of a person by another process, and return the person."""
        person = await self._people.reload(person_id)
        if person.erased:
            # Until now the person may have taken seats at this process, with the old name.
            await self._show_name(person_id, DELETED_NAME, now() - PROPAGATION_MS)
        else:
            await self._rooms.refresh_names(person_id)
        return person

    async def reconcile(self) -> None:
        """Reload all connected or seated people, in case notifications were lost."""
        active = self._rooms.seated() | set(self._people.sessions.people)
        for person in await self._people.refresh(sorted(active)):
            if person.erased:
                await self._rooms.rename(person.id, DELETED_NAME)


def _tables_with_seat_of(person: str) -> Select[tuple[str]]:
    """Return a query for the ids of the tables with a seat of a person."""
    return select(schema.seats.c.table_id).where(schema.seats.c.person == person)


def _own_seats(named: Iterable[tuple[Any, Mapping[str, Any] | RowMapping]]) -> list[OwnSeat]:
    """Return the distinct seats and names in rows or entries; invalid ones are skipped."""
    distinct = {(seat, fields.get("name")): None for seat, fields in named if isinstance(seat, int)}
    return [OwnSeat(seat, name) for seat, name in distinct if isinstance(name, str)]


def _record(row: RowMapping, entries: Iterable[tuple[int, int, str]], person: str) -> Raw | None:
    """Return the record of a game, `None` if the person neither opened nor played it."""
    game = GameState.new(config_of_row(row))
    involved = row["owner"] == person
    for _, at, body in entries:
        game.apply(decode_entry(body), at)
        involved = involved or (game.table is not None and bool(game.seats_of(person)))
    if not involved:
        return None
    assert game.table is not None, "a finished game has been started"
    secret = game.config.daily is not None and game.config.daily >= day_of(now())
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


# ------------------------------------------------------------ statements


async def _entries_naming(
    connection: AsyncConnection, person: str, where: ColumnElement[bool]
) -> list[_NamedEntry]:
    """Return the entries that name a person: seats taken or reserved, including former ones.

    Entries are decoded as plain JSON, so that entries of other versions can be processed as well.
    """
    entries = schema.entries
    query = select(entries.c.table_id, entries.c.number, entries.c.body).where(
        where, entries.c.body.contains(f'"person":"{person}"', autoescape=True)
    )
    named: list[_NamedEntry] = []
    for table_id, number, body in await connection.execute(
        query.order_by(entries.c.table_id, entries.c.number)
    ):
        with suppress(msgspec.DecodeError, RecursionError):  # skip damaged entries
            entry = msgspec.json.decode(body)
            if isinstance(entry, dict) and entry.get("person") == person:
                named.append((table_id, number, entry))
    return named


async def _write_name(connection: AsyncConnection, named: Collection[_NamedEntry], name: str) -> None:
    entries = schema.entries
    key = and_(entries.c.table_id == bindparam("at_table"), entries.c.number == bindparam("at_number"))
    rows = [
        {
            "at_table": table_id,
            "at_number": number,
            "changed": msgspec.json.encode({**entry, "name": name}).decode(),
        }
        for table_id, number, entry in named
        if entry.get("name", name) != name
    ]
    if rows:
        await connection.execute(update(entries).where(key).values(body=bindparam("changed")), rows)


async def _erase(connection: AsyncConnection, person: str) -> None:
    people, ended = schema.people, schema.revoked_sessions
    erased = {"name": DELETED_NAME, "phrase": None, "username": None, "password": None, "seen": None}
    # The row stays, so that an old token cannot recreate the id as a guest. `created` 0 marks it as erased.
    await _delete_unlisted_results(connection, person)
    changed = update(people).where(people.c.id == person)
    await connection.execute(changed.values(**erased, created=0, epoch=people.c.epoch + 1))
    await connection.execute(delete(ended).where(ended.c.person == person))
    await _erase_names_from_audit(connection, person)


async def _delete_unlisted_results(connection: AsyncConnection, person: str) -> None:
    """Delete unlisted results of a new person. Without `created` they would count as listed."""
    results, people = schema.results, schema.people
    first_visit = select(people.c.created).where(people.c.id == person).scalar_subquery()
    unlisted = and_(results.c.person == person, results.c.finished - NEW_PERSON_MS < first_visit)
    await connection.execute(delete(results).where(unlisted))


async def _erase_names_from_audit(connection: AsyncConnection, person: str) -> None:
    """Remove former names from audit records. The records themselves stay."""
    audit = schema.audit
    for row in await _rows(connection, select(audit.c.id, audit.c.detail).where(audit.c.subject == person)):
        detail = msgspec.json.decode(row["detail"])
        if detail.pop("before", None) is not None:
            without = update(audit).where(audit.c.id == row["id"])
            await connection.execute(without.values(detail=msgspec.json.encode(detail).decode()))
    renamed = and_(schema.audit.c.subject == person, schema.audit.c.action == "person-rename")
    await connection.execute(update(schema.audit).where(renamed).values(detail="{}"))
