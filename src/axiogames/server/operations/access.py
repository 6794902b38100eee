"""Access of administration tools to the database, and of the running server to their audit log."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from sqlalchemy import text
from sqlalchemy.exc import SQLAlchemyError

from ..domain.refusals import Unavailable
from ..domain.rooms import Rooms
from ..identity.personal_data import PersonalData
from ..settings import InvalidSetting, Settings, sqlite_file
from ..storage.database import Database, driver_message, is_unavailable
from ..storage.inspection import VERSION_TABLE, check_schema
from ..storage.schema import newest_revision
from .audit import AuditLog, AuditRecord

POLL_INTERVAL = 2.0  # seconds between two polls of the audit log
POLL_BATCH = 200

log = logging.getLogger(__name__)


@asynccontextmanager
async def open_database(settings: Settings) -> AsyncIterator[Database]:
    """Open the database of a server, which may be running. Raises `InvalidSetting` if that fails.

    Creates and upgrades nothing; only a server does that.
    """
    settings.check()
    if not settings.on_postgresql:
        file = sqlite_file(settings.url)
        if file is None or not file.is_file():
            raise InvalidSetting(f"no database at {file}: name its folder with --data")
    database = Database(settings.url)
    logging.disable(logging.WARNING)  # the raised error is the only message
    try:
        try:
            await _check_current_schema(database)
        except UnicodeError as error:  # an invalid host name
            raise InvalidSetting(f"cannot use the database: {driver_message(error)}") from None
        yield database
    except (Unavailable, SQLAlchemyError) as error:  # not OSError: the caller may write files
        reason = driver_message(error.__cause__ or error) or "no answer"
        raise InvalidSetting(f"cannot use the database: {reason}") from None
    finally:
        logging.disable(logging.NOTSET)
        await database.close()


async def _check_current_schema(database: Database) -> None:
    async with database.reading() as connection:
        await connection.run_sync(check_schema)
        version = (await connection.execute(text(f"SELECT version_num FROM {VERSION_TABLE}"))).scalar()
    if version != newest_revision():
        raise InvalidSetting(
            f"the database has an older schema ({version}): start the server once to upgrade it"
        )


class AuditFollower:
    """Follows the audit log and updates the state that this process has in memory."""

    def __init__(self, audit_log: AuditLog, rooms: Rooms, personal_data: PersonalData) -> None:
        self._audit_log = audit_log
        self._rooms = rooms
        self._personal_data = personal_data
        self._last_id = 0

    async def start(self) -> None:
        """Skip the existing records."""
        self._last_id = await self._audit_log.newest()

    async def poll(self) -> None:
        """Apply the records since the last poll. Raises `Unavailable`.

        A record that fails is logged and skipped, so that it does not block later ones.
        """
        while records := await self._audit_log.after(self._last_id, POLL_BATCH):
            for record in records:
                try:
                    await self._apply(record)
                except Exception as error:
                    if isinstance(error, Unavailable) or is_unavailable(error):
                        raise  # retried when the database is available
                    log.exception("failed to apply %s of %s", record.action, record.subject)
                self._last_id = max(self._last_id, record.id)

    async def _apply(self, record: AuditRecord) -> None:
        if record.action.startswith("table-"):
            await self._rooms.refresh(record.subject)
        elif record.action.startswith("person-"):
            await self._rooms.refresh_tables_of(record.subject)
            await self._personal_data.reload(record.subject)
