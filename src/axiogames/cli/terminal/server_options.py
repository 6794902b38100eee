"""What the commands of `admin` share: options, times, questions, ids that start with a dash."""

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

Done = TypeVar("Done")
_ID = re.compile(r"-[A-Za-z0-9_-]{15}")  # ids are random text, one of 64 starts with a dash


class NotConfirmed(AxioError):
    """Somebody was asked whether to go on, and has not said yes."""


class WithIds(click.Command):
    """A command whose arguments may be ids of tables."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        options = [param for param in self.params if isinstance(param, click.Option)]
        names = {name for param in options for name in (*param.opts, *param.secondary_opts)}
        before_values = {name for param in options if not param.is_flag for name in param.opts}
        ids, rest = list[str](), list[str]()
        for before, arg in zip(["", *args], args, strict=False):
            is_id = _ID.fullmatch(arg) and arg not in names and before not in before_values
            (ids if is_id else rest).append(arg)
        if ids:
            args = [*rest, *(() if "--" in rest else ("--",)), *ids]
        return super().parse_args(ctx, args)


as_json = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
yes = click.option("--yes", is_flag=True, help="Do not ask.")
dry_run = click.option("--dry-run", is_flag=True, help="Say what would be done, and do nothing.")
reason = click.option("--reason", type=TEXT, default="", metavar="TEXT", help="Why, for the log.")


def on_database(settings: Settings, work: Callable[[Database], Coroutine[Any, Any, Done]]) -> Done:
    """Let something work on the server's database."""

    async def run() -> Done:
        async with open_database(settings) as database:
            return await work(database)

    return asyncio.run(run())


def in_the_name_of_the_user(why: str) -> Actor:
    """Who uses this program."""
    return operator(why)


def confirm(question: str, sure: bool) -> None:
    """Ask before something that cannot be undone. Raises `NotConfirmed`."""
    if sure:
        return
    if not sys.stdin.isatty():
        raise NotConfirmed(f"{question} Add --yes to do it")
    if not click.confirm(question, err=True):
        raise NotConfirmed("nothing has been changed")


def echo_json(value: Any) -> None:
    """Print something as JSON."""
    click.echo(msgspec.json.format(msgspec.json.encode(value), indent=2).decode())


def when(at: int | None) -> str:
    """A time in UTC, as people read it."""
    return "never" if not at else datetime.fromtimestamp(at / 1000, UTC).strftime("%Y-%m-%d %H:%M")


def cells(rows: Sequence[Sequence[object]]) -> list[list[str]]:
    """Rows as text without anything that would steer a terminal."""
    from .text import one_line

    return [[one_line(str(cell)) for cell in row] for row in rows]


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


HELP = {
    "keep_open": "Days until an open table that nobody has joined or changed is closed.",
    "keep_unfinished": "Days without a move until a game is closed.",
    "keep_closed": "Days until a closed table is deleted.",
    "keep_guests": "Days until a guest who has not come and has no table is deleted.",
    "keep_reviews": "Days until a kept review is deleted; it can be made again.",
}


def retention_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options of `HELP`, `--keep-open` and so on; 0 keeps for ever."""
    usual = {field.name: field.default for field in fields(Settings)}
    for name, text in reversed(HELP.items()):
        option = click.option(
            f"--{name.replace('_', '-')}",
            type=Integer(0, 36_500),
            default=usual[name],
            show_default=True,
            metavar="DAYS",
            help=text,
        )
        function = option(function)
    return function
