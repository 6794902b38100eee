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
    confirm,
    echo_json,
    format_time,
    local_operator,
    printable_rows,
    reason,
    run_on_database,
    server_data,
    yes,
)
from ..terminal.text import format_table, one_line

Done = TypeVar("Done")


@click.group("people")
def people() -> None:
    """Find, show, rename, ban, export and erase people."""


def administer(settings: Settings, work: Callable[[PeopleAdmin], Awaitable[Done]], reason: str = "") -> Done:
    """Run `work` on the people of a server and return its result."""

    async def run(database: Database) -> Done:
        async with people_admin(database, local_operator(reason)) as admin:
            return await work(admin)

    return run_on_database(settings, run)


@people.command("find")
@click.argument("text", type=TEXT, metavar="[TEXT]", default="")
@server_data
@click.option("--banned", is_flag=True, help="Only banned people.")
@click.option(
    "--limit", type=Integer(1, 1_000_000), default=50, show_default=True, help="Maximum number of people."
)
@as_json
def find_people(*, text: str, settings: Settings, banned: bool, limit: int, as_json: bool) -> None:
    """Find people by id, username or part of the name.

    The latest visitors come first.
    """
    found = administer(settings, lambda admin: admin.find(text, banned=banned, limit=limit))
    if as_json:
        echo_json([_summary(row) for row in found])
        return
    head = ["id", "name", "username", "first visit", "last visit", ""]
    body = [
        [
            row["id"],
            row["name"],
            row["username"] or "-",
            format_time(row["created"]),
            format_time(row["seen"] or row["created"]),
            "banned" if row["banned"] else "",
        ]
        for row in found
    ]
    for line in format_table(printable_rows([head, *body])) if body else ["No person matches."]:
        click.echo(line)


@people.command("show")
@click.argument("person", type=TEXT, metavar="ID")
@server_data
@as_json
def show_person(*, person: str, settings: Settings, as_json: bool) -> None:
    """Show a person, without secrets."""

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
        ["signs in by", ", ".join(name for name in ("password", "phrase") if shown[name]) or "cookie"],
        ["first visit", format_time(shown["created"])],
        ["last visit", format_time(shown["seen"] or shown["created"])],
        ["banned", format_time(shown["banned"]) if shown["banned"] else "no"],
        ["tables", counts],
    ]
    for line in format_table(printable_rows(lines)):
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
def rename_person(*, person: str, name: str, settings: Settings, reason: str) -> None:
    """Rename a person, also at the tables where they play or played."""
    shown = administer(settings, lambda admin: admin.rename(person, name), reason)
    click.echo(f"{one_line(person)} is now called {one_line(shown)}")


@people.command("ban")
@click.argument("ids", type=TEXT, metavar="ID...", nargs=-1, required=True)
@server_data
@reason
def ban_people(*, ids: tuple[str, ...], settings: Settings, reason: str) -> None:
    """Ban people. Their connections are closed, their tables and games stay."""

    async def work(admin: PeopleAdmin) -> None:
        for person in ids:
            await admin.ban(person)
            click.echo(f"{one_line(person)} is banned")

    administer(settings, work, reason)


@people.command("unban")
@click.argument("ids", type=TEXT, metavar="ID...", nargs=-1, required=True)
@server_data
@reason
def unban_people(*, ids: tuple[str, ...], settings: Settings, reason: str) -> None:
    """Lift a ban."""

    async def work(admin: PeopleAdmin) -> None:
        for person in ids:
            await admin.unban(person)
            click.echo(f"{one_line(person)} is no longer banned")

    administer(settings, work, reason)


@people.command("export")
@click.argument("person", type=TEXT, metavar="ID")
@server_data
@click.option("--out", type=FILE, metavar="FILE", help="Write to a file that only you can read.")
@reason
def export_person(*, person: str, settings: Settings, out: str | None, reason: str) -> None:
    """Print all stored data of a person as JSON.

    The person can export the same data on the page.
    """
    if out is not None and Path(out).exists():
        raise InvalidFile(f"{out}: the file exists, choose another name")

    async def work(admin: PeopleAdmin) -> None:
        pieces = await admin.export(person)
        if out is None:
            async for piece in pieces:
                click.echo(piece, nl=False)
        else:
            await _write(pieces, Path(out))

    administer(settings, work, reason)
    if out is not None:
        click.echo(f"{out}: data of {one_line(person)}")


async def _write(pieces: AsyncIterator[bytes], path: Path) -> None:
    """Write a new file that only its owner can read, either completely or not at all."""
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
def erase_person(*, person: str, settings: Settings, reason: str, yes: bool) -> None:
    """Delete all data of a person permanently.

    Bots take over their unfinished games. Finished games stay, with "Deleted player" in place of the name.
    The account cannot be restored.
    """
    name = administer(settings, lambda admin: admin.row(person))["name"]
    confirm(f"Permanently delete all data of {one_line(name)} ({one_line(person)})?", yes)
    administer(settings, lambda admin: admin.erase(person), reason)
    click.echo(f"{one_line(person)} is erased")
