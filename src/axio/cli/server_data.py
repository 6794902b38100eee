"""The options that say whose data a command is about."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import wraps
from typing import Any
from urllib.parse import urlsplit

import click
from click.core import ParameterSource

from ..server.settings import DATABASE_VARIABLE, Settings
from .parameters import FILE


def hide_password(database: str) -> None:
    """Keep the address of the database from child processes, and warn if all can read its password."""
    os.environ.pop(DATABASE_VARIABLE, None)
    source = click.get_current_context().get_parameter_source("database")
    if source is ParameterSource.COMMANDLINE and _holds_password(database):
        click.echo(
            f"Every local user can read the password in --database: set {DATABASE_VARIABLE} instead.",
            err=True,
        )


def _holds_password(database: str) -> bool:
    try:
        return bool(urlsplit(database).password)
    except ValueError:  # no address at all: the settings say so
        return False


def server_data(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add `--data` and `--database`, and hand the command the `settings` they stand for."""

    @click.option(
        "--data", type=FILE, metavar="FOLDER", help="The server's folder; by default your data folder."
    )
    @click.option(
        "--database",
        metavar="URL",
        default="",
        envvar=DATABASE_VARIABLE,
        show_envvar=True,
        help="The server's database, where it is elsewhere.",
    )
    @wraps(function)
    def command(*arguments: Any, data: str | None, database: str, **more: Any) -> Any:
        folder = os.path.abspath(data) if data else ""
        hide_password(database)
        return function(*arguments, settings=Settings(data=folder, database=database), **more)

    return command
