"""`admin log`: who did what with `admin`, when and why."""

from __future__ import annotations

from dataclasses import asdict

import click

from ..server.operations.audit import AuditLog, AuditRecord
from ..server.settings import Settings
from ..server.storage.database import Database
from .admin_options import as_json, cells, echo_json, on_database, when
from .lines import in_columns
from .parameters import TEXT, Integer
from .server_data import server_data


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
    for line in in_columns(cells(rows)) if rows else ["Nothing has been done yet."]:
        click.echo(line)
