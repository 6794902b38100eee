"""Input of `axio play`: menus before a game, commands and moves during it."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

import click

from ...errors import ParseError
from ...games import GAMES
from ...games import game as game_info
from ...moves import Move
from ...players import LEVELS, PLAYERS
from .options import YOU
from .saved_game import SavedGame
from .text import format_table

DEFAULT_OPPONENT = "balanced"
WIDTH = 66  # columns of a description

COMMANDS = {
    "help": ("?", "h", "help"),
    "moves": ("moves", "m"),
    "hint": ("hint",),
    "score": ("score", "s"),
    "board": ("board", "b"),
    "undo": ("undo", "u"),
    "position": ("position",),
    "quit": ("quit", "q", "exit"),
}
"""Commands during a game, and the words for each."""

_COMMAND_BY_WORD = {word: name for name, words in COMMANDS.items() for word in words}
_PLACEMENT = re.compile(
    r"(?P<tile>[a-z_]{2,4})(?:\s*\(\s*(?P<named>[a-z])\s*\)|\s+(?P<bare>[a-z])(?=\s))?\s+(?P<at>.+)"
)
_CELLS = re.compile(r"[a-z][0-9]{1,2}(?:[\s-]*[a-z][0-9]{1,2})+")
_POINT = re.compile(r"\(?\s*(-?[0-9]{1,3})\s*[,\s]\s*(-?[0-9]{1,3})\s*\)?")

Choice = TypeVar("Choice")


# ---------------------------------------------------------------- before the game


def ask_game(saved: SavedGame | None) -> str | None:
    """Ask for a game and return its name, or `None` to resume the saved game.

    Raises:
        EOFError: there is no input.
    """
    click.echo("Which game?")
    for number, name in enumerate(GAMES, 1):
        click.echo(f"  {number}  {game_info(name).name}")
        for line in textwrap.wrap(game_info(name).summary, WIDTH):
            click.echo(f"     {line}")
    choices: dict[str, str | None] = {str(n): name for n, name in enumerate(GAMES, 1)}
    choices |= {name: name for name in GAMES}
    if saved is None:
        return _ask("Number, or Enter for 1: ", {"": GAMES[0], **choices})
    click.echo(f"  r  resume {saved}; a new game replaces it")
    return _ask("Number, or Enter for r: ", {"": None, **choices, "r": None})


def ask_seats() -> tuple[str, ...]:
    """Ask for opponents and return a name for each seat. Raise `EOFError` if there is no input."""
    bots = [DEFAULT_OPPONENT, *LEVELS]
    seats = [(YOU, name) for name in bots] + [(YOU,), (YOU, YOU)]
    texts = [(name, _summary(name)) for name in bots]
    texts += [("nobody", "Play alone."), ("a friend", "Take turns at this screen.")]
    click.echo("Which opponent?")
    for line in format_table([(str(n), *row) for n, row in enumerate(texts, 1)], indent=2):
        click.echo(line)
    choices = {str(n): names for n, names in enumerate(seats, 1)}
    choices |= {name: (YOU, name) for name in PLAYERS} | {"nobody": (YOU,), "a friend": (YOU, YOU)}
    return _ask("Number, or Enter for 1: ", {"": seats[0], **choices})


def _summary(bot: str) -> str:
    """Return the first line of a bot's docstring."""
    text = (PLAYERS[bot].__doc__ or "").strip().partition("\n")[0]
    return textwrap.shorten(text, WIDTH, placeholder=" ...")


def ask_resume(saved: SavedGame) -> bool:
    """Ask whether to resume the saved game rather than replace it. Raise `EOFError` if there is no input."""
    click.echo(f"You have a saved game of {saved}.")
    return _ask("Enter to resume it, n to replace it with a new game: ", {"": True, "y": True, "n": False})


def _ask(prompt: str, choices: dict[str, Choice]) -> Choice:
    while True:
        text = input(prompt).strip().lower()
        if text in choices:
            return choices[text]
        keys = _alternatives([key for key in choices if len(key) == 1 or key.isdigit()])
        click.echo(f"Please type {keys}, or just press Enter.")


def _alternatives(keys: Sequence[str]) -> str:
    return keys[0] if len(keys) == 1 else f"{', '.join(keys[:-1])} or {keys[-1]}"


# ---------------------------------------------------------------- during the game


@dataclass(frozen=True, slots=True)
class GameCommand:
    """A command of `COMMANDS` and the text after it."""

    name: str
    argument: str


def parse_command(text: str) -> GameCommand | None:
    """Return the command in a line, or `None` if the line is a move."""
    word, _, argument = text.strip().partition(" ")
    name = _COMMAND_BY_WORD.get(word.lower())
    return GameCommand(name, argument.strip()) if name else None


def parse_move(text: str) -> Move:
    """Return a move, also from loose notation such as `gr k8 j8` or `brg_ p 2 -1`. Raise `ParseError`."""
    lower = " ".join(text.lower().split())
    word, *tiles = lower.split()
    if word in ("keep", "pass", "exchange"):
        return Move.parse(" ".join((word, *(tile.strip(",").upper() for tile in tiles))))
    if (found := _PLACEMENT.fullmatch(lower)) and (cells := _parse_cells(found["at"])):
        named = found["named"] or found["bare"]
        colour = f"({named.upper()})" if named else ""
        return Move.parse(f"{found['tile'].upper()}{colour} {cells}")
    raise ParseError(f"{text.strip()[:40]!r} is neither a move nor a command: type ? for help")


def _parse_cells(text: str) -> str | None:
    """Return cells (`k8-j8`) or a point (`2,-1`) in notation."""
    if _CELLS.fullmatch(text):
        return "-".join(re.findall(r"[a-z][0-9]{1,2}", text))
    if found := _POINT.fullmatch(text):
        return f"{int(found[1])},{int(found[2])}"
    return None
