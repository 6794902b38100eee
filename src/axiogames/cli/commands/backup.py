"""`backup`: one archive of a server's games, people and key, made while it runs."""

from __future__ import annotations

import os
from pathlib import Path

import click
import msgspec

from ...server.operations.backup import database_file, make_backup
from ...server.settings import Settings
from ..terminal.options import FILE
from ..terminal.progress import progress
from ..terminal.server_options import server_data
from ..terminal.text import count


@click.command("backup")
@click.argument("file", type=FILE, metavar="FILE")
@server_data
@click.option("--force", is_flag=True, help="Replace FILE if it exists.")
@click.option("--json", "as_json", is_flag=True, help="Print what the backup holds as JSON.")
def command(file: str, settings: Settings, force: bool, as_json: bool) -> None:
    """Write everything a server keeps to FILE, a .tar.gz archive, while it runs or not.

    FILE holds the database as of one moment and the secret key: whoever has it can sign in as anybody, so
    keep it private. `restore` puts it back. A database on PostgreSQL is backed up by pg_dump
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
        click.echo("The key is not in it: keep AXIO_KEY as well, or nobody is known again.", err=True)
