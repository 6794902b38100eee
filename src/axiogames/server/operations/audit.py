"""The audit log: what was done with `axio admin` and by retention, by whom, when and why.

A row about a table is written in the same transaction as the change, one about a person right after it.
Running servers follow the log, so that what they have in memory changes, too (`following.py`).
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
_ORDER = 7_412_962  # any number that names our lock in PostgreSQL
LONGEST_NAME, LONGEST_REASON = 64, 500


@dataclass(frozen=True, slots=True)
class Actor:
    """Who changes something, and why."""

    name: str
    reason: str = ""


@dataclass(frozen=True, slots=True)
class AuditRecord:
    """A line of the log. `subject` is the id of a table or person; `detail` depends on the action."""

    id: int
    at: int
    actor: str
    action: str
    subject: str
    detail: dict[str, Any]


def operator(reason: str = "") -> Actor:
    """The user of the operating system who runs this process; the one behind `sudo` where there is one."""
    try:
        name = getpass.getuser()
    except (OSError, KeyError):  # a user without a name, as in some containers
        name = f"uid {os.getuid()}" if hasattr(os, "getuid") else "unknown"
    behind = os.environ.get("SUDO_USER", "")
    if behind and behind != name:
        name = f"{behind} as {name}"
    name = name.encode(errors="replace").decode()  # an environment may hold bytes that are no text
    return Actor(name[:LONGEST_NAME], " ".join(reason.split())[:LONGEST_REASON])


def write_audit(connection: Connection, /, actor: Actor, action: str, subject: str, **detail: Any) -> None:
    """Add a line to the log, as part of a transaction."""
    if actor.reason:
        detail["reason"] = actor.reason
    on_postgresql = connection.dialect.name == "postgresql"
    if on_postgresql:
        # Ids must become visible in order, or who reads on after the last one would miss a line.
        connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": _ORDER})
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
    """Reads the log."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def newest(self) -> int:
        """The number of the last line, 0 if there is none."""
        async with self._database.reading() as connection:
            return int(
                (await connection.execute(select(func.coalesce(func.max(audit.c.id), 0)))).scalar_one()
            )

    async def after(self, number: int, limit: int) -> list[AuditRecord]:
        """The lines after one, in order."""
        return await self._read(select(audit).where(audit.c.id > number).order_by(audit.c.id).limit(limit))

    async def latest(self, limit: int, *, subject: str = "", action: str = "") -> list[AuditRecord]:
        """The last lines, the newest first; those about a subject, or of an action, if one is given."""
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
