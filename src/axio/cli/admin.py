"""`admin`: look after the tables and people of a server, running or not."""

from __future__ import annotations

import click

from .admin_log import log
from .admin_people import people
from .admin_retention import retention
from .admin_tables import tables


@click.group("admin")
def command() -> None:
    """Look after the tables and people of a server.

    Works on the database, while the server runs or not; a running server takes notice within five seconds.
    Every change is written to a log with the name of your account on this machine: `admin log` shows it.
    """


for part in (tables, people, log, retention):
    command.add_command(part)
