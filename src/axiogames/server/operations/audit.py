"""Audit log of changes by `axio admin` and by retention: action, subject, actor, time and reason.

Records about tables are written in the transaction of the change, records about people right after it.
Running servers follow the log to update their memory (`operations/access.py`).
"""

from __future__ import annotations

import getpass
import os
from dataclasses import dataclass
from typing import Any

import msgspec
from sqlalchemy import Connection, func, insert, select, text

from ..domain.game_state import now
from ..storage.database import Database
from ..storage.journal import CHANNEL
from ..storage.schema import audit

NOTICE = "audit"
_LOCK_ID = 7_412_962  # arbitrary id of the advisory lock in PostgreSQL
MAX_ACTOR_LENGTH, MAX_REASON_LENGTH = 64, 500


@dataclass(frozen=True, slots=True)
class Actor:
    """Author of a change, and the reason for it."""

    name: str
    reason: str = ""


@dataclass(frozen=True, slots=True)
class AuditRecord:
    """One record. `subject` is the id of a table or person; `detail` depends on the action."""

    id: int
    at: int
    actor: str
    action: str
    subject: str
    detail: dict[str, Any]


def operator(reason: str = "") -> Actor:
    """Return the operating-system user of this process as an actor, including the user behind `sudo`."""
    try:
        name = getpass.getuser()
    except (OSError, KeyError):  # no user name, as in some containers
        name = f"uid {os.getuid()}" if hasattr(os, "getuid") else "unknown"
    caller = os.environ.get("SUDO_USER", "")
    if caller and caller != name:
        name = f"{caller} as {name}"
    name = name.encode(errors="replace").decode()  # the environment may contain invalid UTF-8
    return Actor(name[:MAX_ACTOR_LENGTH], " ".join(reason.split())[:MAX_REASON_LENGTH])


def write_audit(connection: Connection, /, actor: Actor, action: str, subject: str, **detail: Any) -> None:
    """Append a record as part of a transaction."""
    if actor.reason:
        detail["reason"] = actor.reason
    on_postgresql = connection.dialect.name == "postgresql"
    if on_postgresql:
        # Ids must become visible in order; otherwise a follower would miss a record.
        connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": _LOCK_ID})
    row = {
        "at": now(),
        "actor": actor.name,
        "action": action,
        "subject": subject,
        "detail": msgspec.json.encode(detail).decode(),
    }
    connection.execute(insert(audit), [row])
    if on_postgresql:
        notice = {"channel": CHANNEL, "notice": f"{NOTICE}:0"}
        connection.execute(text("SELECT pg_notify(:channel, :notice)"), notice)


class AuditLog:
    """Queries of the audit log."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def newest(self) -> int:
        """Return the id of the last record, 0 if there is none."""
        async with self._database.reading() as connection:
            return int(
                (await connection.execute(select(func.coalesce(func.max(audit.c.id), 0)))).scalar_one()
            )

    async def after(self, record_id: int, limit: int) -> list[AuditRecord]:
        """Return the records after an id, oldest first."""
        return await self._read(select(audit).where(audit.c.id > record_id).order_by(audit.c.id).limit(limit))

    async def latest(self, limit: int, *, subject: str = "", action: str = "") -> list[AuditRecord]:
        """Return the last records, newest first, optionally only of a subject or an action."""
        query = select(audit).order_by(audit.c.id.desc()).limit(limit)
        if subject:
            query = query.where(audit.c.subject == subject)
        if action:
            query = query.where(audit.c.action == action)
        return await self._read(query)

    async def _read(self, query: Any) -> list[AuditRecord]:
        async with self._database.reading() as connection:
            rows = (await connection.execute(query)).mappings()
            return [AuditRecord(**{**row, "detail": msgspec.json.decode(row["detail"])}) for row in rows]
