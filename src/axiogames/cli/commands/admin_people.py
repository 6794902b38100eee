"""`admin people`: find, show, rename, ban, export and erase people."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any, TypeVar

import click
from sqlalchemy import RowMapping

from ...errors import InvalidFile
from ...files import file_name_in_errors
from ...server.operations.people import PeopleAdmin, people_admin
from ...server.settings import Settings
from ...server.storage.database import Database
from ..terminal.options import FILE, TEXT, Integer
from ..terminal.server_options import (
    as_json,
    cells,
    confirm,
    echo_json,
    in_the_name_of_the_user,
    on_database,
    reason,
    server_data,
    when,
    yes,
)
from ..terminal.text import format_table, one_line

Done = TypeVar("Done")


@click.group("people")
def people() -> None:
    """Find, show, rename, ban, export and erase people."""


def administer(settings: Settings, work: Callable[[PeopleAdmin], Awaitable[Done]], reason: str = "") -> Done:
    """Let something be done with the people of a server."""

    async def run(database: Database) -> Done:
        async with people_admin(database, in_the_name_of_the_user(reason)) as admin:
            return await work(admin)

    return on_database(settings, run)


@people.command("find")
@click.argument("text", type=TEXT, metavar="[TEXT]", default="")
@server_data
@click.option("--banned", is_flag=True, help="Only those who are banned.")
@click.option("--limit", type=Integer(1, 1_000_000), default=50, show_default=True, help="At most so many.")
@as_json
def find_people(text: str, settings: Settings, banned: bool, limit: int, as_json: bool) -> None:
    """Find people by their id, their username or a part of their name; who came last is first."""
    found = administer(settings, lambda admin: admin.find(text, banned=banned, limit=limit))
    if as_json:
        echo_json([_summary(row) for row in found])
        return
    head = ["id", "name", "username", "came first", "came last", ""]
    body = [
        [
            row["id"],
            row["name"],
            row["username"] or "-",
            when(row["created"]),
            when(row["seen"] or row["created"]),
            "banned" if row["banned"] else "",
        ]
        for row in found
    ]
    for line in format_table(cells([head, *body])) if body else ["Nobody fits."]:
        click.echo(line)


@people.command("show")
@click.argument("person", type=TEXT, metavar="ID")
@server_data
@as_json
def show_person(person: str, settings: Settings, as_json: bool) -> None:
    """Show what is known of somebody, without secrets."""

    async def work(admin: PeopleAdmin) -> dict[str, Any]:
        return {**_summary(await admin.row(person)), "counts": await admin.counts(person)}

    shown = administer(settings, work)
    if as_json:
        echo_json(shown)
        return
    counts = ", ".join(f"{number} {name.replace('_', ' ')}" for name, number in shown["counts"].items())
    lines = [
        ["person", shown["id"]],
        ["name", shown["name"]],
        ["username", shown["username"] or "-"],
        ["comes back by", ", ".join(name for name in ("password", "phrase") if shown[name]) or "cookie"],
        ["came first", when(shown["created"])],
        ["came last", when(shown["seen"] or shown["created"])],
        ["banned", when(shown["banned"]) if shown["banned"] else "no"],
        ["tables", counts],
    ]
    for line in format_table(cells(lines)):
        click.echo(line)


def _summary(row: RowMapping) -> dict[str, Any]:
    names = ("id", "name", "username", "created", "seen", "banned")
    secrets = {name: row[name] is not None for name in ("password", "phrase")}
    return {**{name: row[name] for name in names}, **secrets}


@people.command("rename")
@click.argument("person", type=TEXT, metavar="ID")
@click.argument("name", type=TEXT, metavar="NAME")
@server_data
@reason
def rename_person(person: str, name: str, settings: Settings, reason: str) -> None:
    """Give somebody another name, at the tables where they play or have played too."""
    shown = administer(settings, lambda admin: admin.rename(person, name), reason)
    click.echo(f"{one_line(person)} is now called {one_line(shown)}")


@people.command("ban")
@click.argument("ids", type=TEXT, metavar="ID...", nargs=-1, required=True)
@server_data
@reason
def ban_people(ids: tuple[str, ...], settings: Settings, reason: str) -> None:
    """Let people in no more. Their connections are closed; their tables and games stay."""

    async def work(admin: PeopleAdmin) -> None:
        for person in ids:
            await admin.ban(person)
            click.echo(f"{one_line(person)} is banned")

    administer(settings, work, reason)


@people.command("unban")
@click.argument("ids", type=TEXT, metavar="ID...", nargs=-1, required=True)
@server_data
@reason
def unban_people(ids: tuple[str, ...], settings: Settings, reason: str) -> None:
    """Let people in again."""

    async def work(admin: PeopleAdmin) -> None:
        for person in ids:
            await admin.unban(person)
            click.echo(f"{one_line(person)} may come back")

    administer(settings, work, reason)


@people.command("export")
@click.argument("person", type=TEXT, metavar="ID")
@server_data
@click.option("--out", type=FILE, metavar="FILE", help="Write to a file that only you can read.")
@reason
def export_person(person: str, settings: Settings, out: str | None, reason: str) -> None:
    """Print everything that is kept of somebody as JSON: what they get from the page by themselves."""
    if out is not None and Path(out).exists():
        raise InvalidFile(f"{out} exists")

    async def work(admin: PeopleAdmin) -> None:
        pieces = await admin.export(person)
        if out is None:
            async for piece in pieces:
                click.echo(piece, nl=False)
        else:
            await _write(pieces, Path(out))

    administer(settings, work, reason)
    if out is not None:
        click.echo(f"{out}: what is kept of {one_line(person)}")


async def _write(pieces: AsyncIterator[bytes], path: Path) -> None:
    """Write a new file that only its owner can read, whole or not at all."""
    try:
        with file_name_in_errors(path):
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with open(descriptor, "wb") as file:
                async for piece in pieces:
                    file.write(piece)
    except FileExistsError:
        raise
    except BaseException:
        path.unlink(missing_ok=True)
        raise


@people.command("erase")
@click.argument("person", type=TEXT, metavar="ID")
@server_data
@reason
@yes
def erase_person(person: str, settings: Settings, reason: str, yes: bool) -> None:
    """Delete what is kept of somebody, for good.

    Bots take over their unfinished games, finished ones stay with "Deleted player" in place of the name, and
    nobody can come back as this person.
    """
    name = administer(settings, lambda admin: admin.row(person))["name"]
    confirm(f"Delete everything that is kept of {one_line(name)} ({one_line(person)}) for good?", yes)
    administer(settings, lambda admin: admin.erase(person), reason)
    click.echo(f"{one_line(person)} is erased")
