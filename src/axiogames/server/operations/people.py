"""Administration of people: find, rename, ban, export and erase.

Works on the database alone, like `operations/tables.py`. Each change is recorded in the audit log.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

from sqlalchemy import RowMapping, func, or_, select

from ...errors import AxioError
from ...model.view import View
from ...players import Choice
from ..domain.bots import Bots
from ..domain.rooms import Rooms
from ..identity.people import People
from ..identity.personal_data import PersonalData
from ..identity.tokens import Person
from ..rule_loader import RuleLoader
from ..storage.database import Database
from ..storage.journal import Journal
from ..storage.schema import people, results, seats, tables
from ..storage.tables import TableStore
from .audit import Actor, write_audit
from .tables import InvalidOperation


class UnknownPerson(AxioError):
    """No person has this id."""

    def __init__(self, person: str) -> None:
        super().__init__(f"no person has the id {person!r}: `axio admin people find` lists people")


class _IdleBots(Bots):
    """Bots that never move: this process must not play for anybody."""

    async def choose(self, level: str, view: View, person: str = "") -> Choice:
        await asyncio.Event().wait()
        raise AssertionError("unreachable: the event is never set")


class PeopleAdmin:
    """Reads and changes people on behalf of an actor."""

    def __init__(self, database: Database, people: People, personal_data: PersonalData, actor: Actor) -> None:
        self._database = database
        self._people = people
        self._personal_data = personal_data
        self.actor = actor

    # ------------------------------------------------------------ queries

    async def find(self, text: str = "", *, banned: bool = False, limit: int = 50) -> list[RowMapping]:
        """Return people by id, username or part of their name, the last visitor first."""
        query = select(people).order_by(func.coalesce(people.c.seen, people.c.created).desc(), people.c.id)
        if text:
            name = func.lower(people.c.name).contains(text.lower(), autoescape=True)
            query = query.where(or_(people.c.id == text, people.c.username == text.lower(), name))
        if banned:
            query = query.where(people.c.banned.is_not(None))
        if "\0" in text:
            return []  # PostgreSQL does not support NUL in text
        async with self._database.reading() as connection:
            return list((await connection.execute(query.limit(limit))).mappings())

    async def row(self, person: str) -> RowMapping:
        """Return the row of a person. Raises `UnknownPerson`."""
        async with self._database.reading() as connection:
            query = select(people).where(people.c.id == person)
            row = (await connection.execute(query)).mappings().first() if "\0" not in person else None
        if row is None:
            raise UnknownPerson(person)
        return row

    async def counts(self, person: str) -> dict[str, int]:
        """Return the number of tables of a person by status, and of results of daily deals."""
        sits = select(seats.c.table_id).where(seats.c.person == person)
        by_status = (
            select(tables.c.status, func.count()).where(tables.c.id.in_(sits)).group_by(tables.c.status)
        )
        listed = select(func.count()).select_from(results).where(results.c.person == person)
        async with self._database.reading() as connection:
            counts = {row[0]: int(row[1]) for row in await connection.execute(by_status)}
            return {**counts, "daily_results": int((await connection.execute(listed)).scalar_one())}

    async def export(self, person: str) -> AsyncIterator[bytes]:
        """Return all stored data of a person as JSON, without secrets, in chunks. Raises `UnknownPerson`."""
        exported = await self._personal_data.export(await self._find_stored(person))
        await self._log("person-export", person)
        return exported

    # ------------------------------------------------------------ changes

    async def rename(self, person: str, name: str) -> str:
        """Change a person's name, also at tables, and return the name as stored.

        Raises:
            UnknownPerson: No person has this id.
            InvalidName: The name is not allowed.
            InvalidOperation: The person was erased.
        """
        stored = await self._find_stored(person)
        if stored.erased:
            raise InvalidOperation(f"cannot rename {person}: the person was erased")
        await self._personal_data.rename(stored, name)
        await self._log("person-rename", person, before=stored.name)
        return (await self._find_stored(person)).name

    async def ban(self, person: str) -> None:
        """Ban a person. Raises `UnknownPerson` or `InvalidOperation`."""
        stored = await self._find_stored(person)
        if stored.banned:
            raise InvalidOperation(f"{person} is already banned")
        await self._people.ban(stored)
        await self._log("person-ban", person)

    async def unban(self, person: str) -> None:
        """Lift a ban. Raises `UnknownPerson` or `InvalidOperation`."""
        stored = await self._find_stored(person)
        if not stored.banned:
            raise InvalidOperation(f"{person} is not banned")
        await self._people.unban(stored)
        await self._log("person-unban", person)

    async def erase(self, person: str) -> None:
        """Delete the data of a person; finished games stay without the name. Raises `UnknownPerson`."""
        await self._personal_data.erase(await self._find_stored(person))
        await self._log("person-erase", person)

    async def _find_stored(self, person: str) -> Person:
        await self.row(person)
        return await self._people.find(person)

    async def _log(self, action: str, person: str, **detail: Any) -> None:
        await self._database.transact(
            partial(write_audit, actor=self.actor, action=action, subject=person, **detail)
        )


@asynccontextmanager
async def people_admin(database: Database, actor: Actor) -> AsyncIterator[PeopleAdmin]:
    """Yield a `PeopleAdmin` with the components that it needs, without a server."""
    journal, store, bots = Journal(database), TableStore(database), _IdleBots(1, 1.0, RuleLoader())
    # A random key suffices: administration commands issue no tokens.
    directory, rooms = People(database, [secrets.token_hex(32)]), Rooms(store, journal, bots)
    personal_data = PersonalData(database, store, directory, rooms)
    try:
        yield PeopleAdmin(database, directory, personal_data, actor)
    finally:
        rooms.close()
        await journal.close()
        bots.close()
        personal_data.close()
        directory.close()
