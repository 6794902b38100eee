"""What `axio admin` and other processes' retention change in the database, a running server follows."""

from __future__ import annotations

import logging

from ..identity.personal_data import PersonalData
from ..play.refusals import Unavailable
from ..play.rooms import Rooms
from ..storage.database import is_unavailable
from .audit import AuditLog, AuditRecord

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
