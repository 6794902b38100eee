"""`restore`: restore the data of a server from a backup."""

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
@click.option("--force", is_flag=True, help="Move existing data aside.")
def command(file: str, settings: Settings, force: bool) -> None:
    """Restore the games, people and key in FILE, an archive written by `backup`. Stop the server first.

    The archive is verified before anything is replaced. Existing data is kept unless --force is given; then
    it is moved aside, not deleted.
    """
    manifest, moved = restore_backup(settings, Path(file), force=force)
    for path in moved:
        click.echo(f"Existing data was moved to {path}", err=True)
    click.echo(f"{count(manifest.rows['tables'], 'table')} of {manifest.made} restored to {settings.folder}")
