"""`backup` and `restore`: archive the data of a server, and restore it."""

from __future__ import annotations

import os
from pathlib import Path

import click
import msgspec

from ...server.operations.backup import database_file, make_backup, restore_backup
from ...server.settings import Settings
from ..terminal.options import FILE
from ..terminal.progress import progress
from ..terminal.server_options import server_data
from ..terminal.text import count


@click.command("backup")
@click.argument("file", type=FILE, metavar="FILE")
@server_data
@click.option("--force", is_flag=True, help="Replace FILE if it exists.")
@click.option("--json", "as_json", is_flag=True, help="Print the manifest of the backup as JSON.")
def backup(*, file: str, settings: Settings, force: bool, as_json: bool) -> None:
    """Write the data of a server to FILE, a .tar.gz archive. The server may be running.

    FILE contains a consistent snapshot of the database, and the secret key. Keep it private: anyone who has
    it can sign in as any user. `axio restore` restores it. Use pg_dump for a PostgreSQL database
    (docs/guides/hosting.md).
    """
    database = database_file(settings)
    size = os.path.getsize(database) if database.exists() else 0
    with progress("packing", size) as advance:
        manifest = make_backup(settings, Path(file), force=force, advance=advance)
    if as_json:
        click.echo(msgspec.json.encode(manifest))
        return
    rows = manifest.rows
    click.echo(
        f"{file}: {count(rows['tables'], 'table')} with {count(rows['entries'], 'entry')}, "
        f"{count(rows['people'], 'person')}"
    )
    if not manifest.key:
        click.echo(
            "The archive does not contain the key: also back up AXIO_KEY, or a restore signs out all users.",
            err=True,
        )


@click.command("restore")
@click.argument("file", type=FILE, metavar="FILE")
@server_data
@click.option("--force", is_flag=True, help="Move existing data aside.")
def restore(*, file: str, settings: Settings, force: bool) -> None:
    """Restore the games, people and key in FILE, an archive of `axio backup`. Stop the server first.

    The archive is verified before anything is replaced. Existing data is an error. With --force it is moved
    aside, not deleted.
    """
    manifest, moved = restore_backup(settings, Path(file), force=force)
    for path in moved:
        click.echo(f"Existing data was moved to {path}", err=True)
    click.echo(f"{count(manifest.rows['tables'], 'table')} of {manifest.made} restored to {settings.folder}")
