"""What a host can do with people: find, rename, ban, export and erase them.

Works on the database alone, like `tables.py`. A line is written to the log after each change.
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
from ..storage.database import Database
from ..storage.journal import Journal
from ..storage.schema import people, results, seats, tables
from ..storage.tables import TableStore
from .audit import Actor, write_audit
from .tables import NotPossible


class UnknownPerson(AxioError):
    """There is nobody with this id."""

    def __init__(self, person: str) -> None:
        super().__init__(f"there is nobody with the id {person!r}; `admin people find` shows who there is")


class _NoBots(Bots):
    """Bots that leave all moves to the server."""

    async def choose(self, level: str, view: View, person: str = "") -> Choice:
        await asyncio.Event().wait()
        raise AssertionError("nobody sets it")


class PeopleAdministration:
    """Looks after the people of a database, in the name of somebody."""

    def __init__(self, database: Database, people: People, personal_data: PersonalData, actor: Actor) -> None:
        self._database = database
        self._people = people
        self._personal_data = personal_data
        self.actor = actor

    # ------------------------------------------------------------ asking

    async def find(self, wanted: str = "", *, banned: bool = False, limit: int = 50) -> list[RowMapping]:
        """People by id, username or part of their name, whoever came last first."""
        query = select(people).order_by(func.coalesce(people.c.seen, people.c.created).desc(), people.c.id)
        if wanted:
            name = func.lower(people.c.name).contains(wanted.lower(), autoescape=True)
            query = query.where(or_(people.c.id == wanted, people.c.username == wanted.lower(), name))
        if banned:
            query = query.where(people.c.banned.is_not(None))
        if "\0" in wanted:
            return []  # PostgreSQL has no such text
        async with self._database.reading() as connection:
            return list((await connection.execute(query.limit(limit))).mappings())

    async def row(self, person: str) -> RowMapping:
        """A person's row. Raises `UnknownPerson`."""
        async with self._database.reading() as connection:
            query = select(people).where(people.c.id == person)
            row = (await connection.execute(query)).mappings().first() if "\0" not in person else None
        if row is None:
            raise UnknownPerson(person)
        return row

    async def counts(self, person: str) -> dict[str, int]:
        """How many tables a person sits at, by status, and how many results of daily deals they have."""
        sits = select(seats.c.table_id).where(seats.c.person == person)
        by_status = (
            select(tables.c.status, func.count()).where(tables.c.id.in_(sits)).group_by(tables.c.status)
        )
        listed = select(func.count()).select_from(results).where(results.c.person == person)
        async with self._database.reading() as connection:
            found = {row[0]: int(row[1]) for row in await connection.execute(by_status)}
            return {**found, "daily_results": int((await connection.execute(listed)).scalar_one())}

    async def export(self, person: str) -> AsyncIterator[bytes]:
        """Everything that is kept of a person as JSON, without secrets, in pieces. Raises `UnknownPerson`."""
        exported = await self._personal_data.export(await self._known(person))
        await self._log("person-export", person)
        return exported

    # ------------------------------------------------------------ changing

    async def rename(self, person: str, name: str) -> str:
        """Give somebody another name, at their tables too; the name.

        Raises `UnknownPerson`, `BadName`, or `NotPossible` for who has been erased.
        """
        known = await self._known(person)
        if known.erased:
            raise NotPossible(f"{person} has been erased and keeps no name")
        await self._personal_data.rename(known, name)
        await self._log("person-rename", person, before=known.name)
        return (await self._known(person)).name

    async def ban(self, person: str) -> None:
        """Let somebody in no more. Raises `UnknownPerson`, `NotPossible`."""
        known = await self._known(person)
        if known.banned:
            raise NotPossible(f"{person} is banned already")
        await self._people.ban(known)
        await self._log("person-ban", person)

    async def unban(self, person: str) -> None:
        """Let somebody in again. Raises `UnknownPerson`, `NotPossible`."""
        known = await self._known(person)
        if not known.banned:
            raise NotPossible(f"{person} is not banned")
        await self._people.unban(known)
        await self._log("person-unban", person)

    async def erase(self, person: str) -> None:
        """Delete what is kept of somebody; finished games stay without the name. Raises `UnknownPerson`."""
        await self._personal_data.erase(await self._known(person))
        await self._log("person-erase", person)

    async def _known(self, person: str) -> Person:
        await self.row(person)
        return await self._people.find(person)

    async def _log(self, action: str, person: str, **detail: Any) -> None:
        await self._database.transact(
            partial(write_audit, actor=self.actor, action=action, subject=person, **detail)
        )


@asynccontextmanager
async def people_administration(database: Database, actor: Actor) -> AsyncIterator[PeopleAdministration]:
    """Look after people without a server."""
    journal, store, bots = Journal(database), TableStore(database), _NoBots(1, 1.0)
    # The key signs tokens and is needed for nothing that a host does here; a server has the real one.
    known, rooms = People(database, [secrets.token_hex(32)]), Rooms(store, journal, bots)
    personal_data = PersonalData(database, store, known, rooms)
    try:
        yield PeopleAdministration(database, known, personal_data, actor)
    finally:
        rooms.close()
        await journal.close()
        bots.close()
        personal_data.close()
        known.close()
