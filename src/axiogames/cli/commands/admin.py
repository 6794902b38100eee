"""`admin retention`: what the rules would close and delete, and doing it now."""

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
    cells,
    confirm,
    dry_run,
    echo_json,
    in_the_name_of_the_user,
    on_database,
    reason,
    retention_options,
    server_data,
    when,
    yes,
)
from ..terminal.text import format_table
from .admin_people import people
from .admin_tables import tables


@click.command("log")
@server_data
@click.option(
    "--subject", type=TEXT, default="", metavar="ID", help="Only what is about this table or person."
)
@click.option("--action", type=TEXT, default="", metavar="NAME", help="Only this kind, such as table-delete.")
@click.option(
    "--limit", type=Integer(1, 1_000_000), default=50, show_default=True, help="At most so many lines."
)
@as_json
def log(settings: Settings, subject: str, action: str, limit: int, as_json: bool) -> None:
    """Show who did what, when and why, the newest first."""

    async def work(database: Database) -> list[AuditRecord]:
        return await AuditLog(database).latest(limit, subject=subject, action=action)

    found = on_database(settings, work)
    if as_json:
        echo_json([asdict(record) for record in found])
        return
    rows = [
        [
            when(record.at),
            record.actor,
            record.action,
            record.subject,
            ", ".join(f"{name}: {value}" for name, value in record.detail.items()),
        ]
        for record in found
    ]
    for line in format_table(cells(rows)) if rows else ["Nothing has been done yet."]:
        click.echo(line)


UNKNOWN_HERE = (
    "This command does not know who is connected to a running server. Tables at which somebody is count as "
    "abandoned, too; the server itself spares them."
)
WATCHERS = (
    "This command does not know who only watches. Tables that are only watched count as abandoned, too; the "
    "server spares those that are watched at the process which runs retention."
)


@click.command("retention")
@server_data
@retention_options
@reason
@as_json
@dry_run
@yes
def retention(settings: Settings, reason: str, as_json: bool, dry_run: bool, yes: bool, **days: int) -> None:
    """Close and delete what has been abandoned, by the rules that a running server follows anyway.

    0 days keep something for ever. Finished games are never deleted. With SQLite, only the server itself
    knows who is at a table: this command closes abandoned ones although somebody is there.
    """
    settings = replace(settings, **cast("dict[str, Any]", days))

    async def look(database: Database) -> RetentionCounts:
        return await made(database).preview(now())

    async def work(database: Database) -> RetentionCounts:
        return await made(database).run_once(now())

    def made(database: Database) -> Retention:
        actor = in_the_name_of_the_user(reason)
        return Retention(database, RetentionPolicy.of(settings), settings.max_tables, actor=actor, pause=0.0)

    found = on_database(settings, look)
    if found.open_tables_closed or found.unfinished_games_closed:
        click.echo(WATCHERS if settings.on_postgresql else UNKNOWN_HERE, err=True)
    if not dry_run and found:
        confirm("Close and delete what has been abandoned?", yes)
        found = on_database(settings, work)
    if as_json:
        echo_json(asdict(found))
        return
    rows = [[name.replace("_", " "), str(number)] for name, number in asdict(found).items()]
    for line in format_table(rows, right=[1]):
        click.echo(line)


@click.group("admin")
def command() -> None:
    """Look after the tables and people of a server.

    Works on the database, while the server runs or not; a running server takes notice within five seconds.
    Every change is written to a log with the name of your account on this machine: `admin log` shows it.
    """


for part in (tables, people, log, retention):
    command.add_command(part)
