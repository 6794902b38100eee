"""Options and helpers of the commands that work on the data of a server."""

from __future__ import annotations

import asyncio
import os
import re
import sys
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import fields
from datetime import UTC, datetime
from functools import wraps
from typing import Any, TypeVar
from urllib.parse import urlsplit

import click
import msgspec
from click.core import ParameterSource

from ...errors import AxioError
from ...server.operations.access import open_database
from ...server.operations.audit import Actor, operator
from ...server.settings import DATABASE_VARIABLE, Settings
from ...server.storage.database import Database
from .options import FILE, TEXT, Integer
from .text import one_line

Done = TypeVar("Done")
_ID_WITH_DASH = re.compile(r"-[A-Za-z0-9_-]{15}")  # ids are random; 1 in 64 starts with a dash


class NotConfirmed(AxioError):
    """The user did not confirm an operation."""


class CommandWithIds(click.Command):
    """A command whose arguments are ids, which may start with a dash."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        options = [param for param in self.params if isinstance(param, click.Option)]
        names = {name for param in options for name in (*param.opts, *param.secondary_opts)}
        before_values = {name for param in options if not param.is_flag for name in param.opts}
        ids, rest = list[str](), list[str]()
        for before, arg in zip(["", *args], args, strict=False):
            is_id = _ID_WITH_DASH.fullmatch(arg) and arg not in names and before not in before_values
            (ids if is_id else rest).append(arg)
        if ids:
            args = [*rest, *(() if "--" in rest else ("--",)), *ids]
        return super().parse_args(ctx, args)


as_json = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
yes = click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
dry_run = click.option("--dry-run", is_flag=True, help="Show the effect without changing anything.")
reason = click.option("--reason", type=TEXT, default="", metavar="TEXT", help="Reason, for the audit log.")


def run_on_database(settings: Settings, work: Callable[[Database], Coroutine[Any, Any, Done]]) -> Done:
    """Run `work` on the database of a server and return its result."""

    async def run() -> Done:
        async with open_database(settings) as database:
            return await work(database)

    return asyncio.run(run())


def local_operator(reason: str) -> Actor:
    """Return the account that runs this command and its reason, for the audit log."""
    return operator(reason)


def confirm(question: str, confirmed: bool) -> None:
    """Ask for confirmation of an irreversible operation, unless it is `confirmed`. Raise `NotConfirmed`."""
    if confirmed:
        return
    if not sys.stdin.isatty():
        raise NotConfirmed(f"{question} Add --yes to confirm")
    if not click.confirm(question, err=True):
        raise NotConfirmed("not confirmed; nothing was changed")


def echo_json(value: Any) -> None:
    """Print a value as JSON."""
    click.echo(msgspec.json.format(msgspec.json.encode(value), indent=2).decode())


def format_time(at: int | None) -> str:
    """Return a time in UTC as text, from milliseconds since 1970."""
    return "never" if not at else datetime.fromtimestamp(at / 1000, UTC).strftime("%Y-%m-%d %H:%M")


def printable_rows(rows: Sequence[Sequence[object]]) -> list[list[str]]:
    """Return rows of cells as text without control characters."""
    return [[one_line(str(cell)) for cell in row] for row in rows]


def hide_password(database: str) -> None:
    """Hide the database address from child processes, and warn if other users can read its password."""
    os.environ.pop(DATABASE_VARIABLE, None)
    source = click.get_current_context().get_parameter_source("database")
    if source is ParameterSource.COMMANDLINE and _holds_password(database):
        click.echo(
            f"Other local users can read the password in --database: set {DATABASE_VARIABLE} instead.",
            err=True,
        )


def _holds_password(database: str) -> bool:
    try:
        return bool(urlsplit(database).password)
    except ValueError:  # not a URL; `Settings` reports it
        return False


def server_data(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options `--data` and `--database`, and pass them to the command as `settings`."""

    @click.option(
        "--data",
        type=FILE,
        metavar="FOLDER",
        help="Directory of the database.  [default: the user's data directory]",
    )
    @click.option(
        "--database",
        metavar="URL",
        default="",
        envvar=DATABASE_VARIABLE,
        show_envvar=True,
        help="Address of a PostgreSQL database, instead of SQLite in FOLDER.",
    )
    @wraps(function)
    def command(*arguments: Any, data: str | None, database: str, **more: Any) -> Any:
        folder = os.path.abspath(data) if data else ""
        hide_password(database)
        return function(*arguments, settings=Settings(data=folder, database=database), **more)

    return command


RETENTION_HELP = {
    "keep_open": "Days without change until a table that waits for players is closed.",
    "keep_unfinished": "Days without a move until a game is closed.",
    "keep_closed": "Days until a closed table is deleted.",
    "keep_guests": "Days without a visit until a guest without tables is deleted.",
    "keep_reviews": "Days until a stored review is deleted. Reviews can be recomputed.",
}


def retention_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options of `RETENTION_HELP`, such as `--keep-open`. 0 days keep forever."""
    defaults = {field.name: field.default for field in fields(Settings)}
    for name, text in reversed(RETENTION_HELP.items()):
        option = click.option(
            f"--{name.replace('_', '-')}",
            type=Integer(0, 36_500),
            default=defaults[name],
            show_default=True,
            metavar="DAYS",
            help=text,
        )
        function = option(function)
    return function
