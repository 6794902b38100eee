"""`restore`: a server's data from a backup."""

from __future__ import annotations

from pathlib import Path

import click

from ...server.operations.backup import restore_backup
from ...server.settings import Settings
from ..terminal.options import FILE
from ..terminal.server_options import server_data
from ..terminal.text import count


@click.command("restore")
@click.argument("file", type=FILE, metavar="FILE")
@server_data
@click.option("--force", is_flag=True, help="Move data that is there aside.")
def command(file: str, settings: Settings, force: bool) -> None:
    """Put the games, people and key of FILE, which `backup` wrote, in place. Stop the server first.

    The archive is checked before anything is replaced. Data that is there stays where it is unless --force is
    given; then it is moved aside, not deleted.
    """
    manifest, moved = restore_backup(settings, Path(file), force=force)
    for path in moved:
        click.echo(f"What was there is now {path}", err=True)
    click.echo(f"{count(manifest.rows['tables'], 'table')} of {manifest.made} restored to {settings.folder}")
