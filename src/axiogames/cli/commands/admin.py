"""`admin`: manage the tables and people of a server, with `admin log` and `admin retention`."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import Any, cast

import click

from ...server.domain.game_state import now
from ...server.operations.audit import AuditLog, AuditRecord
from ...server.operations.retention import Retention, RetentionCounts, RetentionPolicy
from ...server.settings import Settings
from ...server.storage.database import Database
from ..terminal.options import TEXT, Integer
from ..terminal.server_options import (
    as_json,
    confirm,
    dry_run,
    echo_json,
    format_time,
    local_operator,
    printable_rows,
    reason,
    retention_options,
    run_on_database,
    server_data,
    yes,
)
from ..terminal.text import format_table
from .admin_people import people
from .admin_tables import tables


@click.command("log")
@server_data
@click.option(
    "--subject", type=TEXT, default="", metavar="ID", help="Only entries about this table or person."
)
@click.option(
    "--action", type=TEXT, default="", metavar="NAME", help="Only this action, such as table-delete."
)
@click.option(
    "--limit", type=Integer(1, 1_000_000), default=50, show_default=True, help="Maximum number of entries."
)
@as_json
def log(*, settings: Settings, subject: str, action: str, limit: int, as_json: bool) -> None:
    """Show the audit log, newest entries first."""

    async def work(database: Database) -> list[AuditRecord]:
        return await AuditLog(database).latest(limit, subject=subject, action=action)

    found = run_on_database(settings, work)
    if as_json:
        echo_json([asdict(record) for record in found])
        return
    rows = [
        [
            format_time(record.at),
            record.actor,
            record.action,
            record.subject,
            ", ".join(f"{name}: {value}" for name, value in record.detail.items()),
        ]
        for record in found
    ]
    for line in format_table(printable_rows(rows)) if rows else ["The log is empty."]:
        click.echo(line)


PRESENCE_UNKNOWN = (
    "This command does not know which players are connected to a running server. It also closes abandoned "
    "tables at which players are present; the server itself does not."
)
SPECTATORS_UNKNOWN = (
    "This command does not know the spectators. It also closes abandoned tables with spectators; the server "
    "keeps tables with spectators in the process that runs retention."
)


@click.command("retention")
@server_data
@retention_options
@reason
@as_json
@dry_run
@yes
def retention(
    *, settings: Settings, reason: str, as_json: bool, dry_run: bool, yes: bool, **days: int
) -> None:
    """Apply the retention policy now: close or delete abandoned data.

    This affects abandoned tables, guests and stored reviews. 0 days means forever. Finished games are never
    deleted. With SQLite, only the server itself knows which players are present: this command also closes
    abandoned tables at which players are present.
    """
    settings = replace(settings, **cast("dict[str, Any]", days))

    async def preview(database: Database) -> RetentionCounts:
        return await retention_of(database).preview(now())

    async def work(database: Database) -> RetentionCounts:
        return await retention_of(database).run_once(now())

    def retention_of(database: Database) -> Retention:
        actor = local_operator(reason)
        return Retention(database, RetentionPolicy.of(settings), settings.max_tables, actor=actor, pause=0.0)

    found = run_on_database(settings, preview)
    if found.open_tables_closed or found.unfinished_games_closed:
        click.echo(SPECTATORS_UNKNOWN if settings.on_postgresql else PRESENCE_UNKNOWN, err=True)
    if not dry_run and found:
        confirm("Close and delete these?", yes)
        found = run_on_database(settings, work)
    if as_json:
        echo_json(asdict(found))
        return
    rows = [[name.replace("_", " "), str(number)] for name, number in asdict(found).items()]
    for line in format_table(rows, right=[1]):
        click.echo(line)


@click.group("admin")
def command() -> None:
    """Manage the tables and people of a server.

    The commands change the database. A running server notices changes within five seconds. All changes are
    written to an audit log, with the name of your account on this machine; `admin log` shows it.
    """


for part in (tables, people, log, retention):
    command.add_command(part)
