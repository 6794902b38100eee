"""`rules`: print the rules of a game."""

from __future__ import annotations

import re
import sys

import click

from ...games import rules_page
from ..terminal.options import language_option

# Marks of rulings and reconstructions; not where the page explains the marks, in `code`.
MARK = re.compile(r"(?<!`)\[(ruling|reconstruction|Festlegung|Rekonstruktion)\](?!`)")
IMAGE = re.compile(r"!\[([^\]]*)\]\(figure:\w+\)")
MAX_WIDTH = 100  # columns


@click.command("rules")
@click.argument("name", metavar="GAME")
@language_option
@click.option("--plain", is_flag=True, help="Print Markdown, as when the output is a pipe.")
def command(name: str, language: str, plain: bool) -> None:
    """Read the rules of a game."""
    page = rules_page(name, language)
    if plain or not sys.stdout.isatty():
        click.echo(page, nl=not page.endswith("\n"))
        return
    from rich.console import Console
    from rich.markdown import Markdown

    console = Console()
    console.width = min(console.width, MAX_WIDTH)
    # A terminal shows no pictures: their descriptions are quoted instead.
    text = IMAGE.sub(r"> \1", page)
    console.print(Markdown(MARK.sub(r"***[\1]***", text)))
