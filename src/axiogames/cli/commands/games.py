"""`games` and `rules`: list the games, and print the rules of one."""

from __future__ import annotations

import json
import re
import shutil
import sys
import textwrap
from dataclasses import asdict

import click

from ...games import GAMES, game, rules_page
from ...games.protocol import MAX_PLAYERS, Game
from ..terminal.options import language_option
from ..terminal.text import format_table

MAX_WIDTH = 100  # columns
# Marks of rulings and reconstructions; not where the page explains the marks, in `code`.
MARK = re.compile(r"(?<!`)\[(ruling|reconstruction|Festlegung|Rekonstruktion)\](?!`)")
IMAGE = re.compile(r"!\[([^\]]*)\]\(figure:\w+\)")
HEAD = ("id", "name", "players", "tiles", "hand", "cap", "options")


@click.command("games")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def games(*, as_json: bool) -> None:
    """List the games, their components and options, and which rules are reconstructed."""
    infos = [game(name) for name in GAMES]
    if as_json:
        rows = [{**asdict(info), "players": [1, MAX_PLAYERS]} for info in infos]
        click.echo(json.dumps(rows, ensure_ascii=False, indent=2))
        return
    for line in format_table([HEAD, *map(_row, infos)], right=(3, 4, 5)):
        click.echo(line)
    for info in infos:
        click.echo()
        _paragraph(info.id, info.summary, bold=True)
        for option in info.options:
            _paragraph("", f"Option {option.name}: {option.summary}.")
        for text in info.reconstructed:
            _paragraph("", f"[reconstruction] {text}.")


def _row(info: Game) -> tuple[str, ...]:
    cap = str(info.cap) if info.cap is not None else "-"
    options = ", ".join(option.name for option in info.options) or "-"
    return info.id, info.name, f"1-{MAX_PLAYERS}", str(info.tiles), str(info.hand), cap, options


def _paragraph(name: str, text: str, *, bold: bool = False) -> None:
    margin = max(map(len, GAMES)) + 2
    width = min(MAX_WIDTH, shutil.get_terminal_size().columns)
    lines = textwrap.wrap(text, width - margin)
    click.echo(click.style(name.ljust(margin), bold=bold) + lines[0])
    for line in lines[1:]:
        click.echo(" " * margin + line)


@click.command("rules")
@click.argument("name", metavar="GAME")
@language_option
@click.option("--plain", is_flag=True, help="Print Markdown, as when the output is a pipe.")
def rules(*, name: str, language: str, plain: bool) -> None:
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
