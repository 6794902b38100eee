"""A server's database, for tools that work beside the server."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from sqlalchemy import text
from sqlalchemy.exc import SQLAlchemyError

from ..domain.refusals import Unavailable
from ..domain.rooms import Rooms
from ..identity.personal_data import PersonalData
from ..settings import BadSetting, Settings, sqlite_file
from ..storage.database import Database, is_unavailable, reason
from ..storage.inspection import VERSIONS, check_schema
from ..storage.schema import newest_revision
from .audit import AuditLog, AuditRecord


@asynccontextmanager
async def open_database(settings: Settings) -> AsyncIterator[Database]:
    """The database of a server, which may run meanwhile. Raises `BadSetting` if it cannot be used.

    Nothing is created or upgraded here: only a server does that.
    """
    settings.check()
    if not settings.on_postgresql:
        file = sqlite_file(settings.url)
        if file is None or not file.is_file():
            raise BadSetting(f"there is no database at {file}: name its folder with --data")
    database = Database(settings.url)
    logging.disable(logging.WARNING)  # what is wrong is said in one sentence
    try:
        try:
            await _check(database)
        except UnicodeError as error:  # a host that cannot be
            raise BadSetting(f"the database cannot be used: {reason(error)}") from None
        yield database
    except (Unavailable, SQLAlchemyError) as error:  # not what becomes of files that are written meanwhile
        why = reason(error.__cause__ or error) or "it does not answer"
        raise BadSetting(f"the database cannot be used: {why}") from None
    finally:
        logging.disable(logging.NOTSET)
        await database.close()


async def _check(database: Database) -> None:
    async with database.reading() as connection:
        await connection.run_sync(check_schema)
        found = (await connection.execute(text(f"SELECT version_num FROM {VERSIONS}"))).scalar()
    if found != newest_revision():
        raise BadSetting(f"the database has an older schema ({found}): start the server once, it upgrades it")


EVERY = 2.0  # seconds between two looks at the log
AT_ONCE = 200

log = logging.getLogger(__name__)


class Following:
    """Reads the audit log on and brings what this process has in memory up to date."""

    def __init__(self, log: AuditLog, rooms: Rooms, personal_data: PersonalData) -> None:
        self._log = log
        self._rooms = rooms
        self._personal_data = personal_data
        self._seen = 0

    async def start(self) -> None:
        """Note where the log ends: what comes after is followed."""
        self._seen = await self._log.newest()

    async def poll(self) -> None:
        """Follow what has been written since the last look. Raises `Unavailable`.

        A record that cannot be followed is logged and passed: it must not hold up those after it.
        """
        while records := await self._log.after(self._seen, AT_ONCE):
            for record in records:
                try:
                    await self._follow(record)
                except Exception as error:
                    if isinstance(error, Unavailable) or is_unavailable(error):
                        raise  # it is followed when the database answers
                    log.exception("%s of %s could not be followed", record.action, record.subject)
                self._seen = max(self._seen, record.id)

    async def _follow(self, record: AuditRecord) -> None:
        if record.action.startswith("table-"):
            await self._rooms.refresh(record.subject)
        elif record.action.startswith("person-"):
            await self._rooms.refresh_tables_of(record.subject)
            await self._personal_data.heard(record.subject)
