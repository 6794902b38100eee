"""What `axio admin` and other processes' retention change in the database, a running server follows."""

from __future__ import annotations

from ..identity.personal_data import PersonalData
from ..play.rooms import Rooms
from .audit import AuditLog

EVERY = 2.0  # seconds between two looks at the log
AT_ONCE = 200


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
        """Follow what has been written since the last look."""
        while records := await self._log.after(self._seen, AT_ONCE):
            for record in records:
                if record.action.startswith("table-"):
                    await self._rooms.refresh(record.subject)
                elif record.action.startswith("person-"):
                    await self._rooms.refresh_tables_of(record.subject)
                    person = await self._personal_data.heard(record.subject)
                    if record.action == "person-rename":
                        await self._rooms.rename(person.id, person.name)
                self._seen = record.id
