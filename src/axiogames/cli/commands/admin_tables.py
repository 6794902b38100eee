"""`admin tables`: find, show, close and delete tables, and remove people from seats."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click
import msgspec
from sqlalchemy import RowMapping

from ...server.domain.game_state import now
from ...server.operations.tables import TableAdmin, TableFilter
from ...server.settings import Settings
from ...server.storage.database import Database
from ..terminal.options import TEXT, Integer
from ..terminal.server_options import (
    CommandWithIds,
    as_json,
    confirm,
    dry_run,
    echo_json,
    format_time,
    local_operator,
    printable_rows,
    reason,
    run_on_database,
    server_data,
    yes,
)
from ..terminal.text import count, format_table, one_line

STATUSES = ("open", "playing", "over", "closed")


@click.group("tables")
def tables() -> None:
    """Find, show, close and delete tables, or free a seat."""


def filter_options(function: Any) -> Any:
    """Add the options that select tables."""
    for option in (
        click.option("--quarantined", is_flag=True, help="Only tables that could not be read."),
        click.option(
            "--person", type=TEXT, metavar="ID", help="Only tables that this person opened or has a seat at."
        ),
        click.option(
            "--older",
            type=Integer(0, 36_500),
            metavar="DAYS",
            help="Only tables unchanged for this number of days.",
        ),
        click.option("--status", type=click.Choice(STATUSES), help="Only tables with this status."),
    ):
        function = option(function)
    return function


@tables.command("list")
@server_data
@filter_options
@click.option(
    "--limit", type=Integer(1, 1_000_000), default=50, show_default=True, help="Maximum number of tables."
)
@as_json
def list_tables(
    *,
    settings: Settings,
    status: str | None,
    older: int | None,
    person: str | None,
    quarantined: bool,
    limit: int,
    as_json: bool,
) -> None:
    """List tables, latest changes first."""

    async def work(database: Database) -> list[dict[str, Any]]:
        admin = TableAdmin(database, local_operator(""))
        rows = await admin.find(TableFilter(status, older, person, quarantined), now(), limit)
        seats = await admin.seats([row["id"] for row in rows])
        return [_summary(row, seats[row["id"]]) for row in rows]

    found = run_on_database(settings, work)
    if as_json:
        echo_json(found)
        return
    head = ["id", "status", "game", "moves", "changed", "seats"]
    body = [
        [
            table["id"],
            "quarantined" if table["quarantined"] else table["status"],
            table["game"],
            table["moves"],
            format_time(table["updated"]),
            ", ".join(seat["name"] or "-" for seat in table["seats"]),
        ]
        for table in found
    ]
    for line in format_table(printable_rows([head, *body]), right=[3]) if body else ["No table matches."]:
        click.echo(line)


@tables.command("show", cls=CommandWithIds)
@click.argument("table", type=TEXT, metavar="ID")
@server_data
@as_json
def show_table(*, table: str, settings: Settings, as_json: bool) -> None:
    """Show a table, without hidden tiles."""

    async def work(database: Database) -> dict[str, Any]:
        admin = TableAdmin(database, local_operator(""))
        row = await admin.row(table)
        shown = _summary(row, (await admin.seats([table]))[table])
        shown |= {
            "entries": await admin.count_entries(table),
            "owner": {"id": row["owner"], "name": await admin.name_of(row["owner"])},
            "options": msgspec.json.decode(row["options"]),
            "move_time": row["move_time"],
            "turn": row["turn"],
            "due": row["due"],
        }
        return shown

    shown = run_on_database(settings, work)
    if as_json:
        echo_json(shown)
        return
    owner = shown["owner"]
    lines = [
        ["table", shown["id"]],
        ["status", shown["status"]],
        ["game", " ".join([shown["game"], *shown["options"]])],
        ["daily deal", shown["daily"] or "no"],
        ["public", "yes" if shown["public"] else "no"],
        ["time per move", f"{shown['move_time']} s" if shown["move_time"] else "none"],
        ["opened", f"{format_time(shown['created'])} by {owner['name'] or '-'} ({owner['id']})"],
        ["last entry", f"{format_time(shown['updated'])}, number {shown['number']}"],
        ["moves", shown["moves"]],
    ]
    for seat in shown["seats"]:
        name = seat["name"] or "free"
        person = f" ({seat['person']})" if seat["person"] else ""
        bot = f", a bot plays: {seat['bot']}" if seat["bot"] and seat["person"] else ""
        lines.append([f"seat {seat['seat']}", f"{name}{person}{bot}"])
    if shown["quarantined"]:
        lines.append(["quarantined", shown["quarantined"]])
    for line in format_table(printable_rows(lines)):
        click.echo(line)


def _summary(row: RowMapping, seats: Sequence[RowMapping]) -> dict[str, Any]:
    """Return the columns of a table without its secrets, the seed and the invitation."""
    names = (
        "id", "status", "game", "players", "public", "daily", "owner", "created", "updated", "number",
        "moves", "quarantined",
    )  # fmt: skip
    seat_rows = [{name: seat[name] for name in ("seat", "person", "name", "bot")} for seat in seats]
    return {**{name: row[name] for name in names}, "public": bool(row["public"]), "seats": seat_rows}


@tables.command("close", cls=CommandWithIds)
@click.argument("ids", type=TEXT, metavar="ID...", nargs=-1, required=True)
@server_data
@reason
def close_tables(*, ids: tuple[str, ...], settings: Settings, reason: str) -> None:
    """Close tables. Their games end without a result and can still be viewed."""

    async def work(database: Database) -> None:
        admin = TableAdmin(database, local_operator(reason))
        for table in ids:
            await admin.close(table)
            click.echo(f"{one_line(table)} is closed")

    run_on_database(settings, work)


@tables.command("delete", cls=CommandWithIds)
@click.argument("ids", type=TEXT, metavar="[ID]...", nargs=-1)
@server_data
@filter_options
@reason
@dry_run
@yes
def delete_tables(
    *,
    ids: tuple[str, ...],
    settings: Settings,
    status: str | None,
    older: int | None,
    person: str | None,
    quarantined: bool,
    reason: str,
    dry_run: bool,
    yes: bool,
) -> None:
    """Delete tables permanently.

    Everything that belongs to them is deleted, including results of daily deals. Name the tables, or select
    them by --status, --older, --person and --quarantined.
    """
    selection = TableFilter(status, older, person, quarantined)
    if bool(ids) == (selection != TableFilter()):
        raise click.UsageError(
            "Name the tables, or select them by --status, --older, --person or --quarantined."
        )
    at = now()

    async def find(database: Database) -> list[str]:
        admin = TableAdmin(database, local_operator(""))
        if ids:
            return [(await admin.row(table))["id"] for table in dict.fromkeys(ids)]
        return [row["id"] for row in await admin.find(selection, at)]

    found = run_on_database(settings, find)
    if dry_run or not found:
        click.echo(f"{count(len(found), 'table')} would be deleted" if found else "No table matches.")
        return
    confirm(f"Permanently delete {count(len(found), 'table')}?", yes)

    async def work(database: Database) -> list[str]:
        admin = TableAdmin(database, local_operator(reason))
        return await admin.delete(found, "table-delete", *selection.conditions(at))

    click.echo(f"{count(len(run_on_database(settings, work)), 'table')} deleted")


@tables.command("release", cls=CommandWithIds)
@click.argument("table", type=TEXT, metavar="ID")
@server_data
@reason
def release_table(*, table: str, settings: Settings, reason: str) -> None:
    """Release a readable table from quarantine.

    The server quarantines a table whose log cannot be read. The command fails if it still cannot be read.
    """
    run_on_database(
        settings,
        lambda database: TableAdmin(database, local_operator(reason)).release(table),
    )
    click.echo(f"{one_line(table)} is released")


@tables.command("kick", cls=CommandWithIds)
@click.argument("table", type=TEXT, metavar="ID")
@click.option("--seat", type=Integer(0, 3), required=True, help="The seat, counted from 0.")
@server_data
@reason
@yes
def kick(*, table: str, seat: int, settings: Settings, reason: str, yes: bool) -> None:
    """Remove a person from a seat permanently.

    Before the start of the game, the seat becomes free for others. During the game, a bot takes it; if no
    other person plays, the table is closed.
    """
    confirm(f"Remove the person at seat {seat} of table {one_line(table)}?", yes)
    name = run_on_database(
        settings,
        lambda database: TableAdmin(database, local_operator(reason)).kick(table, seat),
    )
    click.echo(f"{one_line(name)} is removed from seat {seat} of table {one_line(table)}")
