"""What the commands of `admin` share: options, times, questions, ids that start with a dash."""

from __future__ import annotations

import asyncio
import re
import sys
from collections.abc import Callable, Coroutine, Sequence
from datetime import UTC, datetime
from typing import Any, TypeVar

import click
import msgspec

from ..errors import AxioError
from ..server.operations.access import open_database
from ..server.operations.audit import Actor, operator
from ..server.settings import Settings
from ..server.storage.database import Database
from .parameters import TEXT

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
    from .lines import one_line

    return [[one_line(str(cell)) for cell in row] for row in rows]
