"""`report`: the report of an arena, made anew from its games."""

from __future__ import annotations

from pathlib import Path

import click

from ...analysis.arena.report import PAGE, make_report
from ..terminal.options import FILE
from .arena import show_json, show_tables


@click.command("report")
@click.argument("folder", type=FILE, metavar="DIR")
@click.option("--json", "as_json", is_flag=True, help="Print the figures as JSON on standard output.")
def command(folder: str, as_json: bool) -> None:
    """Make the report of an arena anew, from the games that DIR holds.

    DIR is what `arena --out` was given. An arena that is still running, or was interrupted, can be reported,
    too: only tables that are played to the end count.
    """
    summary = make_report(Path(folder))
    (show_json if as_json else show_tables)(summary)
    click.echo(f"The report is {Path(folder) / PAGE}", err=True)
