"""`rules`: a game's rules in our own words."""

from __future__ import annotations

import re
import sys

import click

from ...games import rules_page
from ..terminal.options import language_option

# Where the rules page says which of its sentences are ours; not where it explains the marks, in `code`.
MARK = re.compile(r"(?<!`)\[(ruling|reconstruction|Festlegung|Rekonstruktion)\](?!`)")
IMAGE = re.compile(r"!\[([^\]]*)\]\(figure:\w+\)")
WIDEST = 100


@click.command("rules")
@click.argument("name", metavar="GAME")
@language_option
@click.option("--plain", is_flag=True, help="Print the Markdown as it is written, as into a pipe.")
def command(name: str, language: str, plain: bool) -> None:
    """Read the rules of a game."""
    page = rules_page(name, language)
    if plain or not sys.stdout.isatty():
        click.echo(page, nl=not page.endswith("\n"))
        return
    from rich.console import Console
    from rich.markdown import Markdown

    console = Console()
    console.width = min(console.width, WIDEST)
    # A terminal shows no pictures: what they show is told instead, set off as a quotation.
    told = IMAGE.sub(r"> \1", page)
    console.print(Markdown(MARK.sub(r"***[\1]***", told)))
