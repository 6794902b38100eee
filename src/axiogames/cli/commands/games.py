"""`games`: list the games."""

from __future__ import annotations

import json
import shutil
import textwrap
from dataclasses import asdict

import click

from ...games import GAMES, game
from ...games.protocol import MOST_PLAYERS, Game
from ..terminal.text import format_table

HEAD = ("id", "name", "players", "tiles", "hand", "cap", "options")


@click.command("games")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(as_json: bool) -> None:
    """List the games, their components and options, and which rules are reconstructed."""
    games = [game(name) for name in GAMES]
    if as_json:
        infos = [{**asdict(one), "players": [1, MOST_PLAYERS]} for one in games]
        click.echo(json.dumps(infos, ensure_ascii=False, indent=2))
        return
    for line in format_table([HEAD, *map(_row, games)], right=(3, 4, 5)):
        click.echo(line)
    for one in games:
        click.echo()
        _paragraph(one.id, one.summary, bold=True)
        for option in one.options:
            _paragraph("", f"Option {option.name}: {option.summary}.")
        for fact in one.reconstructed:
            _paragraph("", f"[reconstruction] {fact}.")


def _row(one: Game) -> tuple[str, ...]:
    cap = str(one.cap) if one.cap is not None else "-"
    options = ", ".join(option.name for option in one.options) or "-"
    return one.id, one.name, f"1-{MOST_PLAYERS}", str(one.tiles), str(one.hand), cap, options


def _paragraph(name: str, text: str, *, bold: bool = False) -> None:
    margin = max(map(len, GAMES)) + 2
    width = min(100, shutil.get_terminal_size().columns)
    lines = textwrap.wrap(text, width - margin)
    click.echo(click.style(name.ljust(margin), bold=bold) + lines[0])
    for line in lines[1:]:
        click.echo(" " * margin + line)
