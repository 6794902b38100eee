"""`games`: list the games."""

from __future__ import annotations

import json
import shutil
import textwrap
from dataclasses import asdict

import click

from ...games import GAMES, game
from ...games.protocol import MAX_PLAYERS, Game
from ..terminal.text import format_table

HEAD = ("id", "name", "players", "tiles", "hand", "cap", "options")


@click.command("games")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(as_json: bool) -> None:
    """List the games, their components and options, and which rules are reconstructed."""
    games = [game(name) for name in GAMES]
    if as_json:
        infos = [{**asdict(info), "players": [1, MAX_PLAYERS]} for info in games]
        click.echo(json.dumps(infos, ensure_ascii=False, indent=2))
        return
    for line in format_table([HEAD, *map(_row, games)], right=(3, 4, 5)):
        click.echo(line)
    for info in games:
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
    width = min(100, shutil.get_terminal_size().columns)
    lines = textwrap.wrap(text, width - margin)
    click.echo(click.style(name.ljust(margin), bold=bold) + lines[0])
    for line in lines[1:]:
        click.echo(" " * margin + line)
