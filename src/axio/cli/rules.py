"""`rules`: a game's rules in our own words."""

from __future__ import annotations

import re
import sys

import click

from ..games import rules_page

# Where the rules page says which of its sentences are ours; not where it explains the marks, in `code`.
MARK = re.compile(r"(?<!`)\[(ruling|reconstruction)\](?!`)")
WIDEST = 100


@click.command("rules")
@click.argument("name", metavar="GAME")
@click.option("--plain", is_flag=True, help="Print the Markdown as it is written, as into a pipe.")
def command(name: str, plain: bool) -> None:
    """Read the rules of a game."""
    page = rules_page(name)
    if plain or not sys.stdout.isatty():
        click.echo(page, nl=not page.endswith("\n"))
        return
    from rich.console import Console
    from rich.markdown import Markdown

    console = Console()
    console.width = min(console.width, WIDEST)
    console.print(Markdown(MARK.sub(r"***[\1]***", page)))
