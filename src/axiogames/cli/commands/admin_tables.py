"""`admin tables`: find, show, close and delete tables, take people off seats."""

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
    WithIds,
    as_json,
    cells,
    confirm,
    dry_run,
    echo_json,
    in_the_name_of_the_user,
    on_database,
    reason,
    server_data,
    when,
    yes,
)
from ..terminal.text import count, format_table, one_line

STATUSES = ("open", "playing", "over", "closed")


@click.group("tables")
def tables() -> None:
    """Find, show, close and delete tables."""


def which(function: Any) -> Any:
    """Add the options that say which tables are meant."""
    for option in (
        click.option("--quarantined", is_flag=True, help="Only those that could not be read."),
        click.option("--person", type=TEXT, metavar="ID", help="Only those somebody opened or sits at."),
        click.option(
            "--older", type=Integer(0, 36_500), metavar="DAYS", help="Only those untouched for so many days."
        ),
        click.option("--status", type=click.Choice(STATUSES), help="Only those in this state."),
    ):
        function = option(function)
    return function


@tables.command("list")
@server_data
@which
@click.option("--limit", type=Integer(1, 1_000_000), default=50, show_default=True, help="At most so many.")
@as_json
def list_tables(
    settings: Settings,
    status: str | None,
    older: int | None,
    person: str | None,
    quarantined: bool,
    limit: int,
    as_json: bool,
) -> None:
    """List tables, the one touched last first."""

    async def work(database: Database) -> list[dict[str, Any]]:
        admin = TableAdmin(database, in_the_name_of_the_user(""))
        rows = await admin.find(TableFilter(status, older, person, quarantined), now(), limit)
        seats = await admin.seats([row["id"] for row in rows])
        return [_summary(row, seats[row["id"]]) for row in rows]

    found = on_database(settings, work)
    if as_json:
        echo_json(found)
        return
    head = ["id", "status", "game", "moves", "touched", "seats"]
    body = [
        [
            table["id"],
            "quarantined" if table["quarantined"] else table["status"],
            table["game"],
            table["moves"],
            when(table["updated"]),
            ", ".join(seat["name"] or "-" for seat in table["seats"]),
        ]
        for table in found
    ]
    for line in format_table(cells([head, *body]), right=[3]) if body else ["No table fits."]:
        click.echo(line)


@tables.command("show", cls=WithIds)
@click.argument("table", type=TEXT, metavar="ID")
@server_data
@as_json
def show_table(table: str, settings: Settings, as_json: bool) -> None:
    """Show what is known of a table, without tiles that are still hidden."""

    async def work(database: Database) -> dict[str, Any]:
        admin = TableAdmin(database, in_the_name_of_the_user(""))
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

    shown = on_database(settings, work)
    if as_json:
        echo_json(shown)
        return
    lines = [
        ["table", shown["id"]],
        ["status", shown["status"]],
        ["game", " ".join([shown["game"], *shown["options"]])],
        ["daily deal", shown["daily"] or "no"],
        ["public", "yes" if shown["public"] else "no"],
        ["time per move", f"{shown['move_time']} s" if shown["move_time"] else "none"],
        ["opened", f"{when(shown['created'])} by {shown['owner']['name'] or '-'} ({shown['owner']['id']})"],
        ["last entry", f"{when(shown['updated'])}, number {shown['number']}"],
        ["moves", shown["moves"]],
    ]
    for seat in shown["seats"]:
        sits = seat["name"] if seat["name"] else "free"
        who = f" ({seat['person']})" if seat["person"] else ""
        bot = f", a bot plays: {seat['bot']}" if seat["bot"] and seat["person"] else ""
        lines.append([f"seat {seat['seat']}", f"{sits}{who}{bot}"])
    if shown["quarantined"]:
        lines.append(["quarantined", shown["quarantined"]])
    for line in format_table(cells(lines)):
        click.echo(line)


def _summary(row: RowMapping, seats: Sequence[RowMapping]) -> dict[str, Any]:
    """A table without its secrets: neither seed nor invite."""
    names = (
        "id", "status", "game", "players", "public", "daily", "owner", "created", "updated", "number",
        "moves", "quarantined",
    )  # fmt: skip
    sitting = [{name: seat[name] for name in ("seat", "person", "name", "bot")} for seat in seats]
    return {**{name: row[name] for name in names}, "public": bool(row["public"]), "seats": sitting}


@tables.command("close", cls=WithIds)
@click.argument("ids", type=TEXT, metavar="ID...", nargs=-1, required=True)
@server_data
@reason
def close_tables(ids: tuple[str, ...], settings: Settings, reason: str) -> None:
    """Close tables: their games end without a result. They can still be looked at."""

    async def work(database: Database) -> None:
        admin = TableAdmin(database, in_the_name_of_the_user(reason))
        for table in ids:
            await admin.close(table)
            click.echo(f"{one_line(table)} is closed")

    on_database(settings, work)


@tables.command("delete", cls=WithIds)
@click.argument("ids", type=TEXT, metavar="[ID]...", nargs=-1)
@server_data
@which
@reason
@dry_run
@yes
def delete_tables(
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
    """Delete tables with all that belongs to them, results of daily deals too.

    Name them, or say which by --status, --older, --person and --quarantined.
    """
    wanted = TableFilter(status, older, person, quarantined)
    if bool(ids) == (wanted != TableFilter()):
        raise click.UsageError(
            "Name the tables, or say which ones by --status, --older, --person or --quarantined."
        )
    at = now()

    async def find(database: Database) -> list[str]:
        admin = TableAdmin(database, in_the_name_of_the_user(""))
        if ids:
            return [(await admin.row(table))["id"] for table in dict.fromkeys(ids)]
        return [row["id"] for row in await admin.find(wanted, at)]

    found = on_database(settings, find)
    if dry_run or not found:
        click.echo(f"{count(len(found), 'table')} would be deleted" if found else "No table fits.")
        return
    confirm(f"Delete {count(len(found), 'table')} for good?", yes)

    async def work(database: Database) -> list[str]:
        admin = TableAdmin(database, in_the_name_of_the_user(reason))
        return await admin.delete(found, "table-delete", *wanted.conditions(at))

    click.echo(f"{count(len(on_database(settings, work)), 'table')} deleted")


@tables.command("release", cls=WithIds)
@click.argument("table", type=TEXT, metavar="ID")
@server_data
@reason
def release_table(table: str, settings: Settings, reason: str) -> None:
    """Let a quarantined table go on, if it can be read now."""
    on_database(
        settings,
        lambda database: TableAdmin(database, in_the_name_of_the_user(reason)).release(table),
    )
    click.echo(f"{one_line(table)} goes on")


@tables.command("kick", cls=WithIds)
@click.argument("table", type=TEXT, metavar="ID")
@click.option("--seat", type=Integer(0, 3), required=True, help="The seat, counted from 0.")
@server_data
@reason
@yes
def kick(table: str, seat: int, settings: Settings, reason: str, yes: bool) -> None:
    """Take somebody off a seat for good.

    Before the start the seat is free again, but not for them. In play a bot takes it; where nobody else
    plays, the table is closed.
    """
    confirm(f"Take whoever sits there off seat {seat} of table {one_line(table)}?", yes)
    name = on_database(
        settings,
        lambda database: TableAdmin(database, in_the_name_of_the_user(reason)).kick(table, seat),
    )
    click.echo(f"{one_line(name)} no longer sits on seat {seat} of table {one_line(table)}")
